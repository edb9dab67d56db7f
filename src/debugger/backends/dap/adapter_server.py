"""Connects to an adapter that listens on a port, or that is part of the program."""

from __future__ import annotations

import asyncio
import codecs
import re
import socket
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from debugger.backends.base import AttachTarget, LaunchTarget
from debugger.backends.dap import messages as dap
from debugger.backends.dap.dap_transport import ProgramLink, TcpConnection
from debugger.backends.dap.debug_adapter import (
    AdapterLocation,
    AdapterServer,
    DebugAdapter,
    StreamFiles,
)
from debugger.backends.dap.program_listener import ProgramListener
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.events import OutputStream
from debugger.model.program import ExitedProgram
from debugger.model.signals import signal_name
from debugger.system.supervised_process import SupervisedProcess

_OUTPUT_MAX = 1 << 14
# Seconds between two tries to connect.
_AGAIN_S = 0.02
_LOOPBACK = "127.0.0.1"
# These would change how the adapter itself runs; the program gets them all the same.
_NOT_FOR_ADAPTERS = (
    *("LD_PRELOAD", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP"),
    *("NODE_OPTIONS", "VSCODE_INSPECTOR_OPTIONS"),
)

Ended = asyncio.Future[tuple[int | None, int | None]]


def find_free_port() -> int:
    """Return a port of this machine that nobody listens at."""
    with socket.socket() as probe:
        # The port is free now, and may be taken before the adapter binds: then the adapter fails to
        # start, and says so.
        probe.bind((_LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


def make_trial_program(scratch: Path, serving: AdapterServer) -> str:
    """Write a program of one line, for a trial of an adapter that is part of the program."""
    file = scratch / f"nothing{serving.suffix}"
    file.write_text("0\n", encoding="utf-8")  # without a line to stop at rdbg 1.4 waits for nobody
    return str(file)


def to_exited(result: tuple[int | None, int | None]) -> ExitedProgram:
    """Convert the guard's report of a program's end."""
    code, number = result
    return ExitedProgram(signal=signal_name(number)) if number else ExitedProgram(code=code)


async def start_supervised(
    adapter: DebugAdapter,
    found: AdapterLocation,
    *,
    cwd: str,
    env: Mapping[str, str],
    scratch: Path,
    tasks: asyncio.TaskGroup,
) -> tuple[SupervisedProcess, int]:
    """Start an adapter; return the port that it was given, or 0.

    An adapter that is part of the program is started later, by `run_as_adapter`.

    Raises:
        DebuggerError: ADAPTER_FAILED.
    """
    # The adapter runs in the environment of the user's command: it finds tools on the user's PATH.
    # What would load the user's code into the adapter itself is left out.
    own = {key: value for key, value in env.items() if key not in _NOT_FOR_ADAPTERS}
    if adapter.delegated_launch is not None:
        own |= adapter.delegated_launch.adapter_environment(scratch)
    serving = adapter.server
    argv: Sequence[str] = found.argv
    port = 0
    if serving is not None:
        port = find_free_port()
        argv = () if serving.is_program else serving.words(found, None, port)
    guard = await SupervisedProcess.start(
        argv,
        cwd=cwd,
        env=own,
        scratch=scratch,
        tasks=tasks,
        ignores_sigpipe=adapter.ignores_sigpipe,
    )
    return guard, port


async def run_in_terminal(
    adapter: DebugAdapter,
    arguments: dap.RunInTerminalArguments,
    launched: LaunchTarget,
    *,
    guard: SupervisedProcess,
    files: StreamFiles,
) -> tuple[int, Ended]:
    """Run the program below the guard, on our files (DAP: RunInTerminalRequest).

    Returns its pid and the future of its end.

    Raises:
        DebuggerError: LAUNCH_FAILED.
    """
    env = dict(launched.env)
    # The request's `env` changes the environment of the user's command, not the daemon's; null
    # removes a variable (DAP: RunInTerminalRequest).
    extra_environment = dict(arguments.env or {})
    if adapter.delegated_launch is not None:
        extra_environment = dict(adapter.delegated_launch.program_environment(extra_environment))
    for key, value in extra_environment.items():
        if value is None:
            env.pop(key, None)
        else:
            env[key] = value
    return await guard.spawn_program(
        arguments.args,
        cwd=arguments.cwd or launched.cwd,
        env=env,
        stdio=(files.stdin, files.stdout, files.stderr),
    )


async def connect_started(
    guard: SupervisedProcess,
    adapter: DebugAdapter,
    found: AdapterLocation,
    *,
    port: int,
    within_s: float,
) -> tuple[SupervisedProcess | TcpConnection, tuple[str, int] | None]:
    """Return the link to a started adapter, and the adapter's address if it listens.

    Raises:
        DebuggerError: ADAPTER_FAILED.
    """
    serving = adapter.server
    if serving is not None and serving.connect is not None:
        # The port was chosen by us: nothing has to be read from the adapter's output.
        link = await connect_retrying(serving.connect, port, name=adapter.name, within_s=within_s)
        return link, _connect_address(serving.connect, port)
    # An adapter on stdio: the guard's pipes are the link.
    if found.listens is None:
        return guard, None
    port_number = await wait_for_port(guard, found.listens, name=adapter.name, within_s=within_s)
    return await TcpConnection.open_connection(_LOOPBACK, port_number), (_LOOPBACK, port_number)


async def forward_output(guard: SupervisedProcess, tell: Callable[[str], None]) -> None:
    """Forward the standard output of an adapter on TCP, to its end."""
    # Incremental: a letter of several bytes may be cut by the pipe.
    decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    def decode_chunk(chunk: bytes) -> None:
        if text := decoder.decode(chunk):
            tell(text)

    await guard.forward_output(decode_chunk)


async def wait_for_port(
    guard: SupervisedProcess, pattern: str, *, name: str, within_s: float
) -> int:
    """Wait for an adapter to print the port on which it listens.

    Raises:
        DebuggerError: ADAPTER_FAILED, with the output instead.
    """
    output = b""
    try:
        async with asyncio.timeout(within_s):
            # The end of the output before a port means that the adapter has ended: the output says
            # why.
            while chunk := await guard.read_output():
                # The line may come in pieces, and after other lines.
                output = (output + chunk)[-_OUTPUT_MAX:]
                match = re.search(pattern, output.decode(errors="replace"))
                if match:
                    return int(match["port"])
    except TimeoutError:
        pass
    raise _no_port_error(name, output.decode(errors="replace") or guard.stderr_tail())


def _no_port_error(name: str, output: str) -> DebuggerError:
    tail = output[-2000:].strip()
    return DebuggerError(
        ErrorCode.ADAPTER_FAILED,
        f"{name} did not say where it listens" + (f"; it said: {tail}" * bool(tail)),
        hint="debugger doctor tries each adapter",
    )


def _connect_address(connect: str, port: int) -> tuple[str, int]:
    host, _, number = connect.partition(":")
    # A fixed port is the user's own choice, for an adapter that cannot be given one.
    return host, port if number == "{port}" else int(number)


async def connect_retrying(connect: str, port: int, *, name: str, within_s: float) -> TcpConnection:
    """Connect to an adapter that does not report when it listens.

    Raises:
        DebuggerError: ADAPTER_FAILED.
    """
    address = _connect_address(connect, port)
    limit = asyncio.get_running_loop().time() + within_s
    while True:
        try:
            return await TcpConnection.open_connection(*address)
        except DebuggerError as error:
            if asyncio.get_running_loop().time() >= limit:
                raise DebuggerError(
                    ErrorCode.ADAPTER_FAILED,
                    f"{name} does not listen at {address[0]}:{address[1]} after {within_s:g} s",
                    hint="debugger doctor tries each adapter",
                ) from error
        # There is no event for the start of another process's listening: only trying.
        await asyncio.sleep(_AGAIN_S)


class ProgramOutput:
    """Splits the output of a program that is its own adapter: program, adapter, port."""

    def __init__(
        self,
        serving: AdapterServer | None,
        listens: str | None,
        tell: Callable[[OutputStream, str], None],
    ) -> None:
        self._own = serving.own_output if serving is not None else None
        self._listens = re.compile(listens) if listens is not None else None
        self._tell = tell
        self._line = ""
        self._output = ""
        self.port: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    @property
    def first_output(self) -> str:
        """The first part of the output."""
        return self._output

    def take_output(self, stream: OutputStream, text: str) -> None:
        """Read output; the adapter's own lines go to the console stream."""
        # The port is searched in all output: rdbg prints it among the program's own first words.
        if not self.port.done():
            self._output = (self._output + text)[-_OUTPUT_MAX:]
            match = self._listens.search(self._output) if self._listens is not None else None
            if match:
                self.port.set_result(int(match["port"]))
        if stream is not OutputStream.STDERR or self._own is None:
            self._tell(stream, text)
            return
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            own = line.startswith(self._own)
            self._tell(OutputStream.CONSOLE if own else stream, f"{line}\n")
        # An unfinished line is held back only as long as it may begin with the adapter's prefix.
        if not (self._own.startswith(self._line) or self._line.startswith(self._own)):
            self._tell(stream, self._line)
            self._line = ""


async def run_as_adapter(
    adapter: DebugAdapter,
    found: AdapterLocation,
    launch: LaunchTarget,
    *,
    guard: SupervisedProcess,
    files: StreamFiles,
    heard: ProgramOutput,
    within_s: float,
    tasks: asyncio.TaskGroup,
    listener: ProgramListener,
) -> tuple[TcpConnection | ProgramLink, int, Ended]:
    """Run a program that is its own adapter, on our files; return the link to it.

    Raises:
        DebuggerError: LAUNCH_FAILED, ADAPTER_FAILED.
    """
    serving, name = adapter.server, adapter.name
    assert serving is not None
    port = find_free_port()
    words = serving.words(found, launch, port)
    stdio = (files.stdin, files.stdout, files.stderr)
    if serving.open_link is not None:
        link = serving.open_link(tasks)
        await link.listen(listener.path, listener.close, listener.on_child)
        interpreter, *rest = words
        words = [interpreter, *serving.link_options(listener.path), *rest]
        env = serving.link_environment(launch.env, listener.path)
        pid, ended = await guard.spawn_program(words, cwd=launch.cwd, env=env, stdio=stdio)
        return link, pid, ended
    if serving.socket_variable is not None:
        await listener.listen()
        env = {**launch.env, serving.socket_variable: listener.path}
        pid, ended = await guard.spawn_program(words, cwd=launch.cwd, env=env, stdio=stdio)
        program = await _wait_for_program(
            adapter, listener, ended, launch, heard, within_s=within_s
        )
        return program, pid, ended
    pid, ended = await guard.spawn_program(words, cwd=launch.cwd, env=launch.env, stdio=stdio)
    if serving.connect is not None:
        return (
            await connect_retrying(serving.connect, port, name=name, within_s=within_s),
            pid,
            ended,
        )
    # A program that cannot even be loaded ends before it listens: its end must not cost the full
    # time.
    exit_or_port: set[asyncio.Future[Any]] = {heard.port, ended}
    await asyncio.wait(exit_or_port, timeout=within_s, return_when=asyncio.FIRST_COMPLETED)
    if not heard.port.done():
        if ended.done():
            raise _early_end_error(adapter, Path(words[0]).name, "listened", ended, heard)
        raise _no_port_error(name, heard.first_output)
    return await TcpConnection.open_connection(_LOOPBACK, heard.port.result()), pid, ended


def _early_end_error(
    adapter: DebugAdapter, name: str, missing: str, ended: Ended, heard: ProgramOutput
) -> DebuggerError:
    how = to_exited(ended.result())
    what = f"signal {how.signal}" if how.signal else f"status {how.code}"
    problem = f"{name} ended with {what} before it {missing}"
    early_output = heard.first_output.strip()
    message = f"{problem}; it said: {early_output[-2000:]}" if early_output else problem
    hint = adapter.find_launch_hint(message) or "debugger doctor tries each adapter"
    return DebuggerError(ErrorCode.LAUNCH_FAILED, message, hint=hint)


async def _wait_for_program(
    adapter: DebugAdapter,
    listener: ProgramListener,
    ended: Ended,
    launch: LaunchTarget,
    heard: ProgramOutput,
    *,
    within_s: float,
) -> TcpConnection:
    """Wait for a program to connect to a Unix socket of ours; return the link to it."""
    first: set[asyncio.Future[Any]] = {listener.program, ended}
    await asyncio.wait(first, timeout=within_s, return_when=asyncio.FIRST_COMPLETED)
    name = Path(launch.program or "").name
    if not listener.program.done():
        if ended.done():
            raise _early_end_error(adapter, name, "could be debugged", ended, heard)
        raise DebuggerError(
            ErrorCode.ADAPTER_FAILED,
            f"{name} did not connect within {within_s:g} s; another program may have started it",
            hint="debugger doctor tries each adapter",
        )
    return listener.program.result()


async def enter_process(
    adapter: DebugAdapter, target: AttachTarget, *, listener: ProgramListener, within_s: float
) -> TcpConnection:
    """Make a running process connect to a Unix socket of ours; return the link to it.

    Raises:
        DebuggerError: ADAPTER_FAILED, and those of the adapter.
    """
    await listener.listen()
    connected = listener.program
    end_entry = await adapter.enter_process(target, listener.path)
    problem = Path(f"{listener.path}.problem")
    ends_at = asyncio.get_running_loop().time() + within_s
    try:
        # A failure is a file, for which there is no event: looked for in between.
        while not connected.done() and not problem.exists():
            if asyncio.get_running_loop().time() >= ends_at:
                break
            await asyncio.wait({connected}, timeout=_AGAIN_S)
    finally:
        if end_entry is not None:
            end_entry()
    if not connected.done():
        problem_text = problem.read_text(errors="replace").strip() if problem.exists() else ""
        raise DebuggerError(
            ErrorCode.ADAPTER_FAILED,
            problem_text or f"the process did not connect within {within_s:g} s",
            hint="debugger doctor tries each adapter",
        )
    return connected.result()
