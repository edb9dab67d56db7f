"""The calls that can have decided that a function returned a literal are found in its source."""

from __future__ import annotations

import pytest

from debuggees import find_marker, program_text
from debugger.questions.why.decided_return import find_decisions

SOURCE = "why/failed_calls.c"


def test_behind_a_label_the_conditions_are_those_of_each_jump() -> None:
    lines = program_text(SOURCE).splitlines()
    first = next(at for at, one in enumerate(lines, 1) if one.startswith("static struct list *"))
    found = find_decisions("a.c", lines, first, find_marker(SOURCE, "null"))
    calls = [(one.line, one.call.function if one.call else None, one.is_zero) for one in found]
    jump = find_marker(SOURCE, "jump")
    assert calls == [(jump - 6, None, False), (jump, "read_item", True)]
    assert [one.label for one in found] == ["fail", "fail"]


@pytest.mark.parametrize(
    ("condition", "decisions"),
    [
        ("!ready(a)", [("ready", True)]),
        ("open_file(a) == NULL", [("open_file", True)]),
        ("0 != check(a)", [("check", False)]),
        ("check(a)", [("check", False)]),
        ("a == NULL || !ready(a)", [("ready", True)]),
        ("size(a) > 3", []),
        ("a == NULL", []),
    ],
)
def test_a_call_decides_by_being_zero_or_not(
    condition: str, decisions: list[tuple[str, bool]]
) -> None:
    lines = ["int f(char *a)", "{", f"    if ({condition})", "        return 0;", "}"]
    found = [(one.call, one.is_zero) for one in find_decisions("a.c", lines, 1, 4)]
    calls = [(call.function, is_zero) for call, is_zero in found if call is not None]
    assert calls == decisions


@pytest.mark.parametrize(
    ("condition", "values", "operands"),
    [
        ("(list == NULL) || (name == NULL)", {"list": "0x5555", "name": "0x0"}, ("name",)),
        ("!list", {"list": "0x0"}, ("list",)),
        ("depth >= MOST", {"depth": "9"}, ("depth",)),
        ("**at > '8'", {"at": "0x7fff"}, ()),
        ("list->count", {"list": "0x5555"}, ()),
    ],
)
def test_without_a_call_the_operand_decides_whose_part_was_true(
    condition: str, values: dict[str, str], operands: tuple[str, ...]
) -> None:
    lines = ["int f(char *a)", "{", f"    if ({condition})", "        return 0;", "}"]
    decision = find_decisions("a.c", lines, 1, 4)[-1]
    assert tuple(one for one in decision.guilty(values) if one in values) == operands
