"""Breakpoints that are requested, sent and answered are kept apart."""

from __future__ import annotations

import msgspec
import pytest

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import (
    MOST,
    BoundBreakpoint,
    Breakpoint,
    BreakpointKind,
    Breakpoints,
    BreakpointSpec,
)

LINE = BreakpointSpec(file="/a.c", line=3)


def placed(known: Breakpoints, spec: BreakpointSpec) -> Breakpoint:
    wanted = known.add(spec)
    known.set_location(wanted.id, spec)
    return known.get(wanted.id)


def test_breakpoints_at_one_location_stand_beside_each_other():
    known = Breakpoints()
    specs = (
        LINE,
        msgspec.structs.replace(LINE, condition="x"),
        msgspec.structs.replace(LINE, log="x"),
    )
    assert [known.add(spec).id for spec in specs] == [1, 2, 3]
    assert known.user_specs() == specs


def test_a_breakpoint_that_is_exactly_as_another_is_that_one_with_its_hits():
    known = Breakpoints()
    first = known.add(LINE)
    known.record_hit(first.id)
    assert known.add(LINE) == known.get(first.id)
    assert known.count_hits(first.id) == 1


def test_the_hits_before_a_hit_count_was_reached_are_counted():
    known = Breakpoints()
    one = known.add(msgspec.structs.replace(LINE, hit_count=5))
    known.record_hit(one.id)
    known.record_hit(one.id)
    assert known.count_hits(one.id) == 6
    known.enable(one.id, on=False)
    known.enable(one.id, on=True)
    known.record_hit(one.id)
    assert known.count_hits(one.id) == 11


def test_a_function_breakpoint_at_a_taken_location_is_sent_with_those_of_the_line():
    known = Breakpoints()
    function = placed(known, BreakpointSpec(function="f"))
    known.take_answers(
        [function], [BoundBreakpoint(verified=False, file="/a.c", line=3, is_taken=True)]
    )
    known.move_to_line("/a.c", 3)
    assert known.get(function.id).at == LINE
    assert known.get(function.id).spec == BreakpointSpec(function="f")


@pytest.mark.parametrize(
    ("near", "function"),
    [
        (("app::Type::method",), "app::Type::method"),
        (("a::method", "b::method"), "method"),
        (("a::methods",), "method"),
    ],
)
def test_the_one_function_whose_qualified_name_ends_so_is_taken(
    near: tuple[str, ...], function: str
):
    known = Breakpoints()
    one = placed(known, BreakpointSpec(function="method"))
    known.take_answers([one], [BoundBreakpoint(verified=False, near_names=near)])
    assert known.qualify_functions() is (function != "method")
    at = known.get(one.id).at
    assert at is not None
    assert at.function == function


def test_ids_are_never_given_twice():
    known = Breakpoints()
    gone = known.add(LINE)
    known.remove(gone.id)
    assert known.add(LINE).id == gone.id + 1


def test_the_same_line_for_another_thread_is_another_breakpoint():
    known = Breakpoints()
    assert known.add(LINE).id != known.add(BreakpointSpec(file="/a.c", line=3, thread=2)).id


def test_there_is_a_most():
    known = Breakpoints()
    for line in range(1, MOST + 1):
        known.add(BreakpointSpec(file="/a.c", line=line))
    with pytest.raises(DebuggerError) as refused:
        known.add(BreakpointSpec(file="/b.c", line=1))
    assert refused.value.code is ErrorCode.USAGE
    assert known.add(LINE).id == 3


def test_ours_are_not_listed_found_or_kept_for_the_next_run():
    known = Breakpoints()
    ours = known.add(LINE, internal=True)
    mine = known.add(LINE)
    assert known.user_breakpoints() == [mine]
    with pytest.raises(DebuggerError):
        known.get(ours.id)
    assert {one.id for one in known.all_breakpoints()} == {ours.id, mine.id}
    known.forget_answers()
    assert [one.id for one in known.all_breakpoints()] == [mine.id]


def test_unbind_forgets_answers_and_hits_and_keeps_what_is_wanted():
    known = Breakpoints()
    one = placed(known, LINE)
    known.take_answers([one], [BoundBreakpoint(verified=True, backend_id=7)])
    known.record_hit(one.id)
    known.forget_answers()
    assert known.get(one.id) == Breakpoint(one.id, LINE)


