"""Reads, calls and sets Go's values behind delve, and explains panics (delve 1.27.2)."""

from __future__ import annotations

import ast
import re
import signal
from collections.abc import Sequence

import msgspec

from debugger.backends.adapters.delve import delve_breakpoints
from debugger.backends.dap import dap_convert
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.debug_adapter import AdapterConnection
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.program import EvaluationPurpose, ExceptionDetails, Frame, Stopped, Variable

_CONTEXT = "variables"  # with it strings and lists come whole, up to delve's own limits
_PIECE = 4096  # bytes; as many of a string come in one answer
_PIECES = 16
_COMMAND = re.compile(r"\s*dlv\s+\S")
_CALL = re.compile(r"\s*call\s+\S")
_NEEDS_CALL = "function calls not allowed without using 'call'"
_UNSIGNED = re.compile(r"(?P<value>.*) = (?P<hex>0x[0-9a-f]+)\Z", re.DOTALL)
_CUT = re.compile(r'\.\.\.\+(?P<more>\d+) more"\Z')
_NO_ADDRESS = "can not take address of"
_UNREADABLE = "(unreadable could not find loclist entry"
_UNREAD = "error loading module data"
_IN_MEMORY = "runtime.memoryError"  # an interface that every program has
_LENGTH = "len()"  # delve's own child of every map
_PROBLEM = re.compile(r"\AUnable to (?:evaluate expression|set variable|lookup variable): ")


def error_text(text: str) -> str:
    """Remove delve's prefix from an error message, and explain `call stopped`."""
    message = _PROBLEM.sub("", text)
    if message == "call stopped":
        return "the call has stopped the program, at a breakpoint perhaps, and is not done"
    return message


async def evaluate_go(
    connection: AdapterConnection, expression: str, frame: Frame | None, purpose: EvaluationPurpose
) -> Variable | None:
    """Evaluate an expression; one that calls a function runs the program for it.

    Raises:
        DebuggerError: EVALUATION_FAILED.
    """
    if purpose is EvaluationPurpose.RAW:
        return None
    # In a print it would run any command, past the check of its effect.
    if _COMMAND.match(expression):
        raise DebuggerError(
            ErrorCode.EVALUATION_FAILED,
            f"{expression.strip()} is a command of delve's, and no expression",
            hint="debugger raw COMMAND",
        )
    if expression.strip() in _unset_results(frame):
        raise DebuggerError(
            ErrorCode.EVALUATION_FAILED,
            f"{expression.strip()} has no value yet at the function's first line: it is a result",
            hint="debugger next",
        )
    try:
        value = await evaluate_plain(connection, expression, frame)
    except DebuggerError as error:
        # delve evaluates nothing that calls a function unless the expression begins with `call`:
        # the program runs for that, and breakpoints in the function may stop it. Tried only if
        # needed.
        if _NEEDS_CALL not in error.message:
            raise DebuggerError(error.code, error_text(error.message), hint=error.hint) from error
        return await _evaluate_call(connection, expression, frame)
    if _CALL.match(expression):
        # The user wrote `call` already.
        return await _single_result(connection, value)
    value = _plain_number(value)
    cut = _CUT.search(value.value)
    if cut:
        return await _whole_string(connection, value, int(cut["more"]), frame)
    # delve writes the value behind a pointer, without the address.
    if value.type.startswith("*") and value.handle:
        return await _with_address(connection, value, frame)
    return value


def _unset_results(frame: Frame | None) -> tuple[str, ...]:
    """Return the results that still hold what was on the stack before, at a frame's line."""
    if frame is None or frame.file is None or frame.line is None:
        return ()
    return delve_breakpoints.unset_results(frame.file, frame.function, frame.line)


async def evaluate_plain(
    connection: AdapterConnection, expression: str, frame: Frame | None
) -> Variable:
    """Evaluate an expression unchanged.

    delve does not read an interface in a register, whose type it looks for in the register as well,
    unless types were looked up in memory before at this stop.
    """
    value = await _request_evaluation(connection, expression, frame)
    if _UNREAD in value.value:
        # An expression that makes delve look up the types in memory, once for this stop.
        await _request_evaluation(connection, _IN_MEMORY, frame)
        value = await _request_evaluation(connection, expression, frame)
    return value


async def plain_value(
    connection: AdapterConnection, expression: str, frame: Frame | None
) -> Variable:
    """Evaluate an expression whose value is a number."""
    return _plain_number(await evaluate_plain(connection, expression, frame))


async def _request_evaluation(
    connection: AdapterConnection, expression: str, frame: Frame | None
) -> Variable:
    arguments = ask.EvaluateArguments(expression, _CONTEXT, frame.handle if frame else None)
    body = await connection.send_request(
        "evaluate", arguments, dap.EvaluateBody, failure=ErrorCode.EVALUATION_FAILED
    )
    return dap_convert.to_evaluated(expression, body)


