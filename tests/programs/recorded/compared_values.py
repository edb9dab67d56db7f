class Shop:
    def __init__(self):
        self.items = []
        self.closed = False

    def add(self, item):
        self.items.append(item)
        return len(self.items)


def fill(shop, items):
    alias = shop.items
    untouched = {"a": 1}
    count = shop.add(items[0])
    shop.add(
        items[1],
    )
    if count:
        items = items[2:]
    shop.closed = True
    del count
    return untouched


fill(Shop(), [5, 6, 7])
