"""Finds the concepts of plain words, whatever their endings, and splits joined names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from debugger.cli.translation.location_spelling import is_file_line
from debugger.cli.translation.program_words import begins_program
from debugger.cli.translation.request_words import CONCEPTS, FILLER_WORDS

FILLERS: Final = frozenset(FILLER_WORDS.split())
_LEAST_JOINED: Final = 4  # letters of a word that is joined to another
_SHORT_WORDS: Final = frozenset({"up", "bp", "go", "bt"})
_PREFIXES: Final = frozenset({"d", "db", "ps"})  # of TotalView, Octave and PowerShell
_LEAST_STEM: Final = 3  # letters that are left of a word without its ending


def concepts_of(word: str) -> frozenset[str]:
    """Return the concepts for which a word stands; none for the name of a value."""
    return _stem_concepts().get(_stem(word.lower()), frozenset())


def is_filler(word: str) -> bool:
    """Return whether a word names nothing."""
    return _stem(word.lower()) in _filler_stems()


def has_known_words(words: Sequence[str]) -> bool:
    """Return whether all the words are of the table or of plain English, and none names a value."""
    return bool(words) and all(is_filler(one) or concepts_of(one) for one in words)


def split_name(name: str) -> list[str]:
    """Split a joined name, `smart-step-into`, `runToCursor` or `stopdebug`, into its words."""
    if begins_program([name]) or is_file_line(name):
        return [name]
    if re.fullmatch(r"\w+(?:Error|Exception):?", name):
        return ["exception", "crash"]
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    parts = [one.lower() for one in re.split(r"[^A-Za-z0-9]+", spaced) if one]
    return [word for one in parts for word in _split_joined(one)] or [name]


def _split_joined(word: str) -> tuple[str, ...]:
    """Split two words that are joined, `stopdebug`, or drop a prefix: `dbstep`, `psbreakpoint`."""
    if concepts_of(word) or word in FILLERS:
        return (word,)
    for at in range(1, len(word) - 1):
        first, second = word[:at], word[at:]
        if (first in _PREFIXES or _is_word(first)) and _is_word(second):
            return (second,) if first in _PREFIXES else (first, second)
    return (word,)


def _is_word(word: str) -> bool:
    is_long = len(word) >= _LEAST_JOINED or word in _SHORT_WORDS
    return is_long and bool(concepts_of(word) or word in {"debug", "debugger", "program"})


@cache
def _stem_concepts() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for concept, listed in CONCEPTS.items():
        for word in listed.split():
            found.setdefault(_stem(word), set()).add(concept)
    return {stem: frozenset(concepts) for stem, concepts in found.items()}


@cache
def _filler_stems() -> frozenset[str]:
    return frozenset(map(_stem, FILLERS))


def _stem(word: str) -> str:
    """Return a word without its ending."""
    for ending in ("ing", "ed", "es", "s"):
        is_ended = word.endswith(ending) and not word.endswith("ss")
        if is_ended and len(word) >= len(ending) + _LEAST_STEM:
            word = word[: -len(ending)]
            break
    if len(word) <= _LEAST_STEM:
        return word
    word = f"{word[:-1]}y" if word.endswith("i") else word
    is_doubled = word[-1] == word[-2] and word[-1] not in "sl"
    return word[:-1] if is_doubled else word.removesuffix("e")
