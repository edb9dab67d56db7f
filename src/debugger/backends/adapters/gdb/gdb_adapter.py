"""Describes gdb with its own adapter, for C, C++ and Rust programs. Facts are of gdb 16.3.

Missing features are added inside gdb (`gdb_inside` and the files that it loads).
"""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from debugger.backends import abilities, native_breakpoints
from debugger.backends.base import (
    AttachTarget,
    ConditionError,
    LaunchTarget,
    LogpointPassed,
    OutputPrinted,
)
from debugger.backends.dap import debug_adapter as generic
from debugger.backends.dap import messages as dap
from debugger.backends.dap.debug_adapter import (
    AdapterConnection,
    AdapterLocation,
    AdapterSearch,
    DebugAdapter,
    StreamFiles,
)
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointSpec, WatchAccess
from debugger.model.debugger_words import DebuggerTraits, LogDialect, gdb_effect
from debugger.model.events import OutputStream
from debugger.model.location import plain_function
from debugger.model.program import (
    EvaluationPurpose,
    ExceptionDetails,
    Frame,
    Register,
    RegisterGroup,
    ScopeKind,
    Stopped,
    StopReason,
    Variable,
)
from debugger.paths import data_dir
from debugger.symbols.program_file import inspect_program
from debugger.system.process_info import command_line

_ASK_S = 10.0


def gdb_output(gdb: str, *words: str) -> str | None:
    """Return the output and errors of `gdb -nx -batch`; None where it cannot be run."""
    try:
        found = Path(gdb).stat()
    except OSError:
        return None
    return _cached_output(gdb, found.st_mtime_ns, found.st_size, words)


