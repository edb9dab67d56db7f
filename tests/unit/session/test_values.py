"""Source, values, stops and processes as a session shows them."""

from __future__ import annotations

import os
import re

import pytest
from msgspec import UNSET

from debugger.backends.base import AttachTarget, LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.answers import SourceLine
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointSpec
from debugger.model.debugger_words import DebuggerTraits
from debugger.model.program import Frame, Stopped, StopReason, Variable
from debugger.model.value_refs import ValueRefs
from debugger.output.location_text import shorten_value
from debugger.session import source_files, stop_report, views
from debugger.session.event_record import is_crash
from debugger.session.selection import (
    Selection,
    foreign_processes,
    name_stop,
    stop_location_text,
    target_program,
)

# -- source --------------------------------------------------------------------------------------


def write(tmp_path, content: bytes) -> str:
    (tmp_path / "a.c").write_bytes(content)
    return str(tmp_path / "a.c")


def test_lines_are_counted_as_compilers_count_them(tmp_path):
    path = write(tmp_path, "one\f\x0b\x1c\x85\u2028\ntwo\r\nthree\rfour".encode())
    found = source_files.read_source(path)
    assert len(found) == 4
    assert found[1:] == ("two", "three", "four")


def test_the_lines_around_one_are_marked_and_end_with_the_file(tmp_path):
    path = write(tmp_path, b"a\nb\n\tc\n")
    assert source_files.surrounding_lines(path, 3, before=1, after=5) == (
        SourceLine(2, "b"),
        SourceLine(3, "    c", current=True),
    )
    assert [one.line for one in source_files.surrounding_lines(path, 1, before=3, after=1)] == [
        1,
        2,
    ]


@pytest.mark.parametrize(("path", "line"), [(None, 1), ("/nonexistent", 1), ("a\0b", 1), ("/", 1)])
def test_without_source_nothing_is_shown(path, line):
    assert source_files.surrounding_lines(path, line, before=3, after=3) == ()


@pytest.mark.parametrize("line", [None, 0, -1, 4])
def test_a_line_that_is_not_in_the_file_shows_nothing(tmp_path, line):
    assert (
        source_files.surrounding_lines(write(tmp_path, b"a\nb\nc\n"), line, before=3, after=3) == ()
    )


def test_a_changed_file_is_read_again(tmp_path):
    path = write(tmp_path, b"old\n")
    assert source_files.read_source(path) == ("old",)
    write(tmp_path, b"newer\n")
    assert source_files.read_source(path) == ("newer",)


def test_bytes_that_are_no_text_and_long_lines_are_shown_as_far_as_they_go(tmp_path):
    (line, long) = source_files.read_source(write(tmp_path, b"\xff\n" + b"x" * 100_000))
    assert line == "\N{REPLACEMENT CHARACTER}"
    assert len(long) < 1000


def test_a_listing_of_what_is_not_there_is_refused(tmp_path):
    path = write(tmp_path, b"a\nb\n")
    shown, total = source_files.list_lines(path, 2, context=5)
    assert (len(shown), total) == (2, 2)
    with pytest.raises(DebuggerError, match="has 2 lines") as refused:
        source_files.list_lines(path, 3, context=5)
    assert refused.value.code is ErrorCode.NOT_FOUND
    with pytest.raises(DebuggerError):
        source_files.list_lines("/nonexistent", 1, context=5)


def test_what_can_be_read_is_readable(tmp_path):
    assert source_files.is_readable(write(tmp_path, b""))
    for path in (None, "/nonexistent", "a\0b"):
        assert not source_files.is_readable(path)


# -- views ---------------------------------------------------------------------------------------


def test_a_long_value_loses_its_middle_and_says_its_length():
    text = "a" * 5000 + "b" * 5000
    shown = views.value_text(text)
    assert len(shown) <= views.VALUE_MAX
    assert shown.startswith("aaa")
    assert shown.endswith("bbb (10,000 characters)")
    assert views.value_text("x" * views.VALUE_MAX) == "x" * views.VALUE_MAX


