"""Texts with a length, and slices, are formatted from their registers."""

from __future__ import annotations

import pytest

from debugger.backends.inprocess.tracing import call_format


def copy_as_engine(text: bytes, *, is_cut: bool = False) -> bytes:
    """Copy a text as the engine does: up to a zero byte, or as much as has room."""
    return bytes([len(text) | (0x80 if is_cut else 0)]) + text


@pytest.mark.parametrize(
    ("held", "length", "expected"),
    [
        (copy_as_engine(b"ok!and what lies behind", is_cut=True), 3, '"ok!"'),
        (copy_as_engine(b"long"), 9, '"long"…'),
        (copy_as_engine(b"a text of C"), None, '"a text of C"'),
        (copy_as_engine(b"long", is_cut=True), None, '"long"…'),
        (b"\xff", 0, '""'),
        (b"\xff", 3, None),
    ],
)
def test_a_text_ends_where_its_length_says(held: bytes, length: int | None, expected: str) -> None:
    assert call_format._quote_copied(held, 0, length) == expected


def test_of_a_slice_the_number_of_elements_is_written() -> None:
    assert call_format._size_of_slice(3 << 64 | 0x7FFF0010) == "size=3"
