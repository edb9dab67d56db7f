"""Fails since two filters share the list of their tests."""

from shared_filter import Query, Rows


def test_a_filter_of_a_filter_leaves_the_first_alone():
    low = Rows(Query()).filter(lambda one: one < 10)
    even = low.filter(lambda one: one % 2 == 0).count()
    assert (even, low.count()) == (5, 10)
