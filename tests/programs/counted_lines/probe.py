import sys, time, threading
NAMES = ["a, b", 'q"t\n|x', "{br}"]
class Box:
    def __init__(self, size):
        self.size = size
    def worth(self, at, name):
        result = at * 3 + (name[0] == "q")
        if at > 1000:
            result = -1
        return result
def unused(at):
    return at * 2
def run(count):
    box, total = Box(4), 0
    for at in range(count):
        total += box.worth(at, NAMES[at % 3])
    return total
def main(count, what=""):
    total = run(int(count))
    if what == "threads":
        made = [threading.Thread(target=run, args=(3,), name=f"w{n}") for n in range(2)]
        [one.start() for one in made], [one.join() for one in made]
    while what == "stays":
        time.sleep(0.1)
    if what == "reads":
        print("read", input())
    print("total", total)
    sys.exit(3)
main(*sys.argv[1:])
