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
from kits import every_kit, real_kits, where
from kits.kit import Kit
from live import Driven


async def _stop_inside(one: Driven, kit: Kit, **changes: Any) -> Stopped:
    """Start the loop and run to the line inside its inner function."""
    return await one.to_stop(
        kit.loop(), BreakpointSpec(file=kit.file, line=kit.stop_line, **changes)
    )


@every_kit
async def test_a_line_breakpoint_stops_where_it_says_and_the_program_ends_with_its_status(
    kit: Kit, drive: Callable[[Kit], Any]
):
    async with drive(kit) as one:
        stop = await _stop_inside(one, kit)
        assert stop.reason is StopReason.BREAKPOINT
        frames = await one.frames(stop)
        shown = [(frame.function, frame.file, frame.line) for frame in frames[:2]]
        assert shown[0] == (kit.inner, kit.file, kit.stop_line)
        assert shown[1] == (kit.outer, kit.file, kit.call_line)
        assert [frame.index for frame in frames] == list(range(len(frames)))
        await one.backend.set_breakpoints(kit.file, [])
        await one.go_on(stop)
        assert await one.seen.next(ExitedProgram) == kit.ends
        assert await one.seen.next(BackendEnded) == BackendEnded()
        assert kit.prints in one.seen.printed(OutputStream.STDOUT)
        assert len([event for event in one.seen if isinstance(event, Stopped)]) == 1


async def _is_refused(one: Driven, spec: BreakpointSpec, words: str) -> None:
    """Check that a breakpoint is not set, and the user told in these words, not as an error."""
    (bound,) = await one.add(spec)
    assert not bound.verified
    assert bound.why is not None
    assert words in bound.why


@every_kit
async def test_a_function_breakpoint_stops_in_the_function(kit: Kit, drive: Callable[[Kit], Any]):
    async with drive(kit) as one:
        if "function_breakpoints" in kit.lacks:
            await one.backend.start(kit.loop())
            await _is_refused(
                one, BreakpointSpec(function=kit.inner), kit.lacks["function_breakpoints"]
            )
            return
        stop = await one.to_stop(kit.loop(), BreakpointSpec(function=kit.inner))
        assert (await one.frame(stop)).function == kit.inner


@every_kit
async def test_a_condition_lets_the_other_turns_pass(kit: Kit, drive: Callable[[Kit], Any]):
    async with drive(kit) as one:
        stop = await _stop_inside(one, kit, condition=kit.condition(2))
        assert await one.value(stop, kit.variable) == str(kit.first + 2)


@every_kit
async def test_a_hit_count_stops_from_the_nth_turn_on(kit: Kit, drive: Callable[[Kit], Any]):
    async with drive(kit) as one:
        stop = await _stop_inside(one, kit, hit_count=3)
        assert await one.value(stop, kit.variable) == str(kit.first + 2)
        await one.go_on(stop)
        stop = await one.seen.next(Stopped)
        assert await one.value(stop, kit.variable) == str(kit.first + 3)


@pytest.mark.parametrize("way", ["condition", "hit_count", "log"])
@every_kit
async def test_a_breakpoint_that_is_set_again_as_it_is_always_stops(
    kit: Kit, drive: Callable[[Kit], Any], way: str
):
    before: Any = {"condition": f"{kit.variable} == 99", "hit_count": 99, "log": "here"}[way]
    async with drive(kit) as one:
        await one.backend.start(kit.loop())
        await one.add(BreakpointSpec(file=kit.file, line=kit.stop_line, **{way: before}))
        stop = await one.run_to_stop(
            *await one.add(BreakpointSpec(file=kit.file, line=kit.stop_line))
        )
        assert await one.value(stop, kit.variable) == str(kit.first)


@every_kit
async def test_a_condition_that_fails_is_told_and_does_not_stop(
    kit: Kit, drive: Callable[[Kit], Any]
):
    async with drive(kit) as one:
        await one.backend.start(kit.loop())
        await one.add(
            BreakpointSpec(file=kit.file, line=kit.stop_line, condition="no_such_name == 1")
        )
        await one.backend.run_program()
        assert await one.seen.next(ExitedProgram) == kit.ends
        assert not [event for event in one.seen if isinstance(event, Stopped)]
        told = any("no_such_name" in str(event) for event in one.seen)
        assert told is kit.tells_failed_conditions


