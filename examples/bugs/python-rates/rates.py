"""Prices of a catalogue in the customer's currency, with the rates of a day kept for the day.

    python3 rates.py DAY CURRENCY [CURRENCY ...]

prints what the basket costs in each of them.
"""

from __future__ import annotations

import sys

RATES = {
    ("2024-03-01", "usd"): 1.08,
    ("2024-03-01", "gbp"): 0.86,
    ("2024-03-01", "jpy"): 162.4,
    ("2024-03-02", "usd"): 1.09,
    ("2024-03-02", "gbp"): 0.85,
    ("2024-03-02", "jpy"): 163.1,
}
BASKET = {"desk": 240.0, "lamp": 35.5, "chair": 129.0}
DECIMALS = {"jpy": 0}


class RateError(Exception):
    """There is no rate for a day."""


class Rates:
    """Rates as a slow service gives them, each asked for once."""

    def __init__(self, service):
        self.service = service
        self.known = {}
        self.asked = 0

    def rate(self, day, currency):
        if currency == "eur":
            return 1.0
        key = self.key(day, currency)
        if key not in self.known:
            self.known[key] = self.fetch(day, currency)
        return self.known[key]

    def key(self, day, currency):
        return (day, len(currency))

    def fetch(self, day, currency):
        self.asked += 1
        try:
            return self.service[day, currency]
        except KeyError:
            raise RateError(f"no rate of {currency} for {day}") from None


def rounded(amount, currency):
    return round(amount, DECIMALS.get(currency, 2))


def price(rates, day, currency, amount):
    return rounded(amount * rates.rate(day, currency), currency)


def total(rates, day, currency):
    result = 0.0
    for article, amount in BASKET.items():
        result += price(rates, day, currency, amount)
    return rounded(result, currency)


def check(day, currency, found):
    """Compare with the sum at the service's own rate."""
    whole = sum(BASKET.values()) * RATES.get((day, currency), 1.0)
    return abs(found - whole) < 1.0


def main(words):
    day, *currencies = words
    rates = Rates(RATES)
    wrong = 0
    for currency in currencies:
        found = total(rates, day, currency)
        print(f"{currency}: {found}")
        if not check(day, currency, found):
            print(f"{currency}: {found} cannot be right", file=sys.stderr)
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
