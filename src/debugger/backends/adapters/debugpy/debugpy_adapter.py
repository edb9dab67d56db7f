"""debugpy: Python programs. Facts are of debugpy 1.8.22."""

from __future__ import annotations

import importlib.metadata
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from debugger.backends.adapters.debugpy import (
    debugpy_abilities,
    debugpy_breakpoints,
    debugpy_values,
)
from debugger.backends.base import (
    AttachTarget,
    ConditionError,
    LaunchTarget,
    LogpointPassed,
    OutputPrinted,
    ProgramAwaited,
)
from debugger.backends.dap import messages as dap
from debugger.backends.dap.debug_adapter import (
    AdapterConnection,
    AdapterLocation,
    AdapterSearch,
    DebugAdapter,
    StreamFiles,
    convert_exit_or_signal,
)
from debugger.model.breakpoints import BoundBreakpoint, BreakpointKind, BreakpointSpec
from debugger.model.debugger_words import DebuggerTraits, LogDialect, Runtime
from debugger.model.events import OutputStream
from debugger.model.location import nearest_lines
from debugger.model.program import (
    EvaluationPurpose,
    Frame,
)
from debugger.system.process_info import ProcessInfo, look_at

# The same word is in `run_adapter`.
AWAITED = "debugger-awaits"
_SERVER = str(Path(__file__).with_name("server.py"))
_ADAPTER = str(Path(__file__).with_name("run_adapter.py"))
_ENVIRONMENT = {
    # An expression that loops is interrupted after so many seconds.
    "PYDEVD_INTERRUPT_THREAD_TIMEOUT": "10",
    # Child processes would write a warning of debugpy's among the program's own output.
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    # Into a FIFO Python writes blocks: what was printed before a stop would not be seen at it.
    "PYTHONUNBUFFERED": "1",
}
_PYTHON = {".py", ".pyw"}
_COMMAND_MAX = 60
# What debugpy writes before the code of a child's `python -c`.
_ATTACHING = re.compile(r"import sys; sys\.path\.insert.*__setup_holder__=\{[^}]*\}\); ", re.DOTALL)
_MULTIPROCESSING = re.compile(r"from multiprocessing\.(\w+) import ")
_PLUMBING = re.compile(r"/(debugpy|pydevd|_pydevd_bundle|_vendored)/|/runpy\.py\Z|\A<frozen runpy>")
_FAILED_CONDITION = re.compile(
    r"pydevd: Error while evaluating expression in conditional breakpoint: (.*)"
)
_CHAINED = re.compile(r"\[Chained Exc: ")


# What runs the program is not stepped into: a step out of the program lets it end, or stops where
# it raised.
_RULES = [
    {"path": "**/runpy.py", "include": False},
    {"path": "**/adapters/debugpy/server.py", "include": False},
]
# What runs a kernel's cells.
_KERNEL_RULES = [
    {"path": f"**/{one}", "include": False}
    for one in ("IPython/**", "ipykernel/**", "traitlets/**", "contextlib.py")
]
# What a program is debugged with, launched or attached to.
_DEBUGGED = {
    "justMyCode": False,
    # An end by sys.exit(3) is an end, not an exception that nobody caught.
    "breakOnSystemExit": [],
    "showReturnValue": True,
    "redirectOutput": False,
    "rules": _RULES,
    "variablePresentation": {
        "special": "hide",
        "function": "hide",
        "class": "hide",
        "protected": "inline",
    },
}


def _child_words(pid: int) -> tuple[str, ...]:
    """Return the command line of a child process without what debugpy put before it.

    A process that multiprocessing spawned runs the program itself, and has none of its own.
    """
    process = look_at(pid)
    words = process.words if process is not None else ()
    if "--file" in words:
        return words[words.index("--file") + 1 :]
    # Options of our server come in pairs: `--connect HOST:PORT`, `--adapter-access-token TOKEN`,
    # `--configure-subProcess False`.
    if "--adapter-access-token" in words:  # a fork of what the launcher ran
        own = words[words.index("--adapter-access-token") + 2 :]
        while own and own[0].startswith("--"):
            own = own[2:]
        return own
    own = words[1:]
    while own and own[0].startswith("-") and own[0] not in {"-c", "-m"}:
        # An option of the interpreter; two of them have a value.
        own = own[2:] if own[0] in {"-X", "-W"} else own[1:]
    if own[:1] not in {("-c",), ("-m",)}:
        return own
    # debugpy rewrites the code of `python -c` in a child's command line.
    code = _ATTACHING.sub("", " ".join(own[1:2]))
    helper = _MULTIPROCESSING.match(code) if own[0] == "-c" else None
    if helper is not None and process is not None:
        return _words_of_helper(process, helper[1])
    return (f"{own[0]} {code}"[:_COMMAND_MAX], *own[2:])


def _words_of_helper(process: ProcessInfo, kind: str) -> tuple[str, ...]:
    """Return what a process of multiprocessing runs: the program, or the helper's name."""
    if kind == "spawn":
        return ()
    server = look_at(process.parent)
    # A fork server and its workers have one command line: the process that the program started is
    # the server, its child the worker.
    if server is not None and server.words == process.words:
        return _child_words(
            server.parent
        )  # a worker, forked by the fork server that the program started
    return (f"multiprocessing.{kind}",)


