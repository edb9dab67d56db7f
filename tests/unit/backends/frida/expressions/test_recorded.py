"""Is the text of words that machine code wrote down the one that is written of the values?"""

from __future__ import annotations

import struct

from hypothesis import given
from hypothesis import strategies as st

from debugger.backends.frida.expressions.nodes import Machine, machine_of
from debugger.backends.frida.expressions.recorded import recorded
from debugger.backends.frida.expressions.resolve import condition
from debugger.backends.frida.expressions.running import encoded, run
from debugger.backends.frida.expressions.saying import said
from debugger.backends.frida.expressions.template import Group, Number, template
from expressing import Memory

_NUMBERS = (
    "{i} of 100% {j} {real} {big} {p} {p->colour} {p->letter} {p->far} {node.in} {grid} {p->low}"
)


def _words(pieces, world):
    """What machine code writes down: whole numbers with their sign, the bits of real ones."""
    for piece in pieces:
        if isinstance(piece, Group):
            yield from _words((one for _, one in piece.pieces), world)
        elif isinstance(piece, Number):
            value, machine = run(piece.node, world), machine_of(piece.node)
            wide = machine if machine.is_real else Machine.I64
            yield int.from_bytes(encoded(value, wide), "little")


def test_the_text_of_words_is_that_of_the_values(held: Memory) -> None:
    pieces = template(_NUMBERS, held.scope())
    made = recorded(pieces, None, 20)
    assert made is not None
    words = [*_words(pieces, held.world())]
    assert made.width == len(words)
    assert made.text([*words, 7, 7]) == said(pieces, held.world())


@given(value=st.floats(width=64))
def test_a_real_number_is_written_from_its_bits(value: float) -> None:
    from expressing_cases import memory

    held = memory()
    pieces = template("{in_xmm}", held.scope())
    made = recorded(pieces, None, 1)
    assert made is not None
    (bits,) = struct.unpack("<Q", struct.pack("<d", value))
    held.registers["xmm0"] = bits
    assert made.text([bits]) == said(pieces, held.world())


def test_what_is_no_number_or_too_much_is_not_for_machine_code(held: Memory) -> None:
    for text in ("{word}", "{i} {string}", "{i == 2 && word == 'eve'}"):
        assert recorded(template(text.replace("'", '"'), held.scope()), None, 12) is None
    several = template("{i} {j} {real}", held.scope())
    assert recorded(several, None, 2) is None
    assert recorded(several, None, 3) is not None


def test_a_condition_that_machine_code_cannot_tell_leaves_all_to_javascript(held: Memory) -> None:
    pieces = template("{i}", held.scope())
    assert recorded(pieces, condition('word == "eve"', held.scope()), 12) is None
    assert recorded(pieces, condition("i == 2", held.scope()), 12) is not None
