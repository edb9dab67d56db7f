"""Answers an editor's requests to look at a stopped program, and to change its values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from msgspec import Struct

from debugger.editors import editor_text
from debugger.editors.breakpoint_requests import EditorSource
from debugger.editors.editor_channel import EditorRequest
from debugger.editors.editor_conversation import EditorConversation
from debugger.editors.stop_values import EditorFrame
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.debugger_words import one_line
from debugger.model.events import State
from debugger.model.program import EvaluationPurpose, ScopeKind, StopReason, Thread, Variable
from debugger.session import source_files
from debugger.session.session import Session

Body = Mapping[str, Any] | None

_FRAMES_MAX = 1000
_CHILDREN_MAX = 2000  # of a value, in one answer
_COMPLETIONS_MAX = 100
_CHAIN_MAX = 500  # characters
_FAULTS = frozenset({StopReason.EXCEPTION, StopReason.SIGNAL})
# `$` and `@` begin names of PHP and Ruby.
_WORD = re.compile(r"(?:[A-Za-z_]|[$@]+)\w*\Z")
# Names, members and elements before a `.` or `->`, and nothing that could be a call's end.
_CHAIN = re.compile(r"(?<![\w.)\]])([A-Za-z_]\w*(?:(?:\.|->)[A-Za-z_]\w*|\[\w+\])*)(?:\.|->)\Z")


class EditorThreadsArguments(Struct, frozen=True):
    """Ours, not DAP's: whose threads a page shows."""

    session: str | None = None


async def threads(editor: EditorConversation, request: EditorRequest) -> Body:
    """Return the threads of all processes; those of children are named with their session.

    Those of one process, which a page may name, are not.
    """
    name = request.decode_arguments(EditorThreadsArguments).session
    session = editor.find_session(name)
    found: list[dict[str, Any]] = []
    for one in [session] if name is not None else session.family.tree_sessions(session):
        if one.state not in {State.RUNNING, State.STOPPED}:
            continue
        label = "" if one is session else f"{one.name}: "
        found += [
            {
                "id": editor.values.thread_number(one, each.id),
                "name": f"{label}{each.name or each.id}",
            }
            for each in await _list_threads(one)
        ]
    return {"threads": found}


async def _list_threads(session: Session) -> Sequence[Thread]:
    try:
        return await session.run_job(session.backend.list_threads)
    except DebuggerError:
        # A debugger may not say it of a program that runs.
        stop = session.last_stop
        return [Thread(stop.thread or 0 if stop is not None else 0, "")]


class EditorStackTraceArguments(Struct, frozen=True, rename="camel"):
    """DAP, StackTraceArguments."""

    thread_id: int
    start_frame: int = 0
    levels: int = 0


async def stack_trace(editor: EditorConversation, request: EditorRequest) -> Body:
    """Return frames of a thread, innermost first."""
    arguments = request.decode_arguments(EditorStackTraceArguments)
    found = editor.values.find_thread(arguments.thread_id)
    session = found.session
    session.require_state(State.STOPPED, to="show the stack")
    levels = min(arguments.levels or _FRAMES_MAX, _FRAMES_MAX)
    stack = await session.run_job(
        lambda: session.backend.read_stack(found.thread, start=arguments.start_frame, levels=levels)
    )
    if arguments.start_frame == 0 and stack.frames and found.thread == session.selection.thread:
        session.locate_stop(stack.frames[0])
    frames = [
        editor_text.frame_body(
            editor.values.add_frame(session, one, found.thread),
            one,
            lines_from=editor.lines_from,
            columns_from=editor.columns_from,
        )
        for one in stack.frames
    ]
    total = stack.total if stack.total is not None else arguments.start_frame + len(frames)
    return {"stackFrames": frames, "totalFrames": total}


class ScopesArguments(Struct, frozen=True, rename="camel"):
    """DAP, ScopesArguments."""

    frame_id: int


async def scopes(editor: EditorConversation, request: EditorRequest) -> Body:
    """Return the groups of variables of a frame."""
    arguments = request.decode_arguments(ScopesArguments)
    found = editor.values.find_frame(arguments.frame_id)
    session = found.session
    groups = await session.run_job(lambda: session.backend.read_scopes(found.frame))
    return {
        "scopes": [
            editor_text.scope_body(editor.values.add_value(found, one.handle, is_scope=True), one)
            for one in groups
        ]
    }


class EditorVariablesArguments(Struct, frozen=True, rename="camel"):
    """DAP, VariablesArguments."""

    variables_reference: int
    start: int = 0
    count: int = 0


