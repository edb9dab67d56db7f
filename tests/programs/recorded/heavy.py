import sys
def price(item, rate):
    total = 0.0
    for key in ("a", "b", "c", "d"):
        value = item.get(key, 0)
        if value > rate:
            total += value * rate
        else:
            total -= value / (rate + 1)
    return round(total, 2)
def small(a, b):
    return a + b
def cart(n):
    out = []
    for i in range(n):
        out.append(price({"a": i, "b": i % 7, "c": i % 3}, i % 11))
    return sum(out)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
def main(n):
    t = 0
    for i in range(n): t = small(t, i)
    print(round(cart(n // 2)), fib(25), t)
def cpu(n):
    s = 0
    for i in range(n): s += i * i % 7
    return s
if __name__ == "__main__":
    if sys.argv[1] == "calls": main(400000)
    elif sys.argv[1] == "lib":
        import json
        x = {"a": [1, 2, {"b": 3}] * 5}
        for i in range(20000): json.loads(json.dumps(x, indent=1))
    else: print(cpu(6000000))
