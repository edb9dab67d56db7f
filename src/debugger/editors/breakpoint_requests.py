"""Answers an editor's requests for breakpoints of all kinds.

An editor sends the whole list of a file, or of a kind. Only what the editor itself has listed
before, and leaves out now, is removed: a breakpoint that another client has set stays, and one that
both set is the same.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from debugger.backends.abilities import ExceptionAbility, WatchpointAbility
from debugger.editors.editor_channel import EditorRequest
from debugger.editors.editor_conversation import EditorConversation
from debugger.editors.editor_text import breakpoint_body
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import Breakpoint, BreakpointKind, BreakpointSpec, WatchAccess
from debugger.model.debugger_words import one_line
from debugger.model.events import State
from debugger.session import process_tree
from debugger.session.session import Session

Body = Mapping[str, Any] | None

_MOST = 1000  # breakpoints in a request
_COUNT = re.compile(r"\s*(?:>=|==|=|%|>)?\s*(\d{1,9})\s*\Z")
_ACCESS = {
    "read": WatchAccess.READ,
    "write": WatchAccess.WRITE,
    "readWrite": WatchAccess.ANY,
}


class EditorSource(Struct, frozen=True, rename="camel"):
    """DAP, Source."""

    path: str | None = None
    name: str | None = None
    source_reference: int = 0


class SourceBreakpoint(Struct, frozen=True, rename="camel"):
    """DAP, SourceBreakpoint."""

    line: int
    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None


class EditorSetBreakpointsArguments(Struct, frozen=True):
    """DAP, SetBreakpointsArguments."""

    source: EditorSource
    breakpoints: tuple[SourceBreakpoint, ...] = ()
    lines: tuple[int, ...] = ()


async def set_breakpoints(editor: EditorConversation, request: EditorRequest) -> Body:
    """Replace the editor's breakpoints of one file."""
    arguments = request.decode_arguments(EditorSetBreakpointsArguments)
    path = arguments.source.path
    if path is None:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            "a source without a path cannot have breakpoints",
            hint="a function breakpoint stops in it",
        )
    requested = arguments.breakpoints or tuple(map(SourceBreakpoint, arguments.lines))
    specs = [
        _with_options(
            BreakpointSpec(file=os.path.normpath(path), line=one.line + 1 - editor.lines_from),
            one.condition,
            one.hit_condition,
            one.log_message,
        )
        for one in requested
    ]
    return await _replace_list(editor, f"file {os.path.normpath(path)}", specs)


class FunctionBreakpoint(Struct, frozen=True, rename="camel"):
    """DAP, FunctionBreakpoint."""

    name: str
    condition: str | None = None
    hit_condition: str | None = None


class EditorSetFunctionBreakpointsArguments(Struct, frozen=True):
    """DAP, SetFunctionBreakpointsArguments."""

    breakpoints: tuple[FunctionBreakpoint, ...]


async def set_function_breakpoints(editor: EditorConversation, request: EditorRequest) -> Body:
    """Replace the editor's function breakpoints."""
    arguments = request.decode_arguments(EditorSetFunctionBreakpointsArguments)
    specs = [
        _with_options(BreakpointSpec(function=one.name), one.condition, one.hit_condition)
        for one in arguments.breakpoints
    ]
    return await _replace_list(editor, BreakpointKind.FUNCTION.value, specs)


class InstructionBreakpoint(Struct, frozen=True, rename="camel"):
    """DAP, InstructionBreakpoint."""

    instruction_reference: str
    offset: int = 0
    condition: str | None = None
    hit_condition: str | None = None


class EditorSetInstructionBreakpointsArguments(Struct, frozen=True):
    """DAP, SetInstructionBreakpointsArguments."""

    breakpoints: tuple[InstructionBreakpoint, ...]


async def set_instruction_breakpoints(editor: EditorConversation, request: EditorRequest) -> Body:
    """Replace the editor's breakpoints at addresses."""
    arguments = request.decode_arguments(EditorSetInstructionBreakpointsArguments)
    specs = [
        _with_options(
            BreakpointSpec(address=hex(parse_address(one.instruction_reference) + one.offset)),
            one.condition,
            one.hit_condition,
        )
        for one in arguments.breakpoints
    ]
    return await _replace_list(editor, BreakpointKind.ADDRESS.value, specs)


class FilterOptions(Struct, frozen=True, rename="camel"):
    """DAP, ExceptionFilterOptions."""

    filter_id: str
    condition: str | None = None


class EditorSetExceptionBreakpointsArguments(Struct, frozen=True, rename="camel"):
    """DAP, SetExceptionBreakpointsArguments."""

    filters: tuple[str, ...] = ()
    filter_options: tuple[FilterOptions, ...] = ()


async def set_exception_breakpoints(editor: EditorConversation, request: EditorRequest) -> Body:
    """Replace the exceptions that the editor wants to stop at."""
    arguments = request.decode_arguments(EditorSetExceptionBreakpointsArguments)
    options = {one.filter_id: one.condition for one in arguments.filter_options}
    requested = {**dict.fromkeys(arguments.filters), **options}
    session = editor.session
    known = requested
    if session.is_live:
        try:
            known = dict.fromkeys(session.backend.find_ability(ExceptionAbility).catch_filters)
        except DebuggerError:
            known = {}
    specs = [
        BreakpointSpec(catch=word, type=requested[word]) for word in requested if word in known
    ]
    body = await _replace_list(editor, BreakpointKind.EXCEPTION.value, specs)
    answers = iter(body["breakpoints"])
    refused = {"verified": False, "message": f"{session.adapter} cannot stop at these"}
    return {"breakpoints": [next(answers) if word in known else refused for word in requested]}


