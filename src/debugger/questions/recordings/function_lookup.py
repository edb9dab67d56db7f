"""Finds the functions of a recording by FILE:LINE or by name."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.location import (
    absolute_path,
    match_paths,
    near_files,
    near_names,
    parse_location,
)
from debugger.questions.recordings.answer import RunView
from debugger.recorders.model import FunctionPlace, PartCounts, RecordedFunction, Recording
from debugger.recorders.traced_recording import NATIVE, is_entry
from debugger.sources.function_span import innermost_function, list_functions

_FILES_MAX = 2_000  # sources to search
_FOLDERS_OUT = frozenset({"site-packages", "dist-packages", "node_modules", "__pycache__"})
_NEAR = 4  # similar names
_LAST = 120  # characters of the last line of output
_SIZE_MAX = 1 << 20  # bytes of a source that is searched
_LINES_MAX = 64 << 20  # bytes of a source whose lines are shown


class DefinedFunction(Struct, frozen=True):
    """A function that a source defines."""

    name: str
    file: str
    line: int


def parse_function_place(words: str, cwd: str) -> FunctionPlace:
    """Parse a function's location for a recorder.

    Raises:
        DebuggerError: USAGE if it is neither a file with a line nor a function.
    """
    meant = parse_location(words)
    if meant.function is not None:
        return FunctionPlace(name=meant.function, file=_known_file(meant.file, cwd))
    if meant.file is None or meant.line is None:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{words} is neither FILE:LINE nor a function",
            hint="parse, or shop.py:12",
        )
    return FunctionPlace(file=_known_file(meant.file, cwd), line=meant.line)


def _known_file(file: str | None, cwd: str) -> str:
    """Return a file's path, if it is there, or else what was given."""
    if file is None:
        return ""
    whole = absolute_path(file, cwd)
    return whole if Path(whole).is_file() else file


def function_matcher(
    function: FunctionPlace, recording: Recording
) -> Callable[[RecordedFunction], bool]:
    """Return a test whether a recorded function is the requested one."""
    counted: dict[str, str] = {}
    lines: dict[str, int] = {}  # by file: where the function begins that the line is in

    def is_meant(one: RecordedFunction) -> bool:
        if function.name:
            return matches_name(function.name, one.name)
        if not match_paths(function.file, [one.file]):
            return False
        if one.file not in counted:
            counted[one.file] = _counted_function(one.file, function.line, recording)
        if counted[one.file]:
            return one.name == counted[one.file]
        if one.file not in lines:
            lines[one.file] = _function_start(one.file, function.line, recording)
        begins = lines[one.file]
        return one.line == begins if begins else one.name == "<module>"

    return is_meant


def _counted_function(file: str, line: int, recording: Recording) -> str:
    """Return the innermost function in which a line was counted, or nothing."""
    found: RecordedFunction | None = None
    for event in recording.events:
        if isinstance(event, PartCounts):
            one = recording.find_function(event.function)
            is_in = one.file == file and any(part.line == line for part in event.parts)
            if is_in and (found is None or found.line <= one.line <= line):
                found = one
    return found.name if found is not None else ""


def _function_start(file: str, line: int, recording: Recording) -> int:
    """Return the first line of the function around a line, in Python also by its end; or 0."""
    if file.endswith((".py", ".pyw")):
        found = innermost_function(_read_text(file), line)
        return found.line if found is not None else 0
    known = [one.line for one in recording.functions.values() if one.file == file]
    return max((one for one in known if one <= line), default=0)


def matches_name(pattern: str, name: str) -> bool:
    """Tell whether a name matches: as a whole, by its last parts, or by `*`."""
    plain = name.replace("<locals>.", "")
    parts = plain.replace("::", ".")
    return fnmatchcase(plain, pattern) or parts.endswith(f".{pattern.replace('::', '.')}")


def function_not_run(
    words: str,
    function: FunctionPlace,
    recording: Recording,
    roots: Iterable[str],
    run: RunView | None = None,
) -> DebuggerError:
    """Return the error that nothing requested ran, with near names and the run's end."""
    known = list(recording.functions.values())
    near: list[str] = []
    if recording.process.language == NATIVE and is_entry(words):
        said = f"the calls that {words} makes are recorded, not {words} itself"
    elif not function.name:
        near = [one.name for one in known if match_paths(function.file, [one.file])][:_NEAR]
        there = f"of that file ran {', '.join(near)}" if near else _none_of(function.file, roots)
        said = f"no function with {words} ran; {there}"
    else:
        written, near_ones = find_defined(function, roots)
        if written:
            one = written[0]
            said = f"{words} was not called: it is {one.name} in {one.file}:{one.line}"
        else:
            names = [one.name for one in known]
            plain = [one.rpartition(".")[2] for one in names]
            near = [*near_names(function.name, [*names, *plain]), *near_ones]
            near = list(dict.fromkeys(near))[:_NEAR]
            said = f"no function {words} ran" + (f"; there is {', '.join(near)}" if near else "")
    hint = f"debugger path --around {near[0]} -- CMD" if near else "debugger path -- CMD"
    return DebuggerError(
        ErrorCode.NOT_FOUND, f"{said}{_bad_end(run)}", hint=f"{hint} shows what ran"
    )


