"""Finds the first part by which a value departs from the one it was compared with. Run inside gdb.

The parts are those of the values' types: the items of arrays and containers, the fields of structs,
the characters of texts. Pointers inside of structs are not compared: equal ones may differ.
"""

from __future__ import annotations

import ast
import importlib
import itertools
import re
from typing import Any

gdb: Any = importlib.import_module("gdb")
paths: Any = importlib.import_module("gdb_paths")
rust: Any = importlib.import_module("gdb_rust")
texts: Any = importlib.import_module("gdb_texts")

_LEVELS = 8  # of values in values
_EXCERPT = 80  # characters of a text from the difference on
_VALUE = 96  # characters of a value
_MEMORY_MAX = 1 << 24  # bytes that are compared
_LITERAL = re.compile(r'b?"(?:\\.|[^"\\])*"\Z')
_LIBRARY = re.compile(r"(?:std|core|alloc)::")
_NUMBERS = frozenset(
    {gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_ENUM}
)
_ABSENT = object()


def find_departure(expression: str, compared: list[list[str]]) -> dict[str, str] | None:
    """Return the first part of a value by which a failed check differs; None if it is the whole.

    Args:
        expression: The value.
        compared: Of each comparison of the check the other value, `value`, `text` or `memory`,
            and for the latter the number of bytes.

    Returns:
        `path`, which reads the part behind the expression, `shown`, which shows it, and what the
        `value` and the `other` are there.
    """
    for other, how, size in compared:
        try:
            found = _compare(expression, other, how, size)
        except (gdb.error, RuntimeError, ValueError, OverflowError, LookupError):
            continue
        if found is not None:
            return found
    return None


def _compare(expression: str, other: str, how: str, size: str) -> dict[str, str] | None:
    value = paths.read_value(expression)
    is_literal = _LITERAL.match(other) is not None
    another = ast.literal_eval(other).encode() if is_literal else paths.read_value(other)
    if value is None or another is None:
        return None
    if how == "memory":
        return _compare_memory(expression, value, another, size)
    return _compare_parts("", value, another, is_text=how == "text", levels=_LEVELS)


def _compare_parts(
    path: str, value: Any, other: Any, *, is_text: bool, levels: int
) -> dict[str, str] | None:
    """Return the first part within two values that differs."""
    value = _plain(value)
    other = other if isinstance(other, bytes) else _plain(other)
    kind = value.type.strip_typedefs()
    # A pointer to characters is a text only where the check takes it for one.
    is_text = is_text or isinstance(other, bytes) or texts.is_object(value)
    is_text = is_text or texts.is_object(other) or kind.code == gdb.TYPE_CODE_ARRAY
    ours = texts.text_of(value) if is_text else None
    theirs = other if isinstance(other, bytes) else texts.text_of(other) if is_text else None
    if ours is not None and theirs is not None:
        return _compare_texts(path, ours, theirs)
    if isinstance(other, bytes) or not levels:
        return None
    if kind.code in _NUMBERS:
        is_same = int(value) == int(other)
    elif kind.code == gdb.TYPE_CODE_FLT:
        is_same = float(value) == float(other)
    elif kind.code in {gdb.TYPE_CODE_ARRAY, gdb.TYPE_CODE_STRUCT}:
        return _compare_items(path, value, other, levels - 1)
    else:
        return None
    return None if is_same else _part(path, value, other)


def _plain(value: Any) -> Any:
    """Return a value without references and cells around it."""
    value = paths.without_reference(value)
    return rust.without_references(value)


def _part(path: str, value: Any, other: Any) -> dict[str, str] | None:
    if not path:
        return None
    shown = [one.format_string(max_elements=24, symbols=False)[:_VALUE] for one in (value, other)]
    return {"path": path, "shown": path, "value": shown[0], "other": shown[1]}


def _compare_texts(path: str, value: bytes, other: bytes) -> dict[str, str] | None:
    """Return from where two texts differ; where one is over, the last character of the value."""
    if value == other or not value:
        return None
    pairs = enumerate(zip(value, other))  # noqa: B905 - Python 3.9 has no strict
    at = next((at for at, (one, another) in pairs if one != another), len(other))
    at = min(at, len(value) - 1)
    rest = ".." if rust.is_rust() else ":"
    ours, theirs = (
        repr(one[at : at + _EXCERPT].decode("utf-8", "replace")) for one in (value, other)
    )
    return {
        "path": f"{path}[{at}]",
        "shown": f"{path}[{at}{rest}]",
        "value": ours,
        "other": theirs,
    }


