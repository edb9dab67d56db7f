"""The promises of the Backend protocol, kept by every debugger."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from adapter_specs import with_every_spec, with_real_specs, with_specs_where
from adapter_specs.adapter_spec import AdapterSpec
from debugger.backends import abilities
from debugger.backends.base import BackendEnded, ChildStarted, LogpointPassed, ProcessStarted
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.events import OutputStream
from debugger.model.program import (
    EvaluationPurpose,
    ExitedProgram,
    ResumeKind,
    Stopped,
    StopReason,
)
from driven_backend import DrivenBackend


async def _stop_inside(one: DrivenBackend, adapter_spec: AdapterSpec, **changes: Any) -> Stopped:
    """Start the loop and run to the line inside its inner function."""
    return await one.to_stop(
        adapter_spec.loop(),
        BreakpointSpec(file=adapter_spec.file, line=adapter_spec.stop_line, **changes),
    )


@with_every_spec
async def test_a_line_breakpoint_stops_where_it_says_and_the_program_ends_with_its_status(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any]
):
    async with drive_backend(adapter_spec) as one:
        stop = await _stop_inside(one, adapter_spec)
        assert stop.reason is StopReason.BREAKPOINT
        frames = await one.frames(stop)
        shown = [(frame.function, frame.file, frame.line) for frame in frames[:2]]
        assert shown[0] == (adapter_spec.inner, adapter_spec.file, adapter_spec.stop_line)
        assert shown[1] == (adapter_spec.outer, adapter_spec.file, adapter_spec.call_line)
        assert [frame.index for frame in frames] == list(range(len(frames)))
        await one.backend.set_breakpoints(adapter_spec.file, [])
        await one.go_on(stop)
        assert await one.seen.next(ExitedProgram) == adapter_spec.ends
        assert await one.seen.next(BackendEnded) == BackendEnded()
        assert adapter_spec.prints in one.seen.printed(OutputStream.STDOUT)
        assert len([event for event in one.seen if isinstance(event, Stopped)]) == 1


async def _is_refused(one: DrivenBackend, spec: BreakpointSpec, words: str) -> None:
    """Check that a breakpoint is not set, and the user told in these words, not as an error."""
    (bound,) = await one.add(spec)
    assert not bound.verified
    assert bound.why is not None
    assert words in bound.why


@with_every_spec
async def test_a_function_is_stopped_in_and_a_place_without_code_is_unbound_and_says_why(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any]
):
    unknown = "no_such_function"
    async with drive_backend(adapter_spec) as one:
        await one.backend.start(adapter_spec.loop())
        await _is_refused(one, BreakpointSpec(file=adapter_spec.file, line=10_000), "10000")
        words = adapter_spec.lacks.get("function_breakpoints", unknown)
        await _is_refused(one, BreakpointSpec(function=unknown), words)
        if abilities.ExceptionAbility in adapter_spec.abilities:
            await _is_refused(one, BreakpointSpec(catch="no_such_filter"), "no_such_filter")
        if "function_breakpoints" in adapter_spec.lacks:
            await _is_refused(one, BreakpointSpec(function=adapter_spec.inner), words)
            return
        bound = await one.add(BreakpointSpec(function=adapter_spec.inner))
        stop = await one.run_to_stop(*bound)
        assert (await one.frame(stop)).function == adapter_spec.inner


@with_every_spec
async def test_a_condition_lets_the_other_turns_pass(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any]
):
    async with drive_backend(adapter_spec) as one:
        stop = await _stop_inside(one, adapter_spec, condition=adapter_spec.condition(2))
        assert await one.value(stop, adapter_spec.variable) == str(adapter_spec.first + 2)


@with_every_spec
async def test_a_hit_count_stops_from_the_nth_turn_on(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any]
):
    async with drive_backend(adapter_spec) as one:
        stop = await _stop_inside(one, adapter_spec, hit_count=3)
        assert await one.value(stop, adapter_spec.variable) == str(adapter_spec.first + 2)
        await one.go_on(stop)
        stop = await one.seen.next(Stopped)
        assert await one.value(stop, adapter_spec.variable) == str(adapter_spec.first + 3)


@with_every_spec
async def test_a_breakpoint_that_is_set_again_as_it_is_always_stops(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any]
):
    never = f"{adapter_spec.variable} == 99"
    where: Any = {"file": adapter_spec.file, "line": adapter_spec.stop_line}
    async with drive_backend(adapter_spec) as one:
        await one.backend.start(adapter_spec.loop())
        await one.add(BreakpointSpec(**where, condition=never))
        stop = await one.run_to_stop(*await one.add(BreakpointSpec(**where)))
        assert await one.value(stop, adapter_spec.variable) == str(adapter_spec.first)
        for turn, before in enumerate(({"hit_count": 99}, {"log": "here"}), start=1):
            await one.add(BreakpointSpec(**where, **before))
            await one.add(BreakpointSpec(**where))
            await one.go_on(stop)
            stop = await one.seen.next(Stopped)
            assert await one.value(stop, adapter_spec.variable) == str(adapter_spec.first + turn)
        assert not _logged(one)


def _logged(one: Any) -> list[tuple[int | None, str]]:
    """Return what logpoints said; some debuggers tell the thread and the count besides."""
    return [(event.number, event.text) for event in one.seen if isinstance(event, LogpointPassed)]


@with_every_spec
async def test_logpoints_and_a_condition_that_fails_are_told_and_do_not_stop(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any]
):
    text = f"{{{adapter_spec.variable}}}"
    file, has_functions = adapter_spec.file, "function_breakpoints" not in adapter_spec.lacks
    async with drive_backend(adapter_spec) as one:
        await one.backend.start(adapter_spec.loop())
        specs = [
            BreakpointSpec(file=file, line=adapter_spec.stop_line, log=f"now {text}"),
            BreakpointSpec(file=file, line=adapter_spec.call_line, condition="no_such_name == 1"),
        ]
        called = BreakpointSpec(function=adapter_spec.inner, log=f"called {text}")
        # Some debuggers are given the line where a function begins.
        is_line = has_functions and one.backend.locate_breakpoint(called).file == file
        await one.add(*specs, *[called] * is_line)
        if has_functions and not is_line:
            await one.add(called)
        await one.backend.run_program()
        assert await one.seen.next(ExitedProgram) == adapter_spec.ends
        logged = _logged(one)
        turns = range(adapter_spec.first, adapter_spec.first + 5)
        assert [each for each in logged if each[0] == 1] == [(1, f"now {turn}") for turn in turns]
        calls = [(3, f"called {turn}") for turn in turns] if has_functions else []
        assert [each for each in logged if each[0] != 1] == calls
        assert not [event for event in one.seen if isinstance(event, Stopped)]
        told = any("no_such_name" in str(event) for event in one.seen)
        assert told is adapter_spec.tells_failed_conditions


@with_specs_where(lambda adapter_spec: "function_breakpoints" not in adapter_spec.lacks)
async def test_a_step_over_a_function_that_logs_ends_and_is_not_lost(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any]
):
    async with drive_backend(adapter_spec) as one:
        await one.backend.start(adapter_spec.loop())
        await one.add(BreakpointSpec(file=adapter_spec.file, line=adapter_spec.call_line))
        await one.backend.run_program()
        stop = await one.seen.next(Stopped)
        await one.add(BreakpointSpec(function=adapter_spec.inner, log="called"))
        await one.backend.resume(ResumeKind.NEXT, stop.thread or 0)
        after = await one.seen.next(Stopped)
        frames = (await one.backend.read_stack(after.thread or 0)).frames
        # Where the debugger gives the step up, the program stands in the function that it was over.
        assert frames[0].function in {adapter_spec.outer, adapter_spec.inner}
        if not _logged(one):  # js-debug may tell it after the stop
            await one.seen.next(LogpointPassed)
        assert _logged(one) == [(2, "called")]


@with_every_spec
async def test_steps_go_over_into_and_out_of_a_function(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any]
):
    async with drive_backend(adapter_spec) as one:
        await one.backend.start(adapter_spec.loop())
        await one.add(BreakpointSpec(file=adapter_spec.file, line=adapter_spec.call_line))
        await one.backend.run_program()
        stop = await one.seen.next(Stopped)
        await one.backend.set_breakpoints(adapter_spec.file, [])
        seen = []
        for how in (ResumeKind.STEP, ResumeKind.NEXT, ResumeKind.FINISH):
            await one.go_on(stop, how)
            stop = await one.seen.next(Stopped)
            assert stop.reason is StopReason.STEP
            seen.append(await one.frame(stop))
        assert [frame.function for frame in seen] == [
            adapter_spec.inner,
            adapter_spec.inner,
            adapter_spec.outer,
        ]
        assert seen[0].line != seen[1].line


async def _is_never_sent(one: DrivenBackend, adapter_spec: AdapterSpec, stop: Stopped) -> None:
    """Check that a request that the adapter has not advertised is refused here."""
    assert stop.thread is not None
    with pytest.raises(DebuggerError) as raised:
        await one.backend.send_request(
            adapter_spec.unadvertised, ask.ThreadArguments(stop.thread), dap.DapBody
        )
    assert raised.value.code is ErrorCode.NOT_SUPPORTED


@with_every_spec
async def test_values_are_seen_and_set_and_what_fails_says_why_and_changes_nothing(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any]
):
    async with drive_backend(adapter_spec) as one:
        stop = await _stop_inside(one, adapter_spec)
        frame = await one.frame(stop)
        assert (await one.locals(frame))[adapter_spec.variable].value == str(adapter_spec.first)
        more = await one.backend.evaluate(
            f"{adapter_spec.variable} + 40", frame, EvaluationPurpose.PRINT
        )
        assert (more.value, more.type) == (str(adapter_spec.first + 40), adapter_spec.number)
        for purpose in (EvaluationPurpose.PRINT, EvaluationPurpose.EVALUATE):
            with pytest.raises(DebuggerError, match="no_such_name") as raised:
                await one.backend.evaluate("no_such_name + 1", frame, purpose)
            assert raised.value.code is ErrorCode.EVALUATION_FAILED
        with pytest.raises(DebuggerError) as raised:
            await one.backend.assign_value(adapter_spec.variable, "no_such_name", frame)
        assert raised.value.code is ErrorCode.EVALUATION_FAILED
        if adapter_spec.backend == "dap":
            await _is_never_sent(one, adapter_spec, stop)
        assert await one.value(stop, adapter_spec.variable) == str(adapter_spec.first)
        now = await one.backend.assign_value(adapter_spec.variable, "33", frame)
        assert (now.name, now.value) == (adapter_spec.variable, "33")
        assert (await one.locals(frame))[adapter_spec.variable].value == "33"


@with_every_spec
async def test_a_large_value_is_read_in_pages(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any], tmp_path: Path
):
    large = adapter_spec.large
    async with drive_backend(adapter_spec) as one:
        stop = await one.to_stop(large.program(tmp_path), large.at)
        frames = await one.frames(stop)
        frame = next(frame for frame in frames if frame.function == large.function)
        value = (await one.locals(frame))[large.name]
        assert await one.backend.count_elements(value.handle) == large.size
        page = await one.backend.read_variables(value.handle, start=50, count=3)
        assert tuple(variable.name for variable in page) == large.elements
        assert page[0].value == large.shown


async def _run_forever(one: DrivenBackend, adapter_spec: AdapterSpec, folder: Path) -> None:
    await one.backend.start(adapter_spec.program("forever", folder))
    await one.backend.run_program()
    if adapter_spec.prints_counting is not None:
        await one.seen.until_printed(adapter_spec.prints_counting)


async def _paused(one: DrivenBackend) -> Stopped:
    """Ask until it stops, as a session does: lldb-dap 19 may lose a pause just after a continue."""
    for _ in range(4):
        await one.backend.pause()
        with suppress(AssertionError):
            return await one.seen.next(Stopped, within=5)
    raise AssertionError("it was asked four times and did not stop")


@with_every_spec
async def test_the_threads_are_listed_and_each_has_a_stack(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any], tmp_path: Path
):
    async with drive_backend(adapter_spec) as one:
        stop = await one.to_stop(adapter_spec.threads.program(tmp_path), adapter_spec.threads.at)
        threads = await one.backend.list_threads()
        assert len(threads) >= adapter_spec.threads.least
        assert stop.thread in {thread.id for thread in threads}
        for thread in threads:
            assert thread.name
            if thread.is_running:  # where each is stopped on its own
                with pytest.raises(DebuggerError, match="is running") as raised:
                    await one.backend.read_stack(thread.id, levels=1)
                assert raised.value.code is ErrorCode.WRONG_STATE
                continue
            assert (await one.backend.read_stack(thread.id, levels=1)).frames


@with_every_spec
async def test_stdout_and_stderr_are_kept_apart(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any], tmp_path: Path
):
    async with drive_backend(adapter_spec) as one:
        await one.backend.start(adapter_spec.program("both", tmp_path))
        await one.backend.run_program()
        await one.seen.next(BackendEnded)
        assert one.seen.printed(OutputStream.STDOUT) == adapter_spec.stdout
        assert one.seen.printed(OutputStream.STDERR) == adapter_spec.stderr


@with_real_specs
async def test_the_program_reads_what_is_written_to_its_input(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any], tmp_path: Path
):
    async with drive_backend(adapter_spec) as one:
        await one.backend.start(adapter_spec.program("input", tmp_path))
        await one.backend.run_program()
        await one.seen.until_printed("ready\n")
        if "input" in adapter_spec.lacks:
            with pytest.raises(
                DebuggerError, match=re.escape(adapter_spec.lacks["input"])
            ) as raised:
                await one.backend.write_input(b"hello\n")
            assert raised.value.code is ErrorCode.NOT_SUPPORTED
            return
        await one.backend.write_input(b"hello\n")
        await one.seen.until_printed("HELLO\n")
        await one.backend.close_input()
        assert await one.seen.next(ExitedProgram) == ExitedProgram(code=0)
        assert "1 lines\n" in one.seen.printed(OutputStream.STDOUT)


@with_real_specs
async def test_a_death_by_a_signal_is_told_by_its_name(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any], tmp_path: Path
):
    async with drive_backend(adapter_spec) as one:
        await one.backend.start(adapter_spec.program("killed", tmp_path))
        await one.backend.run_program()
        if adapter_spec.stops_at_signals:
            stop = await one.seen.next(Stopped)
            assert (stop.reason, stop.signal) == (StopReason.SIGNAL, "SIGSEGV")
            assert stop.thread is not None
            details = await one.backend.read_exception(stop)
            assert details is not None
            assert details.type == "SIGSEGV"
            await one.go_on(stop)
        assert await one.seen.next(ExitedProgram) == adapter_spec.killed_ends


def _is_alive(pid: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


async def _running(one: DrivenBackend, adapter_spec: AdapterSpec, folder: Path) -> int:
    await _run_forever(one, adapter_spec, folder)
    started = next(event for event in one.seen if isinstance(event, ProcessStarted))
    assert started.pid is not None
    return started.pid


@with_every_spec
async def test_a_running_program_is_paused_goes_on_and_is_ended_by_closing_with_kill(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any], tmp_path: Path
):
    async with drive_backend(adapter_spec) as one:
        pid = await _running(one, adapter_spec, tmp_path)
        for _ in range(2):
            stop = await _paused(one)
            assert stop.reason is StopReason.PAUSE
            assert await one.frames(stop)
            await one.go_on(stop)
        assert _is_alive(pid)
        async with asyncio.timeout(60):
            await one.backend.close(kill=True)
        assert not _is_alive(pid)


@with_real_specs
async def test_closing_without_kill_leaves_the_program_running(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any], tmp_path: Path
):
    async with drive_backend(adapter_spec) as one:
        pid = await _running(one, adapter_spec, tmp_path)
        guard = one.guard
        assert guard is not None
        try:
            async with asyncio.timeout(60):
                await one.backend.close(kill=False)
            assert _is_alive(pid)
        finally:
            os.kill(pid, signal.SIGKILL)
        async with asyncio.timeout(60):
            await guard._process.wait()  # it stays for as long as the program does


@with_specs_where(lambda adapter_spec: adapter_spec.child)
async def test_a_child_process_can_be_debugged_through_a_backend_of_its_own(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any], tmp_path: Path
):
    wanted = adapter_spec.child
    assert wanted is not None
    async with drive_backend(adapter_spec) as one:
        await one.backend.start(wanted.program(tmp_path))
        await one.backend.run_program()
        appeared = await one.seen.next(ChildStarted)
        assert appeared.words[0].endswith(wanted.words_end)
        child: Any = appeared.backend
        await child.connect_child()
        other = DrivenBackend(child, one.seen, one.tasks)
        stop = await other.run_to_stop(*await other.add(wanted.at))
        assert await other.value(stop, wanted.expression) == wanted.value
        await other.go_on(stop)
        await one.seen.until_printed(wanted.prints)
