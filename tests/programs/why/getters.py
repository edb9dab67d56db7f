import collections
import copy
import functools
from array import array

NAMES = {0: "plain", 1: "bold", 2: "italic"}
NUMBERS = {name: number for number, name in NAMES.items()}
Size = collections.namedtuple("Size", "width height")


class Slot:
    def __init__(self, key):
        self.key = key

    def __get__(self, instance, owner):
        return instance[self.key]

    def __set__(self, instance, value):
        instance[self.key] = value


class Face:
    def __get__(self, instance, owner):
        number = getattr(instance.style, "face")
        if number < 100:
            return NAMES.get(number, "plain")
        return "other"

    def __set__(self, instance, value):
        setattr(instance.style, "face", NUMBERS[value])


class Style(array):
    color = Slot(0)
    face = Slot(1)

    def __copy__(self):
        return self


class Cell:
    face = Face()

    def __init__(self):
        self.style = Style("i", [0, 0])
        self.base = 4
        self.size = Size(1, 2)

    @property
    def area(self):
        return self.size.width * self.size.height

    @property
    def height(self):
        return self.size.height

    @functools.cached_property
    def total(self):
        return self.base + 1

    def __getattr__(self, name):
        if name == "root":
            return self.base
        raise AttributeError(name)


class Table:
    def __init__(self):
        self._cells = {}

    def __getitem__(self, place):
        if place not in self._cells:
            self._cells[place] = Cell()
        return self._cells[place]


table = Table()
other = Table()
table["A"].face = "bold"
other["A"].style = copy.copy(table["A"].style)
other["A"].face = "italic"
table["A"].base = 6
print(table["A"].total)
table["A"].size = Size(3, 5)
print(table["A"].face)
