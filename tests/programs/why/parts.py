"""Values that are parts of others: of joined bytes, filled buffers, records, picked items."""

import array
import asyncio
import json
import mmap
import os
import struct
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path


class Counted:
    count = 0

    def __init__(self):
        type(self).count += 1  # @count


@dataclass(frozen=True)
class Limit:
    low: int
    high: int

    def __post_init__(self):
        object.__setattr__(self, "low", self.low * 10)  # @setattr


class Caseless(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key.lower(), value)  # @lower

    def __getitem__(self, key):
        return super().__getitem__(key.lower())


def score(row):
    return row["score"]


def chunks():
    yield b"ab"
    yield b"cd"  # @second
    yield b"ef"


def collect(buffer):
    for chunk in chunks():
        buffer += chunk  # @joined
    return buffer


def collect_items():
    found = []
    for part in ("one", "two"):
        found += [part]  # @extended
    return found


def make_counter():
    number = 5  # @number

    def count():
        nonlocal number
        number += 1  # @counted
        return number

    return count


@contextmanager
def opened(size):
    yield size + 1  # @yielded


async def fetch(key):
    return {"key": key}


async def fetch_all():
    return await asyncio.gather(fetch(1), fetch(2))


def read_block():
    descriptor = os.open(__file__, os.O_RDONLY)
    with Path(__file__).open("rb"):
        try:
            os.lseek(descriptor, 10, os.SEEK_SET)
            return os.read(descriptor, 4)  # @read
        finally:
            os.close(descriptor)


def map_file():
    with Path(__file__).open("rb") as source:
        return mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ)  # @mapped


rows = []
rows.append({"score": 3})
rows.append({"score": 9})  # @best
rows.append({"score": 5})
best = max(rows, key=score)
lowest = sorted(rows, key=score, reverse=True)[0]
picked = collect(b"")[2]
filled = collect(bytearray())[3]
item = collect_items()[1]
with Path(__file__).open("rb") as file:
    target = bytearray(8)
    count = file.readinto(target)  # @readinto
first = target[3]
header = struct.unpack_from("<HHI", Path(__file__).read_bytes(), 4)
size = header[2]
packed = struct.pack("<IH", 7, count)
_, length = struct.unpack("<IH", packed)
Counted()
Counted()
made = Counted.count
limit = replace(Limit(2, 4), high=8)
settings = {"a": {"b": 7}}
settings["a"]["b"] = 8  # @set
loaded = json.loads(json.dumps(settings))
deep = loaded["a"]["b"]
counter = make_counter()
counter()
last = counter()
with opened(3) as grown:  # @opened
    wide = grown
results = asyncio.run(fetch_all())
fetched = results[1]["key"]
caseless = Caseless()
caseless["Key"] = 5  # @caseless
found = caseless["KEY"]
plain = {}
plain["k"] = 7  # @plain
name = "k"
fixed = plain[name]
octet = read_block()[2]
view = memoryview(map_file())[8:20]
viewed = view[4]
numbers = array.array("B")
with Path(__file__).open("rb") as source:
    numbers.fromfile(source, 4)  # @fromfile
number = numbers[1]
print(best, made, limit, first, size, length)  # @end
