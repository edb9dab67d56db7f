"""A program that is started by exec is held where it begins, unharmed."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

import debuggees
from debugger.backends.inprocess.engine import child_processes
from debugger.backends.inprocess.engine.engine_events import (
    EngineBreakpoint,
    EngineChildAppeared,
    EngineExited,
    EngineLost,
    ProgramReplaced,
)
from live_engine import BOUND_S, BuiltProgram, EngineSession, build_program, run


def runner() -> BuiltProgram:
    return BuiltProgram(debuggees.build_debuggee("execs.c"))


async def begun(start, mode: str, target: Path) -> EngineSession:
    live = await start(runner(), mode, str(target), follows_children=True)
    await live.engine.run_program()
    return live


def is_reported_or_over(event) -> bool:
    return is_reported(event) or isinstance(event, EngineExited)


def is_reported(event) -> bool:
    return isinstance(event, EngineChildAppeared | ProgramReplaced)


@pytest.mark.parametrize("mode", ["vfork", "spawn", "copied", "exec", "fexec", "thread"])
async def test_a_program_is_held_before_its_own_code_and_finds_all_as_it_would_have(
    start_engine, mode
):
    executed = build_program("executed.c", "-O0")
    status, out, _ = runner().alone(mode, str(executed.path))
    live = await begun(start_engine, mode, executed.path)
    event = await live.until(is_reported)
    inside = await start_engine.follow(live, event, executed)
    await inside.engine.add_breakpoints([EngineBreakpoint(id="b", address=inside.at("before"))])
    await inside.engine.run_program()
    assert (await inside.until(lambda one: hasattr(one, "points"))).points == ("b",)
    inside.engine.resume()
    assert (await inside.until(EngineExited)).status == status
    if isinstance(event, EngineChildAppeared):
        assert (await live.until(EngineExited)).status == status
    assert live.output() == out


async def test_an_exec_that_fails_tells_its_caller_why_and_harms_nobody(
    start_engine, tmp_path: Path
):
    target = tmp_path / "text"
    target.write_text("no program")
    target.chmod(0o755)
    status, out, _ = runner().alone("fails", str(target))
    live = await begun(start_engine, "fails", target)
    while is_reported(event := await live.until(is_reported_or_over)):
        assert event.at == 0, "nothing was executed"
        live.engine.send_child_word(event.pid)  # it was forked
    assert (event.status, live.output()) == (status, out)


_BARE = """static long ask(long number, long a, const char *b, long c) {
    long answer;
    __asm__ volatile("syscall" : "=a"(answer) : "a"(number), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r11", "memory");
    return answer;
}
void _start(void) {
    ask(1, 1, "bare", 4);
    ask(231, 5, 0, 0);
}
"""


def free(folder: Path, kind: str) -> Path:
    """Build a program that cannot be entered."""
    target = folder / "target"
    if kind == "bare":
        target.with_suffix(".c").write_text(_BARE)
        loader = "-Wl,--dynamic-linker=/lib64/ld-linux-x86-64.so.2"
        run("gcc", "-nostdlib", "-fPIE", "-pie", loader, "-o", str(target), f"{target}.c")
        return target
    shutil.copy(build_program("executed.c", "-static" if kind == "static" else "-O0").path, target)
    target.chmod(0o4755 if kind == "rights" else 0o755)
    return target


@pytest.mark.parametrize("mode", ["spawn", "exec"])
@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("static", "is linked statically"),
        ("rights", "gives rights to who runs it"),
        ("bare", "has no C library"),
    ],
)
async def test_what_cannot_be_entered_runs_free_and_it_is_said_why(
    start_engine, tmp_path: Path, mode, kind, why
):
    target = free(tmp_path, kind)
    status, out, _ = runner().alone(mode, str(target))
    live = await begun(start_engine, mode, target)
    told = await live.until(is_reported)
    assert told.at == 0
    assert str(target) in told.why
    assert why in told.why
    assert (await live.until(EngineExited)).status == status
    assert live.output() == out


async def test_who_is_held_goes_on_when_the_host_dies(start_engine):
    executed = build_program("executed.c", "-O0")
    with subprocess.Popen(  # noqa: ASYNC220
        [runner().path, "later", executed.path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as guest:
        assert guest.stdin is not None
        live = await start_engine.attach(runner(), guest.pid, follows_children=True)
        guest.stdin.write("go\n")
        guest.stdin.flush()
        child = await live.until(EngineChildAppeared)
        live.engine.send_child_word(child.pid, child_processes.WAIT, child.at)
        os.kill(live.engine.host_pid, signal.SIGKILL)
        await live.until(EngineLost)
        out, _ = guest.communicate(timeout=BOUND_S)
    assert (guest.returncode, out) == runner().alone("vfork", str(executed.path))[:2]


@pytest.mark.parametrize("preloaded", [(), ("libc.so.6",)])
async def test_a_program_is_entered_once_its_loader_has_loaded_its_libraries(
    start_engine, tmp_path: Path, preloaded
):
    # The loader waits for a writer of the second library: no C library is there yet, or none that
    # can be called.
    gate = tmp_path / "gate.so"
    os.mkfifo(gate)
    executed = build_program("executed.c", "-O0")
    with subprocess.Popen(  # noqa: ASYNC220
        [runner().path, "later", executed.path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # the loader says that the gate is no library
        text=True,
        env={**os.environ, "LD_PRELOAD": ":".join((*preloaded, str(gate)))},
    ) as guest:
        entering = asyncio.create_task(start_engine.attach(runner(), guest.pid))
        await asyncio.to_thread(lambda: gate.open("wb").close())
        await entering
        out, _ = guest.communicate("go\n", timeout=BOUND_S)
    assert (guest.returncode, out) == runner().alone("vfork", str(executed.path))[:2]
