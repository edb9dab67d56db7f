"""Finds the functions of a recording that a user means by FILE:LINE or a name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from msgspec import Struct

from debugger.core import answers
from debugger.core.locate import absolute, matching, near_files, near_names, parse
from debugger.errors import Code, DebuggerError
from debugger.recording.model import Counted, Function, Recording
from debugger.recording.order import Place
from debugger.recording.passages import NATIVE, is_entry
from debugger.recording.python.named import around, named

_FILES_MAX = 2_000
_FOLDERS_OUT = frozenset({"site-packages", "dist-packages", "node_modules", "__pycache__"})
_NEAR = 4
_LAST = 120
_SIZE_MAX = 1 << 20


class Defined(Struct, frozen=True):
    """A function that a source defines."""

    name: str
    file: str
    line: int


def place(words: str, cwd: str) -> Place:
    """Return what a recorder is asked for.

    Raises:
        DebuggerError: USAGE for what is neither a file with a line nor a function.
    """
    meant = parse(words)
    if meant.function is not None:
        return Place(name=meant.function)
    if meant.file is None or meant.line is None:
        raise DebuggerError(
            Code.USAGE, f"{words} is neither FILE:LINE nor a function", hint="parse, or shop.py:12"
        )
    whole = absolute(meant.file, cwd)
    return Place(file=whole if Path(whole).is_file() else meant.file, line=meant.line)


def chooser(wanted: Place, recording: Recording) -> Callable[[Function], bool]:
    """Return what tells whether a recorded function is the one that is meant."""
    counted: dict[str, str] = {}
    lines: dict[str, int] = {}  # by file: where the function begins that the line is in

    def is_meant(one: Function) -> bool:
        if wanted.name:
            return fits(wanted.name, one.name)
        if not matching(wanted.file, [one.file]):
            return False
        if one.file not in counted:
            counted[one.file] = _counted(one.file, wanted.line, recording)
        if counted[one.file]:
            return one.name == counted[one.file]
        if one.file not in lines:
            lines[one.file] = _begins(one.file, wanted.line, recording)
        begins = lines[one.file]
        return one.line == begins if begins else one.name == "<module>"

    return is_meant


def _counted(file: str, line: int, recording: Recording) -> str:
    """Return the name of the innermost function that a line was counted in, or nothing."""
    found: Function | None = None
    for event in recording.events:
        if isinstance(event, Counted):
            one = recording.function(event.function)
            is_in = one.file == file and any(part.line == line for part in event.parts)
            if is_in and (found is None or found.line <= one.line <= line):
                found = one
    return found.name if found is not None else ""


def _begins(file: str, line: int, recording: Recording) -> int:
    """Return where the function begins that a line is in: in Python by its end, too; or 0."""
    if file.endswith((".py", ".pyw")):
        found = around(_text(file), line)
        return found.line if found is not None else 0
    known = [one.line for one in recording.functions.values() if one.file == file]
    return max((one for one in known if one <= line), default=0)


def fits(pattern: str, name: str) -> bool:
    """Tell whether a name is meant: whole, its last parts, or by `*`."""
    plain = name.replace("<locals>.", "")
    parts = plain.replace("::", ".")
    return fnmatchcase(plain, pattern) or parts.endswith(f".{pattern.replace('::', '.')}")


def missed(
    words: str,
    wanted: Place,
    recording: Recording,
    roots: Iterable[str],
    run: answers.RunView | None = None,
) -> DebuggerError:
    """Say that nothing of what ran is what was meant, with what is near, and how it ended."""
    known = list(recording.functions.values())
    near: list[str] = []
    if recording.process.language == NATIVE and is_entry(words):
        said = f"the calls that {words} makes are recorded, not {words} itself"
    elif not wanted.name:
        near = [one.name for one in known if matching(wanted.file, [one.file])][:_NEAR]
        there = f"of that file ran {', '.join(near)}" if near else _none_of(wanted.file, roots)
        said = f"no function with {words} ran; {there}"
    else:
        written, near_ones = defined(wanted, roots)
        if written:
            one = written[0]
            said = f"{words} was not called: it is {one.name} in {one.file}:{one.line}"
        else:
            names = [one.name for one in known]
            plain = [one.rpartition(".")[2] for one in names]
            near = [*near_names(wanted.name, [*names, *plain]), *near_ones]
            near = list(dict.fromkeys(near))[:_NEAR]
            said = f"no function {words} ran" + (f"; there is {', '.join(near)}" if near else "")
    hint = f"debugger path --around {near[0]} -- CMD" if near else "debugger path -- CMD"
    return DebuggerError(Code.NOT_FOUND, f"{said}{_ended(run)}", hint=f"{hint} shows what ran")


def _none_of(file: str | None, roots: Iterable[str]) -> str:
    """Say that nothing of a file ran, or that there is none."""
    sources = list(_sources(roots))
    name = Path(file or "").name
    if file is None or Path(file).is_file() or matching(name, sources):
        return "nothing of that file did"
    near = near_files(name, [Path(one).name for one in sources])[:_NEAR]
    there = f"; there is {', '.join(near)}" if near else ""
    return f"there is no file {name} in the program's own sources{there}"


def _ended(run: answers.RunView | None) -> str:
    """Tell how a run ended that did not end well: it may not have come so far."""
    if run is None or (run.exit_code == 0 and not run.timed_out):
        return ""
    if run.timed_out:
        return f"; it ran for {run.took_s:.1f} s, and was ended: --timeout S gives it longer"
    how = run.exit_signal or f"status {run.exit_code}"
    last = f": {run.output[-1].text.strip()[:_LAST]}" if run.output else ""
    return f"; the program ended with {how}{last}"


def defined(wanted: Place, roots: Iterable[str]) -> tuple[list[Defined], tuple[str, ...]]:
    """Look in the program's sources for a function that did not run; else for near names."""
    every: list[Defined] = []
    for path in _sources(roots):
        every += [Defined(one.name, path, one.line) for one in named(_text(path))]
    if not wanted.name:
        return [], ()
    found = [one for one in every if fits(wanted.name, one.name)]
    if found:
        return found, ()
    names = dict.fromkeys(name for one in every for name in (one.name, one.name.split(".")[-1]))
    return [], near_names(wanted.name, names)


