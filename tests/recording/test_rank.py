"""Is the place that failing runs share, and passing ones do not, the first?"""

from __future__ import annotations

import pytest

from debugger.recording.model import Entered, Function, Hit, Merged, Recording, Value
from debugger.recording.rank import ochiai, rank, spectrum


def run(*calls: tuple[str, str], passed: bool, lines: tuple[int, ...] = ()):
    names = dict.fromkeys(name for name, _ in calls)
    functions = {n: Function(n, name, "/p/a.py", n) for n, name in enumerate(names, 1)}
    numbers = {one.name: number for number, one in functions.items()}
    events = [
        Entered(at, 0, numbers[name], 1, at, 0, (Value("n", value),))
        for at, (name, value) in enumerate(calls, 1)
    ]
    hit = [Hit(1, lines)] if lines else []
    return spectrum([Recording(functions=functions, events=(*events, *hit))], passed=passed)


@pytest.mark.parametrize(
    ("failing", "passing", "failed", "score"),
    [(2, 0, 2, 1.0), (0, 3, 2, 0.0), (1, 1, 1, 0.7071), (2, 2, 2, 0.7071)],
)
def test_ochiai(failing, passing, failed, score):
    assert ochiai(failing, passing, failed) == pytest.approx(score, abs=1e-4)


def test_what_only_failing_runs_came_to_is_first_with_the_values_that_differ():
    ranking = rank(
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
    recording = Recording(functions={1: Function(1, "f")}, events=(Merged(1, 0, 1, 1, 0, 5),))
    ranking = rank([spectrum([recording], passed=False)])
    assert [one.place.function for one in ranking.functions] == ["f"]
