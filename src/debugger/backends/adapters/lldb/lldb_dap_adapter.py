"""Describes lldb-dap, and adds by LLDB's command line what it lacks. Facts are of lldb-dap 19.1.7.

The protocol's requests are missing for these, or say too little: lldb-dap 19.1.7 crashes at most of
them.
"""

from __future__ import annotations

import dataclasses
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from debugger.backends import abilities, lldb_text
from debugger.backends.base import AttachTarget, LaunchTarget, LogpointPassed, OutputPrinted
from debugger.backends.dap import dap_convert
from debugger.backends.dap import debug_adapter as generic
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.debug_adapter import (
    AdapterConnection,
    AdapterLocation,
    AdapterSearch,
    DebugAdapter,
    StreamFiles,
)
from debugger.backends.lldb import (
    lldb_abilities,
    lldb_common,
    lldb_exceptions,
    lldb_values,
    lldb_watchpoints,
)
from debugger.backends.lldb.lldb_faults import WithheldFaults
from debugger.backends.lldb.lldb_steps import LldbSteps
from debugger.backends.lldb_text import quote_word
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointKind
from debugger.model.debugger_words import lldb_effect
from debugger.model.events import OutputStream
from debugger.model.program import (
    EvaluationPurpose,
    ExceptionDetails,
    Frame,
    Instruction,
    ResumeKind,
    Stopped,
    StopReason,
    Variable,
)

# Lookups for one listing: as many functions may be in it.
_FILES_MAX = 16


class LldbDapDisassembly:
    """The disassemble request, with each instruction's function, which it omits."""

    def __init__(self, connection: AdapterConnection) -> None:
        self._connection = connection

    async def read_instructions(self, address: int, count: int) -> list[Instruction]:
        """Return `count` instructions from an address on."""
        body = await self._connection.send_request(
            "disassemble",
            ask.DisassembleArguments(hex(address), count),
            dap.DisassembleBody,
            failure=ErrorCode.EVALUATION_FAILED,
        )
        instructions = dap_convert.to_instructions(
            await _add_files(self._connection, body.instructions)
        )
        if not instructions:
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED, f"no code at {address:#x}", hint="debugger disassemble"
            )
        # The request has lines, the command has functions: both lists are of the same instructions.
        text = await self._connection.run_raw(
            f"disassemble --start-address {address:#x} --count {count}", None
        )
        names = lldb_text.parse_functions(text)
        # Code behind a section's last function has no heading of its own.
        looked_up = await self._connection.run_raw(
            f"image lookup --verbose --address {address:#x}", None
        )
        _, end = lldb_text.parse_function_range(looked_up) or (0, None)
        own = names.get(address)
        names = {
            position: name
            for position, name in names.items()
            if end is None or position < end or name != own
        }
        return [
            msgspec.structs.replace(
                one,
                # lldb-dap puts the function's name before the first instruction's text, and aligns
                # with blanks.
                text=" ".join(one.text.removeprefix(f"{names.get(one.address)}: ").split()),
                bytes=one.bytes.lower(),
                function=one.function or names.get(one.address),
            )
            for one in instructions
        ]


async def _add_files(
    connection: AdapterConnection, found: Sequence[dap.DapInstruction]
) -> list[dap.DapInstruction]:
    """Add the file to instructions that have only a line: CodeLLDB 1.11.8 sends it now and then.

    lldb-dap 19 sends the line only where a line begins: the first instruction may have none.
    """
    # A listing may begin in the middle of a line.
    if found and not found[0].line:
        text = await connection.run_raw(
            f"image lookup --verbose --address {found[0].address}", None
        )
        path, line = lldb_text.parse_line_file(text), lldb_text.parse_line_number(text)
        if path is not None and line:
            first = msgspec.structs.replace(found[0], location=dap.DapSource(path=path), line=line)
            found = [first, *found[1:]]
    files: dict[str | None, dap.DapSource | None] = {
        one.symbol: one.location for one in found if one.location is not None
    }
    for one in found:
        if one.line and one.symbol and one.symbol not in files and len(files) < _FILES_MAX:
            text = await connection.run_raw(f"image lookup --verbose --address {one.address}", None)
            path = lldb_text.parse_line_file(text)
            files[one.symbol] = dap.DapSource(path=path) if path is not None else None
    return [
        msgspec.structs.replace(one, location=files.get(one.symbol))
        if one.location is None and one.line
        else one
        for one in found
    ]