def test_an_answer_to_a_breakpoint_that_was_changed_meanwhile_is_not_taken():
    known = Breakpoints()
    sent = placed(known, LINE)
    known.set_location(sent.id, BreakpointSpec(file="/a.c", line=4))
    known.take_answers([sent], [BoundBreakpoint(verified=True, backend_id=7)])
    assert known.get(sent.id).bound is None


def test_an_answer_to_a_breakpoint_that_was_removed_meanwhile_brings_nothing_back():
    known = Breakpoints()
    sent = placed(known, LINE)
    known.remove(sent.id)
    known.take_answers([sent], [BoundBreakpoint(verified=True, backend_id=7)])
    assert known.all_breakpoints() == []


def test_a_late_answer_finds_its_breakpoint_by_the_backends_number_only():
    known = Breakpoints()
    one = placed(known, LINE)
    known.take_answers([one], [BoundBreakpoint(verified=False)])
    assert known.update_bound(BoundBreakpoint(verified=True)) is None
    assert known.get(one.id).bound == BoundBreakpoint(verified=False)
    known.take_answers([one], [BoundBreakpoint(verified=False, backend_id=7)])
    late = BoundBreakpoint(verified=True, backend_id=7, line=4)
    assert known.update_bound(late).bound == late
    assert known.by_backend_id(7).id == one.id


def test_a_list_holds_the_enabled_breakpoints_of_one_file_by_id():
    known = Breakpoints()
    for line in (9, 2, 5):
        placed(known, BreakpointSpec(file="/a.c", line=line))
    placed(known, BreakpointSpec(file="/b.c", line=1))
    placed(known, BreakpointSpec(function="f"))
    off = known.enable(2, on=False)
    assert [one.id for one in known.same_list(LINE)] == [1, 3]
    assert off.bound is None
    assert {(at.kind, at.file) for at in known.list_representatives()} == {
        (BreakpointKind.LINE, "/a.c"),
        (BreakpointKind.LINE, "/b.c"),
        (BreakpointKind.FUNCTION, None),
    }


def test_functions_of_a_file_are_in_the_list_of_all_functions():
    known = Breakpoints()
    everywhere, of_file = BreakpointSpec(function="f"), BreakpointSpec(file="/a.rb", function="f")
    placed(known, everywhere)
    placed(known, of_file)
    assert [one.id for one in known.same_list(everywhere)] == [1, 2]
    assert [one.id for one in known.same_list(of_file)] == [1, 2]
    assert len(known.list_representatives()) == 1


def test_a_breakpoint_that_cannot_be_placed_is_not_sent():
    known = Breakpoints()
    one = known.add(LINE)
    known.set_location(one.id, BoundBreakpoint(verified=False, why="no such file"))
    assert known.same_list(LINE) == []
    assert known.list_representatives() == []
    assert known.get(one.id).bound.why == "no such file"


def test_an_unknown_id_names_those_that_exist():
    known = Breakpoints()
    with pytest.raises(DebuggerError, match="there are: none"):
        known.get(99)
    known.add(LINE)
    with pytest.raises(DebuggerError, match="no breakpoint 99; there are: 1"):
        known.get(99)


def test_a_breakpoint_of_another_process_keeps_its_id():
    known = Breakpoints()
    known.adopt(Breakpoint(5, LINE, bound=BoundBreakpoint(verified=True), hits=3))
    assert known.get(5) == Breakpoint(5, LINE)
    assert known.add(BreakpointSpec(function="f")).id == 6


def test_breakpoints_are_found_at_the_location_that_was_requested_and_where_they_are():
    known = Breakpoints()
    moved = known.add(BreakpointSpec(file="/a.c", line=2))
    known.take_answers([moved], [BoundBreakpoint(verified=True, file="/a.c", line=3)])
    at_line, named = known.add(LINE), known.add(BreakpointSpec(function="f"))
    known.add(BreakpointSpec(watch="x"))
    found = {
        at: [one.id for one in known.at_location(at)]
        for at in (LINE, moved.spec, named.spec, BreakpointSpec(file="/a.c", line=9))
    }
    assert [*found.values()] == [[moved.id, at_line.id], [moved.id], [named.id], []]
    known.take_answers([named], [BoundBreakpoint(verified=False, why="no function f")])
    assert known.at_location(BreakpointSpec(function="other")) == []
