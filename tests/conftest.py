"""Fixtures of all tests: a daemon of their own, and a check that nothing is left behind."""

from __future__ import annotations

import gc
import json
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from debugger.backends import select_backend
from debugger.backends.dap.debug_adapter import AdapterSearch
from left_out import leave_out
from warm_clients import WARM_CLIENTS
from warm_daemon import WARM_PROCESS, WARM_SERVERS

# A busy machine is no fault of the code under test; pytest-timeout still bounds every test.
hypothesis.settings.register_profile("unhurried", deadline=None)
if hypothesis.settings.get_current_profile_name() == "default":
    hypothesis.settings.load_profile("unhurried")

# Seconds: longer than a daemon may take to end its sessions, and a guard to end its children, on
# a machine that does other work. Who passes waits for nothing of it.
_DAEMON_ENDS = 45.0
_CHILDREN_END = 30.0
# Between two looks at what is waited for.
_PAUSE, _LONG_PAUSE = 0.01, 0.1

# The commands that start no daemon.
_WITHOUT_DAEMON = ((), ("daemon",), ("completion",), ("skill",), ("--help",), ("--version",))

# What a command's environment has besides. A pytest that is debugged does not load the plugins
# of this one: Hypothesis alone is half of its start, several times in a question. A test whose
# program needs them sets it to an empty text.
_SETTINGS: Mapping[str, str] = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}

# What names a test's runtime directory: a path in it each.
_OWN_VARIABLES: Mapping[str, str] = {"DEBUGGER_RUNTIME_DIR": "", "DEBUGGER_CONFIG": "/config.toml"}

# What a tool that is no adapter is called on the machines that have it.
_COMMANDS: Mapping[str, tuple[str, ...]] = {
    "gdb-cli": ("gdb",),
    "lldb-server": ("lldb-server-19", "lldb-server"),
    "ruby-gem": ("rdbg", "rdbg3.1", "rdbg3.3"),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update",
        action="store_true",
        help="rewrite the transcripts with what is seen",
    )


# Ten thousand tests are no garbage: looking for some among them took most of their collection, and
# a second of each later look.
gc.disable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    WARM_PROCESS.close()
    WARM_SERVERS.close()
    WARM_CLIENTS.close()


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("adapter"):
        for name in marker.args:
            require_tool(name)


def require_tool(name: str) -> str:
    """Give the path of a tool; without it skip the test, or fail it where CI is set.

    An adapter is looked for as the debugger itself does.
    """
    adapter = select_backend.ADAPTERS.get(name) or select_backend.OWN.get(name)
    if adapter is not None:
        found = adapter.find_installation(AdapterSearch(os.environ))
        path = found.argv[0] if found is not None else None
    else:
        path = next(filter(None, map(shutil.which, _COMMANDS.get(name, (name,)))), None)
    if path is None:
        leave_out(f"{name} is missing (make tools)")
    return path


def wait_until(
    predicate: Callable[[], object], timeout: float = 60.0, *, what: str | None = None
) -> None:
    """Wait until `predicate` holds; fail after `timeout` seconds, saying what was waited for."""
    __tracebackhide__ = True
    if not _holds_within(predicate, timeout):
        pytest.fail(f"waited {timeout:g} s for {what or repr(predicate)}")


def _holds_within(predicate: Callable[[], object], timeout: float) -> bool:
    deadline = time.monotonic() + timeout
    began = time.monotonic()
    while not predicate():
        now = time.monotonic()
        if now >= deadline:
            return False
        # The world outside a test sends no event for what it asks; the pause only spares a core.
        # A look at all processes, or a command, takes as long as it: then it is longer.
        time.sleep(min(max(_PAUSE, 2 * (now - began)), _LONG_PAUSE))
        began = time.monotonic()
    return True


@dataclass(frozen=True)
class Answer:
    """What one command said; `data` is the whole JSON object when `--json` was asked for."""

    args: tuple[str, ...]
    exit: int
    out: str
    err: str
    data: Any = None

    def __str__(self) -> str:
        return f"debugger {' '.join(self.args)}\n[exit {self.exit}]\n{self.out}{self.err}"


def _asks_for_json(args: tuple[str, ...]) -> bool:
    own = args[: args.index("--")] if "--" in args else args
    return "--json" in own


