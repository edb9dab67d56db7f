"""Where the fields of a Python value say little, an answer says once that its own text shows it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from cli_commands import answer_data, marked_location, start_program
from debuggees import find_source

PROGRAM = "own_texts.py"


def notes_of(cli: Callable[..., Any], expressions: str) -> list[str]:
    """Return the notes of a probe."""
    words = ("--at", marked_location(PROGRAM, "here"), expressions)
    answer = cli("probe", "--json", *words, "--", sys.executable, find_source(PROGRAM), check=0)
    return [one for one in answer.data["data"]["notes"] if "fields alone" in one]


@pytest.mark.parametrize(
    ("expressions", "note"),
    [
        ("terms", "str(terms) shows Sum as the program writes it"),
        ("label", "str(label) shows Label as the program writes it"),
        ("{1: terms[0]}", "str({1: terms[0]}) shows Sum as the program writes it"),
        ("label, terms, terms[0]", "str(label) shows Label as the program writes it"),
    ],
)
def test_a_probe_says_once_that_a_value_has_a_text_of_its_own(
    cli: Callable[..., Any], expressions: str, note: str
) -> None:
    assert notes_of(cli, expressions) == [f"fields alone say little: {note}"]


@pytest.mark.parametrize(
    "expression",
    # str() of these shows no more: none has a text of its own that it would show.
    ["labels", "plain", "pair", "len(terms)", "str(terms)", "terms[1]", "[]", "{}"],
)
def test_a_probe_says_nothing_of_a_text_that_would_show_no_more(
    cli: Callable[..., Any], expression: str
) -> None:
    assert notes_of(cli, expression) == []


@pytest.mark.adapter("debugpy")
def test_print_and_locals_say_which_object_has_a_text_of_its_own(cli: Callable[..., Any]) -> None:
    start_program(cli, PROGRAM, "--break", marked_location(PROGRAM, "here"))
    hint = "str(label) shows Label as the program writes it"
    assert answer_data(cli("--json", "locals", check=0))["hint"] == hint
    assert cli("locals", check=0).out.count("as the program writes it") == 1
    assert answer_data(cli("--json", "print", "label", check=0))["hint"] == hint
    for expression in ("plain", "terms", "pair", "label.inner", "str(label)"):
        assert "hint" not in answer_data(cli("--json", "print", expression, check=0))


@pytest.mark.adapter("debugpy")
def test_an_object_without_a_text_of_its_own_is_written_by_its_fields(
    cli: Callable[..., Any],
) -> None:
    stop = start_program(cli, PROGRAM, "--break", marked_location(PROGRAM, "here"))
    values = {one["name"]: one["value"] for one in stop["locals"]}
    written = "Plain(inner=Sum(terms=(Sum(…), Sum(…)), is_commutative=True))"
    assert values["plain"] == written
    # It has a text of its own: one that only str() shows, or one that is shown as it is.
    assert " object at 0x" in values["label"]
    assert values["terms"].startswith("[(((1 + 2)")
    within = "[Plain(inner=Sum(terms=(… 2), is_commutative=True)), 1]"
    for expression, value in (("plain", written), ("[plain, 1]", within)):
        assert answer_data(cli("--json", "print", expression, check=0))["value"] == value
