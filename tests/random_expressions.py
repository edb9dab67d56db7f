"""Random arithmetic that means the same in C and in our language."""

from __future__ import annotations

import random
from collections.abc import Callable

from debugger.backends.inprocess.expressions.nodes import BASIC
from debugger.backends.inprocess.expressions.operands import Operand
from debugger.backends.inprocess.expressions.resolution import resolve_expression
from debugger.errors import DebuggerError
from expression_runner import ExpressionMemory, pack_numbers

# Each variable with its type in C, its form in memory, and a value at an edge.
VARIABLES: list[tuple[str, str, str, float]] = [
    ("sc", "signed char", "b", -128),
    ("uc", "unsigned char", "B", 255),
    ("ss", "short", "h", -32768),
    ("us", "unsigned short", "H", 65535),
    ("i", "int", "i", -7),
    ("imin", "int", "i", -(2**31)),
    ("imax", "int", "i", 2**31 - 1),
    ("u", "unsigned int", "I", 2**32 - 1),
    ("l", "long", "q", -(2**40) - 3),
    ("lmin", "long", "q", -(2**63)),
    ("lbig", "long", "q", 2**62 + 12345),
    ("odd", "unsigned long", "Q", 2**63 + 2**39 + 1),
    ("ul", "unsigned long", "Q", 2**64 - 1),
    ("one", "long", "q", 1),
    ("zero", "int", "i", 0),
    ("f", "float", "f", 1.25),
    ("fbig", "float", "f", 3e30),
    ("d", "double", "d", -2.75),
    ("dbig", "double", "d", 1e19),
    ("b", "_Bool", "?", 1),
]
_LITERALS = ["0", "1", "3", "31", "33", "255", "0x80000000", "2147483648", "5u", "7l", "9ul",
             "0xffffffffffffffff", "('a' + 0)", "1.5", "0.1f", "1e300", "63"]  # fmt: skip
_CASTS = ["char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "long",
          "unsigned long", "float", "double", "_Bool"]  # fmt: skip
_WHOLE = ["%", "&", "|", "^", "<<", ">>"]
_ANY = ["+", "-", "*", "/", "==", "!=", "<", "<=", ">", ">=", "&&", "||"]


def write_expression(chance: random.Random, depth: int) -> str:
    """Write a random expression that means the same in C, all in brackets."""
    if depth == 0 or chance.random() < 0.15:
        names = [name for name, *_ in VARIABLES]
        return chance.choice(names if chance.random() < 0.7 else _LITERALS)
    way = chance.random()
    inner = write_expression(chance, depth - 1)
    if way < 0.15:
        return f"({chance.choice('-~!+')}({inner}))"
    if way < 0.35:
        return f"(({chance.choice(_CASTS)})({inner}))"
    other = write_expression(chance, depth - 1)
    if way < 0.42:
        return f"(({write_expression(chance, 1)}) ? ({inner}) : ({other}))"
    return f"(({inner}) {chance.choice(_ANY if way < 0.75 else _WHOLE)} ({other}))"


def sample_memory() -> ExpressionMemory:
    made = ExpressionMemory()
    for name, kind, form, value in VARIABLES:
        # Half of them as if their address could be wrong, which is another way to read in C.
        made.variable(name, BASIC[kind], pack_numbers(form, value), is_sure=len(name) % 2 == 0)
    return made


def check_expressions(texts: list[str], held: ExpressionMemory) -> list[tuple[str, Operand]]:
    """Check texts; those that have no meaning (`1.5 % 2`) are left out."""
    found = []
    for text in texts:
        try:
            found.append((text, resolve_expression(text, held.scope())))
        except DebuggerError as error:
            assert "cannot" in error.message or "no meaning" in error.message, (text, error)
    return found


def evaluate_outcome(of: Callable[[], float]) -> float | None:
    try:
        return of()
    except DebuggerError:
        return None
