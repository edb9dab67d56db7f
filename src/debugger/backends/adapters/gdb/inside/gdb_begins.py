"""Starts a program under gdb, attaches to one, or opens a core. Run inside gdb.

gdb 16.3 gives a program /dev/null to read and one pipe to write to, launches and attaches only
after the configuration (so that nothing is bound before), does not say when a program cannot be
run, and has no core files.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

gdb: Any = importlib.import_module("gdb")
server: Any = importlib.import_module("gdb.dap.server")
startup: Any = importlib.import_module("gdb.dap.startup")
events: Any = importlib.import_module("gdb.dap.events")

_WORDS = 16
# e_ident has 16 bytes, e_type 2, e_machine 2.
_HEAD = 20  # bytes of an ELF file, up to its processor
# EM_X86_64 62, EM_386 3, EM_AARCH64 183, EM_ARM 40.
_ALSO_RUNS = {62: 3, 183: 40}  # x86-64 runs i386, AArch64 may run Arm
_SURROGATES = range(0xD800, 0xE000)
_SH = "/bin/sh"


# gdb's own adapter starts the program in configurationDone: breakpoints that are set before are
# then pending, and answered as not verified. Here the program is loaded by `launch`, or attached to
# by `attach`, so that breakpoints bind at once:
#
# 1. `launch` loads the symbols, checks the program, and stores arguments, environment and files.
#    `attach` takes hold of the process, the core file or the server's program.
# 2. Breakpoints are set.
# 3. `configurationDone` answers for the start: a launched program is started up to its first
#    instruction (`starti`), with its own files as gdb's standard streams for that moment. A failure
#    fails this request.
# 4. Only then, after the answer, the program runs: to the entry function for stopOnEntry, or on. A
#    target that is to stay stopped gets a `stopped` event of ours, as gdb has told none.
#
# An error of step 1 is kept, and raised in step 3, too: gdb sends `initialized` early, so that the
# client may have sent configurationDone before it has read the answer to launch.
class _PendingStart:
    """What is to begin, from the request to the end of the configuration."""

    def __init__(self) -> None:
        self.stdio: Sequence[str] = ()
        self.is_launch = False
        self.is_core = False
        self.stops = False
        self.problem: Any = None
        self.saved: list[int] = []


_it = _PendingStart()
_state: Any = None


def _request_error(problem: object) -> Any:
    return startup.DAPException(str(problem))


def _load_program(program: str) -> None:
    """Take a program and its symbols.

    Raises:
        DAPException: gdb does not know the file's format, or cannot read it.
    """
    try:
        gdb.execute(f"file {_quote_path(program)}", to_string=True)
    except gdb.error as error:
        raise _request_error(error) from error


def _prepare_launch(**given: Any) -> None:
    """Prepare what configurationDone runs."""
    _it.is_launch = True
    _it.stdio = given.get("stdio") or ()
    _it.stops = bool(given.get("stopOnEntry"))
    if given.get("scripts"):
        _allow_formatters(given["scripts"])
    try:
        _load_program(given["program"])
        _check_processor(given["program"])
    except startup.DAPException as error:
        _it.problem = error  # gdb's `initialized` may have come before this answer: told again
        raise
    arguments = list(given.get("args") or ())
    # Without a shell gdb 16.3 cannot hand over words that are empty or hold blanks.
    # With a shell gdb quotes them itself; sh and not the user's, whose start-up files may print.
    needs_shell = any(not word or set(word) & set(" \t\n\r\f\v") for word in arguments)
    if needs_shell:
        os.environ["SHELL"] = _SH
    gdb.execute(f"set startup-with-shell {'on' if needs_shell else 'off'}", to_string=True)
    inferior = gdb.selected_inferior()
    inferior.arguments = arguments
    _set_environment(inferior, given.get("env") or {})


def _quote_path(path: str) -> str:
    """Write a path as one word of gdb's command line."""
    return "".join(f"\\{one}" if one in " \t\\'\"" else one for one in path)


def _check_processor(program: str) -> None:
    """Refuse a program of another processor: execvp would give it to a shell.

    Raises:
        DAPException: it is of another.
    """
    own, its = (_elf_machine(path) for path in ("/proc/self/exe", program))
    if its is not None and own is not None and its not in {own, _ALSO_RUNS.get(own)}:
        raise _request_error(
            f"cannot run {program}: it is for another processor (ELF machine {its})"
        )


