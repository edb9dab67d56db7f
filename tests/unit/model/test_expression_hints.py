"""The hint after an expression that the debugger could not evaluate."""

from __future__ import annotations

import pytest

from debugger.model.statement import LOCALS, choose_hint


@pytest.mark.parametrize(
    "message",
    [
        "Hint: The expression tried to call a function that is not present in the target, perhaps",
        "Cannot evaluate function -- may be inlined",
        "Could not find operator[].",
    ],
)
def test_what_has_no_code_is_looked_into_without_a_call(message: str) -> None:
    assert "debugger vars REF" in choose_hint(message, LOCALS)


def test_a_hint_of_the_adapters_own_is_kept() -> None:
    assert choose_hint("may be inlined", "its own") == "its own"
