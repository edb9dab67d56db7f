"""What does every test get: a runtime directory of its own, the command line, bounded waits?"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import hypothesis
import pytest

T = TypeVar("T")

_POLL_S = 0.02
_TERM_S = 15.0
_LEFTOVER_S = 10.0
# What somebody may have set for his own use of the debugger.
_FOREIGN = ("DEBUGGER_SESSION", "DEBUGGER_BACKEND")
_LLDB_DAP = ("lldb-dap", *(f"lldb-dap-{version}" for version in range(30, 17, -1)))

# A loaded machine is no bug.
hypothesis.settings.register_profile("unhurried", deadline=None)
hypothesis.settings.load_profile("unhurried")


@dataclass(frozen=True, slots=True)
class Answer:
    """What one run of the command line gave; `data` is the JSON it printed if --json was asked."""

    args: tuple[str, ...]
    exit: int
    out: str
    err: str
    data: Any = None

    def __str__(self) -> str:
        return f"$ debugger {' '.join(self.args)}\n{self.out}{self.err}[exit {self.exit}]"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update", action="store_true", help="rewrite expected output with what is seen"
    )


def pytest_report_header() -> str:
    found = importlib.util.find_spec("debugger")
    origin = "not installed" if found is None else str(found.origin)
    if os.environ.get("DEBUGGER_TESTS_OF") == "wheel" and "site-packages" not in origin:
        raise pytest.UsageError(f"the wheel was to be tested, but debugger is {origin}")
    return f"debugger: {origin}"


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("adapter"):
        _require(*marker.args)


@pytest.fixture
def require_tool() -> Callable[[str], str]:
    """Give the path of a tool; where it is missing the test is skipped, and fails in CI."""
    return _require


@pytest.fixture
def wait_until() -> Callable[..., Any]:
    """Ask again and again, within a bound, until the answer is true; return the answer."""
    return _wait_until


@pytest.fixture
def runtime_dir(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give the daemon's files a directory; afterwards nothing that was started there may live."""
    # Short, and not pytest's own: the path of a Unix socket has about 100 bytes.
    directory = Path(tempfile.mkdtemp(prefix="dbgt-", dir="/tmp"))
    monkeypatch.setenv("DEBUGGER_RUNTIME_DIR", str(directory))
    monkeypatch.setenv("DEBUGGER_CONFIG", str(directory / "no-config.toml"))
    for name in _FOREIGN:
        monkeypatch.delenv(name, raising=False)
    try:
        yield directory
        stubborn = _stop_daemon(directory)
        left = _leftovers(directory)
        assert not stubborn, f"the daemon did not end at SIGTERM within {_TERM_S:g} s: {stubborn}"
        assert not left, f"left over after the test: {left}"
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture
def cli(runtime_dir: Path) -> Callable[..., Answer]:
    """Run `debugger …` in a process of its own, against this test's daemon."""

    def run(
        *words: str | os.PathLike[str],
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        check: int | None = None,
        timeout: float = 60,
    ) -> Answer:
        args = tuple(os.fspath(word) for word in words)
        ended = subprocess.run(
            [sys.executable, "-m", "debugger", *args],
            cwd=cwd,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=timeout,
        )
        out = ended.stdout.decode("utf-8", "backslashreplace")
        err = ended.stderr.decode("utf-8", "backslashreplace")
        answer = Answer(args, ended.returncode, out, err, _data(args, out))
        assert check is None or answer.exit == check, f"expected exit {check}:\n{answer}"
        return answer

    return run


def _data(args: tuple[str, ...], out: str) -> Any:
    ours = args[: args.index("--")] if "--" in args else args
    if "--json" not in ours:
        return None
    try:
        return json.loads(out)
    except json.JSONDecodeError:
        # A stream prints one object per line; its test reads them itself.
        return None


def _require(name: str) -> str:
    found = _find(name)
    if found is not None:
        return found
    if os.environ.get("CI", "").lower() not in {"", "0", "false"}:
        pytest.fail(f"{name} is missing, and CI installs it: see `make tools`", pytrace=False)
    pytest.skip(f"{name} is missing")


def _find(name: str) -> str | None:
    if name == "debugpy":
        found = importlib.util.find_spec("debugpy")
        return None if found is None else found.origin
    for candidate in _LLDB_DAP if name == "lldb-dap" else (name,):
        if path := shutil.which(candidate):
            return path
    return None


def _wait_until(predicate: Callable[[], T], timeout: float = 10.0, *, what: str | None = None) -> T:
    deadline = time.monotonic() + timeout
    while not (answer := predicate()):
        if time.monotonic() > deadline:
            pytest.fail(f"waited {timeout:g} s for {what or predicate}; last answer: {answer!r}")
        time.sleep(_POLL_S)
    return answer


def _within(seconds: float, predicate: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while not predicate():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_S)
    return True


def _stop_daemon(directory: Path) -> str:
    """End the daemon of a directory; say what had to be killed."""
    try:
        pid = int(json.loads((directory / "daemon.json").read_bytes())["pid"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return ""
    # A number out of a file that a test may have written itself: ask whose process it is.
    if pid == os.getpid() or not _is_daemon(pid, directory):
        return ""
    _signal(pid, signal.SIGTERM)
    if _within(_TERM_S, lambda: not _is_alive(pid)):
        return ""
    name = _name(pid)
    _signal(pid, signal.SIGKILL)
    _within(_TERM_S, lambda: not _is_alive(pid))
    return name


def _is_daemon(pid: int, directory: Path) -> bool:
    if not Path("/proc/self/environ").exists():
        return _is_alive(pid)
    return pid in _started_in(directory)


def _leftovers(directory: Path) -> list[str]:
    """Name the processes that a test left, and kill them."""
    if _within(_LEFTOVER_S, lambda: not _started_in(directory)):
        return []
    named = []
    for pid in _started_in(directory):
        named.append(_name(pid))
        _signal(pid, signal.SIGKILL)
    return named


def _started_in(directory: Path) -> list[int]:
    wanted = f"DEBUGGER_RUNTIME_DIR={directory}".encode()
    found = []
    for environ in Path("/proc").glob("[0-9]*/environ"):
        try:
            held = environ.read_bytes().split(b"\0")
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        if wanted in held and int(environ.parent.name) != os.getpid():
            found.append(int(environ.parent.name))
    return found


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        # One that has ended and was not reaped yet is as good as gone.
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return not Path("/proc/self").exists()
    return state not in {"Z", "X"}


def _name(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return f"{pid}"
    return f"{pid} ({b' '.join(words).decode('utf-8', 'replace').strip()})"


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