class LldbDapInstructionBreakpoints:
    """Breakpoints at addresses, at which a step may be lost as at those of lines."""

    def __init__(self, connection: AdapterConnection) -> None:
        self._connection = connection
        self._own = lldb_abilities.LldbInstructionBreakpoints(connection)

    async def set_instruction_breakpoints(
        self, breakpoints: Sequence[Breakpoint]
    ) -> list[BoundBreakpoint]:
        """Replace the breakpoints at addresses."""
        bounds = await self._own.set_instruction_breakpoints(breakpoints)
        if self._connection.step_keeper is not None:
            bounds = await self._connection.step_keeper.note_breakpoints("*", breakpoints, bounds)
        return bounds


class LldbDapInstructionSteps:
    """Steps by an instruction, which may be lost at a breakpoint."""

    def __init__(self, connection: AdapterConnection) -> None:
        self._connection = connection
        self._own = lldb_abilities.LldbInstructionSteps(connection)

    async def step_instruction(self, how: ResumeKind, thread: int) -> None:
        """Step into, or over calls."""
        if self._connection.step_keeper is not None:
            await self._connection.step_keeper.begin_step(how, thread, by_instruction=True)
        await self._own.step_instruction(how, thread)


# There is no ThreadsAlone: after `thread continue N` and a pause, lldb-server answers no more.
ABILITIES: Mapping[type[Any], Any] = {
    abilities.DisassemblyAbility: LldbDapDisassembly,
    abilities.InstructionBreakpointAbility: LldbDapInstructionBreakpoints,
    abilities.InstructionStepAbility: LldbDapInstructionSteps,
    abilities.JumpAbility: lldb_abilities.LldbJump,
    abilities.MemoryAbility: lldb_abilities.LldbMemory,
    abilities.RegisterAbility: lldb_abilities.LldbRegisters,
    abilities.WatchpointAbility: lldb_watchpoints.LldbWatchpoints,
}
HAS = frozenset(
    {
        abilities.ExceptionAbility,
        abilities.ModuleAbility,
        abilities.RawCommandAbility,
        abilities.ReturnValueAbility,
        abilities.StepTargetAbility,
    }
)


# Debian names the program by LLDB's version.
_NEWEST_FIRST = range(30, 13, -1)
_XCRUN_S = 10
_WATCHPOINT_HIT = re.compile(r"\s*Watchpoint \d+ hit:\s|(?:old|new) value: .*\n\Z")
_WATCHPOINT = re.compile(r"watchpoint (\d+)")
# A pause that comes while LLDB is at a breakpoint of its own, as at the loader's, or leaves it.
_INTERNAL = re.compile(r"trace|breakpoint(?: -\d+\.\d+)+")


def build_missing_hint(platform: str) -> str:
    """Return how to get lldb-dap, or do without, on a system."""
    without = "LLDB's own command line does without it: --backend lldb-cli"
    if platform == "darwin":
        return f"Xcode 16 brings it (xcode-select --install; xcrun --find lldb-dap); {without}"
    return f"debugger setup lldb-dap --yes installs it; {without}"


