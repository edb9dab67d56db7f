"""Translates what other debuggers do with frames and registers: `frame variable -f x n`."""

from __future__ import annotations

import re
from typing import Final

from debugger.cli.translation.argument_order import Correction

Words = tuple[str, ...]
Result = Words | Correction
_VALUED_VARIABLE_FLAGS: Final = frozenset(
    {"-f", "--format", "-d", "--dynamic-type", "-D", "--depth", "-P", "--ptr-depth", "-Y", "-Z"}
)


def translate_frame(rest: Words) -> Result | None:
    """Translate LLDB's `frame variable -f x NAME`, and gdb's `frame function NAME`."""
    if rest[:1] == ("variable",) and len(rest) > 1 and rest[1].startswith("-"):
        return _frame_variables(rest[1:])
    if rest[:1] == ("select",) and rest[1:2] in (("--relative",), ("-r",)) and rest[2:]:
        return _move_frame(rest[2])
    if rest[:1] in (("function",), ("level",)) and len(rest) > 1:
        is_level = rest[0] == "level"
        return ("frame", rest[1]) if is_level else Correction("which frame?", (("backtrace",),))
    return None


def _frame_variables(words: Words) -> Result:
    """Translate LLDB's `frame variable`: its names, and of its options the format."""
    form: Words = ()
    types = ("--type",) if {"-T", "--show-types"} & {*words} else ()
    names: list[str] = []
    remaining = list(words)
    while remaining:
        word = remaining.pop(0)
        flag, is_joined, value = word.partition("=")
        if flag in _VALUED_VARIABLE_FLAGS:
            value = value if is_joined else remaining.pop(0) if remaining else ""
            form = ("--format", value) if flag in {"-f", "--format"} else form
        elif not word.startswith("-"):
            names.append(word)
    if not names:
        everything = ("--all",) if {"-g", "--show-globals"} & {*words} else ()
        return Correction("locals shows the variables", (("locals", *everything),))
    each = tuple(("print", *form, *types, one) for one in names)
    return Correction("a variable is printed", each)


def _move_frame(steps: str) -> Result | None:
    """Translate LLDB's `frame select --relative -1`: towards the callee."""
    if not re.fullmatch(r"[-+]?[1-9]\d*", steps):
        return None
    count = abs(int(steps))
    return ("down" if int(steps) < 0 else "up", *([str(count)] if count > 1 else []))


def write_register(rest: Words) -> Result | None:
    """Translate LLDB's `register write rax 1`."""
    if rest[:1] == ("write",) and len(rest) > len(("write", "rax")):
        return ("set", f"${rest[1].lstrip('$')}", *rest[2:])
    return None
