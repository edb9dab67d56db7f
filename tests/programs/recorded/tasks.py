import asyncio
async def leaf(n):
    await asyncio.sleep(0.001 * n)
    if n == 2: raise RuntimeError("two")
    return n
async def task(n): 
    return await leaf(n) + 1
async def main():
    print(await asyncio.gather(*[task(i) for i in range(4)], return_exceptions=True))
asyncio.run(main())
