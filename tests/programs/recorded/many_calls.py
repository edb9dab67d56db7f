"""Calls functions of several kinds often, and some of them once more in a child process."""

import os


def small(n):
    return n + 1


def outer():
    def nested(n):
        return small(n)

    return nested


def each(n):
    yield small(n)


def deep(n):
    return deep(n - 1) if n else 0


class Box:
    @property
    def size(self):
        return small(1)


kept, box = outer(), Box()
for at in range(700):
    small(kept(at))
    outer()(at)
    next(each(at))
    box.size  # noqa: B018
    deep(3)
if not os.fork():
    for at in range(150):
        kept(at)
    os._exit(0)
os.wait()