def _elf_machine(path: str) -> int | None:
    """Return which processor an ELF file is for (System V ABI, chapter 4: e_machine)."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return None
    if len(head) < _HEAD or not head.startswith(b"\x7fELF"):
        return None
    return int.from_bytes(head[18:20], "little" if head[5] == 1 else "big")


def _allow_formatters(folder: str) -> None:
    """Let a program name formatters of its toolchain's, as Rust's do (.debug_gdb_scripts)."""
    sys.path.insert(0, folder)
    for command in ("add-auto-load-safe-path", "directory"):
        gdb.execute(f"{command} {folder}", to_string=True)


def _set_environment(inferior: Any, env: dict[str, str]) -> None:
    """Give the program its environment, and of gdb's own only what JSON cannot carry."""
    for key, value in os.environ.items():
        if not any(ord(one) in _SURROGATES for one in key + value):
            # gdb hands its own environment to the program: each variable that the request may carry
            # goes.
            inferior.unset_env(key)
    for own in ("LINES", "COLUMNS"):  # gdb's, where it thinks of a terminal
        inferior.unset_env(own)
    for key, value in env.items():
        inferior.set_env(key, value)


@contextmanager
def _on_its_files() -> Iterator[None]:
    """Have the next process that gdb starts inherit the program's files.

    They are gdb's own streams until then: `_on_process_began` takes them back as soon as the
    process is there.
    """
    opened: list[int] = []
    try:
        for number, path in enumerate(_it.stdio):
            # The files are FIFOs and terminals that our side has open already: no open blocks.
            # O_NOCTTY: gdb must not get the program's terminal as its own.
            mode = os.O_WRONLY if number else os.O_RDONLY
            opened.append(os.open(path, mode | os.O_NOCTTY | os.O_CLOEXEC))
        # gdb's adapter talks over copies of these descriptors: they are free for a moment.
        _it.saved = [os.dup(number) for number in range(len(opened))]
        for number, descriptor in enumerate(opened):
            os.dup2(descriptor, number)
    except OSError as error:
        _take_back()
        raise _request_error(f"cannot open the program's files: {error}") from error
    finally:
        for descriptor in opened:
            os.close(descriptor)
    try:
        yield
    finally:
        _take_back()


def _take_back() -> None:
    for number, descriptor in enumerate(_it.saved):
        os.dup2(descriptor, number)
        os.close(descriptor)
    _it.saved.clear()


def _on_process_began(event: Any) -> None:
    del event
    _take_back()


def _start_program() -> None:
    """Start the program up to its very first instruction.

    Raises:
        DAPException: it cannot be run.
    """
    _expect_start("process")
    with _on_its_files():
        try:
            # Up to the first instruction of the loader: the process exists, nothing of it has run.
            _run_quietly("starti")
        except startup.DAPException as error:
            text = str(error)
            # 126 and 127: the shell, or gdb's own child, could not execute it.
            if "exited with code 12" in text:
                text = "it, or the loader that it names, cannot be executed"
            raise _request_error(f"the program cannot be run: {text}") from error


def _run_quietly(command: str) -> None:
    """Run a command whose stops are not told.

    Raises:
        DAPException: it failed.
    """
    _state.is_quiet = True
    try:
        gdb.execute(command, to_string=True)
    except gdb.error as error:
        raise _request_error(error) from error
    finally:
        _state.is_quiet = False
        # Threads that appear are taken for running, and no event says otherwise.
        # gdb's adapter refuses most requests while it believes that the program runs.
        events.inferior_running = False


class _EntryBreakpoint(gdb.Breakpoint):  # type: ignore[misc]
    """Stops where the program's own code begins."""

    def stop(self) -> bool:
        """Note that this is what it stops for."""
        # The stop that follows is described as the entry (`described`).
        _state.is_entry = True
        return True


def _ada_main() -> str:
    """Return the linkage name of an Ada program's main procedure, which GNAT's binder wrote."""
    try:
        with gdb.with_parameter("language", "c"):
            text = gdb.parse_and_eval("(char *) &__gnat_ada_main_program_name").string()
    except (gdb.error, UnicodeDecodeError):
        return ""
    return str(text)


def _has_code(function: str) -> bool:
    try:
        return bool(function) and gdb.decode_line(function)[1] is not None
    except gdb.error:
        return False


