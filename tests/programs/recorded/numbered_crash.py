"""Many calls, exceptions that are handled, and at last one that ends the program."""

import json
import sys

PRICES = {"tea": 3, "milk": 2, "salt": None}


class Missing(Exception):
    pass


def price_of(name):
    try:
        return PRICES[name]
    except KeyError as error:
        raise Missing(name) from error


def read(text):
    try:
        return json.loads(text)
    finally:
        PRICES["read"] = len(text)


def names(rounds):
    for number in range(rounds):
        try:
            yield ("tea", "milk", "rum")[number % 3]
        except ValueError:
            return


class Basket:
    def __init__(self):
        self.sum = 0
        self.failed = []

    def find(self, name):
        return price_of(name)

    def add(self, name):
        try:
            self.sum += self.find(name)
        except Missing as error:
            self.failed.append(str(error))

    def close(self, last):
        amount = price_of(last)
        with open(__file__) as file:
            line = file.readline()
            return self.sum + amount + len(line)


def shop(rounds):
    basket = Basket()
    walk = names(rounds)
    for name in walk:
        basket.add(name)
    try:
        read("[1, 2")
    except json.JSONDecodeError:
        basket.failed.append("text")
    walk.close()
    return basket.close("salt")


def main():
    try:
        rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 400
        return shop(rounds)
    except TypeError:
        PRICES.clear()
        raise


main()
