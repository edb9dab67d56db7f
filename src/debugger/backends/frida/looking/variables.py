"""Formats variables, and finds a value by its handle."""

from __future__ import annotations

import re
from dataclasses import dataclass

from debugger.backends.frida.dwarf import containers, holders, showing
from debugger.backends.frida.dwarf.dynamic import whole
from debugger.backends.frida.dwarf.expressions import Unreadable
from debugger.backends.frida.dwarf.types import Kind
from debugger.backends.frida.dwarf.values import Memory, Value, pointee
from debugger.backends.frida.looking.stacks import Level
from debugger.core.model import ScopeKind, Variable
from debugger.errors import Code, DebuggerError

_NAME = re.compile(r"[A-Za-z_]\w*\Z")
_ELEMENT = re.compile(r"\[\d+\]\Z")
_PATH = re.compile(r"[\w.:\[\]]+\Z")
_TUPLE = re.compile(r"__(\d+)\Z")


@dataclass(frozen=True, slots=True)
class Group:
    """One of a frame's scopes."""

    level: Level
    kind: ScopeKind


@dataclass(frozen=True, slots=True)
class Known:
    """A value that was told, and the expression that gives it again."""

    value: Value
    path: str | None


class Variables:
    """What was told at one stop."""

    def __init__(self) -> None:
        self._known: dict[int, Group | Known] = {}
        # They never come again, so that a handle of an earlier stop is refused.
        self._next = 1

    def forget(self) -> None:
        """Forget all: handles of before are stale."""
        self._known.clear()

    def keep(self, one: Group | Known) -> int:
        """Give a handle to a scope or a value."""
        handle, self._next = self._next, self._next + 1
        self._known[handle] = one
        return handle

    def get(self, handle: int) -> Group | Known:
        """Return what has a handle.

        Raises:
            DebuggerError: STALE_REF.
        """
        found = self._known.get(handle)
        if found is None:
            raise DebuggerError(
                Code.STALE_REF, "this value belongs to an earlier stop", hint="debugger locals"
            )
        return found

    def told(self, name: str, value: Value, memory: Memory, path: str | None = None) -> Variable:
        """Tell a value in one line, with a handle where there is something inside it."""
        text = showing.text(value, memory)
        is_leaf = text.startswith(('"', "0x0", "<")) or not showing.has_children(value, memory)
        count = None if is_leaf else counted(value, memory)
        return Variable(
            name=name,
            value=text,
            type=value.type.name,
            handle=0 if is_leaf else self.keep(Known(value, path)),
            indexed=count,
            expression=path,
        )

    def size(self, known: Known, memory: Memory) -> int:
        """Count what is inside a value."""
        count = counted(known.value, memory)
        return count if count is not None else len(showing.children(known.value, memory, 0, 10_000))

    def inside(self, known: Known, memory: Memory, start: int, count: int | None) -> list[Variable]:
        """Tell what is inside a value, or a part of it."""
        found = showing.children(known.value, memory, start, count if count is not None else 1000)
        # Of what is only known at run time, no expression gives a member.
        path = known.path if _is_as_declared(known.value, memory) else None
        return [
            self.told(_written(one.name), one.value, memory, _path(path, one.name)) for one in found
        ]


def _is_as_declared(value: Value, memory: Memory) -> bool:
    if value.type.kind not in {Kind.POINTER, Kind.REFERENCE} or value.problem:
        return True
    try:
        named = pointee(value, memory)
    except Unreadable:
        return True
    return whole(named, memory) is named


def counted(value: Value, memory: Memory) -> int | None:
    """Count the elements of an array or a container; None for what has none."""
    try:
        while value.type.kind is Kind.REFERENCE:
            value = pointee(value, memory)
        shape = holders.shape(value, memory)
    except Unreadable:
        return None
    if isinstance(shape, containers.Sequence | containers.Mapping):
        return shape.count
    return value.type.counts[0] if value.type.kind is Kind.ARRAY and value.type.counts else None


def _written(name: str) -> str:
    match = _TUPLE.match(name)
    return match[1] if match else name


def _path(of: str | None, name: str) -> str | None:
    if of is None:
        return None
    of = of if _PATH.match(of) else f"({of})"
    if name == "*":
        return f"*{of}"
    if _ELEMENT.match(name):
        return f"{of}{name}"
    match = _TUPLE.match(name)
    if match:
        return f"{of}.{match[1]}"
    return f"{of}.{name}" if _NAME.match(name) else None
