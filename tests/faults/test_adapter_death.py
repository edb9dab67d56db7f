"""The adapter dies at any moment: reported, nothing left, the next command works."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import build_debuggee, find_marker, find_source
from debugger.backends import select_backend
from debugger.errors import ErrorCode
from driven_backend import DaemonStack, open_stack, write_configuration
from fakes import fake_adapter

_START = ("start", "main.c", "--adapter", "fake", "--timeout", "15", "--break", "main.c:4")
_COMMANDS = (
    ("print", "n"),
    ("locals",),
    ("backtrace",),
    ("threads",),
    ("next",),
    ("breakpoint", "add", "main.c:13"),
    ("continue",),
    ("set", "total", "7"),
    ("breakpoint", "remove", "--all"),
    ("continue",),
)
# What a command may say after the adapter's death, and how it must end.
_FAULTS = {ErrorCode.ADAPTER_DIED, ErrorCode.ADAPTER_FAILED, ErrorCode.LAUNCH_FAILED}
# The guard takes up to 3.5 s (its grace and its end), and the machine may be a slow one.
_END_S = 60.0


@pytest.fixture
def run_with(runtime_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(
        select_backend, "ADAPTERS", {**select_backend.ADAPTERS, "fake": fake_adapter.FAKE_ADAPTER}
    )
    (tmp_path / "main.c").write_text("// the fake adapter imagines the rest\n" * 20)
    return lambda: open_stack(tmp_path, tmp_path / "config.toml")


def _let_die(folder: Path, after: int | None) -> None:
    arguments = () if after is None else ("--die-after", str(after))
    seconds = {"dap_initialize_secs": 15.0, "dap_request_secs": 15.0}
    write_configuration(folder / "config.toml", adapter="fake", arguments=arguments, **seconds)


async def _session(run: DaemonStack) -> bool:
    """Go through a whole session; tell whether the adapter's death was met."""
    started = await run(*_START)
    if started.error is not None:
        assert started.error.code in _FAULTS, (started.error.code, started.error.message)
        assert "signal 9" in started.error.message
        assert started.exit == 1
        return True
    is_dead = False
    for words in _COMMANDS:
        reply = await run(*words)
        if reply.error is None:
            assert not is_dead or words[0] == "breakpoint", (words, reply.text)
            continue
        assert reply.error.code in _FAULTS, (words, reply.error.code, reply.error.message)
        assert "signal 9" in reply.error.message
        assert reply.error.hint
        assert reply.exit == 1
        is_dead = True
    assert (await run.data("status"))["state"] == "terminated"
    return is_dead


@pytest.mark.parametrize("first", range(0, 60, 10))
async def test_the_adapter_dies_after_any_message(
    first: int, run_with: Callable[[], Any], tmp_path: Path, runtime_dir: Path
):
    met = []
    async with run_with() as run:
        for after in range(first, first + 10):
            _let_die(tmp_path, after)
            met.append(await _session(run))
            _let_die(tmp_path, None)
            assert (await run.data(*_START))["reason"] == "breakpoint"
            await run.data("stop")
            await run("stop")
            assert list(runtime_dir.glob("scratch/*")) == []
    # The whole session is 40 to 50 messages long.
    assert met == sorted(met, reverse=True)
    assert first >= 40 or all(met)
    assert first < 50 or not any(met)


