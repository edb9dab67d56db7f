"""What an exception complains about, by its message and the values of its statement."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from debugger.model.statement import parse_reads
from debugger.questions.crash.complained_operand import find_complained_operand

EXTENDS = "Class extends value undefined is not a constructor or null"


@pytest.mark.parametrize(
    ("statement", "message", "values", "found"),
    [
        ("total += handler(total)", "'NoneType' object is not callable", {}, "handler"),
        ("a(b(1))", "'int' object is not callable", {"a": "<function a>", "b": "3"}, "b"),
        ("self.on_open(self)", "'NoneType' object is not callable", {}, "self.on_open"),
        ("t = table[name](t)", "table[name] is not a function", {}, "table[name]"),
        ("new kinds[0](t)", "kinds[0] is not a constructor", {}, "kinds[0]"),
        ("handler(total)", "other is not a function", {}, ""),
        ("$t = $h($t);", "Value of type null is not callable", {"$h": "null"}, "$h"),
        ("total = total + b", "undefined method '+' for nil", {"total": "nil", "b": "3"}, "total"),
        ("for a in rows", "'NoneType' object is not iterable", {"rows": "None", "a": "3"}, "rows"),
        ("a + b", "nil can't be coerced into Integer", {"a": "4", "b": "nil"}, "b"),
        ("t << n", "no implicit conversion of nil into String", {"t": '"x"', "n": "nil"}, "n"),
        ("$a * $b;", "Unsupported operand types: array * null", {"$a": "[1]", "$b": "null"}, "$b"),
        ("for (const k of pairs) f(k);", "pairs is not iterable", {"pairs": "{a: 1}"}, "pairs"),
        ("class A extends B {}", EXTENDS, {"B": "undefined", "A": "1"}, "B"),
        # Both could be meant.
        ("a + b", "undefined method '+' for nil", {"a": "nil", "b": "nil"}, ""),
    ],
)  # fmt: skip
def test_what_is_nothing_or_no_function(
    statement: str, message: str, values: Mapping[str, str], found: str
) -> None:
    reads = parse_reads(statement, hash_comments=not statement.endswith(";"))
    known = dict.fromkeys(reads.called, "None") | {"total": "1", "$t": "1"} | dict(values)
    known = {one: value for one, value in known.items() if one in (*reads.operands, *reads.called)}
    error = "NoMethodError" if "method" in message else "TypeError"
    assert find_complained_operand(error, message, reads.operands, reads.called, known) == found


def test_what_ruby_calls_by_a_point_is_an_access() -> None:
    found = parse_reads("total = handler.(total)", hash_comments=True).accesses
    assert [(one.base, one.inner) for one in found] == [("handler", "call")]
    # In Go it is the assertion of a type.
    assert parse_reads("one := shape.(Square)").accesses == ()


@pytest.mark.parametrize(
    ("statement", "error", "message", "found"),
    [
        ("return JSON.parse(text).a;", "SyntaxError", "Unexpected end of JSON input", "text"),
        ("return parse(text);", "SyntaxError", "Unexpected end of input", ""),
        ("return day.toISOString() + text;", "RangeError", "Invalid time value", "day"),
    ],
)
def test_a_value_that_the_library_of_javascript_refuses(
    statement: str, error: str, message: str, found: str
) -> None:
    reads = parse_reads(statement)
    values = {"text": "'{'", "day": "Invalid Date"}
    assert find_complained_operand(error, message, reads.operands, reads.called, values) == found


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ({"it": "<list_iterator object at 0x7f>", "n": "1"}, "it"),
        ({"it": "<generator object rows at 0x7f> {gi_code: 1}", "n": "<Row object at 0x7>"}, "it"),
        ({"it": "<zip object at 0x7f>", "n": "<map object at 0x7f>"}, ""),
        ({"n": "1"}, ""),
    ],
)
def test_what_has_no_more_items_is_an_iterator(values: Mapping[str, str], found: str) -> None:
    reads = parse_reads("total = next(it) + n", hash_comments=True)
    assert find_complained_operand("StopIteration", "", reads.operands, (), values) == found
    # The program raised it with a value.
    assert find_complained_operand("StopIteration", "5", reads.operands, (), values) == ""


@pytest.mark.parametrize(
    ("exception", "message"),
    [
        ("java.lang.ExceptionInInitializerError", ""),
        ("Error", "Typed property A::$n must not be accessed before initialization"),
        ("ErrorException", "Undefined variable $rate"),
    ],
)
def test_what_has_no_value_or_is_about_another_exception_blames_no_operand(
    exception: str, message: str
) -> None:
    assert not find_complained_operand(exception, message, ("size",), (), {"size": "0"})
    assert find_complained_operand("Error", "refused", ("size",), (), {"size": "0"}) == "size"
