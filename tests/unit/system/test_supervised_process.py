"""An adapter is started, read and ended through its supervisor, with every failure reported."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from debugger.errors import DebuggerError, ErrorCode
from debugger.system import supervised_process
from debugger.system.supervised_process import SupervisedProcess
from event_loop import await_condition

BOUND_S = 60.0
WAITS = "import sys; sys.stdin.read()"


class Starter:
    """Starts adapters that are Python code."""

    def __init__(self, tasks: asyncio.TaskGroup, tmp_path: Path) -> None:
        self._tasks = tasks
        self._root = tmp_path
        self.started: list[SupervisedProcess] = []

    async def __call__(
        self, code: str, *argv: str, env: dict[str, str] | None = None
    ) -> SupervisedProcess:
        scratch = self._root / f"scratch{len(self.started)}"
        scratch.mkdir()
        guarded = await SupervisedProcess.start(
            argv or (sys.executable, "-c", code),
            cwd=str(self._root),
            env=env if env is not None else dict(os.environ),
            scratch=scratch,
            tasks=self._tasks,
        )
        self.started.append(guarded)
        return guarded


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Starter]:
    async with asyncio.TaskGroup() as tasks:
        starter = Starter(tasks, tmp_path)
        yield starter
        for one in starter.started:
            await one.end_processes()


async def within(waiting: Any) -> Any:
    return await asyncio.wait_for(waiting, BOUND_S)


async def test_bytes_go_through_in_both_directions_and_end(start):
    guarded = await start("import sys; sys.stdout.write(sys.stdin.readline().upper())")
    guarded.write_input(b"hello\n")
    assert await within(guarded.read_output()) == b"HELLO\n"
    assert await within(guarded.read_output()) == b""
    assert await within(guarded.exited) == "exited with 0"


@pytest.mark.parametrize(
    ("code", "how"),
    [
        ("raise SystemExit(3)", "exited with 3"),
        ("import os; os.kill(os.getpid(), 9)", "was killed by signal 9"),
    ],
)
async def test_how_the_adapter_ended_is_told(start, code, how):
    guarded = await start(code)
    assert await within(guarded.exited) == how


async def test_the_last_lines_of_its_standard_error_are_kept_and_bounded(start):
    code = (
        "import sys\nfor i in range(1000): print('line', i, file=sys.stderr)\n"
        "sys.stderr.buffer.write(b'x' * 100000 + b'\\xff end')"
    )
    guarded = await start(code)
    await within(guarded.exited)
    await await_condition(lambda: guarded.stderr_tail().endswith("end"), what="the last line")
    tail = guarded.stderr_tail().splitlines()
    assert len(tail) == 40
    assert tail[-2] == "line 999"
    assert len(tail[-1]) < 600


@pytest.mark.parametrize(
    ("argv", "env"),
    [
        (("/nonexistent/adapter",), None),
        (("/dev/null",), None),
        (("/bin/true", "a\0b"), None),
        (("/bin/true",), {"A": "x\0y"}),
        (("/bin/true",), {"A=B": "x"}),
    ],
)
async def test_an_adapter_that_cannot_be_started_is_a_clear_error(start, argv, env):
    with pytest.raises(DebuggerError) as failed:
        await within(start("", *argv, env=env))
    assert failed.value.code is ErrorCode.ADAPTER_FAILED


async def test_a_supervisor_that_fails_says_why_and_how_to_go_on(start, monkeypatch):
    failing = [sys.executable, "-c", "raise SystemExit('unknown order')"]
    monkeypatch.setattr(supervised_process, "_build_command", lambda *_, **__: failing)
    with pytest.raises(DebuggerError, match="could not be started: unknown order") as caught:
        await start("cat")
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("debugger daemon stop")


async def test_a_program_runs_on_the_given_files_with_any_environment(start, tmp_path):
    guarded = await start(WAITS)
    out = tmp_path / "out"
    out.touch()
    pid, ended = await within(
        guarded.spawn_program(
            [sys.executable, "-c", "import os; print(os.environb[b'X'], flush=True); os._exit(4)"],
            cwd=str(tmp_path),
            env={"X": os.fsdecode(b"\xff")},
            stdio=(None, str(out), None),
        )
    )
    assert pid > 0
    assert await within(ended) == (4, None)
    assert out.read_text() == "b'\\xff'\n"


async def test_without_an_adapter_programs_run_and_all_that_is_left_is_named(tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    async with asyncio.TaskGroup() as tasks:
        guarded = await SupervisedProcess.start(
            (), cwd="/", env=dict(os.environ), scratch=scratch, tasks=tasks
        )
        code = "import subprocess; print(subprocess.Popen(['sleep', '600']).pid)"
        output = tmp_path / "output"
        output.touch()
        _, ended = await guarded.spawn_program(
            [sys.executable, "-c", code],
            cwd="/",
            env=dict(os.environ),
            stdio=(None, str(output), None),
        )
        assert await within(ended) == (0, None)
        ending = await guarded.end_processes()
    assert ending.killed == (f"{output.read_text().strip()} (sleep)",)
    assert guarded.pid == 0
    assert not scratch.exists()


async def test_a_program_that_cannot_be_run_is_a_launch_that_failed(start, tmp_path):
    guarded = await start(WAITS)
    with pytest.raises(DebuggerError) as failed:
        await within(
            guarded.spawn_program(
                ["/nonexistent"], cwd=str(tmp_path), env={}, stdio=(None, None, None)
            )
        )
    assert failed.value.code is ErrorCode.LAUNCH_FAILED


async def test_a_program_that_was_waited_for_in_vain_may_still_report_later(start):
    guarded = await start(WAITS)
    loop = asyncio.get_running_loop()
    guarded._spawns[9], guarded._exits[9] = loop.create_future(), loop.create_future()
    guarded._spawns[9].cancel()
    guarded._take_report({"event": "spawned", "id": 9, "pid": 4})
    guarded._take_report({"event": "spawn_failed", "id": 9, "error": "late"})
    assert guarded._spawns[9].cancelled()


async def test_the_end_kills_what_is_left_and_names_it(start, tmp_path):
    guarded = await start(WAITS)
    pid, _ = await within(
        guarded.spawn_program(
            ["/bin/sleep", "600"],
            cwd=str(tmp_path),
            env={"PATH": os.defpath},
            stdio=(None, None, None),
        )
    )
    ending = await within(guarded.end_processes())
    assert any(name.startswith(f"{pid} (") for name in ending.killed)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert await within(guarded.end_processes()) == ending


# Prints its number and that of a grandchild, whose parent has ended and which leads no session.
ORPHANS = """
import os, sys, time
if os.fork() == 0:
    if os.fork() == 0:
        print(os.getpid(), flush=True)
        time.sleep(600)
    os._exit(0)