@pytest.mark.parametrize(
    ("cut", "length"),
    [
        ("'" + "a" * 1000 + "'… (4500 bytes)", "(4,500 bytes)"),  # of PHP
        ('"' + "a" * 1000 + '"… (1500 characters)', "(1,500 characters)"),  # of Ruby
        ('"' + "a" * 1000 + '...+3476 more"', "(3,476 more bytes)"),  # of delve
    ],
)
def test_the_length_of_a_value_that_an_adapter_has_cut_is_its_own(cut: str, length: str) -> None:
    shown = views.value_text(cut, 200)
    assert shown.endswith(f"aaa … {length}")
    assert shorten_value(shown, 80).endswith(f"aaa … {length.replace('characters', 'chars')}")


def test_a_value_is_not_cut_within_an_escape_or_between_a_letter_and_its_mark() -> None:
    escapes = "\\x1b" * 40 + "\\u200d" * 20 + "\\n" * 20
    marked = "e\u0301" * 100
    for limit in range(30, 90):
        head, tail = shorten_value(escapes, limit).rsplit(" (", 1)[0].split(" … ")
        assert re.fullmatch(r"(?:\\x1b)+", head), head
        assert re.fullmatch(r"(?:\\u200d)*(?:\\n)+", tail), tail
        assert " … e" in shorten_value(marked, limit)


def test_a_value_has_a_ref_only_with_something_inside():
    refs = ValueRefs()
    assert views.variable_view(Variable("i", "1", "int"), refs).ref is UNSET
    assert views.variable_view(Variable("a", "[…]", "list", handle=9), refs).ref == "v1"


def test_changes_are_new_values_and_new_names():
    before = [Variable("i", "1"), Variable("j", "2"), Variable("gone", "3")]
    now = [Variable("i", "5"), Variable("j", "2"), Variable("k", "4")]
    found = views.changed_values(before, now, ValueRefs(), most=100)
    assert [(one.name, one.previous, one.value) for one in found] == [
        ("i", "1", "5"),
        ("k", None, "4"),
    ]


def test_a_breakpoint_says_why_it_is_not_bound_unless_it_is_off():
    spec = BreakpointSpec(file="/a.c", line=3)
    fresh = views.breakpoint_view(Breakpoint(1, spec))
    assert (fresh.verified, fresh.why_unbound) == (False, "the program does not run yet")
    unbound = BoundBreakpoint(verified=False, why="no code there", nearest_lines=(2, 5))
    shown = views.breakpoint_view(Breakpoint(1, spec, bound=unbound))
    assert (shown.why_unbound, shown.nearest_lines) == ("no code there", (2, 5))
    off = views.breakpoint_view(Breakpoint(1, BreakpointSpec(file="/a.c", line=3, enabled=False)))
    assert off.why_unbound is UNSET
    moved = views.breakpoint_view(Breakpoint(1, spec, bound=BoundBreakpoint(verified=True, line=4)))
    assert (moved.requested_line, moved.line, moved.file) == (3, 4, "/a.c")


# -- look ----------------------------------------------------------------------------------------

LINE = Breakpoint(1, BreakpointSpec(file="/a.c", line=3))
FUNCTION = Breakpoint(2, BreakpointSpec(function="f"))
OURS = Breakpoint(-1, BreakpointSpec(file="/a.c", line=9), internal=True)


@pytest.mark.parametrize(
    ("reason", "raw", "hit", "asked", "told"),
    [
        (StopReason.BREAKPOINT, "breakpoint", [LINE], {}, StopReason.BREAKPOINT),
        (StopReason.BREAKPOINT, "breakpoint", [FUNCTION], {}, StopReason.FUNCTION_BREAKPOINT),
        (StopReason.BREAKPOINT, "breakpoint", [LINE, FUNCTION], {}, StopReason.BREAKPOINT),
        (StopReason.BREAKPOINT, "breakpoint", [OURS], {}, StopReason.GOTO),
        (StopReason.BREAKPOINT, "breakpoint", [OURS, LINE], {}, StopReason.BREAKPOINT),
        (StopReason.PAUSE, "exception", [], {"is_entry": True}, StopReason.ENTRY),
        (StopReason.BREAKPOINT, "breakpoint", [LINE], {"is_entry": True}, StopReason.BREAKPOINT),
        (StopReason.PAUSE, "exception", [], {"is_pause": True}, StopReason.PAUSE),
        (StopReason.PAUSE, "pause", [], {}, StopReason.PAUSE),
        (StopReason.STEP, "step", [], {}, StopReason.STEP),
        (StopReason.EXCEPTION, "exception", [], {"is_entry": True}, StopReason.EXCEPTION),
    ],
)
def test_a_stop_is_named_by_what_was_asked_and_hit(reason, raw, hit, asked, told):
    known = {"is_entry": False, "is_pause": False, **asked}
    assert name_stop(Stopped(reason, raw), hit, **known).reason is told


