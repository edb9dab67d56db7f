"""Finds the functions of a name in JavaScript and TypeScript files, however large they are.

A file that a program wrote (a bundle of 190,000 lines) is searched in a process of its own: the
search takes seconds, and would hold up everything else that the daemon does.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from debugger.model.location import near_names
from debugger.sources.function_names import choose_matches, last_part
from debugger.sources.javascript_outline import (
    JavaScriptFunction,
    find_nested,
    outline_file,
    outline_text,
)
from debugger.sources.project_files import with_text

SIZE_MAX = 64 << 20  # bytes of a file
_OWN_PROCESS = 1 << 20  # bytes; what is longer is searched in a process of its own
_SEARCH_S = 60.0
_FOUND_MAX = 50  # functions of one name in a file
_READ_MAX = 128 << 20  # bytes that are read for names that are near
_NEAR_MAX = 4
_HOLDERS = frozenset({"module", "exports", "prototype", "this"})
_SHORT = 5  # letters
_CLOSE = 400  # names that are compared letter by letter
_NAMED = re.compile(
    r"\bfunction\s*\*?\s*([\w$]+)|\b(?:const|let|var)\s+([\w$]+)\s*=\s*(?:async\s*)?[(\w$]"
    r"|^[ \t]*(?:(?:async|static|get|set)\s+)*([\w$]+)[ \t]*\([^;\n]*\)[ \t]*\{"
    r"|\b([\w$]+)\s*[:=]\s*(?:async\s*)?(?:function\b|\([^()]*\)\s*=>|[\w$]+\s*=>)",
    re.MULTILINE,
)
_NO_NAMES = frozenset({"if", "for", "while", "switch", "catch", "with", "function"})


class ScriptFunction(Struct, frozen=True):
    """A function of a file: its name with those around it, and the start of its code."""

    name: str
    file: str
    first_line: int
    line: int
    column: int
    arguments: tuple[str, ...] = ()


def search_functions(files: Sequence[Path], name: str) -> list[ScriptFunction]:
    """Find the functions that a name means, in the order of the files.

    A name is a function's own, or has those of functions, classes, objects and files before it.
    """
    name = _plain_name(name)
    last = last_part(name)
    # Only files that contain the name are parsed.
    holding = with_text(files, last, size_max=SIZE_MAX)
    return _choose(name, [one for path in holding for one in functions_in(str(path), name)])


def _plain_name(name: str) -> str:
    """Return a name without what stands before a function that is assigned: `exports.f`."""
    parts = name.split(".")
    outer = [one for one in parts[:-1] if one not in _HOLDERS]
    return ".".join([*outer, parts[-1]])


def _choose(name: str, some: Sequence[ScriptFunction]) -> list[ScriptFunction]:
    return choose_matches(name, some, lambda one: (one.name, _module_path(one.file)))


def _module_path(file: str) -> str:
    """Return a file's path without any of its extensions: `shop` of shop.test.ts."""
    path = Path(file)
    return str(path.with_name(path.name.partition(".")[0] or path.name))


def functions_in(path: str, name: str) -> tuple[ScriptFunction, ...]:
    """Return the functions of a file that a name may mean; none if it cannot be read."""
    name = _plain_name(name)
    try:
        stat = Path(path).stat()
    except OSError:
        return ()
    return _cached_functions(path, name, stat.st_mtime_ns, stat.st_size)


@functools.lru_cache(maxsize=256)
def _cached_functions(path: str, name: str, changed: int, size: int) -> tuple[ScriptFunction, ...]:
    del changed  # it makes an edited file another key
    if size > SIZE_MAX:
        return ()
    if size <= _OWN_PROCESS:
        return _read_functions(path, name)
    return _search_elsewhere(path, name)


def _search_elsewhere(path: str, name: str, line: int = 0) -> tuple[ScriptFunction, ...]:
    """Search a file in a process of its own; nothing if that fails."""
    # -P: the working directory is no place to import from.
    words = [sys.executable, "-P", "-m", "debugger.sources.javascript_search"]
    try:
        done = subprocess.run(
            [*words, path, name, str(line)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SEARCH_S,
            check=True,
        )
        return tuple(msgspec.json.decode(done.stdout, type=list[ScriptFunction]))
    except (OSError, subprocess.SubprocessError, msgspec.DecodeError):
        return ()


def enclosing_function(path: str, line: int) -> ScriptFunction | None:
    """Return the innermost function around a line of a file; None if there is none."""
    try:
        stat = Path(path).stat()
    except OSError:
        return None
    return _cached_enclosing(path, line, stat.st_mtime_ns, stat.st_size)


@functools.lru_cache(maxsize=256)
def _cached_enclosing(path: str, line: int, changed: int, size: int) -> ScriptFunction | None:
    del changed  # it makes an edited file another key
    if size > SIZE_MAX:
        return None
    if size > _OWN_PROCESS:
        return next(iter(_search_elsewhere(path, "", line)), None)
    outline = outline_file(path, size_max=_OWN_PROCESS)
    found = outline.innermost_function(line) if outline is not None else None
    return _script_function(found, found.name, path) if found is not None else None


def _script_function(one: JavaScriptFunction, name: str, path: str) -> ScriptFunction:
    return ScriptFunction(name, path, one.first_line, one.line, one.column, one.arguments)


def _read_functions(path: str, name: str) -> tuple[ScriptFunction, ...]:
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ()
    every = [
        _script_function(one.function, one.full_name, path)
        for one in find_nested(text, last_part(name))
    ]
    return tuple(_choose(name, every)[:_FOUND_MAX])


def near_functions(files: Sequence[Path], requested: str) -> tuple[str, ...]:
    """Return the names of functions like a wanted one, within a number of bytes."""
    last = last_part(requested)
    names = dict.fromkeys(name for name in _function_names(files) if name not in _NO_NAMES)
    # difflib takes seconds for the names of a bundle: those of another length, and without two or
    # three letters in common, cannot be near.
    lower = last.lower()
    size = 3 if len(lower) > _SHORT else 2
    parts = {lower[at : at + size] for at in range(len(lower) - size + 1)}
    close = [
        one
        for one in names
        if abs(len(one) - len(last)) <= max(2, len(last) // 2)
        and (not parts or any(part in one.lower() for part in parts))
    ]
    close.sort(key=lambda one: abs(len(one) - len(last)))
    return near_names(last, close[:_CLOSE], _NEAR_MAX)


def _function_names(files: Sequence[Path]) -> Iterator[str]:
    remaining = _READ_MAX
    for path in files:
        try:
            remaining -= path.stat().st_size
            if remaining < 0:
                return
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        for one in _NAMED.finditer(text):
            yield next(filter(None, one.groups()))


def main(path: str, name: str, line: int) -> None:
    """Write the functions of a name, or the one around a line, to standard output, as JSON."""
    if name:
        found = list(_read_functions(path, name))
    else:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
        one = outline_text(text).innermost_function(line)
        found = [_script_function(one, one.name, path)] if one is not None else []
    with os.fdopen(os.dup(1), "wb") as output:
        output.write(msgspec.json.encode(found))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
