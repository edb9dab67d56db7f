"""Counts of runs with inputs of different sizes are compared by the ratio that most have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from debugger.recorders.count_ratio import CountPair, find_dominant_ratio


def pairs(*counts: tuple[int, int]) -> list[CountPair]:
    return [CountPair(left, right) for left, right in counts]


FOUR_TIMES = pairs((86_400, 21_600), (86_401, 21_601), (400, 100), (86_400, 21_600), (8, 2))


def test_the_ratio_that_most_counts_have_is_found_and_what_departs_from_it():
    found = find_dominant_ratio([*FOUR_TIMES, *pairs((1, 1), (900, 100), (0, 7), (5, 5))])
    assert found is not None
    assert found.text == "4.0"
    assert (found.matching, found.compared) == (5, 7)
    assert not any(found.departs(one) for one in FOUR_TIMES)
    assert [one for one in pairs((900, 100), (0, 7), (7, 0), (5, 5)) if found.departs(one)] == (
        pairs((900, 100), (0, 7), (7, 0))
    )


@pytest.mark.parametrize(
    "counts",
    [
        pairs((100, 100), (101, 101), (200, 200), (300, 300), (3, 900)),
        # The few that differ are what is looked for, though they have one ratio.
        [*FOUR_TIMES[:4], *pairs(*[(500_000, 500_000)] * 9)],
        pairs((10, 100), (100, 10), (7, 900), (80, 81), (5, 50_000)),
        pairs((4, 1), (8, 2)),
        [],
    ],
)
def test_runs_of_one_size_or_without_a_common_ratio_have_none(counts):
    assert find_dominant_ratio(counts) is None


def test_the_head_of_a_loop_runs_once_more_and_does_not_depart():
    found = find_dominant_ratio([*FOUR_TIMES, *FOUR_TIMES])
    assert found is not None
    assert not found.departs(CountPair(5, 2))  # 4 + 1 and 1 + 1
    assert found.departs(CountPair(2, 5))


COUNTS = st.integers(1, 10**6)


@given(st.lists(COUNTS, min_size=4, max_size=40), st.integers(2, 1_000))
def test_counts_that_are_all_multiplied_have_that_ratio_and_none_departs(counts, factor):
    multiplied = [CountPair(factor * one, one) for one in counts]
    found = find_dominant_ratio(multiplied)
    assert found is not None
    assert found.ratio == pytest.approx(factor)
    assert found.matching == found.compared == len(counts)
    assert not any(map(found.departs, multiplied))


@given(st.lists(st.tuples(COUNTS, COUNTS), max_size=40), st.randoms())
def test_the_order_of_the_counts_does_not_matter(counts, random):
    shuffled = pairs(*counts)
    random.shuffle(shuffled)
    assert find_dominant_ratio(shuffled) == find_dominant_ratio(pairs(*counts))


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), max_size=40))
def test_equal_counts_never_depart_and_one_runs_own_code_always_does(counts):
    found = find_dominant_ratio([*pairs(*counts), *FOUR_TIMES, *FOUR_TIMES])
    if found is None:
        return
    assert 0 <= found.matching <= found.compared
    for one in pairs(*counts):
        if one.left == one.right:
            assert not found.departs(one)
        elif not (one.left and one.right):
            assert found.departs(one)