async def variables(editor: EditorConversation, request: EditorRequest) -> Body:
    """Return the variables of a scope, or the children of a value, or a part of either."""
    arguments = request.decode_arguments(EditorVariablesArguments)
    value = editor.values.find_value(arguments.variables_reference)
    session = value.frame.session
    count = min(arguments.count or _CHILDREN_MAX, _CHILDREN_MAX)

    async def job() -> list[Variable]:
        found = await session.backend.read_variables(
            value.handle, start=max(arguments.start, 0), count=count
        )
        return found[:count]

    found = await session.run_job(job)
    editor.values.note_children(value, {one.name: one for one in found})
    bodies = [_variable(editor, value.frame, one) for one in found]
    if not arguments.count and len(found) == _CHILDREN_MAX:
        rest = f"more than {_CHILDREN_MAX}: ask for parts, by start and count"
        bodies.append({"name": "…", "value": rest, "variablesReference": 0})
    return {"variables": bodies}


def _variable(editor: EditorConversation, frame: EditorFrame, one: Variable) -> dict[str, Any]:
    return editor_text.variable_body(one, editor.values.add_value(frame, one.handle))


class EditorEvaluateArguments(Struct, frozen=True, rename="camel"):
    """DAP, EvaluateArguments."""

    expression: str
    frame_id: int | None = None
    context: str = "repl"


async def evaluate(editor: EditorConversation, request: EditorRequest) -> Body:
    """Evaluate an expression; only what a person types may change anything on purpose."""
    arguments = request.decode_arguments(EditorEvaluateArguments)
    expression = arguments.expression.strip()
    one_line(expression)
    if not expression:
        raise DebuggerError(ErrorCode.USAGE, "an empty expression", hint="give an expression")
    frame = await _frame_or_top(editor, arguments.frame_id)
    session = frame.session
    is_typed = arguments.context == "repl"
    purpose = EvaluationPurpose.EVALUATE if is_typed else EvaluationPurpose.PRINT

    async def job() -> Variable:
        value = await session.backend.evaluate(expression, frame.frame, purpose)
        return (await session.backend.complete_values([value]))[0]

    value = await session.run_job(job)
    if is_typed:
        session.selection.note_evaluated()
    number = editor.values.add_value(frame, value.handle)
    return editor_text.value_body(value, number, key="result")


async def _frame_or_top(editor: EditorConversation, number: int | None) -> EditorFrame:
    if number is not None:
        return editor.values.find_frame(number)
    session = editor.session
    session.require_state(State.STOPPED, to="evaluate")
    thread = session.selection.thread or 0
    stack = await session.run_job(lambda: session.backend.read_stack(thread, levels=1))
    if not stack.frames:
        raise DebuggerError(ErrorCode.WRONG_STATE, "no frame here", hint="pause it elsewhere")
    return editor.values.find_frame(editor.values.add_frame(session, stack.frames[0], thread))


class EditorSetVariableArguments(Struct, frozen=True, rename="camel"):
    """DAP, SetVariableArguments."""

    variables_reference: int
    name: str
    value: str


async def set_variable(editor: EditorConversation, request: EditorRequest) -> Body:
    """Set a variable, or a child of a value."""
    arguments = request.decode_arguments(EditorSetVariableArguments)
    value = editor.values.find_value(arguments.variables_reference)
    target = value.setters.get(arguments.name) or (arguments.name if value.is_scope else None)
    if target is None:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"{arguments.name[:100]} cannot be set here: the debugger has no expression for it",
            hint="set it by an expression in the console",
        )
    return await _assign(editor, value.frame, target, arguments.value)


class EditorSetExpressionArguments(Struct, frozen=True, rename="camel"):
    """DAP, SetExpressionArguments."""

    expression: str
    value: str
    frame_id: int | None = None


async def set_expression(editor: EditorConversation, request: EditorRequest) -> Body:
    """Set what an expression stands for."""
    arguments = request.decode_arguments(EditorSetExpressionArguments)
    frame = await _frame_or_top(editor, arguments.frame_id)
    return await _assign(editor, frame, arguments.expression, arguments.value)


async def _assign(
    editor: EditorConversation, frame: EditorFrame, target: str, text: str
) -> dict[str, Any]:
    one_line(target)
    one_line(text)
    session = frame.session
    changed = await session.run_job(lambda: session.backend.assign_value(target, text, frame.frame))
    session.selection.note_assigned()
    if editor.follower is not None:
        editor.follower.note_changes()
    number = editor.values.add_value(frame, changed.handle)
    return editor_text.value_body(changed, number, key="value")


