import copy
from collections import ChainMap, defaultdict


LAST = ["x", "y"]


def load_defaults():
    return {"rate": 3, "mode": "slow"}


def load_user():
    return {"mode": "fast", "size": 0}


def merge(first, second):
    shown = {**first, **second}
    called = dict(first, **second)
    piped = first | second
    chained = ChainMap(second, first)
    joined = [*sorted(first), "end", *LAST]
    return shown, called, piped, chained, joined


class Options:
    def __init__(self, **given):
        self.known = {"depth": 1, **given}


def update(base, *layers):
    found = dict(base)
    for one in layers:
        found.update(one)
    found |= load_user()
    return found


def base_price():
    return 40


def price():
    prices = defaultdict(base_price)
    prices["a"] += 2
    return prices


first = load_defaults()
second = load_user()
shown, called, piped, chained, joined = merge(first, second)
options = Options(depth=7)
updated = update({"w": 1}, {"w": 2}, {"w": 5})
prices = price()
rows = {"k": [1, {"m": 5}]}
copied = copy.deepcopy(rows)
upper = {key.upper(): one for key, one in second.items()}
print("end")