def _entry_function() -> str | None:
    """Return the function that the program's own code begins with.

    In Rust it is CRATE::main; the `main` around it is the language's. So is that of Fortran, D and
    Ada.
    """
    inner_main = next((one for one in ("MAIN__", "_Dmain", _ada_main()) if _has_code(one)), None)
    if inner_main is not None:
        return inner_main
    answer = gdb.execute_mi("-symbol-info-functions", "--name", "main")
    known = answer.get("symbols", {}).get("debug", [])
    names = {one["name"].partition("(")[0] for file in known for one in file["symbols"]}
    # rustc makes a C `main` without debug information around the program's own.
    inner = sorted(name for name in names if re.fullmatch(r"\w+::main", name))
    if "main" not in names and inner:
        return str(inner[0])
    return "main" if _has_code("main") else None


def _expect_start(how: str) -> None:
    if hasattr(events, "expect_process"):  # gdb 15 and later tell of a process
        events.expect_process(how)


def _attach_to_target(**given: Any) -> None:
    """Attach to a process, a core file or a debug server, or note why that is not possible."""
    try:
        _take_hold(**given)
    except startup.DAPException as error:
        _it.problem = error  # configurationDone may have been sent already: it fails too
        raise


def _take_hold(**given: Any) -> None:
    """Take hold of a process, a core file or a debug server at once, so that breakpoints bind."""
    _it.stops = bool(given.get("stops"))
    is_child = bool(given.get("forked"))
    if given.get("scripts"):
        _allow_formatters(given["scripts"])
    if given.get("program"):
        _load_program(given["program"])
    if is_child:
        # A forked child may still be held by the parent's gdb: two tracers are not possible.
        _state.await_free(int(given["pid"]))
    if given.get("core"):
        _it.is_core = _it.stops = True
        # gdb 16 began to read words here; before, it was the rest of the line.
        core = (
            _quote_path(given["core"])
            if int(gdb.VERSION.partition(".")[0]) >= _WORDS
            else given["core"]
        )
        command = f"core-file {core}"
    elif given.get("pid") is not None:
        command = f"attach {int(given['pid'])}"
    else:
        command = f"target remote {given['target']}"
    _expect_start("attach")
    _run_quietly(command)
    if is_child:
        _state.hold_child(int(given["pid"]))
    if _it.is_core:
        # gdb would answer with success, or with a text about the target.
        for name in ("continue", "next", "stepIn", "stepOut", "pause"):
            server._commands[name] = _report_refusal  # noqa: SLF001 - gdb has no other way


def _on_configured(**given: Any) -> None:
    """Let it begin."""
    del given
    if _it.problem is not None:
        raise _it.problem
    if _it.is_launch:
        server.send_gdb_with_response(_start_program)
        # Posted, not awaited: the answer to configurationDone goes out before the program runs.
        server.send_gdb(_begin_launched)
    else:
        server.send_gdb(_begin_attached)


def _begin_launched() -> None:
    try:
        entry = _entry_function() if _it.stops else None
    except gdb.error:  # it is stopped at the very beginning then
        entry = None
    if entry is not None:
        # Internal: it has a negative number, and no list of the client's contains it.
        _EntryBreakpoint(function=entry, temporary=True, internal=True)
    elif _it.stops:
        _state.tell_stop("entry", "")
        return
    _go_on()


def _begin_attached() -> None:
    number = gdb.convenience_variable("_exitsignal") if _it.is_core else None
    if number is not None:
        name = _state.signal_name(int(number))
        _state.tell_stop("signal", f"{name}: {_state.meaning(name)}")
    elif _it.stops:
        _state.tell_stop("pause", "")
    else:
        _go_on()


def _go_on() -> None:
    _state.execute("continue")


def _report_refusal(**given: Any) -> None:
    del given
    raise _request_error("a core file is a program's past: it does not run")


def begin(state: Any, replaced: Any) -> None:
    """Take over the requests that begin."""
    global _state  # noqa: PLW0603 - there is one program
    _state = state
    replaced("launch", _prepare_launch, expect_stopped=False)
    replaced("attach", _attach_to_target, expect_stopped=False)
    replaced("configurationDone", _on_configured, on_dap_thread=True, expect_stopped=False)
    gdb.events.new_thread.connect(_on_process_began)
