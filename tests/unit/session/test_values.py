"""Is what a session shows of source, values, stops and processes what is there?"""

from __future__ import annotations

import os

import pytest
from msgspec import UNSET

from debugger.backends.base import Attach, Launch
from debugger.core.answers import SourceLine
from debugger.core.breakpoints import Bound, Breakpoint, Spec
from debugger.core.model import Frame, Reason, Stopped, Variable
from debugger.core.refs import Refs
from debugger.errors import Code, DebuggerError
from debugger.session import report, source, views
from debugger.session.look import Look, named, place_of, program_of, strangers
from debugger.session.record import is_crash

# -- source --------------------------------------------------------------------------------------


def write(tmp_path, content: bytes) -> str:
    (tmp_path / "a.c").write_bytes(content)
    return str(tmp_path / "a.c")


def test_lines_are_counted_as_compilers_count_them(tmp_path):
    path = write(tmp_path, "one\f\x0b\x1c\x85\u2028\ntwo\r\nthree\rfour".encode())
    found = source.lines(path)
    assert len(found) == 4
    assert found[1:] == ("two", "three", "four")


def test_the_lines_around_one_are_marked_and_end_with_the_file(tmp_path):
    path = write(tmp_path, b"a\nb\n\tc\n")
    assert source.around(path, 3, before=1, after=5) == (
        SourceLine(2, "b"),
        SourceLine(3, "    c", current=True),
    )
    assert [one.line for one in source.around(path, 1, before=3, after=1)] == [1, 2]


@pytest.mark.parametrize(("path", "line"), [(None, 1), ("/nonexistent", 1), ("a\0b", 1), ("/", 1)])
def test_without_source_nothing_is_shown(path, line):
    assert source.around(path, line, before=3, after=3) == ()


@pytest.mark.parametrize("line", [None, 0, -1, 4])
def test_a_line_that_is_not_in_the_file_shows_nothing(tmp_path, line):
    assert source.around(write(tmp_path, b"a\nb\nc\n"), line, before=3, after=3) == ()


def test_a_changed_file_is_read_again(tmp_path):
    path = write(tmp_path, b"old\n")
    assert source.lines(path) == ("old",)
    write(tmp_path, b"newer\n")
    assert source.lines(path) == ("newer",)


def test_bytes_that_are_no_text_and_long_lines_are_shown_as_far_as_they_go(tmp_path):
    (line, long) = source.lines(write(tmp_path, b"\xff\n" + b"x" * 100_000))
    assert line == "\N{REPLACEMENT CHARACTER}"
    assert len(long) < 1000


def test_a_listing_of_what_is_not_there_is_refused(tmp_path):
    path = write(tmp_path, b"a\nb\n")
    shown, total = source.listing(path, 2, context=5)
    assert (len(shown), total) == (2, 2)
    with pytest.raises(DebuggerError, match="has 2 lines") as refused:
        source.listing(path, 3, context=5)
    assert refused.value.code is Code.NOT_FOUND
    with pytest.raises(DebuggerError):
        source.listing("/nonexistent", 1, context=5)


def test_what_can_be_read_is_readable(tmp_path):
    assert source.is_readable(write(tmp_path, b""))
    for path in (None, "/nonexistent", "a\0b"):
        assert not source.is_readable(path)


# -- views ---------------------------------------------------------------------------------------


def test_a_long_value_loses_its_middle_and_says_its_length():
    text = "a" * 5000 + "b" * 5000
    shown = views.value_text(text)
    assert len(shown) <= views.VALUE_MAX
    assert shown.startswith("aaa")
    assert shown.endswith("bbb (10,000 characters)")
    assert views.value_text("x" * views.VALUE_MAX) == "x" * views.VALUE_MAX


def test_a_value_has_a_ref_only_with_something_inside():
    refs = Refs()
    assert views.variable(Variable("i", "1", "int"), refs).ref is UNSET
    assert views.variable(Variable("a", "[…]", "list", handle=9), refs).ref == "v1"


def test_changes_are_new_values_and_new_names():
    before = [Variable("i", "1"), Variable("j", "2"), Variable("gone", "3")]
    now = [Variable("i", "5"), Variable("j", "2"), Variable("k", "4")]
    found = views.changes(before, now, Refs(), most=100)
    assert [(one.name, one.previous, one.value) for one in found] == [
        ("i", "1", "5"),
        ("k", None, "4"),
    ]


