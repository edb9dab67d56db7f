
import random, sys
class Order:
    def __init__(self):
        self.total, self.noise = 0, random.random()
    def add(self, count):
        noise = self.noise
        self.total += count * 10
        return self.total
def main():
    order = Order()
    for i in range(4):
        order.add(i)
        print("round", i, order.total, flush=True)
    if order.total > 1000:
        raise ValueError(order.total)
    print("done")
    return 3
sys.exit(main())
