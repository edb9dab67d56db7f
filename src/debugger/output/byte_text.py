"""Shows lists of bytes that are a text as that text. Pure.

delve 1.27, V8, gdb and the in-process engine write the bytes of a file or a message as numbers,
which a reader cannot read: `[]uint8 len: 5, cap: 5, [104,101,108,108,111]` is shown as
`[]uint8 len: 5, cap: 5, "hello"`. LLDB's and Java's are formatted where they are read
(lldb_bytes.py, Bytes.java), by the same rule.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_SHORTEST = 4  # bytes; fewer are as well numbers
_READABLE = 0.4  # the least part of letters and digits in a text
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
# What shows that a value may have bytes, so that the patterns are not tried on others.
_MARKS = ("uint8 ", ".RawMessage ", "Buffer(", "Uint8Array(", " of length ", "size=")
# delve: slices, which may be cut, and arrays. V8: `Buffer(5) [104, …]`, as Node writes it, too.
_NUMBERS = re.compile(
    r"(?P<head>(?:(?:\[\]uint8|encoding/json\.RawMessage) len: \d+, cap: \d+,|\[\d+\]uint8"
    r"|(?:Buffer|Uint8Array)\(\d+\)) )(?:\[Uint8Array\] )?"
    r"\[ ?(?P<bytes>\d{1,3}(?:, ?\d{1,3})*)"
    r"(?P<more>,?\.\.\.\+\d+ more|, ?…|, \.\.\. \d+ more items?)? ?\]"
)
# gdb: `std::vector of length 2, capacity 2 = {72 'H', 105 'i'}`. In-process: `size=2 {72 'H', …}`.
_CHARACTERS = re.compile(
    r"(?P<head>(?:std::\w+ of length \d+(?:, capacity \d+)? =|size=\d+) )"
    r"\{(?P<bytes>-?\d{1,3} '(?:\\.[^']*|[^'\\])'(?:, -?\d{1,3} '(?:\\.[^']*|[^'\\])')*)"
    r"(?P<more>\.\.\.|, …)?\}"
)
# Texts that are made where the values are read, with elements below: LLDB's and Java's.
_TEXT = re.compile(r'(?:size=\d+|(?:byte|char)\[\d+\]) ".*"(?:\.\.\.|…)?', re.DOTALL)
_CODE = re.compile(r"(?:\A|, ?)(-?\d{1,3})(?= '|,|\Z)")


def show_bytes(value: str) -> str:
    """Return a debugger's text of a value, in which lists of bytes that are a text are that."""
    if not any(mark in value for mark in _MARKS):
        return value
    return _CHARACTERS.sub(_show_list, _NUMBERS.sub(_show_list, value))


def is_byte_text(value: str) -> bool:
    """Return whether all of a value is a list of bytes that is shown as a text."""
    if _TEXT.fullmatch(value):
        return True
    is_list = _NUMBERS.fullmatch(value) or _CHARACTERS.fullmatch(value)
    return is_list is not None and show_bytes(value) != value


def _show_list(found: re.Match[str]) -> str:
    codes = [int(one) % 256 for one in _CODE.findall(found["bytes"])]
    text = decode_text(codes, is_cut=bool(found["more"]))
    if not text:
        return found[0]
    quoted = "".join(_ESCAPES.get(one, one) for one in text)
    # As delve writes a text that is cut; the other debuggers do not say how much is missing.
    more = (found["more"] or "").lstrip(",")
    return f'{found["head"]}"{quoted}"{more if "+" in more else "..." if more else ""}'


def decode_text(codes: Sequence[int], *, is_cut: bool = False) -> str:
    """Return the UTF-8 text of some bytes; "" if they are none that a reader would read.

    Zeros behind it fill an array, and are left out. `is_cut`: the last character may be in part.
    """
    if any(code > 255 for code in codes):  # noqa: PLR2004
        return ""
    content = bytes(codes).rstrip(b"\0")
    for end in range(len(content), max(len(content) - (4 if is_cut else 1), 0), -1):
        try:
            text = content[:end].decode()
        except UnicodeDecodeError:
            continue
        is_shown = all(one.isprintable() or one in "\n\t\r" for one in text)
        readable = sum(one.isalnum() or one == " " for one in text)
        is_long = len(text) >= _SHORTEST and readable >= _READABLE * len(text)
        return text if is_shown and is_long else ""
    return ""
