"""A function whose first call is long, later ones short; and one that forks when it is hot."""

import os
import sys


def count(n):
    total = 0
    for number in range(n):
        total += number
        if number == 100_000:
            total = -1
    last = total
    return last


def wait(child):
    return os.waitpid(child, 0)[1]


def short(n):
    return n + 1


def later(n):
    even = n % 2 == 0
    if even:
        return "even"
    if n > 995:
        return "late"
    return "odd"


def many():
    return [later(n) for n in range(1_000)]


if sys.argv[1] == "long":
    print(count(2_000), [count(3) for _ in range(3)])
elif sys.argv[1] == "fork":
    many()
    child = os.fork()
    if child:
        wait(child)
    else:
        many()
        short(3)
        os._exit(0)
else:
    many()
