import sys
def add(a, b):
    c = a + b
    return c
def fib(n):
    return n if n < 2 else fib(n-1) + fib(n-2)
class Acc:
    def __init__(self, total): self.total = total
    def put(self, n):
        if n < 0:
            raise ValueError("negative")
        self.total += n
        return self.total
def gen(n):
    for i in range(n):
        yield add(i, 1)
def main():
    a = Acc(3)
    for i in range(5):
        a.put(i)
    try:
        a.put(-1)
    except ValueError:
        pass
    print(sum(gen(3)), fib(12))
    return a
main()