async def _evaluate_call(
    connection: AdapterConnection, expression: str, frame: Frame | None
) -> Variable:
    try:
        value = await evaluate_plain(connection, f"call {expression}", frame)
    except DebuggerError as error:
        raise DebuggerError(error.code, error_text(error.message), hint=error.hint) from error
    value = await _single_result(connection, value)
    return msgspec.structs.replace(value, name=expression, expression=None)


async def _single_result(connection: AdapterConnection, value: Variable) -> Variable:
    """Return the only result of a call as the call's value."""
    if not value.handle:
        return value
    # delve shows the results of a call as children of a value without a text.
    results = await connection.fetch_variables(value.handle, start=None, count=None)
    if len(results) != 1:
        return value
    return msgspec.structs.replace(_plain_number(results[0]), name=value.name)


async def _whole_string(
    connection: AdapterConnection, value: Variable, more: int, frame: Frame | None
) -> Variable:
    """Read the rest of a string, up to 64 KiB; the omitted part is counted, as delve does."""
    found = _CUT.sub("", value.value)
    length = await evaluate_plain(connection, f"len({value.name})", frame)
    end = int(length.value) if length.value.isdecimal() else 0
    # The first 4096 bytes are there: otherwise the marker is a part of the program's own text.
    if end - more != _PIECE:  # a string that ends with these words
        return value
    stop = min(end, _PIECES * _PIECE)
    for at in range(_PIECE, stop, _PIECE):
        part = f"({value.name})[{at}:{min(at + _PIECE, stop)}]"
        piece = await evaluate_plain(connection, part, frame)
        found += piece.value.removeprefix('"').removesuffix('"')
    rest = f"...+{end - stop} more" if stop < end else ""
    return msgspec.structs.replace(value, value=f'{found}{rest}"')


async def _with_address(
    connection: AdapterConnection, value: Variable, frame: Frame | None
) -> Variable:
    """Begin a pointer's value with the address, which delve leaves out."""
    try:
        address = _plain_number(
            await evaluate_plain(connection, f"uintptr({value.name})", frame)
        ).value
    except DebuggerError:
        return value
    # The type is shown beside the value, and the star says nothing more than the address does.
    shown = value.value.removeprefix(f"{value.type} ").removeprefix("*")
    return msgspec.structs.replace(value, value=f"{address} {shown}")


def _plain_number(value: Variable) -> Variable:
    """Remove the second form of unsigned numbers: `5 = 0x5`; of an address, the first."""
    if value.value.startswith(_UNREADABLE):
        return msgspec.structs.replace(value, value="<optimized out>")
    match = _UNSIGNED.match(value.value)
    if match is None or value.handle:
        return value
    shown = match["hex"] if value.type == "uintptr" else match["value"]
    return msgspec.structs.replace(value, value=shown)


async def complete_variables(
    connection: AdapterConnection, variables: Sequence[Variable]
) -> list[Variable]:
    """Show numbers once, a map entry's type as its value's, and values that were not read."""
    shown = []
    unset = _unset_results(connection.inspected_frame)
    for one in variables:
        # A result holds what was there before: without a name until the function returns.
        # delve names a result without a name `~r0`, `~r1`.
        if one.name == _LENGTH or one.name.startswith("~r"):
            continue
        if one.name in unset and one.expression == one.name:
            continue
        read = (
            await _read_variable(connection, one)
            if _UNREAD in one.value and one.expression
            else one
        )
        shown.append(
            _plain_number(msgspec.structs.replace(read, type=read.type.rpartition(": ")[2]))
        )
    return shown


async def _read_variable(connection: AdapterConnection, variable: Variable) -> Variable:
    try:
        value = await evaluate_plain(
            connection, variable.expression or "", connection.inspected_frame
        )
    except DebuggerError:
        return variable
    return msgspec.structs.replace(value, name=variable.name)


async def read_page(
    connection: AdapterConnection, value: Variable, start: int, count: int
) -> list[Variable] | None:
    """Read a part of a list or a map; without a filter `variables` gives the first 64."""
    if value.indexed is None or not value.indexed:
        return None
    arguments = {
        "variablesReference": value.handle,
        "filter": "indexed",
        "start": start,
        "count": min(count, max(value.indexed - start, 0)),
    }
    if not arguments["count"]:
        return []
    body = await connection.send_request("variables", arguments, dap.VariablesBody)
    return await complete_variables(
        connection, [dap_convert.to_variable(one) for one in body.variables]
    )


