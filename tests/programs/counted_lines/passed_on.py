import asyncio
def cleans():
    try:
        raise KeyError('first')
    finally:
        try:
            int('x')
        except ValueError:
            pass
async def job(i, gate):
    async with gate:
        await asyncio.sleep(0.01)
        if i == 2:
            raise LookupError('two')
        return i
async def main():
    gate = asyncio.Semaphore(1)
    jobs = [job(i, gate) for i in range(4)]
    print(await asyncio.gather(*jobs, return_exceptions=True))
asyncio.run(main())
try:
    cleans()
except KeyError:
    pass
