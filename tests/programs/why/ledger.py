"""Compares two values that differ; each run leaves a mark in a file."""

from pathlib import Path

with Path("runs").open("a") as file:
    file.write("x")


class Ledger:
    def __init__(self):
        self.booked = self.paid = 0

    def book(self, n):
        self.booked += n

    def pay(self, n):
        self.paid += n * 2


ledger = Ledger()
ledger.book(3)
ledger.pay(3)
if ledger.booked != ledger.paid:
    raise ValueError("the ledger is not even")