def _logged(one: Any) -> list[tuple[int | None, str]]:
    """Return what logpoints said; some debuggers tell the thread and the count besides."""
    return [(event.number, event.text) for event in one.seen if isinstance(event, LogpointPassed)]


@every_kit
async def test_a_logpoint_prints_each_turn_and_does_not_stop(kit: Kit, drive: Callable[[Kit], Any]):
    async with drive(kit) as one:
        await one.backend.start(kit.loop())
        text = f"now {{{kit.variable}}}"
        await one.add(BreakpointSpec(file=kit.file, line=kit.stop_line, log=text))
        await one.backend.run_program()
        await one.seen.next(ExitedProgram)
        logged = _logged(one)
        turns = range(kit.first, kit.first + 5)
        assert logged == [(1, f"now {turn}") for turn in turns]
        assert not [event for event in one.seen if isinstance(event, Stopped)]


@where(lambda kit: "function_breakpoints" not in kit.lacks)
async def test_a_logpoint_in_a_function_prints_each_call_and_does_not_stop(
    kit: Kit, drive: Callable[[Kit], Any]
):
    async with drive(kit) as one:
        await one.backend.start(kit.loop())
        await one.add(BreakpointSpec(function=kit.inner, log=f"now {{{kit.variable}}}"))
        await one.backend.run_program()
        await one.seen.next(ExitedProgram)
        logged = _logged(one)
        turns = range(kit.first, kit.first + 5)
        assert logged == [(1, f"now {turn}") for turn in turns]
        assert not [event for event in one.seen if isinstance(event, Stopped)]


@where(lambda kit: "function_breakpoints" not in kit.lacks)
async def test_a_step_over_a_function_that_logs_ends_and_is_not_lost(
    kit: Kit, drive: Callable[[Kit], Any]
):
    async with drive(kit) as one:
        await one.backend.start(kit.loop())
        await one.add(BreakpointSpec(file=kit.file, line=kit.call_line))
        await one.backend.run_program()
        stop = await one.seen.next(Stopped)
        await one.add(BreakpointSpec(function=kit.inner, log="called"))
        await one.backend.resume(ResumeKind.NEXT, stop.thread or 0)
        after = await one.seen.next(Stopped)
        frames = (await one.backend.read_stack(after.thread or 0)).frames
        # Where the debugger gives the step up, the program stands in the function that it was over.
        assert frames[0].function in {kit.outer, kit.inner}
        if not _logged(one):  # js-debug may tell it after the stop
            await one.seen.next(LogpointPassed)
        assert _logged(one) == [(2, "called")]


@every_kit
async def test_a_place_without_code_is_unbound_and_says_why(kit: Kit, drive: Callable[[Kit], Any]):
    async with drive(kit) as one:
        await one.backend.start(kit.loop())
        unknown = "no_such_function"
        await _is_refused(one, BreakpointSpec(file=kit.file, line=10_000), "10000")
        words = kit.lacks.get("function_breakpoints", unknown)
        await _is_refused(one, BreakpointSpec(function=unknown), words)


@every_kit
async def test_steps_go_over_into_and_out_of_a_function(kit: Kit, drive: Callable[[Kit], Any]):
    async with drive(kit) as one:
        await one.backend.start(kit.loop())
        await one.add(BreakpointSpec(file=kit.file, line=kit.call_line))
        await one.backend.run_program()
        stop = await one.seen.next(Stopped)
        await one.backend.set_breakpoints(kit.file, [])
        seen = []
        for how in (ResumeKind.STEP, ResumeKind.NEXT, ResumeKind.FINISH):
            await one.go_on(stop, how)
            stop = await one.seen.next(Stopped)
            assert stop.reason is StopReason.STEP
            seen.append(await one.frame(stop))
        assert [frame.function for frame in seen] == [kit.inner, kit.inner, kit.outer]
        assert seen[0].line != seen[1].line


