"""Continues and steps the program, and disassembles its code. Runs inside LLDB."""

from __future__ import annotations

import importlib
from typing import Any

lldb: Any = importlib.import_module("lldb")

bridge: Any = None
program: Any = None
values: Any = None
events: Any = None
# The calls of the last listing, by number: the functions' names.
_calls: dict[int, str] = {}
_last = [0]


def begin(main: Any) -> dict[str, Any]:
    """Return the questions that this module answers, by name."""
    global bridge, program, values, events  # noqa: PLW0603 - there is one conversation
    bridge = main
    program = importlib.import_module("lldb_program")
    values = importlib.import_module("lldb_values")
    events = importlib.import_module("lldb_events")
    return {
        "resume": resume,
        "pause": pause,
        "step_targets": step_targets,
        "step_into": step_into,
        "instructions": instructions,
        "modules": modules,
    }


def resume(*, how: str, thread: int, alone: bool = False) -> None:
    """Let the program run, or one thread of it."""
    chosen = values.thread_of(thread)
    process = program.process()
    process.SetSelectedThread(chosen)
    if alone:
        events.hold_back(chosen)
    error = lldb.SBError()
    # By default the other threads run while a step goes over a call: one of them may hold a lock
    # that the call waits for.
    mode = lldb.eOnlyThisThread if alone else lldb.eOnlyDuringStepping
    if how == "continue":
        error = process.Continue()
    elif how == "next":
        chosen.StepOver(mode, error)
    elif how == "step":
        chosen.StepInto(None, lldb.LLDB_INVALID_LINE_NUMBER, error, mode)
    elif chosen.GetNumFrames() > 1:
        chosen.StepOut(error)
    else:
        error.SetErrorString("it is in the outermost frame")
    if error.Fail():
        # A resume that failed leaves no thread suspended.
        events.let_go()
        raise bridge.RequestRefused(error.GetCString() or f"cannot {how}", "ADAPTER_FAILED")


def pause() -> None:
    """Request that the program stops; the stop is reported as an event."""
    program.process().SendAsyncInterrupt()


def step_targets(frame: int) -> list[dict[str, Any]]:
    """List the calls in the line of a frame, in their order."""
    current_frame = values.frame_of(frame)
    target = program.target()
    here = current_frame.GetLineEntry()
    function = current_frame.GetFunction()
    _calls.clear()
    if not function.IsValid() or not here.IsValid():
        return []
    targets = []
    for one in function.GetInstructions(target):
        entry = one.GetAddress().GetLineEntry()
        is_here = entry.GetLine() == here.GetLine() and entry.GetFileSpec() == here.GetFileSpec()
        # Calls before the program counter are done already.
        if not is_here or one.GetAddress().GetLoadAddress(target) < current_frame.GetPC():
            continue
        name = _called_function(one, target)
        # StepInto takes a name: of two calls of one function only the first can be chosen.
        if name is not None and name not in _calls.values():
            _last[0] += 1
            _calls[_last[0]] = name
            targets.append({"id": _last[0], "label": name})
    return targets


def _called_function(one: Any, target: Any) -> str | None:
    if not (one.GetMnemonic(target) or "").startswith(("call", "bl")):
        return None
    words = (one.GetOperands(target) or "").split()
    try:
        # A direct call's only operand. A call through a register or memory has no name yet.
        address = int(words[-1], 16)
    except (IndexError, ValueError):
        return None
    # A stub of a library's function has a symbol, and no function.
    where = target.ResolveLoadAddress(address)
    name = where.GetFunction().GetDisplayName() or where.GetSymbol().GetDisplayName()
    return name or None


def step_into(target: int, thread: int) -> None:
    """Step into one of the listed calls."""
    if target not in _calls:
        raise bridge.RequestRefused("the call is of another stop", "ADAPTER_FAILED")
    chosen = values.thread_of(thread)
    error = lldb.SBError()
    name = _calls[target].partition("(")[0]
    # Without the arguments: LLDB compares with the plain name.
    chosen.StepInto(name, lldb.LLDB_INVALID_LINE_NUMBER, error, lldb.eOnlyDuringStepping)
    if error.Fail():
        raise bridge.RequestRefused(error.GetCString(), "ADAPTER_FAILED")


def instructions(address: int, count: int) -> list[dict[str, Any]]:
    """Disassemble instructions."""
    target = program.target()
    answers = []
    for one in target.ReadInstructions(target.ResolveLoadAddress(address), count):
        where = one.GetAddress()
        entry = where.GetLineEntry()
        parts = (one.GetMnemonic(target), one.GetOperands(target))
        comment = one.GetComment(target)
        error = lldb.SBError()
        code = one.GetData(target).ReadRawData(error, 0, one.GetByteSize())
        name = where.GetFunction().GetDisplayName() or where.GetSymbol().GetDisplayName()
        answers.append(
            {
                "address": where.GetLoadAddress(target),
                "text": " ".join(filter(None, (*parts, f"; {comment}" if comment else ""))),
                "bytes": code.hex(" ") if code else "",
                "function": name or None,
                "file": entry.GetFileSpec().fullpath if entry.IsValid() else None,
                "line": (entry.GetLine() or None) if entry.IsValid() else None,
            }
        )
    return answers


def modules() -> list[dict[str, Any]]:
    """List the program and its libraries."""
    target = program.target()
    answers = []
    for one in target.module_iter():
        header = one.GetObjectFileHeaderAddress().GetLoadAddress(target)
        has_symbols = one.GetNumCompileUnits() > 0
        answers.append(
            {
                "name": one.GetFileSpec().GetFilename() or "?",
                "path": one.GetFileSpec().fullpath,
                "address": hex(header) if header != lldb.LLDB_INVALID_ADDRESS else None,
                "symbols": "Symbols loaded." if has_symbols else "Symbols not found.",
            }
        )
    return answers
