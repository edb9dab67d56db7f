"""In which register does a function find each argument? System V, x86-64, what two words hold."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Final

from debugger.backends.frida.dwarf import codes as dw
from debugger.backends.frida.dwarf.types import Kind, Type

_WORD: Final = 8
_WORDS: Final = 6
_BY_REFERENCE: Final = 4  # DW_CC_pass_by_reference
_INTEGERS: Final = {
    Kind.INTEGER, Kind.BOOL, Kind.CHARACTER, Kind.POINTER, Kind.REFERENCE, Kind.ENUM,
}  # fmt: skip


class In(Enum):
    """Which registers."""

    WORD = "word"
    REAL = "real"


# Which register of which kind; None for what is in none, in several, or not known to be.
Place = tuple[In, int] | None


def places(arguments: Sequence[Type], returned: Type | None) -> list[Place]:
    """Give each argument's register; from the first that cannot be told on, all are unknown."""
    words = int(returned is not None and _is_returned_in_memory(returned))
    reals = 0
    found: list[Place] = []
    is_sure = True
    for kind in arguments:
        taken = _registers(kind) if is_sure else None
        if taken is None:
            is_sure = False
            found.append(None)
            continue
        for_words, for_reals = taken
        fits = words + for_words <= _WORDS
        if (for_words, for_reals) == (1, 0) and fits and kind.kind in _INTEGERS:
            found.append((In.WORD, words))
        elif (for_words, for_reals) == (0, 1) and kind.kind is Kind.FLOAT:
            found.append((In.REAL, reals))
        else:
            found.append(None)
        # What does not fit as a whole is on the stack as a whole.
        words += for_words if fits else 0
        reals += for_reals
    return found


def _registers(kind: Type) -> tuple[int, int] | None:
    """Count the registers that a value is passed in; None is not known."""
    if kind.kind in _INTEGERS:
        return ((kind.size or _WORD) + 7) // _WORD, 0
    if kind.kind is Kind.FLOAT:
        return (0, 1) if kind.size <= _WORD else (0, 0)
    if kind.kind in {Kind.STRUCT, Kind.UNION}:
        return _of_record(kind)
    return None


def _of_record(kind: Type) -> tuple[int, int] | None:
    entry = kind.plain.entry
    if entry is None or not kind.size:
        return None
    if entry.number(dw.AT_CALLING_CONVENTION) == _BY_REFERENCE:
        return 1, 0
    if kind.size > 2 * _WORD:
        return 0, 0
    classes: dict[int, bool] = {}
    if not _classify(kind, 0, classes):
        return None
    words = sum(is_word for is_word in classes.values())
    return words, len(classes) - words


def _classify(kind: Type, at: int, classes: dict[int, bool]) -> bool:
    """Note for each word of a record whether a whole number is in it; False is not known."""
    if kind.kind in _INTEGERS or kind.kind is Kind.FLOAT:
        is_word = kind.kind is not Kind.FLOAT
        if kind.size > _WORD:
            return False
        classes[at // _WORD] = classes.get(at // _WORD, False) or is_word
        return True
    if kind.kind is Kind.ARRAY:
        element = kind.target
        if not element.size:
            return False
        return all(
            _classify(element, at + offset, classes) for offset in range(0, kind.size, element.size)
        )
    if kind.kind not in {Kind.STRUCT, Kind.UNION} or kind.variants:
        return False
    return all(
        one.offset is not None and _classify(one.type, at + one.offset, classes)
        for one in kind.members
    )


def _is_returned_in_memory(kind: Type) -> bool:
    if kind.kind not in {Kind.STRUCT, Kind.UNION}:
        return False
    entry = kind.plain.entry
    is_by_reference = entry is not None and entry.number(dw.AT_CALLING_CONVENTION) == _BY_REFERENCE
    return is_by_reference or kind.size > 2 * _WORD
