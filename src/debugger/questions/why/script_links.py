"""Holds the links of one value of Ruby or PHP, and reads the sources for them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from msgspec import structs

from debugger.model.answers.frames import FrameView
from debugger.questions.why import script_statement as statements
from debugger.questions.why.answer import ChainEnd, WhyLink
from debugger.questions.why.script_values import HistoryValues, Slot
from debugger.recorders.script.step_history import Step, StepCall, StepHistory

_STACK = 3


@dataclass(frozen=True)
class FollowedValue:
    """A value to follow: where it is, in which call it is read, and when."""

    slot: Slot
    text: str
    call: int
    index: int


class ScriptLinks:
    """The links so far. `lines_of` returns the lines of a source."""

    def __init__(
        self,
        history: StepHistory,
        lines_of: Callable[[str], Sequence[str]],
        *,
        is_php: bool,
        links_most: int,
    ) -> None:
        self._history = history
        self._lines_of = lines_of
        self._is_php = is_php
        self._links_most = links_most
        self._values = HistoryValues(history, is_php)
        self._visited: set[tuple[str, tuple[str, ...], int]] = set()
        self._followed: FollowedValue | None = None
        self.links: list[WhyLink] = []
        self.ended = ChainEnd.NOT_FOLLOWED
        self.ending: str | None = None

    def _find(self, expression: str, call: int, index: int) -> FollowedValue | None:
        slot = self._values.resolve(expression, call, index)
        return FollowedValue(slot, expression, call, index) if slot is not None else None

    def _find_part(
        self, text: str, call: int, index: int, keys: tuple[str, ...]
    ) -> FollowedValue | None:
        found = self._find(text, call, index)
        if found is None or not keys:
            return found
        slot = found.slot
        owner, path = slot.owner, (*slot.path, *keys)
        if not self._is_php or slot.value.object:
            owner, path = f"O{slot.value.object}", keys
        part = self._values.read(owner, path, index)
        return (
            FollowedValue(part, f"{text}{''.join(keys)}", call, index) if part is not None else None
        )

    def _end(self, ended: ChainEnd, text: str | None = None) -> None:
        self.ended, self.ending = ended, text

    def _text_of(self, step: Step) -> str:
        return self._statement(step.call, step.line)

    def _statement(self, call: int, line: int) -> str:
        lines = self._lines_of(self._history.function_of(call).file)
        return statements.statement_lines(lines, line) if 0 < line <= len(lines) else ""

    def _frame(self, call: int, line: int) -> FrameView:
        function = self._history.function_of(call)
        return FrameView(0, function.name, function.file, line)

    def _stack(self, call: int) -> tuple[FrameView, ...]:
        found: list[FrameView] = []
        known = self._history.calls.get(call)
        while known is not None and known.parent and len(found) < _STACK:
            step = self._history.calling_step(known)
            function = self._history.function_of(known.parent)
            # A body in the line of its head has no statement in Ruby.
            line = step.line if step is not None else known.line or function.line
            found.append(FrameView(len(found) + 1, function.name, function.file, line))
            known = self._history.calls.get(known.parent)
        return tuple(found)

    def _children(self, call: int, step: Step, end: int) -> list[StepCall]:
        """Return the calls that a statement made, up to a record."""
        later = next((one for one in self._history.steps_of(call) if one.index > step.index), None)
        last = min(end, later.index) if later is not None else end
        return [one for one in self._history.children_of(call) if step.index < one.index <= last]

    def _add_detail(self, fact: str) -> None:
        if self.links:
            last = self.links[-1]
            self.links[-1] = structs.replace(last, details=(*last.details, fact))
