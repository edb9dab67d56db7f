stack = []


def counter(start):
    def add(count):
        nonlocal start
        start += count
        return start

    return add


def push(value):
    stack.append(value)


def main():
    add = counter(5)
    add(3)
    total = add(4)
    push(total)
    last = stack.pop()
    print(last)


main()
