"""Runs the jobs of a session one at a time, in one task."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from debugger.errors import DebuggerError, ErrorCode, full_disk_error

T = TypeVar("T")
_log = logging.getLogger(__name__)
_WAITING_MAX = 200  # queued jobs
_CLOSE_S = 12.0  # seconds for the queued jobs
_Job = tuple[Callable[[], Awaitable[Any]], "asyncio.Future[Any]"]


class JobWorker:
    """Runs jobs in order; a job that has begun is finished even if its requester has left."""

    def __init__(self, *, close_s: float = _CLOSE_S) -> None:
        self._close_s = close_s
        self._jobs: asyncio.Queue[_Job | None] = asyncio.Queue(_WAITING_MAX)
        self._is_closed = False
        self._tasks: asyncio.TaskGroup | None = None
        self._life: asyncio.Task[None] | None = None

    @property
    def tasks(self) -> asyncio.TaskGroup:
        """The task group for everything that runs beside the jobs."""
        assert self._tasks is not None
        return self._tasks

    async def open(self, name: str, *, on_failure: Callable[[], None]) -> None:
        """Begin to run jobs; `on_failure` is called if an error of our own ends the worker."""
        ready = asyncio.Event()
        self._life = asyncio.create_task(self._run_until_closed(ready, name, on_failure), name=name)
        await ready.wait()

    async def _run_until_closed(
        self, ready: asyncio.Event, name: str, on_failure: Callable[[], None]
    ) -> None:
        try:
            async with asyncio.TaskGroup() as tasks:
                self._tasks = tasks
                ready.set()
                await self._run_jobs()
        except* Exception:  # noqa: BLE001 - a fault of ours ends one session, and is logged
            _log.exception("the session %s failed", name)
            on_failure()
        finally:
            self._is_closed = True
            # Nobody takes them from the queue any more.
            self._refuse_those_that_wait()

    def _refuse_those_that_wait(self) -> None:
        while not self._jobs.empty():
            job = self._jobs.get_nowait()
            if job is not None and not job[1].done():
                job[1].set_exception(_session_ended_error())

    async def run_job(self, job: Callable[[], Awaitable[T]]) -> T:
        """Run a job in its turn and return its result.

        Raises:
            DebuggerError: WRONG_STATE when too many jobs wait or the session has ended, what the
                job raises, and INTERNAL for any other exception in it; the session goes on.
        """
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        if self._is_closed:
            raise _session_ended_error()
        try:
            self._jobs.put_nowait((job, done))
        except asyncio.QueueFull:
            raise DebuggerError(
                ErrorCode.WRONG_STATE,
                f"{_WAITING_MAX} commands already wait for this session",
                hint="debugger status",
            ) from None
        return await done

    def schedule_job(
        self, job: Callable[[], Awaitable[object]], *, on_error: Callable[[DebuggerError], None]
    ) -> None:
        """Run a job without waiting for it."""

        async def run() -> None:
            try:
                await self.run_job(job)
            except DebuggerError as error:
                on_error(error)

        self.tasks.create_task(run())

    async def _run_jobs(self) -> None:
        while (next_job := await self._jobs.get()) is not None:
            job, done = next_job
            # The requester has left before the job began.
            if done.cancelled():
                continue
            try:
                result = await job()
            except Exception as error:  # noqa: BLE001 - a fault of ours costs one command
                if not done.cancelled():
                    done.set_exception(_to_debugger_error(error))
            except BaseException:
                if not done.cancelled():
                    done.set_exception(_session_ended_error())
                raise
            else:
                if not done.cancelled():
                    done.set_result(result)

    async def close(self) -> None:
        """Accept no more jobs, run the queued ones, and end the tasks beside them (bounded)."""
        if not self._is_closed:
            self._is_closed = True
            # The end mark needs a place in the queue.
            if self._jobs.full():
                self._refuse_those_that_wait()
            self._jobs.put_nowait(None)
        # A job may close its own session; it cannot wait for itself.
        if self._life is not None and self._life is not asyncio.current_task():
            done, _ = await asyncio.wait({self._life}, timeout=self._close_s)
            if not done:
                self._life.cancel()


def _session_ended_error() -> DebuggerError:
    return DebuggerError(
        ErrorCode.NO_SESSION, "the session has ended", hint="debugger start PROGRAM"
    )


def _to_debugger_error(error: Exception) -> DebuggerError:
    if isinstance(error, DebuggerError):
        return error
    _log.error("a command failed", exc_info=error)
    if (full := full_disk_error(error)) is not None:
        return full
    what = f"{type(error).__name__}: {error}"
    hint = "this is a fault of the debugger; debugger daemon logs shows it"
    return DebuggerError(ErrorCode.INTERNAL, what, hint=hint)
