"""Values that a debugger does not know are not taken for values."""

from __future__ import annotations

import pytest

from debugger.questions.runner.evidence_store import is_unknown


@pytest.mark.parametrize(
    "text",
    [
        "<optimized out>",  # gdb, and LLDB as it is shown here
        "<error: Cannot access memory at address 0x0>",
        "error: no member named 'x'",
        "<not available>",
    ],
)
def test_what_a_debugger_does_not_know_is_no_value(text: str) -> None:
    assert is_unknown(text)


@pytest.mark.parametrize("text", ["", "0", '"<optimized out>"', "0x0", "{error: 3}"])
def test_what_a_program_holds_is_a_value(text: str) -> None:
    assert not is_unknown(text)
