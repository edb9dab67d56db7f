"""What an answer has shown already is not shown again: children, the runtime's frames."""

from __future__ import annotations

from debugger.cli.answer_text import format_answer
from debugger.model.answers import Backtrace, ExceptionView, FrameView, Value, VariableView
from debugger.output import OutputStyle
from debugger.questions.test.answer import MadeView, SpectrumRow, SpectrumView, SuiteAnswer


def answer_text(answer: Backtrace | Value | SuiteAnswer) -> str:
    return format_answer(answer, budget=1000, style=OutputStyle.PLAIN, width=80)


def value_of(text: str, *children: VariableView, ref: str = "v1") -> Value:
    return Value("one", text, "item", ref, children=children, children_total=len(children))


def child(name: str, value: str, **more: str) -> VariableView:
    return VariableView(name, value, "", **more)


def test_children_that_the_value_shows_have_no_rows():
    fields = (child("id", "3"), child("name", "'fig'"))
    assert answer_text(value_of("Item(id=3, name='fig')", *fields)) == (
        "one = Item(id=3, name='fig') (v1)"
    )
    lldb = (child("id", "3"), child("name", '0x555555556013 "fig"'))
    assert answer_text(value_of('0x1000 {id:3, name:"fig"}', *lldb)).count("\n") == 0
    pointed = child("(anonymous)", 'main.Item {ID: 3, Name: "fig"}', ref="v2")
    assert answer_text(value_of('0x1000 {ID: 3, Name: "fig"}', pointed)).count("\n") == 0


def test_children_that_the_value_cuts_or_that_have_more_below_have_rows():
    assert "\n  id = 33" in answer_text(value_of("Item(id=3, …)", child("id", "33")))
    assert "\n  next = 0x2" in answer_text(value_of("{next:0x2}", child("next", "0x2", ref="v3")))
    long = "x" * 300
    assert "\n  text = " in answer_text(value_of(f"{{text:{long}}}", child("text", long)))


def elements(*values: str) -> tuple[VariableView, ...]:
    return tuple(child(f"[{at}]", value) for at, value in enumerate(values))


def test_elements_that_the_value_shows_have_no_rows():
    assert answer_text(value_of("[1, 22, 3]", *elements("1", "22", "3"))) == (
        "one = [1, 22, 3] (v1)"
    )
    go = "[]int len: 2, cap: 4, [7,8]"
    assert answer_text(value_of(go, *elements("7", "8"))) == f"one = {go} (v1)"
    of_set = (child("140455798171816", "1"), child("140455798171848", "2"))
    assert answer_text(value_of("{1, 2}", *of_set)) == "one = {1, 2} (v1)"
    by_number = (child("1", "'a'"), child("2", "'b'"))
    assert answer_text(value_of("{1: 'a', 2: 'b'}", *by_number)) == "one = {1: 'a', 2: 'b'} (v1)"


def test_short_elements_that_the_value_cuts_share_lines():
    some = elements(*map(str, range(1000, 1030)))
    assert answer_text(value_of("size=30 {1000, 1001, …}", *some)) == (
        "one = size=30 {1000, 1001, …}\n"
        f"  [0..12] = {', '.join(map(str, range(1000, 1013)))}\n"
        f"  [13..25] = {', '.join(map(str, range(1013, 1026)))}\n"
        "  [26..29] = 1026, 1027, 1028, 1029"
    )
    rows = answer_text(value_of("size=2 {…}", *elements("{a: 1}", "y" * 30))).splitlines()[1:]
    assert rows == ["  [0] = {a: 1}", f"  [1] = {'y' * 30}"]


def frames(count: int) -> tuple[FrameView, ...]:
    return tuple(FrameView(at, f"f{at}") for at in range(count))


def test_the_runtimes_frames_are_counted_with_the_command_that_shows_them():
    assert answer_text(Backtrace(1, frames(9), 9, own=2)) == (
        "* #0 f0\n  #1 f1\n  … 7 frames of the runtime: debugger backtrace --limit 9"
    )
    whole = answer_text(Backtrace(1, frames(9), 9))
    assert "#8 f8" in whole
    assert "#3 f3" in answer_text(Backtrace(1, frames(4), 4, own=2))
    assert "#8 f8" in answer_text(Backtrace(1, frames(9), 9, current=5, own=2))


def test_what_the_first_line_of_a_failed_test_says_is_not_repeated():
    here = FrameView(0, "merges", "/a/lib.rs", 58)
    answer = SuiteAnswer(
        "failed",
        "cargo test",
        cause="assertion failed: left == right, left=3 right=7 with got=3, in merges lib.rs:58",
        test="merges",
        exception=ExceptionView("panic", "left == right\n  left: 3\n right: 7\n other: 5"),
        frame=here,
        values=(child("got", "3"), child("other", "5")),
        locals=(child("item", "[8]"), child("n", "33")),
        locals_total=2,
        made=(MadeView(here, "item = f()", (child("item", "[8]"),)),),
        spectrum=SpectrumView(
            2, ("a",), (SpectrumRow(here, 58, "x = 1"), SpectrumRow(here, 59, "y = 1", 1)), 0, 0.5
        ),
    )
    text = answer_text(answer)
    for part in ("left: 3", "right: 7", "values: got", "locals: item", "y = 1"):
        assert part not in text, text
    for part in ("other: 5", "values: other=5", "locals: n=33", "x = 1"):
        assert part in text
