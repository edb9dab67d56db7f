"""Random Python programs that end soon: for comparisons of what two recorders see of them."""

from __future__ import annotations

import random
import re
import textwrap
from pathlib import Path

PRELUDE = (Path(__file__).parent / "programs" / "recorded" / "random_prelude.py").read_text()
_EXPRESSIONS = ("x", "y", "1", "2", "x + 1", "y - x", "x * 2", "-y")
_CONDITIONS = ("x > y", "x", "y % 2 == 0", "not x", "x == 2", "x < 3 < y")
_KINDS = ("plain", "plain", "yields", "awaits")
_SIMPLE = (
    "x = $value",
    "y += $value",
    "x = (\n    $value +\n    $value\n)",
    "y = [one + y for one in range(2) if one != $value]; y = len(y)",
    "x = (lambda one:\n    one + 1)($value)",
    "assert $test",
    "z = $test and (\n    $test or $test)",
    "raise KeyError(x)",
    "x = $value // (x - y)",
    "exec('x = 1')",
    "class Own:\n    one = $value\n    def get(self):\n        return self.one\nx = Own().get()",
)
_COMPOUND = (
    "if $test:\n    $block\nelif $test:\n    $block\nelse:\n    $block",
    "for n in range(3):\n    $loop\nelse:\n    $block",
    "while $test:\n    tick()\n    $loop",
    "try:\n    $block\nexcept (KeyError, AssertionError) as error:\n    $block\nelse:\n    $block",
    "try:\n    $block\nfinally:\n    $block",
    "try:\n    $block\nexcept* KeyError:\n    x = 4",
    "try:\n    $block\nexcept KeyError:\n    raise\nexcept:\n    $block\nfinally:\n    y = 2",
    "with Held($test) as x, Held(False):\n    $block",
    "match [x, y]:\n    case [1, one]:\n        $block\n    case [_, 2 | 3]:\n        $block",
    "$function",
)
_OF_KIND = {
    "module": (),
    "plain": ("if $test:\n    return $value",),
    "yields": (
        "x = yield y",
        "yield (\n    x)",
        "yield from [x, y]",
        "if $test:\n    return",
    ),
    "awaits": (
        "x = await Later(x)",
        "y = await Later(y) + await Later(1)",
        "async with Held($test) as x:\n    $block",
        "async for x in Each():\n    $loop",
        "if $test:\n    return x",
    ),
}


class ProgramWriter:
    """Writes one program; the same seed gives the same one."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._functions: dict[str, str] = {}  # by name: plain, yields or awaits

    def write(self) -> str:
        """Return a module of a few functions, and of what calls them."""
        functions = [self._function(3) for _ in range(self._random.randint(1, 4))]
        block = textwrap.indent(self._block(2, "module"), "    ")
        calls = [f"drain({name}(2))" for name, kind in self._functions.items() if kind != "plain"]
        calls += [f"{name}(3)" for name, kind in self._functions.items() if kind == "plain"]
        return "\n".join(
            [
                PRELUDE,
                *functions,
                f"x, y = 1, 2\ntry:\n{block}\nexcept Exception as error:\n    print(error)",
                *(
                    f"try:\n    print({call})\nexcept Exception as error:\n    print(type(error))"
                    for call in calls
                ),
            ]
        )

    def _function(self, depth: int) -> str:
        name, kind = f"f{len(self._functions) + 1}", self._random.choice(_KINDS)
        self._functions[name] = ""
        lines = [
            "@same" if self._random.random() < 0.2 else "",
            f"{'async ' if kind == 'awaits' else ''}def {name}(x, y=5, *rest, z=1):",
            "    tick()",
            textwrap.indent(self._block(depth, kind), "    "),
            "    yield x" if kind == "yields" else "",
        ]
        self._functions[name] = kind
        return "\n".join(filter(None, lines))

    def _block(self, depth: int, kind: str, *, in_loop: bool = False) -> str:
        count = self._random.randint(1, 3)
        return "\n".join(self._statement(depth, kind, in_loop=in_loop) for _ in range(count))

    def _statement(self, depth: int, kind: str, *, in_loop: bool) -> str:
        ways = [*_SIMPLE, *_OF_KIND[kind], *(("continue", "break") if in_loop else ())]
        plain = [name for name, known in self._functions.items() if known == "plain"]
        if plain:
            ways.append(f"x = {self._random.choice(plain)}($value)")
        if depth > 0 and self._random.random() < 0.6:
            ways = [one for one in (*_COMPOUND, *_OF_KIND[kind]) if "\n" in one or "$f" in one]
        else:
            ways = [one for one in ways if "$block" not in one and "$loop" not in one]
        text = self._random.choice(ways)

        def fill(found: re.Match[str]) -> str:
            indent, what = found[1], found[2]
            if what == "value":
                return indent + self._random.choice(_EXPRESSIONS)
            if what == "test":
                return indent + self._random.choice(_CONDITIONS)
            if what == "function":
                return self._function(depth - 1)
            is_loop = in_loop or what == "loop"
            return textwrap.indent(self._block(depth - 1, kind, in_loop=is_loop), indent)

        return re.sub(r"( *)\$(\w+)", fill, text)
