"""Words of a user are split, and refused where they are not one line."""

from __future__ import annotations

import pytest

from debugger.errors import DebuggerError, ErrorCode
from debugger.model import number_format
from debugger.model.debugger_words import check_line, parse_call


@pytest.mark.parametrize(
    ("text", "function", "given"),
    [
        ("add", "add", ()),
        ("add()", "add", ()),
        ("add( )", "add", ()),
        ("add(1, n)", "add", ("1", "n")),
        (" ns::add (f(1, 2), a[i, j], {1, 2}) ", "ns::add", ("f(1, 2)", "a[i, j]", "{1, 2}")),
        ("say(\"a, (b\", ',')", "say", ('"a, (b"', "','")),
        ('say("\\", x")', "say", ('"\\", x"',)),
        ("table[0](1)", "table[0]", ("1",)),
        ("f(1)(2)", "f(1)", ("2",)),
        ("(*pointer)", "(*pointer)", ()),
        ("add(1", "add(1", ()),
        ("add(1) + 2", "add(1) + 2", ()),
    ],
)
def test_a_call_is_taken_apart(text, function, given):
    assert parse_call(text) == (function, given)


@pytest.mark.parametrize("text", ["", " ", "a\nb", "a\x1b", "x" * 11])
def test_what_is_no_line_or_too_long_is_refused(text):
    check_line("x" * 10, 10)
    with pytest.raises(DebuggerError) as refused:
        check_line(text, 10)
    assert refused.value.code is ErrorCode.USAGE


@pytest.mark.parametrize(
    ("kind", "text", "held"),
    [
        ("i32", "-7", b"\xf9\xff\xff\xff"),
        ("u8", "0xff", b"\xff"),
        ("f64", "1.5", b"\0\0\0\0\0\0\xf8?"),
        ("f32", "0.1", b"\xcd\xcc\xcc="),
        ("pointer", "0x10", b"\x10\0\0\0\0\0\0\0"),
    ],
)
def test_a_value_at_an_address_is_written_as_it_is_shown(kind, text, held):
    assert number_format.encode_value(text, kind) == held
    assert number_format.size_of(kind) == len(held)
    shown = number_format.decode_value(held, kind)
    assert shown == text.replace("0xff", "255")


@pytest.mark.parametrize(("kind", "text"), [("u8", "300"), ("u8", "-1"), ("i32", "x"), ("i8", "")])
def test_what_does_not_fit_is_refused(kind, text):
    with pytest.raises(DebuggerError) as refused:
        number_format.encode_value(text, kind)
    assert refused.value.code is ErrorCode.USAGE