class EditorDataBreakpointInfoArguments(Struct, frozen=True, rename="camel"):
    """DAP, DataBreakpointInfoArguments."""

    name: str
    variables_reference: int = 0
    frame_id: int | None = None


async def data_breakpoint_info(editor: EditorConversation, request: EditorRequest) -> Body:
    """Say whether a value can be watched, and under which name."""
    arguments = request.decode_arguments(EditorDataBreakpointInfoArguments)
    expression = arguments.name
    if arguments.variables_reference:
        value = editor.values.find_value(arguments.variables_reference)
        expression = value.setters.get(arguments.name, arguments.name)
    try:
        editor.session.backend.find_ability(WatchpointAbility)
    except DebuggerError as error:  # the protocol says so in the answer
        return {"dataId": None, "description": error.message}
    return {
        "dataId": expression,
        "description": expression,
        "accessTypes": list(_ACCESS),
        "canPersist": False,
    }


class DataBreakpoint(Struct, frozen=True, rename="camel"):
    """DAP, DataBreakpoint."""

    data_id: str
    access_type: str = "write"
    condition: str | None = None
    hit_condition: str | None = None


class EditorSetDataBreakpointsArguments(Struct, frozen=True):
    """DAP, SetDataBreakpointsArguments."""

    breakpoints: tuple[DataBreakpoint, ...]


async def set_data_breakpoints(editor: EditorConversation, request: EditorRequest) -> Body:
    """Replace the editor's watchpoints."""
    arguments = request.decode_arguments(EditorSetDataBreakpointsArguments)
    specs = []
    for one in arguments.breakpoints:
        one_line(one.data_id)
        access = _ACCESS.get(one.access_type, WatchAccess.WRITE)
        spec = BreakpointSpec(watch=one.data_id, access=access)
        specs.append(_with_options(spec, one.condition, one.hit_condition))
    return await _replace_list(editor, BreakpointKind.WATCHPOINT.value, specs)


def parse_address(text: str) -> int:
    """Parse a memory reference.

    Raises:
        DebuggerError: USAGE.
    """
    try:
        return int(text, 0)
    except ValueError:
        raise DebuggerError(
            ErrorCode.USAGE, f"not an address: {text[:40]}", hint="an address is 0x…"
        ) from None


def _with_options(
    spec: BreakpointSpec, condition: str | None, count: str | None, log: str | None = None
) -> BreakpointSpec:
    for text in (condition, log, spec.function):
        if text:
            one_line(text)
    return msgspec.structs.replace(
        spec, condition=condition or None, hit_count=_parse_count(count), log=log or None
    )


def _parse_count(text: str | None) -> int | None:
    """Parse a hit condition: N, or `>= N`, stops at the Nth hit and after.

    Raises:
        DebuggerError: USAGE for any other text.
    """
    if not text or not text.strip():
        return None
    match = _COUNT.match(text)
    if match is None or not int(match[1]) or text.strip().startswith(("%", "=")):
        raise DebuggerError(
            ErrorCode.USAGE,
            f"a hit condition is a number of hits, not {text[:40]!r}",
            hint="5 stops at the 5th hit and after",
        )
    return int(match[1]) + int(text.strip().startswith(">") and not text.strip().startswith(">="))


async def _replace_list(
    editor: EditorConversation, key: str, specs: Sequence[BreakpointSpec]
) -> dict[str, Any]:
    """Set what is new, remove what the editor no longer lists, and answer in its order."""
    if len(specs) > _MOST:
        raise DebuggerError(
            ErrorCode.USAGE, f"more than {_MOST} breakpoints at once", hint="remove some"
        )
    session = editor.session
    async with editor.order:
        answers = [await _add(session, spec) for spec in specs]
        numbers = [one.id for one in answers if isinstance(one, Breakpoint)]
        for number in editor.listed.get(key, ()):
            known = session.breakpoints.find(number)
            if known is not None and number not in numbers:
                await process_tree.drop_breakpoint(session, known)
        editor.listed[key] = numbers
        if editor.follower is not None:
            editor.follower.note_breakpoints()
    return {
        "breakpoints": [
            {"verified": False, "message": one}
            if isinstance(one, str)
            else breakpoint_body(session.breakpoints.find(one.id) or one)
            for one in answers
        ]
    }


async def _add(session: Session, spec: BreakpointSpec) -> Breakpoint | str:
    """Set a breakpoint; return why where it cannot be set at all."""
    try:
        if spec.kind is BreakpointKind.WATCHPOINT:
            return await session.run_job(lambda: _watch(session, spec))
        return await process_tree.add_breakpoint(session, spec)
    except DebuggerError as error:
        return f"{error.message}; {error.hint}" if error.hint else error.message


async def _watch(session: Session, spec: BreakpointSpec) -> Breakpoint:
    watching = session.binding.watching
    for known in watching.watchpoints():
        if (known.spec.watch, known.spec.access) == (spec.watch, spec.access):
            return known
    session.require_state(State.STOPPED, to="watch")
    stack = await session.backend.read_stack(session.selection.thread or 0, levels=1)
    if not stack.frames:
        raise DebuggerError(ErrorCode.WRONG_STATE, "no frame here", hint="pause it elsewhere")
    return await watching.add(spec, session.backend, stack.frames[0])
