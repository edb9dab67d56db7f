import sys


class Box:
    def __init__(self):
        self.n = 0
        self.total = 0


def add(b, v):
    b.total += v
    b.n += 1


def twice(b, v):
    add(b, v)
    add(b, v)


def mark(i):
    return i


def main():
    step = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    b = Box()
    for i in range(6):
        if i % 2:
            twice(b, i * step)
        else:
            add(b, i * step)
        if i == 3:
            mark(i)
    print(b.n, b.total)


main()