def _field(pid: int, index: int) -> str:
    """Read a field of proc_pid_stat(5) behind the name: 0 is the state, 1 the parent."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[index]


def _is_alive(pid: int) -> bool:
    try:
        return _field(pid, 0) != "Z"
    except OSError:
        return False


def _children(pid: int) -> list[int]:
    """List all processes below one, itself left out."""
    parents: dict[int, list[int]] = {}
    for path in Path("/proc").iterdir():
        if path.name.isdigit() and _is_alive(int(path.name)):
            try:
                parents.setdefault(int(_field(int(path.name), 1)), []).append(int(path.name))
            except OSError:
                continue
    found = list(parents.get(pid, []))
    for one in found:  # it grows meanwhile
        found += parents.get(one, [])
    return found


def _daemon(runtime_dir: Path) -> int:
    return int(json.loads((runtime_dir / "daemon.json").read_text())["pid"])


def _words(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def _adapter(runtime_dir: Path) -> tuple[int, list[int]]:
    """Find the adapter, a child of the guard, and all that the daemon has below it."""
    below = _children(_daemon(runtime_dir))
    (guard,) = [pid for pid in below if b"supervisor.py" in _words(pid)]
    names = (b"lldb-dap", b"debugpy/run_adapter.py", b"--no-lldbinit")
    own = [pid for pid in _children(guard) if _field(pid, 1) == str(guard)]
    (adapter,) = [pid for pid in own if any(name in _words(pid) for name in names)]
    return adapter, below


_REAL = [
    pytest.param("c", marks=pytest.mark.adapter("lldb-dap"), id="lldb-dap"),
    pytest.param("py", marks=pytest.mark.adapter("debugpy"), id="debugpy"),
    pytest.param("c --backend lldb-cli", marks=pytest.mark.adapter("lldb-cli"), id="lldb-cli"),
]
_NATIVE = [one for one in _REAL if one.id != "debugpy"]
in_both_states = pytest.mark.parametrize("is_stopped", [True, False], ids=["stopped", "running"])


def _start(cli: Callable[..., Any], language: str, *, is_stopped: bool) -> None:
    """Start an endless program, and stop before its loop or let it run."""
    language, *options = language.split()
    name = f"endless.{language}"
    program = build_debuggee(name) if language == "c" else find_source(name)
    if is_stopped:
        cli(
            "start",
            program,
            *options,
            "--break",
            f"{find_source(name)}:{find_marker(name, 'start')}",
            check=0,
        )
    else:
        cli("start", program, *options, "--timeout", "0.5", check=3)


@pytest.mark.parametrize("language", _REAL)
@in_both_states
def test_a_killed_adapter_takes_its_program_along_and_is_told(
    language: str,
    is_stopped: bool,
    cli: Callable[..., Any],
    runtime_dir: Path,
    wait_until: Callable[..., None],
):
    _start(cli, language, is_stopped=is_stopped)
    adapter, below = _adapter(runtime_dir)
    os.kill(adapter, signal.SIGKILL)
    wait_until(lambda: not any(map(_is_alive, below)), _END_S, what="the end of all below")
    answer = cli("next", "--json", check=1)
    assert answer.data["error"]["code"] == "ADAPTER_DIED"
    assert "killed by signal 9" in answer.data["error"]["message"]
    assert answer.data["error"]["hint"] == "debugger restart starts it again"
    assert cli("status", "--json", check=0).data["data"]["state"] == "terminated"
    restarted = cli("restart", "--timeout", "30" if is_stopped else "0.5", "--json")
    assert restarted.exit == (0 if is_stopped else 3)
    assert restarted.data["data"]["state"] == ("stopped" if is_stopped else "running")
    cli("stop", check=0)


@pytest.mark.parametrize("language", _REAL)
def test_a_connection_that_ends_while_an_adapter_writes_does_not_end_it(
    language: str, cli: Callable[..., Any], runtime_dir: Path
):
    _start(cli, language, is_stopped=True)
    os.kill(_adapter(runtime_dir)[0], signal.SIGPIPE)
    assert cli("next", "--json", check=0).data["data"]["state"] == "stopped"
    cli("stop", check=0)


_FRIDA = pytest.param(
    "c --backend frida",
    marks=[
        pytest.mark.adapter("frida"),
        pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it is for Linux"),
    ],
    id="frida",
)


@pytest.mark.skipif(sys.platform != "linux", reason="what a guard leaves is found in /proc")
@pytest.mark.parametrize(
    ("language", "ends_first"),
    [
        *(pytest.param(*one.values, False, marks=one.marks, id=one.id) for one in (*_REAL, _FRIDA)),
        # Its debugger reports the end of the program before it is ended itself.
        *(
            pytest.param(*one.values, True, marks=one.marks, id=f"{one.id}-ended")
            for one in _NATIVE
        ),
    ],
)
def test_nothing_goes_on_without_its_guard(
    language: str,
    ends_first: bool,
    cli: Callable[..., Any],
    runtime_dir: Path,
    wait_until: Callable[..., None],
):
    _start(cli, language, is_stopped=False)
    below = _children(_daemon(runtime_dir))
    (guard,) = [pid for pid in below if b"supervisor.py" in _words(pid)]
    programs = [pid for pid in below if _words(pid).startswith(b"/") and b"endless" in _words(pid)]
    os.kill(guard, signal.SIGKILL)
    if ends_first:
        (program,) = programs
        # A killed process is there until it gets a processor.
        wait_until(lambda: not _is_alive(guard), _END_S, what="the end of the guard")
        os.kill(program, signal.SIGKILL)
    wait_until(lambda: not any(map(_is_alive, below)), _END_S, what="the end of all below")

    def is_over() -> bool:
        state: str = cli("status", "--json", check=0).data["data"]["state"]
        return state == "terminated"

    wait_until(is_over, _END_S, what="the end of the session")
    answer = cli("pause", "--json", check=1)
    assert answer.data["error"]["code"] == "ADAPTER_DIED"
    assert "guard was killed by signal 9" in answer.data["error"]["message"]
    assert list(runtime_dir.glob("scratch/*")) == []
    assert cli("restart", "--timeout", "0.5", "--json").exit == 3
    cli("stop", check=0)


@pytest.mark.parametrize("language", _REAL)
@in_both_states
def test_a_killed_daemon_takes_adapter_and_program_along(
    language: str,
    is_stopped: bool,
    cli: Callable[..., Any],
    runtime_dir: Path,
    wait_until: Callable[..., None],
):
    _start(cli, language, is_stopped=is_stopped)
    below = _children(_daemon(runtime_dir))
    assert len(below) >= 3
    assert list(runtime_dir.glob("scratch/*"))
    os.kill(_daemon(runtime_dir), signal.SIGKILL)
    wait_until(lambda: not any(map(_is_alive, below)), _END_S, what="the end of all below")
    assert list(runtime_dir.glob("scratch/*")) == []
    answer = cli("sessions", check=0)
    assert "died; lost: session endless" in answer.err
    _start(cli, language, is_stopped=is_stopped)
    cli("stop", check=0)
