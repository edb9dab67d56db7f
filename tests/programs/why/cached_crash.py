class Store:
    def __init__(self):
        self._rows = {}

    def get(self, key):
        row = self._rows.get(key)
        return row[1] if row is not None else None

    def __setitem__(self, key, value):
        self._rows[key] = (len(self._rows), value)


STORE = Store()


class Plan:
    def __init__(self, columns):
        self.columns = columns


def make_plan(name, columns):
    key = (
        name,
        len(columns),
    )
    plan = STORE.get(key)
    if plan is None:
        plan = Plan(columns)
        STORE[key] = plan
    return plan


def run(plan, row):
    missing = [one for one in plan.columns if one not in row]
    if missing:
        raise KeyError("a column has no value")
    return [row[one] for one in plan.columns]


def insert(name, row):
    used = make_plan(name, list(row))
    return run(used, row)


insert("cities", {"town": "Ulm", "height": 478})
insert("cities", {"town": "Bonn", "people": 330})
