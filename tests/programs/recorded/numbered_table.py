"""A table that is made where the module is imported."""


def square(number):
    result = number * number
    return result


def make_row(name, count):
    found = sum(square(one) for one in range(count))
    return name, found


ROWS = {}
for place, letter in enumerate("abcdefgh"):
    key, value = make_row(letter, place + 3)
    ROWS[key] = value