def test_a_stop_signal_that_nobody_requested_is_a_signal_and_no_crash():
    stop = Stopped(StopReason.PAUSE, "exception", signal="SIGSTOP")
    assert name_stop(stop, [], is_entry=False, is_pause=True).reason is StopReason.PAUSE
    unasked = name_stop(stop, [], is_entry=False, is_pause=False)
    assert unasked.reason is StopReason.SIGNAL
    assert not is_crash(unasked)


def test_the_same_stop_shown_twice_is_compared_with_the_stop_before_it():
    look, one, two = Selection(), Stopped(StopReason.STEP, "step"), Stopped(StopReason.STEP, "step")
    first, second = [Variable("i", "1")], [Variable("i", "2")]
    look.note_shown(one, "frame", first)
    look.note_shown(two, "frame", second)
    assert look.before == ("frame", first)
    look.note_shown(two, "frame", second)
    assert look.before == ("frame", first)
    look.note_changed()
    look.note_shown(two, "frame", second)
    assert look.before[0] is None


def test_a_frame_is_compared_with_its_last_stop_after_what_it_called_has_returned():
    selection = Selection()

    def show(identity: str, value: str, depth: int) -> object:
        stop = Stopped(StopReason.STEP, "step")
        selection.note_shown(stop, identity, [Variable("i", value)], depth)
        return selection.before

    show("main", "1", 1)
    show("sum", "2", 2)
    assert show("calculate", "3", 3) == ("sum", [Variable("i", "2")])
    assert show("sum", "4", 2) == ("sum", [Variable("i", "2")])
    # Left by a return, and called again: another call, compared with nothing of the first.
    assert show("main", "5", 1) == ("main", [Variable("i", "1")])
    assert show("sum", "6", 2) == ("main", [Variable("i", "5")])


def test_the_debuggers_own_processes_are_no_strangers():
    killed = ("10 (lldb-server)", "11 (sleep)", "12 (prog)", "13 (debugserver)")
    assert foreign_processes(killed, 12, DebuggerTraits(own_programs=("lldb", "debugserver"))) == (
        "11 (sleep)",
    )


def test_a_session_is_called_by_its_program_or_module():
    assert target_program(LaunchTarget(program="/p", cwd="/", env={})) == "/p"
    assert target_program(LaunchTarget(program=None, module="m", cwd="/", env={})) == "-m m"
    assert target_program(AttachTarget(pid=os.getpid(), cwd="/", env={})) is None


def test_a_place_is_told_in_a_few_words():
    stop = Stopped(StopReason.STEP, "step")
    assert stop_location_text(None, None) is None
    assert stop_location_text(stop, None) == "step"
    assert stop_location_text(stop, Frame(0, "f", 1, "/a.c", 3)) == "step in f at /a.c:3"


@pytest.mark.parametrize(
    ("name", "value", "is_none"),
    [
        ("<error>", "no variable information", True),
        ("<null> @ function.rs:250", "<error: Unable to determine byte size.>", True),
        ("<anonymous>", "<error: Unable to determine byte size.>", True),
        ("<null>", "{a:1, b:1}", False),
        ("size", "<error: out of range>", False),
    ],
)
def test_what_is_no_variable_of_the_program_is_left_out(name, value, is_none):
    assert stop_report.is_no_variable(Variable(name=name, value=value)) is is_none


def test_the_frame_of_the_last_stop_is_not_the_frame_that_is_selected_since():
    selection = Selection()
    called, caller, other = (Frame(at, name, 1, "/a.c", 3) for at, name in enumerate("fgh"))
    selection.begin_at(called)
    selection.select_frame(caller)
    assert selection.stop_frame == called
    selection.select_thread(2)
    selection.begin_at(other)
    assert selection.stop_frame == called
    selection.begin_at(None)  # a jump: the program is elsewhere
    selection.begin_at(caller)
    assert selection.stop_frame == caller
