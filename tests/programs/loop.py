"""Moves accounts through deposits and ends with status 3."""

from __future__ import annotations

import sys


class Account:
    def __init__(self, owner: str, balance: int = 0) -> None:
        self.owner = owner
        self.balance = balance

    def deposit(self, amount: int) -> int:
        self.balance += amount  # @deposit
        return self.balance


def calculate(i: int) -> int:
    square = i * i
    print(f"step {i}")  # @step
    return square  # @return


def sum_to(n: int, account: Account) -> int:
    total = 0  # @start
    for i in range(1, n + 1):
        total += calculate(i)  # @add
        account.deposit(i)
    return total  # @done


def main() -> int:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    scale = 1
    account = Account("ada", balance=100)  # @main
    total = sum_to(n, account)  # @call
    print(f"sum {total * scale}, {account.owner} has {account.balance}")  # @print
    return 3


if __name__ == "__main__":
    sys.exit(main())  # @exit
