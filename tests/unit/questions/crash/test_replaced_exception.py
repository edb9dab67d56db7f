"""What a replaced exception complains about is found in the call that replaced it."""

from __future__ import annotations

import pytest

from debugger.model.statement import parse_reads
from debugger.questions.crash.replaced_exception import (
    ReplacedException,
    find_culprit,
    find_replaced,
)

KEY = "KeyError: 'milk', in price shop.py:7"
FIRST = "ValueError: bad: very, in price shop.py:5"
INNER = "OSError, in load store.py:3"


@pytest.mark.parametrize(
    ("causes", "line"),
    [
        ((KEY,), 7),
        ((KEY, FIRST), 5),  # the one that began it
        ((KEY, INNER), 7),
        ((INNER,), None),  # its call has ended
        (("KeyError: 'milk', in price other.py:7",), None),
        (("KeyError: 'milk', in price shop.py:9",), None),  # the line that replaced it
        (("KeyError: 'milk'",), None),
        ((), None),
    ],
)
def test_the_first_exception_of_the_same_call_is_taken(
    causes: tuple[str, ...], line: int | None
) -> None:
    found = find_replaced(causes, "price", "/src/shop.py", 9)
    assert (found.line if found is not None else None) == line


@pytest.mark.parametrize(
    ("type_", "message", "statement", "values", "culprit"),
    [
        ("KeyError", "'milk'", "return PRICES[name]", {"name": "'milk'"}, "name"),
        (
            "TypeError",
            "'NoneType' object is not subscriptable",
            "return row['n']",
            {"row": "None"},
            "row",
        ),
        ("OSError", "disk full", "save()", {}, ""),
        ("KeyError", 'key not found: "milk"', "PRICES.fetch(name)", {"name": '"milk"'}, "name"),
        ("IndexError", "pop from empty list", "rows.pop()", {"rows": "[]"}, "rows"),
    ],
)
def test_its_culprit_is_that_of_its_own_statement(
    type_: str, message: str, statement: str, values: dict[str, str], culprit: str
) -> None:
    one = ReplacedException(type_, message, 7)
    assert find_culprit(one, parse_reads(statement), values) == culprit