def _compare_items(path: str, value: Any, other: Any, levels: int) -> dict[str, str] | None:
    """Return the first item or field that differs, or the container if only its size does."""
    ours, theirs = _items_of(value), _items_of(other)
    if ours is not None and theirs is not None:
        missing = (_ABSENT, None)
        for (step, one), (other_step, another) in itertools.zip_longest(
            ours, theirs, fillvalue=missing
        ):
            if step is _ABSENT or other_step is _ABSENT or step != other_step:
                return _part(path, value, other)
            found = _compare_parts(f"{path}{step}", one, another, is_text=False, levels=levels)
            if found is not None:
                return found
        return None
    if ours is not None or theirs is not None or _LIBRARY.match(str(value.type.strip_typedefs())):
        return None
    return _compare_fields(path, value, other, levels)


def _items_of(value: Any) -> Any:
    items = rust.vector_items(value)
    return items if items is not None else paths.container_items(value)


def _compare_fields(path: str, value: Any, other: Any, levels: int) -> dict[str, str] | None:
    if value.type.strip_typedefs() != other.type.strip_typedefs() or rust.is_enum(value):
        return None
    for field in value.type.strip_typedefs().fields():
        # Static members lie elsewhere.
        if not hasattr(field, "bitpos") or field.artificial or not field.name:
            continue
        name = re.sub(r"\A__(?=\d)", "", field.name)  # of a tuple of Rust
        inner = path if field.is_base_class else f"{path}.{name}"
        found = _compare_parts(inner, value[field], other[field], is_text=False, levels=levels)
        if found is not None:
            return found
    return None


def _compare_memory(expression: str, value: Any, other: Any, size: str) -> dict[str, str] | None:
    """Return the part at the first byte in which two blocks of memory differ."""
    value, other = paths.without_reference(value), paths.without_reference(other)
    count = int(gdb.parse_and_eval(size)) if size else value.type.sizeof
    inferior = gdb.selected_inferior()
    ours, theirs = (
        bytes(inferior.read_memory(_begin_of(one), min(count, _MEMORY_MAX)))
        for one in (value, other)
    )
    pairs = enumerate(zip(ours, theirs))  # noqa: B905 - Python 3.9 has no strict
    at = next((at for at, (one, another) in pairs if one != another), None)
    path = _path_at(value.type.strip_typedefs(), at) if at is not None else None
    if not path:
        return None
    part = paths.read_value(f"{expression}{path}")
    begin = int(part.address) - _begin_of(value)
    another = gdb.Value(theirs[begin : begin + part.type.sizeof], part.type)
    return _part(path, part, another)


def _begin_of(value: Any) -> int:
    is_pointer = value.type.strip_typedefs().code == gdb.TYPE_CODE_PTR
    return int(value) if is_pointer else int(value.address)


def _path_at(kind: Any, offset: int) -> str | None:
    """Return the path of the number at an offset in a value; None for padding."""
    if kind.code in {gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_ARRAY}:
        target = kind.target().strip_typedefs()
        if not target.sizeof:
            return None
        number, inside = divmod(offset, target.sizeof)
        inner = _path_in(target, inside)
        if inner and not number and kind.code == gdb.TYPE_CODE_PTR:
            return f"->{inner[1:]}"
        return f"[{number}]{inner}" if inner is not None else None
    return _path_in(kind, offset)


def _path_in(kind: Any, offset: int) -> str | None:
    if kind.code == gdb.TYPE_CODE_ARRAY:
        return _path_at(kind, offset)
    if kind.code != gdb.TYPE_CODE_STRUCT:
        return ""
    for field in kind.fields():
        first = getattr(field, "bitpos", -1) // 8
        inner = field.type.strip_typedefs() if field.type is not None else None
        if first < 0 or inner is None or not first <= offset < first + inner.sizeof:
            continue
        name = "" if field.is_base_class else f".{field.name}"
        rest = _path_in(inner, offset - first)
        return f"{name}{rest}" if rest is not None else None
    return None
