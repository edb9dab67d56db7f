"""LLDB's texts about breakpoints and steps are parsed (19.1.7)."""

from __future__ import annotations

import pytest

from debugger.backends.lldb import lldb_steps
from debugger.model.breakpoints import Breakpoint, BreakpointSpec

_LIST = """\
Current breakpoints:
1: file = 'main.c', line = 12, exact_match = 0, locations = 1 Options: disabled
  1.1: where = app`sum_to + 18 at main.c:12:14, address = 0x555555555170, unresolved, hit count = 7

2: file = 'main.c', line = 13, exact_match = 0, locations = 1, resolved = 1, hit count = 4 \
Options: ignore: 3 enabled
Condition: i == 1000

  2.1: where = app`sum_to + 27 at main.c:13:16, address = 0x555555555179, resolved, hit count = 4

3: name = 'odd, hit count = 9', locations = 2, resolved = 2, hit count = 1

4: file = 'main.c', line = 99, exact_match = 0, locations = 0 (pending)
"""
_PLANS = """\
thread #1: tid = 0x6d59:
  Active plan stack:
    Element 0: Base thread plan.
    Element 1: Stepping over line main.c:16:21.
    Element 2: Stepping over line main.c:15:12.
  Completed plan stack:
    Element 0: Stepping over line main.c:12:30.
"""


def test_what_each_breakpoint_has_counted_is_read():
    assert lldb_steps.parse_counts(_LIST) == {
        1: lldb_steps.HitCount(),
        2: lldb_steps.HitCount(4, 3),
        3: lldb_steps.HitCount(1),
        4: lldb_steps.HitCount(),
    }


@pytest.mark.parametrize(
    ("before", "after", "stops"),
    [
        (lldb_steps.HitCount(0), lldb_steps.HitCount(0), False),
        (lldb_steps.HitCount(0), lldb_steps.HitCount(1), True),
        (lldb_steps.HitCount(4, 1), lldb_steps.HitCount(5), False),
        (lldb_steps.HitCount(4, 1), lldb_steps.HitCount(6), True),
    ],
)
def test_a_hit_that_was_to_be_ignored_does_not_stop(before, after, stops):
    assert lldb_steps.has_stopped(before, after) is stops


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (_PLANS, 2),
        ("thread #1: tid = 0x6d59:\n  Active plan stack:\n    Element 0: Base thread plan.\n", 0),
        ("thread #1: tid = 0x3374\n  No active thread plans\n", 0),
        ("error: Error dumping plans:\nerror: Unknown TID: 99\n", None),
    ],
)
def test_the_steps_of_a_thread_that_are_under_way_are_counted(text, count):
    assert lldb_steps.parse_plan_count(text) == count


@pytest.mark.parametrize(
    ("reason", "is_own"),
    [
        ("breakpoint 2.2 3.2 -2.1", True),
        ("breakpoint 2.2 3.2", False),
        ("breakpoint 12.1", False),
        ("step over", False),
    ],
)
def test_a_breakpoint_of_lldbs_own_is_told_by_its_sign(reason, is_own):
    text = f"thread #1: tid = 9, 0x1 app`f(n=-1) at a-1.c:1:2, name = 'a', stop reason = {reason}\n"
    assert lldb_steps.is_lldb_breakpoint_stop(text) is is_own


def test_a_guard_holds_in_the_steps_own_frame_and_in_those_around_it():
    assert (
        lldb_steps.guard_condition(0x7000, 0x7018, 0x7028) == f"$sp >= {0x7000} || $fp == {0x7018}"
    )


@pytest.mark.parametrize("known", [(None, 1, 2), (1, None, 2), (1, 2, None), (0x7018, 1, 0x7028)])
def test_a_guard_always_stops_where_the_frame_is_not_known_or_not_made_yet(known):
    assert lldb_steps.guard_condition(*known) == ""


def test_registers_are_read_in_their_order_under_whatever_names():
    text = "     rsp = 0x00007fffffffe6c0\n     rbp = 0x00007fffffffe6e0\n"
    assert lldb_steps.parse_pointers(text) == (0x7FFFFFFFE6C0, 0x7FFFFFFFE6E0)
    assert lldb_steps.parse_pointers("error: no such register\n") == ()


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (BreakpointSpec(file="/a b.c", line=3), '--file "/a b.c" --line 3'),
        (BreakpointSpec(function="run"), '--name "run"'),
        (BreakpointSpec(address="0x40"), "--address 0x40"),
    ],
)
def test_a_guard_is_where_the_breakpoint_is(spec, words):
    assert (
        lldb_steps.location_words(Breakpoint(id=1, spec=BreakpointSpec(line=9), at=spec)) == words
    )


@pytest.mark.parametrize(
    ("spec", "bound", "is_in"),
    [
        (BreakpointSpec(file="/a/main.c", line=1), None, True),
        (BreakpointSpec(file="/a/other.c", line=1), None, False),
        (BreakpointSpec(function="run"), "/b/main.c", True),
        (BreakpointSpec(function="run"), "/b/other.c", False),
        (BreakpointSpec(function="run"), None, True),
    ],
)
def test_a_breakpoint_is_in_a_file_by_what_is_known_of_it(spec, bound, is_in):
    assert lldb_steps.is_in_files(spec, bound, ["/src/main.c", None]) is is_in
