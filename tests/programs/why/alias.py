class Order:
    def __init__(self, items, limit):
        self.items = items
        self.limit = limit


def relax(order, factor):
    other = order
    other.limit = factor * 10


def check(order):
    if len(order.items) > order.limit:
        return "too many"
    return "fine"


def main():
    first = Order([1, 2, 3], 5)
    second = Order([1], 7)
    relax(first, 0)
    relax(second, 3)
    print(check(second), check(first))


main()
