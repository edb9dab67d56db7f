"""An answer about a whole run says nothing twice."""

from __future__ import annotations

from itertools import pairwise

from msgspec.structs import replace

from debugger.cli.answer_text import format_answer
from debugger.model import answers as a
from debugger.output import OutputStyle
from debugger.output.location_text import format_chain, format_count
from debugger.questions.calls.answer import Calls, LifeView, StepView
from debugger.questions.hang.answer import Hang, HangGroup
from debugger.questions.path.answer import PathAnswer, SourceLineView, SuspectView
from debugger.questions.recordings import run_text
from debugger.questions.recordings.answer import CallRow, ValueView, VaryView
from debugger.questions.runner.answer import CallerView, Crash
from debugger.questions.who_wrote.answer import WhoWrote
from fakes.sample_answers import EXAMPLES

BY_KIND = {type(one): one for one in EXAMPLES}


def answer_lines(answer: a.Answer, budget: int = 1000) -> list[str]:
    return format_answer(answer, budget=budget, style=OutputStyle.PLAIN, width=80).splitlines()


def test_the_source_line_of_callers_at_the_same_place_is_told_once():
    at = a.FrameView(1, "run::{closure}", "/src/main.rs", 9)
    callers = (
        CallerView(at, "all.map(|one| pop(one))"),
        CallerView(replace(at, function="run"), "all.map(|one| pop(one))"),
        CallerView(replace(at, line=20), "run(all)"),
    )
    shown = answer_lines(replace(BY_KIND[Crash], callers=callers))
    begin = shown.index("called by run::{closure} main.rs:9: all.map(|one| pop(one))")
    assert shown[begin + 1 : begin + 3] == [
        "  by run main.rs:9",
        "  by run::{closure} main.rs:20: run(all)",
    ]


def test_those_that_wait_at_the_same_place_are_told_together():
    here, there = (a.FrameView(0, "move", "/src/b.c", line) for line in (67, 68))
    groups = tuple(
        HangGroup(1, (name,), state=state, frames=(at,))
        for name, state, at in (
            ("one", "waits for b", here),
            ("two", "waits for a", here),
            ("three", "waits for c", there),
            ("four", "sleeps", there),
            ("five", "sleeps", there),
        )
    )
    cause = "deadlock: one waits for b; two waits for a; three waits for c"
    shown = answer_lines(replace(BY_KIND[Hang], cause=cause, groups=groups))
    begin = shown.index("one, two: at move b.c:67")
    assert shown[begin + 1 : begin + 6] == [
        "three: at move b.c:68",
        "four: sleeps",
        "  at move b.c:68",
        "five: sleeps",
        "  at move b.c:68",
    ]


def test_the_object_of_a_call_is_not_told_again_of_what_it_calls():
    same = VaryView("self", 1, 1, "<Shop>", "<Shop>")
    other = replace(same, first="<Till>", last="<Till>")
    step = StepView(
        9,
        "self.add()",
        callees=(
            CallRow(0, 0, "add", arguments=(same,)),
            CallRow(0, 1, "pay", arguments=(other,)),
        ),
    )
    life = LifeView(1, "run", "/src/a.py", 8, (ValueView("self", "<Shop>"),), items=(step,))
    shown = answer_lines(replace(BY_KIND[Calls], lives=(life,)))
    begin = shown.index("  9  self.add()")
    assert shown[begin + 1 : begin + 3] == ["      add", "      pay(self=<Till>)"]


def test_each_run_is_told_where_not_all_that_fail_ended_alike():
    one = BY_KIND[PathAnswer].runs[0]
    runs = (replace(one, exit_code=1), replace(one, exit_code=2), replace(one, exit_code=0))
    compared = replace(BY_KIND[PathAnswer], runs=runs, passing=1)
    first, *rest = answer_lines(compared)
    assert first == "path: 2 failing runs, 1 passing"
    assert [line.partition(":")[0] for line in rest[:3]] == ["fails", "fails", "passes"]
    alike = replace(compared, runs=(runs[0], runs[0], runs[2]))
    first, *rest = answer_lines(alike)
    assert first == "path: 2 failing runs, 1 passing (exited with status 1 | 0)"
    assert not any(line.startswith("fails") for line in rest)


def test_what_follows_the_line_is_left_out_but_for_the_rest_of_its_statement():
    texts = ("head(", "  one);", "result = call(a[", "    3],", "    b)", "after = 1")
    source = tuple(
        a.SourceLine(at, line, current=at == 3) for at, line in enumerate(texts, start=1)
    )
    shown = answer_lines(replace(BY_KIND[WhoWrote], source=source))
    assert [line for line in shown if line[:6].strip().isdigit() or line.startswith("-> 3")] == [
        "   1  head(",
        "   2    one);",
        "-> 3  result = call(a[",
        "   4      3],",
        "   5      b)",
    ]


def test_a_loop_that_does_not_end_is_shown_with_its_lines():
    source = tuple(a.SourceLine(at, f"line {at}", current=at == 3) for at in range(1, 6))
    hang = replace(BY_KIND[Hang], source=source)
    assert "   5  line 5" in answer_lines(hang)
    assert "   5  line 5" not in answer_lines(replace(hang, loop=None))


def test_a_file_is_named_once_in_a_chain_of_callers():
    frames = [
        a.FrameView(0, "take", "/src/pool.c", 22),
        a.FrameView(1, "render", "/src/pool.c", 44),
        a.FrameView(2, "start", None, None, address="0x40"),
        a.FrameView(3, "main", "/src/pool.c", 9),
        a.FrameView(4, "run", "/lib/pool.c", 5),
    ]
    assert (
        format_chain(frames)
        == "take pool.c:22 < render :44 < start 0x40 < main pool.c:9 < run pool.c:5"
    )


