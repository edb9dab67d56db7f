import os
import pytest
from cart import total


def check(found, wanted):
    __tracebackhide__ = True
    assert found == wanted


def test_empty():
    assert total([]) == 0


def test_total():
    found = total([(300, 2), (450, 1)])
    check(found, 1050)


@pytest.mark.xfail
def test_expected():
    assert total([]) == 1


@pytest.fixture
def absent():
    return {}["x"]


def test_setup(absent):
    pass