class EditorSourceArguments(Struct, frozen=True, rename="camel"):
    """DAP, SourceArguments."""

    source_reference: int = 0
    source: EditorSource | None = None


async def source(editor: EditorConversation, request: EditorRequest) -> Body:
    """Return a source that is no file, or that only this machine has."""
    arguments = request.decode_arguments(EditorSourceArguments)
    reference = arguments.source_reference
    if arguments.source is not None:
        reference = arguments.source.source_reference or reference
    session = editor.session
    for frame in editor.values.frames_of(reference):
        text = await session.run_job(partial(session.backend.read_source, frame))
        if text is not None:
            return {"content": text}
    path = arguments.source.path if arguments.source is not None else None
    lines = source_files.read_source(path) if path is not None else None
    if lines is None:
        raise DebuggerError(
            ErrorCode.NOT_FOUND, "no such source at this stop", hint="ask for the stack again"
        )
    return {"content": "\n".join(lines)}


class ExceptionInfoArguments(Struct, frozen=True, rename="camel"):
    """DAP, ExceptionInfoArguments."""

    thread_id: int


async def exception_info(editor: EditorConversation, request: EditorRequest) -> Body:
    """Return the exception, or the signal, that the program stopped at."""
    arguments = request.decode_arguments(ExceptionInfoArguments)
    session = editor.values.find_thread(arguments.thread_id).session
    session.require_state(State.STOPPED, to="show the exception")
    stop = session.last_stop
    found = None
    # At other stops some adapters describe the breakpoint in the words of an exception.
    if stop is not None and stop.reason in _FAULTS:
        found = await session.run_job(lambda: session.backend.read_exception(stop))
    if found is None:
        raise DebuggerError(
            ErrorCode.NOT_FOUND, "no exception here", hint="the stop has another reason"
        )
    inner = [{"message": cause} for cause in found.causes]
    details: dict[str, Any] = {"message": found.message, "typeName": found.type}
    if found.trace:
        details["stackTrace"] = found.trace
    if inner:
        details["innerException"] = inner
    return {
        "exceptionId": found.type,
        "description": found.message,
        "breakMode": "always",
        "details": details,
    }


class CompletionsArguments(Struct, frozen=True, rename="camel"):
    """DAP, CompletionsArguments."""

    text: str
    column: int
    frame_id: int | None = None


async def completions(editor: EditorConversation, request: EditorRequest) -> Body:
    """Return the names that begin as the word before the cursor: variables, or a value's parts."""
    arguments = request.decode_arguments(CompletionsArguments)
    before = arguments.text[: max(arguments.column - editor.columns_from, 0)]
    match = _WORD.search(before)
    word = match[0] if match else ""
    rest = before[: len(before) - len(word)]
    owner, kind = None, "variable"
    if rest.endswith((".", "->")):
        # Of a chain of names only: to evaluate a call would run it.
        chain = _CHAIN.search(rest[-_CHAIN_MAX:])
        if chain is None:
            return {"targets": []}
        owner, kind = chain[1], "property"
    frame = await _frame_or_top(editor, arguments.frame_id)
    names = await (_names_in(frame) if owner is None else _names_of(frame, owner))
    targets = [{"label": name, "type": kind} for name in names if name.startswith(word)]
    return {"targets": targets[:_COMPLETIONS_MAX]}


async def _names_of(frame: EditorFrame, owner: str) -> list[str]:
    """Return the names of the parts of a value; none of what cannot be evaluated."""
    session = frame.session

    async def job() -> list[str]:
        value = await session.backend.evaluate(owner, frame.frame, EvaluationPurpose.PRINT)
        if not value.handle:
            return []
        found = await session.backend.read_variables(value.handle, count=_CHILDREN_MAX)
        return list(dict.fromkeys(each.name for each in found if _WORD.match(each.name)))

    try:
        return await session.run_job(job)
    except DebuggerError as error:
        if error.code is ErrorCode.EVALUATION_FAILED:
            return []
        raise


async def _names_in(frame: EditorFrame) -> list[str]:
    session = frame.session

    async def job() -> list[str]:
        names: dict[str, None] = {}
        for one in await session.backend.read_scopes(frame.frame):
            if one.kind not in {ScopeKind.LOCALS, ScopeKind.ARGUMENTS}:
                continue
            with suppress(DebuggerError):
                found = await session.backend.read_variables(one.handle, count=_CHILDREN_MAX)
                names |= {each.name: None for each in found if _WORD.match(each.name)}
        return list(names)

    return await session.run_job(job)
