"""Reads the program's threads, stacks, variables and values. Runs inside LLDB."""

from __future__ import annotations

import importlib
from typing import Any

lldb: Any = importlib.import_module("lldb")

bridge: Any = None
program: Any = None
# Frames and values of the present stop, by handle.
_frames: dict[int, tuple[int, int]] = {}
_values: dict[int, Any] = {}
_last = [0]
# As lldb-dap's summaries: see `lldb_values.is_cut_early` outside of LLDB.
_SHORT = 32
_TEXT = 1 << 16
# Children, where no number is requested: more than any answer has room for.
_ALL = 100_000


def begin(main: Any) -> dict[str, Any]:
    """Return the questions that this module answers, by name."""
    global bridge, program  # noqa: PLW0603 - there is one conversation
    bridge = main
    program = importlib.import_module("lldb_program")
    return {
        "threads": threads,
        "stack": stack,
        "scopes": scopes,
        "variables": variables,
        "size": size,
        "arguments": arguments,
        "assign": assign,
        "evaluate": evaluate,
        "returned": returned,
    }


def forget() -> None:
    """Forget all handles: the program stopped anew."""
    _frames.clear()
    _values.clear()


def _new_handle() -> int:
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
        raise bridge.RequestRefused(f"there is no thread {number}", "ADAPTER_FAILED")
    return thread


def stack(thread: int, start: int, levels: int) -> dict[str, Any]:
    """Return some frames of a thread."""
    chosen = thread_of(thread)
    total = chosen.GetNumFrames()
    frames = [
        _frame_data(chosen, chosen.GetFrameAtIndex(index))
        for index in range(start, min(start + levels, total))
    ]
    return {"frames": frames, "total": total}


def _frame_data(thread: Any, frame: Any) -> dict[str, Any]:
    handle = _new_handle()
    # Thread and index: the frame itself is looked up at each use.
    _frames[handle] = (thread.GetThreadID(), frame.GetFrameID())
    entry = frame.GetLineEntry()
    description = {
        "index": frame.GetFrameID(),
        "handle": handle,
        "function": frame.GetDisplayFunctionName() or f"{frame.GetPC():#018x}",
        "address": hex(frame.GetPC()),
        "module": frame.GetModule().GetFileSpec().GetFilename(),
    }
    if entry.IsValid() and entry.GetFileSpec().IsValid() and entry.GetLine():
        description["file"] = entry.GetFileSpec().fullpath
        description["line"] = entry.GetLine()
        description["column"] = entry.GetColumn() or None
    return description


def place_of(handle: int) -> tuple[int, int]:
    """Return the thread and the index of a frame, by its handle."""
    if handle not in _frames:
        raise bridge.RequestRefused("the frame is of another stop", "ADAPTER_FAILED")
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


def _listed_variables(frame: Any, what: str) -> list[Any]:
    if what == "globals":
        return list(frame.GetVariables(False, False, True, True))
    # A parameter may have no name, as the environment of a Rust closure.
    visible = frame.GetVariables(True, what == "locals", False, True)
    return [one for one in visible if one.GetName()]


def scopes(frame: int) -> list[dict[str, Any]]:
    """List the groups of variables of a frame."""
    current_frame = frame_of(frame)
    groups = []
    for name in ("locals", "globals"):
        handle = _new_handle()
        _values[handle] = _listed_variables(current_frame, name)
        groups.append({"name": name, "handle": handle})
    return groups


def arguments(frame: int) -> list[str]:
    """List the names of a frame's arguments."""
    return [
        one.GetName() for one in _listed_variables(frame_of(frame), "arguments") if one.GetName()
    ]


def _inner_values(handle: int) -> Any:
    if handle not in _values:
        raise bridge.RequestRefused("the value is of another stop", "ADAPTER_FAILED")
    return _values[handle]


def size(handle: int) -> int:
    """Count the children of a value."""
    content = _inner_values(handle)
    return len(content) if isinstance(content, list) else content.GetNumChildren()


def variables(handle: int, start: int, count: int | None) -> list[dict[str, Any]]:
    """Return the variables of a scope, the children of a value, or a part of either."""
    content = _inner_values(handle)
    end = start + (_ALL if count is None else count)
    if isinstance(content, list):
        names = [one.GetName() for one in content]
        return [_variable_data(one, _distinct_name(one, names)) for one in content[start:end]]
    last = min(end, content.GetNumChildren())
    children = [content.GetChildAtIndex(index) for index in range(start, last)]
    return [_variable_data(one, one.GetName() or "(anonymous)") for one in children]


