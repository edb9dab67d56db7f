def leaf(n):
    half = n // 3
    return half


def low(n):
    return leaf(n)


def high(n):
    return leaf(n + 10)


def main():
    total = 0
    for n in range(12):
        total += low(n)
        if n == 4:
            mark = 1
        if n % 2:
            total += high(n)
    print(total)


main()
