"""Reads the characters of texts: of C, of string objects of C++ and of Rust. Run inside gdb."""

from __future__ import annotations

import importlib
import re
from typing import Any

gdb: Any = importlib.import_module("gdb")

_TEXT_MAX = 1 << 20  # bytes of one text
_PAGE = 4096
# The fields by which the buffer of Rust's vectors leads to its pointer, by version.
_POINTER_FIELDS = frozenset({"inner", "ptr", "pointer"})
_CPP_STRING = re.compile(r"std::(?:__\w+::)?basic_string<char")
_CPP_VIEW = re.compile(r"std::(?:__\w+::)?basic_string_view<char")
_RUST_STRING = re.compile(r"&(?:mut )?str\Z|alloc::string::String\Z")


def characters_of(value: Any, kind: Any) -> tuple[int, int] | None:
    """Return where the characters of a string object lie, and their number; None for others."""
    name = str(kind.unqualified())
    try:
        if _CPP_VIEW.match(name):
            return int(value["_M_str"]), int(value["_M_len"])
        if _CPP_STRING.match(name):
            return int(value["_M_dataplus"]["_M_p"]), int(value["_M_string_length"])
        if not _RUST_STRING.match(name):
            return None
        inner = value["vec"] if name.endswith("String") else value
        begin = inner["buf"] if name.endswith("String") else inner["data_ptr"]
        while begin.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT:
            begin = begin[next(one for one in begin.type.fields() if one.name in _POINTER_FIELDS)]
        return int(begin), int(inner["len" if name.endswith("String") else "length"])
    except (gdb.error, RuntimeError, ValueError, StopIteration):
        return None


def character_at(value: Any, index: int) -> Any:
    """Return a byte of a string object as a value; None for other values.

    Raises:
        IndexError: It is behind the text's end.
    """
    found = characters_of(value, value.type.strip_typedefs())
    if found is None:
        return None
    if not 0 <= index < found[1]:
        raise IndexError(index)
    is_rust = _RUST_STRING.match(str(value.type.strip_typedefs().unqualified())) is not None
    letter = gdb.lookup_type("u8" if is_rust else "char")
    return gdb.Value(found[0] + index).cast(letter.pointer()).dereference()


def is_object(value: Any) -> bool:
    """Return whether a value is a string object of C++ or Rust."""
    return characters_of(value, value.type.strip_typedefs()) is not None


def text_of(value: Any) -> bytes | None:
    """Return the text of a string object, an array of characters or a pointer to some."""
    kind = value.type.strip_typedefs()
    found = characters_of(value, kind)
    if found is not None:
        return _read_memory(found[0], min(found[1], _TEXT_MAX))
    if kind.code not in {gdb.TYPE_CODE_ARRAY, gdb.TYPE_CODE_PTR}:
        return None
    letter = kind.target().strip_typedefs().unqualified()
    if letter.sizeof != 1 or "char" not in str(letter):
        return None
    if kind.code == gdb.TYPE_CODE_ARRAY and value.address is None:  # a literal, as of `m["a"]`
        first, last = kind.range()
        found_bytes = bytes(int(value[at]) & 0xFF for at in range(first, last + 1))
        return found_bytes.partition(b"\0")[0]
    if kind.code == gdb.TYPE_CODE_ARRAY:
        return _read_memory(int(value.address), kind.sizeof).partition(b"\0")[0]
    return _read_terminated(int(value))


def _read_memory(address: int, size: int) -> bytes:
    return bytes(gdb.selected_inferior().read_memory(address, size)) if size else b""


def _read_terminated(address: int) -> bytes:
    """Read up to the first NUL, page by page: what lies behind it may not be readable."""
    found = b""
    while len(found) < _TEXT_MAX:
        page = _read_memory(address, _PAGE - address % _PAGE)
        text, end, _ = page.partition(b"\0")
        found += text
        if end:
            break
        address += len(page)
    return found
