from functools import lru_cache


class Term:
    def __init__(self, size):
        self.size = size


def make(*terms):
    node = list(terms)
    return node


@lru_cache
def cached(first, *rest):
    return make(first, *rest)


def join(left, right):
    return make(*(left + right))


def main():
    one, two, three = Term(1), Term(2), Term(3)
    joined = join([one], [two, three])
    last = joined[2].size
    kept = cached(one, two)
    size = kept[1].size
    print(last, size)


main()
