class Item:
    def __init__(self, name, price):
        self.name = name
        self.price = price


def cheap(items, limit):
    found = [item for item in items if item.price < limit]
    return found


def totals(items, rate):
    prices = [item.price * rate for item in items if item.price * rate > rate]
    return sum(prices)


def scaled(rows, factor):
    pairs = [(name, value * factor) for name, value in rows]
    values = [value for _, value in pairs]
    return values[1]


def main():
    items = [Item("pen", 2), Item("cup", 7)]
    first = cheap(items, 5)[0].price
    total = totals(items, 3)
    value = scaled([("a", 1), ("b", 4)], 10)
    print(first, total, value)


main()
