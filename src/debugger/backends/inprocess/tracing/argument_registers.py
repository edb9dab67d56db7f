"""Gives the registers in which a function finds its arguments, by their locations at its entry."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Final

from debugger.symbols.dwarf.location_operations import LocationOperation
from debugger.symbols.dwarf.prologue_analysis import NUMBERS

_WORD: Final = 8
_WORDS: Final = ("rdi", "rsi", "rdx", "rcx", "r8", "r9")
_REALS: Final = 2


class RegisterSet(Enum):
    """Which registers."""

    WORD = "word"
    REAL = "real"


# Which register of which kind.
Place = tuple[RegisterSet, int]

_RECORDED: Final[dict[int, Place]] = {
    **{NUMBERS[name]: (RegisterSet.WORD, at) for at, name in enumerate(_WORDS)},
    **{NUMBERS[f"xmm{at}"]: (RegisterSet.REAL, at) for at in range(_REALS)},
}


def argument_places(location: Sequence[LocationOperation], size: int) -> list[Place]:
    """Give the registers that a value of so many bytes is in, of those that a trace records.

    Returns:
        The registers of its eight bytes each; none where it is elsewhere, or not known.
    """
    names = [one.name for one in location]
    if names == ["reg"]:
        pieces = [(location[0].first, size)]
    elif len(names) % 2 == 0 and names == ["reg", "piece"] * (len(names) // 2):
        pieces = [
            (one.first, part.first) for one, part in zip(location[::2], location[1::2], strict=True)
        ]
    else:
        return []
    whole = all(count == _WORD for _, count in pieces[:-1])
    found = [_RECORDED.get(number) for number, _ in pieces]
    known = [one for one in found if one is not None]
    is_fitting = whole and all(count <= _WORD for _, count in pieces)
    return known if is_fitting and len(known) == len(found) else []
