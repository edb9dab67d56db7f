"""Finds functions in the sources of a Python program, before it runs or where they did not run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import islice
from pathlib import Path

from msgspec import Struct, structs

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.location import is_pattern, match_paths, near_files, near_names
from debugger.recorders.model import FunctionPlace, FunctionSpot
from debugger.sources.function_names import choose_matches, last_part, split_name
from debugger.sources.function_span import (
    functions_in,
    lambdas_in,
    may_define,
    parse_source,
    scan_names,
)
from debugger.symbols.function_definitions import find_definitions

_FILES_MAX = 2_000  # sources to search
_SIZE_MAX = 1 << 20  # bytes of a source that is searched
_FOLDERS_OUT = frozenset({"site-packages", "dist-packages", "node_modules", "__pycache__"})
_NEAR = 4  # similar names
_CLOSE = 0.75
_LISTED = 4  # searched files that are named
_LAMBDA = "<lambda>"


class DefinedFunction(Struct, frozen=True):
    """A function that a source defines, and the name that its code has."""

    name: str
    file: str
    line: int
    code: str = ""


class SourceSearch(Struct, frozen=True):
    """The functions that a name means, or else the names that are near, and what was searched."""

    found: tuple[DefinedFunction, ...]
    near: tuple[str, ...]
    searched: tuple[str, ...]
    # The name is in the text of a source, which may load or make what has it.
    is_mentioned: bool = False

    @property
    def searched_text(self) -> str:
        """The number of searched files, and the names of the first."""
        count = len(self.searched)
        if not count:
            return "no Python files"
        listed = ", ".join(Path(one).name for one in self.searched[:_LISTED])
        more = ", …" if count > _LISTED else ""
        return f"{count:,} Python {'file' if count == 1 else 'files'} ({listed}{more})"


def search_sources(
    function: FunctionPlace, roots: Iterable[str], *, finds_near: bool = True
) -> SourceSearch:
    """Find a function in the sources below the roots, or in the file that it is said to be in.

    It takes about a second for a thousand files: not in the daemon's event loop.
    """
    files = [*source_files(roots)]
    if function.file:
        files = match_paths(function.file, files) or [function.file]
    last = last_part(function.name)
    word = re.compile(rf"(?<!\w){re.escape(last)}(?!\w)")
    texts = {path: read_source(path) for path in files}
    is_mentioned = any(last in text and word.search(text) for text in texts.values())
    # Parsing takes longest: only of files that may have the name, or have the words of a pattern.
    if is_pattern(function.name):
        words = _pattern_words(function.name)
        some = {path: text for path, text in texts.items() if all(one in text for one in words)}
    else:
        some = {path: text for path, text in texts.items() if may_define(text, last)}
    every = list(_defined_in(some))
    found = choose_matches(
        function.name, every, lambda one: (one.name, one.file.removesuffix(".py"))
    )
    if found:
        return SourceSearch(tuple(found), (), tuple(files), is_mentioned=True)
    near = _near_defined(function.name, last, texts) if finds_near else ()
    return SourceSearch((), near, tuple(files), is_mentioned=is_mentioned)


def _near_defined(name: str, last: str, texts: dict[str, str]) -> tuple[str, ...]:
    """Return the names of functions that are near to one, or to its last part."""
    files: dict[str, list[str]] = {}
    for path, text in texts.items():
        for one in scan_names(text):
            files.setdefault(one, []).append(path)
            if "." in one:
                files.setdefault(_tail(one), []).append(path)
    near = near_names(last, files, 2 * _NEAR) or near_names(name, files, 2 * _NEAR)
    defined: dict[str, set[str]] = {}

    def is_defined(one: str) -> bool:
        # A scan takes the text of a string for code too.
        for path in dict.fromkeys(files[one]):
            if path not in defined:
                some = list(_defined_in({path: texts[path]}))
                defined[path] = {each for part in some for each in (part.name, _tail(part.name))}
            if one in defined[path]:
                return True
        return False

    return tuple(islice(filter(is_defined, near), _NEAR))


def _tail(name: str) -> str:
    """Return the last part of a name that a source defines."""
    return name.rpartition(".")[2]


def _defined_in(texts: dict[str, str]) -> Iterator[DefinedFunction]:
    for path, text in texts.items():
        tree = parse_source(text)
        if tree is None:
            continue
        for one in functions_in(tree):
            yield DefinedFunction(one.name, path, one.line, _tail(one.name))
        if _LAMBDA[1:-1] in text:
            for one in lambdas_in(tree):
                yield DefinedFunction(one.name, path, one.line, _LAMBDA)


def _pattern_words(pattern: str) -> list[str]:
    """Return the words that are in each name which fits a pattern: `Order` of `Order.*`."""
    return re.findall(r"\w+", re.sub(r"\[[^\]]*\]", "*", pattern))


def find_defined(
    function: FunctionPlace, roots: Iterable[str]
) -> tuple[list[DefinedFunction], tuple[str, ...]]:
    """Find a function in the program's sources; else near names."""
    if not function.name:
        return [], ()
    search = search_sources(function, roots)
    return list(search.found), search.near


