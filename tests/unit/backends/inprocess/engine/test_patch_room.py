"""Jumps into the first bytes of a function are detected."""

from __future__ import annotations

import pytest

pytest.importorskip("capstone")

from debugger.backends.inprocess.engine.patch_sites import has_room

AT = 0x1000
PROLOGUE = bytes.fromhex("554889e54883ec20")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (PROLOGUE + b"\xc3", True),
        (PROLOGUE + b"\xeb\xf6", True),  # to the very first
        (PROLOGUE + b"\xeb\xf7", False),
        (PROLOGUE + b"\x75\xfa", False),
        (PROLOGUE + b"\xe2\xfb", True),  # to what lies behind them
        (PROLOGUE + b"\xe9\xf4\xff\xff\xff", False),
        (PROLOGUE + b"\x06", False),  # no instruction
        (b"\x90" * 70_000, False),
    ],
)
def test_a_jump_into_the_first_bytes_is_seen(code, expected):
    assert has_room(AT, [(AT, code)]) is expected


def test_a_jump_from_a_piece_elsewhere_is_seen():
    assert not has_room(AT, [(AT, PROLOGUE), (0x2000, b"\xe9\xfc\xef\xff\xff")])
