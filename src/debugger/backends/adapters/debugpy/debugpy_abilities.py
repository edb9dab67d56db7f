"""Implements debugpy's abilities, and describes the exceptions that it reports.

Facts are of debugpy 1.8.22.

These are the jump, live values, the list of modules and steps through own code. Facts are of
debugpy 1.8.22.
"""

from __future__ import annotations

import ast
import json
import linecache
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from debugger.backends import abilities
from debugger.backends.dap import dap_abilities as generic
from debugger.backends.dap import dap_convert
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.debug_adapter import AdapterConnection
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import exception_cause
from debugger.model.breakpoints import Breakpoint
from debugger.model.location import is_library
from debugger.model.program import (
    EvaluationPurpose,
    ExceptionDetails,
    Frame,
    LoadedModule,
    Stopped,
    Variable,
)

_NAME = "_debugger_inside"
_TEXT = Path(__file__).with_name("debuggee_code.py").read_text(encoding="utf-8")
# The context of evaluations beside a running program. In "repl" pydevd replaces the program's
# streams, until the code in `debuggee_code.py` keeps them.
_BESIDE = "watch"
_RAISED = "raised"
_NO_MESSAGE = "exception: no description"  # what pydevd says of an exception without a message
_WORKER_FRAMES = 4
_HANDLER = re.compile(r"\s*(?:except|finally|with|async\s+with)\b")
_CHAIN = re.compile(r"(\n\n(?:The above exception|During handling)[^\n]*\n\n)")

# An expression: the module of what runs inside the program, which is made on the first need.
# An expression that may be evaluated any number of times: the module is stored in sys.modules. Its
# source is sent as text, since the program's interpreter may not see our files.
INSIDE = (
    f"(lambda sys: sys.modules.get({_NAME!r}) or (lambda made: ("
    f"exec({_TEXT!r}, made.__dict__), sys.modules.__setitem__({_NAME!r}, made), made)[2])"
    f"(__import__('types').ModuleType({_NAME!r})))(__import__('sys'))"
)


async def choose_raised(connection: AdapterConnection, breakpoints: Sequence[Breakpoint]) -> bool:
    """Choose the types of raised exceptions inside the program, where each is reported once.

    Each stop costs 5 ms: filtered here, a program that raises often would crawl. Nothing is done
    where raised exceptions were not requested; the choice takes 100 ms while the program runs.
    """
    raised = [one for one in breakpoints if (one.at or one.spec).catch == _RAISED]
    if not raised:
        return True
    types = [one.spec.type for one in raised]
    named = None if None in types else sorted({str(one) for one in types})
    # Type None among them means all exceptions; then only repeated stops are filtered.
    expression = f"{INSIDE}.catch({named!r})"
    await connection.send_request(
        "evaluate",
        ask.EvaluateArguments(expression, _BESIDE),
        dap.EvaluateBody,
        failure=ErrorCode.ADAPTER_FAILED,
    )
    return True


async def step_ended(connection: AdapterConnection, stop: Stopped) -> Stopped | None:
    """Describe the exception by which a step came to its line.

    None where the exception leaves the frame for the next: pydevd takes the end of a function that
    raised for its return.
    """
    # pydevd ends a step in three ways that the event does not tell apart: at a line, at a
    # function's return, and where an exception leaves the function, which it takes for a return.
    #
    # - In the frame of the step, at a line that is no handler: an ordinary end, without a request.
    # - At an `except`, `finally` or `with`: `came_by` inside the program says which exception led
    #   there, and the stop reports it.
    # - In a caller: `came_by` says whether the function that was called is being left by an
    #   exception. Then the stop means nothing yet (None): one more `next` follows the exception to
    #   where it is handled, or out of the program.
    if stop.thread is None:
        return stop
    frame = next(
        iter((await connection.read_stack(stop.thread)).frames), None
    )  # which will be asked for
    before = connection.inspected_frame
    if frame is None:
        return stop
    # The frame that the user looked at last is the one that the step began in.
    is_within = before is not None and (before.function, before.file) == (
        frame.function,
        frame.file,
    )
    # No request for most steps: they end at a line of the same function.
    if is_within and not _is_handler(frame):
        return stop
    answer = await connection.evaluate(f"{INSIDE}.came_by()", frame, EvaluationPurpose.PRINT)
    try:
        is_passing, handled = json.loads(ast.literal_eval(answer.value))
    except (ValueError, SyntaxError, TypeError):
        return stop
    if is_passing and not is_within:
        return None
    return msgspec.structs.replace(stop, handled=str(handled))