async def assign_value(
    connection: AdapterConnection, target: str, value: str, frame: Frame
) -> bool:
    """Set anything that has an address: behind a pointer to it there is one variable to set.

    Raises:
        DebuggerError: EVALUATION_FAILED.
    """
    try:
        # setVariable needs the handle of what contains the variable. Behind a pointer to it there
        # is always exactly one variable, whatever the target is: a local, a field, an element.
        pointer = await evaluate_plain(connection, f"&({target})", frame)
        (behind,) = await connection.fetch_variables(pointer.handle, start=None, count=None)
        arguments = ask.SetVariableArguments(pointer.handle, behind.name, value)
        await connection.send_request(
            "setVariable", arguments, dap.EvaluateBody, failure=ErrorCode.EVALUATION_FAILED
        )
    except DebuggerError as error:
        if _NO_ADDRESS in error.message and await _is_gone(connection, target, frame):
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED,
                f"{target} has no value here: the function is optimized",
                hint="debugger locals lists what has; go build -gcflags='all=-N -l' keeps it",
            ) from error
        raise DebuggerError(
            ErrorCode.EVALUATION_FAILED, error_text(error.message), hint=error.hint
        ) from error
    except ValueError:
        raise DebuggerError(
            ErrorCode.EVALUATION_FAILED, f"{target} has no address", hint="debugger locals"
        ) from None
    return True


async def _is_gone(connection: AdapterConnection, target: str, frame: Frame) -> bool:
    """Return whether a variable cannot be read at this address: it is optimized out."""
    try:
        return _UNREADABLE in (await _request_evaluation(connection, target, frame)).value
    except DebuggerError:
        return False


_LEVELS = 12
_PANIC = "runtime.gopanic"
_INTERFACE = re.compile(r"interface \{\}\((?P<type>.*)\)\Z")
_G0 = 0  # what runs on a thread's own stack belongs to no goroutine
_NUMBER = re.compile(r"\d+")


async def read_exception(connection: AdapterConnection, stop: Stopped) -> ExceptionDetails | None:
    """Return the value of a panic, or the text of a fatal error or a signal.

    The type is the value's, "panic" for a plain text.
    """
    if stop.thread is None:
        return None
    frames = (await connection.read_stack(stop.thread, levels=_LEVELS)).frames
    # Up to 12 frames: the runtime's own functions for an index, a nil pointer or a division are
    # between.
    panic = next((one for one in frames if one.function == _PANIC), None)
    # A fatal error within a panic is the one that ends the program.
    if panic is not None and stop.description != "fatal error":
        return await _panic_details(connection, panic, frames[0])
    if stop.description == "fatal error" and not stop.text:
        return await _signal_details(connection, frames)
    return ExceptionDetails(stop.description or "error", unquote_go(stop.text))


async def _panic_details(
    connection: AdapterConnection, panic: Frame, innermost: Frame
) -> ExceptionDetails:
    """Read the argument of `gopanic`, or the text that the runtime has made of it to print."""
    value = await _evaluate_interface(connection, "e", panic)
    text = value
    # There the runtime has called Error() or String() of the value already, for its own message.
    if innermost.function == "runtime.fatalpanic":
        text = await _evaluate_interface(connection, "(*msgs).arg", innermost)
    if value is None or text is None:
        return ExceptionDetails("panic", "")
    kind = value[0]
    return ExceptionDetails("panic" if kind == "string" else kind, unquote_go(text[1]))


async def _evaluate_interface(
    connection: AdapterConnection, expression: str, frame: Frame
) -> tuple[str, str] | None:
    """Return the type and the text of an interface's value."""
    try:
        value = await evaluate_plain(connection, expression, frame)
    except DebuggerError:
        return None
    match = _INTERFACE.match(value.type)
    if match is None:
        return None
    return match["type"], value.value.removeprefix(f"{value.type} ")


async def _signal_details(
    connection: AdapterConnection, frames: Sequence[Frame]
) -> ExceptionDetails:
    """Name the signal that the runtime ends the program for."""
    if not frames or frames[0].function != "runtime.fatalsignal":
        # A signal is handled on the thread's own stack, which belongs to no goroutine.
        frames = (await connection.read_stack(_G0, levels=1)).frames
    why = "the runtime ends the program because of it"
    try:
        sent = await evaluate_plain(connection, "sig", frames[0])
        number = _NUMBER.search(sent.value)
        return ExceptionDetails(signal.Signals(int(number[0] if number else 0)).name, why)
    except (DebuggerError, IndexError, ValueError):
        return ExceptionDetails("signal", why)


def unquote_go(text: str) -> str:
    """Decode a string literal of Go; any other text stays unchanged."""
    if len(text) > 1 and text[0] == text[-1] == '"':
        try:
            return str(ast.literal_eval(text))
        except (SyntaxError, ValueError):
            return text[1:-1]
    return text.removeprefix('"')
