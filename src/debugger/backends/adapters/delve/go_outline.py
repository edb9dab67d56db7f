"""Parses the functions of a Go source: names, locations, parameters.

Read as gofmt writes it: a function of a file begins a line with `func`, and `}` alone begins the
line that ends it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

_READ_MAX = 4 << 20
_PACKAGE = re.compile(r"^package\s+(\w+)", re.MULTILINE)
_FUNCTION = re.compile(
    r"^func\s+(?:\((?P<receiver>[^)]*)\)\s*)?(?P<name>\w+)\s*(?:\[[^\]]*\])?\s*\(", re.MULTILINE
)
_BODY = re.compile(r"(?:^|\s)\{")
_NAMED = re.compile(r"\w+\s+\S")
_RESULTS_MAX = 2000
_END = re.compile(r"^\}", re.MULTILINE)
_NOT_OWN = re.compile(r"/pkg/mod/|/vendor/|\A_cgo|\A<")


class GoFunction(Struct, frozen=True):
    """A function of a file, from line to line.

    `names` are of all that is passed in and out, `result_names` of the latter alone, `results` the
    types of what it returns.
    """

    name: str
    first: int
    last: int
    names: tuple[str, ...]
    results: tuple[str, ...] = ()
    result_names: tuple[str, ...] = ()


class GoOutline(Struct, frozen=True):
    """A file's package, functions and length."""

    package: str
    functions: tuple[GoFunction, ...]
    length: int


def outline_file(path: str) -> GoOutline | None:
    """Read a file; None if it cannot be."""
    try:
        stat = Path(path).stat()
    except OSError:
        return None
    return _cached_outline(path, stat.st_mtime_ns, stat.st_size)


@functools.lru_cache(maxsize=256)
def _cached_outline(path: str, time_ns: int, size: int) -> GoOutline | None:
    del time_ns, size  # another file by the same name
    try:
        with Path(path).open("rb") as file:
            text = file.read(_READ_MAX).decode(errors="replace")
    except OSError:
        return None
    package = _PACKAGE.search(text)
    functions = tuple(_parse_function(text, match) for match in _FUNCTION.finditer(text))
    return GoOutline(package[1] if package else "", functions, text.count("\n") + 1)


def _parse_function(text: str, match: re.Match[str]) -> GoFunction:
    receiver = match["receiver"] or ""
    inside, after = _parenthesized_text(text, match.end() - 1)
    rest = text[after : after + _RESULTS_MAX].lstrip(" \t")
    if rest.startswith("("):
        results, _ = _parenthesized_text(rest, 0)
    else:
        results = _BODY.split(rest.partition("\n")[0])[0].strip()
    is_short = rest.partition("\n")[0].rstrip().endswith("}")  # all on one line
    end = None if is_short else _END.search(text, match.end())
    first = text.count("\n", 0, match.start()) + 1
    last = text.count("\n", 0, end.start()) + 1 if end else first
    result_names = tuple(_parameter_names(results))
    names = (*_parameter_names(receiver), *_parameter_names(inside), *result_names)
    name = _full_name(match["name"], receiver)
    return GoFunction(name, first, last, names, _parameter_types(results), result_names)


def _full_name(name: str, receiver: str) -> str:
    words = receiver.split()
    kind = words[-1].partition("[")[0] if words else ""
    return f"({kind}).{name}" if kind.startswith("*") else f"{kind}.{name}" if kind else name


def _parenthesized_text(text: str, start: int) -> tuple[str, int]:
    """Return what is between a parenthesis and its partner, and where that ends."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if not depth:
            return text[start + 1 : at], at + 1
    return "", len(text)


def _parameter_names(parameters: str) -> list[str]:
    """Return the names in `a, b int, c ...string`; types alone, as in `int, error`, have none."""
    parts = _split_parameters(parameters)
    if not _are_named(parts):
        return []
    return [one.split()[0] for one in parts if one.split()[0] != "_"]


def _parameter_types(parameters: str) -> tuple[str, ...]:
    """Return the types in `a, b int` or `int, error`."""
    parts = _split_parameters(parameters)
    if not _are_named(parts):
        return tuple(parts)
    found: list[str] = []
    for one in reversed(parts):
        _, blank, kind = one.partition(" ")
        found.append(kind.strip() if blank or not found else found[-1])
    return tuple(reversed(found))


def _are_named(parts: Sequence[str]) -> bool:
    return any(_NAMED.match(one) and not one.startswith(("chan ", "func(")) for one in parts)


def _split_parameters(parameters: str) -> list[str]:
    parts, depth, part = [], 0, ""
    for letter in parameters:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    parts.append(part.strip())
    return [one for one in parts if one]


def function_names(path: str) -> list[str]:
    """Return the functions of a file as delve names them: main.work, main.(*Tree).Add."""
    found = outline_file(path)
    return [f"{found.package}.{one.name}" for one in found.functions] if found else []


def parameter_names(path: str, function: str, line: int) -> list[str] | None:
    """Return what is passed into and out of a function; None for one within another."""
    found = outline_file(path)
    for one in found.functions if found else ():
        if one.first <= line <= one.last and function.endswith(f".{one.name}"):
            return list(one.names)
    return None


def unset_results(path: str, function: str, line: int) -> tuple[str, ...]:
    """Return the named results that have no value yet at a line: at the function's first."""
    found = outline_file(path)
    for one in found.functions if found else ():
        if one.first == line and function.endswith(f".{one.name}"):
            return one.result_names
    return ()


def result_types(path: str, function: str) -> tuple[str, ...] | None:
    """Return the types of what a function of a file returns; None if it is not there."""
    found = outline_file(path)
    for one in found.functions if found else ():
        if one.name == function:
            return one.results
    return None


def count_lines(path: str) -> int | None:
    """Return how many lines a file has; None if it cannot be read."""
    found = outline_file(path)
    return found.length if found is not None else None


def is_own(path: str) -> bool:
    """Tell whether a source is neither of Go itself nor of another module."""
    if _NOT_OWN.search(path):
        return False
    return not any((parent / "VERSION").is_file() and (parent / "src" / "runtime").is_dir()
                   for parent in Path(path).parents)  # fmt: skip
