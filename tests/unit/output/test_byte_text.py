"""Lists of bytes in debuggers' texts are shown as the text that they are, and no others."""

from __future__ import annotations

import pytest

from debugger.output.byte_text import decode_text, is_byte_text, show_bytes

HELLO = "104,101,108,108,111"
SHOWN = {
    f"[]uint8 len: 5, cap: 8, [{HELLO}]": '[]uint8 len: 5, cap: 8, "hello"',
    f"[8]uint8 [{HELLO},0,0,0]": '[8]uint8 "hello"',
    f"[]uint8 len: 70, cap: 70, [{HELLO},...+65 more]": (
        '[]uint8 len: 70, cap: 70, "hello"...+65 more'
    ),
    f"encoding/json.RawMessage len: 5, cap: 5, [{HELLO}]": (
        'encoding/json.RawMessage len: 5, cap: 5, "hello"'
    ),
    "Buffer(6) [97, 34, 98, 92, 10, 99]": 'Buffer(6) "a\\"b\\\\\\nc"',
    "Uint8Array(300) [104, 195, 169, 108, 108, 195, …]": 'Uint8Array(300) "héll"...',
    "Buffer(5) [Uint8Array] [ 104, 101, 108, 108, 111 ]": 'Buffer(5) "hello"',
    "Uint8Array(105) [ 104, 101, 108, 108, 111, ... 100 more items ]": 'Uint8Array(105) "hello"...',
    "size=15 {71 'G', 69 'E', 84 'T', 32 ' ', …}": 'size=15 "GET "...',
    "std::vector of length 4, capacity 4 = {-61 '\\303', -87 '\\251', 97 'a', 98 'b', 99 'c'}": (
        'std::vector of length 4, capacity 4 = "éabc"'
    ),
}
INNER = f'*main.T {{Name: "x", Raw: []uint8 len: 5, cap: 5, [{HELLO}], Sum: [2]uint8 [1,2]}}'
NUMBERS = [
    "[]uint8 len: 3, cap: 3, [104,105,33]",  # too few to be a text for certain
    "[]uint8 len: 4, cap: 4, [1,2,255,0]",
    "[]uint8 len: 4, cap: 4, [34,45,39,41]",  # hardly a letter in it
    "[]int len: 5, cap: 5, [104,101,108,108,111]",
    "Uint8Array(4) [0, 0, 0, 0]",
    "[104, 101, 108, 108, 111]",
    "std::vector of length 20, capacity 20 = {120 'x' <repeats 20 times>}",
]


@pytest.mark.parametrize(("value", "text"), SHOWN.items())
def test_bytes_that_are_a_text_are_shown_as_that(value: str, text: str) -> None:
    assert show_bytes(value) == text
    assert is_byte_text(value)


def test_bytes_within_a_value_are_shown_too() -> None:
    assert show_bytes(INNER) == INNER.replace(f"[{HELLO}]", '"hello"')
    assert not is_byte_text(INNER)


@pytest.mark.parametrize("value", NUMBERS)
def test_numbers_stay_numbers(value: str) -> None:
    assert show_bytes(value) == value
    assert not is_byte_text(value)


def test_a_text_that_the_reader_of_the_values_made_is_known() -> None:
    assert is_byte_text('size=15 "GET /index.html"')
    assert is_byte_text('byte[15] "GET /index.html"')
    assert not is_byte_text('size=2 {"GET", "PUT"}')
    assert not is_byte_text('"GET"')


def test_only_a_cut_text_may_end_within_a_character() -> None:
    codes = [*b"caf\xc3\xa9s \xc3"]
    assert decode_text(codes) == ""
    assert decode_text(codes, is_cut=True) == "cafés "
    assert decode_text([1000, 104, 105, 106]) == ""
