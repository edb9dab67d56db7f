"""Recognises in the hits of a second run that a loop goes round the same objects for ever. Pure."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence

from debugger.model.debugger_words import Runtime
from debugger.questions.hang.turn_values import ObservedValue, find_cycle, parse_value
from debugger.questions.probe.probe_table import ProbeCell

TURNS_MIN = 50
_NOTHING = r"(?:NULL|nullptr|0|None|null|undefined|nil)"


def ends_at_nothing(name: str, exits: Sequence[tuple[str, bool]]) -> bool:
    """Return whether a loop ends only where a variable is nothing, as at the end of a list.

    A ring that other conditions end, as a count or the node where it began, may be a healthy one.

    Args:
        name: The variable.
        exits: The conditions that leave the loop, and of each whether it is the header's.
    """
    word = re.escape(name)
    is_there = rf"{word}|{word}\s*(?:!==?|is not)\s*{_NOTHING}|{_NOTHING}\s*!==?\s*{word}"
    is_none = rf"!\s*{word}|not {word}|{word}\s*(?:===?|is)\s*{_NOTHING}"
    return bool(exits) and all(
        re.fullmatch(rf"\(?\s*(?:{is_there if is_header else is_none})\s*\)?", text.strip())
        for text, is_header in exits
    )


class EndlessCycle:
    """The turns of a loop since its function was entered, or a link was written, last.

    That the same objects come again is not enough: a list with an end may be walked over and over
    in one call. So the link of each turn must be the object of the next one, as it is not at the
    end of a list. Of a loop for which `ends_at_nothing` is false it does not prove anything.
    """

    def __init__(self, place: int, runtime: Runtime) -> None:
        """Watch the hits of the loop's step, which has the number `place` among the locations."""
        self._place = place
        self._runtime = runtime
        self._objects: deque[ObservedValue] = deque(maxlen=TURNS_MIN)
        self._expected = ""

    def take_hit(self, place: int, cells: Sequence[ProbeCell]) -> bool:
        """Add a hit of any location; return whether the loop is known to go round for ever.

        Args:
            place: The location's number.
            cells: At the loop's step, the object and its link.
        """
        values = self._read_turn(cells) if place == self._place else None
        if values is None:
            self._objects.clear()
            self._expected = ""
            return False
        current, following = values
        # Another thread may walk another list, and hits that come too fast are not all reported:
        # the turn then does not go on from the one before.
        if current.identity != self._expected:
            self._objects.clear()
        self._objects.append(current)
        self._expected = following.identity
        return len(self._objects) == TURNS_MIN and find_cycle(self._objects) > 0

    def _read_turn(self, cells: Sequence[ProbeCell]) -> tuple[ObservedValue, ObservedValue] | None:
        """Return the object and its link; None where one of both is none, or cannot be read."""
        if any(one.is_error for one in cells):
            return None
        # Of native code an object is a pointer.
        found = [parse_value(one.text, "*", self._runtime) for one in cells]
        match found:
            case [ObservedValue() as current, ObservedValue() as following]:
                return (current, following) if current.identity and following.identity else None
        return None
