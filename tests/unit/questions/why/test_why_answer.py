"""The text and the data of the origin of a value."""

from __future__ import annotations

import pytest

from debugger.cli.answer_text import format_answer
from debugger.errors import DebuggerError
from debugger.model.answers import FrameView
from debugger.output.structured import OutputStyle, to_data
from debugger.questions.why.answer import ChainEnd, LinkCertainty, LinkKind, Why, WhyLink
from debugger.questions.why.why_request import LAST, WhyRequest, check_expression

FRAME = FrameView(0, "store", "/src/app.c", 12)
CALLER = FrameView(1, "main", "/src/app.c", 40)
WRITE = WhyLink(
    LinkKind.WRITTEN,
    LinkCertainty.RERUN,
    "written",
    frame=FRAME,
    statement="node->next = next;",
    thread='2 "worker"',
    stack=(CALLER,),
    old="0x0",
    new="0x10",
    details=("the block it writes ends 8 bytes before the node's",),
)
CONSTANT = WhyLink(LinkKind.CONSTANT, LinkCertainty.INFERRED, "the constant 16", frame=CALLER)
ANSWER = Why(
    "node->next",
    "crash",
    "node->next=0x10 comes from a constant",
    value="0x10",
    frame=FRAME,
    event="SIGSEGV",
    links=(WRITE, CONSTANT),
    ended=ChainEnd.CONSTANT,
    ending="16 is a literal",
    runs=2,
    method="hardware watchpoints",
    took_s=1.25,
)


def _text(answer: Why, budget: int = 1000) -> str:
    return format_answer(answer, budget=budget, style=OutputStyle.PLAIN, width=100)


def test_each_link_stands_with_its_certainty() -> None:
    assert _text(ANSWER).splitlines() == [
        "why: node->next = 0x10 in store at app.c:12 (SIGSEGV)",
        '  1 [rerun] written, store at app.c:12: 0x0 → 0x10, thread 2 "worker"',
        "      node->next = next;",
        "      called from main app.c:40",
        "      the block it writes ends 8 bytes before the node's",
        "  2 [inferred] the constant 16, main at app.c:40",
        "  end (constant): 16 is a literal",
        "2 runs in 1.2 s, hardware watchpoints",
    ]


def test_a_function_without_a_line_stands_with_its_caller_that_has_one() -> None:
    made = FrameView(0, "Player.copy", "/src/app.c", None)
    link = WhyLink(LinkKind.PASSED, LinkCertainty.SEEN, "passed", frame=made, stack=(made, CALLER))
    text = _text(Why("x", "app.c:40", "x", value="1", links=(link,)))
    assert "passed, Player.copy at app.c (called from main app.c:40)" in text


def test_the_text_of_a_long_chain_keeps_its_first_link_and_the_last_two() -> None:
    long = WhyLink(
        LinkKind.COPIED,
        LinkCertainty.RERUN,
        "copied " * 12,
        frame=FRAME,
        statement="x = y; " * 12,
        details=("why " * 30,),
    )
    answer = Why("x", "app.c:12", "x", value="1", links=(WRITE, *[long] * 12, CONSTANT))
    text = _text(answer)
    assert len(text) <= 1500
    assert "  1 [rerun] written" in text
    assert " 13 [rerun] copied" in text
    assert " 14 [inferred] the constant 16" in text
    assert "links at app.c:12: --budget 2000" in text
    assert _text(answer, 4000).count("[rerun]") == 13


def test_the_data_names_the_certainty_of_each_link_by_a_word() -> None:
    data = to_data(ANSWER, budget=None)
    assert [one["certainty"] for one in data["links"]] == ["rerun", "inferred"]
    assert [one["kind"] for one in data["links"]] == ["written", "constant"]
    assert data["ended"] == "constant"


def test_an_empty_expression_is_refused() -> None:
    with pytest.raises(DebuggerError, match="empty"):
        check_expression("  ")


def test_a_request_says_its_location() -> None:
    request = WhyRequest("x", "app.c:12", nth=LAST, when="i > 3")
    assert request.location_text() == "app.c:12 with i > 3, its last hit"
    assert WhyRequest("x", "crash").event == "crash"