def _is_handler(frame: Frame) -> bool:
    """Return whether a frame is at a line that an exception may lead to."""
    if frame.file is None or frame.line is None:
        return False
    # The user may have edited the file since.
    linecache.checkcache(frame.file)
    before, line = (linecache.getline(frame.file, at) for at in (frame.line - 1, frame.line))
    # A `finally` has no code of its own.
    return _HANDLER.match(line) is not None or before.strip().startswith("finally")


async def exception_details(
    connection: AdapterConnection, stop: Stopped
) -> ExceptionDetails | None:
    """Return the raised exception, its causes, each with its location, and the part that failed."""
    if stop.thread is None:
        return None
    body = await connection.send_request(
        "exceptionInfo", ask.ThreadArguments(stop.thread), dap.ExceptionInfoBody
    )
    details = from_trace(dap_convert.to_exception(body))
    frame = next(iter((await connection.read_stack(stop.thread, levels=1)).frames), None)
    if frame is None:
        return details
    expression = f"{INSIDE}.explain(__exception__[1])"
    try:
        answer = await connection.send_request(
            "evaluate",
            ask.EvaluateArguments(expression, "clipboard", frame.handle),
            dap.EvaluateBody,
            failure=ErrorCode.EVALUATION_FAILED,
        )
        # The answer is the repr of a text: pydevd shows values as Python would.
        known = json.loads(ast.literal_eval(answer.result or ""))
        causes, part = known["causes"], str(known["part"])
    except (DebuggerError, ValueError, SyntaxError, TypeError, LookupError):
        return details
    cwd = connection.launch_target.cwd if connection.launch_target is not None else ""
    return msgspec.structs.replace(
        details,
        causes=tuple(remote_cause(str(one), cwd) or str(one) for one in causes),
        part=part,
    )


def remote_cause(text: str, cwd: str) -> str | None:
    """Describe the exception in a worker's traceback, which multiprocessing attaches as a cause.

    None for a cause that is no such traceback.
    """
    # multiprocessing and concurrent.futures attach the worker's traceback as text, as the cause.
    if "RemoteTraceback: " not in text.partition("\n")[0]:
        return None
    found = exception_cause.parse_traceback(text.splitlines())
    if found is None:
        return None
    frames = [one for one in found.frames if not is_library(one.file, cwd)] or [*found.frames]
    path = " < ".join(
        f"{one.function} {Path(one.file).name}:{one.line}" for one in frames[:_WORKER_FRAMES]
    )
    words = f"{found.type}: {found.message}" if found.message else found.type
    return f"in a worker: {words}, in {path}"


def from_trace(details: ExceptionDetails) -> ExceptionDetails:
    """Parse the causes out of the traceback: each block of a chain ends with `Type: message`."""
    trace = _without_debuggers(details.trace)
    causes = [
        block.strip().splitlines()[-1].strip()
        for block in _CHAIN.split(trace.strip())[:-1:2]
        if block.strip()
    ]
    # exceptionId and message may carry such a suffix.
    message = re.sub(r"\s*\(note: [^)]*\)\Z", "", details.message)
    message = "" if message == _NO_MESSAGE else message
    kind = re.sub(r"\s*\(note: .*\)\Z", "", details.type, flags=re.DOTALL)
    return msgspec.structs.replace(
        details,
        type=kind,
        message=message,
        # Python prints the cause first; here the nearest comes first.
        causes=tuple(causes[::-1]),
        trace=_in_pythons_order(trace),
    )


