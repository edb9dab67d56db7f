"""LLDB's command line with real programs."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from debuggees import build_debuggee, find_marker, find_source
from debugger.backends import abilities, select_backend
from debugger.backends.base import (
    AttachTarget,
    BackendEnded,
    LaunchTarget,
    LogpointPassed,
    ProcessStarted,
)
from debugger.backends.dap.dap_client import AdapterLimits
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointSpec
from debugger.model.events import OutputStream
from debugger.model.program import (
    EvaluationPurpose,
    ExitedProgram,
    ResumeKind,
    Stopped,
    StopReason,
)
from driven_backend import DrivenBackend, drive_adapter, launch_target

pytestmark = pytest.mark.adapter("lldb-cli")
LOOP = str(find_source("loop.c"))
Drive = Callable[..., Any]


@pytest.fixture
def drive(runtime_dir: Path) -> Drive:
    def make(**limits: float) -> Any:
        adapter = select_backend.BY_COMMAND_LINE
        found = select_backend.find_adapter(adapter, os.environ, {})
        bounds = AdapterLimits(**{"initialize_s": 10, "request_s": 10, **limits})
        return drive_adapter(adapter, found, runtime_dir / "scratch", limits=bounds)

    return make


def marked_breakpoint(place: str, **more: Any) -> BreakpointSpec:
    return BreakpointSpec(file=LOOP, line=find_marker("loop.c", place), **more)


async def in_the_loop(one: DrivenBackend) -> Stopped:
    return await one.to_stop(launch_target(build_debuggee("loop.c")), marked_breakpoint("step"))


# -- in step ---------------------------------------------------------------------------------------


async def test_an_expression_without_end_is_interrupted_and_the_next_answer_is_its_own(
    drive: Drive,
):
    async with drive(request_s=1) as one:
        stop = await in_the_loop(one)
        frame = await one.frame(stop)
        with pytest.raises(DebuggerError) as raised:
            await one.backend.run_raw("expression --timeout 0 -- while (1);", frame)
        assert raised.value.code is ErrorCode.TIMEOUT
        assert await one.value(stop, "i") == "1"
        await one.go_on(stop)
        stop = await one.seen.next(Stopped)
        assert await one.value(stop, "i") == "2"


async def test_a_command_that_cannot_be_interrupted_ends_the_session_in_words(drive: Drive):
    async with drive(request_s=1) as one:
        stop = await in_the_loop(one)
        assert stop.thread is not None
        pid = next(event.pid for event in one.seen if isinstance(event, ProcessStarted))
        with pytest.raises(DebuggerError, match="could not be interrupted") as raised:
            await one.backend.run_raw("script import time; time.sleep(600)", None)
        assert raised.value.code is ErrorCode.ADAPTER_DIED
        ended = await one.seen.next(BackendEnded)
        assert "could not be interrupted" in (ended.error or "")
        with pytest.raises(DebuggerError):
            await one.backend.list_threads()
        await one.backend.close(kill=True)
        with pytest.raises(ProcessLookupError):
            os.kill(pid or 0, 0)


async def test_commands_that_let_the_program_run_do_not_disturb_the_next_answers(drive: Drive):
    async with drive() as one:
        stop = await in_the_loop(one)
        for turn in range(2, 6):
            assert "resuming" in await one.backend.run_raw("process continue", None)
            stop = await one.seen.next(Stopped)
            assert (stop.reason, await one.value(stop, "i")) == (StopReason.BREAKPOINT, str(turn))


async def test_what_a_command_prints_is_its_answer_and_nobody_elses(drive: Drive):
    async with drive() as one:
        stop = await in_the_loop(one)
        frame = await one.frame(stop)
        secret = one.backend._console._secret
        said = await one.backend.run_raw(f'script print("\\x1e{secret} 0 oops")', frame)
        assert "oops" in said
        assert await one.value(stop, "i") == "1"


HOSTILE = ("i\nprocess kill", "i\0", "i\x1b", "i\r")


@pytest.mark.parametrize("word", HOSTILE)
async def test_no_word_can_begin_another_command(drive: Drive, word: str):
    async with drive() as one:
        stop = await in_the_loop(one)
        frame = await one.frame(stop)
        backend = one.backend
        for call in (
            backend.evaluate(word, frame, EvaluationPurpose.PRINT),
            backend.evaluate(word, frame, EvaluationPurpose.EVALUATE),
            backend.assign_value("i", word, frame),
            backend.run_raw(word, frame),
            backend.set_function_breakpoints([Breakpoint(8, BreakpointSpec(function=word))]),
            backend.set_breakpoints(word, [Breakpoint(8, BreakpointSpec(file=word, line=1))]),
            backend.set_breakpoints(
                LOOP, [Breakpoint(8, marked_breakpoint("step", condition=word))]
            ),
            backend.set_breakpoints(LOOP, [Breakpoint(8, marked_breakpoint("step", log=word))]),
        ):
            with pytest.raises(DebuggerError) as raised:
                await call
            assert raised.value.code is ErrorCode.USAGE
        assert await one.value(stop, "i") == "1"


async def test_its_death_is_told_with_the_program_gone(drive: Drive):
    async with drive() as one:
        stop = await in_the_loop(one)
        assert one.guard is not None
        os.kill(one.guard.pid, signal.SIGKILL)
        ended = await one.seen.next(BackendEnded)
        assert "killed by signal 9" in (ended.error or "")
        with pytest.raises(DebuggerError) as raised:
            await one.frames(stop)
        assert raised.value.code is ErrorCode.ADAPTER_DIED


# -- a program's start -----------------------------------------------------------------------------


def lines(one: DrivenBackend) -> Mapping[str, str]:
    pairs = (line.partition("=") for line in one.seen.printed(OutputStream.STDOUT).splitlines())
    return {key: value for key, _, value in pairs}


async def test_a_program_gets_its_arguments_directory_environment_and_input(
    drive: Drive, tmp_path: Path
):
    given = tmp_path / "given"
    given.write_text("one\ntwo\n")
    words = ("a b", "", '"$HOME"', "ü", "--", "x;y")
    env = {**os.environ, "EMPTY": "", "WITH": "a=b c", "PYTHONPATH": "/x", "PYTHONHOME": "/y"}
    start = LaunchTarget(
        "/usr/bin/env", cwd=str(tmp_path), env=env, args=("printf", "%s|", *words), stdin=str(given)
    )
    async with drive() as one:
        await one.backend.start(start)
        await one.backend.run_program()
        # It becomes another program, where LLDB stops: it is not the one that was started.
        happened = await one.seen.next((Stopped, ExitedProgram))
        if isinstance(happened, Stopped):
            await one.go_on(happened)
            assert await one.seen.next(ExitedProgram) == ExitedProgram(code=0)
        assert one.seen.printed(OutputStream.STDOUT) == "".join(f"{word}|" for word in words)
    async with drive() as one:
        await one.backend.start(LaunchTarget("/usr/bin/env", cwd=str(tmp_path), env=env))
        await one.backend.run_program()
        assert await one.seen.next(ExitedProgram) == ExitedProgram(code=0)
        shown = lines(one)
        for name in ("EMPTY", "WITH", "PYTHONPATH", "PYTHONHOME"):
            assert shown.get(name) == env[name], name
    async with drive() as one:
        await one.backend.start(
            LaunchTarget("/bin/cat", cwd=str(tmp_path), env=env, stdin=str(given))
        )
        await one.backend.run_program()
        assert await one.seen.next(ExitedProgram) == ExitedProgram(code=0)
        assert one.seen.printed(OutputStream.STDOUT) == "one\ntwo\n"


async def test_a_program_that_cannot_run_says_so(drive: Drive, tmp_path: Path):
    bad = tmp_path / "bad"
    bad.write_bytes(b"\x7fELF" + b"\0" * 100)
    bad.chmod(0o755)
    async with drive() as one:
        with pytest.raises(DebuggerError) as raised:
            await one.backend.start(launch_target(bad))
        assert raised.value.code is ErrorCode.LAUNCH_FAILED
        assert raised.value.hint


async def test_a_process_is_attached_to_and_let_go(drive: Drive):
    process = await asyncio.create_subprocess_exec(
        str(build_debuggee("endless.c")), stdout=asyncio.subprocess.PIPE
    )
    try:
        for is_paused in (True, False):
            async with drive() as one:
                target = AttachTarget(process.pid, cwd="/", env=dict(os.environ), pause=is_paused)
                await one.backend.attach(target)
                await one.backend.run_program()
                if not is_paused:
                    await one.backend.pause()
                stop = await one.seen.next(Stopped)
                assert stop.reason is StopReason.PAUSE
                assert await one.frames(stop)
                await one.backend.close(kill=False)
            assert process.returncode is None
    finally:
        process.kill()
        await process.wait()


# -- breakpoints -----------------------------------------------------------------------------------


async def test_what_is_kept_of_a_list_keeps_its_hits_and_its_number(drive: Drive):
    async with drive() as one:
        await one.backend.start(launch_target(build_debuggee("loop.c")))
        counted = Breakpoint(1, marked_breakpoint("step", hit_count=3))
        (first,) = await one.backend.set_breakpoints(LOOP, [counted])
        await one.backend.run_program()
        stop = await one.seen.next(Stopped)
        other = Breakpoint(2, marked_breakpoint("return"))
        again, _ = await one.backend.set_breakpoints(LOOP, [counted, other])
        assert again.backend_id == first.backend_id
        await one.backend.set_breakpoints(LOOP, [counted])
        await one.go_on(stop)
        stop = await one.seen.next(Stopped)
        assert await one.value(stop, "i") == "4"


async def test_a_logpoint_and_a_condition_that_fails_at_one_line_do_not_stop(drive: Drive):
    async with drive() as one:
        await one.backend.start(launch_target(build_debuggee("loop.c")))
        await one.add(
            marked_breakpoint("step", log="{i} of {n} {{"),
            marked_breakpoint("step", condition="nope == 1"),
        )
        await one.backend.run_program()
        assert await one.seen.next(ExitedProgram) == ExitedProgram(code=3)
        logged = [event.text for event in one.seen if isinstance(event, LogpointPassed)]
        assert logged == [
            f"{turn} of <use of undeclared identifier 'n'> {{{{" for turn in range(1, 6)
        ]
        assert not [event for event in one.seen if isinstance(event, Stopped)]


async def test_a_logpoint_is_on_a_function_and_at_an_address_too_and_has_a_condition(drive: Drive):
    async with drive() as one:
        stop = await in_the_loop(one)
        address = (await one.frame(stop)).address
        await one.backend.set_breakpoints(LOOP, [])
        await one.backend.set_function_breakpoints(
            [Breakpoint(5, BreakpointSpec(function="calculate", log="f {i}", condition="i == 4"))]
        )
        ability = one.backend.find_ability(abilities.InstructionBreakpointAbility)
        await ability.set_instruction_breakpoints(
            [Breakpoint(6, BreakpointSpec(address=address, log="a {i}", condition="i > 4"))]
        )
        await one.go_on(stop)
        assert await one.seen.next(ExitedProgram) == ExitedProgram(code=3)
        logged = [event for event in one.seen if isinstance(event, LogpointPassed)]
        assert logged == [LogpointPassed(5, "f 4"), LogpointPassed(6, "a 5")]


async def test_a_line_without_code_names_the_nearest_and_it_is_not_lost(drive: Drive):
    async with drive() as one:
        await one.backend.start(launch_target(build_debuggee("loop.c")))
        (bound,) = await one.add(BreakpointSpec(file=LOOP, line=1000))
        assert isinstance(bound, BoundBreakpoint)
        assert bound.nearest_lines
        await one.backend.run_program()
        await one.seen.next(ExitedProgram)
        assert not [event for event in one.seen if "1000" in str(event)]


# -- threads ---------------------------------------------------------------------------------------


async def test_a_thread_alone_is_paused_and_then_all_go_on(drive: Drive):
    spins = str(find_source("spins.c"))
    async with drive() as one:
        where = BreakpointSpec(file=spins, line=find_marker("spins.c", "alone"))
        stop = await one.to_stop(launch_target(build_debuggee("spins.c")), where)
        await one.backend.set_breakpoints(spins, [])
        other = next(
            thread.id for thread in await one.backend.list_threads() if thread.id != stop.thread
        )
        await one.backend.find_ability(abilities.SingleThreadAbility).resume_single_thread(
            ResumeKind.CONTINUE, other
        )
        await one.backend.pause()
        paused = await one.seen.next(Stopped)
        assert (paused.reason, paused.thread) == (StopReason.PAUSE, other)
        await one.go_on(paused)
        assert await one.seen.next(ExitedProgram) == ExitedProgram(code=0)


async def test_a_file_is_set_by_the_name_that_the_program_has_for_it(drive: Drive):
    async with drive() as one:
        await one.backend.start(launch_target(build_debuggee("loop.c")))
        here = Breakpoint(
            1, BreakpointSpec(file="/moved/loop.c", line=find_marker("loop.c", "step"))
        )
        (bound,) = await one.backend.set_breakpoints(LOOP, [here])
        assert (bound.verified, bound.file) == (True, LOOP)


async def test_a_command_that_begins_another_process_ends_the_session_and_says_so(drive: Drive):
    async with drive() as one:
        await in_the_loop(one)
        with pytest.raises(DebuggerError, match="another process") as raised:
            await one.backend.run_raw("process launch --stop-at-entry", None)
        assert raised.value.code is ErrorCode.NOT_SUPPORTED
        assert await one.seen.next(BackendEnded) == BackendEnded()
