"""Monthly consumption of households, from the readings of their electricity meters."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

DIGITS = 65_536  # the meters count in 16 bits
UNIT = 0.01  # kWh a count


@dataclass
class Reading:
    meter: str
    hour: int
    counts: int


@dataclass
class Household:
    name: str
    meter: str
    used: float = 0.0
    highest: float = 0.0
    hours: int = 0


@dataclass
class Book:
    households: dict[str, Household]
    latest: dict[str, int] = field(default_factory=dict)
    skipped: int = 0

    def take(self, reading: Reading) -> None:
        household = self.households.get(reading.meter)
        if household is None:
            self.skipped += 1
            return
        before = self.latest.get(reading.meter)
        self.latest[reading.meter] = reading.counts
        if before is None:
            return
        used = difference(before, reading.counts) * UNIT
        household.used += used
        household.highest = max(household.highest, used)
        household.hours += 1

    def average(self, meter: str) -> float:
        household = self.households[meter]
        return household.used / household.hours if household.hours else 0.0


def difference(before: int, after: int) -> int:
    """Return the counts between two readings."""
    return after - before


def readings(seed: int, hours: int) -> Iterator[Reading]:
    """Play a month of three meters, each with a load of its own."""
    chosen = random.Random(seed)
    counts = {"m-17": 9_200, "m-23": 61_000, "m-31": 300}
    loads = {"m-17": 12, "m-23": 21, "m-31": 4}
    for hour in range(hours):
        for meter, load in loads.items():
            step = chosen.randint(load // 2, load * 2)
            counts[meter] = (counts[meter] + step) % DIGITS
            yield Reading(meter, hour, counts[meter])
        if hour % 100 == 50:
            yield Reading("m-99", hour, chosen.randrange(DIGITS))


def bill(book: Book, price: float) -> list[str]:
    lines = []
    for household in book.households.values():
        amount = household.used * price
        lines.append(
            f"{household.name:8} {household.used:8.2f} kWh {amount:8.2f} EUR"
            f"  (highest hour {household.highest:.2f}, average {book.average(household.meter):.2f})"
        )
    return lines


def main() -> None:
    book = Book(
        {
            "m-17": Household("Abel", "m-17"),
            "m-23": Household("Brandt", "m-23"),
            "m-31": Household("Curie", "m-31"),
        }
    )
    for reading in readings(seed=4, hours=720):
        book.take(reading)
    print("\n".join(bill(book, price=0.31)))
    print(f"{book.skipped} readings of unknown meters")


if __name__ == "__main__":
    main()
