"""LLDB's console: questions, answers, interrupts and time-outs, with a fake LLDB."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from debugger.backends.lldb.command_line.lldb_answers import LldbHalted, News
from debugger.backends.lldb.command_line.lldb_console import LldbConsole, LldbLimits
from debugger.errors import DebuggerError, ErrorCode

FAKE = str(Path(__file__).parents[4] / "fakes" / "fake_lldb.py")
Make = Callable[..., Any]


class RecordedConsole:
    """A console, and what it told."""

    def __init__(self, tasks: asyncio.TaskGroup, mode: str, limits: LldbLimits) -> None:
        self.news: list[News] = []
        self.lost: list[str] = []
        self.problem: DebuggerError | None = None
        self.console = LldbConsole(
            (sys.executable, FAKE, mode),
            limits=limits,
            on_news=self.news.append,
            on_loss=self.lost.append,
            tasks=tasks,
        )

    async def start(self, scratch: Path) -> None:
        """Start it; what is wrong with that is kept."""
        try:
            await self.console.start_lldb(cwd="/", env=dict(os.environ), scratch=scratch)
        except DebuggerError as error:
            self.problem = error


@pytest.fixture
def open_console(runtime_dir: Path) -> Make:
    scratch = runtime_dir / "scratch"
    scratch.mkdir()

    @asynccontextmanager
    async def make(mode: str = "python", **limits: float) -> AsyncIterator[RecordedConsole]:
        async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
            one = RecordedConsole(tasks, mode, LldbLimits(**limits))
            try:
                await one.start(scratch)
                yield one
            finally:
                one.console.close()
                if one.console.guard is not None:
                    await one.console.guard.end_processes()

    return make


async def fails(call: Any) -> DebuggerError:
    with pytest.raises(DebuggerError) as raised:
        await call
    return raised.value


async def test_questions_are_answered_each_with_its_own_answer(open_console: Make):
    async with open_console() as one:
        assert one.console.version == "19.1.7"
        asked = [one.console.ask_lldb("echo", at=at) for at in range(20)]
        answers = await asyncio.gather(*asked)
        assert [told for _, told, _ in answers] == [{"at": at} for at in range(20)]


async def test_stop_text_around_an_answer_is_no_part_of_it_nor_of_the_next(open_console: Make):
    async with open_console() as one:
        for at in range(5):
            assert await one.console.ask_lldb("chatter", at=at) == {"at": at}
            assert (await one.console.ask_lldb("echo"))[0] == "echo"
        assert one.news == [LldbHalted(reason="step", raw="step")] * 5


async def test_what_lldb_refuses_is_an_error_with_its_code(open_console: Make):
    async with open_console() as one:
        error = await fails(one.console.ask_lldb("refuse"))
        assert (error.code, error.message) == (ErrorCode.EVALUATION_FAILED, "no such thing")


async def test_a_hung_command_is_interrupted_and_the_next_gets_its_own_answer(open_console: Make):
    async with open_console() as one:
        error = await fails(one.console.ask_lldb("hang", within=0.2))
        assert error.code is ErrorCode.TIMEOUT
        assert "hang" in error.message
        assert (await one.console.ask_lldb("echo", at=1))[:2] == ["echo", {"at": 1}]
        assert one.lost == []


async def test_what_waits_behind_a_hung_command_is_answered_after_it(open_console: Make):
    async with open_console() as one:
        hung = asyncio.ensure_future(one.console.ask_lldb("hang", within=0.2))
        behind = asyncio.ensure_future(one.console.ask_lldb("echo", at=2))
        assert (await fails(hung)).code is ErrorCode.TIMEOUT
        assert (await behind)[1] == {"at": 2}


async def test_one_that_cannot_be_interrupted_is_given_up_as_dead(open_console: Make):
    async with open_console(resync_s=0.3) as one:
        error = await fails(one.console.ask_lldb("deaf", within=0.2))
        assert error.code is ErrorCode.ADAPTER_DIED
        assert "could not be interrupted" in error.message
        assert error.hint
        assert one.lost == [error.message]
        assert (await fails(one.console.ask_lldb("echo"))).code is ErrorCode.ADAPTER_DIED


async def test_its_death_fails_all_that_is_asked_and_is_told_once(open_console: Make):
    async with open_console() as one:
        asked = [asyncio.ensure_future(one.console.ask_lldb(do)) for do in ("die", "echo", "echo")]
        for each in asked:
            error = await fails(each)
            assert error.code is ErrorCode.ADAPTER_DIED
            assert "killed by signal 9" in error.message
        assert len(one.lost) == 1


async def test_an_answer_that_is_none_ends_it(open_console: Make):
    async with open_console() as one:
        assert (await fails(one.console.ask_lldb("garble"))).code is ErrorCode.ADAPTER_DIED
        assert len(one.lost) == 1


async def test_an_lldb_without_python_is_refused_in_words(open_console: Make):
    async with open_console("no-python") as one:
        assert one.problem is not None
        assert one.problem.code is ErrorCode.NOT_SUPPORTED
        assert "no Python" in one.problem.message
        assert "--backend dap" in (one.problem.hint or "")


async def test_one_that_says_nothing_is_waited_for_so_long_and_no_longer(open_console: Make):
    async with open_console("silent", ready_s=0.3) as one:
        assert one.problem is not None
        assert one.problem.code is ErrorCode.TIMEOUT


async def test_one_that_is_not_there_is_told(runtime_dir: Path):
    scratch = runtime_dir / "scratch"
    scratch.mkdir()
    async with asyncio.TaskGroup() as tasks:
        console = LldbConsole(
            ("/no/such/lldb",), limits=LldbLimits(), on_news=print, on_loss=print, tasks=tasks
        )
        error = await fails(console.start_lldb(cwd="/", env={}, scratch=scratch))
        assert error.code is ErrorCode.ADAPTER_FAILED
