"""Which hits saw one object, and where an array leaves its pattern."""

from __future__ import annotations

import gc
from array import array

import pytest

from debugger.questions.probe.object_identity import (
    ObjectHits,
    ObjectNumbers,
    go_addresses,
    parse_go_address,
    split_mark,
)
from debugger.questions.probe.probe_points import HitRange
from debugger.questions.probe.probe_table import ProbeCell, ProbeTable
from debugger.questions.probe.render import format_column
from debugger.recorders.python.inside import object_marks
from debugger.recorders.python.inside.object_marks import ObjectMarks, find_departure


class _Node:
    pass


def test_an_object_that_has_ended_is_never_taken_for_another_at_its_address() -> None:
    marks = ObjectMarks()
    kept = _Node()
    assert [marks.number_of(kept), marks.number_of(kept)] == [1, 1]
    # CPython gives the memory of an ended object to the next one of its size.
    numbers = [marks.number_of(_Node()) for _ in range(20)]
    assert len(set(numbers)) == 20
    lists = [marks.number_of([1]) for _ in range(20)]
    assert len(set(lists)) == 20
    gc.collect()
    assert marks.number_of(kept) == 1
    assert [marks.number_of(one) for one in (1, "a", None, (1,), len)] == [0] * 5


def test_only_so_many_objects_are_told_apart_and_that_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(object_marks, "OBJECTS_MAX", 2)
    marks = ObjectMarks()
    first = [0]
    assert [marks.number_of(one) for one in (first, [1], [2], first)] == [1, 2, 0, 1]
    assert marks.is_full


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ([0, 1, 2, 3, 4, 5, 9, 7], "[6] = 9 after 5"),
        ([7, 7, 7, 7, 7, 0], "[5] = 0 after 7"),
        (array("i", [0, 3, 6, 9, 12, 13]), "[5] = 13 after 12"),
        ([0, 1, 2, 3, None], "[4] = NoneType after 3"),
        ([0, 1, 2, 3, 4, 5], ""),
        ([5, 1, 9, 2, 8, 3], ""),  # no pattern at its begin
        ([0.0, 1.0, 2.0, 3.0, 9.0], ""),
        ([True, False, True], ""),
    ],
)
def test_the_element_by_which_a_sequence_leaves_its_pattern_is_found(
    value: object, found: str
) -> None:
    assert find_departure(value) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("\u20634\u2063[6] = 9 after 5\u2063[0,1]", ("[0,1]", "4", "[6] = 9 after 5")),
        ("\u20630\u2063\u2063{}", ("{}", "", "")),
        ("0x00007ffe10 {n:1}", ("0x00007ffe10 {n:1}", "0x7ffe10", "")),
        ("(node *) 0x10", ("(node *) 0x10", "0x10", "")),
        ("0x0", ("0x0", "", "")),
        ("0x1.8p3", ("0x1.8p3", "", "")),
        ("{0, 1, 2, 3, 5}", ("{0, 1, 2, 3, 5}", "", "[4] = 5 after 3")),
        (
            "[]int len: 6, cap: 6, [2,4,6,8,10,11]",
            ("[]int len: 6, cap: 6, [2,4,6,8,10,11]", "", "[5] = 11 after 10"),
        ),
        ("17", ("17", "", "")),
    ],
)
def test_the_mark_of_a_value_is_split_from_its_text(text: str, found: tuple[str, ...]) -> None:
    assert split_mark(text) == found


def test_go_shows_the_address_of_a_pointer_by_a_further_expression() -> None:
    texts = ("ring", "ring.order", "len(x)", "a[0]")
    found = {0: "uintptr(&(*ring))", 1: "uintptr(&(*ring.order))"}
    assert go_addresses(texts, "go") == found
    assert go_addresses(texts, "c") == {}
    assert parse_go_address("16 = 0x10") == "0x10"
    assert parse_go_address('{expression "n" (int) can not be dereferenced}') == ""


def test_an_object_has_one_number_in_all_columns() -> None:
    table = ProbeTable([("a", "b")], HitRange(), rows=10)
    for first, second in (("7", "8"), ("7", "7"), ("9", "8"), ("7", "8")):
        cells = [ProbeCell("{}", identity=first), ProbeCell("{}", identity=second)]
        table.take_hit(0, cells, at_s=0.1)
    a, b = table.summarise_columns(0)
    assert [(one.number, one.spans) for one in a.objects] == [(1, ((1, 2), (4, 4))), (3, ((3, 3),))]
    assert format_column(a) == "a: always {}; 2 objects: #1 at 1-2 4, #3 at 3"
    assert format_column(b) == "b: always {}; 2 objects: #1 at 2, #2 at 1 3-4"


def test_numbers_and_stretches_are_bounded() -> None:
    numbers = ObjectNumbers()
    assert [numbers.number_of(str(one)) for one in range(1001)][-2:] == [1000, 0]
    assert numbers.is_full
    assert numbers.number_of("") == 0
    hits = ObjectHits()
    for hit in range(1, 401):
        hits.add_hit(hit, hit % 2 + 1)
    assert [(one.hits, len(one.spans)) for one in hits.to_objects()] == [(200, 64), (200, 64)]
