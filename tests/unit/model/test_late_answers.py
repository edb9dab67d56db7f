"""Late news of a breakpoint finds its breakpoint."""

from __future__ import annotations

from debugger.model.breakpoints import BoundBreakpoint, Breakpoints, BreakpointSpec


def _sent() -> Breakpoints:
    known = Breakpoints()
    wanted = known.add(BreakpointSpec(file="/a.c", line=4))
    known.set_location(wanted.id, wanted.spec)
    return known


def _bind(known: Breakpoints, bound: BoundBreakpoint) -> BoundBreakpoint | None:
    known.take_answers(known.all_breakpoints(), [bound])
    return known.get(1).bound


PENDING = BoundBreakpoint(verified=False, backend_id=7, file="/a.c", line=4, why="not loaded yet")


def test_news_that_overtook_the_answer_are_not_lost():
    known = _sent()
    assert known.update_bound(BoundBreakpoint(verified=True, backend_id=7)) is None
    assert _bind(known, PENDING) == BoundBreakpoint(
        verified=True, backend_id=7, file="/a.c", line=4
    )


def test_early_news_of_nothing_good_give_way_to_the_answer():
    known = _sent()
    known.update_bound(BoundBreakpoint(verified=False, backend_id=7, why="pending"))
    assert _bind(known, BoundBreakpoint(verified=True, backend_id=7)) == BoundBreakpoint(
        verified=True, backend_id=7
    )


def test_late_news_keep_the_place_that_they_leave_out():
    known = _sent()
    _bind(known, PENDING)
    changed = known.update_bound(BoundBreakpoint(verified=True, backend_id=7))
    assert changed is not None
    assert changed.bound == BoundBreakpoint(verified=True, backend_id=7, file="/a.c", line=4)


def test_early_news_of_one_run_mean_nothing_in_the_next():
    known = _sent()
    known.update_bound(BoundBreakpoint(verified=True, backend_id=7))
    known.forget_answers()
    known.set_location(1, known.get(1).spec)
    assert _bind(known, PENDING) == PENDING
