"""What the skill debugs: a test that fails."""

import unittest

import app


class TotalTest(unittest.TestCase):
    def test_total(self):
        found = app.total([1, 3])
        self.assertEqual(found, 11)
