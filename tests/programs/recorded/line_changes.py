class Item:
    def __lt__(self, other):
        self.compared = True
        return False
def outer(n):
    item, total = Item(), 1000
    total += 1; total += 1
    def bind(): nonlocal n; n = 7; return False
    if item < n:
        pass
    if n == total or bind():
        pass
    row = [n]
    del total
    other = row
    return other
outer(3)