@every_kit
async def test_a_value_is_seen_as_a_local_and_as_an_expression_and_can_be_set(
    kit: Kit, drive: Callable[[Kit], Any]
):
    async with drive(kit) as one:
        stop = await _stop_inside(one, kit)
        frame = await one.frame(stop)
        assert (await one.locals(frame))[kit.variable].value == str(kit.first)
        more = await one.backend.evaluate(f"{kit.variable} + 40", frame, EvaluationPurpose.PRINT)
        assert (more.value, more.type) == (str(kit.first + 40), kit.number)
        now = await one.backend.assign_value(kit.variable, "33", frame)
        assert (now.name, now.value) == (kit.variable, "33")
        assert (await one.locals(frame))[kit.variable].value == "33"


@every_kit
async def test_an_expression_that_fails_says_why(kit: Kit, drive: Callable[[Kit], Any]):
    async with drive(kit) as one:
        stop = await _stop_inside(one, kit)
        frame = await one.frame(stop)
        for purpose in (EvaluationPurpose.PRINT, EvaluationPurpose.EVALUATE):
            with pytest.raises(DebuggerError, match="no_such_name") as raised:
                await one.backend.evaluate("no_such_name + 1", frame, purpose)
            assert raised.value.code is ErrorCode.EVALUATION_FAILED
        with pytest.raises(DebuggerError) as raised:
            await one.backend.assign_value(kit.variable, "no_such_name", frame)
        assert raised.value.code is ErrorCode.EVALUATION_FAILED


@every_kit
async def test_a_large_value_is_read_in_pages(
    kit: Kit, drive: Callable[[Kit], Any], tmp_path: Path
):
    large = kit.large
    async with drive(kit) as one:
        stop = await one.to_stop(large.program(tmp_path), large.at)
        frames = await one.frames(stop)
        frame = next(frame for frame in frames if frame.function == large.function)
        value = (await one.locals(frame))[large.name]
        assert await one.backend.count_elements(value.handle) == large.size
        page = await one.backend.read_variables(value.handle, start=50, count=3)
        assert tuple(variable.name for variable in page) == large.elements
        assert page[0].value == large.shown


async def _run_forever(one: Driven, kit: Kit, folder: Path) -> None:
    await one.backend.start(kit.program("forever", folder))
    await one.backend.run_program()
    if kit.prints_counting is not None:
        await one.seen.until_printed(kit.prints_counting)


async def _paused(one: Driven) -> Stopped:
    """Ask until it stops, as a session does: lldb-dap 19 may lose a pause just after a continue."""
    for _ in range(4):
        await one.backend.pause()
        with suppress(AssertionError):
            return await one.seen.next(Stopped, within=5)
    raise AssertionError("it was asked four times and did not stop")


@every_kit
async def test_a_running_program_is_paused_and_goes_on(
    kit: Kit, drive: Callable[[Kit], Any], tmp_path: Path
):
    async with drive(kit) as one:
        await _run_forever(one, kit, tmp_path)
        for _ in range(2):
            stop = await _paused(one)
            assert stop.reason is StopReason.PAUSE
            assert await one.frames(stop)
            await one.go_on(stop)


@every_kit
async def test_the_threads_are_listed_and_each_has_a_stack(
    kit: Kit, drive: Callable[[Kit], Any], tmp_path: Path
):
    async with drive(kit) as one:
        stop = await one.to_stop(kit.threads.program(tmp_path), kit.threads.at)
        threads = await one.backend.list_threads()
        assert len(threads) >= kit.threads.least
        assert stop.thread in {thread.id for thread in threads}
        for thread in threads:
            assert thread.name
            if thread.is_running:  # where each is stopped on its own
                with pytest.raises(DebuggerError, match="is running") as raised:
                    await one.backend.read_stack(thread.id, levels=1)
                assert raised.value.code is ErrorCode.WRONG_STATE
                continue
            assert (await one.backend.read_stack(thread.id, levels=1)).frames


@every_kit
async def test_stdout_and_stderr_are_kept_apart(
    kit: Kit, drive: Callable[[Kit], Any], tmp_path: Path
):
    async with drive(kit) as one:
        await one.backend.start(kit.program("both", tmp_path))
        await one.backend.run_program()
        await one.seen.next(BackendEnded)
        assert one.seen.printed(OutputStream.STDOUT) == kit.stdout
        assert one.seen.printed(OutputStream.STDERR) == kit.stderr


