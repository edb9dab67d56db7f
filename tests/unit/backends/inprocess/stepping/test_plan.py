"""The marks of a step, from registers and a binary, without a process."""

from __future__ import annotations

import pytest

from debuggees import CACHE, find_marker
from debugger.backends.inprocess.stepping import step_plan
from debugger.backends.inprocess.stepping.function_body import FunctionBodies
from debugger.backends.inprocess.stepping.step_marks import MarkKind, NonlocalExit
from debugger.backends.inprocess.stepping.step_plan import PlanContext, StepAim
from debugger.model.program import ResumeKind
from debugger.symbols.dwarf.binary_image import BinaryImage
from debugger.symbols.dwarf.location_evaluation import UnreadableMemory
from debugger.symbols.dwarf.unwinding import LoadedBinaries, LoadedBinary
from dwarf_stops import compile_debuggee

BASE, STACK, BACK = 0x5000_0000, 0x7F00_0000, 0x6000_0000
NEXT, STEP, FINISH = StepAim(ResumeKind.NEXT), StepAim(ResumeKind.STEP), StepAim(ResumeKind.FINISH)


@pytest.fixture(scope="module")
def image():
    CACHE.mkdir(parents=True, exist_ok=True)
    return BinaryImage(compile_debuggee("stepping.c", 0, CACHE))


def read(address, size):
    if size == 8 and address in {STACK, STACK + 8}:
        return (BACK if address > STACK else STACK + 64).to_bytes(8, "little")
    raise UnreadableMemory(address)


@pytest.fixture
def ground(image):
    module = LoadedBinary(image, BASE, BASE + 0x10000)
    return PlanContext(
        LoadedBinaries([module]), FunctionBodies(), [NonlocalExit(0x6100_0000, field=8)], read
    )


def place(image, line):
    (found,) = image.lines.find_line("stepping.c", line).locations
    return found.address + BASE - image.binary.lowest_address


def address_at(image, line):
    return {"rip": place(image, line), "rsp": STACK - 64, "rbp": STACK, "rax": 0}


def lines(image, made, kind):
    found = [
        one.address - BASE + image.binary.lowest_address for one in made.marks if one.kind is kind
    ]
    return sorted(image.lines.line_at(one).line for one in found)


def marked(text):
    return find_marker("stepping.c", text)


def test_a_step_over_a_condition_ends_on_both_ways_or_in_the_caller(image, ground):
    line = marked("jumps")
    made = step_plan.plan_step(NEXT, address_at(image, line), ground)
    assert lines(image, made, MarkKind.END) == [marked("again"), line + 1]
    (back,) = [one for one in made.marks if one.kind is MarkKind.BACK]
    assert (back.address, back.rsp_least) == (BACK, STACK + 16)
    assert {one.cfa for one in made.marks if one.kind is MarkKind.END} == {STACK + 16}
    # Nothing is called that could throw.
    assert MarkKind.LEAP not in {one.kind for one in made.marks}


def test_a_step_over_a_call_looks_out_for_leaps(image, ground):
    line = marked("back") - 1
    made = step_plan.plan_step(NEXT, address_at(image, line), ground)
    assert lines(image, made, MarkKind.END) == [marked("back")]
    assert {one.kind for one in made.marks} == {MarkKind.END, MarkKind.BACK, MarkKind.LEAP}


def test_a_step_into_a_call_ends_behind_the_prologue_for_this_call_alone(image, ground):
    line = marked("back") - 1
    made = step_plan.plan_step(STEP, address_at(image, line), ground)
    (entered,) = [one for one in made.marks if one.kind is MarkKind.ENTERED]
    (add,) = image.functions.find_by_name("add")
    assert entered.address == add.body + BASE - image.binary.lowest_address
    (call, _), *_ = step_plan.line_calls(address_at(image, line), ground)
    assert entered.back == call.next_address


def test_only_the_call_that_was_named_is_gone_into(image, ground):
    line = marked("back") - 1
    aim = StepAim(ResumeKind.STEP, only=1)
    made = step_plan.plan_step(aim, address_at(image, line), ground)
    assert MarkKind.ENTERED not in {one.kind for one in made.marks}


def test_out_of_a_function_is_its_caller_or_a_leap(image, ground):
    made = step_plan.plan_step(FINISH, address_at(image, marked("adds")), ground)
    assert [one.kind for one in made.marks] == [MarkKind.BACK, MarkKind.LEAP]


def test_where_the_caller_has_no_lines_a_step_ends(image, ground):
    made = step_plan.plan_step(NEXT, address_at(image, marked("adds")), ground)
    there = step_plan.plan_arrival(NEXT, {"rip": BACK, "rsp": STACK + 16, "rbp": 0}, ground, made)
    assert there.has_ended


def test_in_the_middle_of_a_callers_line_a_step_goes_on(image, ground):
    line = marked("back") - 1
    ((call, _),) = step_plan.line_calls(address_at(image, line), ground)
    registers = {**address_at(image, line), "rip": call.next_address}
    made = step_plan.plan_step(NEXT, address_at(image, marked("adds")), ground)
    there = step_plan.plan_arrival(NEXT, registers, ground, made)
    assert there.has_ended or lines(image, there, MarkKind.END) == [marked("back")]


def test_a_leap_is_followed_only_to_this_frame_or_further_out(image, ground):
    made = step_plan.plan_step(NEXT, address_at(image, marked("back") - 1), ground)
    (leap,) = [one for one in made.marks if one.kind is MarkKind.LEAP]
    target = place(image, marked("again"))
    (landed,) = step_plan.plan_exit(NEXT, leap, {"rsi": target}, ground, made)
    assert (landed.address, landed.cfa_least) == (target, STACK + 16)
    (out,) = step_plan.plan_exit(FINISH, leap, {"rsi": target}, ground, made)
    assert out.cfa_least == STACK + 17
    assert step_plan.plan_exit(NEXT, leap, {"rsi": 5}, ground, made) == []


@pytest.mark.parametrize("how", [ResumeKind.STEP, ResumeKind.NEXT])
def test_one_instruction_leads_to_the_next(image, ground, how):
    registers = address_at(image, marked("adds"))
    made = step_plan.plan_step(StepAim(how, by_instruction=True), registers, ground)
    (mark,) = made.marks
    assert mark.kind is MarkKind.END
    assert 0 < mark.address - registers["rip"] <= 15


def test_code_that_nothing_is_known_of_is_left_by_its_frame_pointer(ground):
    registers = {"rip": 0x100, "rsp": STACK - 8, "rbp": STACK}

    def memory(address, size):
        if (address, size) == (STACK, 16):
            return STACK.to_bytes(8, "little") + BACK.to_bytes(8, "little")
        if address == registers["rip"]:
            return b"\x90"
        raise UnreadableMemory(address)

    made = step_plan.plan_step(
        NEXT, registers, PlanContext(ground.modules, FunctionBodies(), [], memory)
    )
    (back,) = made.marks
    assert (back.kind, back.address) == (MarkKind.BACK, BACK)
