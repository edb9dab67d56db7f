"""Finds the first part by which a value of Go departs from the one that a check compared it with.

The parts are read through delve: elements of slices, arrays and maps, fields of structs, also
through pointers, and the bytes of texts.
"""

from __future__ import annotations

import ast
from collections.abc import AsyncIterator

from debugger.model.program import Variable
from debugger.questions.why.go_run import GoStop
from debugger.questions.why.traced_run import Departure

_LEVELS = 8  # of values in values
_PAGE = 100  # elements that are read at once
_ELEMENTS_MAX = 20_000
_READS_MAX = 500  # of one search
_EXCERPT = 80  # characters of a text from the difference on
_CUT = "..."


class GoDeparture:
    """The search of one stop: values are read as far as they differ."""

    def __init__(self, stop: GoStop, frame: int) -> None:
        self._stop, self._frame = stop, frame
        self._reads = 0

    async def find(self, expression: str, others: list[str]) -> Departure | None:
        """Return the first part of a value that differs from one of those it was compared with.

        None where the values differ as a whole, or one has no value without a call.
        """
        value = await self._stop.read_value(expression, self._frame)
        for one in others if value is not None else ():
            other = await self._stop.read_value(one, self._frame)
            if value is None or other is None:
                continue
            found = await self._compare("", value, other, _LEVELS)
            if found is not None:
                return found
        return None

    async def _compare(
        self, path: str, value: Variable, other: Variable, levels: int
    ) -> Departure | None:
        is_whole = _CUT not in value.value + other.value
        if is_whole and value.value == other.value:
            return None
        if value.type == other.type == "string":
            return await self._compare_texts(path, value, other)
        if not value.handle or not other.handle or not levels:
            return _part(path, value, other) if is_whole else None
        if value.type.startswith("map["):
            return await self._compare_maps(path, value, other, levels - 1)
        return await self._compare_items(path, value, other, levels - 1)

    async def _compare_items(
        self, path: str, value: Variable, other: Variable, levels: int
    ) -> Departure | None:
        """Return the first element or field that differs, or the value if only its length does."""
        if value.type.startswith(("interface", "func", "chan")):
            return None
        theirs = self._children_of(other)
        async for one in self._children_of(value):
            another = await anext(theirs, None)
            if another is None:
                return _part(path, value, other)
            found = await self._compare(path + _step_of(one), one, another, levels)
            if found is not None:
                return found
        return _part(path, value, other) if await anext(theirs, None) is not None else None

    async def _compare_maps(
        self, path: str, value: Variable, other: Variable, levels: int
    ) -> Departure | None:
        theirs = {one.name: one async for one in self._children_of(other)}
        count = 0
        async for one in self._children_of(value):
            count += 1
            another = theirs.get(one.name)
            if another is None:
                return _part(path, value, other)
            found = await self._compare(f"{path}[{one.name}]", one, another, levels)
            if found is not None:
                return found
        return _part(path, value, other) if count < len(theirs) else None

    async def _compare_texts(self, path: str, value: Variable, other: Variable) -> Departure | None:
        """Return from where two texts differ; where one is over, the last byte of the value."""
        texts = [_text_of(one) for one in await self._stop.complete([value, other])]
        if None in texts:
            return None
        ours, theirs = (one or b"" for one in texts)
        if ours == theirs or not ours:
            return _part(path, value, other) if ours != theirs else None
        pairs = enumerate(zip(ours, theirs, strict=False))
        at = next((at for at, (one, another) in pairs if one != another), len(theirs))
        at = min(at, len(ours) - 1)
        rests = [repr(one[at : at + _EXCERPT].decode("utf-8", "replace")) for one in (ours, theirs)]
        return Departure(f"{path}[{at}]", f"{path}[{at}:]", *rests)

    async def _children_of(self, value: Variable) -> AsyncIterator[Variable]:
        count = 0
        while count < _ELEMENTS_MAX and self._reads < _READS_MAX:
            self._reads += 1
            page = await self._stop.read_children(value, count, _PAGE)
            for one in page:
                yield one
            count += len(page)
            if len(page) < _PAGE:
                return


def _step_of(child: Variable) -> str:
    """Return what reads a child behind its parent's path: a pointer's target has no name."""
    if not child.name or child.name.startswith("["):
        return child.name
    return f".{child.name}"


def _part(path: str, value: Variable, other: Variable) -> Departure | None:
    return Departure(path, path, value.value, other.value) if path else None


def _text_of(value: Variable) -> bytes | None:
    try:
        found = ast.literal_eval(value.value)
    except (SyntaxError, ValueError):
        return None
    return found.encode() if isinstance(found, str) else None
