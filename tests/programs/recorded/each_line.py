"""Calls of which only the first are recorded line by line: deep, suspended, in threads, failing."""

import os
import sys
import threading
import weakref


class Held:
    pass


def deep(n):
    before = n
    if n:
        deep(n - 1)
    after = before + 1
    return after


def pairs(n):
    for number in range(n):
        both = number, n
        yield both


def fail(n):
    try:
        half = 10 // (n % 3)
    except ZeroDivisionError:
        half = -1
        if n > 30:
            raise
    return half


def drop():
    held = Held()
    alive = weakref.ref(held)
    del held
    return alive() is None


class Counter:
    def __init__(self):
        self.read = []

    @property
    def size(self):
        self.read.append(len(self.read))
        return len(self.read)


def look(counter):
    first = counter.read
    size = counter.size
    if size == counter.size:
        size = 0
    return first


def one_line(numbers):
    total = 0
    for number in numbers: total += number
    while total > 3: total -= 1
    return total


def work(n):
    total = 0
    for number in range(n):
        total += one_line([number])
    return total


def run_thread(n):
    worker = threading.Thread(target=work, args=(n,))
    worker.start()
    worker.join()


deep(400)
early = pairs(4)
next(early)
rest = [sum(1 for _ in pairs(n)) for n in range(40)]
last = list(early)
failures = []
for n in range(40):
    try:
        failures.append(fail(n))
    except ZeroDivisionError as error:
        failures.append(str(error))
print(rest, last, failures, [drop() for _ in range(5)])
counter = Counter()
for _ in range(30):
    look(counter)
run_thread(60)
run_thread(60)
if len(sys.argv) > 1:
    child = os.fork()
    if child:
        os.waitpid(child, 0)
    else:
        deep(5)
        one_line([1, 2, 3])
        os._exit(0)
