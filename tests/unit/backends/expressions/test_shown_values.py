"""Values are read as LLDB 19, LLDB 20, gdb 13 and gdb 16 show them."""

from __future__ import annotations

import pytest

from debugger.backends.expressions import shown_values
from debugger.model.program import Variable


def _value(shown: str, kind: str = "") -> Variable:
    return Variable("one", shown, kind)


@pytest.mark.parametrize(
    ("shown", "value"),
    [
        ("3", 3),
        ("-0x10", -16),
        ("2.5", 2.5),
        ("1e+30", 1e30),
        ("true", True),
        ("97 'a'", 97),
        ("'a'", 97),
        ("U'é'", 233),
        (r'"a\"b\\\n\x01"', 'a"b\\\n\x01'),
        ('0x55aa "text"', "text"),
        # Cut, or of a struct: not known.
        ('"begins"...', None),
        ("{x:4}", None),
    ],
)
def test_a_scalar_is_read_and_what_is_cut_or_none_is_not(shown: str, value: object):
    assert shown_values.read_scalar(_value(shown)) == value


@pytest.mark.parametrize(
    ("shown", "count"),
    [
        ("size=3 {1, 2, 3}", 3),
        ("0x7ffe size=2 {1, 2}", 2),
        ("std::vector of length 4, capacity 8", 4),
        ("std::map with 5 elements = {...}", 5),
        ("HashMap(size=6) = {...}", 6),
        ("&[i32](size=7) = {...}", 7),
        ('"héy"', 4),
        ("{size:3}", None),
    ],
)
def test_the_number_of_elements_is_read_from_a_summary(shown: str, count: int | None):
    assert shown_values.shown_count(_value(shown)) == count


def test_containers_pointers_and_wrappers_are_told_by_their_types():
    assert shown_values.is_map(_value("", "std::unordered_map<int, std::vector<int>>"))
    assert not shown_values.is_map(_value("", "std::vector<std::map<int, int>>"))
    for kind in (
        "int *",
        "Point *const",
        "pointer to Point",
        "&main::Point",
        "*mut i32",
        "&&[i32]",
    ):
        assert shown_values.is_pointer(_value("", kind)), kind
    for kind in ("&[i32]", "&mut str", "std::vector<int *>", "int"):
        assert not shown_values.is_pointer(_value("", kind)), kind
    assert shown_values.leads_on(_value("", "alloc::rc::Rc<main::Point>"))
    assert not shown_values.leads_on(_value("", "alloc::vec::Vec<alloc::rc::Rc<i32>>"))


def test_the_key_of_a_pair_is_what_its_summary_begins_with():
    pairs = ['{first:"a, b", second:{...}}', '("a, b", strong=1 {...})', '{first:"a, b"}']
    assert [shown_values.key_of_pair(_value(one)) for one in pairs] == ["a, b"] * 3
    assert shown_values.key_of_pair(_value("{first:2, second:2.5}")) == 2
    assert shown_values.key_of_pair(_value("{...}")) is None
    assert shown_values.key_of_name('["ice"]') == "ice"


def test_the_present_case_is_read_as_both_debuggers_show_it():
    shown = ("Some(4)", "core::option::Option<i32>::Some(4)", "None", "Ok(Err(1))")
    assert [shown_values.present_case(_value(one)) for one in shown] == [
        "Some",
        "Some",
        "None",
        "Ok",
    ]
