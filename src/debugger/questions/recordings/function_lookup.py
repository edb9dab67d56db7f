"""Finds the functions of a recording by FILE:LINE or by name."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from pathlib import Path
from shlex import quote

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.location import (
    absolute_path,
    match_paths,
    near_files,
    near_names,
    parse_location,
)
from debugger.questions.recordings.answer import RunView
from debugger.questions.recordings.source_search import (
    SourceSearch,
    read_source,
    search_sources,
    source_files,
)
from debugger.recorders.model import FunctionPlace, PartCounts, RecordedFunction, Recording
from debugger.recorders.traced_recording import NATIVE, is_entry
from debugger.sources.function_names import choose_matches, rank_match
from debugger.sources.function_span import innermost_function
from debugger.sources.java_project import OUT_OF_PACKAGE, find_package

_NEAR = 4  # similar names
_LAST = 120  # characters of the last line of output
_LINES_MAX = 64 << 20  # bytes of a source whose lines are shown


def parse_function_place(words: str, cwd: str) -> FunctionPlace:
    """Parse a function's location for a recorder.

    Raises:
        DebuggerError: USAGE if it is neither a file with a line nor a function.
    """
    location = parse_location(words)
    if location.function is not None:
        return FunctionPlace(name=location.function, file=_known_file(location.file, cwd))
    if location.file is None or location.line is None:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{words} is neither FILE:LINE nor a function",
            hint="parse, or shop.py:12",
        )
    return FunctionPlace(file=_known_file(location.file, cwd), line=location.line)


def _known_file(file: str | None, cwd: str) -> str:
    """Return a file's path, if it is there, or else what was given."""
    if file is None:
        return ""
    path = absolute_path(file, cwd)
    return path if Path(path).is_file() else file


def function_matcher(
    function: FunctionPlace, recording: Recording
) -> Callable[[RecordedFunction], bool]:
    """Return a test whether a recorded function is the requested one."""
    counted: dict[str, str] = {}
    lines: dict[str, int] = {}  # by file: where the function begins that the line is in
    named = _named_functions(function, recording)

    def matches(one: RecordedFunction) -> bool:
        if function.name:
            return one.number in named
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

    return matches


def _named_functions(function: FunctionPlace, recording: Recording) -> frozenset[int]:
    """Return the numbers of the recorded functions that a name means."""
    if not function.name:
        return frozenset()
    known = [
        one
        for one in recording.functions.values()
        if not function.file or match_paths(function.file, [one.file])
    ]
    spots = {(one.file, one.line, one.code) for one in function.spots}
    found = [
        one
        for one in known
        if (one.file, one.line, "") in spots
        or (one.file, one.line, one.name.rpartition(".")[2]) in spots
    ]
    found += choose_matches(function.name, known, lambda one: (one.name, _module_path(one.file)))
    return frozenset(one.number for one in found)


def _module_path(file: str) -> str:
    """Return the file's path, from its package on where that need not be its folder."""
    folder, slash, name = file.rpartition("/")
    if file.endswith(OUT_OF_PACKAGE) and Path(file).is_file():
        folder = find_package(Path(file)).replace(".", "/")
    return f"{folder}{slash}{name.partition('.')[0]}"


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
        found = innermost_function(read_source(file), line)
        return found.line if found is not None else 0
    known = [one.line for one in recording.functions.values() if one.file == file]
    return max((one for one in known if one <= line), default=0)


def matches_name(pattern: str, name: str) -> bool:
    """Return whether a name matches: as a whole, by its last parts, or by `*`."""
    return rank_match(pattern, name) == 0


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
        text = f"the calls that {words} makes are recorded, not {words} itself"
    elif not function.name:
        near = [one.name for one in known if match_paths(function.file, [one.file])][:_NEAR]
        there = f"of that file ran {', '.join(near)}" if near else ""
        there = there or _explain_line(function, roots)
        text = f"no function with {words} ran" + (f"; {there}" if there else "")
    else:
        is_python = recording.process.language in {"", "python"}
        search = search_sources(function, roots) if is_python else SourceSearch((), (), ())
        if search.found:
            one = search.found[0]
            more = "".join(f", and {each.file}:{each.line}" for each in search.found[1:_NEAR])
            text = f"{words} was not called: it is {one.name} in {one.file}:{one.line}{more}"
        else:
            names = [one.name for one in known]
            plain = [one.rpartition(".")[2] for one in names]
            near = [*near_names(function.name, [*names, *plain]), *search.near]
            near = list(dict.fromkeys(one.replace("<locals>.", "") for one in near))[:_NEAR]
            text = f"no function {words} ran" + (f"; there is {', '.join(near)}" if near else "")
            text += f"; searched: {_searched_files(recording, search)}"
            if recording.process.language == "javascript":
                text += ", and not the code that it makes of texts"
    hint = f"debugger path --around {quote(near[0])} -- CMD" if near else "debugger path -- CMD"
    return DebuggerError(
        ErrorCode.NOT_FOUND,
        f"{text}{_bad_end(run)}",
        hint=f"{hint} shows what ran; FILE:LINE names any function by a line of it",
    )


def _searched_files(recording: Recording, search: SourceSearch) -> str:
    """Describe the files of the functions that ran, or the sources that were searched."""
    files = list(dict.fromkeys(one.file for one in recording.functions.values() if one.file))
    if search.searched or not files:
        return search.searched_text
    listed = ", ".join(Path(one).name for one in files[:_NEAR])
    more = ", …" if len(files) > _NEAR else ""
    return f"{len(files):,} {'file' if len(files) == 1 else 'files'} that ran ({listed}{more})"


def _explain_line(function: FunctionPlace, roots: Iterable[str]) -> str:
    """Describe where a line is of which no function was recorded.

    A recording of some functions holds no others: it does not show that a file's others ran.
    """
    sources = list(source_files(roots))
    name = Path(function.file or "").name
    if not Path(function.file).is_file() and not match_paths(name, sources):
        near = near_files(name, [Path(one).name for one in sources])[:_NEAR]
        there = f"; there is {', '.join(near)}" if near else ""
        return f"there is no file {name} in the program's own sources{there}"
    count = len(lines_of(function.file))
    if 0 < count < function.line:
        return f"{name} has {count:,} lines"
    if not name.endswith((".py", ".pyw")):
        return ""
    around = innermost_function(read_source(function.file), function.line)
    return f"that line is in {around.name if around else 'no function'}"


def _bad_end(run: RunView | None) -> str:
    """Describe a run's failure, because of which it may not have reached the function."""
    if run is None or (run.exit_code == 0 and not run.timed_out):
        return ""
    if run.timed_out:
        return f"; it ran for {run.took_s:.1f} s, and was ended: --timeout S gives it longer"
    how = run.exit_signal or f"status {run.exit_code}"
    last = f": {run.output[-1].text.strip()[:_LAST]}" if run.output else ""
    return f"; the program ended with {how}{last}"


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
