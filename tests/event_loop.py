"""Waits of tests in the event loop: for a task's first wait, and for a condition."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
BOUND_S = 60.0


async def begin_task(coroutine: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """Start a task, and return once it waits for something or has ended."""
    begun = asyncio.Event()

    async def run() -> T:
        # Whoever waits for the event runs only after this task has given up its turn.
        begun.set()
        return await coroutine

    task = asyncio.create_task(run())
    await begun.wait()
    return task


async def await_condition(
    condition: Callable[[], object], *, what: str, within_s: float = BOUND_S
) -> None:
    """Let the loop run until a condition holds; fail after `within_s`, saying what did not come."""
    __tracebackhide__ = True
    try:
        async with asyncio.timeout(within_s):
            while not condition():
                await asyncio.sleep(0)
    except TimeoutError:
        raise AssertionError(f"waited {within_s:g} s for {what}") from None
