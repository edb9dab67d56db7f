"""Prints amounts of a receipt; digits of large amounts are grouped wrongly."""

import sys

NAMES = {"tea": "Tea", "ring": "Gold ring", "cup": "Cup"}


class Item:
    def __init__(self, name, amount):
        self.name = name
        self.amount = amount


def parse(words):
    items = []
    for word in words:
        name, _, amount = word.partition("=")
        if name == "discount":
            items.append(Item("Discount", -int(amount)))
        else:
            items.append(Item(NAMES.get(name, name), int(amount)))
    return items


def group(digits):
    found = ""
    size = 3
    while len(digits) > size:
        found = "," + digits[-size:] + found
        digits = digits[:-size]
        size = 2
    return digits + found


def format_amount(amount):
    text = group(str(abs(amount)))
    return "-" + text if amount < 0 else text


def lines_of(items):
    for item in items:
        yield f"{item.name}: {format_amount(item.amount)}"


def main():
    *words, wanted = sys.argv[1:]
    got = "; ".join(lines_of(parse(words)))
    assert got == wanted
    print("ok")


main()
