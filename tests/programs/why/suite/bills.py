"""Sums with shared rates: their elements are compared with values made of literals."""

import unittest
from decimal import Decimal


def bill(rows, rates):
    sums = []
    for kind, amount, own in rows:
        rates.update(own)  # @shared
        sums.append(Decimal(amount) * rates.get(kind, 1))  # @stored
    return sums


class Bills(unittest.TestCase):
    def test_equal(self):
        got = bill([("b", 3, {"b": 2}), ("b", 7, {})], {})
        self.assertEqual(got[1], Decimal("7"))

    def test_assert(self):
        got = bill([("b", 3, {"b": 2}), ("b", 7, {})], {})
        at = 1
        assert got[at] == 7
