"""Tells what a line of a function may change, by its bytecode (CPython 3.10 and later).

A value is written as text after each line. Most of that is needless: where a line binds some names
and neither calls nor stores anything else, only those names can have other values.
"""

from __future__ import annotations

from opcode import opmap, opname

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

    # The names that each line may bind or delete; None for a line that may change any value.
    LineEffects = dict[int, frozenset[str] | None]

# Instructions that may change an object, in 3.10 to 3.13. What an operator or an attribute of the
# program's own classes changes is seen as a call.
_WRITING = (
    "STORE_ATTR", "STORE_SUBSCR", "STORE_SLICE", "DELETE_ATTR", "DELETE_SUBSCR", "CALL", "PRECALL",
    "INPLACE_", "BINARY_OP", "BINARY_SUBSCR", "SEND", "YIELD", "FOR_ITER", "GET_", "BEFORE_",
    "WITH_", "LIST_", "MAP_", "SET_", "DICT_", "UNPACK_", "IMPORT_", "CONTAINS_", "EXTENDED_ARG",
)  # fmt: skip
_LOCALS = frozenset(opmap.get(name, -1) for name in ("STORE_FAST", "DELETE_FAST"))
_CELLS = frozenset(opmap.get(name, -1) for name in ("STORE_DEREF", "DELETE_DEREF"))
_NAMES = frozenset(opmap.get(name, -1) for name in ("STORE_NAME", "DELETE_NAME"))
# Of two names, as 3.13 has them, and of a comprehension within its function.
_OTHERS = ("STORE_FAST_", "LOAD_FAST_AND_CLEAR")
_WIDE = 2  # bytes of an instruction
_KNOWN_MAX = 10_000  # functions whose lines are known
_VARIABLES = 60  # of a call whose lines are recorded
# Types whose values cannot change, and hold no other object of the program.
_FIXED = frozenset(map(id, (int, float, complex, bool, str, bytes, type(None))))
_WHOLE = frozenset(op for op, name in enumerate(opname) if name.startswith(_WRITING + _OTHERS))
# Instructions after which an object may be another than before.
CHANGING = frozenset(
    op for op, name in enumerate(opname) if name.startswith(_WRITING) and name != "EXTENDED_ARG"
)
# By the identity of code, which is kept alive: a program can make code that cannot be hashed.
_known: dict[int, tuple[CodeType, LineEffects]] = {}


def line_effects(code: CodeType) -> LineEffects:
    """Return the effects of a function's lines; a line that is not among them may change all."""
    known = _known.get(id(code))
    if known is None:
        if len(_known) >= _KNOWN_MAX:
            _known.clear()
        known = _known[id(code)] = (code, _find_effects(code))
    return known[1]


def _find_effects(code: CodeType) -> LineEffects:
    if not hasattr(code, "co_lines"):
        return {}
    text, cells = code.co_code, frozenset((*code.co_cellvars, *code.co_freevars))
    found: LineEffects = {}
    for start, end, line in code.co_lines():
        if line is None:
            continue
        names = found.get(line, frozenset())
        for at in range(start, end, _WIDE):
            op, arg = text[at], text[at + 1]
            if op in _WHOLE or names is None:
                names = None
            elif op in _LOCALS:
                names |= {code.co_varnames[arg]} if arg < len(code.co_varnames) else cells
            elif op in _CELLS:
                names |= cells
            elif op in _NAMES:
                names |= {code.co_names[arg]}
        found[line] = names
    return found


def changed_variables(
    spot: Any,
    frame: FrameType,
    read: Callable[[CodeType, FrameType], dict[str, Any]],
    write: Callable[[Any], str],
    *,
    may_differ: bool,
) -> list[list[Any]]:
    """Return the variables of a call that differ from what was returned of them last.

    With `may_differ` any of them can have changed, since other calls began.
    """
    bound = None if may_differ else line_effects(spot.code).get(spot.line)
    if bound is not None and not bound:
        return []
    values = read(spot.code, frame)
    changed: list[list[Any]] = []
    for name, one in list(values.items())[:_VARIABLES]:
        if bound is None or name in bound or name not in spot.last:
            changed += _changed_text(spot, name, one, write)
    for name in [one for one in spot.last if one not in values]:
        del spot.last[name]
        spot.fixed.pop(name, None)
        changed.append([name, None])
    return changed


def _changed_text(spot: Any, name: str, value: Any, write: Callable[[Any], str]) -> list[list[Any]]:
    """Return a variable with its text, if that differs from the last one."""
    if id(type(value)) in _FIXED:
        if spot.fixed.get(name, spot) is value:
            return []
        spot.fixed[name] = value
    else:
        spot.fixed.pop(name, None)
    text = write(value)
    if spot.last.get(name) == text:
        return []
    spot.last[name] = text
    return [[name, text]]
