"""Finds the pieces of a text in the operands of the expression that made it.

A piece is `(start, end, link, shift)`: the text's positions from `start` to `end` are those of the
link's value, `shift` further on. Without a link they are a constant of the source.
"""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

_TEXTS = (str, bytes, bytearray)
_TEXT_TYPES = frozenset({"str", "bytes", "bytearray"})
_CHAINS = (ast.Name, ast.Attribute, ast.Subscript)
_PIECES = 200  # of one value
_LARGEST = 1 << 20  # characters of a text that is searched
_SHORT = 2  # characters of a text that another one may hold by chance
_NUMBERS = (int, float)
_RETURNS = 200  # results of a statement's calls that are known
_RESULTS = ("returned", "yielded")


class TextPart:
    """A part of a joined text: an operand, or a constant of the source."""

    __slots__ = ("is_constant", "link", "size", "text")

    def __init__(self, link: Any, text: Any, size: int | None = None) -> None:
        self.link = link
        self.text = text  # None if it is not at hand
        self.size = len(text) if text is not None else size
        self.is_constant = False

    def apply(self, method: str) -> None:
        """Cut the text as a method without arguments does."""
        if type(self.text) in (str, bytes):
            self.text = getattr(self.text, method)()
            self.size = len(self.text)


class TextPieces:
    """Finds the pieces of texts and bytes: of `a + b`, `sep.join(parts)`, an f-string, a method."""

    def __init__(self, reader: Any, links: Any, plans: Any) -> None:
        self._reader = reader
        self._links = links
        self._plans = plans

    def find(self, node: Any, value: Any, scope: Any) -> tuple[Any, ...]:
        """Return the pieces of an expression's value.

        Args:
            node: The expression.
            value: Its stored value.
            scope: The call that evaluates it.
        """
        if not self._may_be_text(value):
            return ()
        result = self._find_text(value, scope)
        if result is not None and _is_trimmed(node, self._plans.call_name):
            node = node.func.value
        parts = self._parts(node, scope)
        if parts is not None:
            return tuple(_place(parts[:_PIECES], result))
        return tuple(self._transformed(node, result, scope)) if result is not None else ()

    def _parts(self, node: Any, scope: Any) -> list[TextPart] | None:
        """Return the parts that an expression puts behind one another; None for any other."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return [self._part(one, scope) for one in _operands_of(node)]
        if isinstance(node, ast.JoinedStr):
            return [self._part(_inserted(one), scope) for one in node.values]
        if isinstance(node, ast.Call) and self._plans.call_name(node) == "join":
            return self._joined(node, scope)
        return None

    def _may_be_text(self, value: Any) -> bool:
        kind = value[1] if type(value) is tuple else type(value).__name__
        return kind in _TEXT_TYPES or value is self._links.MISSING

    def _find_text(self, value: Any, scope: Any) -> Any:
        """Return the text itself; None if it is not at hand."""
        if type(value) in (str, bytes):
            return value
        known = scope.value
        is_known = type(known) in _TEXTS and self._links.snap_value(known) == value
        return known if is_known and len(known) <= _LARGEST else None

    def _part(self, node: Any, scope: Any) -> TextPart:
        """Return the part that an operand is."""
        if isinstance(node, ast.Constant):
            return _constant(node.value if type(node.value) in _TEXTS else str(node.value))
        if isinstance(node, ast.Call) and _calls(node, ("str",)):
            inner = self._part(node.args[0], scope)
            if inner.text is not None or inner.size is not None:
                return inner
        text = self._read(node, scope)
        link = self._reader.joins.link_of(node, scope)
        if text is self._links.MISSING and link is not None:
            return _part_of(link)
        text = str(text) if type(text) in _NUMBERS else text
        return TextPart(link, text if type(text) in _TEXTS else None)

    def _read(self, node: Any, scope: Any) -> Any:
        """Return the value of an operand before the statement; MISSING if it is not at hand."""
        parts = self._parts(node, scope)
        if parts:
            texts = [one.text for one in parts]
            is_known = len({type(one) for one in texts}) == 1 and type(texts[0]) in _TEXTS
            return type(texts[0])().join(texts) if is_known else self._links.MISSING
        if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Slice):
            text = self._reader.read(node, scope)
            if not isinstance(node, _CHAINS) or text is self._links.MISSING:
                return text
            before = self._reader.operand(node, scope).value
            is_same = self._links.is_same(self._links.snap_value(text), before)
            return text if is_same else before if type(before) in _TEXTS else self._links.MISSING
        base = self._reader.read(node.value, scope)
        bounds = [None if one is None else self._reader.read(one, scope)
                  for one in (node.slice.lower, node.slice.upper)]  # fmt: skip
        is_known = all(one is None or type(one) is int for one in bounds)
        if type(base) not in _TEXTS or node.slice.step is not None or not is_known:
            return self._links.MISSING
        return base[slice(*bounds)]

    def _joined(self, node: ast.Call, scope: Any) -> list[TextPart]:
        """Return the parts of `separator.join(items)`, with the separators between them."""
        separator = self._reader.read(getattr(node.func, "value", None), scope)
        items = node.args[0] if len(node.args) == 1 else None
        if type(separator) not in _TEXTS or items is None:
            return []
        source, method = _mapped(items)
        texts = self._reader.read(source, scope)
        if type(texts) in (list, tuple):
            holder = self._reader.joins.link_of(source, scope)
            size = min(len(texts), _PIECES)
            parts = [self._item_part(texts, at, holder, scope) for at in range(size)]
            for one in parts if method else ():
                one.apply(method)
        else:
            parts = [_part_of(one) for one in self._results_of(items, scope)]
        between = _constant(separator)
        return [one for part in parts for one in (part, between)][:-1]

    def _item_part(self, items: Any, at: int, holder: Any, scope: Any) -> TextPart:
        """Return the part that an item of a list is; without a link of its own, by its list."""
        text = items[at]
        if type(text) not in _TEXTS:
            return TextPart(None, None)
        snap, key = self._links.snap_value(text), f"[{at}]"
        link = self._reader.store.find(items, key, snap)
        if link is None and holder is not None:
            operand = self._links.ValueOperandLink(None, holder, holder.value)
            link = scope.new_link("part", key, "part", (operand,), snap)
            link.is_inferred = True
        return TextPart(link, text)

    def _results_of(self, node: Any, scope: Any) -> list[Any]:
        """Return the links of the items that a generator or a comprehension gave, in order."""
        while isinstance(node, ast.Call) and _calls(node, ("list", "tuple")):
            node = node.args[0]
        element = node.elt if isinstance(node, (ast.GeneratorExp, ast.ListComp)) else node
        if not isinstance(element, ast.Call):
            return []
        name = self._plans.call_name(element)
        if name == "map" and element.args:
            name = getattr(element.args[0], "attr", getattr(element.args[0], "id", ""))
        results = scope.results()
        named = [one for one in results if getattr(one.callee, "co_name", "") == name]
        return [one for one in named if one.kind in _RESULTS] if len(results) < _RETURNS else []

    def _transformed(self, node: Any, result: Any, scope: Any) -> Iterator[Any]:
        """Yield the pieces of what a function or `%` made of texts."""
        operands = list(_given(node))
        texts = [(one, self._read(one, scope)) for one in operands]
        known = [(one, text) for one, text in texts if type(text) is type(result) and text]
        for one, text in known:
            if isinstance(one, ast.Constant):
                continue
            link = self._reader.joins.link_of(one, scope)
            if link is None:
                continue
            found = list(_align(text, result, link, is_only=len(known) == 1 or one is operands[0]))
            yield from found
            if found and found[0][:2] == (0, len(result)):
                return


def _is_trimmed(node: Any, call_name: Any) -> bool:
    """Return whether an expression cuts the end of a text that another expression makes."""
    is_method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    return (
        is_method
        and call_name(node) == "rstrip"
        and isinstance(node.func.value, (ast.BinOp, ast.JoinedStr, ast.Call))
    )


def _given(node: Any) -> Iterator[Any]:
    """Yield the object of a method and the arguments of a call, or the operands of `%`."""
    if isinstance(node, ast.BinOp):
        yield node.left
        yield from node.right.elts if isinstance(node.right, ast.Tuple) else (node.right,)
    elif isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            yield node.func.value
        yield from node.args
        yield from (one.value for one in node.keywords)


def _mapped(node: Any) -> tuple[Any, str]:
    """Return the list whose items a generator gives, and the method of texts that cuts each."""
    if not isinstance(node, (ast.GeneratorExp, ast.ListComp)) or len(node.generators) != 1:
        return node, ""
    loop, method = node.generators[0], ""
    element: Any = node.elt
    if (
        isinstance(element, ast.Call)
        and isinstance(element.func, ast.Attribute)
        and not element.args
    ):
        element, method = element.func.value, element.func.attr
    is_item = isinstance(element, ast.Name) and element.id == getattr(loop.target, "id", "")
    is_cut = not method or method == "rstrip"
    return (loop.iter, method) if is_item and is_cut and not loop.ifs else (node, "")


def _inserted(node: Any) -> Any:
    """Return what a part of an f-string inserts; a format of its own makes it another text."""
    is_plain = isinstance(node, ast.FormattedValue) and node.format_spec is None
    return node.value if is_plain and node.conversion in (-1, ord("s")) else node


def _calls(node: ast.Call, names: tuple[str, ...]) -> bool:
    """Return whether a call is of a builtin with one argument."""
    is_named = isinstance(node.func, ast.Name) and node.func.id in names
    return is_named and len(node.args) == 1 and not node.keywords


def _constant(text: Any) -> TextPart:
    part = TextPart(None, text)
    part.is_constant = True
    return part


def _part_of(link: Any) -> TextPart:
    """Return the part that the result of a call is."""
    return TextPart(link, link.value if type(link.value) in _TEXTS else None, link.size)


def _operands_of(node: Any) -> Iterator[Any]:
    """Yield the operands of a sum from left to right."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _operands_of(node.left)
        yield from _operands_of(node.right)
    else:
        yield node