@functools.lru_cache(maxsize=16)
def _cached_output(gdb: str, changed: int, size: int, words: tuple[str, ...]) -> str | None:
    del changed, size  # they only tell one file from the one that it was
    try:
        answer = subprocess.run(
            # -nx: the user's .gdbinit may print, fail or wait.
            [gdb, "-nx", "-batch", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_ASK_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout


_SLOTS = 4  # x86-64's debug registers
_ACCESS = {WatchAccess.WRITE: "write", WatchAccess.READ: "read", WatchAccess.ANY: "readWrite"}


class WatchBody(dap.DapBody, frozen=True):
    """The body of the answer to `debuggerWatch`."""

    id: int
    address: str
    again: str


class RegisterBody(dap.DapBody, frozen=True):
    """A register in the answer to `debuggerRegisters`."""

    name: str
    value: str


class GroupBody(dap.DapBody, frozen=True):
    """A group of registers in the answer to `debuggerRegisters`."""

    name: str
    registers: tuple[RegisterBody, ...]


class RegistersBody(dap.DapBody, frozen=True):
    """The body of the answer to `debuggerRegisters`."""

    groups: tuple[GroupBody, ...] = ()


class GdbWatchpoints:
    """Sets hardware watchpoints of gdb's own, on the memory that an expression names."""

    slot_count = _SLOTS

    def __init__(self, connection: AdapterConnection) -> None:
        self._connection = connection

    async def set_watchpoint(self, breakpoint_: Breakpoint, frame: Frame | None) -> BoundBreakpoint:
        """Set a watchpoint."""
        spec = breakpoint_.spec
        arguments = {
            "expression": spec.watch or "",
            "accessType": _ACCESS[spec.access],
            "condition": spec.condition,
            "frameId": frame.handle if frame is not None else None,
        }
        body: WatchBody = await self._connection.send_request(
            "debuggerWatch", arguments, WatchBody, failure=ErrorCode.EVALUATION_FAILED
        )
        return BoundBreakpoint(
            verified=True, backend_id=body.id, address=body.address, again=body.again
        )

    async def remove_watchpoint(self, bound: BoundBreakpoint) -> None:
        """Remove a watchpoint."""
        await self._connection.send_request(
            "debuggerUnwatch", {"id": bound.backend_id}, dap.DapBody
        )


class GdbRegisters:
    """Reads a frame's registers, in gdb's own groups."""

    def __init__(self, connection: AdapterConnection) -> None:
        self._connection = connection

    async def read_registers(self, frame: Frame) -> list[RegisterGroup]:
        """Return the groups of the frame's registers."""
        body: RegistersBody = await self._connection.send_request(
            "debuggerRegisters", {"frameId": frame.handle}, RegistersBody
        )
        return [
            RegisterGroup(
                one.name, tuple(Register(each.name, each.value) for each in one.registers)
            )
            for one in body.groups
        ]


class GdbJump:
    """Sets the program counter to a line of the same function."""

    is_stop_reported = False

    def __init__(self, connection: AdapterConnection) -> None:
        self._connection = connection

    async def jump_to(self, file: str, line: int, thread: int) -> None:
        """Move a thread's program counter."""
        arguments = {"file": file, "line": line, "threadId": thread}
        await self._connection.send_request(
            "debuggerJump", arguments, dap.DapBody, failure=ErrorCode.EVALUATION_FAILED
        )


OLDEST = 14  # the first with an adapter of its own
_SCRIPT = str(Path(__file__).parent / "inside" / "gdb_inside.py")
_VERSION = re.compile(r"^GNU gdb \(.*\) (?P<version>(?P<major>\d+)\.[\d.]+)", re.MULTILINE)
_SURROGATE = re.compile("[\ud800-\udfff]")
_SIGNAL = re.compile(r"(SIG[A-Z0-9]+): ?")
_FAILED_CONDITION = "[[condition]] "
# Scripts that come with libraries: libstdc++'s printers.
_SCRIPTS = ("/usr/share/gdb/auto-load", "/usr/local/share/gdb/auto-load")
# What gdb may load: these scripts, and libthread_db. A program's own folder is not among them.
_TRUSTED = (*_SCRIPTS, "/usr/lib", "/lib", "/lib64", "/usr/lib64")


class ExceptionBody(dap.DapBody, frozen=True):
    """The body of the answer to `debuggerException`."""

    type: str
    message: str = ""


class ExplainBody(dap.DapBody, frozen=True):
    """The body of the answer to `debuggerExplain`."""

    lines: tuple[int, ...] = ()
    names: tuple[str, ...] = ()


# -- where it is -----------------------------------------------------------------------------------


def _found_gdb(file: str, search: AdapterSearch, version: str | None) -> AdapterLocation:
    return AdapterLocation(
        (
            # -iex runs before the program is loaded, -i dap begins the adapter: our code is loaded
            # between.
            *(file, "-q", "-nx"),
            # gdb would ask a server on the network for debug information, or ask the user whether
            # to.
            *("-iex", "set debuginfod enabled off"),
            *("-iex", f"set auto-load safe-path {':'.join(_TRUSTED)}"),
            *("-iex", f"add-auto-load-scripts-directory {':'.join(_SCRIPTS)}"),
            *("-iex", f"source {_SCRIPT}"),
            *("-i", "dap"),
            *search.args,
        ),
        version=version,
    )


def _version_of(file: str) -> str | None:
    """Return the version of a usable gdb; None for one that is too old, or for no gdb."""
    answer = gdb_output(file, "-ex", "show version", "-ex", "python print('has', 'python')")
    return version_in(answer) if answer is not None else None


def version_in(answer: str) -> str | None:
    """Parse a version from gdb's output; None if it is too old, or without Python."""
    match = _VERSION.search(answer)
    if match is None or int(match["major"]) < OLDEST or "has python" not in answer:
        return None
    return match["version"].rstrip(".")


# -- how a program begins --------------------------------------------------------------------------


def plain_word(word: str) -> str:
    """Check a word for gdb's command line.

    Raises:
        DebuggerError: USAGE for a control character: a newline would begin another command.
    """
    if any(ord(letter) < ord(" ") for letter in word):
        raise DebuggerError(ErrorCode.USAGE, f"a control character in {word!r}")
    return word


def _rust_scripts(program: str, path: str) -> str | None:
    return _rust_folder(path) if inspect_program(program).language == "rust" else None


@functools.lru_cache(maxsize=8)
def _rust_folder(path: str) -> str | None:
    """Return the folder of the formatters of the caller's toolchain."""
    rustc = shutil.which("rustc", path=path)
    if rustc is None:
        return None
    try:
        answer = subprocess.run(
            [rustc, "--print", "sysroot"],
            capture_output=True,
            text=True,
            timeout=_ASK_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    folder = Path(answer.stdout.strip()) / "lib" / "rustlib" / "etc"
    return str(folder) if (folder / "gdb_lookup.py").is_file() else None


# -- what it tells ---------------------------------------------------------------------------------


# -- why a breakpoint does not bind ----------------------------------------------------------------


class GdbAdapter(DebugAdapter):
    """gdb by its own implementation of the protocol."""

    name = "gdb"
    languages = ("c", "c++", "rust", "native")
    type_languages = ("ada", "d", "fortran")
    traits = DebuggerTraits(
        own_programs=("gdb",),
        has_siginfo=True,
        return_command="return",
        log=LogDialect(thread="$_thread"),
    )
    install_command = "apt install gdb (Debian 13, Ubuntu 24.04: 14 or later is needed)"
    is_terminal = True
    # A program that gdb has launched dies with it: gdb is ended only when it hangs, not where it is
    # late on a machine with much to do.
    detach_limit_s = 16.0
    # Where gdb cannot evaluate one: see gdb_breaks.JudgedBreakpoint.
    failed_conditions_stop = True
    evaluation_contexts: ClassVar = {
        EvaluationPurpose.PRINT: ("watch",),
        EvaluationPurpose.EVALUATE: ("watch",),
        EvaluationPurpose.RAW: ("repl",),
    }
    catch_filters: ClassVar = {
        "throw": "throw",
        "catch": "catch",
        "rethrow": "rethrow",
    }
    catch_functions: ClassVar = {"panic": "rust_panic"}
    logs_at_functions = True
    own_abilities: ClassVar = {
        abilities.WatchpointAbility: GdbWatchpoints,
        abilities.RegisterAbility: GdbRegisters,
        abilities.JumpAbility: GdbJump,
    }
    request_abilities = frozenset(
        {
            abilities.DisassemblyAbility,
            abilities.ExceptionAbility,
            abilities.InstructionBreakpointAbility,
            abilities.InstructionStepAbility,
            abilities.MemoryAbility,
            abilities.ModuleAbility,
            abilities.RawCommandAbility,
            abilities.ReturnValueAbility,
            abilities.SingleThreadAbility,
        }
    )
    attaches_forks = True
    reads_exception_types = True
    has_command_line = True

    # Overrides that stand in other modules.
    # what runs inside gdb tells so
    parse_exit = staticmethod(generic.convert_exit_or_signal)
    classify_raw_command = staticmethod(gdb_effect)

    def find_installation(self, search: AdapterSearch) -> AdapterLocation | None:
        """Return the command that starts the adapter; None if it is not installed."""
        if search.path is not None:
            return _found_gdb(search.path, search, None)
        on_path = shutil.which("gdb", path=search.env.get("PATH"))
        # Debian 12's own gdb 13 is on the PATH and too old: then ours is taken.
        for file in (on_path, f"{data_dir(search.env)}/adapters/gdb/gdb"):
            # The program is run once: a file called gdb may be too old, or without Python.
            version = _version_of(file) if file is not None else None
            if file is not None and version is not None:
                return _found_gdb(str(Path(file).absolute()), search, version)
        return None

    def launch_arguments(self, launch: LaunchTarget, files: StreamFiles) -> dict[str, Any]:
        """Build the arguments of the `launch` request."""
        assert launch.program is not None
        env = launch.env
        return {
            "program": plain_word(launch.program),
            "args": list(launch.args),
            "env": {key: value for key, value in env.items() if not _SURROGATE.search(key + value)},
            "stopOnEntry": launch.stop_on_entry,
            # Not in the protocol: our code inside gdb opens them for the program.
            "stdio": [files.stdin, files.stdout, files.stderr],
            "scripts": _rust_scripts(launch.program, env.get("PATH", "")),
        }

    def attach_arguments(self, target: AttachTarget) -> dict[str, Any]:
        """Build the arguments of the `attach` request."""
        arguments: dict[str, Any] = {"stops": target.pause}
        if target.program is not None:
            arguments["program"] = plain_word(target.program)
        if target.core is not None:
            return arguments | {"core": plain_word(target.core)}
        if target.connect is not None:
            host, port = target.connect
            # An IPv6 address has colons of its own.
            named = f"[{host}]" if ":" in host else host
            return arguments | {"target": plain_word(f"{named}:{port}")}
        return arguments | {"pid": target.pid}

    def fork_arguments(self, launched: LaunchTarget | None) -> dict[str, Any]:
        """Build extra arguments for attaching to a forked process, which a SIGSTOP holds."""
        if launched is None or launched.program is None:
            return {"forked": True}
        scripts = _rust_scripts(launched.program, launched.env.get("PATH", ""))
        return {"forked": True, "scripts": scripts}

    def read_child_command(self, pid: int) -> tuple[str, ...]:
        """Return the program that a process runs, by its own path, and its arguments."""
        try:
            # A fork runs its parent's program: the command line may be any text.
            program = str(Path(f"/proc/{pid}/exe").readlink())
        except OSError:
            return ()
        return (program, *command_line(pid)[1:])

    def parse_stopped(self, body: dap.StoppedBody) -> Stopped:
        """Convert a `stopped` event (DAP: StoppedEvent)."""
        plainly = generic.parse_stopped(body)
        # gdb's own event has no name of the signal: `described` inside gdb adds it.
        match = _SIGNAL.match(plainly.description)
        if plainly.reason is StopReason.SIGNAL and match:
            return msgspec.structs.replace(plainly, signal=match[1])
        if plainly.reason is StopReason.STEP:
            return msgspec.structs.replace(plainly, handled=plainly.text)
        return plainly

    def parse_output(
        self, body: dap.OutputBody
    ) -> OutputPrinted | LogpointPassed | ConditionError | None:
        """Convert an `output` event (DAP: OutputEvent); None for one that is not for the user."""
        # The program writes to files of ours; everything that comes here is gdb's own.
        if body.output.startswith(_FAILED_CONDITION):
            return ConditionError(None, body.output.removeprefix(_FAILED_CONDITION))
        return OutputPrinted(OutputStream.CONSOLE, body.output)

    def site_key(self, one: Breakpoint) -> object:
        """Return the key of a breakpoint for gdb: all that is sent for it."""
        at, spec = one.at or one.spec, one.spec
        return (at.line, at.function, at.catch, at.type, spec.condition, spec.hit_count, spec.log)

    def format_hit_count(self, count: int) -> str:
        """Format the hit from which on a breakpoint stops."""
        # as many are ignored
        return str(count - 1)

    async def explain_unbound(
        self, connection: AdapterConnection, spec: BreakpointSpec
    ) -> BoundBreakpoint:
        """Return why a breakpoint did not bind."""

        # One request of ours for both questions.
        async def ask(**arguments: str) -> ExplainBody:
            body: ExplainBody = await connection.send_request(
                "debuggerExplain", arguments, ExplainBody
            )
            return body

        async def lines(file: str) -> Iterable[int]:
            return (await ask(file=file)).lines

        async def names(function: str, stem: str) -> Iterable[str]:
            return map(plain_function, (await ask(function=function, stem=stem)).names)

        program = connection.launch_target.program if connection.launch_target is not None else None
        return await native_breakpoints.explain_native(program, spec, lines=lines, names=names)

    async def read_argument_names(
        self, connection: AdapterConnection, frame: Frame
    ) -> list[str] | None:
        """Return the names of a frame's arguments; None if they are unknown."""
        # gdb has a scope of its own for arguments.
        known = [
            one for one in await connection.read_scopes(frame) if one.kind is ScopeKind.ARGUMENTS
        ]
        return [
            variable.name
            for scope in known
            for variable in await connection.fetch_variables(scope.handle, start=None, count=None)
        ]

    async def read_returned_value(
        self, connection: AdapterConnection, stop: Stopped, frame: Frame
    ) -> Variable | None:
        """Read a function's return value, which gdb shows as a scope after a step out."""
        if stop.reason is not StopReason.STEP or frame.index:
            return None
        # Only at the stop that ends the step, and only in the innermost frame.
        scope = next(
            (one for one in await connection.read_scopes(frame) if one.name == "Return"), None
        )
        if scope is None:
            return None
        found = await connection.fetch_variables(scope.handle, start=None, count=None)
        return found[0] if found else None

    async def read_exception(
        self, connection: AdapterConnection, stop: Stopped
    ) -> ExceptionDetails | None:
        """Return what was raised at a stop; None if `exceptionInfo` has all that is known."""
        if stop.thread is None or stop.reason not in {StopReason.EXCEPTION, StopReason.SIGNAL}:
            return None
        arguments = {"threadId": stop.thread, "signal": stop.signal}
        body: ExceptionBody = await connection.send_request(
            "debuggerException", arguments, ExceptionBody
        )
        return ExceptionDetails(type=body.type, message=body.message)

    def shorten_error(self, text: str) -> str:
        """Shorten the error of a function call that was given up."""
        line = " ".join(text.split())
        # gdb explains over several lines how a called function is unwound.
        if "while in a function called from GDB" not in line and "std::terminate call" not in line:
            return text
        received = re.search(r"received signal (SIG[A-Z0-9]+)", line)
        how = "did not finish in time"
        if received:
            how = f"received {received[1]}"
        elif "std::terminate call" in line:
            how = "threw an exception that nobody caught"
        return f"the function that was called {how} and was given up; the program is as it was"
