def total(prices):
    found = 0
    for price in prices:
        found += price
    if len(prices) > 2:
        found = discounted(found)
    return found


def discounted(whole):
    percent = 20
    return whole - whole * percent // 100
