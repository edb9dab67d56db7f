"""What the skill debugs: sums squares."""


def square(n):
    return n * n


def total(numbers):
    result = 0
    for n in numbers:
        # Each adds its square.
        result += square(n)
    return result


print(total([1, 2, 3]))
