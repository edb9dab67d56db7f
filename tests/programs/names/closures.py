import threading


def scale(rows):
    basis = 100
    unused = 3
    doubled = [
        row * 2
        for row in rows
    ]
    return [row + basis for row in doubled if unused]


def keep():
    secret = 5
    kept = 6

    def inner(value):
        return value + kept

    return inner


def work():
    shared = 4

    def run():
        return None

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


def order(rows):
    sign = -1
    return sorted(rows, key=lambda row: -row)


first, second = keep(), keep()
scale([1, 2])
first(3)
work()
order([1, 2])
