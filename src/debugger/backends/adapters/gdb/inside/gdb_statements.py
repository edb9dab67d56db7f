"""Reads the statement of a line, and its operands, as text. Run inside gdb."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

_STATEMENT_LINES = 5
_OPERANDS = 24  # of one statement
# An index that changes something is none: gdb would change the program by reading the element.
_INDEX = r"\[(?:(?!\+\+|--)[^\[\]()=])*\]"
_OPERAND = re.compile(rf"(?:\*\s*)?[A-Za-z_]\w*(?:\s*(?:->|\.|::)\s*[A-Za-z_]\w*|{_INDEX})*")
_KEYWORDS = frozenset(
    {"if", "else", "while", "for", "do", "return", "switch", "case", "break", "continue", "goto"}
    | {"sizeof", "static", "const", "auto", "struct", "union", "enum", "class", "new", "delete"}
    | {"int", "char", "long", "short", "unsigned", "signed", "float", "double", "void", "bool"}
    | {"true", "false", "let", "mut", "as", "fn", "match", "in", "std", "nullptr", "NULL", "None"}
)
_STRING = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'')

# Methods of Rust whose result is read as what it borrows: `a.log.borrow()[1]`.
_BORROWS = re.compile(r"\.(?:borrow|borrow_mut|as_ref|lock\(\)\.unwrap)\(\)(?=[.\[])")


def operands_of(text: str) -> list[str]:
    """Return the names, fields and elements that a statement reads or writes."""
    plain = _BORROWS.sub("", _STRING.sub(" ", text))
    found: dict[str, None] = {}
    for match in _OPERAND.finditer(plain):
        name = re.sub(r"\s+", "", match[0])
        before = plain[: match.start()].rstrip()[-1:]
        # `a * b` is no dereference.
        if name.startswith("*") and (before.isalnum() or before in {")", "]", "_"}):
            name = name[1:]
        is_call = plain[match.end() :].lstrip().startswith("(")
        if is_call:
            # `a.push(x)` reads a, `*a.add(1)` reads no `*a`; `f(x)` reads no variable.
            name = re.sub(r"(?:->|\.|::)?\w+$", "", name.lstrip("*"))
        if name.lstrip("*") and name not in _KEYWORDS:
            found[name] = None
            for inner in re.findall(r"\[([A-Za-z_][\w.>-]*)\]", name):
                found[inner] = None
            # The pointer or the array that a field or an element belongs to.
            base = re.match(r"^(.*?\w\]*)(?:->|\.|\[)[^.>\[]*$", name)
            if base:
                found[base[1]] = None
    return list(found)[:_OPERANDS]


_CALL = re.compile(r"[\w>]\s*\(")
_RIGHT = re.compile(r"(?:(?<![=!<>])=(?!=)|\breturn\b)\s*([^;]+)")
_PARTS = 12
_UNSAFE = re.compile(r"\bunsafe\s*\{([^{}]*)\}")  # a block of Rust


def parts_of(text: str) -> list[str]:
    """Return the arguments, the right side and what is returned, where they are no names alone."""
    text = _UNSAFE.sub(r"\1", text)
    found = [one.strip() for one in _RIGHT.findall(text)]
    for match in _CALL.finditer(text):
        found += _split_arguments(text[match.end() :])
    # Nothing that writes: gdb would change the program.
    operands = [one for one in found if one and not re.search(r"(?<![=!<>])=(?!=)|\+\+|--", one)]
    return list(dict.fromkeys(operands))[:_PARTS]


def _split_arguments(text: str) -> list[str]:
    found, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0:
            break
        if letter == "," and not depth:
            found.append("")
        else:
            found[-1] += letter
    return [one.strip() for one in found]


@lru_cache(maxsize=32)
def source_lines(file: str) -> tuple[str, ...]:
    """Return the lines of a source file; none if it cannot be read."""
    try:
        return tuple(Path(file).read_text("utf-8", "replace").splitlines())
    except OSError:
        return ()


def statement_at(file: str, line: int) -> str:
    """Return the statement that a line is part of, as far as semicolons and braces show it."""
    lines = source_lines(file)
    if not 0 < line <= len(lines):
        return ""
    if file.endswith(".go"):
        return _without_comment(lines[line - 1])
    first = line - 1
    for _ in range(_STATEMENT_LINES):
        before = _without_comment(lines[first - 1]) if first else ";"
        is_end = not before or before[-1] in ";{}:" or before.startswith("#")
        if is_end or _is_control_line(before):
            break
        first -= 1
    parts: list[str] = []
    for text in lines[first : line - 1 + _STATEMENT_LINES]:
        parts.append(_without_comment(text))
        is_past = len(parts) > line - 1 - first
        if is_past and (parts[-1][-1:] in {";", "{", "}"} or _is_control_line(parts[-1])):
            break
    return " ".join(one for one in parts if one)


def _is_control_line(text: str) -> bool:
    """Return whether a line is `if (…)`, `for (…)` or the like, with the statement below it."""
    is_control = re.match(r"(?:\}\s*)?(?:else\s+)?(?:if|for|while|switch|else)\b", text)
    return bool(is_control) and text.endswith((")", "else")) and text.count("(") == text.count(")")


def _without_comment(text: str) -> str:
    return re.sub(r"\s*(//.*|/\*.*\*/)\s*$", "", text).strip()
