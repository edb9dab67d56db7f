"""How steps of LLDB are watched for exceptions that leave them."""

from __future__ import annotations

from typing import Any

from debugger.backends.lldb.caught_steps import CaughtSteps
from debugger.model.program import ResumeKind, Stopped, StopReason

STOP = Stopped(StopReason.BREAKPOINT, raw_reason="breakpoint", thread=5, hits=(7,))


class WatchingLldb:
    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.commands: list[str] = []

    async def run_raw(self, command: str, frame: None) -> str:
        del frame
        self.commands.append(command.split(maxsplit=1)[0])
        return "landed 7 rust 0 0" if command == "debugger-show-landing" else self.answer


async def test_a_program_in_which_nothing_catches_is_asked_again_only_after_it_ran() -> None:
    lldb: Any = WatchingLldb("nothing catches")
    steps = CaughtSteps(lldb)
    for how in (ResumeKind.NEXT, ResumeKind.STEP, ResumeKind.CONTINUE, ResumeKind.NEXT):
        await steps.begin_step(how, 5)
    assert lldb.commands == ["command", "debugger-watch-catches", "debugger-watch-catches"]
    assert await steps.end_at_landing(STOP) is STOP


async def test_the_stop_where_something_was_caught_is_the_end_of_the_step() -> None:
    lldb: Any = WatchingLldb("watched")
    steps = CaughtSteps(lldb)
    await steps.begin_step(ResumeKind.NEXT, 5)
    ended = await steps.end_at_landing(STOP)
    assert (ended.reason, ended.hits, ended.handled) == (StopReason.STEP, (), "a panic")
    await steps.begin_step(ResumeKind.CONTINUE, 5)
    assert lldb.commands[-1] == "debugger-unwatch-catches"
    assert await steps.end_at_landing(STOP) is STOP
