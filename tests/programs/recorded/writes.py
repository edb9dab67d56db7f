import collections
import dataclasses
import threading

STATE = {"a": []}


@dataclasses.dataclass
class Item:
    name: str
    qty: int = 1

    @property
    def double(self):
        return 2 * self.qty


class Shared:
    rows = []
    limit = 5


class Lower(Shared):
    def lower(self):
        type(self).limit = 2


def classes():
    first, second = Lower(), Shared()
    counts = collections.Counter()
    Shared.limit = 4
    first.rows.append(1)
    first.lower()
    counts["a"] += 3
    return second  # after classes


def update():
    STATE.update({"b": 4})


def list_of(key):
    return STATE.setdefault(key, [])


def rows():
    made = [{"qty": 1}, {"qty": 2}]
    for row in made:
        row["qty"] *= 10
    return made  # after rows


def fields():
    item = Item("a")
    item.qty = 5
    vars(item)["qty"] = 6
    item.qty += 1
    return item  # after fields


def containers():
    some = {1, 2}
    matrix = [[1, 2], [3, 4]]
    some.discard(1)
    matrix[0][1] = 9
    return some, matrix  # after containers


def set_and_wait(item, is_set, goes_on):
    item.qty = 5; is_set.set(); goes_on.wait()  # noqa: E702 - the line has written, and waits


def threads():
    item = Item("a")
    is_set, goes_on, seen = threading.Event(), threading.Event(), []
    thread = threading.Thread(target=set_and_wait, args=(item, is_set, goes_on))
    thread.start()
    is_set.wait()
    seen.append(item)
    goes_on.set()
    thread.join()
    return item  # after threads


list_of("a").append(3)
update()
rows()
classes()
fields()
containers()
threads()
print(STATE)  # after all
