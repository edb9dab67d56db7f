class Store:
    def __init__(self):
        self.cap = 10
        self.used = 0

    def limit_to(self, cap):
        self.cap = cap

    def accept(self, size):
        self.used += size
        return self.used


def grow(number):
    part = number % 7
    half = part // 2
    return part - half


def choose_cap(rounds):
    found = 3
    for number in range(rounds):
        found = max(found, grow(number))
    return found * 0


def run(store, rounds):
    total = 0
    for number in range(rounds):
        total += grow(number)
    cap = choose_cap(rounds)
    store.limit_to(cap)
    for number in range(rounds):
        total += store.accept(grow(number))
    return total


def main():
    store = Store()
    total = run(store, 9_000)
    last = store.accept(grow(6))
    cap = store.cap
    print(total, last, cap)


main()
