"""What the skill debugs: swallows one exception, and dies of another."""


def price(text):
    try:
        return float(text)
    except ValueError:
        return 0.0


def average(prices):
    return sum(prices) / len([one for one in prices if one])


print(average([price("x"), price("y")]))
