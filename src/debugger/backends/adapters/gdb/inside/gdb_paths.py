"""Reads paths through containers and texts, without a call of the program. Run inside gdb."""

from __future__ import annotations

import importlib
import itertools
import re
from collections.abc import Iterator
from typing import Any

gdb: Any = importlib.import_module("gdb")
rust: Any = importlib.import_module("gdb_rust")
texts: Any = importlib.import_module("gdb_texts")

_ITEMS_MAX = 20_000  # of a container
_KEY_MAX = 60
_PATH = re.compile(r"(\(\*\w+\)|[A-Za-z_]\w*)((?:(?:\.|->)\w+|\[[^\[\]]+\])+)")
_AT = re.compile(r"(?<=[\w\])])\.at\(([^()]+)\)")
_STEP = re.compile(r"(?:\.|->)(\w+)|\[([^\[\]]+)\]")
_REFERENCES = (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF)
_Item = tuple[str, Any]


def read_value(expression: str) -> Any:
    """Return the value of an expression; None if it has none without a call of the program."""
    for read in (gdb.parse_and_eval, read_path):
        try:
            value = read(expression)
            if value is not None:
                value.fetch_lazy()
                return value
        except (gdb.error, RuntimeError, ValueError, OverflowError, LookupError):
            continue
    return None


def read_path(expression: str) -> Any:
    """Return the value of `map[key]`, `map.at(key)`, `vector[3].field` or `text[2]`; or None.

    Raises:
        gdb.error: If a step of it is not there.
        IndexError: For an element that a container does not have.
    """
    value = rust.read_path(expression)
    match = _PATH.fullmatch(_AT.sub(r"[\1]", expression))
    if value is not None or match is None:
        return value
    value = gdb.parse_and_eval(match[1])
    for field, index in _STEP.findall(match[2]):
        value = _field_of(value, field) if field else _element_of(value, index)
    return value


def without_reference(value: Any) -> Any:
    """Return what a reference of C++ refers to."""
    return value.referenced_value() if _kind_of(value).code in _REFERENCES else value


def _kind_of(value: Any) -> Any:
    return value.type.strip_typedefs()


def _field_of(value: Any, field: str) -> Any:
    is_pointer = _kind_of(value).code in {gdb.TYPE_CODE_PTR, *_REFERENCES}
    return (value.referenced_value() if is_pointer else value)[field]


def _element_of(value: Any, text: str) -> Any:
    value = without_reference(value)
    items = container_items(value)
    key = gdb.parse_and_eval(text)
    if items is None:
        found = texts.character_at(value, int(key)) if texts.is_object(value) else None
        return found if found is not None else value[int(key)]
    if _hint_of(value) == "map":
        pairs = _pairs_of(value)
        return next(item for one, item in pairs if _is_equal_key(one, key))
    found = next(itertools.islice(items, int(key), None), None) if int(key) >= 0 else None
    if found is None:
        raise IndexError(text)
    return found[1]


def container_items(value: Any) -> Iterator[_Item] | None:
    """Return the items of an array or a container of C++, each with its index or key.

    None for other values.
    """
    kind = _kind_of(value)
    if kind.code == gdb.TYPE_CODE_ARRAY:
        first, last = kind.range()
        return ((f"[{at}]", value[at]) for at in range(first, min(last + 1, _ITEMS_MAX)))
    hint = _hint_of(value)
    if hint == "map":
        return ((f"[{_key_text(key)}]", item) for key, item in _pairs_of(value))
    if hint != "array":
        return None
    children = gdb.default_visualizer(value).children()
    return (
        (f"[{at}]", item) for at, (_, item) in enumerate(itertools.islice(children, _ITEMS_MAX))
    )


def _hint_of(value: Any) -> str:
    printer = (
        gdb.default_visualizer(value) if _kind_of(value).code == gdb.TYPE_CODE_STRUCT else None
    )
    if printer is None or not hasattr(printer, "children"):
        return ""
    return getattr(printer, "display_hint", lambda: "")() or ""


def _pairs_of(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the keys and values of a map, which its printer gives in turn."""
    children = (one for _, one in gdb.default_visualizer(value).children())
    # The same iterator twice makes pairs.
    pairs = zip(children, children)  # noqa: B905 - Python 3.9 has no strict
    return itertools.islice(pairs, _ITEMS_MAX)


def _key_text(key: Any) -> str:
    text = key if isinstance(key, str) else gdb.Value(key).format_string(max_elements=40)
    return text[:_KEY_MAX]


def _is_equal_key(key: Any, requested: Any) -> bool:
    text = texts.text_of(requested)
    if text is not None:
        own = texts.text_of(key) if isinstance(key, gdb.Value) else str(key).encode()
        return own is not None and own.rstrip(b"\0") == text.rstrip(b"\0")
    return bool(key == requested)
