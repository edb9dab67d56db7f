"""A step asks LLDB for what keeps it from being lost, and filters its stops."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from debugger.backends.lldb.lldb_steps import LldbSteps
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointKind, BreakpointSpec
from debugger.model.program import Frame, ResumeKind, Stack, Stopped, StopReason

T = 5
HERE = BreakpointSpec(file="/src/main.c", line=13, condition="i == 1000")
STOP = Stopped(StopReason.BREAKPOINT, "breakpoint", thread=T, hits=(2,))
_GUARD = 9
_BASE = "thread #1: tid = 0x5:\n  Active plan stack:\n    Element 0: Base thread plan.\n"
_ALIVE = _BASE + "    Element 1: Stepping over line main.c:12:30.\n"


@dataclass
class Lldb:
    """An LLDB of one thread; what it was told is kept."""

    files: tuple[str, ...] = ("/src/main.c", "/src/start.c")
    counts: dict[int, int] = field(default_factory=lambda: {2: 0})
    ignored: dict[int, int] = field(default_factory=dict)
    plans: str = _BASE
    reason: str = "breakpoint 2.1 9.1"
    told: list[str] = field(default_factory=list)
    stop_checks: list[Callable[[Stopped], Awaitable[None]]] = field(default_factory=list)

    async def read_stack(self, thread: int, *, start: int = 0, levels: int = 20) -> Stack:
        del thread  # there is one
        self.told.append("stack")
        frames = [
            Frame(handle=at, index=at, function="f", file=file, line=12)
            for at, file in enumerate(self.files)
        ]
        return Stack(tuple(frames[start : start + levels]), len(frames))

    async def run_raw(self, command: str, frame: Frame | None) -> str:
        # Of exceptions, in test_caught_steps: nothing catches here.
        if not command.startswith(("command script import", "debugger-")):
            self.told.append(command)
        match command.split()[:2]:
            case ["breakpoint", "list"]:
                return "".join(
                    f"{one}: locations = 1, resolved = 1, hit count = {count} "
                    f"Options: ignore: {self.ignored.get(one, 0)} enabled\n"
                    for one, count in self.counts.items()
                )
            case ["breakpoint", "set"]:
                self.counts[_GUARD] = 0
                return f"Breakpoint {_GUARD}: where = main.c:13:1, address = 0x1179\n"
            case ["thread", "plan"]:
                return self.plans
            case ["thread", "info"]:
                return f"thread #1: tid = 5, stop reason = {self.reason}\n"
            case ["register", "read"]:
                own = frame is not None and frame.index == 0
                return "  rsp = 0x7000\n  rbp = 0x7018\n" if own else "  rsp = 0x7028\n"
        return ""

    def since(self) -> list[str]:
        """Return what it was told since it was asked last."""
        told, self.told = self.told, []
        return told


async def _begun(
    lldb: Lldb, *specs: BreakpointSpec, how: ResumeKind = ResumeKind.NEXT, **more: Any
) -> LldbSteps:
    steps = LldbSteps(lldb, logging={BreakpointKind.LINE}, **more)  # type: ignore[arg-type]
    wanted = [Breakpoint(id=at + 1, spec=spec, at=spec) for at, spec in enumerate(specs)]
    bounds = [BoundBreakpoint(verified=True, backend_id=at + 2) for at in range(len(specs))]
    await steps.note_breakpoints("/src/main.c", wanted, bounds)
    lldb.since()
    await steps.begin_step(how, T)
    return steps


@pytest.mark.parametrize(
    ("specs", "how"),
    [
        ([BreakpointSpec(file="/src/main.c", line=13)], ResumeKind.NEXT),
        ([HERE], ResumeKind.CONTINUE),
    ],
)
def test_where_no_breakpoint_lets_the_program_pass_nothing_is_asked(specs, how):
    lldb = Lldb()
    asyncio.run(_begun(lldb, *specs, how=how))
    assert (lldb.told, lldb.stop_checks) == ([], [])


def test_where_none_is_in_the_files_of_the_step_only_the_stack_is_read():
    lldb = Lldb(files=("/src/lib.c", "/src/start.c"))
    asyncio.run(_begun(lldb, HERE))
    assert (lldb.told, lldb.stop_checks) == (["stack"], [])


@pytest.mark.parametrize("files", [("/src/main.c", "/src/start.c"), ("/src/lib.c", "/src/main.c")])
def test_a_step_is_guarded_by_what_is_in_its_file_and_in_its_callers(files):
    async def run() -> None:
        lldb = Lldb(files)
        steps = await _begun(lldb, HERE)
        told = lldb.since()
        assert '--file "/src/main.c" --line 13' in next(one for one in told if " set " in one)
        assert told[-2:] == [
            f'breakpoint modify --thread-id 5 --condition "$sp >= {0x7000} || $fp == {0x7018}" 9',
            "breakpoint enable 9",
        ]
        for check in tuple(lldb.stop_checks):
            await check(STOP)
        assert (lldb.since(), lldb.stop_checks) == (["breakpoint disable 9"], [])
        await steps.begin_step(ResumeKind.NEXT, T)
        assert not [one for one in lldb.since() if " set " in one]

    asyncio.run(run())


def test_the_guard_of_a_breakpoint_that_is_gone_is_deleted():
    async def run() -> list[str]:
        lldb = Lldb()
        steps = await _begun(lldb, HERE)
        other = BreakpointSpec(file="/src/main.c", line=20, log="here")
        await steps.note_breakpoints(
            "/src/main.c", [Breakpoint(id=2, spec=other)], [BoundBreakpoint(True, 3)]
        )
        lldb.since()
        await steps.begin_step(ResumeKind.NEXT, T)
        return lldb.told

    assert "breakpoint delete 9" in asyncio.run(run())


def _judged(
    spec: BreakpointSpec,
    hits: dict[int, int],
    *,
    stop: Stopped = STOP,
    ignored: int = 0,
    **more: Any,
) -> Stopped | None:
    async def run() -> Stopped | None:
        lldb = Lldb(ignored={2: ignored})
        steps = await _begun(lldb, spec, **more)
        lldb.counts |= hits
        return await steps.attribute_stop(stop)

    return asyncio.run(run())


def test_a_stop_that_is_the_guards_alone_is_not_the_users():
    assert _judged(HERE, {_GUARD: 1}) is None
    told_by_its_own_number = Stopped(StopReason.BREAKPOINT, "breakpoint", thread=T, hits=(_GUARD,))
    assert _judged(HERE, {_GUARD: 1}, stop=told_by_its_own_number) is None


def test_a_stop_where_the_condition_holds_is_the_users_and_names_no_guard():
    told = Stopped(StopReason.BREAKPOINT, "breakpoint", thread=T, hits=(_GUARD,))
    for stop in (STOP, told):
        judged = _judged(HERE, {2: 1, _GUARD: 1}, stop=stop)
        assert judged is not None
        assert judged.hits == (2,)


def test_a_stop_of_a_breakpoint_that_lldb_did_not_name_is_the_users():
    """At one address LLDB 19 names only the first."""

    async def run() -> Stopped | None:
        lldb = Lldb(counts={2: 0, 3: 0})
        steps = await _begun(lldb, HERE, BreakpointSpec(file="/src/main.c", line=13, thread=T))
        lldb.counts |= {3: 1, _GUARD: 1}
        return await steps.attribute_stop(STOP)

    judged = asyncio.run(run())
    assert judged is not None
    assert judged.hits == (3,)


@pytest.mark.parametrize(
    ("spec", "ignored"),
    [
        (BreakpointSpec(file="/src/main.c", line=13, log="here"), 0),
        (BreakpointSpec(file="/src/main.c", line=13, thread=T + 1), 0),
        (BreakpointSpec(file="/src/main.c", line=13, hit_count=2), 1),
    ],
)
def test_a_hit_that_does_not_stop_is_not_the_users(spec, ignored):
    assert _judged(spec, {2: 1, _GUARD: 1}, ignored=ignored) is None


def test_hits_that_the_adapter_counts_stop_from_the_nth_on():
    spec = BreakpointSpec(file="/src/main.c", line=13, hit_count=2)
    assert _judged(spec, {2: 1, _GUARD: 1}, counts_alone=True) is None
    assert _judged(spec, {2: 2, _GUARD: 1}, counts_alone=True) is not None


def test_other_stops_are_told_as_they_are():
    for stop in (
        Stopped(StopReason.SIGNAL, "exception", thread=T, signal="SIGSEGV"),
        Stopped(StopReason.BREAKPOINT, "breakpoint", thread=T),
    ):
        assert _judged(HERE, {}, stop=stop) is stop


def _ended(**more: Any) -> Stopped | None:
    async def run() -> Stopped | None:
        lldb = Lldb()
        steps = await _begun(lldb, HERE)
        lldb.counts |= {_GUARD: 1}
        for name, value in more.items():
            setattr(lldb, name, value)
        assert await steps.attribute_stop(STOP) is None
        return await steps.ended_step()

    return asyncio.run(run())


def test_a_step_that_lldb_has_given_up_has_ended():
    assert _ended() == Stopped(StopReason.STEP, "step", thread=T)


def test_a_step_that_lldb_goes_on_with_has_not_ended():
    assert _ended(plans=_ALIVE) is None


def test_a_step_of_a_thread_that_is_gone_does_not_end():
    assert _ended(plans="error: Unknown TID: 5\n") is None


def test_a_step_that_lldb_would_not_find_back_from_ends_in_the_inlined_function():
    assert _ended(plans=_ALIVE, reason="breakpoint 2.1 9.1 -2.1") is not None


@pytest.mark.parametrize(
    ("reason", "is_given_up"), [(StopReason.BREAKPOINT, True), (StopReason.STEP, False)]
)
def test_a_step_that_was_interrupted_is_given_up_for_the_next(reason, is_given_up):
    async def run() -> list[str]:
        lldb = Lldb(plans=_ALIVE)
        steps = await _begun(lldb)
        steps.note_stop(Stopped(reason, "", thread=T))
        await steps.begin_step(ResumeKind.CONTINUE, T)
        await steps.begin_step(ResumeKind.NEXT, T)
        return lldb.told

    assert ("thread plan discard 1" in asyncio.run(run())) is is_given_up
