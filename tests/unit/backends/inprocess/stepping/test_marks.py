"""A thread is inspected again in the right frame only."""

from __future__ import annotations

import pytest

from debugger.backends.inprocess.engine.engine_events import ThreadPaused
from debugger.backends.inprocess.stepping import step_marks
from debugger.backends.inprocess.stepping.step_marks import (
    MarkKind,
    NonlocalExit,
    StepMark,
    mark_condition,
    mark_holds,
)
from debugger.symbols.dwarf.call_frames import RBP, RSP, FrameRules
from debugger.symbols.dwarf.location_evaluation import UnreadableMemory


class Binaries:
    """Modules of which only the call frame information is asked."""

    def __init__(self, cfa):
        self.load_bias = 0
        self.image = self
        self.frames = self
        self._cfa = cfa

    def module_at(self, _):
        return self

    def rules_at(self, _):
        return FrameRules(cfa=self._cfa)


FRAMED, FRAMELESS = Binaries((RBP, 16)), Binaries((RSP, 8))
REGISTERS = {"rip": 0x400, "rsp": 0x7000, "rbp": 0x7FF0}


def read(address, size):
    if (address, size) != (0x7FF8, 8):
        raise UnreadableMemory(address)
    return (0x1234).to_bytes(8, "little")


@pytest.mark.parametrize(
    ("wanted", "is_held"),
    [
        ({}, True),
        ({"cfa": 0x8000}, True),
        ({"cfa": 0x8010}, False),
        ({"cfa_least": 0x7FF0}, True),
        ({"cfa_least": 0x8001}, False),
        ({"rsp": 0x7000}, True),
        ({"rsp": 0x7008}, False),
        ({"rsp_least": 0x7000}, True),
        ({"rsp_least": 0x7001}, False),
        ({"back": 0x1234}, True),
        ({"back": 0x1235}, False),
    ],
)
def test_a_mark_holds_for_its_frame_alone(wanted, is_held):
    mark = StepMark(0x400, MarkKind.END, **wanted)
    assert mark_holds(mark, REGISTERS, FRAMED, read) is is_held


@pytest.mark.parametrize(
    ("binaries", "wanted", "says"),
    [
        (FRAMED, {}, None),
        (FRAMED, {"cfa": 0x8000}, "c.rbp.add(16).compare(w) === 0)(ptr('0x8000'))"),
        (FRAMELESS, {"cfa": 0x8000}, "c.rsp.add(8).compare(w) === 0)(ptr('0x8000'))"),
        (FRAMED, {"cfa_least": 0x80}, "c.rbp.add(16).compare(w) >= 0)(ptr('0x80'))"),
        (FRAMED, {"rsp_least": 0x80}, "c.rsp.compare(w) >= 0)(ptr('0x80'))"),
        (FRAMED, {"back": 5}, "c.rbp.add(16).sub(8).readPointer().compare(w) === 0)(ptr('0x5'))"),
        (Binaries(b"\x90"), {"cfa": 0x8000}, None),
        (FRAMED, {"cfa": 1, "script": "(c) => true"}, "(c) => true"),
    ],
)
def test_the_agent_is_told_what_must_hold(binaries, wanted, says):
    found = mark_condition(StepMark(0x400, MarkKind.END, **wanted), binaries)
    assert found is None if says is None else found is not None and found.endswith(says)


def test_an_unwinder_names_where_it_leads_to():
    leap = NonlocalExit(0x100, field=0x90)
    assert leap.find_target({"rsi": 0x4321, "rdi": 0}, read) == 0x4321
    assert "c.rdi.add(144)" in (leap.exit_condition(0x9000) or "")
    assert NonlocalExit(0x100).exit_condition(0x9000) is None


def test_a_longjmp_is_read_through_the_guard():
    guard, plain = 0x0123456789ABCDEF, 0x7F0012345678
    mixed = plain ^ guard
    mixed = (mixed << 17 | mixed >> 47) & (1 << 64) - 1

    def memory(address, size):
        assert (address, size) == (0x5000 + 56, 8)
        return mixed.to_bytes(8, "little")

    leap = NonlocalExit(0x100, guard=guard)
    assert leap.find_target({"rdi": 0x5000, "rsi": 1}, memory) == plain
    assert leap.find_target({"rdi": 0x6000, "rsi": 1}, read) is None


@pytest.mark.parametrize(
    ("names", "count"),
    [
        ((), 0),
        ((step_marks.site_name(4, 2),), 2),
        ((step_marks.site_name(4, 2), step_marks.site_name(5, 1)), 1),
        ((step_marks.site_name(4, 2), "breakpoint 1.0"), 0),
    ],
)
def test_frames_are_hidden_only_where_a_step_alone_has_ended(names, count):
    paused = ThreadPaused(
        thread=1, reason="breakpoint", registers={}, time=0, sequence=1, points=names
    )
    assert step_marks.count_hidden(paused) == count
