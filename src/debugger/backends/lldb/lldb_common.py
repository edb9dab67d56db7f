"""Defines the access to LLDB, its settings, formatters and conversions, for all its backends.

Facts are of LLDB 19.1.7 and 20.1.
"""

from __future__ import annotations

import functools
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import msgspec

from debugger.backends import lldb_text, native_breakpoints
from debugger.backends.base import AttachTarget, BackendEvent, LaunchTarget
from debugger.backends.lldb_text import quote_word
from debugger.errors import DebuggerError
from debugger.model.breakpoints import BoundBreakpoint, BreakpointSpec
from debugger.model.debugger_words import DebuggerTraits, ForkFollowing, LogDialect
from debugger.model.location import plain_function
from debugger.model.program import (
    EvaluationPurpose,
    ExceptionDetails,
    ExitedProgram,
    Frame,
    Stack,
    Stopped,
    StopReason,
    Variable,
)
from debugger.symbols.core_file import NotACore, read_core
from debugger.symbols.program_file import inspect_program


class LldbAccess(Protocol):
    """Gives access to one program in LLDB."""

    @property
    def launch_target(self) -> LaunchTarget | None:
        """The launch request; None for a target that was attached to."""

    @property
    def attach_target(self) -> AttachTarget | None:
        """The attach request; None for a launched program."""

    @property
    def breakpoint_conditions(self) -> dict[int, tuple[int, str]]:
        """Our number and the condition of each breakpoint, by LLDB's number.

        A breakpoint whose condition cannot be evaluated is reported, and does not stop.
        """

    @property
    def stop_checks(self) -> list[Callable[[Stopped], Awaitable[None]]]:
        """Callbacks that run at each stop before it is reported."""

    def report_event(self, event: BackendEvent) -> None:
        """Report an event to the session."""

    async def evaluate(
        self, expression: str, frame: Frame | None, purpose: EvaluationPurpose
    ) -> Variable:
        """Evaluate an expression."""

    async def run_raw(self, command: str, frame: Frame | None) -> str:
        """Run a command of LLDB's command line and return its output."""

    async def fetch_variables(
        self, handle: int, *, start: int | None, count: int | None
    ) -> list[Variable]:
        """Return the children of a value, or a part of them, unchanged."""

    async def read_stack(self, thread: int, *, start: int = 0, levels: int = 20) -> Stack:
        """Return some frames of a thread."""


LIST = "breakpoint list"
# Each takes up to four packets to the server, within the time of a detach.
MOST = 200  # places
TIMES = 4  # the server may have set one trap so often
_FRAME_PLACE = re.compile(r"\baddress = (?:\S+\[)?(0x[0-9a-f]+)")


def trap_addresses(listed: str) -> list[int]:
    """Parse `breakpoint list`: the addresses of breakpoints in the program."""
    unique = dict.fromkeys(int(one, 16) for one in _FRAME_PLACE.findall(listed))
    return list(unique)[:MOST]


def removal_command(address: int) -> str:
    """Return the command that makes the server remove a trap of one byte (gdb's `z0` packet)."""
    return f"process plugin packet send z0,{address:x},1"


def is_removed(answer: str) -> bool:
    """Return whether the server had a trap there."""
    return bool(re.search(r"response: OK\b", answer))


