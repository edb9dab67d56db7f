"""Corrects a question about two runs, `path` or `diff`, whose two commands are not told apart."""

from __future__ import annotations

import os.path
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from debugger.cli.translation.argument_order import ArrangedWords, Correction
from debugger.cli.translation.program_words import begins_program

_SEPARATORS: Final = frozenset(
    {"--versus", "--against", "--compare", "--with", "--good", "--baseline", "-vs", "versus",
     "against", "--compare-with", "--other", "--and", "and"}
)  # fmt: skip


def correct_two_commands(arranged: ArrangedWords) -> Correction | None:
    """Correct a command line in which `--vs` is missing, or only an argument follows it."""
    rest = arranged.rest or ()
    first = arranged.positionals
    if arranged.rest and _compares(arranged) and begins_program(first) and len(first) > 1:
        fixed = replace(arranged, rest=(*first, "--vs", *rest)).change(positionals=())
        return Correction("two commands are separated by --vs", (fixed.to_words(),))
    at = _find_separator(rest)
    # The words that make a launcher's rank a member end so.
    if at and rest[at - 1] != "member" and _compares(arranged):
        fixed = replace(arranged, rest=(*rest[:at], "--vs", *rest[at + 1 :]))
        return Correction("two commands are separated by --vs", (fixed.to_words(),))
    return _complete_other_run(arranged)


def separate_repeated(arranged: ArrangedWords) -> Correction | None:
    """Suggest `--vs` where a program comes a second time: `diff ./app good ./app bad`."""
    words = arranged.rest or arranged.positionals
    at = next((at for at, one in enumerate(words) if at > 1 and one == words[0]), 0)
    if not at or arranged.command.name != "diff" or not _compares(arranged):
        return None
    if not begins_program(words) or words[at - 1] in {"vs", "--", "--vs", *_SEPARATORS}:
        return None
    fixed = replace(arranged, rest=(*words[:at], "--vs", *words[at:])).change(positionals=())
    return Correction("two commands are separated by --vs", (fixed.to_words(),))


def _find_separator(rest: Sequence[str]) -> int:
    """Return where a word stands between two commands, `vs` or `--versus`; 0 without one."""
    for at, word in enumerate(rest[1:-1], 1):
        is_same = rest[at + 1] == rest[0] or begins_program(rest[at + 1 :])
        if word in {"vs", "--"} or (word in _SEPARATORS and is_same):
            return at
    return 0


def _compares(arranged: ArrangedWords) -> bool:
    return arranged.command.name in {"path", "diff"} and not arranged.role_values("--vs")


def _complete_other_run(arranged: ArrangedWords) -> Correction | None:
    """Correct `path -- ./app bad.txt --vs good.txt`, where only the last argument is repeated."""
    if arranged.command.name not in {"path", "diff"}:
        return None
    words = [*arranged.positionals, *(arranged.rest or ())]
    given = [("--vs", *value) for flag, value in arranged.options if flag == "--vs"]
    first, other = words, [one for value in given for one in value]
    if "--vs" in words:
        at = words.index("--vs")
        first, other = words[:at], words[at:]
    if len(first) < len(("./app", "a")) or len(other) != len(("--vs", "b")):
        return None
    suffix = os.path.splitext(other[1])[1]
    is_number = other[1].isdecimal() and first[-1].isdecimal()
    is_same_kind = is_number or (suffix and os.path.splitext(first[-1])[1] == suffix)
    if not is_same_kind or begins_program(other[1:]) or " " in other[1]:
        return None
    rest = (*first, "--vs", *first[:-1], other[1])
    fixed = replace(arranged, rest=rest).change(positionals=(), without=("--vs",))
    return Correction("behind --vs stands the whole command", (fixed.to_words(),))