def test_how_it_ended_is_told_unless_that_is_how_such_an_exception_ends():
    crash = replace(BY_KIND[Crash], signal=None, exit_signal=None, exit_code=1)
    assert "in the end: exited with status 1" in answer_lines(crash)
    assert not any("in the end" in line for line in answer_lines(replace(crash, usual_exit=1)))
    assert "in the end: exited with status 3" in answer_lines(
        replace(crash, exit_code=3, usual_exit=1)
    )


def test_the_function_of_suspicious_lines_is_told_once():
    lines = tuple(
        SuspectView("load", "/src/a.py", line, 1.0, 1, 0, text=f"x = {line}") for line in (3, 5)
    )
    other = replace(lines[0], function="main", line=9, text="x = 9")
    one = BY_KIND[PathAnswer].runs[0]
    answer = replace(BY_KIND[PathAnswer], runs=(one, one), passing=1, suspect_lines=(*lines, other))
    shown = answer_lines(answer)
    begin = shown.index("lines that failing runs passed:")
    assert shown[begin + 1 : begin + 4] == [
        "  a.py:3  x = 3  (in load)",
        "  a.py:5  x = 5",
        "  a.py:9  x = 9  (in main)",
    ]


def test_of_many_suspicious_lines_each_function_is_one_row() -> None:
    excerpt = tuple(SourceLineView(line, f"x = {line}") for line in (14, 15, 22))
    ranges = tuple(
        SuspectView("load", "/src/a.py", line, 1.0, 1, 0, last=line + 12, excerpt=excerpt)
        for line in (10, 30)
    )
    part = SuspectView("load", "/src/a.py", 31, 1.0, 1, 0, last=31, column=7)
    others = tuple(
        SuspectView(f"<anonymous>.step{at}", "/src/b.js", at, 0.71, 2, 1, last=at, is_new=True)
        for at in range(1, 12)
    )
    one = BY_KIND[PathAnswer].runs[0]
    answer = replace(
        BY_KIND[PathAnswer],
        runs=(one, one),
        passing=1,
        suspect_lines=(*ranges, part, *others),
        passing_lines=(),
    )
    shown = answer_lines(answer, 8_000)
    begin = shown.index("lines that failing runs passed (+: no other run called it):")
    assert shown[begin + 1 :][:5] == [
        "  a.py:10-22 (at :14-15 :22) :30-42  load",
        "    14 x = 14",
        "    15 x = 15",
        "    22 x = 22",
        "  0.71 b.js:1  +step1",
    ]


def test_a_list_without_room_for_a_row_has_no_heading() -> None:
    lines = tuple(
        SuspectView(f"f{at}", f"/src/{'long' * 15}.py", at, 1.0, 1, 0) for at in range(30)
    )
    one = BY_KIND[PathAnswer].runs[0]
    answer = replace(BY_KIND[PathAnswer], runs=(one, one), passing=1, suspect_lines=lines)
    for limit in range(100, 1500, 50):
        shown = answer_lines(replace(answer, passing_lines=lines[:9]), limit)
        for heading, following in pairwise([*shown, ""]):
            if heading.startswith("lines that"):
                assert following.startswith("  ")


def test_runs_side_by_side_take_at_most_two_thousand_characters_on_the_usual_page() -> None:
    lines = tuple(SuspectView(f"f{at}", f"/src/{'long' * 9}.py", at, 1.0, 1, 0) for at in range(30))
    one = BY_KIND[PathAnswer].runs[0]
    notes = tuple(f"note {at} {'about what was not recorded ' * 5}" for at in range(6))
    answer = replace(
        BY_KIND[PathAnswer], runs=(one, one), passing=1, notes=notes,
        suspect_lines=lines, passing_lines=lines[:9],
    )  # fmt: skip
    short = "\n".join(answer_lines(answer))
    assert 1_500 < len(short) <= 2_000
    assert "note 5" in short
    assert len("\n".join(answer_lines(answer, 4_000))) > 2_000


def test_a_generator_that_nobody_goes_on_with_is_closed_and_nothing_was_caught() -> None:
    ended = CallRow(1, 0, "numbers", raised=1, errors=("GeneratorExit",))
    assert run_text.format_row(ended).endswith("closed")
    assert run_text.format_row(CallRow(0, 0, "main"), inner=("GeneratorExit",)) == "main"


def test_the_values_of_the_first_calls_are_not_said_of_all() -> None:
    numbers = VaryView("i", 50, 50, "0", "49", least="0", most="49")
    row = CallRow(0, 0, "work", count=400, arguments=(numbers,), value=numbers, known=50)
    text = "work(i=0..49) x400 → 0..49 (values of the first 50)"
    assert run_text.format_row(row) == text
    assert "first" not in run_text.format_row(replace(row, count=50))


def test_nouns_have_their_plurals() -> None:
    found = [format_count(number, noun) for number in (1, 2) for noun in ("more branch", "line")]
    assert found == ["1 more branch", "1 line", "2 more branches", "2 lines"]


def test_a_comparison_without_lines_of_passing_runs_has_no_heading_for_them():
    one = BY_KIND[PathAnswer].runs[0]
    line = SuspectView("work", "/src/app.c", 20, 1.0, 1, 0, text="a();")
    answer = replace(BY_KIND[PathAnswer], runs=(one, one), passing=1, suspect_lines=(line,))
    shown = answer_lines(replace(answer, passing_lines=()))
    assert not [text for text in shown if text.startswith("lines that only passing runs")]
