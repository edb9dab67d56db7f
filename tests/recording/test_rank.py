"""The location that failing runs share, and passing ones do not, comes first."""

from __future__ import annotations

import pytest

from debugger.recorders.model import (
    CallEntered,
    CallsMerged,
    LinesHit,
    RecordedFunction,
    RecordedValue,
    Recording,
)
from debugger.recorders.suspect_ranking import ochiai_score, rank_suspects, run_spectrum


def run(
    *calls: tuple[str, str],
    passed: bool,
    lines: tuple[int, ...] = (),
    firsts: tuple[int, ...] = (),
    command: str = "",
):
    names = dict.fromkeys(name for name, _ in calls)
    functions = {n: RecordedFunction(n, name, "/p/a.py", n) for n, name in enumerate(names, 1)}
    numbers = {one.name: number for number, one in functions.items()}
    events = [
        CallEntered(at, 0, numbers[name], 1, at, 0, (RecordedValue("n", value),))
        for at, (name, value) in enumerate(calls, 1)
    ]
    hit = [LinesHit(1, lines, firsts)] if lines else []
    recording = Recording(functions=functions, events=(*events, *hit))
    return run_spectrum([recording], passed=passed, command=command)


@pytest.mark.parametrize(
    ("failing", "passing", "failed", "score"),
    [(2, 0, 2, 1.0), (0, 3, 2, 0.0), (1, 1, 1, 0.7071), (2, 2, 2, 0.7071)],
)
def test_ochiai(failing, passing, failed, score):
    assert ochiai_score(failing, passing, failed) == pytest.approx(score, abs=1e-4)


def test_what_only_failing_runs_came_to_is_first_with_the_values_that_differ():
    ranking = rank_suspects(
        [
            run(("main", "1"), ("parse", "-1"), ("refund", "9"), passed=False, lines=(1, 2, 9)),
            run(("main", "1"), ("parse", "3"), passed=True, lines=(1, 2)),
            run(("main", "1"), ("parse", "4"), passed=True, lines=(1, 2)),
        ]
    )
    assert [(one.place.function, one.failing, one.passing) for one in ranking.functions] == [
        ("refund", 1, 0),
        ("main", 1, 2),
        ("parse", 1, 2),
    ]
    assert ranking.lines[0].place.line == 9
    (entry,) = ranking.functions[2].entries
    assert (entry.name, entry.failing, entry.passing) == ("n", ("-1",), ("3", "4"))
    assert ranking.functions[1].entries == ()


def test_calls_that_were_only_counted_count_as_come_to():
    recording = Recording(
        functions={1: RecordedFunction(1, "f")}, events=(CallsMerged(1, 0, 1, 1, 0, 5),)
    )
    ranking = rank_suspects([run_spectrum([recording], passed=False)])
    assert [one.place.function for one in ranking.functions] == ["f"]


def test_of_lines_of_the_same_score_the_first_that_was_passed_is_first():
    ranking = rank_suspects(
        [run(("main", "1"), passed=False, lines=(3, 7, 9), firsts=(300, 100, 200))]
    )
    assert [one.place.line for one in ranking.lines] == [7, 9, 3]


def differing(*spectra):
    (function,) = rank_suspects(spectra).functions
    return [one.failing for one in function.entries]


def test_values_that_differ_in_any_two_runs_are_left_out():
    bad = [run(("f", "seed 1"), passed=False, command="a"), run(("f", "seed 2"), passed=False)]
    assert differing(*bad, run(("f", "seed 3"), passed=True)) == []
    again = [run(("f", "seed 3"), passed=True, command="b"),
             run(("f", "seed 4"), passed=True, command="b")]  # fmt: skip
    assert differing(bad[0], *again) == []
    assert differing(bad[0], again[0]) == [("seed 1",)]


def test_an_address_is_no_difference_and_what_it_leads_to_is_one():
    good = run(("f", "0x7ffe12345678 {n:1}"), passed=True)
    assert differing(run(("f", "0x7ffe87654321 {n:1}"), passed=False), good) == []
    assert differing(run(("f", "0x7ffe87654321 {n:2}"), passed=False), good) == [("0x… {n:2}",)]
    assert differing(run(("f", "0x0"), passed=False), good) == [("0x0",)]


def test_numbers_beyond_those_of_passing_runs_are_told_although_no_two_are_the_same():
    bad = [run(("f", "9"), passed=False), run(("f", "12"), passed=False)]
    assert differing(*bad, run(("f", "3"), passed=True)) == [("9", "12")]
    assert differing(*bad, run(("f", "10"), passed=True)) == []
