
def average(total, n=1):
    return total / n
def moved(total):
    total += 1
    return total
class Box:
    def put(self, item, *rest):
        return item
def main():
    for i in range(1, 4):
        average(10 + i,
            n=i)
    average(7)
    moved(5)
    Box().put("a", 1)
    list(map(average, [1]))
main()
