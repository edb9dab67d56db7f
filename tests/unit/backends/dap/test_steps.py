"""What keeps an adapter's steps from being lost, requested at the right moments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from debugger.backends.base import ConditionError, LogpointPassed
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointSpec
from debugger.model.program import ExitedProgram, ResumeKind, Stopped, StopReason
from driven_backend import DrivenBackend, drive_adapter, launch_target
from fakes import fake_adapter
from fakes.fake_adapter import change_adapter

_FILE = "/imaginary/main.c"
_CALL = BreakpointSpec(file=_FILE, line=12)
_END = Stopped(StopReason.STEP, "step", thread=1)


@dataclass
class Script:
    """Judges the stops of a step as it is told to, and keeps what it is asked."""

    passes: bool = False
    end: Stopped | None = None
    inside: Any = None
    asked: list[Any] = field(default_factory=list)

    async def note_breakpoints(
        self, name: str, wanted: Sequence[Breakpoint], bounds: Sequence[BoundBreakpoint]
    ) -> list[BoundBreakpoint]:
        self.asked.append((name, len(wanted), all(one.verified for one in bounds)))
        return list(bounds)

    async def begin_step(
        self, how: ResumeKind, thread: int, *, by_instruction: bool = False
    ) -> None:
        self.asked.append((how, thread, by_instruction))
        self.inside.stop_checks.append(self._check)

    async def attribute_stop(self, stop: Stopped) -> Stopped | None:
        return None if self.passes and self.inside.stop_checks else stop

    async def ended_step(self) -> Stopped | None:
        return self.end

    async def enter_body(self, stop: Stopped) -> Stopped | None:
        return stop

    def note_stop(self, stop: Stopped) -> None:
        self.asked.append(stop.reason)

    async def _check(self, stop: Stopped) -> None:
        del stop
        self.inside.stop_checks.remove(self._check)


async def _stepped(
    script: Script, folder: Path, *specs: BreakpointSpec, quirks: Sequence[str] = (), **changes: Any
) -> tuple[Stopped | ExitedProgram, DrivenBackend]:
    """Step from the call in the loop, with other breakpoints set; return what came of it."""

    def made(inside: Any) -> Script:
        script.inside = inside
        return script

    changed = change_adapter(
        fake_adapter.FAKE_ADAPTER, make_step_keeper=made, has_step_keeper=True, **changes
    )
    adapter = fake_adapter.fake_location(*fake_adapter.quirk_words(*quirks))
    async with drive_adapter(changed, adapter, folder) as one:
        stop = await one.to_stop(launch_target(_FILE), _CALL)
        for spec in specs:
            await one.add(spec)
        await one.go_on(stop, ResumeKind.NEXT)
        return await one.seen.next((Stopped, ExitedProgram)), one


async def test_it_knows_the_breakpoints_and_the_step_before_that_begins(runtime_dir: Path):
    script = Script()
    await _stepped(script, runtime_dir, BreakpointSpec(function="work"))
    assert script.asked == [
        (_FILE, 1, True),
        StopReason.BREAKPOINT,
        ("", 1, True),
        (ResumeKind.NEXT, 1, False),
        StopReason.FUNCTION_BREAKPOINT,
    ]


async def test_a_stop_that_is_not_the_users_is_passed_while_the_step_goes_on(runtime_dir: Path):
    stop, one = await _stepped(Script(passes=True), runtime_dir, BreakpointSpec(function="work"))
    assert stop == ExitedProgram(code=3)
    assert len([event for event in one.seen if isinstance(event, Stopped)]) == 1


async def test_a_stop_that_is_not_the_users_is_the_steps_where_that_has_ended(runtime_dir: Path):
    stop, _ = await _stepped(
        Script(passes=True, end=_END), runtime_dir, BreakpointSpec(function="work")
    )
    assert stop is _END


@pytest.mark.parametrize("end", [_END, None])
async def test_a_step_ends_where_we_log_if_it_has_ended_there(
    runtime_dir: Path, end: Stopped | None
):
    stop, one = await _stepped(
        Script(end=end), runtime_dir, BreakpointSpec(function="work", log="here"), keeps_steps=True
    )
    assert (stop is _END) is (end is not None)
    assert [event.text for event in one.seen if isinstance(event, LogpointPassed)] == ["here"]


async def test_a_step_ends_where_a_condition_fails_if_it_has_ended_there(runtime_dir: Path):
    stop, one = await _stepped(
        Script(end=_END),
        runtime_dir,
        BreakpointSpec(file=_FILE, line=4, condition="nothing == 1"),
        quirks=("condition-error-stops-with-output",),
    )
    assert stop is _END
    assert any(isinstance(event, ConditionError) for event in one.seen)
