"""Decides what is recorded of a run that is compared with another one, line by line.

A line of Python takes less time than its record does. So each function has a number of calls whose
lines are recorded, fewer the more is recorded already, and further calls are only counted. After a
line only the values of the variables that its statement names are written. All of that depends on
what ran before and on nothing else, so that two runs are alike until they differ.
"""

from __future__ import annotations

from opcode import opname

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

    # The variables that each line's statement names, and whether it may change objects.
    LineNames = dict[int, tuple[tuple[str, ...], bool]]

# The records up to which so many calls of a function are followed; a first call always is. One
# record more may be made for so many calls that were only counted: the program takes its time.
_TIERS = ((4_000, 200), (8_000, 50), (14_000, 10), (20_000, 3))
COUNTED = 256
COUNTED_LOOKS = 50  # of functions that reach their end, one in so many adds the calls up
_WIDE = 0x10  # of the argument of an instruction with two names
_KNOWN_MAX = 10_000  # functions whose lines are known
_SIZED_MAX = 60  # variables whose length is looked at
_LINES_MAX = 60  # lines of a statement
_OPTIMIZED = 0x1
_SIZED = frozenset(map(id, (list, dict, set)))
# Types whose values always have the same text.
_FIXED = frozenset(
    map(id, (int, float, complex, bool, str, bytes, type(None), type, type(len)))
) | {id(type(lambda: None))}
# By operation: how many names it has, and whether it binds them.
_LOCALS: dict[int, tuple[int, bool]] = {}
_NAMES: dict[int, bool] = {}
for _op, _name in enumerate(opname):
    _is_store = _name.startswith(("STORE", "DELETE"))
    if "_FAST" in _name or _name.endswith(("_DEREF", "_CLASSDEREF", "_CLOSURE")):
        _LOCALS[_op] = (max(_name.count("_FAST"), 1), _is_store)
    elif _name.endswith("_NAME") and not _name.startswith("IMPORT"):
        _NAMES[_op] = _is_store
_EXTENDED = opname.index("EXTENDED_ARG")
# By the identity of code, which is kept alive: a program can make code that cannot be hashed.
_known: dict[int, tuple[CodeType, LineNames]] = {}


def is_followed(calls: int, records: int, each: int) -> bool:
    """Return whether the lines of a function's next call are recorded, after some calls of it.

    Args:
        calls: The calls of it that are recorded.
        records: Those made, without those that counted calls allow.
        each: The most calls of any function.
    """
    if not calls:
        return True
    return calls < each and any(records < most and calls < limit for most, limit in _TIERS)


def has_line_names(code: CodeType) -> bool:
    """Return whether the statement of each instruction is known (CPython 3.11 and later)."""
    return hasattr(code, "co_positions")


def line_names(code: CodeType, changing: frozenset[int]) -> LineNames:
    """Return what each line names; `changing` are the operations that may change objects."""
    known = _known.get(id(code))
    if known is None:
        if len(_known) >= _KNOWN_MAX:
            _known.clear()
        known = _known[id(code)] = (code, _find_names(code, changing))
    return known[1]


def _find_names(code: CodeType, changing: frozenset[int]) -> LineNames:
    variables = code.co_varnames
    inner = tuple(one for one in code.co_cellvars if one not in variables)
    slots = (*variables, *inner, *code.co_freevars)
    cells = frozenset((*code.co_cellvars, *code.co_freevars)) - {"__class__"}
    text = code.co_code
    stored: dict[int, set[str]] = {}
    loaded: dict[int, set[str]] = {}
    ends: dict[int, int] = {}  # of lines that may change objects: where their statements end
    wide = 0
    for op, arg, place in zip(text[::2], text[1::2], code.co_positions(), strict=False):
        line, end = place[0], place[1]
        if op == _EXTENDED:
            wide = (wide | arg) << 8
            continue
        number, wide = wide | arg, 0
        if line is None:
            continue
        if op in changing:
            ends[line] = max(ends.get(line, line), end or line)
        names: tuple[str, ...] = ()
        if op in _LOCALS:
            count, is_store = _LOCALS[op]
            numbers = (number,) if count == 1 else (number // _WIDE, number % _WIDE)
            names = tuple(slots[one] for one in numbers if one < len(slots))
        elif op in _NAMES:
            is_store = _NAMES[op]
            names = (code.co_names[number],)
        if names:
            (stored if is_store else loaded).setdefault(line, set()).update(names)
    found: LineNames = {}
    for line in {*stored, *loaded, *ends}:
        bound = stored.get(line, set())
        if line not in ends:
            found[line] = (_in_order(slots, bound), False)
            continue
        spanned = range(line, min(ends[line], line + _LINES_MAX) + 1)
        named = bound.union(cells, *(loaded.get(one, ()) for one in spanned))
        found[line] = (_in_order(slots, named), True)
    return found


def _in_order(slots: tuple[str, ...], names: set[str]) -> tuple[str, ...]:
    """Return names in the order of a function's variables."""
    return (*(one for one in slots if one in names), *sorted(names.difference(slots)))


def changed_names(spot: Any, frame: FrameType, names: LineNames, parts: Any, write: Any) -> Any:
    """Return the variables with new texts after the last line of a call."""
    named, may_change = names.get(spot.line, ((), False))
    if not named and not may_change:
        return []
    code = spot.code
    is_function = bool(code.co_flags & _OPTIMIZED)
    values = parts.variables(code, frame) if is_function else frame.f_locals
    changed: list[list[Any]] = []
    for name in named:
        if name in values:
            _add_changed(spot, name, values[name], write, changed)
        elif name in spot.last:
            del spot.last[name]
            spot.fixed.pop(name, None)
            changed.append([name, None])
    if may_change and is_function:
        sizes = spot.sizes
        for name, one in list(values.items())[:_SIZED_MAX]:
            # What another name of a container was used for shows in its length.
            if id(type(one)) in _SIZED and sizes.get(name) != len(one):
                sizes[name] = len(one)
                if name not in named:
                    _add_changed(spot, name, one, write, changed)
    return changed


def _add_changed(spot: Any, name: str, value: Any, write: Any, changed: list[list[Any]]) -> None:
    if id(type(value)) in _FIXED or write.has_fixed_text(type(value)):
        if spot.fixed.get(name, spot) is value:
            return
        spot.fixed[name] = value
    else:
        spot.fixed.pop(name, None)
    text = write(value)
    if spot.last.get(name) != text:
        spot.last[name] = text
        changed.append([name, text])
