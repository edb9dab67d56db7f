"""Causes of crashes of C++, and the parts of statements that they name."""

from __future__ import annotations

import pytest

from debugger.model.slice_bounds import explain_bounds
from debugger.model.statement import parse_reads
from debugger.questions.crash.crash_cause import explain_crash
from debugger.questions.crash.crash_facts import CrashFacts
from debugger.sources.nothing_calls import (
    find_called_element,
    find_nothing_call,
    find_null_call,
    find_unwrapped_call,
)


def _explain(statement: str, values: dict[str, str], **facts: object) -> tuple[str, str]:
    read = parse_reads(statement)
    given = CrashFacts(
        "",
        accesses=read.accesses,
        operands=read.operands,
        called=read.called,
        values=values,
        **facts,  # type: ignore[arg-type]
    )
    found = explain_crash(given)
    return found.text, found.culprit


_FAULT = {"signal": "SIGSEGV", "address": 0x20, "address_kind": "unmapped"}
_FAR = {"signal": "SIGSEGV", "address": 0x9000000, "address_kind": "unmapped"}
_ABORT = {"signal": "SIGABRT"}
_ITERATOR = "{std::__detail::_Node_iterator_base<int>:{_M_cur:0x0}}"


@pytest.mark.parametrize(
    ("statement", "values", "facts", "cause", "culprit"),
    [
        (
            "n = v.back()->qty;",
            {"v": "size=0"},
            _FAULT,
            "empty: v, back() of it is called",
            "v",
        ),
        (
            "n = v[i];",
            {"v": "size=2 {1, 2}", "i": "9"},
            _FAULT,
            "index i=9 out of range, v has 2",
            "i",
        ),
        (
            "n = it->second;",
            {"it": _ITERATOR},
            _FAULT,
            ("null pointer: it->second, it is an iterator of no element, as the end"),
            "it",
        ),
        (
            "b = table[slot * 9];",
            {"table": "{0x5555, 0x0}", "slot*9": "900"},
            _FAR,
            ("bad pointer: table[slot*9], table={0x5555, 0x0} slot*9=900, 0x9000000, not mapped"),
            "slot*9",
        ),
        (
            "int n = std::stoi(text);",
            {"text": '""', "n": "7"},
            _ABORT | {"exception": "std::invalid_argument", "message": "stoi"},
            'invalid_argument: stoi of text="", which is no number',
            "text",
        ),
        (
            "release();",
            {},
            _ABORT
            | {
                "said": (
                    "pure virtual method called",
                    "terminate called without an active exception",
                )
            },
            ("call of the pure virtual release() while its object is built or destroyed"),
            "",
        ),
        (
            "}",
            {},
            _ABORT
            | {
                "said": ("terminate called without an active exception",),
                "runtime": ("abort", "std::terminate()", "std::thread::~thread()"),
            },
            ("terminate: a std::thread was destroyed or assigned to, and was not joined"),
            "",
        ),
        (
            "s = line.substr(at + 5);",
            {"line": '"key"', "at": "18446744073709551615"},
            _ABORT
            | {
                "exception": "std::out_of_range",
                "message": ("basic_string::substr: __pos (which is 4) > this->size() (which is 3)"),
            },
            "index 4 out of range, line has 3 (out_of_range)",
            "at",
        ),
        (
            "s.items.remove(n)",
            {"s.items": "size=3", "n": "3"},
            {
                "exception": "panic",
                "is_panic": True,
                "message": "removal index (is 3) should be < len (is 3)",
            },
            "index 3 out of range, s.items has 3 with n=3",
            "n",
        ),
        (
            "table[small as usize]",
            {"table": "{1}", "small as usize": "44"},
            {
                "exception": "panic",
                "is_panic": True,
                "message": "index out of bounds: the len is 1 but the index is 44",
            },
            "index 44 out of range, table has 1 with small as usize=44",
            "small",
        ),
        (
            's.prices["tea"]',
            {},
            {"exception": "panic", "is_panic": True, "message": "no entry found for key"},
            'key "tea" is not in s.prices',
            "",
        ),
        (
            "1u32 << by",
            {"by": "32"},
            {
                "exception": "panic",
                "is_panic": True,
                "message": "attempt to shift left with overflow",
            },
            "panic: attempt to shift left with overflow with by=32",
            "by",
        ),
        (
            'printf("%s", n);',
            {"n": "3"},
            {"signal": "SIGSEGV", "address": 3, "address_kind": "null", "runtime": ("strlen",)},
            "no pointer: n=3 is used as an address",
            "n",
        ),
    ],
)
def test_a_crash_names_the_value_that_is_wrong(
    statement: str, values: dict[str, str], facts: dict[str, object], cause: str, culprit: str
) -> None:
    assert _explain(statement, values, **facts) == (cause, culprit)


