"""Runs one command: finds the daemon, sends the request, prints the answer."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found] # `signal` costs the client its start-up time
import gc
import os
import stat
import sys

from debugger import __version__, paths
from debugger.daemon import protocol, transport

TYPE_CHECKING = False  # `typing` costs the client a fifth of Python's own start
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from debugger.errors import DebuggerError

_PART = 3  # as `ExitCode.STILL_RUNNING`
INTERRUPTED = 130  # as a shell reports a program that Ctrl-C ended
# What a shell says of a program that SIGPIPE ended.
_NOBODY_READS = 141

_INTERRUPT_S = 15.0  # a question ends its program, and tells what it has
_STATUS_S = 5.0
_STOP_S = 10.0  # seconds for `daemon stop`, which ends the sessions first
_LOG_LINES = 200

_REQUEST = 1  # the id of the command's request
_CANCEL = 2  # the id of the request that cancels it

# Commands whose last words are an expression, and the words of one in which the shell may have put
# the names of files in place of a `*`.
EXPRESSION_COMMANDS = frozenset(
    {"print", "p", "eval", "expr", "call", "watch", "holds", "set", "display", "evaluate", "pp"}
)
_LONG_EXPRESSION = 3

_progress = ""


def run_command(argv: Sequence[str] | None = None, *, daemon: Sequence[str] | None = None) -> int:
    """Run one command, and return its exit code.

    Args:
        argv: The command's words; without it the process's own.
        daemon: What Python runs when no daemon is there.
    """
    words = sys.argv[1:] if argv is None else list(argv)
    as_json = protocol.has_option(words, "--json")
    try:
        return _run_command(words, daemon)
    except KeyboardInterrupt:
        _show_progress("")
        return INTERRUPTED
    except _OutputClosed:
        # What Python still holds for stdout must not fail again when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return _NOBODY_READS
    except _debugger_error() as error:
        return _report_error(error, as_json=as_json)
    except TimeoutError:
        return _report_error(_no_answer_error(), as_json=as_json)
    except OSError as error:
        return _report_error(_os_error(error), as_json=as_json)


def run_process() -> int:
    """Run the process's own command, and end the process without Python's slow clean-up.

    If threads may still have work (an MCP server, a coverage measurement), the exit code is
    returned, and Python ends normally.
    """
    code = run_command()
    # Whether there may be threads at all; the import itself would cost time.
    if "threading" in sys.modules:
        return code
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):  # closed: Python says so
            return code
    os._exit(code)


class _OutputClosed(Exception):
    """Standard output is closed at the other end."""


class _DaemonGone(Exception):
    """The daemon closed the connection before it answered."""


def _run_command(argv: list[str], daemon: Sequence[str] | None) -> int:
    _refuse_shell_words(argv)
    command = protocol.command_words(argv)[:2]
    if command[:1] == ["help"]:
        at = argv.index("help")
        argv = [*argv[:at], *argv[at + 1 :], "--help"]
    if command == ["version"]:
        argv, command = ["--version"], []
    is_local = not argv or command[:1] in (["completion"], ["skill"])
    if is_local or protocol.has_option(argv, "--help", "-h"):
        return _print_local_answer(argv, command)
    if command == ["daemon", "connect"] or command[:1] in (["mcp"], ["dap"], ["ui"], ["tui"]):
        return _serve_door(argv, command[0], daemon)
    if command[:1] == ["member"]:
        return _become_member(argv, daemon)
    if not command and protocol.has_option(argv, "--version"):
        _write_stdout(f"debugger {__version__}\n")
        return 0
    directory = paths.runtime_dir()
    # The daemon of another host is asked by the one here.
    is_here = not protocol.has_value_option(argv, *protocol.HOST_OPTIONS)
    if command[:1] == ["daemon"] and is_here:
        return _run_daemon_command(argv, directory, command, daemon)
    return _print_answer(_ask_daemon(argv, directory, command, daemon), argv)


def _refuse_shell_words(argv: list[str]) -> None:
    """Refuse `print a->b`, of which the shell wrote the answer to the file `b`."""
    try:
        is_file = stat.S_ISREG(os.fstat(1).st_mode)
    except OSError:
        is_file = False
    may_be_starred = len(argv) > _LONG_EXPRESSION and argv[0] in EXPRESSION_COMMANDS
    if is_file or may_be_starred:
        # Rare, and its imports cost the client time.
        from debugger.cli import shell_expansion

        shell_expansion.refuse_shell_words(argv)


def _run_daemon_command(
    argv: list[str], directory: str, command: list[str], daemon: Sequence[str] | None
) -> int:
    if command == ["daemon", "logs"]:
        return _show_logs(argv, directory)
    if command in (["daemon", "status"], ["daemon", "stop"]):
        return _request_if_running(argv, directory, stops=command[1] == "stop")
    return _print_answer(_ask_daemon(argv, directory, command, daemon), argv)


def _print_local_answer(argv: list[str], command: list[str]) -> int:
    """Answer what needs no daemon."""
    if command == ["completion", "configs"]:
        # The shells ask at a press of a key: the registry would take most of a second.
        from debugger.targets.launch_json import launch_file

        names = launch_file.configuration_names(_runtime_directory())
        _write_stdout("".join(f"{name}\n" for name in names))
        return 0
    # click, for what a person reads.
    from debugger.cli import local_answers

    return local_answers.print_local_answer(argv)


def _serve_door(argv: list[str], door: str, daemon: Sequence[str] | None) -> int:
    """Serve another protocol than ours, on stdio or a local port, until its other side goes."""
    if door == "ui":
        from debugger.ui import ui_main

        return ui_main.run_page(argv)
    if door == "tui":
        from debugger.tui import tui_main

        return tui_main.run_screen(argv)
    if door == "mcp":
        # A server of its own, with all that the SDK brings. Its models are tens of thousands of
        # objects, and all of them stay: looking through them again and again would be a fifth of
        # the start, and taking them apart most of the end.
        gc.disable()
        from debugger.mcp import mcp_main

        return mcp_main.run_server(argv)
    if door == "daemon":  # that of another host's client
        from debugger.cli import host_pipe

        return host_pipe.run_pipe(argv, daemon)
    from debugger.cli import editor_pipe

    directory = paths.runtime_dir()
    return editor_pipe.run_door(
        argv,
        lambda: transport.connect_daemon(directory) or _start_daemon(directory, daemon),
        _build_request(argv),
    )


def _become_member(argv: list[str], daemon: Sequence[str] | None) -> int:
    """Become the program that a launcher starts; returns only if it cannot be run."""
    # A helper of it needs ptrace, and with it ctypes.
    from debugger.cli import member_process

    # That of the launcher's own daemon, which `targets.launchers` sets; the program does without.
    own = os.environ.pop("DEBUGGER_MEMBER_DAEMON", "")
    directory = own or paths.runtime_dir()
    os.environ.pop("DEBUGGER_MEMBER_PYTHON", None)
    group = os.environ.pop("DEBUGGER_MEMBER_GROUP", "")
    if argv[1:2] == ["--shell"]:
        words = [*argv[:2], "--group", group, *argv[2:]]
        return _print_answer(_ask_daemon(words, directory, ["member"], daemon), words)
    return member_process.run_member(
        argv,
        lambda words: _ask_daemon(words, directory, ["member"], daemon, wants_result=True),
        lambda answer: _print_answer(answer, argv),
        is_typed=not own,
    )


def _ask_daemon(
    argv: list[str],
    directory: str,
    command: list[str],
    daemon: Sequence[str] | None,
    *,
    wants_result: bool = False,
) -> dict[str, Any]:
    """Send a command to the daemon, which is started if need be; return its answer."""
    # A daemon that is just ending refuses, or hangs up; its successor will answer.
    for _ in range(3):
        connection = transport.connect_daemon(directory) or _start_daemon(directory, daemon)
        try:
            answer = _send_and_receive(connection, argv, wants_result=wants_result)
        except _DaemonGone:
            _raise_if_daemon_died(directory, command, connection.peer_pid())
            continue
        finally:
            connection.close()
        if not answer.get("retry"):
            return answer
    raise _no_answer_error()


def _request_if_running(argv: list[str], directory: str, *, stops: bool) -> int:
    connection = transport.connect_daemon(directory)
    if connection is None:
        return _say_not_running(argv)
    try:
        answer = _send_and_receive(connection, argv, timeout=_STOP_S if stops else _STATUS_S)
        if stops:
            # The daemon's process itself holds this connection open to its very end.
            while connection.receive_line(_STOP_S) is not None:
                pass
    except _DaemonGone:
        return _say_not_running(argv)
    finally:
        connection.close()
    return _say_not_running(argv) if answer.get("retry") else _print_answer(answer, argv)


def _start_daemon(directory: str, daemon: Sequence[str] | None) -> transport.DaemonConnection:
    # Starting a process costs more than the import does.
    from debugger.daemon import daemon_process

    return daemon_process.connect_or_start(
        directory, daemon_process.DAEMON if daemon is None else daemon, say=_write_note
    )


def _send_and_receive(
    connection: transport.DaemonConnection,
    argv: list[str],
    *,
    timeout: float | None = None,
    wants_result: bool = False,
) -> dict[str, Any]:
    """Send the command, print streamed text, and return the answer."""
    line = protocol.encode_message({**_build_request(argv), "result": wants_result})
    if len(line) > protocol.MAX_BYTES:
        raise _malformed_error(
            f"the command and its environment have {len(line)} bytes, a message at most "
            f"{protocol.MAX_BYTES}"
        )
    connection.send_line(line)
    # SIGTERM is as Ctrl-C: `timeout 60 debugger …` gets what is known by then.
    numbers: list[int] = []

    def interrupt(number: int, _frame: object) -> None:
        numbers.append(number)
        raise KeyboardInterrupt

    before = _signal.signal(_signal.SIGTERM, interrupt)
    try:
        return _wait_for_answer(connection, timeout)
    except KeyboardInterrupt:
        # The daemon ends the wait and says where the program is; a second Ctrl-C ends us.
        connection.send_line(
            protocol.encode_message({"v": protocol.VERSION, "id": _CANCEL, "cancel": _REQUEST})
        )
        try:
            answer = _wait_for_answer(connection, _INTERRUPT_S)
        except TimeoutError:
            # The daemon does not answer any more, so the process ends as interrupted.
            raise KeyboardInterrupt from None
        # A part of an answer: a script sees that it is by Ctrl-C, and ends, too.
        is_part = answer.get("exit") == _PART and not numbers
        return {**answer, "exit": INTERRUPTED} if is_part else answer
    finally:
        _signal.signal(_signal.SIGTERM, before)


def _wait_for_answer(
    connection: transport.DaemonConnection, timeout: float | None
) -> dict[str, Any]:
    has_streamed = False
    while True:
        try:
            raw = connection.receive_line(timeout)
            if raw is None:
                raise _DaemonGone
            message = protocol.decode_message(raw)
        except protocol.MalformedMessage as error:
            raise _malformed_error(f"the daemon's answer: {error}") from None
        except transport.MessageTooLong:
            raise _malformed_error(
                f"the daemon's answer is over {protocol.MAX_BYTES} bytes"
            ) from None
        # An answer without an id is to bytes that the daemon could not read as a request.
        if message.get("id") not in (_REQUEST, None):
            continue
        if "progress" in message:
            # A line of progress would stand in the middle of the output.
            if not has_streamed:
                _show_progress(str(message["progress"]))
            continue
        _show_progress("")
        if "stream" not in message:
            return message
        has_streamed = True
        _write_stdout(str(message["stream"]))


def _show_progress(text: str) -> None:
    """Show the progress on the terminal in place of the previous text; "" clears it."""
    global _progress  # noqa: PLW0603 - what the terminal's last line shows
    if text or _progress:
        _print_aside(f"\r\x1b[K{text[: _terminal_width(2) - 1]}")
    _progress = text


def _build_request(argv: list[str]) -> dict[str, Any]:
    tty = sys.stdout is not None and sys.stdout.isatty()
    return {
        "v": protocol.VERSION,
        "id": _REQUEST,
        "argv": argv,
        "cwd": _runtime_directory(),
        "env": dict(os.environ),
        "width": _terminal_width() if tty else 80,
        "tty": tty,
        # It is one line that changes, which a dumb terminal cannot show.
        "progress": sys.stderr is not None
        and sys.stderr.isatty()
        and os.environ.get("TERM") != "dumb",
        "client": __version__,
        "result": False,  # it prints the text
    }


def _print_answer(answer: dict[str, Any], argv: list[str]) -> int:
    if note := answer.get("note"):
        _write_note(str(note))
    text = answer.get("text")
    if text:
        _write_stdout(text if text.endswith("\n") else f"{text}\n")
    if not answer.get("success") and text is None:
        error = answer.get("error") or {}
        _print_error(
            str(error.get("code")),
            str(error.get("message")),
            error.get("hint"),
            as_json=protocol.has_option(argv, "--json"),
        )
    code = answer.get("exit")
    return code if isinstance(code, int) else 1


def _raise_if_daemon_died(directory: str, command: list[str], daemon_pid: int | None) -> None:
    """Raise if the daemon crashed; return if it ended in good order."""
    state = transport.read_state(directory)
    if state is None or state.get("closing"):
        return
    if daemon_pid is not None and daemon_pid != state.get("pid"):  # its successor's, which lives
        return
    from debugger.daemon import daemon_process
    from debugger.errors import DebuggerError, ErrorCode

    ran = " ".join(command) or "the command"
    raise DebuggerError(
        ErrorCode.INTERNAL,
        f"the daemon died while it ran '{ran}'; {daemon_process.describe_lost_sessions(state)}",
        hint="debugger daemon logs shows why; debugger start PROGRAM begins anew",
    )


def _say_not_running(argv: list[str]) -> int:
    if protocol.has_option(argv, "--json"):
        _write_stdout('{"ok":true,"data":{"running":false}}\n')
    else:
        _write_stdout("daemon: not running\n")
    return 0


def _show_logs(argv: list[str], directory: str) -> int:
    if len(argv) > len(("daemon", "logs")):
        # Its imports cost the client time.
        from debugger.cli import local_answers

        local_answers.check_words(argv)
    path = f"{directory}/{paths.LOG}"
    lines = paths.log_tail(path, lines=_LOG_LINES)
    if protocol.has_option(argv, "--json"):
        _write_stdout(
            protocol.encode_ascii({"ok": True, "data": {"path": path, "lines": lines}}) + "\n"
        )
    else:
        _write_stdout("".join(f"{line}\n" for line in lines) or f"no log at {path}\n")
    return 0


def _write_stdout(text: str) -> None:
    if sys.stdout is None:
        return
    try:
        try:
            sys.stdout.write(text)
        except UnicodeEncodeError:
            # Output of a program may have any character; a terminal in the C locale has few.
            encoding = sys.stdout.encoding
            sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
        sys.stdout.flush()
    except BrokenPipeError:
        raise _OutputClosed from None


def _write_note(text: str) -> None:
    _print_aside(f"note: {text}\n")


def _print_aside(text: str) -> None:
    if sys.stderr is None:
        return
    try:
        # Python's stderr escapes what its encoding cannot hold.
        sys.stderr.write(text)
        sys.stderr.flush()
    except BrokenPipeError:
        return


def _print_error(code: str, message: str, hint: str | None, *, as_json: bool) -> None:
    if as_json:
        error = {"code": code, "message": message, "hint": hint}
        _write_stdout(protocol.encode_ascii({"ok": False, "error": error}) + "\n")
        return
    _print_aside(f"error: {message}\n" + (f"hint: {hint}\n" if hint else ""))


def _report_error(error: DebuggerError, *, as_json: bool) -> int:
    try:
        _print_error(error.code.value, error.message, error.hint, as_json=as_json)
    except _OutputClosed:
        return _NOBODY_READS
    return int(error.exit_code)


def _malformed_error(message: str) -> DebuggerError:
    from debugger.errors import DebuggerError, ErrorCode

    return DebuggerError(ErrorCode.PROTOCOL, message, hint="debugger daemon stop")


def _no_answer_error() -> DebuggerError:
    from debugger.errors import DebuggerError, ErrorCode

    pid = (transport.read_state(paths.runtime_dir()) or {}).get("pid")
    if pid is None:
        return DebuggerError(
            ErrorCode.TIMEOUT, "the daemon does not answer", hint="debugger daemon logs"
        )
    return DebuggerError(
        ErrorCode.TIMEOUT,
        f"the daemon (pid {pid}) does not answer",
        hint=f"debugger daemon logs; kill {pid} ends it",
    )


def _os_error(error: OSError) -> DebuggerError:
    from debugger.errors import DebuggerError, ErrorCode

    return DebuggerError(ErrorCode.INTERNAL, str(error), hint="debugger daemon logs")


def _debugger_error() -> type[DebuggerError]:
    """Return the exception class; imported only after a failure, because errors imports enum."""
    from debugger.errors import DebuggerError

    return DebuggerError


def _runtime_directory() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        # Removed under us; only a command that starts a program needs to complain.
        return os.environ.get("PWD", "/")


def _terminal_width(descriptor: int = 1) -> int:
    try:
        return os.get_terminal_size(descriptor).columns or 80
    except OSError:
        return 80
