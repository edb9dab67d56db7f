"""Defines functions in every way that has a name, and calls each."""

import functools
import importlib.util
import sys
from pathlib import Path


def logged(function):
    @functools.wraps(function)
    def wrapper(*given):
        return function(*given)

    return wrapper


def outer(rows):
    basis = 7

    def inner(row):
        return row * basis

    return [inner(row) for row in rows]


def make():
    class Made:
        def price(self):
            return 2

    return Made()


class Base:
    def total(self):
        return 1


class Cart(Base):
    cube = lambda self, side: side**3  # noqa: E731

    def total(self):
        return super().total() + 1

    @staticmethod
    def plain(value):
        return value

    @property
    def count(self):
        return 5


@logged
def decorated(value):
    return value


square = lambda side: side * side  # noqa: E731


def load(path):
    spec = importlib.util.spec_from_file_location("loaded", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def generate():
    names = {}
    exec(compile("def made_up(value):\n    return value\n", "<generated>", "exec"), names)
    names["made_up"](4)


def main():
    outer([1, 2])
    make().price()
    cart = Cart()
    cart.total()
    cart.plain(1)
    cart.count  # noqa: B018
    cart.cube(2)
    decorated(1)
    square(3)
    generate()
    load(Path(__file__).parent / "plugins" / "plug.py").plugged(3)
    for elsewhere in sys.argv[1:]:
        load(elsewhere).distant(3)


main()