def _none_of(file: str | None, roots: Iterable[str]) -> str:
    """Describe that no function of a file ran, or that there is no such file."""
    sources = list(_source_files(roots))
    name = Path(file or "").name
    if file is None or Path(file).is_file() or match_paths(name, sources):
        return "nothing of that file did"
    near = near_files(name, [Path(one).name for one in sources])[:_NEAR]
    there = f"; there is {', '.join(near)}" if near else ""
    return f"there is no file {name} in the program's own sources{there}"


def _bad_end(run: RunView | None) -> str:
    """Describe a run's failure, because of which it may not have reached the function."""
    if run is None or (run.exit_code == 0 and not run.timed_out):
        return ""
    if run.timed_out:
        return f"; it ran for {run.took_s:.1f} s, and was ended: --timeout S gives it longer"
    how = run.exit_signal or f"status {run.exit_code}"
    last = f": {run.output[-1].text.strip()[:_LAST]}" if run.output else ""
    return f"; the program ended with {how}{last}"


def find_defined(
    function: FunctionPlace, roots: Iterable[str]
) -> tuple[list[DefinedFunction], tuple[str, ...]]:
    """Find a function that did not run in the program's sources; else near names."""
    every: list[DefinedFunction] = []
    for path in _source_files(roots):
        every += [
            DefinedFunction(one.name, path, one.line) for one in list_functions(_read_text(path))
        ]
    if not function.name:
        return [], ()
    found = [one for one in every if matches_name(function.name, one.name)]
    if found:
        return found, ()
    names = dict.fromkeys(name for one in every for name in (one.name, one.name.split(".")[-1]))
    return [], near_names(function.name, names)


def check_exists(
    asked: str, file: str | None, function: str | None, roots: Iterable[str], *, again: str
) -> None:
    """Check that a function is in the program's sources, if that is known before the run.

    `again` is the command that repeats the question, with `{}` for the function.

    Raises:
        DebuggerError: NOT_FOUND for a file or a function that is not in the sources, while a
        similar name is.
    """
    if file is not None and not Path(file).is_file():
        name, sources = Path(file).name, list(_source_files(roots))
        near = near_files(name, [Path(one).name for one in sources])
        # One that is near to none may be a library's.
        if near and not match_paths(name, sources):
            raise _absent_error(asked, "file", name, near, again)
    if file is None and function is not None:
        found, near = find_defined(FunctionPlace(name=function), roots)
        if not found and near:
            raise _absent_error(asked, "function", function, near, again)


def _absent_error(
    asked: str, what: str, name: str, near: Sequence[str], again: str
) -> DebuggerError:
    there = f"; there is {', '.join(near[:_NEAR])}" if near else ""
    meant = asked.replace(name, near[0], 1) if near else "FILE:LINE"
    return DebuggerError(
        ErrorCode.NOT_FOUND,
        f"no {what} {name} in the program's own sources{there}",
        hint=again.format(meant),
    )


def _source_files(roots: Iterable[str]) -> Iterator[str]:
    left = _FILES_MAX
    for root in roots:
        for folder, inner, files in os.walk(root):
            inner[:] = [
                one for one in sorted(inner) if one not in _FOLDERS_OUT and not one.startswith(".")
            ]
            for file in files:
                left -= 1
                if left < 0:
                    return
                if file.endswith(".py"):
                    yield str(Path(folder, file))


def _read_text(path: str) -> str:
    try:
        if Path(path).stat().st_size > _SIZE_MAX:
            return ""
        return Path(path).read_text("utf-8", "replace")
    except (OSError, ValueError):
        return ""


def lines_of(path: str) -> list[str]:
    """Return the lines of a source; none if it cannot be read."""
    return list(_shared_lines(path))


def _shared_lines(path: str) -> tuple[str, ...]:
    try:
        stat = Path(path).stat()
    except (OSError, ValueError):
        return ()
    return _cached_lines(path, stat.st_mtime_ns, stat.st_size)


@functools.lru_cache(maxsize=8)
def _cached_lines(path: str, changed: int, size: int) -> tuple[str, ...]:
    del changed  # it makes an edited file another key
    if size > _LINES_MAX:
        return ()
    try:
        return tuple(Path(path).read_text("utf-8", "replace").splitlines())
    except (OSError, ValueError):
        return ()


def line_text(path: str, line: int, column: int = 0, to: int = 0) -> str:
    """Return a line of a source, without its indentation; nothing if it cannot be read.

    With a column, return the part from there up to the column `to`.
    """
    lines = _shared_lines(path)
    if not 0 < line <= len(lines):
        return ""
    text = lines[line - 1]
    return text[max(column - 1, 0) : to - 1 if to else None].strip()
