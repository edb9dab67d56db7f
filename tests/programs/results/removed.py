"""Fails in the way that its argument names, because something was taken out of a container."""

import heapq
import sys
from collections import OrderedDict, deque


class Shelf:
    def __init__(self):
        self.items = [1, 2]
        self.names = OrderedDict(a=1, b=2)

    def close(self):
        self.items.clear()  # @field
        del self.names["a"]  # @ordered


def expire(cache, key):
    cache.pop(key, None)  # @key


def refilled(cells):
    cells.pop()
    cells.append(2)
    cells[:] = []  # @slice


def run(bug):
    shelf, rates = Shelf(), {"a": 1, "b": 2}
    waiting, heap, seen, cells = deque([1]), [3], {"x"}, [1]
    if bug == "field":
        shelf.close()
        return shelf.items[0]
    if bug == "ordered":
        shelf.close()
        return shelf.names["a"]
    if bug == "key":
        expire(rates, "a")
        expire(rates, "c")
        return rates["a"]
    if bug == "queue":
        while waiting:
            waiting.popleft()  # @queue
        return waiting[0]
    if bug == "heap":
        heapq.heappop(heap)  # @heap
        return heapq.heappop(heap)
    if bug == "set":
        seen.discard("x")  # @set
        return seen.pop()
    if bug == "iterator":
        rows = (one for one in cells)
        sum(rows)  # @iterator
        return max(rows)
    if bug == "slice":
        refilled(cells)
        return cells[0]
    expire(rates, "a")
    rates["a"] = 3
    rates = {key: rate for key, rate in rates.items() if rate > 3}  # @made
    return rates["a"]


run(sys.argv[1])
