"""What we add inside gdb (16.3), with real programs."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import build_debuggee, find_marker, find_source
from debugger.backends import abilities, select_backend
from debugger.backends.adapters.gdb import gdb_adapter as gdb
from debugger.backends.base import AttachTarget, LaunchTarget, ProcessStarted
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
from driven_backend import DrivenBackend, drive_adapter, launch_target

pytestmark = pytest.mark.adapter("gdb")
Drive = Callable[[], Any]
_FILE = str(find_source("hard.cpp"))


@pytest.fixture
def drive(runtime_dir: Path) -> Drive:
    def make() -> Any:
        found = select_backend.find_adapter(gdb.GdbAdapter(), os.environ, {})
        return drive_adapter(gdb.GdbAdapter(), found, runtime_dir / "scratch")

    return make


def marked_breakpoint(name: str, **more: Any) -> BreakpointSpec:
    return BreakpointSpec(file=_FILE, line=find_marker("hard.cpp", name), **more)


def _hard(*args: str) -> LaunchTarget:
    return launch_target(build_debuggee("hard.cpp"), *args)


async def test_a_text_of_rust_is_whole(drive: Drive):
    async with drive() as one:
        at = BreakpointSpec(
            file=str(find_source("collections.rs")), line=find_marker("collections.rs", "here")
        )
        stop = await one.to_stop(launch_target(build_debuggee("collections.rs")), at)
        seen = await one.locals(await one.frame(stop))
        assert seen["st"].value == '"static é str"'


async def test_values_are_written_and_opened_as_far_as_they_can_be(drive: Drive):
    async with drive() as one:
        stop = await one.to_stop(_hard(), marked_breakpoint("try"))
        seen = await one.locals(await one.frame(stop))
        assert seen["million"].value.startswith("std::vector of length 1000000")
        assert (seen["million"].indexed, seen["named"].named) == (1_000_000, 2)
        last = await one.backend.read_variables(seen["million"].handle, start=999_999, count=5)
        assert [(each.name, each.value) for each in last] == [("[999999]", "7")]
        inside = await one.backend.read_variables(seen["named"].handle)
        assert [each.name for each in inside] == ['["one"]', '["two"]']
        assert inside[0].value.endswith("{1, 2}")
        assert seen["many"].value == "<20000000 bytes>"
        (far,) = await one.backend.read_variables(seen["many"].handle, start=4_999_999, count=1)
        assert (far.name, far.value) == ("[4999999]", "3")
        assert seen["ref"].value == "7"
        assert seen["text"].value == '"héllo"'
        assert "\\377" in seen["odd"].value
        assert (seen["nowhere"].value, seen["nowhere"].handle) == ("0x10", 0)
        assert "Cannot access memory" in await one.value(stop, "*nowhere")


@pytest.mark.parametrize(
    ("turn", "type_", "message"),
    [
        (0, "int", "42"),
        (1, "Plain", '{code = 7, why = 0x… "plain"}'),
        (2, "std::__cxx11::basic_string", '"a text"'),
        (3, "Both", "from the second base"),
        (4, "Unknown", 'its value is not known: No symbol "Unknown" in current context.'),
        (5, "std::out_of_range", "far away"),
    ],
)
async def test_what_was_thrown_is_told_whatever_it_is(
    drive: Drive, turn: int, type_: str, message: str
):
    async with drive() as one:
        stop = await one.to_stop(_hard(), marked_breakpoint("hurl", condition=f"what == {turn}"))
        await one.add(BreakpointSpec(catch="throw"))
        await one.go_on(stop)
        stop = await one.seen.next(Stopped)
        assert stop.reason is StopReason.EXCEPTION
        told = await one.backend.read_exception(stop)
        assert told.type.startswith(type_)
        before, _, after = message.partition("0x…")
        assert told.message.startswith(before), told
        assert told.message.endswith(after), told


async def test_a_called_function_that_does_not_come_back_leaves_the_program_as_it_was(
    drive: Drive,
):
    async with drive() as one:
        stop = await one.to_stop(_hard(), marked_breakpoint("hurl"))
        await one.add(marked_breakpoint("hurl"), marked_breakpoint("twice"))
        before = [(frame.function, frame.line) for frame in await one.frames(stop)]
        for call, word in (
            ("endless()", "did not finish"),
            ("broken()", "SIGSEGV"),
            ("hurl(0)", "exception"),
        ):
            with pytest.raises(DebuggerError, match=word) as raised:
                await one.value(stop, call)
            assert raised.value.code is ErrorCode.EVALUATION_FAILED
        assert await one.value(stop, "twice(4)") == "8"  # its breakpoint does not count here
        assert [(frame.function, frame.line) for frame in await one.frames(stop)] == before
        assert len([event for event in one.seen if isinstance(event, Stopped)]) == 1
        await one.go_on(stop)
        stop = await one.seen.next(Stopped)
        assert (await one.frame(stop)).function == "twice"


def _foreign(folder: Path) -> Path:
    data = bytearray(build_debuggee("loop.c").read_bytes())
    data[18] = 0xB7  # AArch64
    return _written(folder / "foreign", bytes(data))


def _without_loader(folder: Path) -> Path:
    data = build_debuggee("loop.c").read_bytes().replace(b"/ld-linux", b"/ld-nosuc")
    return _written(folder / "unloaded", data)


def _garbage(folder: Path) -> Path:
    return _written(folder / "garbage", b"\x7fELF and no more")


def _written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    path.chmod(stat.S_IRWXU)
    return path


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (_foreign, "another processor"),
        (_without_loader, "loader"),
        (_garbage, "format"),
    ],
)
async def test_a_program_that_cannot_be_run_is_told_at_once(
    drive: Drive, tmp_path: Path, make: Callable[[Path], Path], word: str
):
    async with drive() as one:
        with pytest.raises(DebuggerError, match=word) as raised:
            await one.to_stop(
                launch_target(make(tmp_path))
            )  # at the start, or only when it is to run
        # A wait for a stop that cannot come would end as a TIMEOUT.
        assert raised.value.code is ErrorCode.LAUNCH_FAILED


async def test_arguments_reach_the_program_as_they_are(drive: Drive):
    words = ("a b", "", "$HOME", "*", "q'\"\\x", "new\nline", ";id")
    async with drive() as one:
        await one.backend.start(_hard(*words))
        await one.backend.run_program()
        assert await one.seen.next(ExitedProgram) == ExitedProgram(code=0)
        printed = one.seen.printed(OutputStream.STDOUT)
        assert printed.endswith("".join(f"[{word}]\n" for word in words))


async def test_the_program_has_the_callers_environment_and_nothing_of_gdbs(drive: Drive):
    env = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "MINE": "ünï code"}
    async with drive() as one:
        start = LaunchTarget(str(build_debuggee("hard.cpp")), cwd=os.getcwd(), env=env)
        await one.to_stop(start, marked_breakpoint("try"))
        found = (Path("/proc") / str(_pid(one)) / "environ").read_bytes()
        seen = {os.fsdecode(pair) for pair in found.split(b"\0") if pair}
        assert seen == {f"{key}={value}" for key, value in env.items()}


def _pid(one: DrivenBackend) -> int:
    return next(event.pid for event in one.seen if isinstance(event, ProcessStarted) and event.pid)


async def test_a_thread_that_runs_alone_and_ends_is_told_as_a_stop(drive: Drive):
    async with drive() as one:
        stop = await one.to_stop(_hard("thread"), marked_breakpoint("alone"))
        alone = one.backend.find_ability(abilities.SingleThreadAbility)
        await one.backend.set_breakpoints(_FILE, [])
        await alone.resume_single_thread(ResumeKind.CONTINUE, stop.thread)
        stop = await one.seen.next(Stopped)
        assert "ended" in stop.description
        await one.go_on(stop)
        assert await one.seen.next(ExitedProgram) == ExitedProgram(code=0)


async def test_a_program_that_blocks_every_signal_is_paused(drive: Drive):
    async with drive() as one:
        await one.backend.start(_hard("block"))
        await one.backend.run_program()
        await one.seen.until_printed("blocked\n")
        for _ in range(2):
            await one.backend.pause()
            stop = await one.seen.next(Stopped)
            assert stop.reason is StopReason.PAUSE
            await one.go_on(stop)


async def test_only_what_holds_is_told_as_hit_where_several_are_at_a_line(drive: Drive):
    async with drive() as one:
        await one.backend.start(_hard())
        bounds = await one.add(
            marked_breakpoint("hurl", condition="what == 99"),
            marked_breakpoint("hurl", condition="what == 1"),
            marked_breakpoint("hurl"),
        )
        assert len({bound.backend_id for bound in bounds}) == 3
        await one.backend.run_program()
        stop = await one.seen.next(Stopped)
        assert stop.hits == (bounds[2].backend_id,)
        await one.go_on(stop)
        stop = await one.seen.next(Stopped)
        assert stop.hits == (bounds[1].backend_id, bounds[2].backend_id)
        await one.backend.set_breakpoints(_FILE, [])
        await one.go_on(stop)
        assert await one.seen.next(ExitedProgram) == ExitedProgram(code=0)


async def test_what_needs_more_debug_registers_than_there_are_is_not_watched(drive: Drive):
    async with drive() as one:
        stop = await one.to_stop(_hard(), marked_breakpoint("try"))
        frame = await one.frame(stop)
        for expression, word in (("wide", "5 hardware"), ("1 + 1", "address"), ("nope", "nope")):
            with pytest.raises(DebuggerError, match=word) as raised:
                await one.watch(expression, frame)
            assert raised.value.code is ErrorCode.EVALUATION_FAILED
        for number in range(4):
            assert (await one.watch(f"wide.words[{number}]", frame)).verified
        with pytest.raises(DebuggerError, match="0 are free"):
            await one.watch("wide.words[4]", frame)
        await one.go_on(stop)
        stop = await one.seen.next(Stopped)
        assert stop.reason is StopReason.WATCHPOINT


async def test_a_core_file_shows_where_the_program_died_and_does_not_run(
    drive: Drive, tmp_path: Path
):
    core = tmp_path / "the core"
    program = build_debuggee("crash.c")
    async with drive() as one:
        await one.backend.start(launch_target(program))
        await one.backend.run_program()
        stop = await one.seen.next(Stopped)
        frame = await one.frame(stop)
        await one.backend.find_ability(abilities.RawCommandAbility).run_raw(
            f"generate-core-file {core}", frame
        )
    async with drive() as one:
        target = AttachTarget(
            None, str(tmp_path), dict(os.environ), program=str(program), core=str(core)
        )
        await one.backend.attach(target)
        await one.backend.run_program()
        stop = await one.seen.next(Stopped)
        assert (stop.reason, stop.signal) == (StopReason.SIGNAL, "SIGSEGV")
        same = await one.frame(stop)
        assert (same.function, same.line) == (frame.function, frame.line)
        value = await one.backend.evaluate("first", same, EvaluationPurpose.PRINT)
        assert value.value == "0x0"
        with pytest.raises(DebuggerError, match="core file"):
            await one.go_on(stop)


async def test_a_core_file_that_is_none_is_told(drive: Drive, tmp_path: Path):
    core = tmp_path / "core"
    core.write_bytes(b"no core")
    target = AttachTarget(None, str(tmp_path), dict(os.environ), core=str(core))

    async def begin(backend: Any) -> None:
        await backend.attach(target)
        await backend.run_program()

    async with drive() as one:
        with pytest.raises(DebuggerError, match="core") as raised:
            await begin(one.backend)  # told of the attach, or only when it is to run
        assert raised.value.code is ErrorCode.LAUNCH_FAILED
