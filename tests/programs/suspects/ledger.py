"""Sums bookings; a check of the ledger's own fails after a wrong sum."""

import json
import sys


class LedgerError(Exception):
    pass


def check_sum(total, rows):
    expected = sum(row["amount"] for row in rows)
    if total != expected:
        raise LedgerError(f"{total} is not the sum")


def add_up(rows):
    total = 0
    for row in rows:
        amount = row["amount"]
        if row.get("kind") == "refund":
            amount = abs(amount)
        total += amount
    check_sum(total, rows)
    return total


print(add_up(json.loads(sys.argv[1])))
