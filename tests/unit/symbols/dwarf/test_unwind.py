"""A stack is unwound as far as it is intact."""

from __future__ import annotations

import pytest

import dwarf_stops
from debugger.symbols.dwarf.call_frames import PRESERVED, RBP, RIP, RSP
from debugger.symbols.dwarf.location_evaluation import UnreadableMemory
from debugger.symbols.dwarf.typed_values import read_integer
from debugger.symbols.dwarf.unwinding import (
    LoadedBinaries,
    frame_variables,
    unwind_stack,
    variable_value,
)

pytestmark = pytest.mark.adapter("gdb-cli")


@pytest.fixture(scope="module")
def stop(tmp_path_factory):
    return dwarf_stops.stop_at_marker("shapes.cpp", 0, "deep", tmp_path_factory.mktemp("unwind"))


def test_the_stack_goes_to_where_the_program_began(stop):
    names = [one.function for one in stop.own_stack()]
    assert names[:4] == ["deep", "deep", "deep", "main"]
    assert names[-1] == "_start"


def test_each_frame_of_a_recursion_has_its_own_variables(stop):
    depths = []
    for frame in stop.own_stack()[:3]:
        (held,) = [one for one in frame_variables(frame) if one.name == "n"]
        depths.append(read_integer(variable_value(held, frame, stop.memory), stop.memory))
    assert depths == [0, 1, 2]


def test_frames_lie_above_one_another(stop):
    bases = [one.cfa for one in stop.own_stack()]
    assert bases == sorted(bases)
    assert len(set(bases)) == len(bases)


def test_a_caller_has_only_the_registers_that_are_kept(stop):
    first, second, *_ = stop.own_stack()
    assert set(first.registers) > set(second.registers)
    assert set(second.registers) <= {*PRESERVED, RSP, RIP}
    assert second.registers[RSP] == first.cfa


def test_the_number_of_frames_is_bounded(stop):
    found = unwind_stack(stop.registers, stop.modules, stop.memory.read, most=2)
    assert [one.index for one in found] == [0, 1]


def test_a_call_to_nowhere_is_unwound_by_what_it_pushed(stop):
    inner, outer, *_ = stop.own_stack()
    pushed = inner.cfa - 8

    def read(address, size):
        if address == 0:
            raise UnreadableMemory(0)
        return stop.memory.read(address, size)

    # As right after the call: the return address is on top of the stack.
    registers = {**outer.registers, RIP: 0, RSP: pushed}
    found = unwind_stack(registers, stop.modules, read)
    assert [one.function for one in found[:3]] == ["??", "deep", "deep"]
    assert found[1].pc == outer.pc


def test_code_without_information_is_unwound_by_its_frame_pointer(stop):
    inner, outer, *_ = stop.own_stack()
    registers = {**inner.registers, RIP: 0x1000}

    def read(address, size):
        return bytes(size) if address == 0x1000 else stop.memory.read(address, size)

    found = unwind_stack(registers, stop.modules, read)
    assert found[0].function == "??"
    assert found[1].pc == outer.pc
    assert found[1].registers[RBP] == outer.registers[RBP]


@pytest.mark.parametrize("word", [bytes(8), b"\xff" * 8, b"\x41" * 8])
def test_a_stack_of_garbage_ends(stop, word):
    def read(_, size):
        return (word * (size // 8 + 1))[:size]

    found = unwind_stack(stop.registers, stop.modules, read)
    assert found[0].function == "deep"
    assert len(found) <= 3


def test_a_stack_that_cannot_be_read_has_its_first_frame(stop):
    def read(address, _):
        raise UnreadableMemory(address)

    (found,) = unwind_stack(stop.registers, stop.modules, read)
    assert (found.function, found.line) == ("deep", stop.theirs[0]["line"])


def test_without_modules_there_is_an_address_alone(stop):
    found = unwind_stack(stop.registers, LoadedBinaries(()), stop.memory.read, most=1)
    assert (found[0].function, found[0].file, found[0].module) == ("??", "", None)
    assert frame_variables(found[0]) == ()
