"""Shows lists of bytes that are a text as that text. Runs inside LLDB's Python (3.9).

LLDB 19.1.7 and 20.1 show the bytes of a `std::vector<uint8_t>` one by one, and the toolchain's
formatters do so with a `Vec<u8>`. What a text is, is decided as in output/byte_text.py.
"""

from __future__ import annotations

import importlib
from typing import Any

lldb: Any = importlib.import_module("lldb")
# LLDB has added the folder of this module to Python's path.
quote_bytes: Any = importlib.import_module("lldb_cpp").quote_bytes

_BYTES_MAX = 256  # read of a list; the rest is said to be missing
_SHORTEST = 4  # bytes; fewer are as well numbers
_READABLE = 0.4  # the least part of letters and digits in a text


def list_text(elements: Any) -> str:
    """Return the text in a value whose children are bytes, one after the other; "" if it is none.

    Zeros behind the text fill an array, and are left out.
    """
    count = int(elements.GetNumChildren())
    first = elements.GetChildAtIndex(0)
    if count < _SHORTEST or first.GetByteSize() != 1:
        return ""
    address = first.GetLoadAddress()
    if address == lldb.LLDB_INVALID_ADDRESS:
        return ""  # in registers
    error = lldb.SBError()
    content = elements.GetProcess().ReadMemory(address, min(count, _BYTES_MAX), error)
    if not error.Success() or not content:
        return ""
    text = content.rstrip(b"\0")
    is_cut = count > _BYTES_MAX
    return quote_bytes(text) + "..." * is_cut if _is_text(text, is_cut=is_cut) else ""


def _is_text(content: bytes, *, is_cut: bool) -> bool:
    # A cut may go through a character of up to four bytes.
    text = content.decode("utf-8", "surrogateescape")
    if is_cut:
        text = text[:-3]
    is_shown = all(one.isprintable() or one in "\n\t\r" for one in text)
    readable = sum(one.isalnum() or one == " " for one in text)
    return is_shown and len(text) >= _SHORTEST and readable >= _READABLE * len(text)
