"""A panic about a closed channel of Go names it, and the lines that close it."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugger.model.answers import FrameView
from debugger.model.statement import parse_reads
from debugger.questions.crash.closed_channel import describe_closing
from debugger.questions.crash.crash_cause import explain_crash
from debugger.questions.crash.crash_facts import CrashFacts
from debugger.questions.crash.crash_question import closing_notes

SENT, CLOSED = "send on closed channel", "close of closed channel"


@pytest.mark.parametrize(
    ("statement", "message", "channel"),
    [("b.out <- n", SENT, "b.out"), ("close(ch)", CLOSED, "ch"), ("ch <- n", SENT, "ch")],
)
def test_the_channel_of_the_statement_is_the_culprit(
    statement: str, message: str, channel: str
) -> None:
    facts = CrashFacts(
        "main.publish",
        exception="plainError",
        message=message,
        operands=parse_reads(statement).operands,
        values={"n": "2", channel: "chan int 1/4"},
    )
    cause = explain_crash(facts)
    assert (cause.kind, cause.culprit) == ("closed_channel", channel)
    assert cause.text == f"{message}: {channel}, in main.publish"


def test_of_two_channels_none_is_chosen() -> None:
    values = {"a": "chan int 1/4", "b": "chan int 0/4"}
    facts = CrashFacts(
        "f", exception="plainError", message=SENT, operands=("a", "b"), values=values
    )
    assert explain_crash(facts).kind == "exception"


def test_the_lines_that_close_a_channel_of_that_name_are_told_or_else_all() -> None:
    sources = {
        "/p/a.go": ["close(b.out)", "// close(out)", "defer close(done)"],
        "/p/b.go": ["file.close(out)", "x.close(out)"],
    }
    begin = "by the package's source:"
    assert describe_closing(SENT, "c.out", sources) == (
        f"closes c.out, {begin} close(b.out) at a.go:1"
    )
    assert describe_closing(CLOSED, "ch", sources) == (
        f"closes a channel, {begin} close(b.out) at a.go:1, close(done) at a.go:3"
    )
    assert not describe_closing("close of nil channel", "done", sources)
    assert not describe_closing(SENT, "ch", {})


def test_the_files_of_the_package_are_read_without_its_tests(tmp_path: Path) -> None:
    (tmp_path / "bus.go").write_text("package p\n\tclose(b.out)\n")
    (tmp_path / "bus_test.go").write_text("close(b.out)\n")
    main = tmp_path / "main.go"
    main.write_text("package p\nb.out <- 1\n")
    facts = CrashFacts("f", message=SENT)
    (note,) = closing_notes(FrameView(0, "f", str(main), 2), facts, "b.out")
    assert note.endswith(": close(b.out) at bus.go:2")
    assert not closing_notes(None, facts, "b.out")
