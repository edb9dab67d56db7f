"""Reads the program's threads, stacks, variables and values. Runs inside LLDB."""

from __future__ import annotations

import importlib
from typing import Any

lldb: Any = importlib.import_module("lldb")

inside: Any = None
program: Any = None
# Frames and values of the present stop, by handle.
_frames: dict[int, tuple[int, int]] = {}
_held: dict[int, Any] = {}
_last = [0]
_SHORT = 32
_TEXT = 1 << 16
_ALL = 100_000


def begin(main: Any) -> dict[str, Any]:
    """Return the questions that this module answers, by name."""
    global inside, program  # noqa: PLW0603 - there is one conversation
    inside = main
    program = importlib.import_module("lldb_program")
    return {
        "threads": threads,
        "stack": stack,
        "scopes": scopes,
        "variables": variables,
        "size": size,
        "arguments": arguments,
        "evaluate": evaluate,
        "returned": returned,
    }


def forget() -> None:
    """Forget all handles: the program stopped anew."""
    _frames.clear()
    _held.clear()


def _handle() -> int:
    _last[0] += 1
    return _last[0]


def threads() -> list[dict[str, Any]]:
    """List the threads."""
    return [
        {"id": one.GetThreadID(), "name": one.GetName() or f"thread {one.GetIndexID()}"}
        for one in program.process()
    ]


def thread_of(number: int) -> Any:
    """Return a thread by its number."""
    thread = program.process().GetThreadByID(number)
    if not thread.IsValid():
        raise inside.Refused(f"there is no thread {number}", "ADAPTER_FAILED")
    return thread


def stack(thread: int, start: int, levels: int) -> dict[str, Any]:
    """Return some frames of a thread."""
    chosen = thread_of(thread)
    total = chosen.GetNumFrames()
    frames = [
        _frame(chosen, chosen.GetFrameAtIndex(at))
        for at in range(start, min(start + levels, total))
    ]
    return {"frames": frames, "total": total}


def _frame(thread: Any, frame: Any) -> dict[str, Any]:
    handle = _handle()
    _frames[handle] = (thread.GetThreadID(), frame.GetFrameID())
    entry = frame.GetLineEntry()
    told = {
        "index": frame.GetFrameID(),
        "handle": handle,
        "function": frame.GetDisplayFunctionName() or f"{frame.GetPC():#018x}",
        "address": hex(frame.GetPC()),
        "module": frame.GetModule().GetFileSpec().GetFilename(),
    }
    if entry.IsValid() and entry.GetFileSpec().IsValid() and entry.GetLine():
        told["file"] = entry.GetFileSpec().fullpath
        told["line"] = entry.GetLine()
        told["column"] = entry.GetColumn() or None
    return told


def place_of(handle: int) -> tuple[int, int]:
    """Return the thread and the index of a frame, by its handle."""
    if handle not in _frames:
        raise inside.Refused("the frame is of another stop", "ADAPTER_FAILED")
    return _frames[handle]


def frame_of(handle: int | None) -> Any | None:
    """Return a frame by its handle, and select it."""
    if handle is None:
        return None
    number, index = place_of(handle)
    thread = thread_of(number)
    program.process().SetSelectedThread(thread)
    # Raw commands and expressions without a frame are about the selected one.
    thread.SetSelectedFrame(index)
    return thread.GetFrameAtIndex(index)


def _listed(frame: Any, what: str) -> list[Any]:
    if what == "globals":
        return list(frame.GetVariables(False, False, True, True))
    # A parameter may have no name, as the environment of a Rust closure.
    found = frame.GetVariables(True, what == "locals", False, True)
    return [one for one in found if one.GetName()]


def scopes(frame: int) -> list[dict[str, Any]]:
    """List the groups of variables of a frame."""
    found = frame_of(frame)
    told = []
    for name in ("locals", "globals"):
        handle = _handle()
        _held[handle] = _listed(found, name)
        told.append({"name": name, "handle": handle})
    return told


def arguments(frame: int) -> list[str]:
    """List the names of a frame's arguments."""
    return [one.GetName() for one in _listed(frame_of(frame), "arguments") if one.GetName()]


def _inner(handle: int) -> Any:
    if handle not in _held:
        raise inside.Refused("the value is of another stop", "ADAPTER_FAILED")
    return _held[handle]


def size(handle: int) -> int:
    """Count the children of a value."""
    held = _inner(handle)
    return len(held) if isinstance(held, list) else held.GetNumChildren()


