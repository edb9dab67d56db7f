import contextlib
import importlib


@contextlib.contextmanager
def opened():
    with contextlib.suppress(KeyError):
        yield "store"


def check(limit):
    if limit < 5:
        raise ValueError(limit)


def order(count):
    try:
        check(count - 3)
    except ValueError as error:
        raise RuntimeError("no order") from error


def count_up():
    total = 0
    for number in range(100):
        total += number


for _ in range(150):
    count_up()
importlib.import_module("flow.empty")
with opened():
    order(7)