def test_the_end_of_a_program_by_its_runtime_is_no_corruption_of_the_heap() -> None:
    said = ("terminate called without an active exception",)
    assert explain_crash(CrashFacts("f", signal="SIGABRT", said=said)).kind == "abort"


@pytest.mark.parametrize(
    ("statement", "at", "message", "text"),
    [
        (
            "&text[..at]",
            "7",
            ("end byte index 7 is not a char boundary; it is inside 'é' (bytes 6..8)"),
            ("slice of text ends at byte at=7, inside the character 'é' (bytes 6..8)"),
        ),
        (
            "&text[at..]",
            "7",
            ("start byte index 7 is not a char boundary; it is inside 'é' (bytes 6..8)"),
            ("slice of text begins at byte at=7, inside the character 'é' (bytes 6..8)"),
        ),
        (
            "&text[at..end]",
            "7",
            ("byte index 7 is not a char boundary; it is inside 'é' (bytes 6..8)"),
            ("slice of text begins at byte at=7, inside the character 'é' (bytes 6..8)"),
        ),
        (
            "&text[..at]",
            "70",
            "byte index 70 is out of bounds of `caf`",
            "slice of text ends at byte at=70, out of bounds",
        ),
    ],
)
def test_a_slice_of_a_text_names_its_bound(
    statement: str, at: str, message: str, text: str
) -> None:
    read = parse_reads(statement)
    found = explain_bounds(message, read.accesses, read.operands, {"at": at, "end": "9"})
    assert found is not None
    assert (found.text, found.culprit) == (text, "at")


def test_a_panic_names_the_unwrapped_call_at_its_column() -> None:
    message = "called `Option::unwrap()` on a `None` value"
    text = "s.a.as_ref().unwrap().next.as_ref().unwrap().qty"
    first, second = text.index("unwrap"), text.rindex("unwrap")
    assert find_unwrapped_call(text, message, text[:first]) == "s.a.as_ref()"
    assert find_unwrapped_call(text, message, text[:second]) == (
        "s.a.as_ref().unwrap().next.as_ref()"
    )
    assert not find_unwrapped_call(text, message)


def test_calls_and_elements_that_were_nothing_are_found() -> None:
    nil_map = "assignment to entry in nil map"
    assert find_nothing_call('rates()["c"]["x"] = 5', nil_map) == 'rates()["c"]'
    assert find_nothing_call("rates()[key] += 5", nil_map) == "rates()"
    assert not find_nothing_call("rates()[key]", nil_map)
    assert find_called_element('fmt.Println(handlers["put"](3))') == 'handlers["put"]'
    assert not find_called_element("fmt.Println(handlers[name])")
    inside = 'printf("%zu", strlen(name_of(kind)));'
    assert find_null_call(inside, is_inside=True) == "name_of(kind)"
    assert not find_null_call(inside)
    assert not find_null_call("strcmp(left(a), right(a));", is_inside=True)


def test_types_and_members_of_a_closures_parameters_are_no_values() -> None:
    read = parse_reads("items.iter().filter(|i| i.name == key).map(|i| i.qty).min()")
    assert read.operands == ("key",)
    assert parse_reads("std::string value = line.substr(at + 5);").operands == ("at",)


def test_a_failed_conversion_of_rust_shows_the_text() -> None:
    facts = {
        "exception": "panic",
        "is_panic": True,
        "message": "port: ParseIntError { kind: InvalidDigit }",
        "nothing_call": "value.parse::<i32>()",
    }
    text, _ = _explain('value.parse::<i32>().expect("port")', {"value": '"80x"'}, **facts)
    assert text.endswith('returned by value.parse::<i32>() with value="80x"')