os.wait()
sys.stdin.read()
"""


async def spawned(guarded: SupervisedProcess, folder: Path, stdin: str | None = None) -> Any:
    return await within(
        guarded.spawn_program(
            ["/bin/sleep", "600"],
            cwd=str(folder),
            env={"PATH": os.defpath},
            stdio=(stdin, None, None),
        )
    )


def is_alive(pid: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="sessions are read in /proc")
async def test_what_a_killed_guard_leaves_is_ended_and_named_but_what_was_released(start, tmp_path):
    guarded = await start(ORPHANS)
    orphan = int(await within(guarded.read_output()))
    pid, ended = await spawned(guarded, tmp_path)
    free, _ = await spawned(guarded, tmp_path)
    await guarded.release_processes([free], [])
    guarded._process.kill()
    assert await within(ended) == (None, signal.SIGKILL)
    assert "its guard was killed by signal 9" in await within(guarded.exited)
    ending = await within(guarded.end_processes())
    assert {int(one.split()[0]) for one in ending.killed} == {guarded.pid, orphan, pid}
    assert [is_alive(one) for one in (guarded.pid, orphan, pid, free)] == [False] * 3 + [True]
    assert not (tmp_path / "scratch0").exists()
    os.kill(free, signal.SIGKILL)


@pytest.mark.skipif(sys.platform != "linux", reason="sessions are read in /proc")
async def test_a_program_that_waits_for_its_input_file_ends_with_a_killed_guard(start, tmp_path):
    guarded = await start(WAITS)
    os.mkfifo(tmp_path / "input")
    waiting = asyncio.ensure_future(spawned(guarded, tmp_path, str(tmp_path / "input")))
    await await_condition(lambda: guarded._programs, what="the program's start")
    (pid,) = guarded._programs.values()
    guarded._process.kill()
    with pytest.raises(DebuggerError):
        await waiting
    await within(guarded.end_processes())
    assert not is_alive(pid)


async def test_an_adapter_that_cannot_be_run_leaves_nothing_to_sweep(start):
    with pytest.raises(DebuggerError, match="cannot be run"):
        await start("", "/nowhere/adapter")


async def test_a_guard_that_is_killed_while_it_ends_leaves_nothing(start):
    guarded = await start(WAITS)
    ending = asyncio.ensure_future(guarded.end_processes())
    guarded._process.kill()
    await within(ending)
    await within(guarded._ended)
    assert not is_alive(guarded.pid)