def _place(parts: Sequence[TextPart], result: Any) -> Iterator[Any]:
    """Yield the pieces of parts behind one another; between two known ones one may be unknown."""
    _complete_size(parts, result)
    at = 0
    unknown: TextPart | None = None
    for one in parts:
        if one.size is None:
            if unknown is not None or result is None:
                return
            unknown = one
            continue
        start = _find_part(one, result, at, is_open=unknown is not None)
        if start < 0:
            return
        if unknown is not None and unknown.link is not None:
            yield at, start, unknown.link, -at
        unknown, at = None, start + one.size
        if one.is_constant or one.link is not None:
            yield start, at, one.link, -start


def _complete_size(parts: Sequence[TextPart], result: Any) -> None:
    """Give the one part of unknown size what the others leave."""
    unknown = [one for one in parts if one.size is None]
    if result is not None and len(unknown) == 1:
        left = len(result) - sum(one.size for one in parts if one.size is not None)
        unknown[0].size = left if left >= 0 else None


def _find_part(part: TextPart, result: Any, at: int, *, is_open: bool) -> int:
    """Return where a part is from a position on; -1 if it is not there, or at several places.

    The last part may have lost its end.
    """
    if result is None or (part.text is None and not is_open):
        return at
    if is_open:
        return _find_once(part.text, result, at) if part.text else -1
    rest = result[at : at + len(part.text)]
    return at if part.text.startswith(rest) and (rest or not part.text) else -1


def _find_once(part: Any, text: Any, begin: int = 0) -> int:
    """Return where a text has a part; -1 if it has it not at all, or more than once."""
    at: int = text.find(part, begin)
    return at if at < 0 or text.find(part, at + 1) < 0 else -1


def _align(text: Any, result: Any, link: Any, *, is_only: bool) -> Iterator[Any]:
    """Yield the pieces that a text has in one that was made of it.

    `is_only` tells that it was made of this text, so that what both begin and end with is the same.
    """
    at = _find_once(result, text) if len(result) >= _SHORT else -1
    if at >= 0:
        yield 0, len(result), link, at
        return
    at = _find_once(text, result) if len(text) >= _SHORT else -1
    if at >= 0:
        yield at, at + len(text), link, -at
        return
    if not is_only:
        return
    first = common_size(text, result)
    last = min(common_size(text[::-1], result[::-1]), min(len(text), len(result)) - first)
    if first:
        yield 0, first, link, 0
    if last:
        yield len(result) - last, len(result), link, len(text) - len(result)


def common_size(one: Any, other: Any) -> int:
    """Return how many characters two texts begin with in common."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
