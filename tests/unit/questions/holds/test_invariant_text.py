"""An invariant's operands, names and truth are parsed from text."""

from __future__ import annotations

import pytest

from debugger.errors import DebuggerError
from debugger.questions.holds.invariant_text import (
    check_invariant,
    parse_known_value,
    root_names,
    split_operands,
)
from debugger.questions.holds.logged_checks import (
    CheckLog,
    PlaceVisit,
    lvalues_of,
    parse_truth,
    watched_paths,
)


@pytest.mark.parametrize(
    ("text", "operands", "names"),
    [
        ("self.count == len(self.items)", ("self.count", "len(self.items)"), ("self",)),
        ("is_sorted(rows)", ("rows",), ("rows",)),
        ("checkInvariants()", (), ()),
        ("s->n <= s->cap && !s->bad", ("s->n", "s->cap", "s->bad"), ("s",)),
        ("not (a < b or c.d[3] == 'x<y')", ("a", "b", "c.d[3]"), ("a", "b", "c")),
        ("0 <= n < len(q)", ("n", "len(q)"), ("n", "q")),
        ("all(p > 0 for p in prices)", ("p", "prices"), ("p", "prices")),
        ("known in solutions", ("solutions",), ("solutions",)),
        ("rows.every((x, i) => !i || x > low)", ("rows",), ("rows", "low")),
    ],
)
def test_the_operands_and_the_names_of_an_invariant(
    text: str, operands: tuple[str, ...], names: tuple[str, ...]
) -> None:
    assert split_operands(text) == operands
    assert root_names(text) == names


def test_what_is_watched_is_a_field_and_not_a_function() -> None:
    assert lvalues_of("is_valid(s) && o->rows[2].n <= limit") == ("s", "o->rows[2].n", "limit")
    assert watched_paths("v.size() < 4") == ("v._M_impl._M_finish",)


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("true", True),
        ("0", False),
        ("(bool) false", False),
        ("0x0", False),
        ("7", True),
        ("nil", False),
        ("{n = 3}", None),
        ("<no member named 'x'>", None),
    ],
)
def test_a_debuggers_text_is_true_false_or_neither(text: str, truth: bool | None) -> None:
    assert parse_truth(text) is truth


def test_the_last_good_check_is_that_of_the_same_object() -> None:
    log = CheckLog(1)
    for place, ordinal, key, is_true in ((0, 1, "a", True), (0, 2, "b", True), (1, 1, "a", False)):
        log.add(PlaceVisit(place, ordinal, (is_true,), (key,), None), [""])
    good = log.good[0]
    assert good is not None
    assert (good.place, good.ordinal) == (0, 1)
    assert (log.true, log.any_good[0].ordinal, log.is_over) == ([2], 2, True)


def test_an_error_is_counted_and_never_taken_for_false() -> None:
    log = CheckLog(1)
    log.add(PlaceVisit(0, 1, (None,), ("",), None), ["no member named 'x'"])
    assert (log.failed, log.false, log.errors) == ([1], {}, ["no member named 'x'"])


def test_a_known_value_is_json_or_a_literal() -> None:
    assert parse_known_value('{"a": [1, null]}', "f") == {"a": [1, None]}
    assert parse_known_value("(1, 'x')", "f") == (1, "x")
    with pytest.raises(DebuggerError):
        parse_known_value("open('x')", "f")
    with pytest.raises(DebuggerError):
        check_invariant("x <", is_python=True)
