"""Tasks fill a cache while they wait, a generator counts, and a division by zero ends it all."""

import asyncio


class Cache:
    def __init__(self):
        self.data = {}  # @begun_with

    async def get(self, key):
        if key not in self.data:
            await asyncio.sleep(0.01)
            self.data[key] = await fetch(key)  # @stored
        return self.data[key]  # @got


async def fetch(key):
    await asyncio.sleep(0.01)
    return 10 * key


def count():
    n = 1  # @begun
    while n < 3:
        yield n
        n += 1  # @counted
    print(n)  # @ended


async def mean(cache, keys):
    found = await asyncio.gather(*(cache.get(one) for one in keys))
    rest = len(keys) - 2  # @rest
    return sum(found) / rest


async def main():
    print(await mean(Cache(), list(count())))


asyncio.run(main())
