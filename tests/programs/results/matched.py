"""Fails with a value that a `case`, or `:=` in the statement that fails, gave a name."""

import sys


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y


def half(number):
    return number - 2  # @call


def run(command):
    match command:
        case ["move", first, *rest, last]:
            return 10 / last if len(rest) else first
        case {"kind": _, "rows": [first, *_]}:
            return 1 / first
        case Point(x=across, y=down):
            return across / down
        case (before, after):
            return before + after


def walrus():
    return [12 // y for x in (4, 2) if (y := half(x)) is not None]


bug = sys.argv[1]
if bug == "call":
    walrus()
sequence = ["move", 1, 2, 3, 0]  # @sequence
mapping = {"kind": 1, "rows": [0, 4]}  # @mapping
pair = (3, None)  # @pair
run({"sequence": sequence, "mapping": mapping, "pair": pair}.get(bug) or Point(1, 0))  # @class
