"""Finds the lines that alone can have given a local of Rust or C its value. Pure.

A local of Rust changes by a binding, by an assignment, through `&mut` or by a method that borrows
it so. Where the source shows the first two alone, the last such line that ran made the value. So it
is in C with an assignment, where the local's address is never taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from debugger.questions.why import statement_origin, value_lines

ANY_FIELD = "*"  # a field that nothing assigns to alone
_SUFFIX = ".rs"
_OF_CPP = (".cc", ".cpp", ".cxx", ".hpp", ".hh")
_OF_C = (".c", ".h", *_OF_CPP)
# What may change a local of C beside its own name: its address, and a macro.
_POINTED = r"&\s*{0}\b|\b[A-Z][A-Z_]+\s*\([^;]*\b{0}\b"
# And of C++: a reference, as an argument may be, a lambda, a stream.
_REFERRED = (
    r"(?<!\bif )(?<!\bwhile )(?<!\bswitch )[(,]\s*{0}\s*[,)]|&\s*\w+\s*[={{(]\s*{0}\b|\[[^\]]*&"
    r"|>>\s*{0}\b"
)
_CHANGED = r"(?<![\w.>]){0}\s*(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)|(?:\+\+|--)\s*{0}\b"
_BEGUN = r"\s*(?:(?:[A-Za-z_][\w:]*[\s*]+)*{0}\s*[-+*/%&|^<>]*=(?!=)|{0}\s*(?:\+\+|--))"
_LINES_MAX = 12  # lines that give one local its value
# Methods that read, by the usual names.
_READING = re.compile(
    r"(?:is|as|to|get)_(?!\w*mut)\w+|get|len|clone|copied|abs|min|max|signum|iter|contains\w*|cmp"
    r"|into|eq|ne|unwrap\w*|first|last"
)
# What changes without `mut`, by its types and by the usual names of the methods that change it.
_SHARED = re.compile(
    r"\b(?:Unsafe|Ref|Once|Lazy)?Cell\b|\bAtomic\w+|\bMutex\b|\bRwLock\b|\bOnceLock\b"
)
_SETTING = (
    r"(?:set|replace\w*|swap|take|update|store|fetch_\w+|compare_\w+"
    r"|borrow_mut|lock|write|get_or_\w+)"
)
_LET = r"\b(?:if|while)\s+let\b[^=]*\b{}\b[^=]*=(?![=>])"
# What binds a name in another way: a loop's element.
_OTHERS = r"\bfor\b[^{{\n]*\b{0}\b[^{{\n]*\bin\b"
_BORROWED = r"&\s*mut\s+{}\b(?!\s*\.)|\bref\s+mut\s+{}\b"
_MUTABLE = r"\bmut\s+{}\b"
_METHOD = r"(?<![\w.]){}((?:\.\w+)*)\.(\w+)\s*(?:::<[^>]*>)?\("
_FIELD = r"(?<![\w.]){}\.(\w+)[\w.\[\]]*\s*(?:[-+*/%&|^]|<<|>>)?=(?![=>])"


def settled_lines(
    file: str,
    text: Sequence[str],
    span: tuple[int, int],
    name: str,
    *,
    field: str = "",
    is_reading: Callable[[str], bool] = lambda _: False,
) -> tuple[int, ...]:
    """Return the lines of a function that give a local its value; none where others may do so.

    Args:
        file: The source file.
        text: Its lines.
        span: The function's first and last line.
        name: The local.
        field: The field that is followed, if it is known: what assigns to others does not matter.
        is_reading: Tells of a method that it does not change its object.
    """
    if not file.endswith(_SUFFIX) or not name.isidentifier():
        return ()
    body = {
        number: value_lines.without_comment(text[number - 1])
        for number in range(span[0] + 1, min(span[1], len(text)) + 1)
        if name in text[number - 1]
    }
    word = re.escape(name)
    plain = "\n".join(body.values())
    if re.search(_OTHERS.format(word), plain, re.MULTILINE):
        return ()
    if re.search(_MUTABLE.format(word), plain) and _may_change(plain, word, field, is_reading):
        return ()
    found = [number for number, line in body.items() if is_binding(name, line)]
    setting = rf"(?<![\w.]){word}\.{_SETTING}\s*\("
    if re.search(setting, plain) or any(_SHARED.search(body[number]) for number in found):
        return ()
    # Of `let x = match y {` the arm that was taken gives the value.
    found += [one for number in found for one in value_lines.chosen_expressions(text, number)]
    return tuple(found) if len(found) <= _LINES_MAX else ()


def assigning_lines(
    file: str, text: Sequence[str], span: tuple[int, int], name: str
) -> tuple[int, ...]:
    """Return the lines of C or C++ that alone assign to a local; none where others may.

    Each begins with its assignment, so that it assigns whenever it runs: an assignment of the value
    that the local has already is seen by the line alone. With a single one nothing is returned.

    Args:
        file: The source file.
        text: Its lines.
        span: The function's first and last line.
        name: The local.
    """
    if not file.endswith(_OF_C) or not name.isidentifier():
        return ()
    body = {
        number: value_lines.without_comment(text[number - 1])
        for number in range(span[0], min(span[1], len(text)) + 1)
        if name in text[number - 1] or "[&" in text[number - 1]
    }
    plain, word = "\n".join(body.values()), re.escape(name)
    if _is_pointed(file, plain, word):
        return ()
    changed, begun = re.compile(_CHANGED.format(word)), re.compile(_BEGUN.format(word))
    found = [number for number, line in body.items() if changed.search(line)]
    is_plain = all(begun.match(body[number]) for number in found)
    return tuple(found) if is_plain and 1 < len(found) <= _LINES_MAX else ()


def is_shared(file: str, text: Sequence[str], span: tuple[int, int], name: str) -> bool:
    """Return whether a local is written through its address, or its fields by several lines."""
    plain = "\n".join(map(value_lines.without_comment, text[span[0] - 1 : span[1]]))
    word = re.escape(name)
    if not file.endswith(_OF_C):
        return re.search(_BORROWED.format(word, word), plain) is not None
    field = rf"(?<![\w.>]){word}(?:\.\w+|\[[^\]]*\])+\s*=(?!=)"
    return re.search(field, plain) is not None or _is_pointed(file, plain, word)


def _is_pointed(file: str, plain: str, word: str) -> bool:
    """Return whether code of C or C++ takes a local's address, or a reference to it."""
    kinds = (_POINTED, *((_REFERRED,) if file.endswith(_OF_CPP) else ()))
    return any(re.search(one.format(word), plain) for one in kinds)


def is_binding(name: str, line: str) -> bool:
    """Return whether a line binds a name of Rust, or assigns to it."""
    is_let = re.match(r"\s*let\b", line) is not None
    return (
        (is_let and name in statement_origin.assigned_names(line))
        or re.search(_LET.format(re.escape(name)), line) is not None
        or statement_origin.is_assigned(name, line)
        or value_lines.binds_in_arm(name, line)
    )


def _may_change(plain: str, word: str, field: str, is_reading: Callable[[str], bool]) -> bool:
    """Return whether something else than a binding or an assignment may change a local."""
    if re.search(_BORROWED.format(word, word), plain):
        return True
    fields = {one[1] for one in re.finditer(_FIELD.format(word), plain)}
    if fields and (not field or field in fields):
        return True
    methods = {one[2] for one in re.finditer(_METHOD.format(word), plain)}
    return any(not _READING.fullmatch(one) and not is_reading(one) for one in methods)
