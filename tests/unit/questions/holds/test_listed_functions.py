"""Functions that no source lists are refused with the place that can be checked."""

from __future__ import annotations

import pytest

from debugger.errors import DebuggerError
from debugger.questions.holds.adapter_checks import refuse_scope
from debugger.questions.holds.check_request import CheckedPlace


@pytest.mark.parametrize(
    ("language", "place", "at"),
    [
        ("php", CheckedPlace("each", "Main.*", pattern="Main.*"), "FILE:LINE"),
        ("php", CheckedPlace("in", "add", pattern="add"), "add"),
        ("ruby", CheckedPlace("each", "add", pattern="add"), "add"),
        ("ruby", CheckedPlace("in", "app.rb", pattern="app.rb"), "FILE:LINE"),
    ],
)
def test_functions_that_are_not_listed_are_refused_with_their_location(
    language: str, place: CheckedPlace, at: str
) -> None:
    with pytest.raises(DebuggerError) as caught:
        refuse_scope(place, language)
    assert caught.value.hint == f"debugger holds EXPR --at {at} -- CMD"


@pytest.mark.parametrize(
    ("language", "place"),
    [
        ("c", CheckedPlace("in", "add", pattern="add")),
        ("java", CheckedPlace("in", "Main.java", file="/src/Main.java")),
        ("java", CheckedPlace("each", "Main.*", pattern="Main.*")),
        ("php", CheckedPlace("in", "app.php", file="/src/app.php")),
    ],
)
def test_listed_functions_and_lines_of_a_file_are_checked(
    language: str, place: CheckedPlace
) -> None:
    refuse_scope(place, language)
