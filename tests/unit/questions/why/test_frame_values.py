"""What the values of a frame tell about the statement that was seen to write."""

from __future__ import annotations

import pytest

from debugger.backends.adapters.gdb.inside.gdb_statements import operands_of, parts_of
from debugger.questions.why import frame_values, struct_parts
from debugger.questions.why.answer import ChainEnd, LinkCertainty, ValueOperand
from debugger.questions.why.heap_history import HeapHistory
from debugger.questions.why.native_chain import NativeChain
from debugger.questions.why.native_steps import MemoryTarget, ReachedEnd, ValuePosition
from debugger.questions.why.statement_origin import calls_in_statement, classify_expression
from debugger.questions.why.struct_parts import StructPart
from debugger.questions.why.traced_run import TraceEvent, TraceFrame, TraceValue


def _int(number: int, address: int = 0, size: int = 4) -> TraceValue:
    raw = number.to_bytes(size, "little", signed=True).hex()
    return TraceValue(str(number), "int", "int", address, size, raw)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("l->items[l->n++] = it;", ["l->items", "l", "l->n", "it"]),
        ("return r->slots[--r->head % 4];", ["r->slots", "r", "r->head"]),
        ("x = a[i + 1];", ["x", "a[i+1]", "a"]),
    ],
)
def test_no_operand_changes_the_program_when_it_is_read(text: str, names: list[str]) -> None:
    found = operands_of(text)
    assert found == names
    assert not any(sign in one for one in (*found, *parts_of(text)) for sign in ("++", "--"))


def test_an_operand_with_another_value_is_not_what_was_copied() -> None:
    differ = frame_values.is_another_value
    assert differ(_int(5, 100), _int(3, 200), None)
    assert not differ(_int(3, 100), _int(3, 200), None)
    # A conversion may have made it.
    assert not differ(_int(5, 100, 8), _int(3, 200), None)
    event = TraceEvent("w1", 1, 1, (), old="41420000", new="41650000")
    assert differ(_int(0, 100, 1), _int(0x6541, 200), event)
    assert not differ(_int(0x65, 100, 1), _int(0x6541, 200), event)


def test_of_two_calls_in_a_statement_the_one_with_the_value_gave_it() -> None:
    calls = calls_in_statement("return sum(t->left) + t->key + sum(t->right);", "sum")
    frame = TraceFrame("sum", "a.c", 2, vars={"t->left": _int(5, 100), "t->right": _int(7, 108)})
    found = frame_values.choose_call(calls, 0, frame, _int(7, 300))
    assert found is not None
    assert found.text == "sum(t->right)"
    # Where both have it, or one is not known, it is unclear.
    for values in ({"t->left": _int(7), "t->right": _int(7)}, {"t->right": _int(7)}):
        unclear = TraceFrame("sum", "a.c", 2, vars=values)
        assert frame_values.choose_call(calls, 0, unclear, _int(7, 300)) is None


def test_a_statement_for_another_local_did_not_write_this_one() -> None:
    values = {"l": _int(-2, 100), "m": _int(24, 200), "alias": _int(-2, 100)}
    for statement, is_another in (
        ("let m = unsafe { MODE };", True),
        ("let l = LIMIT.load(order);", False),
        ("alias = 5;", False),
        ("*m = 5;", False),
    ):
        frame = TraceFrame("main", "a.rs", 13, vars=values, statement=statement)
        assert frame_values.assigns_another(frame, "l") is is_another, statement


def test_the_memory_that_a_sum_wrote_is_shown_with_the_value_it_has_read() -> None:
    frame = TraceFrame("f", "a.c", 8, vars={"limit": _int(-2, 100), "step": _int(12, 200)})
    origin = classify_expression("limit - step")
    event = TraceEvent("w1", 1, 1, (frame,), old="0a000000", new="feffffff")
    shown = frame_values.operand_views(origin, frame, event, _int(-2, 100))
    assert shown == (ValueOperand("limit", "10"), ValueOperand("step", "12"))


def test_an_item_of_a_tuple_is_found_though_it_ends_with_a_call() -> None:
    pair = TraceValue("(777, 2)", "(i32, usize)", "struct", 400, 16, "09030000")
    frame = TraceFrame("main", "a.rs", 33, vars={"pr": pair})
    part = struct_parts.part_at("pr.0", _int(777, 400), frame)
    assert part == StructPart("(i32, usize)", 16, 0, "__0")
    origin = classify_expression("best, m.len()")
    assert struct_parts.literal_element(origin, frame, part, 4).text == "best"


def test_a_far_write_is_no_overflow_of_a_block_that_its_line_names() -> None:
    frame = TraceFrame(
        "main", "a.rs", 7, statement="*r = i;", vars={"r": TraceValue("0x500", kind="pointer")}
    )
    for address, is_near in ((0x7FFF0000, False), (0x520, True)):
        event = TraceEvent("w1", 1, 1, (frame,), blocks={"r": (0x500, 0x500, 24)})
        position = ValuePosition("i", _int(4, address), (frame,), 0, LinkCertainty.RERUN)
        assert bool(HeapHistory().describe_write(event, position, {})) is is_near


@pytest.mark.parametrize(
    ("statement", "is_overlap"),
    [
        ("r->slots[4] = 5;", True),
        ("r->next->value = 5;", False),
        ("r[1]->value = 5;", False),
        ("auto r = make(); r->next = make(); r->next->value = 5;", False),
        ("for (int i = 0; i < 9; i++) r->slots[i] = 5;", True),
    ],
)
def test_a_write_behind_a_further_pointer_is_no_overflow_of_the_first(
    statement: str, is_overlap: bool
) -> None:
    pointer = TraceValue("0x500", "Node *", "pointer", 0x100, 8)
    frame = TraceFrame("main", "a.c", 12, statement=statement, vars={"r": pointer})
    event = TraceEvent("w1", 1, 1, (frame,), blocks={"r": (0x500, 0x500, 24)})
    position = ValuePosition("n->value", _int(5, 0x520), (frame,), 0, LinkCertainty.RERUN)
    assert bool(HeapHistory().describe_write(event, position, {})) is is_overlap


def test_a_function_of_the_program_is_no_input_by_its_name() -> None:
    frame = TraceFrame("main", "a.c", 12, statement="x = read();", vars={"x": _int(5, 100)})
    event = TraceEvent("w1", 1, 1, (frame,), old="00000000", new="05000000")
    position = ValuePosition("x", _int(5, 100), (frame,), 0, LinkCertainty.RERUN)
    chain = NativeChain()
    ended = chain.explain_write(event, position, (), threads=1)
    assert isinstance(ended, ReachedEnd)
    assert ended.end is ChainEnd.INPUT
    chain.own_functions = frozenset({"read"})
    assert not isinstance(chain.explain_write(event, position, (), threads=1), ReachedEnd)
    assert isinstance(chain.explain_position(position), MemoryTarget)
