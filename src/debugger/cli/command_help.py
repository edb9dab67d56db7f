"""Formats the help that a command line asks for, and the errors that point to it; without click."""

from __future__ import annotations

import re
import textwrap
from collections import deque
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

from debugger.cli.reference import (
    GLOBAL_OPTIONS,
    OVERVIEW_CELL,
    PROGRAM,
    Paths,
    command_overview,
    command_paths,
    help_page,
    is_switch,
    option_flags,
    subcommands,
)
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.command_registry import Registry


def help_text(argv: Sequence[str], registry: Registry) -> str:
    """Return the help for the command or group that `argv` names; without one, the overview.

    Raises:
        DebuggerError: USAGE, naming near commands.
    """
    known = command_paths(registry)
    path: tuple[str, ...] = ()
    words = tuple(leading_words(argv))
    if words and not subcommands(known, words[:1]) and words[:1] not in known:
        from debugger.cli.command_words import translate_help_words

        words = translate_help_words(words, known)
    for word in words:
        if (*path, word) not in known and not subcommands(known, (*path, word)):
            if not path:
                raise unknown_command_error(known, (word,))
            break
        path = (*path, word)
    lines = help_page(known, path) if path else command_overview(registry)
    return "\n".join(lines) + "\n"


_ROW: Final = re.compile(r"(?P<first>  \S.*?) {2,}(?P<second>\S.*)")
_BELOW: Final = 6  # columns of indentation of a second column that stands below the first
_SECOND_CELL: Final = 2 + OVERVIEW_CELL + 2


def fold_help(text: str, width: int) -> str:
    """Fold the lines of a help page at words, for a terminal that is narrower than they are."""
    return "".join(f"{part}\n" for line in text.splitlines() for part in _fold_line(line, width))


def _fold_line(line: str, width: int) -> list[str]:
    if len(line) <= width:
        return [line]
    # Two commands with their summaries.
    if line[_SECOND_CELL - 2 : _SECOND_CELL] == "  " and "  " in line[_SECOND_CELL:]:
        cells = (line[: _SECOND_CELL - 2].rstrip(), f"  {line[_SECOND_CELL:]}")
        return [part for cell in cells for part in _fold_line(cell, width)]
    row = _ROW.fullmatch(line)
    if row is None:
        return _fold_words(line, width, len(line) - len(line.lstrip(" ")))
    if row.start("second") <= width // 3:
        return _fold_words(line, width, row.start("second"))
    return [
        *_fold_words(row["first"], width, 2),
        *_fold_words(" " * _BELOW + row["second"], width, _BELOW),
    ]


def _fold_words(line: str, width: int, indentation: int) -> list[str]:
    return textwrap.wrap(
        line,
        width,
        subsequent_indent=" " * indentation,
        break_long_words=False,
        break_on_hyphens=False,
    )


def before_dashes(argv: Sequence[str]) -> list[str]:
    """Return the words before `--`."""
    return list(argv[: argv.index("--")]) if "--" in argv else list(argv)


def leading_words(argv: Sequence[str]) -> list[str]:
    """Return the words before `--`, without options and the values of global ones."""
    takes_value = {
        flag for each in GLOBAL_OPTIONS if not is_switch(each) for flag in option_flags(each)
    }
    words: list[str] = []
    remaining = deque(before_dashes(argv))
    while remaining:
        part = remaining.popleft()
        if part in takes_value and remaining:
            remaining.popleft()
        elif not part.startswith("-"):
            words.append(part)
    return words


def usage_error(message: str, name: str | None, *, advice: str = "") -> DebuggerError:
    """Return the error for arguments without a meaning, with the help to read."""
    command = f"{PROGRAM} {name} --help" if name else f"{PROGRAM} --help"
    return DebuggerError(ErrorCode.USAGE, message, hint=f"{advice}{command}")


_OWN_SHELL: Final = "your own shell runs it"
_UPDATE: Final = "pip install --upgrade debugger-cli; debugger setup --list shows the adapters"
# What is done without a command of ours.
_ELSEWHERE: Final = {
    "shell": _OWN_SHELL, "system": _OWN_SHELL, "update": _UPDATE, "upgrade": _UPDATE
}  # fmt: skip


def unknown_command_error(known: Paths, path: tuple[str, ...]) -> DebuggerError:
    """Return the error for words that name no command, with the near ones."""
    *group, word = path
    if path[0] in _ELSEWHERE:
        return DebuggerError(
            ErrorCode.USAGE, f"no command {' '.join(path)!r}", hint=_ELSEWHERE[path[0]]
        )
    if group:
        near = get_close_matches(word, subcommands(known, tuple(group)))
    else:
        every = {" ".join(key[:size]) for key in known for size in range(1, len(key) + 1)}
        verbs = [each for each in every if word in each.split()]
        near = get_close_matches(word.replace("_", " "), sorted(every)) or sorted(verbs)
    names = " or ".join(" ".join([*group, each]) for each in near[:3])
    advice = f"did you mean {names}? " if names else ""
    return usage_error(f"no command {' '.join(path)!r}", " ".join(group), advice=advice)
