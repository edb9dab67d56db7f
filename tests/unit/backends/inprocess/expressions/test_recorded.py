"""Text from words that machine code recorded equals text from the values."""

from __future__ import annotations

import struct

from hypothesis import given
from hypothesis import strategies as st

from debugger.backends.inprocess.expressions.log_pieces import (
    NumberPiece,
    PieceGroup,
    parse_template,
)
from debugger.backends.inprocess.expressions.log_text import compile_record, format_log
from debugger.backends.inprocess.expressions.node_evaluation import encode_number, evaluate_node
from debugger.backends.inprocess.expressions.nodes import MachineType, machine_of
from debugger.backends.inprocess.expressions.resolution import resolve_condition
from expression_runner import ExpressionMemory

_NUMBERS = (
    "{i} of 100% {j} {real} {big} {p} {p->colour} {p->letter} {p->far} {node.in} {grid} {p->low}"
)


def _words(pieces, world):
    """What machine code writes down: whole numbers with their sign, the bits of real ones."""
    for piece in pieces:
        if isinstance(piece, PieceGroup):
            yield from _words((one for _, one in piece.pieces), world)
        elif isinstance(piece, NumberPiece):
            value, machine = evaluate_node(piece.node, world), machine_of(piece.node)
            wide = machine if machine.is_real else MachineType.I64
            yield int.from_bytes(encode_number(value, wide), "little")


def test_the_text_of_words_is_that_of_the_values(expression_memory: ExpressionMemory) -> None:
    pieces = parse_template(_NUMBERS, expression_memory.scope())
    made = compile_record(pieces, None, 20)
    assert made is not None
    words = [*_words(pieces, expression_memory.world())]
    assert made.width == len(words)
    assert made.text([*words, 7, 7]) == format_log(pieces, expression_memory.world())


@given(value=st.floats(width=64))
def test_a_real_number_is_written_from_its_bits(value: float) -> None:
    from expression_cases import sample_memory

    held = sample_memory()
    pieces = parse_template("{in_xmm}", held.scope())
    made = compile_record(pieces, None, 1)
    assert made is not None
    (bits,) = struct.unpack("<Q", struct.pack("<d", value))
    held.registers["xmm0"] = bits
    assert made.text([bits]) == format_log(pieces, held.world())


def test_what_is_no_number_or_too_much_is_not_for_machine_code(
    expression_memory: ExpressionMemory,
) -> None:
    for text in ("{word}", "{i} {string}", "{i == 2 && word == 'eve'}"):
        assert (
            compile_record(
                parse_template(text.replace("'", '"'), expression_memory.scope()), None, 12
            )
            is None
        )
    several = parse_template("{i} {j} {real}", expression_memory.scope())
    assert compile_record(several, None, 2) is None
    assert compile_record(several, None, 3) is not None


def test_a_condition_that_machine_code_cannot_tell_leaves_all_to_javascript(
    expression_memory: ExpressionMemory,
) -> None:
    pieces = parse_template("{i}", expression_memory.scope())
    assert (
        compile_record(pieces, resolve_condition('word == "eve"', expression_memory.scope()), 12)
        is None
    )
    assert (
        compile_record(pieces, resolve_condition("i == 2", expression_memory.scope()), 12)
        is not None
    )
