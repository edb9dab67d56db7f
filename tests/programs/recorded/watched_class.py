"""Has a class that reports when it, its class or one of its attributes is looked at, to argv[1]."""

import sys

LOG = open(sys.argv[1], "a", buffering=1)


def report(what):
    LOG.write(f"{what}\n")


class Meta(type):
    def __hash__(cls):
        report("hash of the class")
        return 5

    def __eq__(cls, other):
        report("comparison of the class")
        return cls is other

    def __bool__(cls):
        report("truth of the class")
        return True

    def __getattribute__(cls, name):
        report(f"{name} of the class")
        return type.__getattribute__(cls, name)


class Watched(metaclass=Meta):
    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        report("comparison")
        return self is other

    def __hash__(self):
        report("hash")
        return 1

    def __bool__(self):
        report("truth")
        return False

    def __getattribute__(self, name):
        report(name)
        return object.__getattribute__(self, name)

    @property
    def __class__(self):
        report("class")
        return Watched


def make(number, other):
    one = Watched(number)
    rows = [one, other]
    table = {"one": one}
    taken = table.get("one")
    both = rows + [taken]
    return one, rows, table, both


def main():
    one, rows, table, both = make(None, Watched(3))
    first, second = one, rows[0]  # @end
    return object.__getattribute__(second, "__dict__")["number"] + 1


main()