@pytest.fixture
def runtime_dir(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give a test a runtime directory, and fail it when anything outlives its daemon."""
    yield from _own_runtime_dir(monkeypatch)


@pytest.fixture(scope="module")
def shared_runtime_dir() -> Iterator[Path]:
    """Give the tests of a module a runtime directory together."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        yield from _own_runtime_dir(monkeypatch)


def _own_runtime_dir(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    # Not tmp_path: a socket's path may have 107 bytes at most.
    path = Path(tempfile.mkdtemp(prefix="dbg-", dir="/tmp"))
    monkeypatch.setenv("DEBUGGER_RUNTIME_DIR", str(path))
    monkeypatch.setenv("DEBUGGER_CONFIG", str(path / "config.toml"))
    ours = ("DEBUGGER_SESSION", "DEBUGGER_BACKEND", "DEBUGGER_TRANSPORT")
    for name in (*ours, "XCODEBUILDMCP_DEBUGGER_BACKEND"):
        monkeypatch.delenv(name, raising=False)
    yield path
    faults = [*_stop_daemon(path), *_kill_leftovers(path)]
    shutil.rmtree(path)
    if faults:
        pytest.fail("\n".join(faults), pytrace=False)


@pytest.fixture
def cli(runtime_dir: Path) -> Callable[..., Answer]:
    """Run a command as a user does, against a daemon of the test's own."""
    return _build_cli(runtime_dir)


@pytest.fixture(scope="module")
def shared_cli(shared_runtime_dir: Path) -> Callable[..., Answer]:
    """Run a command against a daemon that the tests of a module share."""
    return _build_cli(shared_runtime_dir)


def _build_cli(runtime_dir: Path) -> Callable[..., Answer]:
    def run(
        *args: str | os.PathLike[str],
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        check: int | None = None,
        timeout: float = 110,
    ) -> Answer:
        words = tuple(os.fspath(arg) for arg in args)
        own = {name: str(runtime_dir) + tail for name, tail in _OWN_VARIABLES.items()}
        environment = {**os.environ, **_SETTINGS, **own, **(env or {})}
        if words[:1] not in _WITHOUT_DAEMON:
            WARM_PROCESS.hatch(environment)
        folder = os.getcwd() if cwd is None else os.fspath(cwd)
        ran = WARM_CLIENTS.run_command(words, folder, environment, timeout)
        answer = Answer(words, ran.returncode, ran.stdout, ran.stderr)
        if check is not None:
            assert answer.exit == check, str(answer)
        if not _asks_for_json(words):
            return answer
        try:
            data = json.loads(ran.stdout)
        except json.JSONDecodeError:
            pytest.fail(f"not one JSON object: {answer}")
        return Answer(words, ran.returncode, ran.stdout, ran.stderr, data)

    return run


def _stop_daemon(runtime_dir: Path) -> list[str]:
    pid = _daemon_in(runtime_dir)
    if pid is None or not _signal(pid, signal.SIGTERM):
        return []
    if _holds_within(lambda: not _belongs(pid, runtime_dir), _DAEMON_ENDS):
        return []
    _signal(pid, signal.SIGKILL)
    return [f"the daemon (pid {pid}) did not end within {_DAEMON_ENDS:g} s of SIGTERM"]


def _daemon_in(runtime_dir: Path) -> int | None:
    try:
        pid = json.loads((runtime_dir / "daemon.json").read_bytes())["pid"]
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None
    # A killed daemon leaves its file, and its pid may be somebody else's by now.
    return pid if isinstance(pid, int) and _belongs(pid, runtime_dir) else None


def _kill_leftovers(runtime_dir: Path) -> list[str]:
    if _holds_within(lambda: not _processes_of(runtime_dir), _CHILDREN_END):
        return []
    left = [(pid, _words(pid)) for pid in _processes_of(runtime_dir)]
    for pid, _ in left:
        _signal(pid, signal.SIGKILL)
    return [f"left running: pid {pid}: {words}" for pid, words in left]


def _processes_of(runtime_dir: Path) -> list[int]:
    """List the processes started with this runtime directory; none where there is no /proc."""
    try:
        pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    except FileNotFoundError:
        return []
    return [pid for pid in pids if pid != os.getpid() and _belongs(pid, runtime_dir)]


def _belongs(pid: int, runtime_dir: Path) -> bool:
    try:
        environ = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        # Gone, a zombie, or another user's. Without /proc only the daemon's own pid can be asked.
        return not Path("/proc/self").exists() and _signal(pid, 0)
    return os.fsencode(f"DEBUGGER_RUNTIME_DIR={runtime_dir}") in environ.split(b"\0")


def _words(pid: int) -> str:
    try:
        raw = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return "(gone)"
    return raw.replace(b"\0", b" ").decode(errors="replace").strip()


def _signal(pid: int, number: int) -> bool:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture(name="wait_until")
def _wait_until() -> Callable[..., None]:
    """Give `wait_until` to tests, which cannot import a conftest."""
    return wait_until


@pytest.fixture(name="require_tool")
def _require_tool() -> Callable[[str], str]:
    """Give `require_tool` to tests, which cannot import a conftest."""
    return require_tool
