
class Stock:
    def __init__(self, total):
        self.total = total
        self.shelves = {"a": 1}
    def add(self, count):
        self.total += count
    def fill(self, count):
        self.shelves["a"] = count
        self.shelves.update(a=count + 1)
def restore(stock, saved):
    for name, value in saved.items():
        setattr(stock, name, value)
def audit(stock):
    expected = 5
    expected = expected + stock.total
    return expected
def main():
    other, stock = Stock(9), Stock(0)
    for count in range(3):
        stock.add(count + 1)
        other.add(7)
    restore(stock, {"total": 1})
    stock.fill(4)
    audit(stock)
    stock.add(8)
main()
