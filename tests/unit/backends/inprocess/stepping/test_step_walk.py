"""A step ends where gdb would end it, on code written byte by byte."""

from __future__ import annotations

from debugger.backends.inprocess.stepping.function_body import FunctionBody, LineRow, line_rows
from debugger.backends.inprocess.stepping.line_walk import WalkState, walk_line
from debugger.symbols.dwarf.code_spans import CodeSpan
from debugger.symbols.dwarf.line_program import CONTINUES, END, IS_STMT, LineRows
from debugger.symbols.dwarf.location_evaluation import UnreadableMemory

START = 0x1000
NOP = "90"


def body(code, lines, copies=()):
    """A function of this code; lines are (offset, line, is_stmt), in one file."""
    content = bytes.fromhex(code)

    def read(address, size):
        at = address - START
        if at < 0 or at + size > len(content):
            raise UnreadableMemory(address)
        return content[at : at + size]

    made = FunctionBody(
        None,
        "made",
        1,
        START,
        START,
        ((START, START + len(content)),),
        tuple(
            LineRow(START + at, (1, line) if line else None, is_stmt) for at, line, is_stmt in lines
        ),
        copies,
    )
    return made, read


def walked(made, offset, line, *, chain=(), enters=False, arrives=False):
    one, read = made
    state = WalkState(START + offset, (1, line), chain)
    return walk_line(one, [state], read, enters=enters, arrives=arrives)


def ends(found):
    return sorted(address - START for address in found.ends)


def test_both_ways_of_a_branch_are_followed():
    # 0: jne 4 · 2: nop (line 2) · 3: nop · 4: ret (line 3)
    made = body("7502" + NOP + NOP + "c3", [(0, 1, True), (2, 2, True), (4, 3, True)])
    assert ends(walked(made, 0, 1)) == [2, 4]


def test_the_parts_of_one_line_are_gone_through():
    # for (…) body; on one line: 0: nop · 1: nop · 2: jne 1 · 4: ret (line 2)
    made = body("9090" + "75fd" + "c3", [(0, 1, True), (1, 1, True), (4, 2, True)])
    assert ends(walked(made, 0, 1)) == [4]


def test_a_row_that_begins_no_statement_ends_nothing():
    made = body(NOP * 4, [(0, 1, True), (1, 2, False), (2, 3, True)])
    assert ends(walked(made, 0, 1)) == [2]


def test_code_without_a_line_is_gone_through():
    made = body(NOP * 4, [(0, 1, True), (1, 0, True), (3, 2, True)])
    assert ends(walked(made, 0, 1)) == [3]


def test_in_the_middle_of_a_line_that_line_is_left():
    # A jump from line 1 into the middle of line 2, which then jumps to the beginning of line 1:
    # 0: jmp 3 · 2: nop (line 2) · 3: jmp 0
    made = body("eb01" + NOP + "ebfb", [(0, 1, True), (2, 2, True)])
    assert ends(walked(made, 0, 1)) == [0]


def test_a_return_is_told_with_the_line_it_is_on():
    made = body("c3", [(0, 7, True)])
    found = walked(made, 0, 7)
    assert found.left == {(1, 7)}
    assert not found.ends


def test_calls_are_gone_over_and_listed():
    made = body("e8fb0f0000" + "ffd0" + NOP, [(0, 1, True), (7, 2, True)])
    found = walked(made, 0, 1)
    assert ends(found) == [7]
    assert [one.target for one in found.calls.values()] == [START + 0x1000, None]


def test_an_indirect_jump_waits_for_its_registers():
    made = body("ffe0" + NOP, [(0, 1, True), (2, 2, True)])
    found = walked(made, 0, 1)
    assert not found.ends
    assert [one.address for one in found.jumps.values()] == [START]


def test_a_jump_out_of_the_function_is_a_tail_call():
    made = body("eb7e", [(0, 1, True)])
    assert walked(made, 0, 1).tails == {START + 0x80}


def test_a_loop_without_an_end_is_left_alone():
    made = body("ebfe", [(0, 1, True)])
    found = walked(made, 0, 1)
    assert not found.ends
    assert found.is_whole


def test_code_that_cannot_be_read_is_said():
    made = body("06", [(0, 1, True)])
    assert not walked(made, 0, 1).is_whole


def test_who_arrives_may_stop_at_once():
    made = body(NOP * 2, [(0, 1, True), (1, 2, True)])
    assert ends(walked(made, 0, 9, arrives=True)) == [0]
    assert ends(walked(made, 0, 9)) == [1]


def copy(low, high, entry, call, depth=1):
    return CodeSpan(START + low, START + high, START + low, "copy", entry, depth, 1, 90, 1, call)


INLINED = [(0, 1, True), (1, 90, True), (2, 91, True), (3, 2, True)]


def test_an_inlined_copy_that_the_same_line_calls_is_gone_over():
    made = body(NOP * 4, INLINED, [copy(1, 3, 5, call=1)])
    assert ends(walked(made, 0, 1)) == [3]


def test_an_inlined_copy_that_the_same_line_calls_is_gone_into():
    made = body(NOP * 4, INLINED, [copy(1, 3, 5, call=1)])
    found = walked(made, 0, 1, enters=True)
    assert found.ends == {START + 1: 0}


def test_a_step_ends_before_a_copy_that_another_line_calls():
    made = body(NOP * 4, INLINED, [copy(1, 3, 5, call=7)])
    found = walked(made, 0, 1)
    assert found.ends == {START + 1: 1}


def test_within_a_copy_its_own_lines_end_a_step():
    made = body(NOP * 4, INLINED, [copy(1, 3, 5, call=1)])
    assert ends(walked(made, 1, 90, chain=(5,))) == [2]
    assert ends(walked(made, 2, 91, chain=(5,))) == [3]


def test_a_copy_beside_the_one_that_is_left_is_not_gone_into():
    made = body(
        NOP * 4,
        [(0, 80, True), (1, 90, True), (3, 2, True)],
        [copy(0, 1, 5, call=1), copy(1, 3, 6, call=80)],
    )
    assert ends(walked(made, 0, 80, chain=(5,))) == [3]


def test_of_rows_at_one_address_the_last_statement_counts():
    table = LineRows()
    for address, line, flags in [
        (0x10, 1, IS_STMT),
        (0x12, 2, IS_STMT),
        (0x12, 3, IS_STMT),
        (0x12, 4, 0),
        (0x14, 3, IS_STMT | CONTINUES),
        (0x16, 5, IS_STMT),
        (0x18, 0, END),
    ]:
        table.address.append(address)
        table.file.append(1)
        table.line.append(line)
        table.flags.append(flags)
    found = line_rows(table, [(0x10, 0x20)], 0x100)
    assert [(one.address, one.line) for one in found] == [
        (0x110, (1, 1)),
        (0x112, (1, 3)),
        (0x116, (1, 5)),
        (0x118, None),
    ]
    assert line_rows(table, [(0x13, 0x14)], 0)[0].line == (1, 4)


def test_a_line_may_be_that_of_a_call():
    made, _ = body(NOP * 4, INLINED, [copy(1, 3, 5, call=7), copy(1, 2, 6, call=90, depth=2)])
    assert made.count_starting(START + 1) == 2
    assert made.count_starting(START + 2) == 0
    assert made.line_at(START + 1) == (1, 90)
    assert made.line_at(START + 1, hidden=1) == (1, 90)
    assert made.line_at(START + 1, hidden=2) == (1, 7)
