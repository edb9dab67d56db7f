import dataclasses

STATE = {"a": []}


@dataclasses.dataclass
class Item:
    name: str
    qty: int = 1

    @property
    def double(self):
        return 2 * self.qty


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


list_of("a").append(3)
update()
rows()
fields()
containers()
print(STATE)  # after all
