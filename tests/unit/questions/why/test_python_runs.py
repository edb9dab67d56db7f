"""Which run comes next: to a last hit that was only counted, or to each hit."""

from __future__ import annotations

from debugger.questions.why.python_runs import CountedHit, LocatedHit, plan_last_hit
from debugger.recorders.model import OriginOrder

FIRST = OriginOrder("row.number", file="a.py", line=3, nth=-1)
AT = LocatedHit(calls=9_000, frames=(1,), unrecorded=6_000, gap=8_999, statements=12_000, ns=10**9)


def test_the_run_after_one_that_counted_goes_to_the_last_hit() -> None:
    order = plan_last_hit(FIRST, FIRST, CountedHit(4_300, AT))
    assert order is not None
    assert (order.nth, order.frames) == (4_300, (1,))
    assert order.windows[0][0] < order.windows[0][1] == AT.calls


def test_if_the_counted_hit_is_not_reached_each_hit_is_looked_at() -> None:
    order = plan_last_hit(FIRST, OriginOrder("row.number", nth=4_300, windows=((1, 2),)), None)
    assert order == OriginOrder("row.number", file="a.py", line=3, nth=-1, every_hit=True)


def test_without_a_hit_there_is_no_other_run() -> None:
    assert plan_last_hit(FIRST, FIRST, None) is None
