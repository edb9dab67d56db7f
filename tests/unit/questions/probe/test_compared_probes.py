"""Hits of two runs are paired, and the first difference is found."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from debugger.questions.probe import probe_comparison as module
from debugger.questions.probe.answer import ProbeRow
from debugger.questions.probe.probe_comparison import (
    PairedHits,
    ProbedSides,
    complete_up_to,
    first_difference,
    has_order,
    pair_hits,
    where_equal_again,
    without_addresses,
)

ASKED = (("x",), ("y",))
hits = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2)), max_size=12)


def rows(*some: object) -> tuple[ProbeRow, ...]:
    """Return the hits of a run: values of the first place, or pairs of a place and a value."""
    found: list[ProbeRow] = []
    for at, one in enumerate(some):
        place, value = one if isinstance(one, tuple) else (0, one)
        number = 1 + sum(row.place == place for row in found)
        found.append(ProbeRow(place, number, at / 10, (str(value),)))
    return tuple(found)


def pairs(found: PairedHits) -> list[tuple[str | None, str | None]]:
    return [
        (
            one.left.values[0] if one.left is not None else None,
            one.right.values[0] if one.right is not None else None,
        )
        for one in found.pairs
    ]


def aligned(left: Sequence[object], right: Sequence[object]) -> PairedHits:
    return pair_hits(ProbedSides(ASKED, rows(*left), rows(*right)))


def test_hits_are_compared_one_by_one_where_both_came_to_the_same_places() -> None:
    found = aligned([1, 2, 3, 4], [1, 9, 8, 4])
    assert pairs(found) == [("1", "1"), ("2", "9"), ("3", "8"), ("4", "4")]
    assert (found.at, found.again) == (1, 1)
    first, after = first_difference(found)
    assert first is not None
    assert first.left is not None
    assert first.left.hit == 2
    assert len(after) == 2


def test_what_one_run_has_more_is_told_from_what_differs() -> None:
    found = aligned([1, 2, 3, 4], [1, 2, 9, 3, 4])
    assert pairs(found)[2] == (None, "9")
    first, count = where_equal_again(found)
    assert first is not None
    assert first.left is not None
    assert first.right is not None
    assert (first.left.hit, first.right.hit, count) == (3, 4, 2)


def test_several_that_one_run_has_more_do_not_shift_the_others() -> None:
    found = aligned([1, 2, 3, 4, 5, 6], [1, 8, 2, 3, 4, 9, 5, 7])
    assert [one for one in pairs(found) if None in one] == [(None, "8"), (None, "9")]
    assert pairs(found)[-1] == ("6", "7")


def test_a_few_that_are_the_same_by_chance_match_nothing() -> None:
    found = aligned([1, 2, 3, 4, 5, 6, 7], [9, 9, 9, 9, 9, 1])
    assert pairs(found)[0] == ("1", "9")
    assert pairs(found)[5:] == [("6", "1"), ("7", None)]


def test_a_run_that_ends_earlier_has_nothing_beside_the_rest() -> None:
    found = aligned([1, 2], [1, 2, 3])
    assert pairs(found) == [("1", "1"), ("2", "2"), (None, "3")]
    many = aligned([1], range(1, 2000))
    assert many.is_whole
    assert where_equal_again(many) == (None, 0)


def test_runs_that_come_to_different_places_part_there() -> None:
    found = aligned([(0, 1), (0, 2), (0, 3)], [(0, 1), (1, 2), (0, 3)])
    first, _ = first_difference(found)
    assert first is not None
    assert first.left is not None
    assert first.right is not None
    assert (first.left.place, first.right.place) == (0, 1)


@given(hits, hits)
def test_every_hit_has_its_place_in_the_order_of_both_runs(
    left: list[tuple[int, int]], right: list[tuple[int, int]]
) -> None:
    sides = ProbedSides(ASKED, rows(*left), rows(*right))
    found = pair_hits(sides)
    assert tuple(one.left for one in found.pairs if one.left is not None) == sides.left
    assert tuple(one.right for one in found.pairs if one.right is not None) == sides.right
    assert all(sides.is_same(one) for one in found.pairs[: found.at])
    assert found.at == len(found.pairs) or not sides.is_same(found.pairs[found.at])
    assert all(
        one.left.place == one.right.place
        for one in found.pairs
        if one.left is not None and one.right is not None
    )
    assert (left == right) == all(map(sides.is_same, found.pairs))


@pytest.mark.parametrize(
    ("text", "expression", "plain"),
    [
        ("<Box object at 0x7f0011223344>", "box", "<Box object at 0x…>"),
        ("0x00005555555592e0 {value:3}", "one", "0x… {value:3}"),
        ("0x0", "one", "0x0"),
        ("0x0000000000000000", "one", "0x0000000000000000"),
        ("'0x1f'", "hex(n)", "'0x1f'"),
        ("139912345678912", "id(box)", "0x…"),
        ("139912345678912", "total", "139912345678912"),
        ("3", "id(box)", "3"),
    ],
)
def test_an_address_is_told_from_null_and_from_numbers(
    text: str, expression: str, plain: str
) -> None:
    assert without_addresses(text, expression) == plain


def test_addresses_that_differ_are_counted_and_are_no_difference() -> None:
    sides = ProbedSides(
        (("p",), ()), rows("0x555500001000", "0x0"), rows("0x666600001000", "0x666600002000")
    )
    found = pair_hits(sides)
    assert found.at == 1
    (column,) = module.compare_columns(sides, 0, found.pairs)
    assert (column.compared, column.different, column.addresses) == (2, 1, 1)
    assert (column.left_hit, column.left, column.right) == (2, "0x0", "0x666600002000")


def test_hits_of_threads_have_no_order_of_their_own() -> None:
    one = ProbeRow(0, 1, 0.1, (), thread=1)
    assert has_order([one, ProbeRow(0, 2, 0.2, (), thread=1)])
    assert not has_order([one, ProbeRow(0, 2, 0.2, (), thread=2)])
    assert not has_order([ProbeRow(0, 2, 0.1, (), thread=1), ProbeRow(0, 1, 0.2, (), thread=1)])


def test_hits_are_known_up_to_the_first_that_was_not_told() -> None:
    some = [ProbeRow(0, hit, 0.1, ()) for hit in (1, 2, 4)]
    assert complete_up_to([*some, ProbeRow(1, 3, 0.1, ())], 0) == 2
    assert complete_up_to(some[:2], 0) == 2
    assert complete_up_to([], 0) == 0
