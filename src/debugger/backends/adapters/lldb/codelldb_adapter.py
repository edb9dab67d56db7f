"""Describes CodeLLDB, for C, C++ and Rust programs. Facts are of CodeLLDB 1.11.8 with LLDB 20."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from debugger import paths
from debugger.backends import abilities
from debugger.backends.adapters.lldb import lldb_dap_adapter
from debugger.backends.base import (
    AttachTarget,
    LaunchTarget,
    LogpointPassed,
    OutputPrinted,
    ProcessStarted,
)
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
from debugger.backends.dap.stop_filter import StepKeeper
from debugger.backends.lldb import lldb_common, lldb_exceptions, lldb_values
from debugger.backends.lldb_text import quote_word
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.debugger_words import lldb_effect
from debugger.model.events import OutputStream
from debugger.model.program import (
    EvaluationPurpose,
    Frame,
    LoadedModule,
    Stopped,
    StopReason,
    Variable,
)

# What requests fail with while the program runs.
_RUNS = ("Invalid thread_id.", "while the process is running.")
_WATCHPOINTS_FROM = 1_000_000  # the number of a watchpoint is added to it
_PIECE = 16_000  # characters; a longer text is cut (target.max-string-summary-length)
_TEXT_MAX = 1 << 17  # characters, two for each byte
_LAUNCHED = re.compile(r"(?:Launched|Attached to) process (\d+)")
_NOISE = ("Console is in ", "Executing script: ", "Launching: ", "Stop reason: ")
_FAILED_CONDITION = "Could not evaluate breakpoint condition"
_ERROR_TEXT = re.compile(r"(?:^|\n)(?:[\w.]+: )?(error: .*)\Z", re.DOTALL)
_THREAD = re.compile(r'\d+: tid=\d+ "(.*)"\Z')
_SIZE = re.compile(r"size=(\d+)\b")
_SCALAR = re.compile(r"-?\d[\d.e+-]*|true|false|'.*'")
_ARRAY = re.compile(r"\[(\d+)\]\Z")
# Elements: each is a request of its own, so that larger pages are read as a whole.
_PAGE_MAX = 200
_MODULES_MAX = 1000
_RETURN_VALUE = "[return value]"
_ADAPTER_SETTINGS = {
    "consoleMode": "commands",
    "dereferencePointers": False,  # a pointer's value is an address
    "evaluationTimeout": 5,
    "showDisassembly": "never",
}


def _folder_version(folder: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", folder.name))


def _found_codelldb(file: Path, search: AdapterSearch) -> AdapterLocation:
    """Return the command, with the LLDB in the adapter's own folder, where there is one."""
    # The link on the PATH may lead into the extension's folder.
    root = file.resolve().parent.parent
    # CodeLLDB carries an LLDB of its own (20, in 1.11.8).
    libraries = (root / "lldb" / "lib" / f"liblldb.{kind}" for kind in ("so", "dylib"))
    own = next((library for library in libraries if library.is_file()), None)
    words = ("--liblldb", str(own)) if own is not None else ()
    return AdapterLocation((str(file), *words, *search.args), _reported_version(root))


def _reported_version(root: Path) -> str | None:
    for name in ("version.json", "package.json"):
        try:
            metadata = json.loads((root / name).read_text())
        except (OSError, ValueError):
            continue
        version = metadata.get("version") if isinstance(metadata, dict) else None
        if isinstance(version, str):
            return version
    return None


def _common_arguments(target: LaunchTarget | AttachTarget, *more: str) -> dict[str, Any]:
    is_rust = lldb_common.is_rust_program(target)
    return {
        "type": "lldb",
        # Ours run before the target exists, CodeLLDB's own formatters are loaded after these, and
        # then preRunCommands: the category that is enabled last is searched first.
        "initCommands": [*lldb_common.build_init_commands(target), *more],
        # Its own formatters are loaded behind those.
        "preRunCommands": [
            *lldb_common.CATEGORY_FIRST,
            *([lldb_common.RUST_FIRST] if is_rust else []),
        ],
        "expressions": "native",
        # No terminal: the program's files are ours, by the settings in initCommands.
        "terminal": "console",
        "sourceLanguages": ["rust"] if is_rust else [],
        "_adapterSettings": _ADAPTER_SETTINGS,
    }


def _error_text(text: str) -> str:
    """Remove Python's traceback: the last line contains the message."""
    # CodeLLDB's Python wraps LLDB's error into a traceback.
    match = _ERROR_TEXT.search(text)
    if match is None and text.startswith("Traceback "):
        return text.strip().splitlines()[-1]
    return lldb_common.error_text(match[1] if match else text)


