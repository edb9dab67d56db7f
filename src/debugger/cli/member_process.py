"""Turns this process into a rank's program, with a debugger attached before its first instruction.

A launcher starts `debugger member -- PROGRAM` in the place of PROGRAM. The process becomes the
program by exec, so that the launcher sees the same process, streams, signals and exit status. A
Python program connects to its debugger by itself. Any other is held at its first instruction by a
helper process until the daemon has attached (`entry_hold`).
"""

from __future__ import annotations

import contextlib
import os
import signal

from debugger.system import entry_hold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, NoReturn

    # Sends a command to the daemon; returns its answer.
    Ask = Callable[[list[str]], dict[str, Any]]

# As a shell reports a program that cannot be run, or is not found.
_NOT_RUN, _NOT_FOUND = 126, 127
_ALONE = "the program runs without a debugger"


def run_member(
    argv: Sequence[str],
    ask: Ask,
    report: Callable[[dict[str, Any]], int],
    *,
    is_typed: bool = True,
) -> int:
    """Become the program of a `member` command; returns only if it cannot be.

    Args:
        argv: The command's words.
        ask: Asks the daemon.
        report: Prints a failed answer, and returns the exit code.
        is_typed: The user has put the command before the program; `start --group` does it, too.
    """
    at = argv.index("--") if "--" in argv else len(argv)
    process = f"--process={os.getpid()}:{os.getppid()}"
    words = [*argv[:at], process, *argv[at:]]
    answer = ask(words)
    plan = answer.get("result")
    if not answer.get("success") or not isinstance(plan, dict):
        if "--or-alone" in argv[:at]:
            return _become_program(argv[at + 1], argv[at + 1 :], dict(os.environ))
        return report(_without_own_words(answer, process, is_typed=is_typed)) or _NOT_RUN
    if plan["is_held"]:
        if not entry_hold.is_supported():
            _write_error("member needs Linux on x86-64 or AArch64")
            return _NOT_RUN
        _start_helper([*argv[:at], process], list(argv[at:]), ask)
    return _become_program(plan["program"], plan["words"], dict(plan["env"]))


def _without_own_words(answer: dict[str, Any], process: str, *, is_typed: bool) -> dict[str, Any]:
    """Return a failed answer with a hint of the user's own words, or none if there are none."""
    error = dict(answer.get("error") or {})
    hint = str(error.get("hint") or "").replace(f" {process}", "") if is_typed else ""
    return {**answer, "error": {**error, "hint": hint or None}}


def _become_program(program: str, words: Sequence[str], env: dict[str, str]) -> int:
    # Python ignores these, and what is ignored stays so through exec.
    for name in ("SIGPIPE", "SIGXFSZ"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        os.execve(program, list(words), env)  # noqa: S606 - no shell is the point
    except OSError as error:
        _write_error(f"cannot run {program}: {error.strerror}")
        return _NOT_FOUND if isinstance(error, FileNotFoundError) else _NOT_RUN


def _start_helper(options: list[str], command: list[str], ask: Ask) -> None:
    """Start the process that holds the program, and wait until it sees this one's exec."""
    entry_hold.allow_any_tracer()
    rank = os.getpid()
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        # A child of the program would be the program's to wait for: the helper is nobody's.
        if os.fork():
            os._exit(0)
        _run_helper(rank, writing, options, command, ask)
    os.close(writing)
    os.waitpid(child, 0)
    os.read(reading, 1)  # empty if the helper has ended: the program runs without a debugger
    os.close(reading)


def _run_helper(
    rank: int, writing: int, options: list[str], command: list[str], ask: Ask
) -> NoReturn:
    """Hold the program of a rank until its debugger has attached; then end."""
    try:
        os.setsid()  # a launcher ends a rank's process group
        _close_descriptors(keep={2, writing})
        entry_hold.trace_exec(rank)
        os.write(writing, b"1")
        os.close(writing)
        entry = entry_hold.hold_after_exec(rank)
        if entry is not None:
            option = f"--entry={entry[0]:#x}:{entry[1].hex()}"
            _attach_held(rank, entry, [*options, option], command, ask)
    except OSError as error:
        _write_error(f"{_ALONE}: {error}")
    finally:
        os._exit(0)


def _attach_held(
    rank: int, entry: tuple[int, bytes], options: list[str], command: list[str], ask: Ask
) -> None:
    problem = "the daemon is gone"
    try:
        answer = ask([*options, *command])
        if answer.get("success"):
            return
        problem = str((answer.get("error") or {}).get("message") or problem)
    except Exception as error:  # noqa: BLE001 - whatever it is, the program must not stay held
        problem = str(error) or problem
    try:
        entry_hold.release_running(rank, *entry)
    except (FileNotFoundError, ProcessLookupError):
        return  # it has ended
    _write_error(f"{_ALONE}: {problem}")


def _write_error(text: str) -> None:
    with contextlib.suppress(OSError):  # the launcher has closed it
        os.write(2, f"error: debugger member: {text}\n".encode())


def _close_descriptors(keep: set[int]) -> None:
    """Close what the launcher gave the rank: it waits for the end of streams that we would hold."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    for name in os.listdir("/proc/self/fd"):
        number = int(name)
        if number > 1 and number not in keep:
            try:
                os.close(number)
            except OSError:  # the listing's own
                continue
