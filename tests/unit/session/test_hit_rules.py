"""The rules of a session's breakpoints: which stop is reported, and what was skipped."""

from __future__ import annotations

from debugger.model.breakpoints import Breakpoints, BreakpointSpec, HitRule
from debugger.model.hit_filter import HitEvent, HitFilter
from debugger.session.hit_rules import HitRules


def ruled(hits, **events):
    known = Breakpoints()
    rule = HitRule(hits, " ".join(hits.options()), **events)
    return known, known.add(BreakpointSpec(file="f.c", line=1, rule=rule))


def stops(rules, one, count, functions=()):
    return [bool(rules.filter_stop([one], functions).reported) for _ in range(count)]


def test_only_the_nth_hit_is_reported_and_then_none():
    known, one = ruled(HitFilter(nth=3))
    rules = HitRules(known)
    assert stops(rules, one, 2) == [False, False]
    third = rules.filter_stop([one])
    assert third.reported == (one,)
    assert third.finished == (one.id,)
    assert third.notes == ("2 hits of breakpoint 1 skipped before (--nth 3)",)
    assert stops(rules, one, 1) == [False]
    assert rules.count_skipped(one.id) == 3


def test_a_breakpoint_enabled_again_counts_anew():
    known, one = ruled(HitFilter(first=1))
    rules = HitRules(known)
    assert stops(rules, one, 2) == [True, False]
    rules.reset(one.id)
    assert stops(rules, one, 1) == [True]


def test_a_hit_counts_below_the_function_only():
    known, one = ruled(HitFilter(inside="high"))
    rules = HitRules(known)
    assert rules.needs_callers([one])
    assert stops(rules, one, 1, ("leaf", "low", "main")) == [False]
    assert stops(rules, one, 1, ("leaf", "app::high(int)", "main")) == [True]
    assert stops(rules, one, 1, ("leaf", "main.high")) == [True]
    assert stops(rules, one, 1, ("leaf", "not_high")) == [False]


def test_events_begin_and_end_the_hits_that_count():
    places = {
        "after": BreakpointSpec(file="f.c", line=8),
        "until": BreakpointSpec(file="f.c", line=9),
    }
    hits = HitFilter(after=HitEvent("f.c:8"), until=HitEvent("f.c:9"))
    known, one = ruled(hits, **places)
    after, until = known.events_of(one.id)
    rules = HitRules(known)
    assert [event.internal for event in (after, until)] == [True, True]
    assert stops(rules, one, 1) == [False]
    assert rules.filter_stop([after]).reported == ()
    assert stops(rules, one, 1) == [True]
    assert rules.filter_stop([until]).finished == (one.id,)
    assert stops(rules, one, 1) == [False]


def test_an_event_at_the_line_itself_begins_behind_that_hit():
    hits = HitFilter(after=HitEvent("f.c:1"))
    known, one = ruled(hits, after=BreakpointSpec(file="f.c", line=1))
    (event,) = known.events_of(one.id)
    rules = HitRules(known)
    assert rules.filter_stop([event, one]).reported == ()
    assert rules.filter_stop([event, one]).reported == (one,)


def test_events_live_through_a_restart_and_end_with_their_breakpoint():
    known, one = ruled(HitFilter(after=HitEvent("f.c:8")), after=BreakpointSpec(line=8, file="f.c"))
    known.forget_answers()
    assert len(known.events_of(one.id)) == 1
    assert [each.id for each in known.user_breakpoints()] == [one.id]


def test_what_never_was_reported_is_named_at_the_end():
    known, one = ruled(HitFilter(nth=9))
    rules = HitRules(known)
    stops(rules, one, 4)
    assert rules.never_reported() == ["breakpoint 1 (--nth 9): 4 hits, none reported"]


def test_a_logpoint_writes_changes_only():
    known = Breakpoints()
    rule = HitRule(HitFilter(changes=True), "--changes")
    one = known.add(BreakpointSpec(file="f.c", line=1, log="{x}", rule=rule))
    rules = HitRules(known)
    texts = ["a", "a", "b", "b", "a"]
    assert [bool(rules.takes_log(one.id, text).reported) for text in texts] == [
        True,
        False,
        True,
        False,
        True,
    ]
