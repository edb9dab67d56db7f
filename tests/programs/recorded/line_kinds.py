"""Lines that begin in all ways: loops, branches, handlers, generators, matches."""

from contextlib import suppress
def walk(rows):
    total = 0
    for row in rows: total += row if row % 2 else 1
    while total > 40: total -= 7
    while (
        total > 30
        and rows
    ):
        total -= 1
    for row in rows:
        if row == 1:
            continue
        elif row > 3: break
        total += row
    else:
        total = -1
    return total
def guard(row):
    try:
        with suppress(KeyError):
            if row > 2: raise KeyError(row)
        return 10 // row
    except ZeroDivisionError as error: return str(error)
    finally:
        row = [each
               for each in range(row)
               if each]
def items(count):
    for number in range(count):
        given = yield number
        if given: yield given
    return (yield from range(2))
def close(text, seen):
    try:
        return int(text)
    finally:
        seen[text] = len(text)
def convert(texts):
    seen, failed = {}, 0
    for text in texts:
        try: close(text, seen)
        except ValueError: failed += 1
    return seen, failed
class Box:
    size = 1
    def fill(self, *, by=2):
        match by:
            case 2: self.size = by; self.size += 1
            case _:
                self.size = lambda: (by,
                                     by)
        return self
async def wait(count):
    async def one(): return count
    return await one() + await one()
def run(coroutine):
    try: coroutine.send(None)
    except StopIteration as end: return end.value
found = [walk([1, 2, 3, 4]), walk([]), walk([9] * 9), walk([1] * 60)]
found += [guard(row) for row in (0, 1, 4)]
walker = items(3); next(walker); walker.send(5)
found += list(walker) + [Box().fill().size, Box().fill(by=1).size()]
found.append(run(wait(3)))
found.append(convert(["1", "x", "2", ""]))
