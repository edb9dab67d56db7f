"""Values that come from elsewhere than where they were assigned."""

import asyncio


class Tag:
    names = []


def closures():
    return [lambda x: x * k for k in range(3)]


def evens(most):
    for number in range(most):
        if number % 2 == 0:
            yield number


async def add(counts, step):
    before = counts["n"]
    await asyncio.sleep(0)
    counts["n"] = before + step


async def add_both():
    counts = {"n": 0}
    await asyncio.gather(add(counts, 1), add(counts, 2))
    return counts["n"]


def main():
    results = [one(10) for one in closures()]
    first, second = Tag(), Tag()
    first.names.append("x")
    shared = second.names
    numbers = evens(10)
    total = sum(numbers)
    rest = list(numbers)
    lost = asyncio.run(add_both())
    print(results, shared, total, rest, lost)  # @end


main()
