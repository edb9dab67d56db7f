"""Two probed runs are compared as far as both are known."""

from __future__ import annotations

import msgspec
import pytest

from debugger.errors import DebuggerError, ErrorCode
from debugger.questions.probe import probe_comparison
from debugger.questions.probe.answer import Probe, ProbeColumn, ProbePlace, ProbeRow
from debugger.questions.probe.probe_comparison import (
    ProbedRun,
    compare_probed_runs,
    hits_compared,
    to_probed_run,
)


def probe(
    *values: object, hits: int | None = None, skips: int = 0, why: str = "", error: str = ""
) -> Probe:
    """Return a run that came to one place; the `skips`th of its hits was not told, if any."""
    numbers = [at for at in range(1, len(values) + 1 + bool(skips)) if at != skips]
    rows = [
        ProbeRow(0, hit, hit / 10, (str(value),))
        for hit, value in zip(numbers, values, strict=True)
    ]
    column = ProbeColumn("x", len(rows), error=error or None, is_never_there=bool(error))
    count = len(rows) + bool(skips) if hits is None else hits
    place = ProbePlace(
        "a.py:3", (column,), "/a.py", 3, hits=count, taken=len(rows), why=why or None
    )
    return Probe("exited", (place,), tuple(rows), exit_code=0, means="recorder")


def run(found: Probe) -> ProbedRun:
    return to_probed_run(found, "a.py")


def test_what_is_behind_the_last_hit_known_of_one_run_is_not_compared() -> None:
    found = compare_probed_runs(run(probe(1, 2, 4, skips=3)), run(probe(1, 2, 3, 4)))
    assert found.parted is None
    assert (found.common, found.right_only) == (2, 0)
    assert found.notes == (
        "of a.py:3 the first 2 hits are compared: later ones came too fast to be told",
    )
    known = compare_probed_runs(run(probe(1, 2)), run(probe(1, 2, 3)))
    assert known.right_only == 1
    assert known.notes == ()


def test_places_share_the_hits_that_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_comparison, "ROWS", 2)
    assert (hits_compared(1), hits_compared(2)) == (2, 1)
    found = compare_probed_runs(run(probe(1, 2, hits=9)), run(probe(1, 2, hits=2)))
    assert found.parted is None
    assert found.notes == ("of a.py:3 the first 2 hits are compared: not later ones",)
    assert found.places[0].left_hits == 9
    by_logpoints = msgspec.structs.replace(probe(1, 2, hits=9), means="logpoints")
    found = compare_probed_runs(run(by_logpoints), run(probe(1, 2, hits=2)))
    assert found.places[0].left_hits == 2  # it was taken away then: how many came is not known


def test_runs_of_which_none_came_there_say_why() -> None:
    with pytest.raises(DebuggerError, match=r"neither run came there: a\.py:3: too far") as refused:
        compare_probed_runs(run(probe(why="too far")), run(probe(why="too far")))
    assert refused.value.code is ErrorCode.NOT_FOUND
    with pytest.raises(DebuggerError, match="x never had a value: no x") as refused:
        compare_probed_runs(run(probe(1, error="no x")), run(probe()))
    assert refused.value.code is ErrorCode.EVALUATION_FAILED
    found = compare_probed_runs(run(probe(1)), run(probe(why="too far")))
    assert (found.left_only, found.places[0].right_why) == (1, "too far")


def test_a_value_that_one_run_could_not_give_differs() -> None:
    found = compare_probed_runs(run(probe("<no x>", error="no x")), run(probe(5)))
    (column,) = found.places[0].columns
    assert (column.different, column.left, column.right, column.error) == (1, "<no x>", "5", None)
