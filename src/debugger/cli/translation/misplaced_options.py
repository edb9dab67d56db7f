"""Moves a command's options from before its name, and from behind `--`, to its other words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from debugger.cli.reference import Paths
from debugger.cli.translation.argument_order import (
    ArrangedWords,
    Correction,
    arrange_words,
    resolve_flag,
    runs_program,
    takes_command,
    value_counts,
)
from debugger.cli.translation.program_words import find_program
from debugger.model.command_registry import Argument

# What an option behind a program names that a program takes, too: `--bad x.txt`, `--file F`.
_ROLES_OF_PROGRAMS: Final = frozenset({"+command", "+file", "+program", "--stdin"})
_MOST_LEADING: Final = 6  # words of options before a command's name
_SESSION_FLAG: Final = "-s"


def move_leading_options(words: tuple[str, ...], known: Paths) -> tuple[str, ...]:
    """Take `--pid 12 hang` for `hang --pid 12`, and `-s NAME` for the session.

    The words are returned unchanged unless every word before the name is an option of the command,
    or the value of one.
    """
    if not words or not words[0].startswith("-"):
        return words
    if words[0] == _SESSION_FLAG and (words[2:3] in known or words[2:4] in known):
        words = ("--session", *words[1:])
    for at in range(1, min(_MOST_LEADING, len(words) - 1) + 1):
        name = next(
            (words[at : at + size] for size in (2, 1) if words[at : at + size] in known), ()
        )
        if not name or known[name].dashes_are_words:
            continue
        leading = arrange_words(name, known[name], words[:at], None)
        is_whole = not leading.unknown and not leading.positionals and leading.lacking is None
        if is_whole and "+args" not in {flag for flag, _ in leading.options}:
            return (*name, *words[:at], *words[at + len(name) :])
    return words


def take_options_behind(arranged: ArrangedWords) -> ArrangedWords:
    """Take `break f.c:3 -- --when x` for the option: the command has no program behind `--`."""
    rest, command = arranged.rest or (), arranged.command
    takes_text = any(
        isinstance(one.about, Argument) and one.about.words for one in command.parameters
    )
    if not rest or takes_text or command.dashes_are_words or runs_program(command):
        return arranged
    if not rest[0].startswith("-") or _resolve_word(arranged, rest[0]) is None:
        return arranged
    joined = arrange_words(arranged.name, command, (*arranged.given, *rest), None)
    return replace(joined, is_changed=True)


def correct_alias_behind_program(arranged: ArrangedWords) -> Correction | None:
    """Correct `crash ./app --bad x.txt`: another word for an option may be the program's own.

    An option in the command's own spelling is taken where it stands, and so is a whole command.
    """
    given = arranged.given
    at = find_program(given, first=0) if arranged.rest is None else None
    is_question = takes_command(arranged.command) and arranged.command.name != "diff"
    if at is None or not is_question or given[at] not in arranged.positionals:
        return None
    own = value_counts(arranged.command)
    for word, value in pairwise((*given[at + 1 :], "")):
        typed, _, joined = word.partition("=")
        is_alias = typed.startswith("--") and typed not in own
        if not is_alias or " " in (joined or value):
            continue
        if resolve_flag(arranged.command, typed) in _ROLES_OF_PROGRAMS:
            words = (*arranged.name, *given[:at], "--", *given[at:])
            return Correction(f"is {typed} an option of the program?", (words,))
    return None


def correct_options_of_program(arranged: ArrangedWords) -> Correction | None:
    """Suggest to put `--at LOC` before `--`, where it and others stand behind the program.

    The question's options begin with the first word from which on all options are its own.
    """
    rest = arranged.rest or ()
    if "--at" not in rest[1:] and not _lacks_known(arranged, rest):
        return None
    own = value_counts(arranged.command).keys() - {"--vs"}  # which stands between two programs
    for at, word in enumerate(rest[1:], 1):
        if word.startswith("--") and _resolve_word(arranged, word) in own:
            behind = arrange_words(arranged.name, arranged.command, rest[at:], None)
            if not behind.unknown:
                words = (*arranged.name, *arranged.given, *rest[at:], "--", *rest[:at])
                reason = f"{arranged.command.name}: its options go before --"
                return Correction(reason, (words,))
    return None


def _lacks_known(arranged: ArrangedWords, rest: Sequence[str]) -> bool:
    """Return whether an invariant names `known`, whose file stands behind the program."""
    is_named = any(re.search(r"\bknown\b", one) for one in arranged.positionals)
    is_given = bool(arranged.role_values("--against"))
    return arranged.command.name == "holds" and is_named and not is_given and "--against" in rest


def _resolve_word(arranged: ArrangedWords, word: str) -> str | None:
    return resolve_flag(arranged.command, word.partition("=")[0])
