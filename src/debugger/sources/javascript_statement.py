"""Finds the statement of JavaScript around a column, and what a pattern of it reads. Pure.

Of `rows.map((row) => row.user.name)` and the column of `name` it is `row.user.name`; of
`const { user: { name } } = row` and "Cannot read properties of null (reading 'name')" the pattern
reads `row.user`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(
    r"""//.*|/\*.*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`"""
    r"""|=>|\|\||&&|\?\?|\.{3}|[\w$.]+|\s+|.""",
    re.DOTALL,
)
_OPENERS, _CLOSERS = "([{", ")]}"
# What stands before the brace of an object or a pattern, and not of a block.
_BEFORE_OBJECT = frozenset(
    {"(", "[", ",", "=", ":", "?", "||", "&&", "??", "return", "const", "let", "var", "in", "of"}
    | {"yield", "await", "..."}
)
_DECLARED = re.compile(
    r"\s*(?:(?:const|let|var)\s+|\(\s*)?(?P<pattern>[\[{].*[\]}])\s*=\s*(?P<value>[^=].*?)[);\s]*\Z",
    re.DOTALL,
)
_PATH = re.compile(r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*|\[\d+\])*")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_READING = re.compile(r"Cannot read properties of (?:undefined|null) \(reading '(?P<name>[^']*)'\)")
_TAKEN_APART = re.compile(rf"{_READING.pattern}|^Cannot destructure property '")
# An index into what is written in place: `[5, 6][at].toFixed()`.
_INDEXED = re.compile(r"[\]}]\s*\[\s*(?P<index>[A-Za-z_$][\w$.]*)\s*\]\s*\.\s*(?P<name>[\w$]+)")
_ITERATED = re.compile(r"(?:undefined|null) is not iterable|object null is not iterable")


def cut_statement(text: str, at: int) -> str:
    """Return the statement, or the body of a function that is one expression, around a position.

    Args:
        text: A line, or a statement of several.
        at: The position in it, from 0.
    """
    begins = [(0, True)]  # where the statement at each depth begins, and whether in a block
    before = ""
    for start, part in _split(text):
        if start >= at:
            break
        if part in _OPENERS:
            is_block = part == "{" and bool(before) and before not in _BEFORE_OBJECT
            begins.append((start + 1 if is_block else begins[-1][0], is_block))
        elif part in _CLOSERS and len(begins) > 1:
            _, was_block = begins.pop()
            if was_block and _begins_statement(text, start + 1):
                begins[-1] = (start + 1, begins[-1][1])
        elif part in {";", "=>"} or (part == "," and _is_body(text, begins[-1][0])):
            begins[-1] = (start + len(part), begins[-1][1])
        if part.strip():
            before = part
    begin, _ = begins[-1]
    return text[begin : _end_of(text, begin)].strip() or text


def _begins_statement(text: str, at: int) -> bool:
    """Return whether what follows a closed block is another statement, and no part of one."""
    rest = text[at:].lstrip()
    return bool(rest) and (rest[0].isalnum() or rest[0] in "_$[{'\"`")


def _is_body(text: str, begin: int) -> bool:
    return text[:begin].endswith("=>")


def _end_of(text: str, begin: int) -> int:
    depth, is_body = 0, _is_body(text, begin)
    for start, part in _split(text):
        if start < begin:
            continue
        depth += (part in _OPENERS) - (part in _CLOSERS)
        if depth == 0 and part == ";":
            return start + 1
        if depth < 0 or (depth == 0 and part == "," and is_body):
            return start
    return len(text)


def _split(text: str) -> Iterator[tuple[int, str]]:
    for one in _TOKEN.finditer(text):
        yield one.start(), one[0]


def find_destructured(statement: str, message: str) -> str:
    """Return the value, as an expression, that a pattern reads from where it is nothing.

    Args:
        statement: The source of the statement that failed.
        message: V8's message.

    Returns:
        "" where the statement assigns to no pattern, or the message is about something else.
    """
    found = _DECLARED.match(statement)
    value = found["value"].strip() if found is not None else ""
    if found is None or not _PATH.fullmatch(value):
        return ""
    reading = _READING.search(message)
    is_iterated = _ITERATED.search(message) is not None
    paths = [
        path
        for path, is_array, names in _patterns(found["pattern"], value)
        if path != value
        and ((is_iterated and is_array) or (reading is not None and reading["name"] in names))
    ]
    return paths[0] if len(paths) == 1 else ""


def find_pattern(text: str, at: int, message: str) -> str:
    """Return the pattern that cannot take its value apart, by V8's column; "" for anything else.

    V8 marks the first property that a pattern reads, or what that is assigned to, or the bracket of
    an array's pattern.

    Args:
        text: A line, or a statement of several.
        at: The column in it, from 0.
        message: V8's message.
    """
    is_iterated = _ITERATED.search(message) is not None
    opened: list[int] = []
    is_first = False  # whether the position is where an item of a bracket begins
    before = ""
    for start, part in _split(text):
        if start == at:
            is_first = (part == "[") if is_iterated else before in {"{", ",", ":"}
            opened += [start] if part == "[" and is_iterated else []
        elif start < at and part in _OPENERS:
            opened.append(start)
        elif start < at and part in _CLOSERS and opened:
            opened.pop()
        before = part if part.strip() else before
    if not is_first or not opened or not (is_iterated or _TAKEN_APART.search(message)):
        return ""
    begin = opened[-1]
    return text[begin : _closing(text, begin)] if text[begin] in "[{" else ""


def _closing(text: str, begin: int) -> int:
    """Return the position behind the bracket that closes one."""
    depth = 0
    for start, part in _split(text):
        if start >= begin:
            depth += (part in _OPENERS) - (part in _CLOSERS)
            if not depth:
                return start + 1
    return begin


def find_index(statement: str, message: str) -> str:
    """Return the index under which an array or an object that is written in place has nothing."""
    reading = _READING.search(message)
    name = reading["name"] if reading is not None else ""
    found = [one["index"] for one in _INDEXED.finditer(statement) if one["name"] == name]
    return found[0] if len(found) == 1 else ""


def _patterns(pattern: str, path: str) -> Iterator[tuple[str, bool, tuple[str, ...]]]:
    """Yield each pattern within one: what it takes apart, whether that is an array, and the names.

    The names are those of the properties that are read.
    """
    is_array = pattern.startswith("[")
    names: list[str] = []
    for number, item in enumerate(_split_items(pattern[1:-1])):
        is_nested = item.lstrip().startswith(("[", "{"))
        plain = item if is_nested else item.partition("=")[0]
        if is_array:
            key, inner = f"[{number}]", plain.strip()
        else:
            name, _, inner = (one.strip() for one in plain.partition(":"))
            if not _NAME.fullmatch(name):
                continue  # the rest of it, or a computed name
            names.append(name)
            key = f".{name}"
        nested = re.match(r"[\[{].*[\]}]", inner, re.DOTALL)
        if nested is not None:
            yield from _patterns(nested[0], path + key)
    yield path, is_array, tuple(names)


def _split_items(text: str) -> list[str]:
    """Return the parts of a list that its commas separate."""
    found, depth, begin = [], 0, 0
    for start, part in _split(text):
        depth += (part in _OPENERS) - (part in _CLOSERS)
        if part == "," and not depth:
            found.append(text[begin:start])
            begin = start + 1
    return [*found, text[begin:]] if text[begin:].strip() else found
