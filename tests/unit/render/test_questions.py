"""Is nothing said twice in an answer to a question about a whole run?"""

from __future__ import annotations

from msgspec.structs import replace

from debugger.core import answers as a
from debugger.render import Style, text
from fakes.told import EXAMPLES

BY_KIND = {type(one): one for one in EXAMPLES}


def told(answer: a.Answer) -> list[str]:
    return text(answer, budget=1000, style=Style.PLAIN, width=80).splitlines()


def test_the_source_line_of_callers_at_the_same_place_is_told_once():
    at = a.FrameView(1, "run::{closure}", "/src/main.rs", 9)
    callers = (
        a.CallerView(at, "all.map(|one| pop(one))"),
        a.CallerView(replace(at, function="run"), "all.map(|one| pop(one))"),
        a.CallerView(replace(at, line=20), "run(all)"),
    )
    shown = told(replace(BY_KIND[a.Crash], callers=callers))
    begin = shown.index("called by run::{closure} main.rs:9: all.map(|one| pop(one))")
    assert shown[begin + 1 : begin + 3] == [
        "  by run main.rs:9",
        "  by run::{closure} main.rs:20: run(all)",
    ]


def test_those_that_wait_at_the_same_place_are_told_together():
    here, there = (a.FrameView(0, "move", "/src/b.c", line) for line in (67, 68))
    groups = tuple(
        a.HangGroup(1, (name,), state=state, frames=(at,))
        for name, state, at in (
            ("one", "waits for b", here),
            ("two", "waits for a", here),
            ("three", "waits for c", there),
            ("four", "sleeps", there),
            ("five", "sleeps", there),
        )
    )
    cause = "deadlock: one waits for b; two waits for a; three waits for c"
    shown = told(replace(BY_KIND[a.Hang], cause=cause, groups=groups))
    begin = shown.index("one, two: at move b.c:67")
    assert shown[begin + 1 : begin + 6] == [
        "three: at move b.c:68",
        "four: sleeps",
        "  at move b.c:68",
        "five: sleeps",
        "  at move b.c:68",
    ]


def test_the_object_of_a_call_is_not_told_again_of_what_it_calls():
    same = a.VaryView("self", 1, 1, "<Shop>", "<Shop>")
    other = replace(same, first="<Till>", last="<Till>")
    step = a.StepView(
        9,
        "self.add()",
        callees=(
            a.CallRow(0, 0, "add", arguments=(same,)),
            a.CallRow(0, 1, "pay", arguments=(other,)),
        ),
    )
    life = a.LifeView(1, "run", "/src/a.py", 8, (a.ValueView("self", "<Shop>"),), items=(step,))
    shown = told(replace(BY_KIND[a.Calls], lives=(life,)))
    begin = shown.index("  9  self.add()")
    assert shown[begin + 1 : begin + 3] == ["      add", "      pay(self=<Till>)"]


def test_each_run_is_told_where_not_all_that_fail_ended_alike():
    one = BY_KIND[a.Path].runs[0]
    runs = (replace(one, exit_code=1), replace(one, exit_code=2), replace(one, exit_code=0))
    compared = replace(BY_KIND[a.Path], runs=runs, passing=1)
    first, *rest = told(compared)
    assert first == "path: 2 failing runs, 1 passing"
    assert [line.partition(":")[0] for line in rest[:3]] == ["fails", "fails", "passes"]
    alike = replace(compared, runs=(runs[0], runs[0], runs[2]))
    first, *rest = told(alike)
    assert first == "path: 2 failing runs, 1 passing (exited with status 1 | exited with status 0)"
    assert not any(line.startswith("fails") for line in rest)
