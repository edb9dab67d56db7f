"""Sums the prices of many orders; near the end one of them changes a rate."""

RATES = {"a": 2, "b": 3, "c": 5}
ORDERS = 20_000


def rate_of(kind):
    return RATES[kind]


def add(total, kind, number):
    if number == ORDERS - 1_000:
        RATES["b"] = -3  # @changed
    return total + rate_of(kind)


def run():
    total = 0
    for number in range(ORDERS):
        total = add(total, "abc"[number % 3], number)
    return total  # @sum


result = run()
print(result, RATES["b"])  # @printed
