import unittest

from prices import total


class Prices(unittest.TestCase):
    def test_one(self):
        self.assertEqual(total([100]), 100)

    def test_two(self):
        self.assertEqual(total([100, 200]), 300)

    def test_many(self):
        found = total([100, 100, 100])
        self.assertEqual(found, 270)
