import sys


def work(a, /, b, *rest, c=1, **more):
    """Work."""

    x = a

    # nothing here
    return x


class Tree:
    async def add(self, n):
        def inner():
            return n
        return inner()


work(1, 2)
