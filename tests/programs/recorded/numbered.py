"""Calls of all kinds, of which some are recorded and many are only counted."""

import json
import threading

SEEN = {}
LOCK = threading.Lock()


class Shelf:
    limit = 3

    def __init__(self, name):
        self.name = name
        self.items = []

    def put(self, item):
        if len(self.items) >= self.limit:
            raise ValueError(item)
        self.items.append(item)
        return self


def numbers(count):
    for number in range(count):
        given = yield number
        if given:
            yield -given


def counter():
    total = 0

    def add(number):
        nonlocal total
        total += number
        return total

    return add


def depth(number):
    return 0 if number == 0 else depth(number - 1) + 1


def fill(shelf, rounds):
    failed = 0
    for number in range(rounds):
        try:
            shelf.put(depth(number % 5))
        except ValueError as error:
            failed += error.args[0]
        finally:
            SEEN[number % 3] = failed
    return failed


def share(rounds):
    found = []

    def work(first):
        for number in range(first, first + rounds):
            with LOCK:
                found.append(depth(number % 3))

    threads = [threading.Thread(target=work, args=(first,)) for first in (0, 10)]
    for one in threads:
        one.start()
        one.join()
    return sum(found)


def main():
    first = Shelf("first")
    failed = fill(first, 400)
    add = counter()
    for number in numbers(300):
        add(number)
    walk = numbers(9)
    next(walk)
    walk.send(4)
    shared = share(200)
    total = add(failed) + shared
    text = json.dumps([total, first.items, [one.name for one in [first]]], indent=1)
    last = [part for part in text.split() if part]  # @last
    while total > 10:  # @while
        total -= depth(3)
    print(last, total)  # @print
    return last, total


main()