def resolve_function(function: FunctionPlace, roots: Sequence[str]) -> FunctionPlace:
    """Return a location with what its name means by the program's Python sources.

    A name that no source defines may be that of code that is generated or loaded from elsewhere.
    """
    if not function.name or is_pattern(function.name):
        return function
    search = search_sources(function, roots, finds_near=False)
    if not search.found:
        return structs.replace(function, is_anywhere=True)
    parts = split_name(function.name)
    spots = tuple(
        FunctionSpot(one.file, one.line, one.code)
        for one in search.found
        if one.code == _LAMBDA or split_name(one.name)[-len(parts) :] != parts
    )
    return structs.replace(function, spots=spots, is_anywhere=may_be_generated(function.name))


def may_be_generated(name: str) -> bool:
    """Return whether a name is that of a method which a dataclass or a namedtuple makes.

    Another class of this name may define it in a source.
    """
    return re.search(r"\w\.__\w+__\Z", name) is not None


def resolve_native(function: FunctionPlace, program: str) -> FunctionPlace:
    """Return a location with what its name means by a program's debug information.

    A trace knows Rust's methods by names without their types.
    """
    if not function.name or is_pattern(function.name):
        return function
    found = find_definitions(program, function.name, Path(function.file).name)
    spots = tuple(FunctionSpot(one.file, one.line, "") for one in found)
    return structs.replace(function, spots=spots)


def check_exists(
    location: str, file: str | None, function: str | None, roots: Sequence[str], *, again: str
) -> None:
    """Check that a function is in the program's sources, if that is known before the run.

    `again` is the command that repeats the question, with `{}` for the function.

    Raises:
        DebuggerError: NOT_FOUND for a file or a function that is not in the sources, while a
        similar name is.
    """
    if file is not None and not Path(file).is_file():
        name, sources = Path(file).name, list(source_files(roots))
        near = near_files(name, [Path(one).name for one in sources])
        # One that is near to none may be a library's.
        if near and not match_paths(name, sources):
            raise _absent_error(
                location, f"no file {name} in the program's own sources", near, again
            )
    if function is None:
        return
    search = search_sources(FunctionPlace(name=function, file=file or ""), roots)
    # What the sources mention may be generated, or loaded from elsewhere.
    if search.found or (search.is_mentioned and file is None) or not (search.near or file):
        return
    # So may a method of a class, or a function of a module, that the sources do not have.
    if file is None and "." in function and not _is_close(function, search.near):
        return
    text = f"no function {function} in {search.searched_text}"
    raise _absent_error(location, text, search.near, again)


def _is_close(name: str, near: Sequence[str]) -> bool:
    """Return whether a name with its class or module is nearly one that the sources define."""
    matcher = SequenceMatcher(None, b=name.lower())
    for one in near:
        matcher.set_seq1(one.lower())
        if matcher.ratio() >= _CLOSE:
            return True
    return False


def _absent_error(location: str, text: str, near: Sequence[str], again: str) -> DebuggerError:
    there = f"; there is {', '.join(near[:_NEAR])}" if near else ""
    file, colon, _ = location.partition(":")
    suggestion = near[0] if near else "FILE:LINE"
    if near and colon and not near[0].endswith(".py") and file.endswith(".py"):
        suggestion = f"{file}:{near[0]}"
    elif near and colon and near[0].endswith(".py"):
        suggestion = location.replace(Path(file).name, near[0], 1)
    way = " (or FILE:LINE)" if suggestion != "FILE:LINE" else ""
    return DebuggerError(
        ErrorCode.NOT_FOUND, f"{text}{there}", hint=f"{again.format(suggestion)}{way}"
    )


def source_files(roots: Iterable[str]) -> Iterator[str]:
    """Yield the Python sources below the roots, within a limit, without installed ones."""
    remaining = _FILES_MAX
    for root in roots:
        for folder, inner, files in os.walk(root):
            inner[:] = [
                one for one in sorted(inner) if one not in _FOLDERS_OUT and not one.startswith(".")
            ]
            for file in files:
                remaining -= 1
                if remaining < 0:
                    return
                if file.endswith(".py"):
                    yield str(Path(folder, file))


def read_source(path: str) -> str:
    """Return a source's text; "" for one that cannot be read, or that a program wrote."""
    try:
        if Path(path).stat().st_size > _SIZE_MAX:
            return ""
        return Path(path).read_text("utf-8", "replace")
    except (OSError, ValueError):
        return ""
