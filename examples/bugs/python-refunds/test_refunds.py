"""What is paid back."""

from __future__ import annotations

from refunds import Line, Order, refund


def an_order(voucher: int = 0) -> Order:
    return Order([Line("lamp", 4000, 3, returned=2), Line("bulb", 500, 4)], voucher)


def test_without_a_voucher() -> None:
    assert refund(an_order()) == 8000


def test_nothing_returned() -> None:
    order = an_order(1400)
    order.lines[0].returned = 0
    assert refund(order) == 0


def test_the_voucher_is_shared() -> None:
    order = an_order(1400)
    paid_back = refund(order)
    assert paid_back == 7200
