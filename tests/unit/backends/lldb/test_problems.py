"""What LLDB says of an expression is told in words that help."""

from __future__ import annotations

import pytest

from debugger.backends.lldb import lldb_common
from debugger.model.program import ExitedProgram


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
        (
            "error: <user expression 0>:1:1: undeclared 'zz'\n    1 | zz\n      | ^\n",
            "undeclared 'zz'",
        ),
        (
            "error: <user expression 0>:1:1: undeclared 'zz'\n    1 | zz + 1\n      | ^\n",
            "undeclared 'zz'\n    1 | zz + 1\n      | ^\n",
        ),
        (
            "error: expected expression\n    1 | f(()\n<lldb wrapper suffix>:1:32: expected '}'\n",
            "expected expression\n    1 | f(()",
        ),
    ],
)
def test_a_problem_is_told_with_what_may_be_its_reason(text, says):
    assert lldb_common.error_text(text) == says


def test_the_end_of_a_program_that_was_killed_while_it_was_stopped_has_no_status():
    assert lldb_common.to_exited(-1, "SIGTRAP") == ExitedProgram()
    assert lldb_common.to_exited(3, "SIGTRAP") == ExitedProgram(code=3)
    assert lldb_common.to_exited(11, "SIGSEGV") == ExitedProgram(signal="SIGSEGV")
