"""Finds where a value first departs from the one that a failed check compared it with.

The parts are compared as the program has compared the whole: in the same order, and by `==`.
"""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_LEVELS = 8  # of containers in containers
_EXCERPT = 80  # characters or bytes from the difference on
_TEXTS = frozenset(map(id, (str, bytes)))
_SEQUENCES = frozenset(map(id, (list, tuple)))
_KEYS = frozenset(map(id, (str, int, bytes, bool, type(None))))
_KEY_TEXT = 80  # characters
_EQUAL, _UNEQUAL = (ast.Eq, ast.Is), (ast.NotEq, ast.IsNot)


class PartDifference:
    """The first part of a value that departs from that of another value.

    `path` reads the part, as `[3]['name'][17:18]` does; of a text `shown_path` is where it begins,
    and `value` and `other` are what both texts have from there on. A surplus item has no other.
    """

    __slots__ = ("is_surplus", "other", "path", "shown_path", "value")

    def __init__(
        self, path: str, shown_path: str, value: Any, other: Any, *, is_surplus: bool = False
    ) -> None:
        self.path = path
        self.shown_path = shown_path
        self.value = value
        self.other = other
        self.is_surplus = is_surplus


def find_difference(value: Any, other: Any, common_size: Any) -> PartDifference | None:
    """Return the first difference within two values; None if it is the values themselves."""
    path = ""
    for _ in range(_LEVELS):
        kind = type(value)
        if kind is not type(other):
            break
        if id(kind) in _TEXTS:
            return _text_difference(path, value, other, common_size(value, other))
        key = _first_key(value, other)
        if key is None and id(kind) in _SEQUENCES:
            return find_surplus(value, len(other), path) or _whole_difference(path, value, other)
        if key is None:
            break
        path += f"[{key[0]!r}]"
        value, other = value[key[0]], other[key[0]]
    return _whole_difference(path, value, other)


def find_surplus(value: Any, size: int, path: str = "") -> PartDifference | None:
    """Return the first item that a list or a tuple has beyond a size; None without one."""
    if id(type(value)) not in _SEQUENCES or not 0 <= size < len(value):
        return None
    path += f"[{size}]"
    return PartDifference(path, path, value[size], None, is_surplus=True)


def _whole_difference(path: str, value: Any, other: Any) -> PartDifference | None:
    return PartDifference(path, path, value, other) if path else None


def _text_difference(path: str, value: Any, other: Any, at: int) -> PartDifference | None:
    """Return the first difference of two texts; where one is over, its last character."""
    if not value or len(value) == 1:
        return _whole_difference(path, value, other)
    at = min(at, len(value) - 1)
    end = at + _EXCERPT
    return PartDifference(f"{path}[{at}:{at + 1}]", f"{path}[{at}:]", value[at:end], other[at:end])


def _first_key(value: Any, other: Any) -> tuple[Any] | None:
    """Return the first key by which two containers have different items; None without one."""
    if id(type(value)) in _SEQUENCES:
        keys: Any = range(min(len(value), len(other)))
    elif type(value) is dict:
        keys = [key for key in value if id(type(key)) in _KEYS and key in other]
    else:
        return None
    for key in keys:
        one, another = value[key], other[key]
        if one is not another and not one == another:  # noqa: SIM201 - as the program has compared
            return (key,) if len(repr(key)) <= _KEY_TEXT else None
    return None


def find_compared(statements: Any, function: Any, line: int, expression: str) -> Any:
    """Return the other side of the check that failed at a line; None if there is none.

    That is the comparison of an assertion (`assert a == b`, `assertEqual(a, b)`), or of the
    condition under which the statement of the line raises an exception.

    Args:
        statements: The statements of the line.
        function: The function that they are in.
        line: The line.
        expression: The text of the side that is known.
    """
    checks = [one for node in statements for one in _asserted_pairs(node)]
    for node in ast.walk(function) if function is not None else ():
        if isinstance(node, ast.If) and _has_line(node.body, line):
            checks += _compared_pairs(node.test, _UNEQUAL)
    for left, right in checks:
        if ast.unparse(left) == expression:
            return right
        if ast.unparse(right) == expression:
            return left
    return None


def _has_line(body: list[ast.stmt], line: int) -> bool:
    return body[0].lineno <= line <= (body[-1].end_lineno or 0)


def _asserted_pairs(node: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the sides of the comparisons that a statement asserts."""
    if isinstance(node, ast.Assert):
        yield from _compared_pairs(node.test, _EQUAL)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = node.value
        name = getattr(called.func, "attr", getattr(called.func, "id", ""))
        if name.startswith("assert") and name.endswith("Equal") and len(called.args) > 1:
            yield called.args[0], called.args[1]


def _compared_pairs(test: Any, operators: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the sides of the comparisons by some operators in a condition."""
    for node in ast.walk(test):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], operators):
            yield node.left, node.comparators[0]