# What debugpy's adapter prints each second while gdb enters a process for it.
_WAITING = "Attaching to PID: "


def _correct_breakpoint(
    connection: AdapterConnection, spec: BreakpointSpec
) -> BreakpointSpec | BoundBreakpoint:
    """Move a breakpoint to where Python has code: debugpy calls every line and name verified."""
    if spec.kind is BreakpointKind.FUNCTION:
        return debugpy_breakpoints.find_function(
            connection.launch_target, connection.attach_target, spec
        )
    if spec.file is None or spec.line is None:
        return spec
    path = Path(spec.file)
    unbound = BoundBreakpoint(verified=False, file=spec.file, line=spec.line)
    if not path.is_file():
        return msgspec.structs.replace(unbound, why=f"no such file: {spec.file}")
    found = debugpy_breakpoints.outline_file(spec.file)
    if found is None and path.suffix not in _PYTHON:
        return msgspec.structs.replace(unbound, why=f"{path.name} is not a Python file")
    moved = _move_to_code(spec, spec.line, found)
    if moved is not None:
        return moved
    near = nearest_lines(spec.line, found.code_lines) if found is not None else ()
    why = f"no code at {path.name}:{spec.line}"
    return msgspec.structs.replace(unbound, why=why, nearest_lines=near)


def _move_to_code(
    spec: BreakpointSpec, line: int, found: debugpy_breakpoints.PythonOutline | None
) -> BreakpointSpec | None:
    """Return a breakpoint at the first line with code from its line on; None if none has."""
    if found is None:
        return spec
    defined = found.definitions.get(line)
    if defined is not None:
        note = f"line {line} defines {defined}: it stops at the function's first line"
        return msgspec.structs.replace(spec, line=found.functions[defined], note=note)
    # debugpy would move a breakpoint on a blank line back, into the function before, and call a
    # line past the end verified.
    there = line if line in found.code_lines else found.next_code_line(line)
    return msgspec.structs.replace(spec, line=there) if there is not None else None


