LIMITS = {"small": 3}


def limit_of(kind):
    return LIMITS.get(kind, 0)


class Order:
    def __init__(self, kind, items):
        self.kind = kind
        self.items = items

    def count(self):
        return len(self.items)


def check(order):
    if order.count() > limit_of(order.kind):
        raise ValueError("too many")


check(Order("small".upper(), [1, 2]))
