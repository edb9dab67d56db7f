"""Tests whose functions are made from a table, and have other names than they run by."""

import unittest

import words

CASES = {
    "marked": (lambda: words.listed(["a", "b", "c"], "* "), "* a, b, c"),
    "plain": (lambda: words.listed(["a", "b", "c"], "+ "), "+ a, b, c"),
    "short": (lambda: words.listed(["a", "b"], "* "), "* a, b"),
    "zero": (lambda: words.signed(0), "0"),
    "minus": (lambda: words.signed(-3), "-3"),
    "pieces": (lambda: words.pieces(",a"), ["a"]),
    "pieces": (lambda: words.pieces(",a"), [""]),
    "less": (lambda: words.signed(-4), "-4"),
    "box": (lambda: words.plural("box"), "boxes"),
    "door": (lambda: words.Door().enter(), "in"),
    "number": (lambda: words.parsed("x"), 1),
    "cat": (lambda: words.plural("cat"), "cat"),
}


class Words(unittest.TestCase):
    def check(self, case):
        make, expected = CASES[case]
        got = make()
        self.assertEqual(got, expected)


def attach(name):
    def method(self):
        self.check(name)

    method.__name__ = f"test_{name}"
    setattr(Words, method.__name__, method)


for one in CASES:
    attach(one)