class DebugpyAdapter(DebugAdapter):
    """debugpy, for Python programs."""

    name = "debugpy"
    languages = ("python",)
    traits = DebuggerTraits(
        own_programs=("python",),
        helper_words=("debugpy",),
        runtime=Runtime.PYTHON,
        changes_breakpoints_live=True,
        return_hint=(
            "set what it returns from: debugger try 'x=3'; debugger jump LINE, to its return"
        ),
        log=LogDialect(thread="__import__('threading').get_ident()"),
    )
    install_command = "pip install debugpy"
    connects_programs = True
    pauses_all_threads = True  # debugpy 1.8 sends "*" on to the program
    # Not the unbuffered output: the program writes where its launcher wants it.
    connecting_environment: ClassVar = {
        name: text for name, text in _ENVIRONMENT.items() if name.startswith("PYDEVD_")
    }
    is_server = True
    pauses_on_attach = False
    evaluation_contexts: ClassVar = {
        EvaluationPurpose.PRINT: ("watch",),
        EvaluationPurpose.EVALUATE: ("repl",),
        EvaluationPurpose.RAW: ("repl",),
    }
    # It lets go at once, but answers only when the program has ended.
    detach_limit_s = 0.3
    exception_filters = ("uncaught",)
    # By default a NameError in a condition is not even told.
    breakpoint_options: ClassVar = {
        "skipPrintBreakpointException": [],
        "skipSuspendOnBreakpointException": ["BaseException"],
    }
    handles_are_calls = True  # pydevd's are the ids of Python's frame objects
    catch_filters: ClassVar = {
        "throw": "raised",
        "raised": "raised",
        "uncaught": "uncaught",
    }
    prelude_code = debugpy_abilities.INSIDE
    own_abilities: ClassVar = debugpy_abilities.OWN
    request_abilities = debugpy_abilities.HAS
    ability_alternatives: ClassVar = debugpy_abilities.INSTEAD
    has_outside_frames = True
    reads_exception_types = True
    inspects_step_ends = True

    # Overrides that stand in other modules.
    read_child_command = staticmethod(_child_words)
    # our launcher tells so
    parse_exit = staticmethod(convert_exit_or_signal)
    inspect_step_end = staticmethod(debugpy_abilities.step_ended)
    forget_step = staticmethod(debugpy_values.forget_returned)
    format_condition = staticmethod(debugpy_breakpoints.condition_of)
    format_log = staticmethod(debugpy_breakpoints.safe_log)
    correct_breakpoint = staticmethod(_correct_breakpoint)
    set_exception_types = staticmethod(debugpy_abilities.choose_raised)
    complete_variables = staticmethod(debugpy_values.complete_variables)
    read_page = staticmethod(debugpy_values.read_page)
    assign_value = staticmethod(debugpy_values.assign_value)
    read_exception = staticmethod(debugpy_abilities.exception_details)
    adjust_exception = staticmethod(debugpy_abilities.from_trace)

    def find_installation(self, search: AdapterSearch) -> AdapterLocation | None:
        """Return the command that starts the adapter; None if it is not installed."""
        try:
            version = importlib.metadata.version("debugpy")
        except importlib.metadata.PackageNotFoundError:
            return None
        # The adapter runs in our Python: debugpy is our own dependency. The program runs in its
        # own.
        python = search.path or sys.executable
        return AdapterLocation((python, "-I", _ADAPTER, *search.args), version)

    def launch_arguments(self, launch: LaunchTarget, files: StreamFiles) -> dict[str, Any]:
        """Build the arguments of the `launch` request."""
        del files  # the program is run by us, on request (runInTerminal)
        target = {"module": launch.module} if launch.module else {"program": launch.program}
        return target | {
            "type": "python",
            "request": "launch",
            "args": list(launch.args),
            "cwd": launch.cwd,
            "env": dict(_ENVIRONMENT),
            "python": [launch.python or sys.executable],
            # By this the adapter sends runInTerminal: with internalConsole the program's input
            # would end at once, and output would come through debugpy.
            "console": "integratedTerminal",
            "stopOnEntry": launch.stop_on_entry,
            "subProcess": True,
            **_DEBUGGED,
        }

    def attach_arguments(self, target: AttachTarget) -> dict[str, Any]:
        """Build the arguments of the `attach` request."""
        # Connected directly to a program's own server, there is no adapter to inject anything.
        what: dict[str, Any] = {} if target.connect is not None else {"processId": target.pid}
        if target.connects_itself:
            # By this our `run_adapter` injects nothing, and waits.
            what["debugpyArgs"] = [AWAITED]
        if target.cells is not None:
            what["rules"] = [*_RULES, *_KERNEL_RULES]
        return {"type": "python", "request": "attach", **_DEBUGGED, **what}

    def connecting_command(self, launch: LaunchTarget, words: Sequence[str]) -> tuple[str, ...]:
        """Return the command line of a program that connects to the adapter by itself."""
        folder = str(Path(str(importlib.import_module("debugpy").__file__)).parent)
        what = ("-m", launch.module) if launch.module else (str(launch.program),)
        python = (launch.python or sys.executable, "-X", "frozen_modules=off")
        return (*python, _SERVER, folder, *words, *what, *launch.args)

    def parse_output(
        self, body: dap.OutputBody
    ) -> OutputPrinted | LogpointPassed | ConditionError | ProgramAwaited | None:
        """Convert an `output` event (DAP: OutputEvent); None for one that is not for the user."""
        if body.category == AWAITED:
            return ProgramAwaited(tuple(body.output.split()))
        # The program writes to files of ours; what comes as stdout is a logpoint's, or its
        # complaint.
        if body.category == "telemetry" or body.output.startswith(_WAITING):
            return None
        if body.category == "stdout":
            return LogpointPassed(None, body.output.rstrip("\n"))
        failed = _FAILED_CONDITION.match(body.output)
        if failed:
            # The rest is a traceback of pydevd's evaluation.
            problem = body.output.strip().splitlines()[-1]
            return ConditionError(
                None, f"{debugpy_breakpoints.own_condition(failed[1].strip())}: {problem}"
            )
        return OutputPrinted(OutputStream.CONSOLE, body.output)

    def format_truth(self, condition: str) -> str:
        """Format a condition as an expression whose value is true or false."""
        return f"bool(\n{condition}\n)"

    def format_hit_count(self, count: int) -> str:
        """Format the hit from which on a breakpoint stops."""
        return f">={count}"

    async def explain_unbound(
        self, connection: AdapterConnection, spec: BreakpointSpec
    ) -> BoundBreakpoint:
        """Return why a breakpoint did not bind."""
        corrected = _correct_breakpoint(connection, spec)
        if isinstance(corrected, BoundBreakpoint):
            return corrected
        return BoundBreakpoint(verified=False, why="the file has not been loaded by the program")

    def is_outside(self, frame: dap.DapStackFrame) -> bool:
        """Return whether a frame is of a chained exception, or of what runs the program."""
        path = (frame.source and frame.source.path) or ""
        return bool(_CHAINED.match(frame.name or "") or _PLUMBING.search(path))

    async def read_argument_names(
        self, connection: AdapterConnection, frame: Frame
    ) -> list[str] | None:
        """Return the names of a frame's arguments; None if they are unknown."""
        del connection
        if frame.file is None or frame.line is None:
            return None
        return debugpy_breakpoints.parameter_names(
            frame.file, frame.function.rpartition(".")[2], frame.line
        )

    def shorten_error(self, text: str) -> str:
        """Remove pydevd's own traceback: the last line has the message."""
        if text == "No more messages":
            return "the program ended while the expression ran"
        last = text.strip().splitlines()[-1] if text.startswith("Traceback ") else text.strip()
        if last.rstrip(":") == "KeyboardInterrupt":
            seconds = _ENVIRONMENT["PYDEVD_INTERRUPT_THREAD_TIMEOUT"]
            return f"it did not finish within {seconds} s and was interrupted"
        return last
