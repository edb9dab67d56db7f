def shared(n):
    return [part(one) for one in range(n)]
def part(n):
    return n if n else (
        n - 1)
def raising(n):
    raise ValueError(
        f"no {n}")
