"""Tests whose values were made before them, by setup methods and fixtures, or many calls deep."""

import unittest

import pytest


class Account:
    def __init__(self, balance):
        self.balance = balance
        self.log = []

    def pay(self, n):
        self.balance -= fee(n)
        self.log.append(n)


def fee(n):
    return rate(n)


def rate(n):
    return lookup(n)


def lookup(n):
    return table(n)


def table(n):
    tenth = n // 10
    tenth = tenth + 1
    return tenth


class TestMethod:
    def setup_method(self):
        self.account = Account(100)
        self.account.pay(10)

    def test_balance(self):
        assert self.account.balance == 99

    def test_both(self):
        self.account.pay(20)
        assert self.account.balance == 96


class Case(unittest.TestCase):
    def setUp(self):
        self.account = Account(100)
        self.account.pay(10)

    def test_balance(self):
        self.assertEqual(self.account.balance, 99)


@pytest.fixture
def account():
    made = Account(100)
    made.pay(10)
    return made


@pytest.fixture
def used(account):
    account.pay(20)
    yield account
    account.pay(1)


@pytest.fixture
def number():
    return table(30)


def test_fixture(account):
    assert account.balance == 99


def test_fixture_of_a_fixture(used):
    assert used.balance == 99


def test_plain_value(number):
    assert number == 3


def test_many_calls_deep():
    assert fee(10) == 1


SHARED = Account(100)


def test_of_nothing_known():
    account = SHARED
    assert account.balance == 99
