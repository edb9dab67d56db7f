"""Evaluates expressions and reads locals in all members of a group, and merges the values."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.debugger_words import Runtime
from debugger.model.events import State
from debugger.model.group_labels import format_members
from debugger.model.group_merge import merge_values
from debugger.model.number_format import NumberFormat
from debugger.model.program import EvaluationPurpose
from debugger.questions.group.answer import GroupValues, NamedValues
from debugger.questions.group.group_choice import ChosenMembers, all_ended
from debugger.session import inspection, value_inspection
from debugger.session.group import (
    Group,
    Member,
    SilentMember,
    ask_members,
    drop_launcher,
    is_started,
)
from debugger.session.session import Session

_T = TypeVar("_T")
VALUES_S = 5.0  # seconds until a member must have answered
_ARRAYS = {"ndarray", "Tensor", "Parameter"}
_ARRAY_CODE = "debugger_array_values"
_ARRAY_FILE = Path(__file__).parent / "inside" / "array_values.py"
_LOADER = """
import sys, types
if NAME not in sys.modules:
    made = types.ModuleType(NAME)
    exec(compile(TEXT, "<string>", "exec"), made.__dict__)
    sys.modules[NAME] = made
"""
_NOT_STOPPED = "{}; values are read at a stop"


async def evaluate_in_members(
    chosen: ChosenMembers,
    expression: str,
    *,
    form: NumberFormat | None = None,
    purpose: EvaluationPurpose = EvaluationPurpose.PRINT,
) -> GroupValues:
    """Evaluate an expression in the current frame of each stopped member.

    Arrays and tensors of Python are described: by their texts nobody sees which of them differ.
    An evaluation that may change the program (EVALUATE) is refused while a person controls it.

    Raises:
        DebuggerError: WRONG_STATE if no member is stopped; EVALUATION_FAILED if it fails in all.
    """

    async def evaluate(member: Member) -> str:
        session = member.session
        if purpose is EvaluationPurpose.EVALUATE:
            session.control.check_agent("eval")
        text = _describing(expression) if form is None and _has_arrays(session) else None
        if text is None:
            return (await _evaluate_text(session, expression, form, purpose)).value
        await _load_array_code(session)
        try:
            return (await _evaluate_text(session, text, form, purpose)).value
        finally:
            await _remove_array_code(session, chosen.group)

    stopped, silent = _split_stopped(chosen)
    functions = await _read_functions(stopped)
    found, failed = await ask_members(stopped, evaluate, VALUES_S)
    if failed and not found and len({one.reason for one in failed}) == 1:
        raise DebuggerError(
            ErrorCode.EVALUATION_FAILED,
            f"in all stopped members: {failed[0].reason}",
            hint="debugger backtrace shows where they are",
        )
    rows = [
        NamedValues(expression, merge_values(own), function)
        for function, own in _split_by_function(found, functions)
    ]
    if len(set(functions.values())) > 1:
        failed = [_add_function(one, functions) for one in failed]
    return GroupValues(chosen.group.name, len(chosen.members), tuple(rows), (*failed, *silent))


async def _read_functions(members: Sequence[Member]) -> dict[str, str]:
    """Return the function of each member's current frame, by label."""

    async def read(member: Member) -> str:
        session = member.session
        frame = await session.run_job(lambda: inspection.frame_of(session, None))
        return frame.function

    found, _ = await ask_members(members, read, VALUES_S)
    return found


def _split_by_function(
    found: Mapping[str, _T], functions: Mapping[str, str]
) -> list[tuple[str, dict[str, _T]]]:
    """Separate what members answer by the function that each is in."""
    parts: dict[str, dict[str, _T]] = {}
    for label, one in found.items():
        parts.setdefault(functions.get(label, ""), {})[label] = one
    return list(parts.items())


def _add_function(one: SilentMember, functions: Mapping[str, str]) -> SilentMember:
    function = functions.get(one.label)
    reason = f"{one.reason}, in {function}" if function else one.reason
    return msgspec.structs.replace(one, reason=reason)


async def read_in_members(chosen: ChosenMembers, names: Sequence[str]) -> GroupValues:
    """Evaluate several expressions in the current frame of each stopped member.

    Raises:
        DebuggerError: What `evaluate_in_members` raises.
    """
    found = [await evaluate_in_members(chosen, one) for one in dict.fromkeys(names)]
    silent = {one.label: one for answer in found for one in answer.silent}
    rows = tuple(row for answer in found for row in answer.rows)
    return msgspec.structs.replace(found[0], rows=rows, silent=tuple(silent.values()))


