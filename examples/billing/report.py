"""Prints the month's electricity invoices, by customer, and their sum.

Usage: report.py [ACCOUNTS.csv]
"""

from __future__ import annotations

import csv
import sys
from dataclasses import dataclass
from pathlib import Path

from tariff import Contract, Tariff, agreed

VAT_PERCENT = {"home": 5, "business": 20}


@dataclass(frozen=True)
class Account:
    customer: str
    kind: str
    kwh: int
    tariff: Tariff


@dataclass(frozen=True)
class Invoice:
    """What a customer owes, in pence."""

    customer: str
    kwh: int
    net: float
    vat: float

    @property
    def gross(self) -> int:
        return round(self.net + self.vat)


def number(text: str) -> int:
    """Read a number of the export, where an empty field means none."""
    return int(text.replace(",", "")) if text.strip() else 0


def consumed(before: str, now: str) -> int:
    """Subtract two readings of a meter of five digits, which may have passed zero."""
    return (number(now) - number(before)) % 100_000


def load(path: Path) -> list[Account]:
    """Read the accounts, one in each row."""
    accounts = []
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            contract = Contract(row["contract"], number(row["discount"]), number(row["free"]))
            accounts.append(
                Account(
                    customer=row["customer"],
                    kind=row["kind"],
                    kwh=consumed(row["before"], row["now"]),
                    tariff=agreed(row["tariff"], contract),
                )
            )
    return accounts


def invoice(account: Account) -> Invoice:
    tariff = account.tariff
    energy = tariff.energy(account.kwh)
    net = tariff.standing + energy
    return Invoice(account.customer, account.kwh, net, net * VAT_PERCENT[account.kind] / 100)


def pounds(pence: int) -> str:
    return f"{pence // 100:,}.{pence % 100:02d}"


def main(path: Path) -> None:
    accounts = load(path)
    invoices = [invoice(account) for account in sorted(accounts, key=lambda one: one.customer)]
    for one in invoices:
        print(f"{one.customer:<22}{one.kwh:>7} kWh {pounds(one.gross):>10}")
    print(f"{'total':<22}{sum(one.kwh for one in invoices):>7} kWh ", end="")
    print(f"{pounds(sum(one.gross for one in invoices)):>10}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("accounts.csv"))
