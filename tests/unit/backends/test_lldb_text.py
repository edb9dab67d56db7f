"""Texts of LLDB's command line are parsed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from debugger.backends import lldb_text
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.program import Register

MEMORY = """\
0x7fffffffe64c: 0x00 0x01 0xfe 0xff 0xd0 0xe6 0xff 0xff
0x7fffffffe654: 0xff 0x7f
"""
REGISTERS = """\
General Purpose Registers:
       rax = 0x0000000000000000
       r11 = 0x00007ffff7ab6ef0  libc.so.6`__libc_free
       rip = 0x00005555555562c6  t`work(int) + 13 at t.cpp:17:9

Floating Point Registers:
     fctrl = 0x037f
       st0 = {0x00 0x00 0x01}

"""
DISASSEMBLY = """\
t`work(int):
->  0x5555555562ef <+54>: popq   %rbp
    0x5555555562f0 <+55>: retq

t`std::vector<int, std::allocator<int>>::operator[](unsigned long) const:
    0x5555555562f1 <+0>:  pushq  %rbp
"""
WATCHED = """\
Watchpoint created: Watchpoint 3: addr = 0x7fffffffe64c size = 4 state = enabled type = m
    declare @ '/a/t.cpp:16:7'
    watchpoint spec = 'local'
Watchpoint 3 hit:

new value: 0
"""
WATCHPOINTS = """\
Number of supported hardware watchpoints: 4
Current watchpoints:
Watchpoint 1: addr = 0x7fffffffe64c size = 4 state = disabled type = m
    watchpoint spec = 'local'
Watchpoint 1 hit:
    old value: 0
new value: 2
Watchpoint 12: addr = 0x555555559140 size = 4 state = enabled type = w
"""
LOOKUP = """\
      Address: t[0x00000000000022c6] (t.PT_LOAD[1]..text + 246)
      Summary: t`work(int) + 13 at t.cpp:17:9
     Function: id = {0x00006087}, name = "f", range = [0x00005555555562b9-0x00005555555562f1)
       Blocks: id = {0x00006087}, range = [0x5555555562b9-0x5555555562f1)
    LineEntry: [0x00005555555562c6-0x00005555555562ca): /a/dir with: colon/t.cpp:17:9
"""
LINES = """\
Lines found for file t.cpp in compilation unit t.cpp in `t
[0x000055555555633f-0x000055555555635e): /a/t.cpp:26:17
[0x0000555555556300-0x0000555555556310): /a/t.cpp:26
[0x0000555555556361-0x000055555555636e): /a/t.cpp:27:38
"""


def test_memory_is_read_as_numbers_and_only_what_could_be_read():
    expected = [0, 1, 0xFE, 0xFF, 0xD0, 0xE6, 0xFF, 0xFF, 0xFF, 0x7F]
    assert lldb_text.parse_memory(MEMORY) == expected
    partly = MEMORY + "warning: Not all bytes (3/10) were able to be read from 0x7fffffffe64c.\n"
    assert lldb_text.parse_memory(partly) == expected[:3]
    assert lldb_text.parse_memory("error: memory read failed for 0x0\n") == []


@pytest.mark.parametrize(
    ("text", "region"),
    [
        (
            "[0x00007ffffffde000-0x00007ffffffff000) rw- [stack]\n",
            lldb_text.LldbRegion(0x7FFFFFFDE000, 0x7FFFFFFFF000, is_readable=True, name="[stack]"),
        ),
        (
            "[0x0000000000000008-0x0000555555554000) ---\n",
            lldb_text.LldbRegion(8, 0x555555554000, is_readable=False),
        ),
        ("error: invalid address argument\n", None),
    ],
)
def test_a_region_says_what_is_mapped_there(text, region):
    assert lldb_text.parse_region(text) == region


def test_registers_are_read_in_their_groups_without_what_is_at_their_addresses():
    general, floating = lldb_text.parse_registers(REGISTERS)
    assert (general.name, floating.name) == (
        "General Purpose Registers",
        "Floating Point Registers",
    )
    assert general.registers == (
        Register("rax", "0x0"),
        Register("r11", "0x7ffff7ab6ef0"),
        Register("rip", "0x5555555562c6"),
    )
    assert floating.registers[1] == Register("st0", "{0x00 0x00 0x01}")
    assert lldb_text.parse_registers("error: Invalid frame\n") == []


def test_each_instruction_belongs_to_the_function_above_it():
    vector = "std::vector<int, std::allocator<int>>::operator[]"
    assert lldb_text.parse_functions(DISASSEMBLY) == {
        0x5555555562EF: "work",
        0x5555555562F0: "work",
        0x5555555562F1: vector,
    }


def test_a_watchpoint_that_was_set_says_its_number_its_place_and_its_size():
    assert lldb_text.parse_watchpoint(WATCHED) == lldb_text.LldbWatchpoint(3, 0x7FFFFFFFE64C, 4)
    failed = "error: Watchpoint creation failed (addr=0xffffffffffffffff, size=0, variable ...).\n"
    assert lldb_text.parse_watchpoint(failed) is None
    assert lldb_text.parse_watchpoints(WATCHPOINTS) == {1: False, 12: True}
    assert lldb_text.parse_watchpoints("No watchpoints currently set.\n") == {}


def test_a_lookup_says_the_function_and_the_file():
    assert lldb_text.parse_function_range(LOOKUP) == (0x5555555562B9, 0x5555555562F1)
    assert lldb_text.parse_line_file(LOOKUP) == "/a/dir with: colon/t.cpp"
    assert lldb_text.parse_symbols(LOOKUP) == ["work(int)"]
    assert lldb_text.parse_function_range("") is None
    assert lldb_text.parse_line_file("") is None


def test_a_line_begins_at_each_address_that_is_told_for_it():
    assert lldb_text.parse_line_addresses(LINES, 26) == [0x555555556300, 0x55555555633F]
    assert lldb_text.parse_line_addresses(LINES, 2) == []


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("0x00007fffffffe64c: (int) local = 0\n", "0x00007fffffffe64c"),
        ("rbx: (int) acc = 0\n", "rbx"),
        ("scalar: (int *) p = 0x00007fffffffe6c4\n", "scalar"),
        ("error: no variable named 'x' found in this frame\n", None),
    ],
)
def test_a_variables_place_is_an_address_or_a_register(text, place):
    assert lldb_text.parse_location(text) == place


def test_the_rest_is_told_or_none():
    assert (
        lldb_text.parse_breakpoint_id("Breakpoint 7: where = t`f at t.c:3:2, address = 0x1\n") == 7
    )
    assert lldb_text.parse_breakpoint_id("error: x\n") is None
    assert lldb_text.parse_demangled("_ZTIN3app3BadE ---> typeinfo for app::Bad\n") == "app::Bad"
    assert lldb_text.parse_demangled("error: x is not a valid C++ mangled name\n") is None
    assert lldb_text.parse_error("error: one\nerror: two\n") == "one; two"
    assert lldb_text.parse_error("no error: here\n") is None


def test_a_word_is_quoted_and_one_with_a_newline_refused():
    assert lldb_text.quote_word('a "b" \\c') == '"a \\"b\\" \\\\c"'
    with pytest.raises(DebuggerError) as raised:
        lldb_text.quote_word("a\nplatform shell id")
    assert raised.value.code is ErrorCode.USAGE


@given(st.text())
def test_no_text_breaks_a_parser(text):
    for parse in (
        lldb_text.parse_memory,
        lldb_text.parse_region,
        lldb_text.parse_registers,
        lldb_text.parse_functions,
        lldb_text.parse_watchpoint,
        lldb_text.parse_watchpoints,
        lldb_text.parse_breakpoint_id,
        lldb_text.parse_function_range,
        lldb_text.parse_line_file,
        lldb_text.parse_symbols,
        lldb_text.parse_demangled,
        lldb_text.parse_location,
        lldb_text.parse_error,
    ):
        parse(text)
    lldb_text.parse_line_addresses(text, 1)


@given(st.binary(max_size=64), st.integers(0, 2**48))
def test_any_memory_that_is_written_as_lldb_does_is_read_back(data, address):
    rows = [data[at : at + 8] for at in range(0, len(data), 8)]
    text = "".join(
        f"{address + 8 * at:#x}: {' '.join(f'{byte:#04x}' for byte in row)}\n"
        for at, row in enumerate(rows)
    )
    assert bytes(lldb_text.parse_memory(text)) == data


_LOOKED_UP = """\
     Function: id = {0x000001c4}, name = "helper", range = [0x0000000000001139-0x0000000000001177)
    LineEntry: [0x0000000000001139-0x0000000000001141): /tmp/one.c:3:20
     Variable: id = {0x000001e2}, name = "k", type = "long", valid ranges = <block>, \
