"""The expressions in a logpoint's text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from debugger.model.breakpoints import split_template


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("plain", [("plain", False)]),
        ("{a}", [("a", True)]),
        ("at { i + 1 }!", [("at ", False), ("i + 1", True), ("!", False)]),
        ("{a}{b}", [("a", True), ("b", True)]),
        ("{f({1: 2})}", [("f({1: 2})", True)]),
        ("{d['}']} end", [("d['}']", True), (" end", False)]),
        ("{} and { }", [("{} and { }", False)]),
        ("a } b", [("a } b", False)]),
        ("open {a", [("open {a", False)]),
        ("open {a {b}", [("open {a ", False), ("b", True)]),
    ],
)
def test_expressions_stand_in_brackets(text, expected):
    assert list(split_template(text)) == expected


@given(st.text(alphabet="{}ab '\"\\", max_size=40))
def test_nothing_is_lost_and_no_part_is_empty(text):
    found = list(split_template(text))
    assert all(part for part, _ in found)
    assert "".join(part for part, _ in found).replace(" ", "").replace("{", "").replace(
        "}", ""
    ) == text.replace(" ", "").replace("{", "").replace("}", "")
