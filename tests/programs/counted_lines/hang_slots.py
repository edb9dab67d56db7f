"""Visits nested pages: who holds one of two slots waits for others that need one."""

import asyncio
import sys
import threading

SLOTS = threading.Semaphore(2)


def visit(depth):
    with SLOTS:
        gate.wait()
        inner = [threading.Thread(target=visit, args=(depth - 1,)) for _ in range(2 * bool(depth))]
        for one in inner:
            one.start()
        for one in inner:
            one.join()


class Crawler:
    def __init__(self):
        self.slots = asyncio.Semaphore(2)

    async def visit(self, depth):
        async with self.slots:
            await asyncio.sleep(0.01)
            await asyncio.gather(*(self.visit(depth - 1) for _ in range(2 * bool(depth))))


def count():
    """Wait for items of which somebody else gives more: no deadlock."""
    items = threading.Semaphore(1)
    items.acquire()
    threading.Timer(600, items.release).start()
    items.acquire()


async def crawl():
    crawler = Crawler()
    await asyncio.gather(crawler.visit(1), crawler.visit(1))


gate = threading.Barrier(2)
if sys.argv[1] == "threads":
    pages = [threading.Thread(target=visit, args=(1,), name=f"page-{n}") for n in range(2)]
    for page in pages:
        page.start()
elif sys.argv[1] == "tasks":
    asyncio.run(crawl())
else:
    count()
