"""Reads a request in free words, `show me where total changes in foo.py`, as commands.

A request is only ever answered with commands to choose from, never taken for one of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from debugger.cli.translation.argument_order import Correction
from debugger.cli.translation.location_spelling import is_file_line
from debugger.cli.translation.program_words import begins_program
from debugger.cli.translation.request_objects import (
    OF_PROGRAM,
    Request,
    find_objects,
    spread_words,
)
from debugger.cli.translation.request_words import MEANINGS, SENTENCE_WORDS, VAGUE_MEANINGS

Words = tuple[str, ...]
_REASON: Final = "the commands for this request"
_LEAST_WORDS: Final = 3  # of a sentence
_INTERROGATIVES: Final = frozenset({"who", "which", "what", "how", "when", "whose"})
_PREPOSITIONS: Final = frozenset({"in", "of", "with", "through", "against", "and"})
_PROGRAM_PART: Final = re.compile(r"\{(?:cmd|start|program|test)\}")


def is_sentence(words: Sequence[str]) -> bool:
    """Return whether the words are a sentence, not a command with its arguments."""
    plain = spread_words(words)
    if len(plain) < _LEAST_WORDS or any(re.match(r"--?\w", one) for one in words):
        return False
    if plain[0].lower() in _INTERROGATIVES or _names_program(plain):
        return True
    if begins_program(plain) and not OF_PROGRAM.isdisjoint(plain[1:]):
        return True
    return plain[0] != "me" and not SENTENCE_WORDS.isdisjoint(one.lower() for one in plain)


def _names_program(words: Sequence[str]) -> bool:
    """Return whether a program, or a line to run to, is named as in a sentence: `x in foo.py`."""
    for word, after in pairwise(words[1:]):
        if word in _PREPOSITIONS and begins_program([after]) and not is_file_line(after):
            return True
    return re.search(r" until line \d+\Z", " ".join(words)) is not None


def read_request(words: Sequence[str], rest: Sequence[str] | None) -> Correction | None:
    """Return the commands for a request; None where it is not understood.

    Args:
        words: The words before `--`.
        rest: The program behind it.
    """
    request = find_objects(words, rest)
    commands = _fill_templates(_choose_templates(request, MEANINGS), request)
    if any(one.startswith("-") and one != "--pid" for one in words[1:]):
        templates = _choose_templates(find_objects(words[:1], None), MEANINGS)
        commands = _pass_arguments(templates, words[1:])
    return Correction(_REASON, commands) if commands else None


def suggest_for_program(words: Sequence[str], rest: Sequence[str] | None) -> Correction | None:
    """Return what may be done with the program that a line names: `investigate foo.py`."""
    if rest is None and begins_program(words):  # `poetry run python -m app`
        words, rest = words[:1], words
    request = find_objects(words, rest)
    commands = _fill_templates(_choose_templates(request, VAGUE_MEANINGS), request)
    return Correction(f"no command {words[0]!r}", commands) if commands else None


def _pass_arguments(templates: Sequence[str], arguments: Sequence[str]) -> tuple[Words, ...]:
    """Give the arguments of a joined name, with its options, to our command."""
    names = [re.split(r" -- | ?[-{'@]", one)[0] for one in templates]
    return tuple((*name.split(), *arguments) for name in names if name)


def _fill_templates(templates: Sequence[str], request: Request) -> tuple[Words, ...]:
    """Put what the request names into the templates; those with its program come first."""
    parts = request.parts()
    commands = [_fill_template(one, parts) for one in templates]
    if len({"--" in one for one in commands}) > 1:
        commands.sort(key=lambda one: ("--" in one) != (parts["cmd"] != ("CMD",)))
    return tuple(commands)


def _choose_templates(request: Request, meanings: Sequence[tuple[str, str]]) -> list[str]:
    """Return the commands of the meaning of which most is in the request."""
    given = request.concepts | request.objects()
    best: tuple[str, str] | None = None
    most = 0
    for meaning in meanings:
        concepts = meaning[0].split()
        # What leaves the program out is less likely.
        weight = len(concepts) - bool(request.programs and not _PROGRAM_PART.search(meaning[1]))
        if weight > most and given.issuperset(concepts):
            best, most = meaning, weight
    return best[1].split("|") if best else []


def _fill_template(template: str, parts: Mapping[str, Words]) -> Words:
    filled: list[str] = []
    for word in template.split():
        if (name := re.fullmatch(r"\{(\w+)\}", word)) is not None:
            place = parts["line"] if name[1] == "at" and "--" not in template else None
            filled += place or parts[name[1]]
        else:
            joined = {name: " ".join(words) for name, words in parts.items()}
            filled.append(word.strip("'").format(**joined) if "{" in word else word.strip("'"))
    return tuple(filled)