def variables(handle: int, start: int, count: int | None) -> list[dict[str, Any]]:
    """Return the variables of a scope, the children of a value, or a part of either."""
    held = _inner(handle)
    end = start + (_ALL if count is None else count)
    if isinstance(held, list):
        names = [one.GetName() for one in held]
        return [_variable(one, _named(one, names)) for one in held[start:end]]
    last = min(end, held.GetNumChildren())
    children = [held.GetChildAtIndex(at) for at in range(start, last)]
    return [_variable(one, one.GetName() or "(anonymous)") for one in children]


def _named(value: Any, names: list[str]) -> str:
    """Add the line to the name of a variable that another one hides."""
    name: str = value.GetName() or "<anonymous>"
    declared = value.GetDeclaration()
    if names.count(value.GetName()) > 1 and declared.IsValid():
        return f"{name} @ {declared.GetFileSpec().GetFilename()}:{declared.GetLine()}"
    return name


def _variable(value: Any, name: str) -> dict[str, Any]:
    told: dict[str, Any]
    told = {"name": name, "value": text(value), "type": value.GetDisplayTypeName() or ""}
    stream = lldb.SBStream()
    if value.GetExpressionPath(stream):
        told["expression"] = stream.GetData()
    if value.MightHaveChildren():
        count = value.GetNumChildren(1)
        first = value.GetChildAtIndex(0).GetName() if count else ""
        told["handle"] = handle = _handle()
        _held[handle] = value
        if (first or "").startswith("["):
            told["indexed"] = value.GetNumChildren()
    return told


def text(value: Any) -> str:
    """Return a value's text in one line."""
    error = value.GetError()
    if error.Fail():
        return f"<error: {problem(error)}>"
    plain, summary = value.GetValue() or "", value.GetSummary() or ""
    if not summary and _has_members(value):
        summary = _struct(value)
    both = " ".join(part for part in (plain, summary) if part)
    if both:
        return both[:_TEXT]
    address = value.GetLoadAddress()
    kind = value.GetDisplayTypeName() or ""
    return f"{kind} @ {address:#x}" if address != lldb.LLDB_INVALID_ADDRESS else kind


def _has_members(value: Any) -> bool:
    """Return whether a value's children add to its text; a pointed-to number does not."""
    kind = value.GetType().GetCanonicalType()
    if not kind.IsPointerType():
        return bool(value.MightHaveChildren())
    pointed = kind.GetPointeeType().GetCanonicalType().GetTypeClass()
    is_struct = pointed & (lldb.eTypeClassStruct | lldb.eTypeClassClass | lldb.eTypeClassUnion)
    return bool(is_struct and value.GetValueAsUnsigned())


def _struct(value: Any) -> str:
    said = "{"
    count = value.GetNumChildren(_SHORT + 1)
    for at in range(count):
        said += ", " if at else ""
        if len(said) > _SHORT:
            return said + "...}"
        child = value.GetChildAtIndex(at)
        name = child.GetName() or ""
        plain = child.GetSummary() or child.GetValue()
        is_read = child.GetError().Success()
        inner = plain or ("{...}" if child.MightHaveChildren() and is_read else "?")
        said += inner if name.startswith("[") or not name else f"{name}:{inner}"
    return said + "}"


def problem(error: Any) -> str:
    """Return LLDB's error message."""
    return (error.GetCString() or "it cannot be read").strip()


def _value(frame: Any | None, expression: str) -> Any:
    if frame is None:
        value = program.target().EvaluateExpression(expression)
    else:
        # Reads only: it knows the elements of containers, which no expression can get at.
        value = frame.GetValueForVariablePath(expression)
        if not value.IsValid() or value.GetError().Fail():
            value = frame.EvaluateExpression(expression)
    error = value.GetError()
    # An expression of type void has a value with the error "no result".
    is_void = error.GetError() == _NO_RESULT and "no result" in (error.GetCString() or "")
    if error.Fail() and not is_void:
        raise inside.Refused(problem(error))
    return value


_NO_RESULT = 0x1001


def found(frame: Any | None, expression: str) -> dict[str, Any]:
    """Evaluate an expression in a frame."""
    value = _value(frame, expression)
    if value.GetError().Fail():
        return {"name": expression, "value": "", "type": "void"}
    return {**_variable(value, expression), "expression": expression}


def evaluate(expression: str, frame: int | None) -> dict[str, Any]:
    """Evaluate an expression in a frame that was shown."""
    return found(frame_of(frame), expression)


def returned(thread: int) -> dict[str, Any] | None:
    """Return the value of a function that was stepped out of."""
    value = thread_of(thread).GetStopReturnValue()
    return _variable(value, "(return)") if value.IsValid() else None
