"""Finds the calls by whose results a function came to return a literal, by its source. Pure.

So failures are handed on in C: `if (!read_header(file)) goto fail;`, and there `return NULL`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from debugger.questions.why import statement_origin
from debugger.questions.why.statement_origin import OriginKind, StatementOrigin
from debugger.sources.condition_text import list_condition_parts, split_equality
from debugger.sources.deciding_condition import DecidingCondition, find_reaching
from debugger.sources.guilty_operand import FailedCondition, find_guilty_operands

_LABEL = re.compile(
    r"\s*(?!(?:default|public|private|protected)\b)([A-Za-z_]\w*):\s*(?://.*|/\*.*)?"
)
_JUMP = re.compile(r"\bgoto\s+(\w+)\s*;")
_NOTHING = frozenset({"0", "NULL", "nullptr", "false", "None"})
_JUMPS_MAX = 24


class ReturnDecision(Struct, frozen=True):
    """A condition that led to a `return`, and the call in it that can have decided."""

    # The line of the `return`, or of the `goto` by which it was reached.
    line: int
    # The label of the `goto`; "" without one.
    label: str
    condition: DecidingCondition
    # None if no call's result is looked at.
    call: StatementOrigin | None = None
    # Whether the call must have returned zero, for the condition to be as it was.
    is_zero: bool = False

    def guilty(self, values: Mapping[str, str]) -> tuple[str, ...]:
        """Return the operands of the parts of the condition that decided, by their values.

        What a pointer leads to is no operand: `**at > '8'` says nothing of `at`.
        """
        condition, is_met = self.condition.written, self.condition.is_met
        found = find_guilty_operands(FailedCondition(condition, is_met, is_around=True), values)
        plain = r"(?<![*&\w.>]){}(?!\w|\s*(?:->|[\[.(]))"
        return tuple(one for one in found if re.search(plain.format(re.escape(one)), condition))

    def describe(self) -> str:
        """Return what led to the `return`, in words."""
        truth = "true" if self.condition.is_met else "false"
        came = f"by `goto {self.label}`, " if self.label else ""
        return f"reached {came}as `{self.condition.written}` was {truth}"


def jump_lines(lines: Sequence[str], first: int, last: int) -> list[int]:
    """Return the lines of a function that leave for a label."""
    found = [at for at in range(first, min(last, len(lines)) + 1) if _JUMP.search(lines[at - 1])]
    return found[:_JUMPS_MAX]


def find_decisions(
    file: str, lines: Sequence[str], first: int, line: int
) -> tuple[ReturnDecision, ...]:
    """Return the conditions by which the `return` of a line may have been reached.

    Behind a label they are those of each `goto` that leads there, else those around the line.

    Args:
        file: The source.
        lines: Its lines.
        first: The first line of the function.
        line: The line of the `return`.
    """
    label = next(
        (found[1] for at in range(line, first, -1) if (found := _LABEL.fullmatch(lines[at - 1]))),
        "",
    )
    jumps = [
        at
        for at in jump_lines(lines, first, line)
        if label and (found := _JUMP.search(lines[at - 1])) and found[1] == label
    ]
    found_all: list[ReturnDecision] = []
    for at in jumps or [line]:
        around = find_reaching(file, "\n".join(lines), at)
        for condition in around[:1]:
            calls = _deciding_calls(condition.written, is_true=condition.is_met)
            name = label if jumps else ""
            found_all += [ReturnDecision(at, name, condition, *one) for one in calls]
            found_all += [ReturnDecision(at, name, condition)] if not calls else []
    return tuple(found_all)


def _deciding_calls(text: str, *, is_true: bool) -> list[tuple[StatementOrigin, bool]]:
    """Return the calls whose truth is a part of a condition, and whether it was false."""
    found: list[tuple[StatementOrigin, bool]] = []
    for part, is_met in list_condition_parts(text, is_true=is_true):
        compared = split_equality(part)
        if compared is not None:
            left, how, right = compared
            side = left if right in _NOTHING else right if left in _NOTHING else ""
            found += _deciding_calls(side, is_true=(how == "!=") is is_met) if side else []
            continue
        origin = statement_origin.classify_expression(part)
        found += [(origin, not is_met)] if origin.kind is OriginKind.CALL else []
    return found
