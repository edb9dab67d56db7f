def use(a, taken):
    return taken.value


def outer(given):
    return use(1, given)


def changes(taken):
    taken = None
    return taken.value


def local():
    taken = make(1)
    other = 2
    return taken.value