def _find_by_xcrun(search: AdapterSearch) -> AdapterLocation | None:
    try:
        answer = subprocess.run(
            ["/usr/bin/xcrun", "--find", "lldb-dap"],
            capture_output=True,
            text=True,
            timeout=_XCRUN_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    path = answer.stdout.strip()
    return AdapterLocation((path, *search.args)) if path else None


def make_lldb_steps(
    connection: AdapterConnection, *, counts_alone: bool = False, misplaces: bool = False
) -> LldbSteps:
    """Build the step keeper; both adapters log at lines by themselves."""

    async def note_moved_log(number: int, breakpoint_: Breakpoint, owner: int) -> None:
        # A moved logpoint is set by a command: it stops, and we log.
        del number
        if breakpoint_.spec.log is not None:
            connection.breakpoint_logs[owner] = (breakpoint_.id, breakpoint_.spec.log)

    return LldbSteps(
        connection,
        logging={BreakpointKind.LINE},
        on_moved=note_moved_log,
        counts_alone=counts_alone,
        misplaces=misplaces,
    )


class LldbDapAdapter(DebugAdapter):
    """lldb-dap, which comes with LLDB."""

    name = "lldb-dap"
    languages: tuple[str, ...] = lldb_common.LANGUAGES
    traits = dataclasses.replace(lldb_common.TRAITS, has_kernel_thread_ids=True)
    missing_hint = build_missing_hint(sys.platform)
    install_command = "apt install lldb-19 (Debian), brew install llvm (macOS)"
    # It writes to lldb-server, which may have ended with the program.
    ignores_sigpipe = True
    is_terminal = True
    evaluation_contexts: ClassVar = {
        # `watch` evaluates any C++ expression, `hover` only variable paths.
        EvaluationPurpose.PRINT: ("watch", "hover"),
        EvaluationPurpose.EVALUATE: ("watch",),
        # In `repl` a backtick makes a text a command, even where it could be an expression.
        EvaluationPurpose.RAW: ("repl",),
    }
    assigns_by_expression = True
    clears_before_detach = True
    # It takes 5 s for a program that it launched, and longer where breakpoints are hot.
    detach_limit_s = 16.0
    catch_filters: ClassVar = lldb_common.CATCHES
    catch_functions: ClassVar = lldb_common.CATCH_FUNCTIONS
    own_abilities: ClassVar = ABILITIES
    request_abilities = HAS
    failed_conditions_stop = True
    keeps_steps = True
    # The answers have the order of a hash table: see `dap_breakpoints`.
    function_answers_are_ordered = False
    has_step_keeper = True
    inspected_reasons = frozenset({StopReason.BREAKPOINT, StopReason.PAUSE, StopReason.SIGNAL})
    reads_exception_types = True
    has_command_line = True

    # Overrides that stand in other modules.
    parse_exit = staticmethod(lldb_common.to_exited)
    make_step_keeper = staticmethod(make_lldb_steps)
    explain_unbound = staticmethod(lldb_common.explain_unbound)
    read_argument_names = staticmethod(lldb_common.argument_names)
    complete_variables = staticmethod(lldb_values.complete_variables)
    read_returned_value = staticmethod(lldb_values.returned_value)
    adjust_exception = staticmethod(lldb_common.signal_details)
    shorten_error = staticmethod(lldb_common.error_text)
    classify_raw_command = staticmethod(lldb_effect)

    def find_installation(self, search: AdapterSearch) -> AdapterLocation | None:
        """Return the command that starts the adapter; None if it is not installed."""
        if search.path is not None:
            return AdapterLocation((search.path, *search.args))
        if sys.platform == "darwin":
            # Xcode's own comes first, as with LLDB's command line: only it knows Swift.
            own = _find_by_xcrun(search)
            if own is not None:
                return own
        path = search.env.get("PATH")
        names = ["lldb-dap", *(f"lldb-dap-{number}" for number in _NEWEST_FIRST)]
        for name in names:
            adapter_path = shutil.which(name, path=path)
            if adapter_path is not None:
                # By its absolute path: it looks for its own libraries and lldb-server from there.
                return AdapterLocation((str(Path(adapter_path).absolute()), *search.args))
        for number in _NEWEST_FIRST:
            file = Path(f"/usr/lib/llvm-{number}/bin/lldb-dap")
            if file.exists():
                return AdapterLocation((str(file), *search.args))
        return None

    def launch_arguments(self, launch: LaunchTarget, files: StreamFiles) -> dict[str, Any]:
        """Build the arguments of the `launch` request."""
        assert launch.program is not None
        # Settings of LLDB for the streams: lldb-dap has no argument for them, and runInTerminal
        # costs 0.75 to 1.2 s and leaves ASLR on.
        commands = lldb_common.build_init_commands(launch)
        # The protocol has no request for input; files of ours also keep stdout and stderr apart.
        for name, path in (
            ("input", files.stdin),
            ("output", files.stdout),
            ("error", files.stderr),
        ):
            commands.append(f"settings set target.{name}-path {quote_word(path)}")
        environment = lldb_common.sendable_environment(launch.env)
        return {
            "type": "lldb-dap",
            "request": "launch",
            "program": launch.program,
            "args": list(launch.args),
            "cwd": launch.cwd,
            # lldb-dap 19.1.7 ignores an object here.
            "env": [f"{key}={value}" for key, value in environment.items()],
            "stopOnEntry": launch.stop_on_entry,
            "initCommands": commands,
            # A struct is then written as `{x:1, y:2}` and not as an address.
            "enableAutoVariableSummaries": True,
        }

    def attach_arguments(self, target: AttachTarget) -> dict[str, Any]:
        """Build the arguments of the `attach` request."""
        arguments: dict[str, Any] = {
            "type": "lldb-dap",
            "request": "attach",
            "stopOnEntry": target.pause,
            "initCommands": lldb_common.build_init_commands(target),
            "enableAutoVariableSummaries": True,
        }
        if target.program is not None:
            arguments["program"] = target.program
        if target.core is not None:
            arguments["coreFile"] = target.core
        elif target.connect is not None:
            arguments["gdb-remote-hostname"], arguments["gdb-remote-port"] = target.connect
        else:
            arguments["pid"] = target.pid
        return arguments

    def parse_stopped(self, body: dap.StoppedBody) -> Stopped:
        """Convert a `stopped` event (DAP: StoppedEvent)."""
        plain = generic.parse_stopped(body)
        # lldb-dap reports a watchpoint as a breakpoint without number: only the description has it.
        watchpoint = _WATCHPOINT.search(plain.description)
        if watchpoint:
            # LLDB numbers its watchpoints apart from its breakpoints: ours are negative.
            return msgspec.structs.replace(
                plain, reason=StopReason.WATCHPOINT, hits=(-int(watchpoint[1]),)
            )
        signal = lldb_common.find_signal_name(plain.description)
        if body.reason == "exception" and signal is not None:
            # A pause and the entry are reported as the SIGSTOP that caused them.
            if signal == "SIGSTOP":
                return msgspec.structs.replace(plain, reason=StopReason.PAUSE, signal=signal)
            return msgspec.structs.replace(plain, reason=StopReason.SIGNAL, signal=signal)
        if _INTERNAL.fullmatch(plain.description):
            return msgspec.structs.replace(plain, reason=StopReason.PAUSE)
        return plain

    def parse_output(self, body: dap.OutputBody) -> OutputPrinted | LogpointPassed | None:
        """Convert an `output` event (DAP: OutputEvent); None for one that is not for the user."""
        if _WATCHPOINT_HIT.match(body.output):
            return None  # of Rust programs LLDB writes it as if the program had
        # A program that is launched writes to files of ours; one behind a debug server, here.
        if body.category == "stdout":
            return OutputPrinted(OutputStream.STDOUT, body.output.replace("\r\n", "\n"))
        if body.category == "telemetry" or body.output.startswith("Running "):
            return None
        return OutputPrinted(OutputStream.CONSOLE, body.output)

    async def inspect_stop(self, connection: AdapterConnection, stop: Stopped) -> Stopped:
        """Add what the event leaves out; withhold faults of LLDB's own from a paused program."""
        if stop.reason is StopReason.PAUSE:
            await WithheldFaults.begin(connection)
        return await lldb_common.settle_core_stop(connection, stop)

    async def evaluate_expression(
        self,
        connection: AdapterConnection,
        expression: str,
        frame: Frame | None,
        purpose: EvaluationPurpose,
    ) -> Variable | None:
        """Refuse an expression that the request would misread; leave others to the request."""
        if purpose is not EvaluationPurpose.RAW:
            await lldb_values.refuse_misread_expression(connection, expression, frame)
        return None

    async def read_exception(
        self, connection: AdapterConnection, stop: Stopped
    ) -> ExceptionDetails | None:
        """Return what was raised at a stop; None if `exceptionInfo` has all that is known."""
        # In a core file no function can be called: what() is not available.
        if connection.attach_target is not None and connection.attach_target.core is not None:
            return lldb_common.signal_details(ExceptionDetails("signal", stop.description))
        return await lldb_exceptions.read_exception(connection, stop)

    async def run_raw_command(
        self, connection: AdapterConnection, command: str, frame: Frame | None
    ) -> str:
        """Run a command of the adapter's own command line and return its output."""
        if frame is not None:
            # Only the scopes request selects the frame for commands.
            # `frameId` of evaluate does not select the frame for a command.
            await connection.send_request(
                "scopes", ask.FrameArguments(frame.handle), dap.ScopesBody
            )
        lines = (
            await connection.evaluate(f"`{command}", frame, EvaluationPurpose.RAW)
        ).value.splitlines()
        # It repeats the command before its answer.
        return "\n".join(lines[1:] if lines and lines[0].startswith("(lldb) ") else lines)
