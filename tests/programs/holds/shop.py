"""An order counts its items, and a callee removes one through an alias of the list."""


class Order:
    def __init__(self, name):
        self.name = name
        self.items = []
        self.count = 0

    def add(self, item):
        self.items.append(item)
        self.count += 1

    def total(self):
        return sum(price for _, price in self.items)


class Discounts:
    def __init__(self):
        self.lines = []

    def watch(self, order):
        self.lines.append(order.items)

    def apply(self):
        for items in self.lines:
            drop_gifts(items)


def drop_gifts(items):
    for at in range(len(items) - 1, -1, -1):
        name, price = items[at]
        if price == 0:
            del items[at]


def make_order(number):
    order = Order(f"order {number}")
    for each in range(number % 3 + 1):
        order.add((f"item {each}", 5 + each))
    return order


def check(order):
    return order.total() >= 0


def main():
    discounts = Discounts()
    orders = [make_order(number) for number in range(12)]
    for order in orders:
        check(order)
        discounts.watch(order)
    orders[7].add(("gift", 0))
    discounts.apply()
    for order in orders:
        check(order)
    print(sum(order.total() for order in orders))


if __name__ == "__main__":
    main()