async def _evaluate_python(
    connection: AdapterConnection, words: str, frame: Frame | None, name: str
) -> Variable:
    """Evaluate an expression of CodeLLDB's own Python."""
    arguments = ask.EvaluateArguments(f"/py {words}", "watch", frame.handle if frame else None)
    try:
        body = await connection.send_request(
            "evaluate", arguments, dap.EvaluateBody, failure=ErrorCode.EVALUATION_FAILED
        )
    except DebuggerError as error:
        raise DebuggerError(error.code, _error_text(error.message), hint=error.hint) from error
    return dap_convert.to_evaluated(name, body)


def _decode_hexadecimal(value: Variable) -> str:
    """Remove the quotes of a text; a command that let the program run returns none."""
    text = value.value.strip('"')
    # Anything but whole bytes is no output of the command.
    return text if re.fullmatch("(?:[0-9a-f]{2})*", text) else ""


async def _complete_variables(
    connection: AdapterConnection, variables: Sequence[Variable]
) -> list[Variable]:
    """Remove children that are shown elsewhere, and add the number of a container's elements."""
    hidden = {_RETURN_VALUE, lldb_values.RAW}
    visible = [one for one in variables if one.name not in hidden]
    shown = await lldb_values.complete_variables(connection, visible, is_doubtful=_omits_members)
    return [_add_size(one) for one in shown]


def _omits_members(one: Variable) -> bool:
    """Return whether a value is a struct's: CodeLLDB omits members that are structs themselves."""
    return one.value.startswith("{")


def _add_size(one: Variable) -> Variable:
    # A number with children would look like a struct.
    if _SCALAR.fullmatch(one.value):  # Rust's too have a child: themselves, as they are in memory
        return msgspec.structs.replace(one, handle=0)
    match = _SIZE.match(one.value) or _ARRAY.search(one.type)
    if match is None or not one.handle:
        return one
    return msgspec.structs.replace(one, indexed=int(match[1]))


class CodeLldbModules:
    """The modules request, whose addresses are hexadecimal without saying so."""

    def __init__(self, connection: AdapterConnection) -> None:
        self._connection = connection

    async def list_modules(self) -> list[LoadedModule]:
        """Return the loaded modules."""
        body = await self._connection.send_request(
            "modules",
            ask.ModulesArguments(start_module=0, module_count=_MODULES_MAX),
            dap.ModulesBody,
        )
        return [
            dap_convert.to_module(
                msgspec.structs.replace(one, address_range=f"0x{one.address_range}")
            )
            for one in body.modules[:_MODULES_MAX]
        ]


