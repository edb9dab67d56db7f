"""What a customer gets back for what was returned of an order."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Line:
    """A line of an order: how many were bought at which price, in cents, and how many came back."""

    name: str
    price: int
    bought: int
    returned: int = 0


@dataclass
class Order:
    """An order; `voucher` is what was taken off its whole sum, in cents."""

    lines: list[Line]
    voucher: int = 0

    def whole(self) -> int:
        """Return what all lines cost."""
        return sum(line.price * line.bought for line in self.lines)


def share(order: Order, line: Line) -> int:
    """Return how much of the voucher belongs to one piece of a line."""
    of_line = order.voucher * line.price * line.bought // order.whole()
    return of_line


def refund(order: Order) -> int:
    """Return what is paid back, without the part of the voucher that the returned pieces had."""
    paid_back = 0
    for line in order.lines:
        if not line.returned:
            continue
        each = line.price - share(order, line)
        paid_back += each * line.returned
    return paid_back
