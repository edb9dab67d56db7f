"""A line that is only returned to is not folded as a loop."""

from __future__ import annotations

from debugger.questions.calls.calls_question import is_plain_return
from debugger.recorders.call_tree import CallLine, LoopRounds, RoundShape


def test_a_switch_that_asks_the_next_pattern_is_no_loop() -> None:
    """Java returns to the line of the switch for each guard that fails."""
    shapes = [RoundShape(1, at, (1, 1 + at), (CallLine(1), CallLine(1 + at))) for at in (2, 1)]
    text = [
        "return switch (s) {",
        "case Circle c when c.r() > 9 -> 1;",
        "case Circle c -> 2;",
        "};",
    ]
    rounds = LoopRounds(1, 2, tuple(shapes))
    assert is_plain_return(rounds, text)
    assert not is_plain_return(rounds, ["while (true) {", *text[1:]])
    repeated = LoopRounds(1, 2, (RoundShape(2, 1, (1, 2), ()),))
    assert not is_plain_return(repeated, text)