def test_a_breakpoint_says_why_it_is_not_bound_unless_it_is_off():
    spec = Spec(file="/a.c", line=3)
    fresh = views.breakpoint_view(Breakpoint(1, spec))
    assert (fresh.verified, fresh.why_unbound) == (False, "the program does not run yet")
    unbound = Bound(verified=False, why="no code there", nearest_lines=(2, 5))
    shown = views.breakpoint_view(Breakpoint(1, spec, bound=unbound))
    assert (shown.why_unbound, shown.nearest_lines) == ("no code there", (2, 5))
    off = views.breakpoint_view(Breakpoint(1, Spec(file="/a.c", line=3, enabled=False)))
    assert off.why_unbound is UNSET
    moved = views.breakpoint_view(Breakpoint(1, spec, bound=Bound(verified=True, line=4)))
    assert (moved.requested_line, moved.line, moved.file) == (3, 4, "/a.c")


# -- look ----------------------------------------------------------------------------------------

LINE = Breakpoint(1, Spec(file="/a.c", line=3))
FUNCTION = Breakpoint(2, Spec(function="f"))
OURS = Breakpoint(-1, Spec(file="/a.c", line=9), internal=True)


@pytest.mark.parametrize(
    ("reason", "raw", "hit", "asked", "told"),
    [
        (Reason.BREAKPOINT, "breakpoint", [LINE], {}, Reason.BREAKPOINT),
        (Reason.BREAKPOINT, "breakpoint", [FUNCTION], {}, Reason.FUNCTION_BREAKPOINT),
        (Reason.BREAKPOINT, "breakpoint", [LINE, FUNCTION], {}, Reason.BREAKPOINT),
        (Reason.BREAKPOINT, "breakpoint", [OURS], {}, Reason.GOTO),
        (Reason.BREAKPOINT, "breakpoint", [OURS, LINE], {}, Reason.BREAKPOINT),
        (Reason.PAUSE, "exception", [], {"is_entry": True}, Reason.ENTRY),
        (Reason.BREAKPOINT, "breakpoint", [LINE], {"is_entry": True}, Reason.BREAKPOINT),
        (Reason.PAUSE, "exception", [], {"is_pause": True}, Reason.PAUSE),
        (Reason.PAUSE, "pause", [], {}, Reason.PAUSE),
        (Reason.STEP, "step", [], {}, Reason.STEP),
        (Reason.EXCEPTION, "exception", [], {"is_entry": True}, Reason.EXCEPTION),
    ],
)
def test_a_stop_is_named_by_what_was_asked_and_hit(reason, raw, hit, asked, told):
    known = {"is_entry": False, "is_pause": False, **asked}
    assert named(Stopped(reason, raw), hit, **known).reason is told


def test_a_stop_signal_that_nobody_requested_is_a_signal_and_no_crash():
    stop = Stopped(Reason.PAUSE, "exception", signal="SIGSTOP")
    assert named(stop, [], is_entry=False, is_pause=True).reason is Reason.PAUSE
    unasked = named(stop, [], is_entry=False, is_pause=False)
    assert unasked.reason is Reason.SIGNAL
    assert not is_crash(unasked)


def test_the_same_stop_shown_twice_is_compared_with_the_stop_before_it():
    look, one, two = Look(), Stopped(Reason.STEP, "step"), Stopped(Reason.STEP, "step")
    first, second = [Variable("i", "1")], [Variable("i", "2")]
    look.show(one, "frame", first)
    look.show(two, "frame", second)
    assert look.before == ("frame", first)
    look.show(two, "frame", second)
    assert look.before == ("frame", first)
    look.changed_anything()
    look.show(two, "frame", second)
    assert look.before[0] is None


def test_the_debuggers_own_processes_are_no_strangers():
    killed = ("10 (lldb-server)", "11 (sleep)", "12 (prog)", "13 (debugserver)")
    assert strangers(killed, 12) == ("11 (sleep)",)


def test_a_session_is_called_by_its_program_or_module():
    assert program_of(Launch(program="/p", cwd="/", env={})) == "/p"
    assert program_of(Launch(program=None, module="m", cwd="/", env={})) == "-m m"
    assert program_of(Attach(pid=os.getpid(), cwd="/", env={})) is None


def test_a_place_is_told_in_a_few_words():
    stop = Stopped(Reason.STEP, "step")
    assert place_of(None, None) is None
    assert place_of(stop, None) == "step"
    assert place_of(stop, Frame(0, "f", 1, "/a.c", 3)) == "step in f at /a.c:3"


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
    assert report.is_no_variable(Variable(name=name, value=value)) is is_none
