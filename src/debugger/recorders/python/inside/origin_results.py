"""Gives the statement that made a call the link of the value that it returned or yielded.

It also finds the result, or its item, that an exception of CPython is about.
"""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

_ITERATED = 0x20 | 0x200  # generators, and asynchronous ones
_TEXTS = (str, bytes)
# CPython's words of an item that `join` refuses, and functions whose exceptions are about items.
_ITEM = "sequence item "
_GOING_THROUGH = frozenset(
    {"sum", "fsum", "mean", "fmean", "sorted", "min", "max", "join", "nlargest", "nsmallest"}
)


class CallResults:
    """The results of recorded calls."""

    def __init__(self, reader: Any, writes: Any, arguments: Any, plans: Any, parts: Any) -> None:
        self._reader = reader
        self._writes = writes
        self._arguments = arguments
        self._plans = plans
        self._parts = parts

    def note_result(self, scope: Any, frame: FrameType, value: Any, *, is_yield: bool) -> None:
        """Give the caller's statement the link of the value that a call returned or yielded."""
        parent, code = scope.parent, scope.code
        if parent is None:
            return
        if self._parts.makes_tuple(code) and type(value) is not tuple:
            self._arguments.note_made_tuple(scope, value, class_name(value))
            return
        if code.co_name == "__init__" and code.co_varnames:
            made = scope.held.get(code.co_varnames[0])
            link = parent.new_link("made", code, "new", (), self._parts.snap_value(made))
            is_own = code.co_filename != "<string>"
            link.callee, link.line = (
                code if is_own else class_name(made),
                scope.stack[1],
            )
            parent.add_return(scope.position, class_name(made), link)
            return
        if code.co_flags & _ITERATED and not is_yield and value is None:
            return  # who goes through it gets what it has yielded
        node, line = scope.result_node(self._plans, value, is_yield=is_yield)
        pieces: tuple[Any, ...] = ()
        snap = self._parts.snap_value(value)
        if node is None and code.co_name == "<lambda>":
            how, sources, note = "", (), ""
        elif node is None and (scope.is_partial or value is not None):
            how, sources, note = "unrecorded", (), code.co_name
        elif node is None:
            how, sources, note = "constant", (), "no return statement"
        else:
            is_delegated = isinstance(node, ast.YieldFrom)
            scope.value = value
            how, sources = (
                self._writes.element_origin(node.value, value, scope)
                if is_delegated
                else self._reader.origin(node, scope, snap)
            )
            note, pieces = scope.note, scope.pieces
            if not is_delegated:
                self._writes.note_container(node, how, sources, value, scope)
        kind = "yielded" if is_yield else "returned"
        link = scope.new_link(kind, code, how, sources, snap)
        link.callee, link.line, link.note = code, line or frame.f_lineno or scope.line, note
        link.pieces = pieces
        link.size = len(value) if type(value) in _TEXTS else None
        parent.add_return(scope.position, code.co_name, link)
        self._reader.cached.note_result(scope, link)
        if scope.is_cached and code.co_argcount == 1:  # a library's descriptor may store it
            self._reader.store.put(scope.held[code.co_varnames[0]], f".{code.co_name}", link)


def class_name(value: Any) -> str:
    """Return the name of a value's class, without code of the program."""
    return str(type.__dict__["__name__"].__get__(type(value)))


def find_failed_result(expression: Any, scope: Any, message: str, reader: Any) -> Any:
    """Find what the statement's own call gave, by an exception's message that is about it.

    Returns:
        The call's node, and what is wrong: None for the result itself, which is None; the key and
        the link of one of its items; "" if that was not recorded. None for other messages.
    """
    index = message.partition(_ITEM)[2].partition(":")[0]
    if not index and "NoneType" not in message:
        return None
    text = ast.unparse(expression)
    every = [node for plan in scope.statements for node in ast.walk(plan.node)]
    calls = [one for one in every if isinstance(one, ast.Call)]
    call = next((one for one in calls if ast.unparse(one) == text), expression)
    result = reader.find_by_snap(call, scope)
    of_items = any(call in one.args and _name_of(one) in _GOING_THROUGH for one in calls)
    is_whole = "not iterable" in message or not of_items
    if not index and (result.value is None if result is not None else is_whole):
        return call, None
    parts = reader.store.parts_of(result.value) if result is not None else {}
    nothing = next((key for key, one in parts.items() if one.value is None), "")
    key = f"[{index}]" if index else nothing
    is_known = key in parts and type(parts[key].value) is not tuple
    return call, (key, parts[key]) if is_known else ""


def _name_of(call: ast.Call) -> str:
    return getattr(call.func, "attr", getattr(call.func, "id", ""))
