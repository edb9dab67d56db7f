import sys


class Opt:
    def __init__(self, order):
        self.order = order


def parse(args):
    out = []
    for a in args:
        out.append(Opt(a if a != "x" else None))
    return out


def check(o, n):
    if o.order is None:
        raise ValueError("no order %d" % n)
    return len(o.order)


def run(args):
    total = 0
    for n, o in enumerate(parse(args)):
        total += check(o, n)
    return total


print(run(sys.argv[1:]))