@real_kits
async def test_the_program_reads_what_is_written_to_its_input(
    kit: Kit, drive: Callable[[Kit], Any], tmp_path: Path
):
    async with drive(kit) as one:
        await one.backend.start(kit.program("input", tmp_path))
        await one.backend.run_program()
        await one.seen.until_printed("ready\n")
        if "input" in kit.lacks:
            with pytest.raises(DebuggerError, match=re.escape(kit.lacks["input"])) as raised:
                await one.backend.write_input(b"hello\n")
            assert raised.value.code is ErrorCode.NOT_SUPPORTED
            return
        await one.backend.write_input(b"hello\n")
        await one.seen.until_printed("HELLO\n")
        await one.backend.close_input()
        assert await one.seen.next(ExitedProgram) == ExitedProgram(code=0)
        assert "1 lines\n" in one.seen.printed(OutputStream.STDOUT)


@real_kits
async def test_a_death_by_a_signal_is_told_by_its_name(
    kit: Kit, drive: Callable[[Kit], Any], tmp_path: Path
):
    async with drive(kit) as one:
        await one.backend.start(kit.program("killed", tmp_path))
        await one.backend.run_program()
        if kit.stops_at_signals:
            stop = await one.seen.next(Stopped)
            assert (stop.reason, stop.signal) == (StopReason.SIGNAL, "SIGSEGV")
            assert stop.thread is not None
            details = await one.backend.read_exception(stop)
            assert details is not None
            assert details.type == "SIGSEGV"
            await one.go_on(stop)
        assert await one.seen.next(ExitedProgram) == kit.killed_ends


def _is_alive(pid: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


async def _running(one: Driven, kit: Kit, folder: Path) -> int:
    await _run_forever(one, kit, folder)
    started = next(event for event in one.seen if isinstance(event, ProcessStarted))
    assert started.pid is not None
    return started.pid


@every_kit
async def test_closing_with_kill_ends_a_running_program(
    kit: Kit, drive: Callable[[Kit], Any], tmp_path: Path
):
    async with drive(kit) as one:
        pid = await _running(one, kit, tmp_path)
        assert _is_alive(pid)
        async with asyncio.timeout(8):
            await one.backend.close(kill=True)
        assert not _is_alive(pid)


@real_kits
async def test_closing_without_kill_leaves_the_program_running(
    kit: Kit, drive: Callable[[Kit], Any], tmp_path: Path
):
    async with drive(kit) as one:
        pid = await _running(one, kit, tmp_path)
        guard = one.guard
        assert guard is not None
        try:
            async with asyncio.timeout(15):
                await one.backend.close(kill=False)
            assert _is_alive(pid)
        finally:
            os.kill(pid, signal.SIGKILL)
        async with asyncio.timeout(15):
            await guard._process.wait()  # it stays for as long as the program does


@where(lambda kit: kit.child)
async def test_a_child_process_can_be_debugged_through_a_backend_of_its_own(
    kit: Kit, drive: Callable[[Kit], Any], tmp_path: Path
):
    wanted = kit.child
    assert wanted is not None
    async with drive(kit) as one:
        await one.backend.start(wanted.program(tmp_path))
        await one.backend.run_program()
        appeared = await one.seen.next(ChildStarted)
        assert appeared.words[0].endswith(wanted.words_end)
        child: Any = appeared.backend
        await child.connect_child()
        other = Driven(child, one.seen, one.tasks)
        stop = await other.run_to_stop(*await other.add(wanted.at))
        assert await other.value(stop, wanted.expression) == wanted.value
        await other.go_on(stop)
        await one.seen.until_printed(wanted.prints)


@where(lambda kit: kit.backend == "dap")
async def test_a_request_that_was_not_advertised_is_never_sent(
    kit: Kit, drive: Callable[[Kit], Any]
):
    async with drive(kit) as one:
        stop = await _stop_inside(one, kit)
        assert stop.thread is not None
        with pytest.raises(DebuggerError) as raised:
            await one.backend.send_request(
                kit.unadvertised, ask.ThreadArguments(stop.thread), dap.DapBody
            )
        assert raised.value.code is ErrorCode.NOT_SUPPORTED
        assert await one.value(stop, kit.variable) == str(kit.first)
