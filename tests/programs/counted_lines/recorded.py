
import os, sys, threading, time
def price(kind):
    if kind == "free":
        return 0
    return len(kind)
def order(kinds):
    total = 0
    for kind in kinds:
        total += price(kind)
    return total
def fail(kinds):
    try:
        raise ValueError("no " + kinds[0])
    finally:
        order(kinds)
def spin():
    while True:
        price("x")
def forked(kinds):
    if os.fork() == 0:
        order(kinds); os._exit(0)
    os.wait()
def loud():
    for n in range(20000):
        print("line", n)
def main(what, *kinds):
    known = {"order": order, "fail": fail, "forked": forked}
    if what in known: return known[what](kinds)
    if what == "spin": spin()
    if what == "loud": loud()
    if what == "reads": order([sys.stdin.read().strip()])
    if what == "many":
        for n in range(3000): order(["a", "b"])
    if what == "thread":
        thread = threading.Thread(target=order, args=(kinds,)); thread.start(); thread.join()
    if what == "moves": os.chdir("/"); order(kinds)
    if what == "killed": order(kinds); os.kill(os.getpid(), 9)
main(*sys.argv[1:])
