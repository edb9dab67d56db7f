"""Chooses the operand that a function of the interpreter or of a library made its result of."""

from __future__ import annotations

import ast
from itertools import islice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

_SEARCHED = 1_000  # items of a container
# Functions and methods whose result is an item of what they get.
_SELECTING = frozenset(
    {"max", "min", "next", "choice", "get", "pop", "reduce", "mode", "median_low", "median_high"}
)
_SHORT = 2  # characters of a text that another one may hold by chance
_BYTES = frozenset({"bytes", "bytearray", "memoryview", "array"})
_SEQUENCES = frozenset((list, tuple, set, frozenset))
_PLAIN = frozenset({"int", "float", "complex", "bool", "NoneType"})
# What a function is called with, and seldom what it makes its result of.
_NO_DATA = frozenset({"module", "type", "function", "builtin_function_or_method", "slice"})
_MODULE = type(ast)
_BUILDING = frozenset({"join", "format", "format_map"})  # methods of texts that insert others
# By function of `re`: which argument is the text.
_PATTERNS = {
    **dict.fromkeys(("search", "match", "fullmatch", "findall", "finditer", "split"), 1),
    **dict.fromkeys(("sub", "subn"), 2),
}


class ChosenOperand:
    """The operand that a result was made of, and where it is an item of it, that item's link."""

    __slots__ = ("item", "operand")

    def __init__(self, operand: Any, item: Any) -> None:
        self.operand = operand
        self.item = item


def data_argument(node: ast.Call, owner: Any) -> Any:
    """Return the part of a call that is its data by the meaning of the function; None for others.

    Args:
        node: The call.
        owner: The object of the method, or the module of the function.
    """
    if not isinstance(node.func, ast.Attribute):
        return None
    if type(owner) in (str, bytes, bytearray):
        return node.func.value if node.func.attr not in _BUILDING else None
    if getattr(owner, "__name__", "") != "re" or type(owner) is not _MODULE:
        return None
    at = _PATTERNS.get(node.func.attr, len(node.args))
    return node.args[at] if at < len(node.args) else None


def choose_operand(
    call: ast.Call, operands: Sequence[Any], value: Any, *, read: Any, store: Any, links: Any
) -> ChosenOperand | None:
    """Return the one of several operands that a call's result was made of; None if none fits.

    Args:
        call: The call.
        operands: What its receiver and arguments read.
        value: The stored value of the result.
        read: Returns the object of a node.
        store: The links of all objects.
        links: The module of links.
    """
    known = [
        one
        for one in operands
        if one.link is not None and one.link.kind != "definition" and _kind_of(one) not in _NO_DATA
    ]
    if value is not links.MISSING and links.call_name(call) in _SELECTING:
        found = list(_find_holders(known, value, read, store, links))
        if len(found) == 1:
            return found[0]
    if len({id(one.link) for one in known}) < 2:  # noqa: PLR2004 - there is no choice
        return None
    if type(value) in (str, bytes):
        texts = [one for one in known if _holds_text(read(one.node), value)]
        if len(texts) == 1:
            return ChosenOperand(texts[0], None)
    owner = read(call.func.value) if isinstance(call.func, ast.Attribute) else None
    data = data_argument(call, owner)
    within = {id(one) for one in ast.walk(data)} if data is not None else set()
    inner = [one for one in known if id(one.node) in within]
    if len(inner) == 1:
        return ChosenOperand(inner[0], None)
    ranks = [_rank(one) for one in known]
    best = [one for one, rank in zip(known, ranks) if rank == min(ranks)]  # noqa: B905 - 3.8
    return ChosenOperand(best[0], None) if len(best) == 1 else None


def drop_functions(operands: Sequence[Any]) -> tuple[Any, ...]:
    """Return the operands that may be data; all, if none is."""
    return tuple(one for one in operands if _kind_of(one) not in _NO_DATA) or tuple(operands)


def choose_largest(sizes: Sequence[int], total: int) -> int | None:
    """Return the number of the part that is most of a whole; None if none is."""
    largest = max(sizes, default=0)
    return sizes.index(largest) if 2 * largest > total else None


def add_items(operand: Any, holder: Any, store: Any, links: Any) -> Any:
    """Return an operand with the links of its items, if some are known."""
    known = store.of(holder) if holder is not links.MISSING else None
    return links.ContainerOperandLink(operand, known.links) if known is not None else operand


def _kind_of(operand: Any) -> str:
    """Return the name of the type of an operand's value; "" if it is not known."""
    value = operand.value
    if type(value) is tuple:
        return str(value[1])
    return type(value).__name__ if type(value) is not object else ""


def _find_holders(
    known: Any, value: Any, read: Any, store: Any, links: Any
) -> Iterator[ChosenOperand]:
    """Yield the containers that hold a result, each with the link of the item."""
    for one in known:
        it = read(one.node)
        if type(it) is dict:
            items: Any = list(islice(it.values(), _SEARCHED))
        elif type(it) in _SEQUENCES:
            items = list(islice(it, _SEARCHED))
        else:
            continue
        places = links.find_places(items, value)
        if places:
            key = f"[{places[0]}]" if type(it) in (list, tuple) and len(places) == 1 else "[?]"
            yield ChosenOperand(one, store.find(it, key, value))


def _holds_text(holder: Any, value: Any) -> bool:
    """Return whether a text or bytes are a part of others."""
    is_text = type(value) in (str, bytes) and type(holder) is type(value)
    return is_text and len(value) >= _SHORT and value in holder


def _rank(operand: Any) -> int:
    """Return how likely an operand is the data of a call: bytes, then objects, texts, numbers."""
    kind = _kind_of(operand)
    if operand.link.kind == "part" and not kind:
        kind = _kind_of(operand.link.sources[0])  # a slice is of the type of the whole
    if kind in _BYTES:
        return 0
    if kind in _PLAIN:
        return 3
    return 2 if kind == "str" else 1
