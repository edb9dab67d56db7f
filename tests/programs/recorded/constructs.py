"""One of each construct whose events are easily lost."""
import asyncio
import contextlib
import functools
import inspect
import pickle
import traceback
from os.path import *
from constructs_help import shared, raising
def numbers(n):
    for i in range(n):
        got = yield i
        if got:
            yield got
    return "end"
def outer(n):
    result = yield from numbers(n)
    yield result
class Shape:
    sides = 3
    kinds = [side for side in range(sides)]
    def __init__(self, name):
        self.name = name
    @property
    def label(self):
        return f"{self.name}:{self.sides}"
    @classmethod
    def made(cls): return cls("made")
    @staticmethod
    def add(a, *more, **named):
        return a + sum(more) + len(named)
def kind_of(value):
    match value:
        case {"kind": kind}:
            return kind
        case [first, *_] if first > 1:
            return "big"
        case [_, *_]:
            return "small"
        case Shape(name=name):
            return name
    return None
@contextlib.contextmanager
def held(value):
    print("enter", value)
    try:
        yield value
    finally:
        print("leave", value)
def tries(n):
    try:
        if n == 0:
            return 1 / n
        if n == 1:
            raise KeyError(n)
        with held(n) as value, contextlib.suppress(ValueError):
            raising(value)
    except ZeroDivisionError:
        return "zero"
    except KeyError as error:
        raise LookupError("again") from error
    else:
        return "else"
    finally:
        print("finally", n)
@functools.lru_cache
def cached(n):
    return cached(n - 1) + 1 if n else 0
def counted(n):
    total = 0
    while n:
        n -= 1
        if n % 2: continue
        total += (lambda one: one + total)(n)
        if total > 20:
            break
    else:
        total = -1
    return total, [one for one in range(3) if one], {one: one for one in "ab"}
def nested():
    seen = []
    def inner(v):
        nonlocal seen
        seen = [*seen, v]
        return len(seen)
    return [inner(v) for v in "abc"], seen
async def leaf(n):
    await asyncio.sleep(0)
    if n == 2:
        raise RuntimeError("two")
    return n
async def stream(n):
    for i in range(n):
        yield await leaf(i)
async def main():
    async with asyncio.timeout(5):
        print(await asyncio.gather(*(leaf(i) for i in range(4)), return_exceptions=True))
    print([one async for one in stream(2)])
    task = asyncio.create_task(asyncio.sleep(9))
    await asyncio.sleep(0)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
def documented(n):
    """Double it.

    >>> documented(2)
    4
    """
    return n * 2
print(list(outer(2)))
running = outer(5)
print(next(running), running.send(None), running.send("got"))
running.close()
thrown = numbers(3)
next(thrown)
with contextlib.suppress(KeyError):
    thrown.throw(KeyError("in"))
print(Shape.made().label, Shape.add(1, 2, 3, k=4), Shape.kinds)
print([kind_of(one) for one in ({"kind": 1}, [2, 3], [1], Shape("s"), 5)])
for n in range(3):
    try: print(tries(n))
    except LookupError as error: print(repr(error), repr(error.__cause__))
print(cached(5), counted(9), counted(4), nested(), shared(3))
asyncio.run(main())
exec("def made(n):\n    return n + 1\nprint(made(1))")
print(inspect.getsource(documented), documented.__code__.co_firstlineno, documented.__doc__)
print(pickle.loads(pickle.dumps(documented)) is documented, inspect.signature(tries))
import doctest
print(doctest.testmod(), join("a", "b"))
try: raising(1)
except ValueError: print(traceback.format_exc())
raise SystemExit(tries(5) and 3)