LANGUAGES = ("c", "c++", "rust", "swift", "native")
TRAITS = DebuggerTraits(
    own_programs=("lldb", "debugserver", "codelldb"),
    fork_following=ForkFollowing.NEVER,
    signal_ends_calls=True,
    # LLDB finds the end of a function's prologue by its second line; some have but one.
    stops_before_arguments=True,
    return_command="thread return",
    log=LogDialect(
        read_error=lldb_text.read_logged_error, clean_value=lldb_text.clean_logged_value
    ),
)
COMMAND_LINE_TRAITS = replace(TRAITS, log=replace(TRAITS.log, prints_control_characters=False))
# Our words for exceptions, by LLDB's filters; and those that are a call of a function.
CATCHES = {"throw": "cpp_throw", "catch": "cpp_catch"}
CATCH_FUNCTIONS = {"panic": "rust_panic", "uncaught": "std::terminate"}
# Start to first stop 360-600 ms without these, 180-250 ms with them.
_FAST = ("settings set target.preload-symbols false",)
# Not on a Mac: an app's debug information is a dSYM that Spotlight finds.
_NO_LOOKUP = (
    "settings set symbols.enable-external-lookup false",
    "settings set target.debug-file-search-paths /nonexistent",
)
# auto-confirm: nobody answers a question of LLDB's. 16384 characters of a text are shown.
_SETTINGS = (
    "settings set auto-confirm true",
    "settings set target.max-string-summary-length 16384",
)
# Integers of one byte are numbers, not characters; pointers to them (-p) stay as they are.
_NUMBERS = (
    "type format add -p -f decimal int8_t std::int8_t",
    "type format add -p -f 'unsigned decimal' uint8_t std::uint8_t",
)
# LLDB calls Rust's i8 and u8 so; its `char` is another type.
_RUST_NUMBERS = (
    "type format add -p -f decimal char",
    "type format add -p -f 'unsigned decimal' 'unsigned char'",
)
# Arrays whose length LLDB does not know: those at the end of a struct, and all that are members of
# a union of gcc's, which LLDB 19 takes for empty, as gcc writes no offset of a union's members.
_UNBOUNDED = (
    (
        r'type summary add -x "\[0?\](\[[0-9]+\])*$"'
        ' --summary-string "<length not known: print its elements>"'
    ),
    (
        r'type summary add -x "^((un)?signed )?char ?\[0?\]$"'
        ' --summary-string "${var%s} (length not known)"'
    ),
)
_CPP_FORMATTERS = str(Path(__file__).with_name("lldb_cpp.py"))
# LLDB searches the category of summaries first that was enabled last.
# Loaded behind CodeLLDB's own formatters, too, which load the toolchain's anew.
RUST_FIRST = f"command script import {quote_word(str(Path(__file__).with_name('lldb_rust.py')))}"
CATEGORY_FIRST = ("type category disable debugger-cli", "type category enable debugger-cli")
_HOLDERS = str(Path(__file__).with_name("lldb_holders.py"))
# Seconds: rustc may be rustup's shim, which looks for the toolchain first.
_RUSTC_S = 10
_SIGNAL = re.compile(r"(?:signal )?\b(SIG[A-Z0-9]+)\b")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_TABLE = re.compile(r"^0x[0-9a-f]+: (?P<file>.+?):(?P<line>\d+)", re.MULTILINE)
_INTERRUPTED = re.compile(r"(?:error: )*Execution was interrupted, reason: (.*)")
_UNREADABLE = re.compile(
    r"(?:Couldn't apply expression side effects : )?Couldn't dematerialize a result variable: "
    r"couldn't read its memory"
    r"|supposed to interpret, but failed: Interpreter couldn't read from memory"
)
_AMBIGUOUS = re.compile(r"reference to '[^'\n]+' is ambiguous")
# An error about a name, with a quotation of an expression that is nothing but this name.
_QUOTED_NAME = re.compile(r"\A([^\n]*'(\w+)'[^\n]*)\n *1 \| (?:&\()?\2\)?\n *\| *\^[~ ]*\n?\Z")
_PLACE = re.compile(r"^(?:error: )+(?:<user expression \d+>:\d+:\d+: )?", re.MULTILINE)


def build_init_commands(target: LaunchTarget | AttachTarget) -> list[str]:
    """Return LLDB's commands before a program is loaded, with the formatters of its language."""
    language = find_program_language(target)
    if language == "rust":
        return [
            *build_plain_commands(is_of_rust=True),
            *_build_rust_commands(target.env.get("PATH", "")),
        ]
    scripts = (_CPP_FORMATTERS, _HOLDERS) if language == "c++" else ()
    more = (f"command script import {quote_word(script)}" for script in scripts)
    return [*build_plain_commands(is_of_rust=False), *more]


def build_plain_commands(*, is_of_rust: bool) -> list[str]:
    """Return LLDB's commands before a program is loaded, without formatters."""
    lookup = () if sys.platform == "darwin" else _NO_LOOKUP
    # C's `char` is a letter, while Rust's i8 has this name in LLDB.
    more = _RUST_NUMBERS if is_of_rust else _UNBOUNDED
    return [*_FAST, *lookup, *_SETTINGS, *_NUMBERS, *more]


def is_rust_program(target: LaunchTarget | AttachTarget) -> bool:
    """Return whether a program is written in Rust, as far as its file can be found."""
    return find_program_language(target) == "rust"


def find_program_language(target: LaunchTarget | AttachTarget) -> str:
    """Return the language of a program, as far as its file can be found; else ""."""
    program = target.program
    if program is None and isinstance(target, AttachTarget) and target.pid is not None:
        # The link works also if the file has been deleted or replaced.
        program = f"/proc/{target.pid}/exe"
    return inspect_program(program).language if program is not None else ""


