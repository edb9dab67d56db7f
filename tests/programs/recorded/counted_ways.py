"""Calls functions so often that their code counts the calls itself, where it is found."""

import os
import threading


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def cached(function):
    def call(*given):
        return function(*given)

    return call


@cached
def double(n):
    return 2 * n


def add_each(numbers):
    return sum(map(lambda one: one + 1, numbers))  # noqa: C417


def count_up(n):
    yield from range(n)


class Point:
    def __init__(self, x):
        self.x = x

    @property
    def half(self):
        return self.x / 2

    @classmethod
    def of(cls, x):
        return cls(x)


def shift(n):
    return n + 1


def use_all(n):
    for at in range(n):
        double(at)
        sum(count_up(2))
        assert Point.of(at).half == at / 2
        add_each((1, 2))


print(fib(15))
for at in range(900):
    shift(at)
shift.__code__ = (lambda n: n + 2).__code__
for at in range(900):
    assert shift(at) == at + 2
threads = [threading.Thread(target=use_all, args=(1_500,)) for _ in range(2)]
for one in threads:
    one.start()
for one in threads:
    one.join()
if not os.fork():
    fib(14)
    os._exit(0)
os.wait()
