"""Random Python programs that end soon: for comparisons of what two recorders see of them."""

from __future__ import annotations

import random
import textwrap
from collections.abc import Callable

PRELUDE = """
class Stop(Exception):
    pass
fuel = [300]
def tick():
    fuel[0] -= 1
    if fuel[0] < 0:
        raise Stop
class Held:
    def __init__(self, is_kept):
        self.is_kept = is_kept
    def __enter__(self):
        return 3
    def __exit__(self, kind, error, trace):
        return self.is_kept
    async def __aenter__(self):
        return await Later(1)
    async def __aexit__(self, kind, error, trace):
        await Later(2)
        return self.is_kept
class Later:
    def __init__(self, value):
        self.value = value
    def __await__(self):
        yield self.value
        return self.value
class Each:
    def __init__(self):
        self.left = 2
    def __aiter__(self):
        return self
    async def __anext__(self):
        self.left -= 1
        if self.left < 0:
            raise StopAsyncIteration
        return await Later(self.left)
def same(function):
    return function
def drain(one):
    found = []
    for _ in range(4):
        try:
            found.append(one.send(None))
        except StopIteration as end:
            return found, end.value
    try:
        one.throw(KeyError(1))
    except (KeyError, StopIteration):
        pass
    one.close()
    return found
"""


class ProgramWriter:
    """Writes one program; the same seed gives the same one."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._functions = 0
        self._kinds: dict[str, str] = {}  # of functions that can be called: plain, yields, awaits

    def write(self) -> str:
        """Return a module of a few functions, and of what calls them."""
        parts = [PRELUDE]
        for _ in range(self._random.randint(1, 4)):
            parts.append(self._function(3))
        block = textwrap.indent(self._block(2, "module", in_loop=False), "    ")
        parts.append(f"x, y = 1, 2\ntry:\n{block}\nexcept Exception as error:\n    print(error)")
        parts += [self._call(name) for name in self._kinds]
        return "\n".join(parts)

    def _call(self, name: str) -> str:
        kind = self._kinds[name]
        text = f"{name}({self._expression()})" if kind == "plain" else f"drain({name}(2))"
        return f"try:\n    print({text})\nexcept Exception as error:\n    print(type(error))"

    def _function(self, depth: int) -> str:
        self._functions += 1
        name, kind = (
            f"f{self._functions}",
            self._random.choice(("plain", "plain", "yields", "awaits")),
        )
        head = f"{'async ' if kind == 'awaits' else ''}def {name}(x, y=5, *rest, z=1):"
        body = "tick()\n" + self._block(depth, kind, in_loop=False)
        if kind == "yields":
            body += "\nyield x"
        if self._random.random() < 0.2:
            head = "@same\n" + head
        text = head + "\n" + textwrap.indent(body, "    ")
        self._kinds[name] = kind
        return text

    def _block(self, depth: int, kind: str, *, in_loop: bool) -> str:
        count = self._random.randint(1, 3)
        return "\n".join(self._statement(depth, kind, in_loop=in_loop) for _ in range(count))

    def _statement(self, depth: int, kind: str, *, in_loop: bool) -> str:
        simple: list[Callable[[], str]] = [
            lambda: f"x = {self._expression()}",
            lambda: f"y += {self._expression()}",
            lambda: f"x = (\n    {self._expression()} +\n    {self._expression()}\n)",
            lambda: f"y = [one + y for one in range(2) if one != {self._expression()}]; y = len(y)",
            lambda: f"x = (lambda one:\n    one + 1)({self._expression()})",
            lambda: f"assert {self._condition()}",
            lambda: (
                f"z = {self._condition()} and (\n    {self._condition()} or {self._condition()})"
            ),
            lambda: "raise KeyError(x)",
            lambda: f"x = {self._expression()} // (x - y)",
            lambda: "exec('x = 1')",
            lambda: (
                f"class Local:\n    one = {self._expression()}\n    def get(self):\n        return self.one\nx = Local().get()"
            ),
        ]
        if in_loop:
            simple += [lambda: "continue", lambda: "break"]
        if kind == "yields":
            simple += [
                lambda: "x = yield y",
                lambda: "yield (\n    x)",
                lambda: "yield from [x, y]",
            ]
        if kind == "awaits":
            simple += [lambda: "x = await Later(x)", lambda: "y = await Later(y) + await Later(1)"]
        plain = [name for name, one in self._kinds.items() if one == "plain"]
        if plain:
            simple.append(lambda: f"x = {self._random.choice(plain)}({self._expression()})")
        if depth <= 0 or self._random.random() < 0.4:
            return self._random.choice(simple)()
        return self._compound(depth - 1, kind, in_loop=in_loop)

    def _compound(self, depth: int, kind: str, *, in_loop: bool) -> str:
        def block(*, loop: bool = in_loop) -> str:
            return textwrap.indent(self._block(depth, kind, in_loop=loop), "    ")

        ways: list[Callable[[], str]] = [
            lambda: (
                f"if {self._condition()}:\n{block()}\nelif {self._condition()}:\n{block()}\nelse:\n{block()}"
            ),
            lambda: f"for n in range(3):\n{block(loop=True)}\nelse:\n{block()}",
            lambda: f"while {self._condition()}:\n    tick()\n{block(loop=True)}",
            lambda: (
                f"try:\n{block()}\nexcept (KeyError, AssertionError) as error:\n{block()}\nelse:\n{block()}"
            ),
            lambda: f"try:\n{block()}\nfinally:\n{block()}",
            lambda: f"try:\n{block()}\nexcept* KeyError:\n    x = 4",
            lambda: (
                f"try:\n{block()}\nexcept ArithmeticError:\n    raise\nexcept LookupError:\n{block()}\nfinally:\n    y = 2"
            ),
            lambda: f"with Held({self._condition()}) as x, Held(False):\n{block()}",
            lambda: (
                f"match [x, y]:\n    case [1, one]:\n{textwrap.indent(block(), '    ')}\n    case [_, 2 | 3]:\n{textwrap.indent(block(), '    ')}\n    case _:\n        y = 1"
            ),
            lambda: self._function(depth),
        ]
        if kind != "module":
            ways.append(
                lambda: f"if {self._condition()}:\n    return {'' if kind == 'yields' else 'x'}"
            )
        if kind == "awaits":
            ways += [
                lambda: f"async with Held({self._condition()}) as x:\n{block()}",
                lambda: f"async for x in Each():\n{block(loop=True)}",
            ]
        return self._random.choice(ways)()

    def _expression(self) -> str:
        return self._random.choice(("x", "y", "1", "2", "x + 1", "y - x", "x * 2", "-y"))

    def _condition(self) -> str:
        return self._random.choice(("x > y", "x", "y % 2 == 0", "not x", "x == 2", "x < 3 < y"))
