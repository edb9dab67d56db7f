"""Each job is done once, in order, and every waiter is answered."""

from __future__ import annotations

import asyncio

import pytest

from debugger.errors import DebuggerError, ErrorCode
from debugger.session.job_worker import JobWorker
from event_loop import begin_task

BOUND_S = 60.0


async def opened(**limits: float) -> JobWorker:
    worker = JobWorker(**limits)
    await worker.open("test", on_failure=lambda: None)
    return worker


class Gate:
    """A job that begins, and ends when it is told to."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.end = asyncio.Event()

    async def __call__(self) -> str:
        self.begun.set()
        await self.end.wait()
        return "done"


async def nothing() -> None:
    """Do nothing."""


async def test_jobs_are_done_one_at_a_time_in_their_order():
    worker = await opened()
    log: list[str] = []
    may_end = asyncio.Event()

    def job(name: str):
        async def run() -> str:
            log.append(f"{name} begins")
            await may_end.wait()
            log.append(f"{name} ends")
            return name

        return run

    requests = [await begin_task(worker.run_job(job(name))) for name in "ab"]
    may_end.set()
    assert await asyncio.wait_for(asyncio.gather(*requests), BOUND_S) == ["a", "b"]
    assert log == ["a begins", "a ends", "b begins", "b ends"]
    await worker.close()


async def test_a_job_that_fails_with_an_answer_leaves_the_worker_as_it_is():
    worker = await opened()

    async def fail() -> None:
        raise DebuggerError(ErrorCode.NOT_FOUND, "nothing here")

    with pytest.raises(DebuggerError, match="nothing here"):
        await worker.run_job(fail)
    assert await worker.run_job(nothing) is None
    await worker.close()


async def test_close_does_the_jobs_that_wait_and_takes_no_more():
    worker = await opened()
    gate = Gate()
    first = asyncio.create_task(worker.run_job(gate))
    await gate.begun.wait()
    second = await begin_task(worker.run_job(gate))
    closing = await begin_task(worker.close())
    with pytest.raises(DebuggerError) as refused:
        await worker.run_job(nothing)
    assert refused.value.code is ErrorCode.NO_SESSION
    gate.end.set()
    assert await asyncio.wait_for(asyncio.gather(first, second), BOUND_S) == ["done", "done"]
    await asyncio.wait_for(closing, BOUND_S)


async def test_too_many_jobs_are_refused_and_a_full_queue_still_closes():
    worker = await opened()
    gate = Gate()
    first = asyncio.create_task(worker.run_job(gate))
    await gate.begun.wait()
    waiting = [await begin_task(worker.run_job(nothing)) for _ in range(200)]
    with pytest.raises(DebuggerError) as refused:
        await worker.run_job(nothing)
    assert refused.value.code is ErrorCode.WRONG_STATE
    closing = await begin_task(worker.close())
    gate.end.set()
    results = await asyncio.wait_for(
        asyncio.gather(first, *waiting, return_exceptions=True), BOUND_S
    )
    assert results[0] == "done"
    assert {one.code for one in results[1:]} == {ErrorCode.NO_SESSION}
    await asyncio.wait_for(closing, BOUND_S)


async def test_a_job_that_hangs_at_the_end_is_cancelled_and_its_asker_answered():
    worker = await opened(close_s=0.05)
    gate = Gate()
    hanging = asyncio.create_task(worker.run_job(gate))
    await gate.begun.wait()
    behind = await begin_task(worker.run_job(nothing))
    await asyncio.wait_for(worker.close(), BOUND_S)
    results = await asyncio.wait_for(
        asyncio.gather(hanging, behind, return_exceptions=True), BOUND_S
    )
    assert {one.code for one in results} == {ErrorCode.NO_SESSION}


async def test_a_job_for_nobody_tells_its_error():
    worker = await opened()
    told: asyncio.Future[DebuggerError] = asyncio.get_running_loop().create_future()

    async def fail() -> None:
        raise DebuggerError(ErrorCode.TIMEOUT, "too late")

    worker.schedule_job(fail, on_error=told.set_result)
    assert (await asyncio.wait_for(told, BOUND_S)).message == "too late"
    await worker.close()
