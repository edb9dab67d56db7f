"""What LLDB says of an expression is told in words that help."""

from __future__ import annotations

import pytest

from debugger.backends.lldb import lldb_common


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "error: <user expression 0>:1:1: reference to 'count' is ambiguous\n",
            "reference to 'count' is ambiguous; a variable of this name may be optimized out\n",
        ),
        (
            "supposed to interpret, but failed: Interpreter couldn't read from memory",
            "there is no memory where it points to",
        ),
    ],
)
def test_a_problem_is_told_with_what_may_be_its_reason(text, says):
    assert lldb_common.error_text(text) == says
