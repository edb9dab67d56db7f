
import asyncio
import collections

class Names(collections.UserDict):
    def __missing__(self, key):
        return key.upper()

async def fetch():
    await asyncio.sleep(0)
    return Names()["a"]

async def main():
    found = await fetch()
    print(found)

asyncio.run(main())
