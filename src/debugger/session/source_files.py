"""Resolves source files, and reads the lines around a location."""

from __future__ import annotations

import functools
import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.answers import SourceLine
from debugger.model.location import (
    SourceMap,
    absolute_path,
    is_library,
    match_paths,
    short_paths,
)
from debugger.sources.deciding_condition import find_reaching
from debugger.sources.function_span import find_span
from debugger.symbols.source_names import sources_of

_FILE_MAX = 8 << 20  # bytes
_LINE_MAX = 400  # characters of a line; a longer one is cut around the column
_PART_BEFORE, _PART_AFTER = 60, 60  # characters of a line that is cut around a column
_ENTRIES_MAX = 20_000  # directory entries that a search reads
_DEPTH_MAX = 6  # levels of folders that a search enters
_LISTED_MAX = 10
_FAILURE_SPAN = 2  # lines on either side of one that failed
_REACHING = 4  # conditions before it
SCRIPT_SUFFIXES = (".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".rb", ".php")
_NOT_OURS = frozenset({"node_modules", "__pycache__", "site-packages", "venv", "target", "build"})


@functools.lru_cache(maxsize=64)
def _read_lines(path: str, modified_ns: int, size: int) -> tuple[str, ...]:
    del modified_ns, size  # they make a changed file another key
    return split_lines(Path(path).read_bytes())


def split_lines(text: bytes) -> tuple[str, ...]:
    """Split source into lines as compilers count them: a form feed, for example, ends none."""
    lines = (line.decode(errors="replace") for line in text.splitlines())
    return tuple(line[:_LINE_MAX].expandtabs(4) for line in lines)


def read_source(path: str) -> tuple[str, ...] | None:
    """Return a file's lines; None if it cannot be read or is over 8 MiB."""
    try:
        found = os.stat(path)
        if found.st_size > _FILE_MAX or not stat.S_ISREG(found.st_mode):
            return None
        # The cache's key: a file that was edited is read again.
        return _read_lines(path, found.st_mtime_ns, found.st_size)
    except (OSError, ValueError):  # ValueError: a NUL in the path
        return None


def is_readable(path: str | None) -> bool:
    """Return whether a source file can be read."""
    return path is not None and "\0" not in path and os.access(path, os.R_OK)


def column_part(path: str, line: int, column: int) -> tuple[str, int] | None:
    """Return the part of a long line around a column, and the column's position in it."""
    text = read_source(path)
    if text is None or not 1 <= line <= len(text) or len(text[line - 1]) < _LINE_MAX:
        return None
    try:
        # From the file, since the cached lines are truncated.
        full = Path(path).read_bytes().splitlines()[line - 1].decode(errors="replace")
    except (OSError, IndexError):
        return None
    first = max(0, column - 1 - _PART_BEFORE)
    return full[first : column - 1 + _PART_AFTER].expandtabs(1), column - 1 - first


def _line_excerpt(path: str, line: int, column: int | None, text: str) -> str:
    cut = column_part(path, line, column) if column and len(text) >= _LINE_MAX else None
    if cut is None or column is None:
        return text
    start = "… " if column - 1 > _PART_BEFORE else ""
    return f"{start}{cut[0]} … (column {column:,})"


def surrounding_lines(
    path: str | None, line: int | None, *, before: int, after: int, column: int | None = None
) -> tuple[SourceLine, ...]:
    """Return the lines around a line, marked; nothing without source.

    A bundle's line that is too long is cut around the `column`.
    """
    if path is None or line is None:
        return ()
    text = read_source(path)
    if text is None or not 1 <= line <= len(text):
        return ()
    first, last = max(1, line - before), min(len(text), line + after)
    return tuple(
        SourceLine(
            number,
            _line_excerpt(path, number, column, text[number - 1])
            if number == line
            else text[number - 1],
            current=number == line,
        )
        for number in range(first, last + 1)
    )


def failure_lines(
    path: str | None, line: int | None, *, column: int | None = None
) -> tuple[SourceLine, ...]:
    """Return the lines around a line that failed, after those of the conditions that led to it."""
    near = surrounding_lines(path, line, before=_FAILURE_SPAN, after=_FAILURE_SPAN, column=column)
    text = read_source(path) if near and path is not None else None
    if text is None or path is None or line is None:
        return near
    reaching = find_reaching(path, "\n".join(text), line)[:_REACHING]
    further = sorted(one.line for one in reaching if one.line < near[0].line)
    return (*(SourceLine(one, text[one - 1]) for one in further), *near)


def function_lines(path: str, line: int, name: str) -> tuple[SourceLine, ...] | None:
    """Return all lines of the function around a line; None if they are unknown."""
    text = read_source(path)
    found = find_span(path, text, line, name) if text is not None else None
    if found is None:
        return None
    return surrounding_lines(path, line, before=line - found[0], after=found[1] - line)


def list_lines(path: str, line: int, *, context: int) -> tuple[tuple[SourceLine, ...], int]:
    """Return the lines around a line, and the file's number of lines.

    Raises:
        DebuggerError: NOT_FOUND.
    """
    text = read_source(path)
    if text is None:
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"cannot read {path}",
            hint="debugger backtrace shows the files in use; sources that were moved are found by "
            "[sources] map in the configuration",
        )
    if line > len(text):
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"no line {line}: {path} has {len(text)} lines",
            hint=f"debugger source {path}:{max(len(text), 1)}",
        )
    shown = surrounding_lines(path, line, before=context, after=context)
    return shown, len(text)


