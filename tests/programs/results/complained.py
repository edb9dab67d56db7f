"""Fails in the way that its argument names, with an exception that names no value."""

import asyncio
import re
import sys
import threading
from functools import partial


class Box:
    def __init__(self, width, height):
        self.width, self.height = width, height

    @property
    def ratio(self):
        return self.width / self.height

    def label(self):
        return "box"


def read(line):
    key, value = line.split("=")
    return key, value


async def fetch(name):
    return {"name": name}


async def size():
    total = 0
    row = fetch("a")  # @awaited
    total += row["name"]
    return total


def awaited():
    return asyncio.run(size())


def unpacked():
    return read("b=2=3")  # @unpacked


def converted():
    match = re.match(r"(\d+)-(\d+)?", "3-")  # @converted
    return int(match.group(1)) + int(match.group(2))


def summed():
    prices = {}
    prices["a"] = 1
    prices["b"] = None  # @summed
    return sum(prices.values())


def ordered():
    rows = [{"age": 3}, {"age": 5}]
    rows.append({"age": None})  # @ordered
    rows.sort(key=lambda row: row["age"])


def joined():
    boxes = [Box("a", 1)]
    boxes.append(Box(7, 1))  # @joined
    return ",".join(box.width for box in boxes)


def load(texts):
    found = []
    for text in texts:
        found.append(int(text) if text else None)  # @loaded
    return found


def loaded():
    return sum(load(["1", "", "3"]))


def number(found):
    found.append(4)  # @listed
    return found


def listed():
    return ",".join(number(["a"]))


def option(kind):
    return {"a": {"x": 1}}.get(kind)


def spread():
    return {"y": 2, **option("b")}  # @spread


def updated():
    known = {"x": 1}
    known.update(option("b"))  # @updated
    return known


def hashed():
    names = ["a"]
    names.append(["b"])  # @hashed
    return set(names)


def method():
    name = Box(1, 2).label  # @method
    return "a " + name


def looked_up():
    table, made = {"a": 1}, {}
    name = "z"  # @looked_up
    made[name] = lambda: table[name]
    return made[name]()


def divided():
    box = Box(4, 2)
    box.height -= 2  # @divided
    return box.ratio


def used_up():
    values = (one for one in [1, 2])
    total = sum(values)  # @used_up
    return total / len(list(values))


def drop(seen, key):
    seen.pop(key)  # @changed


def changed():
    seen = {"a": 1, "x": 1}
    for key in seen:
        drop(seen, key)


def added():
    seen = {"A": 1}
    for key in seen:
        seen[key.lower()] = 1  # @added


def decorate(function):
    def inner(*given):
        function(*given)  # @decorated

    return inner


@decorate
def count(text):
    return len(text)


def decorated():
    return count("abc") + 1


def above(least, number):
    if number > least:  # @bound
        return number


def bound():
    over = partial(above, 3)
    return over(1) + 1


def part():
    rows = {1: {"tags": None}}
    return list(rows.get(1)["tags"])


lock = threading.Lock()
left = {"n": 1}


def take():
    with lock:
        left["n"] -= 1  # @locked
        return 10 // left["n"]


def locked():
    thread = threading.Thread(target=take)
    thread.start()
    thread.join()


globals()[sys.argv[1]]()
