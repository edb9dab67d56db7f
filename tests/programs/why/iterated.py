"""Values that come out of generators, loops, a deque, getattr and a default of a data class."""

from collections import deque
from dataclasses import dataclass


@dataclass
class Pod:
    name: str
    prio: int = 99  # @prio


class Celsius:
    def __set_name__(self, owner, name):
        self.slot = "_" + name

    def __get__(self, instance, owner=None):
        return getattr(instance, self.slot)

    def __set__(self, instance, value):
        setattr(instance, self.slot, value + 273)  # @slot


class Sensor:
    temperature = Celsius()

    def __init__(self, temperature):
        self.temperature = temperature


def readings():
    return [[1, 2], [3, -900]]  # @reading


def flat(parts):
    for part in parts:
        yield from part


def doubled(parts):
    for part in parts:
        yield part * 2  # @doubled


def window(rows, size):
    found = deque(maxlen=size)
    for row in rows:
        found.append(row)  # @window
    return found


def main():
    listed = list(flat(readings()))
    last = listed[-1]
    for item in [1, -5]:  # @loop
        pass
    after = item
    largest = max(doubled([3, -4, 1]))
    total = sum(doubled([3, 4]))
    oldest = window([1, 6, 3], 2)[0]
    temperature = Sensor(20).temperature
    prio = Pod("a").prio
    print(last, after, largest, total, oldest, temperature, prio)  # @end


main()
