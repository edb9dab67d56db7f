"""Calls methods that a dataclass and a namedtuple make, and functions that are made from texts."""

import json
from collections import namedtuple
from dataclasses import dataclass


@dataclass
class Point:
    x: int
    y: int = 0


Pair = namedtuple("Pair", "left right")
made = {}
exec(compile("def twice(n):\n    total = n * 2\n    return total\n", "<made>", "exec"), made)


def main():
    for i in range(3):
        point = Point(i, 5)
        pair = Pair(i, point)
        doubled = made["twice"](i)
        text = json.loads(f'{{"n": {i}}}')
        print(point == Point(1, 5), pair.left, doubled, text["n"])


main()