@functools.lru_cache(maxsize=8)
def _build_rust_commands(path: str) -> tuple[str, ...]:
    """Return the commands that load the Rust formatters of the caller's toolchain."""
    rustc = shutil.which("rustc", path=path)
    if rustc is None:
        return ()
    try:
        answer = subprocess.run(
            [rustc, "--print", "sysroot"],
            capture_output=True,
            text=True,
            timeout=_RUSTC_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    scripts = Path(answer.stdout.strip()) / "lib" / "rustlib" / "etc"
    if not (scripts / "lldb_commands").is_file():
        return ()
    return (
        # In this order: ours change the classes and functions of the toolchain's modules.
        f"command script import {quote_word(str(scripts / 'lldb_lookup.py'))}",
        f"command source -s true {quote_word(str(scripts / 'lldb_commands'))}",
        RUST_FIRST,
        f"command script import {quote_word(_HOLDERS)}",
    )


def sendable_environment(env: Mapping[str, str]) -> dict[str, str]:
    """Remove variables that JSON cannot carry: the program inherits them from the adapter."""
    return {key: value for key, value in env.items() if not _SURROGATE.search(key + value)}


def build_connect_commands(target: AttachTarget) -> list[str]:
    """Return the commands that connect to a debug server; none for another target."""
    # A pid and a core file have arguments of their own in the adapters' requests.
    if target.connect is None:
        return []
    host, port = target.connect
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    # Not `gdb-remote`, which takes no quotes (LLDB 19.1.7).
    return [f"process connect --plugin gdb-remote {quote_word(f'connect://{address}')}"]


def to_exited(code: int | None, last_signal: str | None) -> ExitedProgram:
    """Distinguish a death by signal N from an exit with status N: LLDB reports both as N."""
    # The program stopped at that signal before, so that the number is a signal's.
    if last_signal is not None and code == getattr(signal, last_signal, None):
        return ExitedProgram(signal=last_signal)
    if code in {signal.SIGKILL, signal.SIGALRM}:  # LLDB does not stop for these
        name = signal.Signals(code).name
        return ExitedProgram(
            code=code, doubt=f"LLDB tells status {code} and a death by {name} alike"
        )
    if code == -1:  # it was killed while LLDB had stopped it, and LLDB does not know how
        return ExitedProgram()
    return ExitedProgram(code=code)


def error_text(text: str) -> str:
    """Remove LLDB's prefixes from an error message, and replace words that only LLDB uses."""
    interrupted = _INTERRUPTED.match(text)
    # LLDB's time limit for an expression is about 0.6 s.
    if interrupted and not interrupted[1].startswith("signal"):
        # The reason is the stop before: breakpoints inside a called function do not stop it.
        return "it did not finish in time and was interrupted; the program is as it was"
    plain = _AMBIGUOUS.sub(r"\g<0>; a variable of this name may be optimized out", text)
    plain = _UNREADABLE.sub("there is no memory where it points to", _PLACE.sub("", plain))
    return _QUOTED_NAME.sub(r"\1", plain.partition("\n<lldb wrapper ")[0])


def find_signal_name(description: str) -> str | None:
    """Return the signal in a stop's description."""
    match = _SIGNAL.search(description)
    return match[1] if match else None


def signal_details(details: ExceptionDetails) -> ExceptionDetails:
    """Split LLDB's description of a stop into the signal's name and the rest."""
    match = _SIGNAL.match(details.message)
    if match:
        message = details.message[match.end() :].lstrip(": ")
        return ExceptionDetails(type=match[1], message=message)
    return details


async def settle_core_stop(lldb: LldbAccess, stop: Stopped) -> Stopped:
    """Add the fault address to a stop of a core file, which lldb-dap 19.1.7 omits."""
    # Read from the core file itself (the note with the signal's information), by our own reader.
    core = lldb.attach_target.core if lldb.attach_target is not None else None
    if stop.reason is not StopReason.SIGNAL or core is None or "fault address" in stop.description:
        return stop
    try:
        address = read_core(core).fault_address
    except (OSError, NotACore):
        return stop
    if address is None:
        return stop
    description = f"{stop.description} (fault address: {address:#x})"
    return msgspec.structs.replace(stop, description=description)


async def argument_names(lldb: LldbAccess, frame: Frame) -> list[str] | None:
    """Return the names of a frame's arguments."""
    try:
        # The protocol does not tell arguments from locals.
        text = await lldb.run_raw("frame variable --no-locals", frame)
    except DebuggerError:
        return None
    return re.findall(r"^\(.*?\) ([A-Za-z_$][\w$]*) = ", text, re.MULTILINE)


def locate_function(program: str | None, spec: BreakpointSpec) -> BreakpointSpec | BoundBreakpoint:
    """Resolve a function of a file to its line: LLDB's function breakpoints have no file."""
    return native_breakpoints.locate_in_file(program, spec)


async def explain_unbound(lldb: LldbAccess, spec: BreakpointSpec) -> BoundBreakpoint:
    """Explain why a breakpoint does not bind, with the lines or names that would."""
    program = lldb.launch_target.program if lldb.launch_target is not None else None

    async def find_code_lines(file: str) -> Iterable[int]:
        name = Path(file).name
        # By the file's name alone: LLDB compares paths as the compiler wrote them.
        table = await lldb.run_raw(f"target modules dump line-table {quote_word(name)}", None)
        entries = _LINE_TABLE.finditer(table)
        return [int(one["line"]) for one in entries if Path(one["file"]).name == name]

    async def find_function_names(_function: str, stem: str) -> Iterable[str]:
        if program is None:
            return ()
        words = f"image lookup -r -n {quote_word(re.escape(stem))} {quote_word(Path(program).name)}"
        return map(plain_function, lldb_text.parse_symbols(await lldb.run_raw(words, None)))

    return await native_breakpoints.explain_native(
        program, spec, lines=find_code_lines, names=find_function_names
    )