def resolve_source(
    file: str, folders: Sequence[str], program: str | None, places: SourceMap
) -> str:
    """Resolve a part of a path to a source file.

    Candidates are files in the folders, the caller's first, then the program's own source with this
    path's end, then files below the folders; those of libraries only if there are no others. An
    unresolved path is left to the debugger.

    Raises:
        DebuggerError: USAGE if it may mean several files.
    """
    direct = (absolute_path(file, folder) for folder in folders)
    local = next((path for path in direct if os.path.isfile(path)), None)
    own = sources_of(program) if program is not None else ()
    fitting = match_paths(file, own)
    for path in fitting:
        if local is not None and _is_same(local, path, places):
            return places.to_local(path) if os.path.isabs(path) else local
    # Without debug information (an interpreted program) the folders are searched.
    if not own and local is None and not os.path.isabs(file):
        fitting = match_paths(file, _files_below(folders))
    if len(fitting) > 1:  # a name that the user types is rather of the user's own file
        own_files = [one for one in fitting if not is_library(one, next(iter(folders), ""))]
        fitting = own_files or fitting
        # Not of the standard library, whose sources are seldom on the machine.
        present = [
            one
            for one in fitting
            if os.path.isfile(_find_below(places.to_local(one), folders, program))
        ]
        fitting = present or fitting
    if local is None and len(fitting) > 1:
        raise _ambiguous_error(file, [places.to_local(path) for path in fitting])
    if len(fitting) == 1:  # also where there is a file, but the program was not built from it
        return _find_below(places.to_local(fitting[0]), folders, program)
    return local or file


_CELL = re.compile(r"cell\d+\.py")


def find_cell(file: str, folders: Sequence[str]) -> str | None:
    """Return the file of a Jupyter kernel's cell; None without a kernel among the folders.

    It may be there only when a debugger has attached. A cell that ran again is a link to its first
    file.
    """
    if _CELL.fullmatch(file) is None:
        return None
    of_kernel = (one for one in folders if os.path.basename(one).startswith("ipykernel_"))
    folder = next(of_kernel, None)
    if folder is None:
        return None
    path = os.path.join(folder, file)
    return os.readlink(path) if os.path.islink(path) else path


def program_sources(program: str, folders: Sequence[str]) -> list[str]:
    """Return the sources of a program: a script itself, or what it was compiled from."""
    if program.endswith(SCRIPT_SUFFIXES):
        return [program]
    return [_find_below(one, folders, program) for one in sources_of(program)]


def _find_below(path: str, folders: Sequence[str], program: str | None) -> str:
    """Return the file with a debug information's relative path, below the folders.

    rustc writes paths relative to cargo's working directory, which is above the program.
    """
    if os.path.isabs(path):
        return path
    above = Path(program).parents if program is not None else ()
    for folder in (*folders, *map(str, above)):
        here = absolute_path(path, folder)
        if os.path.isfile(here):
            return here
    return path


def _is_same(local: str, path: str, places: SourceMap) -> bool:
    if not os.path.isabs(path):
        return bool(match_paths(path, [local]))
    try:
        return os.path.samefile(local, places.to_local(path))
    except OSError:
        return False


def _ambiguous_error(file: str, paths: list[str]) -> DebuggerError:
    listed = [f"  {path}" for path in paths[:_LISTED_MAX]]
    if len(paths) > _LISTED_MAX:
        listed.append(f"  and {len(paths) - _LISTED_MAX} more")
    return DebuggerError(
        ErrorCode.USAGE,
        "\n".join([f"{len(paths)} files are called {file}:", *listed]),
        hint=f"debugger break {short_paths(paths)[paths[0]]}:LINE",
    )


def _files_below(folders: Sequence[str]) -> Iterator[str]:
    """Yield the files below folders, the nearest first, within limits of number and depth."""
    remaining = _ENTRIES_MAX
    # Breadth first: the nearest file is the likeliest.
    waiting = [(folder, 0) for folder in folders if folder and folder != "/"]
    visited: set[str] = set()
    while waiting and remaining > 0:
        folder, depth = waiting.pop(0)
        if folder in visited:
            continue
        visited.add(folder)
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    remaining -= 1
                    is_ours = not entry.name.startswith(".") and entry.name not in _NOT_OURS
                    if entry.is_file():
                        yield entry.path
                    elif depth < _DEPTH_MAX and is_ours and entry.is_dir(follow_symlinks=False):
                        waiting.append((entry.path, depth + 1))
        except OSError:
            continue
