
import sys, threading
class Order:
    customer = None
    items = [1, 2]
def city(order):
    return order.customer.address
def run(what):
    order, at, zero = Order(), 7, 0
    settings = {"server": {"host": "here"}}
    if what == "none": return city(order)
    if what == "key": return settings["server"]["port"]
    if what == "index": return order.items[at]
    if what == "zero": return at / (zero * 2)
    if what == "assert": assert at == zero, "they differ"
    if what == "deep": return run(what)
    if what == "native": import ctypes; ctypes.string_at(0)
    if what == "thread":
        thread = threading.Thread(target=run, args=("index",)); thread.start(); thread.join()
    if what == "exits": sys.exit(4)
    if what == "reads": input()
    if what == "replaced":
        try: return settings[what]
        except KeyError: raise LookupError("no such part")
run(sys.argv[1])
