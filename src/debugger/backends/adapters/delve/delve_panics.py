"""Explains a Go panic or a fatal error of Go's runtime (delve 1.27.2)."""

from __future__ import annotations

import ast
import re
import signal
from collections.abc import Sequence

from debugger.backends.adapters.delve import delve_values
from debugger.backends.dap.adapter_profile import AdapterAccess
from debugger.errors import DebuggerError
from debugger.model.program import ExceptionDetails, Frame, Stopped

_LEVELS = 12
_PANIC = "runtime.gopanic"
_INTERFACE = re.compile(r"interface \{\}\((?P<type>.*)\)\Z")
_G0 = 0  # what runs on a thread's own stack belongs to no goroutine
_NUMBER = re.compile(r"\d+")


async def read_exception(inside: AdapterAccess, stop: Stopped) -> ExceptionDetails | None:
    """Return what was panicked with, or the words of a fatal error or a signal.

    The type is the value's, "panic" for a plain text.
    """
    if stop.thread is None:
        return None
    frames = (await inside.read_stack(stop.thread, levels=_LEVELS)).frames
    panic = next((one for one in frames if one.function == _PANIC), None)
    if panic is not None and stop.description != "fatal error":
        return await _panic_details(inside, panic, frames[0])
    if stop.description == "fatal error" and not stop.text:
        return await _signal_details(inside, frames)
    return ExceptionDetails(stop.description or "error", unquote_go(stop.text))


async def _panic_details(inside: AdapterAccess, panic: Frame, innermost: Frame) -> ExceptionDetails:
    """Read the argument of `gopanic`, and what the runtime has made of it to print, if it has."""
    value = await _evaluate_interface(inside, "e", panic)
    text = value
    if innermost.function == "runtime.fatalpanic":
        text = await _evaluate_interface(inside, "(*msgs).arg", innermost)
    if value is None or text is None:
        return ExceptionDetails("panic", "")
    kind = value[0]
    return ExceptionDetails("panic" if kind == "string" else kind, unquote_go(text[1]))


async def _evaluate_interface(
    inside: AdapterAccess, expression: str, frame: Frame
) -> tuple[str, str] | None:
    """Return the type and the text of what an interface holds."""
    try:
        value = await delve_values.evaluate_plain(inside, expression, frame)
    except DebuggerError:
        return None
    match = _INTERFACE.match(value.type)
    if match is None:
        return None
    return match["type"], value.value.removeprefix(f"{value.type} ")


async def _signal_details(inside: AdapterAccess, frames: Sequence[Frame]) -> ExceptionDetails:
    """Name the signal that the runtime ends the program for."""
    if not frames or frames[0].function != "runtime.fatalsignal":
        frames = (await inside.read_stack(_G0, levels=1)).frames
    why = "the runtime ends the program because of it"
    try:
        sent = await delve_values.evaluate_plain(inside, "sig", frames[0])
        number = _NUMBER.search(sent.value)
        return ExceptionDetails(signal.Signals(int(number[0] if number else 0)).name, why)
    except (DebuggerError, IndexError, ValueError):
        return ExceptionDetails("signal", why)


def unquote_go(text: str) -> str:
    """Read what Go quotes (a string's literal); something else stays as it is."""
    if len(text) > 1 and text[0] == text[-1] == '"':
        try:
            return str(ast.literal_eval(text))
        except (SyntaxError, ValueError):
            return text[1:-1]
    return text.removeprefix('"')
