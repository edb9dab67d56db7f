"""Parts of a known good value become literals in an invariant of a compiled program."""

from __future__ import annotations

import pytest

from debugger.errors import DebuggerError
from debugger.questions.holds.known_values import bind_known

KNOWN = {"total": 7, "rows": [1, 2.5, 'a"b'], "none": None, "is_on": True}


@pytest.mark.parametrize(
    ("expression", "bound"),
    [
        ("o->total == known.total", "o->total == 7"),
        ("o->total == known['total']", "o->total == 7"),
        ("x <= known.rows[1] && y", "x <= 2.5 && y"),
        ("n == known.rows[-1]", 'n == "a\\"b"'),
        ("n < len(known.rows)", "n < 3"),
        ("p != known.none", "p != nil"),
        ("on == known.is_on", "on == true"),
        ("node->known == 1 && a.known > unknown", "node->known == 1 && a.known > unknown"),
        ('name == "known"', 'name == "known"'),
    ],
)
def test_each_part_is_written_as_a_literal(expression: str, bound: str) -> None:
    assert bind_known(expression, KNOWN, "go") == bound


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("rows == known.rows", "known.rows is a list of 3"),
        ("x == known", "known is an object of 4"),
        ("x == known.rows[9]", "no known.rows[9]: it is a list of 3 there"),
        ("x == known.total.more", "no known.total.more: it is 7 there"),
        ("x == len(known.total)", "known.total has no length: it is 7"),
    ],
)
def test_what_is_no_literal_is_refused(expression: str, says: str) -> None:
    with pytest.raises(DebuggerError) as refused:
        bind_known(expression, KNOWN, "c")
    assert says in refused.value.message