def _without_debuggers(trace: str) -> str:
    """Remove from a chain of exceptions those that pydevd caught in its own tracing."""
    parts = _CHAIN.split(trace)
    user_parts = [
        part
        for block, link in zip(parts[:-1:2], parts[1::2], strict=True)
        # pydevd leaves out its own frames; else only a cause that was never raised has none.
        if not _is_debuggers(block) and ("File " in block or "direct cause" in link)
        for part in (block, link)
    ]
    return "".join([*user_parts, parts[-1]])


def _in_pythons_order(trace: str) -> str:
    """Put the innermost frame last, as Python does: pydevd writes the last block's frames first."""
    begins = list(
        re.finditer(r"^(?:The above exception|During handling)[^\n]*\n\n", trace, re.MULTILINE)
    )
    start = begins[-1].end() if begins else 0
    if trace[start:].startswith("Traceback "):
        return trace
    frames: list[list[str]] = []
    ends: list[str] = []
    for line in trace[start:].splitlines():
        if re.match(r'\s+File "', line) and not ends:
            frames.append([line])
        elif frames and not ends and line[:1].isspace():
            frames[-1].append(line)
        else:
            ends.append(line)
    ordered = [line for frame in reversed(frames) for line in frame]
    return trace[:start] + "\n".join([*ordered, *ends])


def _is_debuggers(block: str) -> bool:
    """Return whether pydevd raised the exception of a traceback, and caught it, as it traced."""
    files = re.findall(r'^\s*File "([^"]*)", line \d', block, re.MULTILINE)
    return bool(files) and any(one in files[0] for one in ("/debugpy/", "pydevd"))


_ONLY_A_LINE = "can only jump from a 'line' trace event"
_CANNOT = "refused 'goto' without saying why"

HAS = frozenset(
    {
        abilities.ExceptionAbility,
        abilities.RawCommandAbility,
        abilities.ReturnValueAbility,
        abilities.StepTargetAbility,
    }
)
# What is to be done in Python in the place of what it has nothing of.
INSTEAD: Mapping[type[Any], str] = {
    abilities.WatchpointAbility: "debugger who-wrote EXPR names the lines that wrote it "
    "up to here; debugger break FILE:LINE --when 'EXPR' stops where it is assigned",
    abilities.MemoryAbility: "debugger print EXPR shows a value, debugger set changes it",
    abilities.RegisterAbility: "debugger locals shows the variables",
    abilities.DisassemblyAbility: "debugger print \"__import__('dis').Bytecode(FUNCTION).dis()\" "
    "shows Python's own instructions",
    abilities.InstructionBreakpointAbility: "debugger break FILE:LINE, or a function's name",
    abilities.InstructionStepAbility: "debugger next and debugger step go by lines; "
    "debugger step --into NAME chooses a call",
    abilities.SingleThreadAbility: "debugger break FILE:LINE --thread N stops one thread only",
}


class DebugpyJump:
    """The goto request, which moves within the current function, from a line's beginning."""

    is_stop_reported = True

    def __init__(self, connection: AdapterConnection) -> None:
        self._adapter = connection
        self._generic = generic.DapJump(connection)

    async def jump_to(self, file: str, line: int, thread: int) -> None:
        """Move the thread; debugpy heeds only the line."""
        # debugpy's goto ignores the file: a line of another file would be taken for one of this.
        stack = await self._adapter.read_stack(thread, levels=1)
        at = stack.frames[0].file if stack.frames else None
        if at is not None and Path(at).resolve() != Path(file).resolve():
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED,
                f"cannot jump to {Path(file).name}: the program is in {at}",
                hint=f"debugger jump takes a line of {stack.frames[0].function}",
            )
        try:
            await self._generic.jump_to(file, line, thread)
        except DebuggerError as error:
            if _ONLY_A_LINE in error.message:  # CPython's own words
                raise DebuggerError(
                    ErrorCode.EVALUATION_FAILED,
                    "Python cannot jump from an exception: only from the beginning of a line",
                    hint="debugger restart, with a breakpoint before the line that raises",
                ) from error
            # debugpy gives no message where the thread is not at the beginning of a line.
            if _CANNOT not in error.message:
                raise
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED,
                "Python can jump only from the beginning of a line, and this stop is within one",
                hint="debugger next, then debugger jump LINE",
            ) from error


