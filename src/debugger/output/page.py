"""Defines the style, width and budget in which an answer is shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

CHARACTERS_A_TOKEN = 4


class OutputStyle(Enum):
    """For whom a text is: compact for a program, or a terminal's colour and tables."""

    PLAIN = "plain"
    TERMINAL = "terminal"


@dataclass(frozen=True, slots=True)
class RenderPage:
    """What there is to write on: `width` in columns, `limit` in characters of the whole text.

    `folder` is the reader's: files below it are named from there.
    """

    style: OutputStyle
    width: int
    limit: int
    folder: str = ""

    @property
    def is_terminal(self) -> bool:
        """Whether a person looks at it."""
        return self.style is OutputStyle.TERMINAL


def width_option(lines: Iterable[str]) -> str:
    """Return the option with which all of these lines would be shown."""
    characters = sum(len(line) + 1 for line in lines)
    return f"--budget {(characters // CHARACTERS_A_TOKEN // 1000 + 1) * 1000}"