async def _evaluate_text(
    session: Session,
    text: str,
    form: NumberFormat | None,
    purpose: EvaluationPurpose = EvaluationPurpose.PRINT,
) -> answers.Value:
    return await value_inspection.run_evaluation(
        session,
        lambda: value_inspection.evaluate_expression(
            session,
            text,
            purpose=purpose,
            depth=0,
            show_type=False,
            form=form,
        ),
    )


def _has_arrays(session: Session) -> bool:
    return session.traits.runtime is Runtime.PYTHON


def _describing(text: str) -> str | None:
    """Return an expression for the description of another one's value; None for a statement."""
    try:
        # Written anew, it has no comment at its end.
        expression = ast.unparse(ast.parse(text.strip(), mode="eval"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return f"__import__('sys').modules[{_ARRAY_CODE!r}].describe(({expression}))"


async def _load_array_code(session: Session) -> None:
    known = {"NAME": _ARRAY_CODE, "TEXT": _ARRAY_FILE.read_text("utf-8")}
    await _run_code(session, f"exec({_LOADER!r}, {known!r})")


async def _remove_array_code(session: Session, group: Group) -> None:
    # Nothing of ours stays in a process that is only attached to.
    if not is_started(group):
        await _run_code(session, f"__import__('sys').modules.pop({_ARRAY_CODE!r}, None)")


async def _run_code(session: Session, code: str) -> None:
    await session.run_job(lambda: session.backend.evaluate(code, None, EvaluationPurpose.EVALUATE))


async def _describe_names(session: Session, names: list[str], group: Group) -> dict[str, str]:
    await _load_array_code(session)
    found = {}
    try:
        for name in names:
            # The name of a returned value is no expression: it keeps its text.
            if name.isidentifier() and (text := _describing(name)) is not None:
                found[name] = (await _evaluate_text(session, text, None)).value
    finally:
        await _remove_array_code(session, group)
    return found


def _split_stopped(chosen: ChosenMembers) -> tuple[list[Member], list[SilentMember]]:
    """Separate the stopped members from the others, each with its state.

    Raises:
        DebuggerError: WRONG_STATE if none is stopped.
    """
    stopped = [one for one in chosen.members if one.session.state is State.STOPPED]
    if not stopped and not any(one.session.is_live for one in chosen.members):
        raise all_ended(chosen)
    if not stopped:
        what = f"no member of {chosen.group.name} is stopped"
        if chosen.is_subset:
            verb = "is" if len(chosen.members) == 1 else "are"
            what = f"{format_members(one.label for one in chosen.members)} {verb} not stopped"
        raise DebuggerError(
            ErrorCode.WRONG_STATE,
            f"{what}: values are read at a stop",
            hint="debugger pause stops all that it can; debugger break LOC",
        )
    silent = [
        SilentMember(one.label, _NOT_STOPPED.format(one.session.state.value))
        for one in drop_launcher(chosen.members)
        if one.session.is_live and one not in stopped
    ]
    return stopped, silent


async def read_locals(chosen: ChosenMembers) -> GroupValues:
    """Read the locals of the current frame of each stopped member, merged by name.

    Raises:
        DebuggerError: WRONG_STATE if no member is stopped.
    """

    async def read(member: Member) -> Mapping[str, str]:
        session = member.session
        found: answers.Variables = await session.run_job(
            lambda: inspection.frame_variables(session)
        )
        values = {one.name: one.value for one in found.variables}
        arrays = [one.name for one in found.variables if one.type in _ARRAYS]
        if arrays and _has_arrays(session):
            values |= await _describe_names(session, arrays, chosen.group)
        return values

    stopped, silent = _split_stopped(chosen)
    functions = await _read_functions(stopped)
    found, failed = await ask_members(stopped, read, VALUES_S)
    rows = [
        NamedValues(
            name,
            merge_values({label: one[name] for label, one in own.items() if name in one}),
            function,
        )
        for function, own in _split_by_function(found, functions)
        for name in dict.fromkeys(name for one in own.values() for name in one)
    ]
    # Values that differ between members say most, and come first.
    ordered = sorted(rows, key=lambda row: len(row.values) < 2)  # noqa: PLR2004 - two values differ
    return GroupValues(chosen.group.name, len(chosen.members), tuple(ordered), (*failed, *silent))
