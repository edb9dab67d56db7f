"""Sets lists of breakpoints in LLDB, and reports how they bind. Runs inside LLDB."""

from __future__ import annotations

import importlib
import re
from typing import Any

lldb: Any = importlib.import_module("lldb")

bridge: Any = None
program: Any = None
values: Any = None
# LLDB's breakpoints of each list, by their request.
_set: dict[str, dict[str, Any]] = {}
_ours: set[int] = set()
# By LLDB's number: logpoints, with the request that has their text.
_logs: dict[int, dict[str, Any]] = {}
_bound: dict[int, bool] = {}
_PLACE = re.compile(r"^(?:error: )+(?:<user expression \d+>:\d+:\d+: )?")
# Exception breakpoints: language, at the catch, at the throw.
_FILTERS = {
    "cpp_throw": (lldb.eLanguageTypeC_plus_plus, False, True),
    "cpp_catch": (lldb.eLanguageTypeC_plus_plus, True, False),
    "objc_throw": (lldb.eLanguageTypeObjC, False, True),
    "objc_catch": (lldb.eLanguageTypeObjC, True, False),
    "swift_throw": (lldb.eLanguageTypeSwift, False, True),
    "swift_catch": (lldb.eLanguageTypeSwift, True, False),
}


def begin(main: Any) -> dict[str, Any]:
    """Return the questions that this module answers, by name."""
    global bridge, program, values  # noqa: PLW0603 - there is one conversation
    bridge = main
    program = importlib.import_module("lldb_program")
    values = importlib.import_module("lldb_values")
    return {"breakpoints": replace, "share_breakpoint": share}


def is_ours(number: int) -> bool:
    """Return whether a breakpoint was requested."""
    return number in _ours


def stops(number: int) -> bool:
    """Return whether a requested breakpoint stops the program; a logpoint does not."""
    return number in _ours and number not in _logs


def replace(name: str, wanted: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Replace a list of breakpoints; those that stay are left as they are, with their hits."""
    known = _set.setdefault(name, {})
    # The whole request is the key: a breakpoint that changed in anything is made anew.
    keys = [repr(sorted(one.items(), key=lambda item: item[0])) for one in wanted]
    # Those that stay keep their hit counts, which LLDB would start anew.
    for key in [key for key in known if key not in keys]:
        number = known.pop(key).GetID()
        _ours.discard(number)
        _logs.pop(number, None)
        program.target().BreakpointDelete(number)
    for index, key in enumerate(keys):
        if key not in known:
            known[key] = _make_breakpoint(wanted[index])
    answers = [bound(known[key]) for key in keys]
    _bound.update((one["id"], one["verified"]) for one in answers)
    return answers


def _make_breakpoint(one: dict[str, Any]) -> Any:
    target = program.target()
    if one.get("filter"):
        created = target.BreakpointCreateForException(*_FILTERS[one["filter"]])
    elif one.get("address"):
        created = target.BreakpointCreateByAddress(int(one["address"], 16))
    elif one.get("regex"):
        # The program's own functions: those of libraries are thousands.
        module = target.GetExecutable().GetFilename()
        created = target.BreakpointCreateByRegex(one["regex"], module)
    elif one.get("function"):
        created = target.BreakpointCreateByName(one["function"])
    else:
        created = target.BreakpointCreateByLocation(one["file"], one["line"])
    _ours.add(created.GetID())
    if one.get("condition"):
        created.SetCondition(one["condition"])
    if one.get("hit_count"):
        created.SetIgnoreCount(one["hit_count"] - 1)
    if one.get("log"):
        _logs[created.GetID()] = one
        # By name, in the one module that LLDB has imported: a callback's value decides whether the
        # program stops, without a stop that anybody sees.
        created.SetScriptCallbackFunction("lldb_inside.passed")
    return created


def share(number: int, owner: int) -> None:
    """Make a breakpoint that stands for another one log that one's text."""
    if owner in _logs:
        _logs[number] = _logs[owner]
        logpoint = program.target().FindBreakpointByID(number)
        logpoint.SetScriptCallbackFunction("lldb_inside.passed")


def bound(made: Any) -> dict[str, Any]:
    """Describe a breakpoint's location."""
    answer = {"id": made.GetID(), "verified": False}
    places = [made.GetLocationAtIndex(index) for index in range(made.GetNumLocations())]
    # A breakpoint at an address without code has a location, too.
    # Resolved locations first. Before the program is loaded none is: then those within a section of
    # the file are right, too.
    places = [one for one in places if one.IsResolved()] or [
        one for one in places if one.GetAddress().GetSection().IsValid()
    ]
    if not places:
        return answer
    where = places[0].GetAddress()
    entry = where.GetLineEntry()
    answer["verified"] = True
    answer["locations"] = made.GetNumLocations()
    load = where.GetLoadAddress(program.target())
    if load != lldb.LLDB_INVALID_ADDRESS:
        answer["address"] = hex(load)
    if entry.IsValid() and entry.GetLine():
        answer["file"] = entry.GetFileSpec().fullpath
        answer["line"] = entry.GetLine()
    function = where.GetFunction().GetDisplayName() if where.GetFunction().IsValid() else None
    if function:
        answer["function"] = function
    return answer


def changed(made: Any) -> None:
    """Report a breakpoint of which LLDB knows more now."""
    if not made.IsValid() or not is_ours(made.GetID()):
        return
    answer = bound(made)
    # Why one is not bound was reported already, and is not to be overwritten.
    # News are sent where a breakpoint has bound, or is bound no more.
    if answer["verified"] or _bound.get(answer["id"]):
        bridge.news("rebound", **answer)
    _bound[answer["id"]] = answer["verified"]


def passed(frame: Any, location: Any) -> bool:
    """Write a logpoint's text; the program goes on."""
    one = _logs.get(location.GetBreakpoint().GetID())
    if one is None:
        return True
    condition = one.get("condition")
    if condition:
        # LLDB comes here, too, where a condition cannot be evaluated.
        # A second evaluation: LLDB does not tell the callback why it was called.
        problem = frame.EvaluateExpression(condition).GetError()
        if problem.Fail():
            text = values.problem(problem)
            bridge.news("condition_failed", number=one["number"], text=f"{condition}: {text}")
            return False
    text_so_far = ""
    for part, is_expression in one["log"]:
        text_so_far += _fill_expression(frame, part) if is_expression else part
    bridge.news("logged", number=one["number"], text=text_so_far)
    return False


def _fill_expression(frame: Any, expression: str) -> str:
    try:
        value: str = values.found(frame, expression)["value"]
    except bridge.RequestRefused as error:
        return f"<{_PLACE.sub('', str(error).partition(chr(10))[0])}>"
    return value
