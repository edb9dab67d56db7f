"""Passes over a table; one of them deletes rows that another use of the table needs."""

import time


class Table:
    def __init__(self, rows):
        self.rows = rows


def is_whole(table):
    """Check the table slowly: for 2 ms of processor time."""
    until = time.process_time() + 0.002
    while time.process_time() < until:
        pass
    return table.rows.count("needed") == 1


def normalize(table):
    for at in range(len(table.rows)):
        table.rows[at] = table.rows[at].strip()


def chosen_rows(table, uses):
    chosen = {}
    for row in table.rows:
        if len(row) > 20:
            continue
        if (
            row != "keep"
            and uses[row] <= 2
        ):
            chosen[row] = table.rows
    return chosen


def drop(rows, row):
    rows.remove(row)


def prune(table):
    uses = {row: 1 for row in table.rows}
    uses["needed"] = 2
    total = 0
    for at in range(1500):
        total += at
    for row, rows in chosen_rows(table, uses).items():
        drop(rows, row)
    return total


def order(table):
    table.rows.sort()


def run(table, passes):
    for one in passes:
        one(table)
    return table


run(Table([" a ", "keep", "needed", "keep"]), [normalize, prune, order])
