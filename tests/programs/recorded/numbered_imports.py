"""Imports a module whose body calls functions, and goes through a generator that does."""

import numbered_table


def double(number):
    return 2 * number


def doubled(numbers):
    for number in numbers:
        yield double(number)


def add_up(numbers):
    total = 0
    for number in doubled(numbers):
        total += number
    return total


rows = numbered_table.ROWS
rows["b"] = add_up(rows.values())
rows["c"] = rows["b"] - rows["a"]
print(rows["c"])  # @end
