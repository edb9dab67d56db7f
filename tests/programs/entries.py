"""Functions whose first line has code of others; ends with status 0."""

from __future__ import annotations

# fmt: off

import sys


class Rule:
    def rate(self): return 0.5  # @rate
    def total(self, items): return sum(one * self.rate() for one in items)  # @total


def loop(items):  # @loop
    for one in items:  # @head
        one += 1
    return len(items)


def mapped(items, with_=lambda one: one): return [with_(one) for one in items]  # @mapped


if __name__ == "__main__":
    Rule().total([1, 2])
    loop([1, 2, 3])
    mapped([1, 2])
    sys.exit(0)
