"""Evaluates expressions and reads locals in all members of a group, and merges the values."""

from __future__ import annotations

from collections.abc import Mapping

from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.events import State
from debugger.model.group_merge import merge_values
from debugger.model.number_format import NumberFormat
from debugger.model.program import EvaluationPurpose
from debugger.questions.group.answer import GroupValues, NamedValues
from debugger.questions.group.group_choice import ChosenMembers
from debugger.session import inspection, value_inspection
from debugger.session.group import Member, SilentMember, ask_members, drop_launcher

VALUES_S = 5.0  # seconds until a member must have answered
_NOT_STOPPED = "{}; values are read at a stop"


async def evaluate_in_members(
    chosen: ChosenMembers, expression: str, *, form: NumberFormat | None = None
) -> GroupValues:
    """Evaluate an expression in the current frame of each stopped member.

    Raises:
        DebuggerError: WRONG_STATE if no member is stopped; EVALUATION_FAILED if it fails in all.
    """

    async def evaluate(member: Member) -> str:
        session = member.session
        value = await value_inspection.run_evaluation(
            session,
            lambda: value_inspection.evaluate_expression(
                session,
                expression,
                purpose=EvaluationPurpose.PRINT,
                depth=0,
                show_type=False,
                form=form,
            ),
        )
        return value.value

    stopped, silent = _split_stopped(chosen)
    found, failed = await ask_members(stopped, evaluate, VALUES_S)
    if failed and not found and len({one.reason for one in failed}) == 1:
        raise DebuggerError(
            ErrorCode.EVALUATION_FAILED,
            f"in all stopped members: {failed[0].reason}",
            hint="debugger backtrace shows where they are",
        )
    row = NamedValues(expression, merge_values(found))
    return GroupValues(
        chosen.group.name, len(chosen.members), (row,) if found else (), (*failed, *silent)
    )


def _split_stopped(chosen: ChosenMembers) -> tuple[list[Member], list[SilentMember]]:
    """Separate the stopped members from the others, each with its state.

    Raises:
        DebuggerError: WRONG_STATE if none is stopped.
    """
    stopped = [one for one in chosen.members if one.session.state is State.STOPPED]
    if not stopped:
        raise DebuggerError(
            ErrorCode.WRONG_STATE,
            f"no member of {chosen.group.name} is stopped: values are read at a stop",
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
        return {one.name: one.value for one in found.variables}

    stopped, silent = _split_stopped(chosen)
    found, failed = await ask_members(stopped, read, VALUES_S)
    names = dict.fromkeys(name for one in found.values() for name in one)
    rows = [
        NamedValues(
            name,
            merge_values({label: one[name] for label, one in found.items() if name in one}),
        )
        for name in names
    ]
    # Values that differ between members say most, and come first.
    ordered = sorted(rows, key=lambda row: len(row.values) < 2)  # noqa: PLR2004 - two values differ
    return GroupValues(chosen.group.name, len(chosen.members), tuple(ordered), (*failed, *silent))
