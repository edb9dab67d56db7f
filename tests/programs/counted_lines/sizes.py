import sys


def score(x):
    return x % 7


def fold(x):
    return score(x) + score(x + 1)


def odd(x):
    return x * 2


def leaf(x):
    return x


def total(items, limit):
    all = 0
    for i in items:
        all += fold(i) + leaf(leaf(i))
        if i > limit:
            all += odd(i)
    return all


n = int(sys.argv[1])
print(total(range(n), 90))
sys.exit(n > 150)
