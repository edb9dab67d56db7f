"""Values with texts of their own: an expression tree, a value with `__str__` alone, a dataclass."""

from __future__ import annotations

from dataclasses import dataclass


class Sum:
    def __init__(self, *terms: object) -> None:
        self.terms = terms
        self.is_commutative = True

    def __repr__(self) -> str:
        return "(" + " + ".join(map(repr, self.terms)) + ")"


class Label:
    def __init__(self, inner: object) -> None:
        self.inner = inner

    def __str__(self) -> str:
        return f"<<{self.inner}>>"


class Plain:
    def __init__(self, inner: object) -> None:
        self.inner = inner


@dataclass
class Pair:
    first: object
    second: object


def check(terms, label, labels, plain, pair):
    return terms, label, labels, plain, pair  # @here


deep = Sum(Sum(Sum(1, 2), 3), Sum(4, Sum(5, Sum(6))))
check([deep, Sum(1)], Label(deep), [Label(deep)], Plain(deep), Pair([[[[1]]]], {1: {2: {3: 4}}}))
