"""Sums products: the program that tests go back in."""


def work(i, k):
    total = i * k
    return total


sum = 0
for i in range(12):
    sum += work(i, 3)
print(sum)
