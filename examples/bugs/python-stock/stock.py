"""A warehouse that keeps the number of its articles, by shelf and in total."""

from collections import defaultdict


class Shelf:
    """Where articles of one kind lie."""

    def __init__(self, name, room):
        self.name = name
        self.room = room
        self.articles = {}

    @property
    def left(self):
        return self.room - sum(self.articles.values())

    def put(self, article, count):
        taken = min(count, self.left)
        self.articles[article] = self.articles.get(article, 0) + taken
        return taken

    def take(self, article, count):
        given = min(count, self.articles.get(article, 0))
        self.articles[article] = self.articles.get(article, 0) - given
        return given


class Warehouse:
    """Shelves, and what is on them all together."""

    def __init__(self, shelves):
        self.shelves = shelves
        self.total = 0
        self.history = defaultdict(int)

    def deliver(self, article, count):
        left = count
        for shelf in self.shelves:
            put = shelf.put(article, left)
            self.total += put
            left -= put
        self.history["delivered"] += count - left
        return left

    def sell(self, article, count):
        missing = count
        for shelf in self.shelves:
            given = shelf.take(article, missing)
            self.total -= given
            missing -= given
        self.history["sold"] += count - missing
        return missing

    def returned(self, article, count):
        left = self.deliver(article, count)
        self.history["returned"] += count - left

    def restore(self, saved):
        """Take over counts that were saved, as after a failure of power."""
        for name, value in saved.items():
            setattr(self, name, value)

    def snapshot(self):
        return {"total": self.total}


def day(warehouse, orders):
    for article, count in orders:
        if count > 0:
            warehouse.deliver(article, count)
        else:
            warehouse.sell(article, -count)


def audit(warehouse):
    counted = sum(sum(shelf.articles.values()) for shelf in warehouse.shelves)
    print(f"counted {counted}, booked {warehouse.total}")
    return counted == warehouse.total


def main():
    main_house = Warehouse([Shelf("a", 40), Shelf("b", 40)])
    annex = Warehouse([Shelf("x", 10)])
    day(main_house, [("bolt", 30), ("nut", 25), ("bolt", -12)])
    saved = main_house.snapshot()
    day(annex, [("nut", 8), ("nut", -3)])
    day(main_house, [("plate", 20), ("nut", -5), ("bolt", -6)])
    main_house.returned("plate", 2)
    main_house.restore(saved)
    return 0 if audit(main_house) and audit(annex) else 1


if __name__ == "__main__":
    raise SystemExit(main())
