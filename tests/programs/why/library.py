"""Values that a library keeps or changes: caches of functools, records, objects with a state."""

import configparser
import functools
import hashlib
import operator
from collections import namedtuple
from dataclasses import asdict, astuple, dataclass, replace

Point = namedtuple("Point", "x y")


@dataclass
class Limits:
    low: int = 0
    high: int = 9


@functools.lru_cache(maxsize=None)
def rates(region):
    if region == "eu":
        return [3, 4]
    return [1, 2]


class Shop:
    @functools.cache
    def price(self, sku, tax=1):
        return len(sku) * tax


def configured(text):
    config = configparser.ConfigParser()
    config.read_string(text)
    return config.getint("a", "n")


def hashed(first, second):
    state = hashlib.sha1()
    state.update(first)
    state.update(second)
    return state.hexdigest()


def main(k):
    rates("us")
    shared = rates("eu")
    shared.append(k)
    first = rates("eu")
    later = first[-1]
    shop = Shop()
    shop.price("abc", tax=k)
    shop.price("abcdef")
    price = shop.price("abc", tax=k) + 1
    point = Point(k, 2)._replace(y=k + 7)
    point_items = point._asdict()
    limits = replace(Limits(k, 8), high=k * 2)
    items = asdict(limits)
    values = astuple(limits)
    fields = vars(limits)
    number = configured("[a]\nn = 12\n")
    digest = hashed(b"one", b"two")
    total = functools.reduce(operator.add, values, 0)
    return later, first, price, point_items, items, fields, number, digest, total  # here


main(3)