def check_exists(
    asked: str, file: str | None, function: str | None, roots: Iterable[str], *, again: str
) -> None:
    """See that a place is in the program's sources, where it can be told before the program runs.

    `again` is the command that asks it, with `{}` for the place.

    Raises:
        DebuggerError: NOT_FOUND for a file or a function that is not in the sources, while one
            with a name near to it is.
    """
    if file is not None and not Path(file).is_file():
        name, sources = Path(file).name, list(_sources(roots))
        near = near_files(name, [Path(one).name for one in sources])
        # One that is near to none may be a library's.
        if near and not matching(name, sources):
            raise _absent(asked, "file", name, near, again)
    if file is None and function is not None:
        found, near = defined(Place(name=function), roots)
        if not found and near:
            raise _absent(asked, "function", function, near, again)


def _absent(asked: str, what: str, name: str, near: Sequence[str], again: str) -> DebuggerError:
    there = f"; there is {', '.join(near[:_NEAR])}" if near else ""
    meant = asked.replace(name, near[0], 1) if near else "FILE:LINE"
    return DebuggerError(
        Code.NOT_FOUND,
        f"no {what} {name} in the program's own sources{there}",
        hint=again.format(meant),
    )


def _sources(roots: Iterable[str]) -> Iterator[str]:
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


def _text(path: str) -> str:
    try:
        if Path(path).stat().st_size > _SIZE_MAX:
            return ""
        return Path(path).read_text("utf-8", "replace")
    except (OSError, ValueError):
        return ""


def lines_of(path: str) -> list[str]:
    """Return the lines of a source; none of one that cannot be read."""
    return _text(path).splitlines()


def line_text(path: str, line: int, column: int = 0, to: int = 0) -> str:
    """Return a line of a source, without its indentation; nothing where it cannot be read.

    With a column, only from there on, up to the column `to`.
    """
    lines = lines_of(path)
    if not 0 < line <= len(lines):
        return ""
    text = lines[line - 1]
    return text[max(column - 1, 0) : to - 1 if to else None].strip()
