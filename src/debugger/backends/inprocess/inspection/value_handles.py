"""Formats variables, and finds a value by its handle."""

from __future__ import annotations

import re
from dataclasses import dataclass

from debugger.backends.inprocess.inspection.thread_stacks import FrameLevel
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.program import ScopeKind, Variable
from debugger.symbols.dwarf import container_shapes, less_common_shapes, value_format
from debugger.symbols.dwarf.debug_types import TypeKind
from debugger.symbols.dwarf.dynamic_class import complete_object
from debugger.symbols.dwarf.location_evaluation import UnreadableMemory
from debugger.symbols.dwarf.typed_values import TypedValue, ValueMemory, read_pointee

_NAME = re.compile(r"[A-Za-z_]\w*\Z")
_ELEMENT = re.compile(r"\[\d+\]\Z")
_PATH = re.compile(r"[\w.:\[\]]+\Z")
_TUPLE = re.compile(r"__(\d+)\Z")


@dataclass(frozen=True, slots=True)
class ScopeGroup:
    """One of a frame's scopes."""

    level: FrameLevel
    kind: ScopeKind


@dataclass(frozen=True, slots=True)
class HandledValue:
    """A value that was told, and the expression that gives it again."""

    value: TypedValue
    path: str | None


class ValueHandles:
    """What was told at one stop."""

    def __init__(self) -> None:
        self._known: dict[int, ScopeGroup | HandledValue] = {}
        # They never come again, so that a handle of an earlier stop is refused.
        self._next = 1

    def forget_handles(self) -> None:
        """Forget all: handles of before are stale."""
        self._known.clear()

    def keep_value(self, one: ScopeGroup | HandledValue) -> int:
        """Give a handle to a scope or a value."""
        handle, self._next = self._next, self._next + 1
        self._known[handle] = one
        return handle

    def find_value(self, handle: int) -> ScopeGroup | HandledValue:
        """Return what has a handle.

        Raises:
            DebuggerError: STALE_REF.
        """
        found = self._known.get(handle)
        if found is None:
            raise DebuggerError(
                ErrorCode.STALE_REF, "this value belongs to an earlier stop", hint="debugger locals"
            )
        return found

    def to_variable(
        self, name: str, value: TypedValue, memory: ValueMemory, path: str | None = None
    ) -> Variable:
        """Tell a value in one line, with a handle where there is something inside it."""
        text = value_format.format_value(value, memory)
        is_leaf = text.startswith(('"', "0x0", "<")) or not value_format.has_children(value, memory)
        count = None if is_leaf else count_elements(value, memory)
        return Variable(
            name=name,
            value=text,
            type=value.type.name,
            handle=0 if is_leaf else self.keep_value(HandledValue(value, path)),
            indexed=count,
            expression=path,
        )

    def count_children(self, known: HandledValue, memory: ValueMemory) -> int:
        """Count what is inside a value."""
        count = count_elements(known.value, memory)
        return (
            count
            if count is not None
            else len(value_format.list_children(known.value, memory, 0, 10_000))
        )

    def read_children(
        self, known: HandledValue, memory: ValueMemory, start: int, count: int | None
    ) -> list[Variable]:
        """Tell what is inside a value, or a part of it."""
        found = value_format.list_children(
            known.value, memory, start, count if count is not None else 1000
        )
        # Of what is only known at run time, no expression gives a member.
        path = known.path if _is_as_declared(known.value, memory) else None
        return [
            self.to_variable(
                _written_name(one.name), one.value, memory, _expression_path(path, one.name)
            )
            for one in found
        ]


def _is_as_declared(value: TypedValue, memory: ValueMemory) -> bool:
    if value.type.kind not in {TypeKind.POINTER, TypeKind.REFERENCE} or value.problem:
        return True
    try:
        named = read_pointee(value, memory)
    except UnreadableMemory:
        return True
    return complete_object(named, memory) is named


def count_elements(value: TypedValue, memory: ValueMemory) -> int | None:
    """Count the elements of an array or a container; None for what has none."""
    try:
        while value.type.kind is TypeKind.REFERENCE:
            value = read_pointee(value, memory)
        shape = less_common_shapes.find_shape(value, memory)
    except UnreadableMemory:
        return None
    if isinstance(shape, container_shapes.SequenceShape | container_shapes.MappingShape):
        return shape.count
    return (
        value.type.dimension_counts[0]
        if value.type.kind is TypeKind.ARRAY and value.type.dimension_counts
        else None
    )


def _written_name(name: str) -> str:
    match = _TUPLE.match(name)
    return match[1] if match else name


def _expression_path(of: str | None, name: str) -> str | None:
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
