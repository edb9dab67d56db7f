import sys, threading
class Box:
    def __init__(self, text):
        self.text = text
def scan(lines):
    total = 0
    for count, text in enumerate(lines):
        box = Box(text)
        total += len(text)
        if text == "boom":
            raise ValueError(text)
    return total
def unused(n):
    twice = n * 2
    return twice
def main(what=""):
    lines = sys.stdin.read().split()
    if what == "threads":
        made = [threading.Thread(target=scan, args=(lines,)) for _ in range(2)]
        [one.start() for one in made], [one.join() for one in made]
    while what == "spins":
        pass
    for at in range(int(what) if what.isdigit() else 0):
        unused(at)
    print(scan(lines))
main(*sys.argv[1:])
