"""Fails although no two filters share anything."""

from shared_filter import Query, Rows


def test_a_filter_counts_its_own():
    low = Rows(Query()).filter(lambda one: one < 10)
    assert low.count() == 11
