"""Which marks does a step need, from registers and a binary, without a process?"""

from __future__ import annotations

import pytest

from debuggees import CACHE, marker
from debugger.backends.frida.dwarf.expressions import Unreadable
from debugger.backends.frida.dwarf.image import Image
from debugger.backends.frida.dwarf.unwind import Module, Modules
from debugger.backends.frida.stepping import plan
from debugger.backends.frida.stepping.body import Bodies
from debugger.backends.frida.stepping.leaps import Leap
from debugger.backends.frida.stepping.marks import Kind
from debugger.backends.frida.stepping.plan import Aim, Ground
from debugger.core.model import Resume
from dwarf_stops import compiled

BASE, STACK, BACK = 0x5000_0000, 0x7F00_0000, 0x6000_0000
NEXT, STEP, FINISH = Aim(Resume.NEXT), Aim(Resume.STEP), Aim(Resume.FINISH)


@pytest.fixture(scope="module")
def image():
    CACHE.mkdir(parents=True, exist_ok=True)
    return Image(compiled("stepping.c", 0, CACHE))


def read(address, size):
    if size == 8 and address in {STACK, STACK + 8}:
        return (BACK if address > STACK else STACK + 64).to_bytes(8, "little")
    raise Unreadable(address)


@pytest.fixture
def ground(image):
    module = Module(image, BASE, BASE + 0x10000)
    return Ground(Modules([module]), Bodies(), [Leap(0x6100_0000, field=8)], read)


def place(image, line):
    (found,) = image.lines.find("stepping.c", line).locations
    return found.address + BASE - image.binary.lowest


def at(image, line):
    return {"rip": place(image, line), "rsp": STACK - 64, "rbp": STACK, "rax": 0}


def lines(image, made, kind):
    found = [one.address - BASE + image.binary.lowest for one in made.marks if one.kind is kind]
    return sorted(image.lines.at(one).line for one in found)


def marked(text):
    return marker("stepping.c", text)


def test_a_step_over_a_condition_ends_on_both_ways_or_in_the_caller(image, ground):
    line = marked("jumps")
    made = plan.begin(NEXT, at(image, line), ground)
    assert lines(image, made, Kind.END) == [marked("again"), line + 1]
    (back,) = [one for one in made.marks if one.kind is Kind.BACK]
    assert (back.address, back.rsp_least) == (BACK, STACK + 16)
    assert {one.cfa for one in made.marks if one.kind is Kind.END} == {STACK + 16}
    # Nothing is called that could throw.
    assert Kind.LEAP not in {one.kind for one in made.marks}


def test_a_step_over_a_call_looks_out_for_leaps(image, ground):
    line = marked("back") - 1
    made = plan.begin(NEXT, at(image, line), ground)
    assert lines(image, made, Kind.END) == [marked("back")]
    assert {one.kind for one in made.marks} == {Kind.END, Kind.BACK, Kind.LEAP}


def test_a_step_into_a_call_ends_behind_the_prologue_for_this_call_alone(image, ground):
    line = marked("back") - 1
    made = plan.begin(STEP, at(image, line), ground)
    (entered,) = [one for one in made.marks if one.kind is Kind.ENTERED]
    (add,) = image.functions.named("add")
    assert entered.address == add.body + BASE - image.binary.lowest
    (call, _), *_ = plan.calls(at(image, line), ground)
    assert entered.back == call.after


def test_only_the_call_that_was_named_is_gone_into(image, ground):
    line = marked("back") - 1
    aim = Aim(Resume.STEP, only=1)
    made = plan.begin(aim, at(image, line), ground)
    assert Kind.ENTERED not in {one.kind for one in made.marks}


def test_out_of_a_function_is_its_caller_or_a_leap(image, ground):
    made = plan.begin(FINISH, at(image, marked("adds")), ground)
    assert [one.kind for one in made.marks] == [Kind.BACK, Kind.LEAP]


def test_where_the_caller_has_no_lines_a_step_ends(image, ground):
    made = plan.begin(NEXT, at(image, marked("adds")), ground)
    there = plan.arrive(NEXT, {"rip": BACK, "rsp": STACK + 16, "rbp": 0}, ground, made)
    assert there.has_ended


def test_in_the_middle_of_a_callers_line_a_step_goes_on(image, ground):
    line = marked("back") - 1
    ((call, _),) = plan.calls(at(image, line), ground)
    registers = {**at(image, line), "rip": call.after}
    made = plan.begin(NEXT, at(image, marked("adds")), ground)
    there = plan.arrive(NEXT, registers, ground, made)
    assert there.has_ended or lines(image, there, Kind.END) == [marked("back")]


def test_a_leap_is_followed_only_to_this_frame_or_further_out(image, ground):
    made = plan.begin(NEXT, at(image, marked("back") - 1), ground)
    (leap,) = [one for one in made.marks if one.kind is Kind.LEAP]
    target = place(image, marked("again"))
    (landed,) = plan.leapt(NEXT, leap, {"rsi": target}, ground, made)
    assert (landed.address, landed.cfa_least) == (target, STACK + 16)
    (out,) = plan.leapt(FINISH, leap, {"rsi": target}, ground, made)
    assert out.cfa_least == STACK + 17
    assert plan.leapt(NEXT, leap, {"rsi": 5}, ground, made) == []


@pytest.mark.parametrize("how", [Resume.STEP, Resume.NEXT])
def test_one_instruction_leads_to_the_next(image, ground, how):
    registers = at(image, marked("adds"))
    made = plan.begin(Aim(how, by_instruction=True), registers, ground)
    (mark,) = made.marks
    assert mark.kind is Kind.END
    assert 0 < mark.address - registers["rip"] <= 15


def test_code_that_nothing_is_known_of_is_left_by_its_frame_pointer(ground):
    registers = {"rip": 0x100, "rsp": STACK - 8, "rbp": STACK}

    def memory(address, size):
        if (address, size) == (STACK, 16):
            return STACK.to_bytes(8, "little") + BACK.to_bytes(8, "little")
        if address == registers["rip"]:
            return b"\x90"
        raise Unreadable(address)

    made = plan.begin(NEXT, registers, Ground(ground.modules, Bodies(), [], memory))
    (back,) = made.marks
    assert (back.kind, back.address) == (Kind.BACK, BACK)
