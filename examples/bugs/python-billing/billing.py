"""Bills for metered use: tiers of prices, a discount for a year paid ahead, tax by country.

    python3 billing.py CUSTOMER UNITS COUNTRY [--yearly]

ends with status 1 if the bill does not agree with the price list's own check.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

TIERS = [(0, 100, 0.50), (100, 500, 0.40), (500, 2000, 0.30), (2000, None, 0.22)]
TAXES = {"de": 0.19, "fr": 0.20, "us": 0.0}
YEARLY = 0.10


@dataclass
class Line:
    text: str
    units: int
    price: float

    def amount(self):
        return self.units * self.price


@dataclass
class Bill:
    customer: str
    lines: list
    discount: float = 0.0
    tax: float = 0.0

    def net(self):
        whole = sum(line.amount() for line in self.lines)
        return whole * (1 - self.discount)

    def gross(self):
        return round(self.net() * (1 + self.tax), 2)


def tier_lines(units):
    """Cut the units into the tiers that they fall into."""
    lines = []
    for low, high, price in TIERS:
        if units <= low:
            break
        if high is not None and units > high:
            lines.append(Line(f"{low}-{high}", high - low, price))
            continue
        if is_open(high):
            lines.append(Line(f"from {low}", units, price))
        else:
            lines.append(Line(f"{low}-{high}", units - low, price))
    return lines


def is_open(high):
    return high is None


def tax_of(country):
    if country not in TAXES:
        print(f"no tax known for {country}", file=sys.stderr)
        return 0.0
    return TAXES[country]


def bill_for(customer, units, country, yearly):
    bill = Bill(customer, tier_lines(units))
    if yearly:
        bill.discount = YEARLY
    bill.tax = tax_of(country)
    return bill


def printed(bill):
    for line in bill.lines:
        print(f"{line.text:>12} {line.units:>6} x {line.price:.2f} {line.amount():>10.2f}")
    if bill.discount:
        print(f"{'discount':>12} {bill.discount:.0%}")
    print(f"{bill.customer:>12} {bill.gross():.2f}")


def billed_units(bill):
    return sum(line.units for line in bill.lines)


def main(words):
    yearly = "--yearly" in words
    customer, units, country = [word for word in words if not word.startswith("--")]
    bill = bill_for(customer, int(units), country, yearly)
    printed(bill)
    if billed_units(bill) != int(units):
        print("the bill does not have as many units as were used", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
