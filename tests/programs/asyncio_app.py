"""Two tasks that pass numbers through a queue."""

from __future__ import annotations

import asyncio


async def produce(queue: asyncio.Queue[int | None]) -> None:
    for number in range(1, 4):
        await asyncio.sleep(0)
        await queue.put(number)  # @put
    await queue.put(None)


async def consume(queue: asyncio.Queue[int | None]) -> int:
    total = 0
    while (number := await queue.get()) is not None:
        total += number  # @take
    return total


async def main() -> None:
    queue: asyncio.Queue[int | None] = asyncio.Queue(maxsize=1)
    async with asyncio.timeout(110), asyncio.TaskGroup() as tasks:
        tasks.create_task(produce(queue), name="producer")
        consumer = tasks.create_task(consume(queue), name="consumer")
    print(f"total {consumer.result()}")  # @total


if __name__ == "__main__":
    asyncio.run(main())
