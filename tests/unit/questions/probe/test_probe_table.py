"""The rows that matter are kept, and outliers of a column found."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import pytest

from debugger.model.hit_filter import HitFilter
from debugger.questions.probe.answer import ProbeColumn
from debugger.questions.probe.probe_points import HitRange
from debugger.questions.probe.probe_table import (
    DISTINCT_MAX,
    ProbeCell,
    ProbeTable,
    ValueSummary,
    parse_number,
)


def column(values: Iterable[object]) -> ProbeColumn:
    made = ValueSummary("x")
    for hit, value in enumerate(values, 1):
        made.add_value(hit, str(value))
    return made.to_column()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("-3", -3.0),
        ("1_000", 1000.0),
        ("2.5e3", 2500.0),
        ("97 'a'", 97.0),
        ("12n", 12.0),
        ("0x10", None),
        ("'3'", None),
        ("nan", None),
        ("3 apples", None),
    ],
)
def test_a_number_is_told_from_other_values(text: str, found: float | None) -> None:
    assert parse_number(text) == found


def test_a_columns_ends_change_and_count_are_told() -> None:
    found = column([5, 5, 5, 7, 3, 5])
    assert found.minimum is not None
    assert (found.minimum.value, found.minimum.hit) == ("3", 5)
    assert found.maximum is not None
    assert (found.maximum.value, found.maximum.hit) == ("7", 4)
    assert found.change is not None
    assert (found.change.hit, found.change.previous, found.change.value) == (4, "5", "7")
    assert (found.distinct, found.first, found.last) == (3, "5", "5")


def test_hits_of_threads_keep_their_rows_in_whatever_order_they_are_told() -> None:
    table = ProbeTable([["x"]], HitRange(), rows=30)
    for hit in (1, 4, 2, 4, 3):
        table.take_hit(0, [ProbeCell(str(hit))], at_s=0.1, hit=hit)
    assert sorted(row.values[0] for row in table.kept_rows()) == ["1", "2", "3", "4", "4"]
    assert table.hit_count(0) == 4


def test_the_few_values_far_off_stand_out() -> None:
    far = column([*(at % 17 for at in range(200)), 9999, *(at % 17 for at in range(200))])
    assert [(one.value, one.hit) for one in far.outliers] == [("9999", 201)]
    assert column(range(1000)).outliers == ()
    assert column([2**at for at in range(100)]).outliers == ()


def test_a_value_of_another_kind_stands_out() -> None:
    found = column([*range(100), "None", *range(100)])
    assert [(one.value, one.hit) for one in found.outliers] == [("None", 101)]


def test_a_rare_text_stands_out_among_common_ones() -> None:
    found = column([*(["'open'", "'closed'"] * 60), "'lost'", *(["'open'", "'closed'"] * 60)])
    assert [one.value for one in found.outliers] == ["'lost'"]


def test_what_only_rose_and_fell_once_turns_there() -> None:
    found = column([*range(50), 3, *range(4, 50)])
    assert found.turn is not None
    assert (found.turn.hit, found.turn.previous, found.turn.value) == (51, "49", "3")
    assert column(range(100)).turn is None
    assert column([at % 2 for at in range(100)]).turn is None


def test_a_value_that_never_was_there_is_said_to_be_so() -> None:
    made = ValueSummary("zz")
    for hit in (1, 2):
        made.add_value(hit, "NameError: zz", is_error=True)
    found = made.to_column()
    assert found.is_never_there
    assert (found.failed, found.error) == (2, "NameError: zz")


def test_many_different_values_are_counted_up_to_a_bound() -> None:
    found = column(range(DISTINCT_MAX + 5))
    assert found.distinct == DISTINCT_MAX
    assert not found.is_distinct_exact
    assert found.maximum is not None
    assert found.maximum.value == str(DISTINCT_MAX + 4)


def filled(hits: int, within: HitRange = HitRange(), rows: int = 30) -> ProbeTable:  # noqa: B008 - frozen
    table = ProbeTable([["x"]], within, rows=rows)
    for hit in range(1, hits + 1):
        table.take_hit(0, [ProbeCell(str(hit))], at_s=hit / 1000)
    return table


def test_the_first_and_last_rows_are_kept_and_the_middle_is_spread() -> None:
    hits = [row.hit for row in filled(100_000).kept_rows()]
    assert hits[:10] == list(range(1, 11))
    assert hits[-10:] == list(range(99_991, 100_001))
    middle = hits[10:-10]
    assert 5 <= len(middle) <= 10
    gaps = [after - before for before, after in itertools.pairwise(middle)]
    assert max(gaps) == min(gaps)


def test_few_rows_are_kept_whole() -> None:
    assert [row.hit for row in filled(30).kept_rows()] == list(range(1, 31))


def test_only_hits_in_the_range_have_rows_and_all_are_counted() -> None:
    table = filled(50, HitRange(10, 12))
    assert [row.hit for row in table.kept_rows()] == [10, 11, 12]
    assert (table.hit_count(0), table.row_count(0)) == (50, 3)
    assert table.is_over(0)


def test_the_rows_of_several_places_come_in_the_order_of_time() -> None:
    table = ProbeTable([["x"], []], HitRange(), rows=30)
    table.take_hit(1, [], at_s=0.1)
    table.take_hit(0, [ProbeCell("a")], at_s=0.2, thread=7)
    table.take_hit(1, [], at_s=0.3)
    assert [(row.place, row.hit) for row in table.kept_rows()] == [(1, 1), (0, 1), (1, 2)]
    assert table.kept_rows()[1].thread == 7
    table.set_hits(1, 9)
    assert (table.hit_count(0), table.hit_count(1)) == (1, 9)


def test_threads_of_a_run_are_numbered_in_the_order_in_which_they_come() -> None:
    table = ProbeTable([("x",)], HitRange(), rows=10, hits=HitFilter(thread=2))
    table.number_threads(are_passing=True)
    for system, value in ((4711, "a"), (4712, "b"), (4711, "c"), (4712, "d")):
        thread = table.thread_number(system)
        table.take_hit(0, [ProbeCell(value)], at_s=0.1, thread=thread)
    assert [(row.thread, row.values[0]) for row in table.kept_rows()] == [(2, "b"), (2, "d")]
    assert table.other_threads(0) == ["1"]
