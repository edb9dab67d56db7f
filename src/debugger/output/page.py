"""Defines the style, width and budget of an answer, and shortens one that is too long."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import Enum

CHARACTERS_A_TOKEN = 4


class OutputStyle(Enum):
    """The reader of a text: compact for a program, or a terminal's colour and tables."""

    PLAIN = "plain"
    TERMINAL = "terminal"


@dataclass(frozen=True, slots=True)
class RenderPage:
    """The space for a text: `width` in columns, `limit` in characters in all."""

    style: OutputStyle
    width: int
    limit: int
    # The reader's folder: paths of files below it are relative to it.
    folder: str = ""

    @property
    def is_terminal(self) -> bool:
        """Whether the reader is a person at a terminal."""
        return self.style is OutputStyle.TERMINAL


def width_option(lines: Iterable[str]) -> str:
    """Return the option that would show all of these lines."""
    characters = sum(len(line) + 1 for line in lines)
    return f"--budget {(characters // CHARACTERS_A_TOKEN // 1000 + 1) * 1000}"


_CUT = frozenset({-1})


@dataclass(frozen=True, slots=True)
class TextSection:
    """A section of an answer, of `count` items (lines, values, characters)."""

    # `fit_text(n)` formats n items, at least a character each, and names the command for the
    # omitted ones.
    fit_text: Callable[[int], str]
    count: int = 0
    # The section with the highest rank is truncated first; all are truncated to their `floor`
    # before any is truncated further.
    rank: int = 0
    floor: int = 0


def fixed_section(text: str, rank: int = 0) -> TextSection:
    """Build a section that is shown whole or not at all."""
    return TextSection(lambda _: text, rank=rank)


def fit_sections(sections: Sequence[TextSection], limit: int) -> str:
    """Format sections, one below the other, in at most `limit` characters.

    If a section is omitted, the last line names it.
    """
    text, missing = _fit_text(sections, limit)
    if not missing or missing == _CUT:
        return text
    for mark in ("… more with a larger --budget", "…"):
        shorter, still_missing = _fit_text(sections, limit - len(mark) - 1)
        if still_missing == missing:
            return f"{shorter}\n{mark}"
    return text


def _fit_text(sections: Sequence[TextSection], limit: int) -> tuple[str, AbstractSet[int]]:
    """Return the text, and the indices of omitted sections; -1: the text itself is cut."""
    if limit <= 0:
        return "", set()
    texts = [section.fit_text(min(section.count, limit)) for section in sections]
    told = [at for at, text in enumerate(texts) if text]
    # The least important first; among equals the last one.
    order = sorted(told, key=lambda at: (sections[at].rank, at), reverse=True)
    # Two rounds: every section to its floor, and only then below it.
    for to_floor in (True, False):
        for at in order:
            over = _text_length(texts) - limit
            if over <= 0:
                return _join_texts(texts), {one for one in told if not texts[one]}
            section = sections[at]
            least = min(section.count, section.floor) if to_floor else 0
            texts[at] = _cut_section(section, texts[at], room=len(texts[at]) - over, least=least)
    for at in order[:-1]:
        if _text_length(texts) <= limit:
            break
        texts[at] = ""
    text, missing = _join_texts(texts), {at for at in told if not texts[at]}
    if len(text) > limit:
        return text[: limit - 1] + "…", _CUT
    return text, missing


def _cut_section(section: TextSection, now: str, *, room: int, least: int) -> str:
    low, high = least, min(section.count, max(room, least))
    best = section.fit_text(least)
    while low < high:
        middle = (low + high + 1) // 2
        text = section.fit_text(middle)
        if len(text) <= room:
            low, best = middle, text
        else:
            high = middle - 1
    # A note that something was cut may be longer than the thing itself.
    return best if len(best) < len(now) else now


def _join_texts(texts: Sequence[str]) -> str:
    return "\n".join(text for text in texts if text)


def _text_length(texts: Sequence[str]) -> int:
    return sum(len(text) + 1 for text in texts if text) - 1
