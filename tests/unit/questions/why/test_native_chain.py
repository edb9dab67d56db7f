"""How a native value is followed where the frame alone does not show it."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugger.questions.why.answer import LinkCertainty, LinkKind
from debugger.questions.why.native_chain import NativeChain
from debugger.questions.why.native_steps import (
    NextStep,
    ReturnTarget,
    ValuePosition,
)
from debugger.questions.why.statement_origin import classify_expression
from debugger.questions.why.traced_run import TraceFrame, TraceValue

_SOURCE = """fn with_days(self, days: impl Convert<Count>) -> Span {
{line}
    let days = days.convert();
    Span { days, ..self }
}
"""
_SEVENTEEN = "110000000e0000001f000000"


def _struct(address: int, raw: str) -> TraceValue:
    return TraceValue(
        text="Count {..}", type="Count", kind="struct", address=address, size=12, bytes=raw
    )


def _follow(
    folder: Path, given: str, line: str = "", name: str = "days"
) -> tuple[NativeChain, NextStep | None]:
    """Follow the call `days.convert()`, whose parameter `days` has no memory in its frame."""
    file = folder / "spans.rs"
    file.write_text(_SOURCE.replace("{line}", line))
    inner = TraceFrame(
        "spans::Span::with_days<Count>", str(file), 3, cfa=900, first_line=1,
        args=("self", "days"), statement="let days = days.convert();",
    )  # fmt: skip
    outer = TraceFrame(
        "spans::between", str(file), 9, cfa=1000, first_line=7,
        vars={name: _struct(950, given)}, statement="Ok(Span::new().with_days(days))",
    )  # fmt: skip
    position = ValuePosition(
        "days", _struct(800, _SEVENTEEN), (inner, outer), 0, LinkCertainty.RERUN
    )
    call = classify_expression("days.convert()")
    chain = NativeChain()
    target = ReturnTarget(position, call.function, call.text, call)
    return chain, chain.follow_call_operand(target)


def test_a_parameter_without_memory_is_followed_to_the_argument_that_has_the_value(
    tmp_path: Path,
) -> None:
    chain, step = _follow(tmp_path, _SEVENTEEN)
    assert isinstance(step, ValuePosition)
    assert (step.expression, step.index, step.value.address) == ("days", 1, 950)
    # That the call gave its parameter on is not seen: the value says it.
    assert step.certainty is LinkCertainty.INFERRED
    kinds = [(one.kind, one.certainty) for one in chain.links]
    assert kinds == [(LinkKind.PASSED, LinkCertainty.INFERRED)]


@pytest.mark.parametrize(
    ("given", "line", "name"),
    [
        ("120000000e0000001f000000", "", "days"),
        (_SEVENTEEN, "    let days = days.doubled();", "days"),
        (_SEVENTEEN, "", "others"),
    ],
    ids=["another value", "hidden by a local", "unknown to the caller"],
)
def test_a_parameter_is_not_followed_to_what_may_be_another_value(
    tmp_path: Path, given: str, line: str, name: str
) -> None:
    chain, step = _follow(tmp_path, given, line, name)
    assert step is None
    assert chain.links == []