class DebugpyOwnSteps:
    """Steps as with justMyCode, which debugpy takes for a whole session only."""

    def __init__(self, connection: AdapterConnection) -> None:
        self._adapter = connection

    async def limit_steps_to_own_code(self, *, is_on: bool) -> None:
        """Let the steps that follow end in the program's own code only, or anywhere again."""
        await self._adapter.send_request(
            "evaluate",
            ask.EvaluateArguments(f"{INSIDE}.keep_to_own({is_on})", _BESIDE),
            dap.EvaluateBody,
            failure=ErrorCode.EVALUATION_FAILED,
        )


class DebugpyModules:
    """Lists the imported modules; debugpy's request lists only those that it stopped in."""

    def __init__(self, connection: AdapterConnection) -> None:
        self._adapter = connection

    async def list_modules(self) -> list[LoadedModule]:
        """Return the program's main module, then the others by name."""
        body = await self._adapter.send_request(
            "evaluate",
            ask.EvaluateArguments(f"{INSIDE}.modules()", _BESIDE),
            dap.EvaluateBody,
            failure=ErrorCode.EVALUATION_FAILED,
        )
        try:
            listed = json.loads(body.result or "")
        except ValueError as error:
            raise DebuggerError(
                ErrorCode.ADAPTER_FAILED,
                f"cannot read the program's modules: {body.result}",
                hint="debugger print \"list(__import__('sys').modules)\"",
            ) from error
        return [
            LoadedModule(name=str(name), path=path, version=version)
            for name, path, version in listed
        ]


_LOCAL_READ = "{} is a local variable: it is read at a breakpoint"
_LOCAL_WRITTEN = "Local variable writes require a paused breakpoint."


class DebugpyLiveValues:
    """Evaluates beside the program's threads, in the main module, where there is no frame."""

    def __init__(self, connection: AdapterConnection) -> None:
        self._adapter = connection

    async def read_live_value(self, expression: str, *, kind: str | None = None) -> Variable:
        """Evaluate an expression over the names of the main module and imported modules."""
        _refuse_kind(kind)
        call = f"read_live({expression!r})"
        (found,) = await self._evaluate_named(expression, call, _LOCAL_READ)
        return found

    async def write_live_value(
        self, target: str, value: str, *, kind: str | None = None
    ) -> tuple[Variable, Variable]:
        """Assign to a name of the main module, an attribute or an item."""
        _refuse_kind(kind)
        call = f"write_live({target!r}, {value!r})"
        before, after = await self._evaluate_named(target, call, _LOCAL_WRITTEN)
        return before, after

    async def _evaluate_named(self, name: str, expression: str, message: str) -> list[Variable]:
        body = await self._adapter.send_request(
            "evaluate",
            ask.EvaluateArguments(f"{INSIDE}.{expression}", _BESIDE),
            dap.EvaluateBody,
            failure=ErrorCode.EVALUATION_FAILED,
        )
        answer = json.loads(body.result or "{}")
        if local := answer.get("local"):
            raise DebuggerError(ErrorCode.WRONG_STATE, message.format(local), hint="debugger pause")
        if "values" not in answer:
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED,
                str(answer.get("problem", "the program did not answer")),
                hint="of a running program the main module's names and imported modules are "
                "known; debugger pause stops it, for locals",
            )
        return [Variable(name, text, kind) for text, kind in answer["values"]]


def _refuse_kind(kind: str | None) -> None:
    if kind is not None:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            "a Python value has its own type, and no address to read",
            hint="debugger read NAME",
        )


OWN = {
    abilities.JumpAbility: DebugpyJump,
    abilities.LiveValueAbility: DebugpyLiveValues,
    abilities.ModuleAbility: DebugpyModules,
    abilities.OwnStepAbility: DebugpyOwnSteps,
}