location = DW_OP_fbreg -24, decl = one.c:3:17
"""


def test_the_body_of_a_function_begins_at_its_second_line_entry():
    assert lldb_text.parse_body_address(_LOOKED_UP) == 0x1141


@pytest.mark.parametrize(
    ("words", "instead"),
    [
        ("DW_OP_fbreg -24", "DW_OP_reg5 RDI"),  # in a register where the function begins
        ("LineEntry: [0x0000000000001139", "LineEntry: [0x0000000000001150"),
        ("-0x0000000000001141)", "-0x0000000000001177)"),  # one entry alone
    ],
)
def test_a_function_without_a_prologue_has_no_other_body(words, instead):
    assert lldb_text.parse_body_address(_LOOKED_UP.replace(words, instead)) is None


@pytest.mark.parametrize(
    ("start", "past"), [("1139", None), ("1150", range(0x1150, 0x1177)), ("1140", None)]
)
def test_an_address_is_past_the_entry_where_another_line_entry_begins_before_it(start, past):
    text = _LOOKED_UP.replace(
        "LineEntry: [0x0000000000001139", f"LineEntry: [0x000000000000{start}"
    )
    if start == "1140":
        text = text.replace("Function:", "Nothing:")
    assert lldb_text.parse_range_after_entry(text) == past


def test_the_locations_of_a_breakpoint_are_read_with_their_module_before_it_is_loaded():
    text = (
        "1: name = 'get', locations = 2\n"
        "  1.1: where = one`A::get(int) at m.cpp:2:34, address = one[0x0000000000001139], "
        "unresolved, hit count = 0 \n"
        "  1.2: where = one`get + 12 at m.cpp:9:2, address = 0x0000555555555150, resolved\n"
    )
    first, second = lldb_text.parse_breakpoint_locations(text)
    assert (first.id, first.address, first.module, first.is_in_function) == (
        "1.1",
        0x1139,
        "one",
        False,
    )
    assert (second.address, second.module, second.is_in_function) == (0x555555555150, None, True)