class CodeLldbAdapter(DebugAdapter):
    """CodeLLDB, which brings an LLDB of its own."""

    name = "codelldb"
    languages = lldb_common.LANGUAGES
    traits = lldb_common.TRAITS
    install_command = "debugger setup codelldb --yes"
    is_terminal = True
    # LLDB's own detach may leave a trap in the code: see `dap.detach`.
    clears_before_detach = True
    assigns_by_expression = True
    catch_filters: ClassVar = lldb_common.CATCHES
    catch_functions: ClassVar = lldb_common.CATCH_FUNCTIONS
    own_abilities: ClassVar = {
        kind: make
        for kind, make in lldb_dap_adapter.ABILITIES.items()
        # CodeLLDB has the protocol's own request for these steps.
        if kind is not abilities.InstructionStepAbility
    } | {abilities.ModuleAbility: CodeLldbModules}
    request_abilities = lldb_dap_adapter.HAS - {abilities.ModuleAbility} | {
        abilities.InstructionStepAbility
    }
    failed_conditions_stop = True
    keeps_steps = True
    inspected_reasons = frozenset({StopReason.BREAKPOINT, StopReason.PAUSE, StopReason.SIGNAL})
    has_step_keeper = True
    reads_exception_types = True
    has_command_line = True

    # Overrides that stand in other modules.
    parse_exit = staticmethod(lldb_common.to_exited)
    explain_unbound = staticmethod(lldb_common.explain_unbound)
    read_argument_names = staticmethod(lldb_common.argument_names)
    complete_variables = staticmethod(_complete_variables)
    read_exception = staticmethod(lldb_exceptions.read_exception)
    adjust_exception = staticmethod(lldb_common.signal_details)
    shorten_error = staticmethod(_error_text)
    classify_raw_command = staticmethod(lldb_effect)

    def find_installation(self, search: AdapterSearch) -> AdapterLocation | None:
        """Return the command that starts the adapter; None if it is not installed."""
        if search.path is not None:
            return _found_codelldb(Path(search.path), search)
        # Our own installation comes before those of Visual Studio Code, newest first.
        folders = [Path(paths.data_dir(search.env)) / "adapters" / "codelldb"]
        home = search.env.get("HOME")
        if home is not None:
            extensions = Path(home, ".vscode", "extensions").glob("vadimcn.vscode-lldb-*")
            # As numbers: 1.10 is newer than 1.9.
            folders += sorted(extensions, key=_folder_version, reverse=True)
        for place in folders:
            file = place / "adapter" / "codelldb"
            if file.is_file():
                return _found_codelldb(file, search)
        file_on_path = shutil.which("codelldb", path=search.env.get("PATH"))
        return _found_codelldb(Path(file_on_path), search) if file_on_path is not None else None

    def launch_arguments(self, launch: LaunchTarget, files: StreamFiles) -> dict[str, Any]:
        """Build the arguments of the `launch` request."""
        assert launch.program is not None
        streams = (("input", files.stdin), ("output", files.stdout), ("error", files.stderr))
        paths = (f"settings set target.{name}-path {quote_word(path)}" for name, path in streams)
        return _common_arguments(launch, *paths) | {
            "request": "launch",
            "program": launch.program,
            "args": list(launch.args),
            "cwd": launch.cwd,
            "env": lldb_common.sendable_environment(launch.env),
            "stopOnEntry": launch.stop_on_entry,
        }

    def attach_arguments(self, target: AttachTarget) -> dict[str, Any]:
        """Build the arguments of the `attach` request."""
        arguments = _common_arguments(target) | {"request": "attach", "stopOnEntry": target.pause}
        # In commands a path is a word of LLDB's command line.
        program = quote_word(target.program) if target.program is not None else ""
        if target.core is not None:
            # CodeLLDB opens a core file by commands of its launch, not by its attach.
            create = f"target create --core {quote_word(target.core)} {program}".strip()
            return arguments | {
                "request": "launch",
                "targetCreateCommands": [create],
                "processCreateCommands": [],
            }
        if target.connect is not None:
            # The server's program stays stopped: with stopOnEntry false, too.
            return arguments | {
                "request": "launch",
                "targetCreateCommands": [f"target create {program}"] if program else [],
                "processCreateCommands": lldb_common.build_connect_commands(target),
            }
        if target.program is not None:
            arguments["program"] = target.program
        return arguments | {"pid": target.pid}

    def parse_stopped(self, body: dap.StoppedBody) -> Stopped:
        """Convert a `stopped` event (DAP: StoppedEvent)."""
        plain = generic.parse_stopped(body)
        if plain.reason is StopReason.WATCHPOINT:
            # LLDB counts watchpoints from 1, apart from breakpoints; CodeLLDB adds 1,000,000 to
            # one, and ours are negative.
            hits = tuple(_WATCHPOINTS_FROM - hit for hit in plain.hits)
            return msgspec.structs.replace(plain, hits=hits)
        signal = lldb_common.find_signal_name(plain.description)
        if body.reason == "exception" and signal is not None:
            # A pause and the entry are reported as the SIGSTOP that caused them.
            if signal == "SIGSTOP":
                return msgspec.structs.replace(plain, reason=StopReason.PAUSE, signal=signal)
            return msgspec.structs.replace(plain, reason=StopReason.SIGNAL, signal=signal)
        return plain

    def parse_output(
        self, body: dap.OutputBody
    ) -> OutputPrinted | LogpointPassed | ProcessStarted | None:
        """Convert an `output` event (DAP: OutputEvent); None for one that is not for the user."""
        # A program that is launched writes to files of ours.
        if body.category == "stdout":
            return OutputPrinted(OutputStream.STDOUT, body.output.replace("\r\n", "\n"))
        # CodeLLDB sends no `process` event.
        launched = _LAUNCHED.match(body.output)
        if launched:  # there is no event for it
            return ProcessStarted(int(launched[1]))
        is_noise = body.output.startswith((*_NOISE, _FAILED_CONDITION))
        if body.category == "telemetry" or is_noise:
            return None
        return OutputPrinted(OutputStream.CONSOLE, body.output)

    async def inspect_stop(self, connection: AdapterConnection, stop: Stopped) -> Stopped | None:
        """Distinguish an exception's stop from a breakpoint's, whose number is never reported.

        A pause right after a continue may be answered with a stop while the program runs on.
        """
        if stop.reason is StopReason.PAUSE and stop.thread is not None:
            try:
                # A stack that can be read is the only proof that the program has stopped.
                await connection.read_stack(stop.thread, levels=1)
            except DebuggerError as error:
                if not error.message.endswith(_RUNS):
                    raise
                await connection.send_request(
                    "pause", ask.ThreadArguments(stop.thread), dap.DapBody
                )
                return None
        if stop.reason is StopReason.BREAKPOINT and stop.thread is not None:
            frames = (await connection.read_stack(stop.thread, levels=1)).frames
            # CodeLLDB reports an exception filter's stop as a breakpoint's, with a number that it
            # never told.
            if frames and frames[0].function in lldb_exceptions.RUNTIME:
                return msgspec.structs.replace(stop, reason=StopReason.EXCEPTION)
        return stop

    def make_step_keeper(self, connection: AdapterConnection) -> StepKeeper | None:
        """Make the object that keeps steps from being lost at breakpoints that do not stop."""
        return lldb_dap_adapter.make_lldb_steps(connection, counts_alone=True, misplaces=True)

    def format_hit_count(self, count: int) -> str:
        """Format the hit from which on a breakpoint stops."""
        return f">={count}"

    def shorten_refusal(self, why: str) -> str | None:
        """Shorten the reason why a breakpoint does not bind; None leaves it to explain_unbound."""
        return None if why.startswith("Resolved locations: ") else why

    def convert_thread(self, body: dap.DapThread) -> dap.DapThread:
        """Convert a thread's name to what the user shall see."""
        match = _THREAD.match(body.name or "")
        return msgspec.structs.replace(body, name=match[1]) if match else body

    async def read_page(
        self, connection: AdapterConnection, value: Variable, start: int, count: int
    ) -> list[Variable] | None:
        """Read some elements one by one: the request returns all, 20,000 in more than a second."""
        # The expression of a member that Python evaluated is in no language of the program.
        is_own = value.expression is not None and value.expression.startswith("/py ")
        if value.indexed is None or value.expression is None or is_own or count > _PAGE_MAX:
            return None
        # CodeLLDB's Python wraps values; the API's own value has GetChildAtIndex.
        container = f"__import__('codelldb').unwrap(__eval({value.expression!r}))"
        elements = []
        for index in range(start, min(start + count, value.indexed)):
            element = f"{container}.GetChildAtIndex({index})"
            one = await _evaluate_python(
                connection, element, connection.inspected_frame, f"[{index}]"
            )
            elements.append(msgspec.structs.replace(one, expression=f"{value.expression}[{index}]"))
        return await _complete_variables(connection, elements)

    async def evaluate_expression(
        self,
        connection: AdapterConnection,
        expression: str,
        frame: Frame | None,
        purpose: EvaluationPurpose,
    ) -> Variable | None:
        """Evaluate as LLDB does: a path needs no compiler, and may name synthetic children."""
        if purpose is EvaluationPurpose.RAW or frame is None:
            return None
        await lldb_values.refuse_misread_expression(connection, expression, frame)
        return lldb_values.require_readable(
            await _evaluate_python(connection, f"__eval({expression!r})", frame, expression)
        )

    async def read_returned_value(
        self, connection: AdapterConnection, stop: Stopped, frame: Frame
    ) -> Variable | None:
        """Read a function's return value; the stop does not report a step out."""
        if stop.reason is not StopReason.STEP:
            return None
        return await lldb_values.read_return_value(connection, frame)

    async def run_raw_command(
        self, connection: AdapterConnection, command: str, frame: Frame | None
    ) -> str:
        """Run a command by CodeLLDB's Python, and return its output.

        A command in the console prints to the output events, unmarked. The text is read in pieces
        and in hexadecimal, because long values are cut and all are escaped.
        """
        # The stages of one command: HandleCommand writes to a result object; its output and errors
        # are encoded as hexadecimal digits and stored in the module `lldb`; the first piece is the
        # value of the expression. Further pieces are read until one is not full.
        place = "lldb.SBExecutionContext(lldb.frame), " if frame is not None else ""
        run = (
            f"lldb.debugger.GetCommandInterpreter().HandleCommand({command!r}, {place}told, False)"
        )
        words = '((told.GetOutput() or "") + (told.GetError() or "")).encode().hex()'
        # Expressions of CodeLLDB's are single expressions: statements are put into a tuple.
        first_expression = (
            f"(lambda told: ({run}, setattr(lldb, 'told', {words}), "
            f"lldb.told[:{_PIECE}])[-1])(lldb.SBCommandReturnObject())"
        )
        text = piece = _decode_hexadecimal(
            await _evaluate_python(connection, first_expression, frame, command)
        )
        while len(piece) == _PIECE and len(text) < _TEXT_MAX:
            more = f"lldb.told[{len(text)}:{len(text) + _PIECE}]"
            piece = _decode_hexadecimal(await _evaluate_python(connection, more, frame, command))
            text += piece
        return bytes.fromhex(text).decode(errors="replace").strip("\n")
