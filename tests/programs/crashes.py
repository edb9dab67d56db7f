"""Ends in a way that pydevd's tracing alone does not see."""

import asyncio
import pdb
import sys
from concurrent.futures import ProcessPoolExecutor


def first(depth):
    return second(depth + 1)


def second(depth):
    return third(depth + 1)


def third(depth):
    return first(depth + 1)


def quits(value):
    pdb.set_trace()
    return value


async def divide(by):
    await asyncio.sleep(0)
    return 1 // by


async def forget():
    task = asyncio.create_task(divide(0))
    await asyncio.sleep(0.01)
    del task


def score(pair):
    return pair[0] / pair[1]


def work(pair):
    return score(pair)


def pool():
    with ProcessPoolExecutor(1) as executor:
        return executor.submit(work, (1, 0)).result()


def main(what):
    if what == "mutual":
        first(0)
    elif what == "quit":
        quits(3)
    elif what == "task":
        asyncio.run(forget())
    elif what == "pool":
        pool()


if __name__ == "__main__":
    main(sys.argv[1])