def assign(handle: int, name: str, value: str) -> None:
    """Set a child of a value to a number, a truth or a character."""
    content = _inner_values(handle)
    every = content if isinstance(content, list) else list(content)
    child = next((one for one in every if one.GetName() == name), None)
    error = lldb.SBError()
    if child is None or not child.SetValueFromCString(value, error):
        raise bridge.RequestRefused(problem(error) or f"no {name} to set", "EVALUATION_FAILED")


def _distinct_name(value: Any, names: list[str]) -> str:
    """Add the line to the name of a variable that another one hides."""
    name: str = value.GetName() or "<anonymous>"
    declared = value.GetDeclaration()
    # An inner block's variable hides the outer one: both are listed.
    if names.count(value.GetName()) > 1 and declared.IsValid():
        return f"{name} @ {declared.GetFileSpec().GetFilename()}:{declared.GetLine()}"
    return name


def _variable_data(value: Any, name: str) -> dict[str, Any]:
    description: dict[str, Any]
    description = {"name": name, "value": text(value), "type": value.GetDisplayTypeName() or ""}
    stream = lldb.SBStream()
    # By it a client can evaluate the value again.
    if value.GetExpressionPath(stream):
        description["expression"] = stream.GetData()
    if value.MightHaveChildren():
        # One is enough to see the kind of the children; a container's real number is asked only for
        # a list.
        count = value.GetNumChildren(1)
        first = value.GetChildAtIndex(0).GetName() if count else ""
        description["handle"] = handle = _new_handle()
        _values[handle] = value
        if (first or "").startswith("["):
            description["indexed"] = value.GetNumChildren()
    return description


def text(value: Any) -> str:
    """Return a value's text in one line."""
    error = value.GetError()
    if error.Fail():
        return f"<error: {problem(error)}>"
    plain, summary = value.GetValue() or "", value.GetSummary() or ""
    if not summary and _has_members(value):
        summary = _struct_text(value)
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
    # A pointer to a struct shows the struct; to a number or another pointer, its address.
    is_struct = pointed & (lldb.eTypeClassStruct | lldb.eTypeClassClass | lldb.eTypeClassUnion)
    return bool(is_struct and value.GetValueAsUnsigned())


def _struct_text(value: Any) -> str:
    # As lldb-dap writes a struct: members up to 32 characters.
    text_so_far = "{"
    count = value.GetNumChildren(_SHORT + 1)
    for index in range(count):
        text_so_far += ", " if index else ""
        if len(text_so_far) > _SHORT:
            return text_so_far + "...}"
        child = value.GetChildAtIndex(index)
        name = child.GetName() or ""
        plain = child.GetSummary() or child.GetValue()
        is_read = child.GetError().Success()
        inner = plain or ("{...}" if child.MightHaveChildren() and is_read else "?")
        text_so_far += inner if name.startswith("[") or not name else f"{name}:{inner}"
    return text_so_far + "}"


def problem(error: Any) -> str:
    """Return LLDB's error message."""
    return (error.GetCString() or "it cannot be read").strip()


def _evaluate_value(frame: Any | None, expression: str) -> Any:
    if frame is None:
        value = program.target().EvaluateExpression(expression)
    else:
        # Reads only: it knows the elements of containers, which no expression can get at.
        # The path first: it needs no compiler, and has no side effects.
        value = frame.GetValueForVariablePath(expression)
        if not value.IsValid() or value.GetError().Fail():
            value = frame.EvaluateExpression(expression)
    error = value.GetError()
    # An expression of type void has a value with the error "no result".
    is_void = error.GetError() == _NO_RESULT and "no result" in (error.GetCString() or "")
    if error.Fail() and not is_void:
        raise bridge.RequestRefused(problem(error))
    return value


_NO_RESULT = 0x1001


def found(frame: Any | None, expression: str) -> dict[str, Any]:
    """Evaluate an expression in a frame."""
    value = _evaluate_value(frame, expression)
    if value.GetError().Fail():
        return {"name": expression, "value": "", "type": "void"}
    return {**_variable_data(value, expression), "expression": expression}


def evaluate(expression: str, frame: int | None) -> dict[str, Any]:
    """Evaluate an expression in a frame that was shown."""
    return found(frame_of(frame), expression)


def returned(thread: int) -> dict[str, Any] | None:
    """Return the value of a function that was stepped out of."""
    value = thread_of(thread).GetStopReturnValue()
    return _variable_data(value, "(return)") if value.IsValid() else None
