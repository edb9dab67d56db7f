"""Converts the debugger's values to the protocol's: breakpoints, sources, frames, values. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import UNSET

from debugger.model.breakpoints import Breakpoint
from debugger.model.program import Frame, Scope, ScopeKind, Variable
from debugger.session import views

VALUE_MAX = 10_000  # characters
_HINTS: Mapping[ScopeKind, str] = {
    ScopeKind.LOCALS: "locals",
    ScopeKind.ARGUMENTS: "arguments",
    ScopeKind.REGISTERS: "registers",
    ScopeKind.GLOBALS: "globals",
}
_EXPENSIVE = frozenset({ScopeKind.GLOBALS, ScopeKind.REGISTERS})


def breakpoint_body(one: Breakpoint) -> dict[str, Any]:
    """Return a breakpoint (DAP, Breakpoint)."""
    view = views.breakpoint_view(one)
    body: dict[str, Any] = {"id": one.id, "verified": view.verified and one.spec.enabled}
    if view.file is not None:
        body["source"] = source_body(view.file)
    if view.line is not None:
        body["line"] = view.line
    if view.address is not None:
        body["instructionReference"] = view.address
    if view.why_unbound is not UNSET:
        near = ", ".join(map(str, view.nearest_lines or ())) if view.nearest_lines else ""
        names = ", ".join(view.near_names or ()) if view.near_names else ""
        choices = f"; nearest: {near or names}" if near or names else ""
        body["message"] = f"{view.why_unbound}{choices}"
    return body


def source_body(file: str, reference: int = 0) -> dict[str, Any]:
    """Return a source (DAP, Source)."""
    body: dict[str, Any] = {"name": Path(file).name, "path": file}
    return {**body, "sourceReference": reference} if reference else body


def frame_body(number: int, frame: Frame, *, lines_from: int, columns_from: int) -> dict[str, Any]:
    """Return a frame (DAP, StackFrame); its lines count from the editor's number."""
    body: dict[str, Any] = {
        "id": number,
        "name": frame.function,
        "line": max((frame.line or 0) - 1 + lines_from, 0),
        "column": max((frame.column or 1) - 1 + columns_from, 0),
    }
    if frame.file is not None:
        body["source"] = source_body(frame.file, frame.source_reference)
    if frame.address is not None:
        body["instructionPointerReference"] = frame.address
    if frame.module is not None:
        body["moduleId"] = frame.module
    if frame.is_subtle or frame.file is None:
        body["presentationHint"] = "subtle"
    return body


def scope_body(number: int, scope: Scope) -> dict[str, Any]:
    """Return a group of variables (DAP, Scope)."""
    body: dict[str, Any] = {
        "name": scope.name,
        "variablesReference": number,
        "expensive": scope.kind in _EXPENSIVE,
    }
    hint = _HINTS.get(scope.kind)
    return {**body, "presentationHint": hint} if hint is not None else body


def variable_body(one: Variable, number: int) -> dict[str, Any]:
    """Return a variable (DAP, Variable)."""
    body: dict[str, Any] = {"name": one.name, **value_body(one, number, key="value")}
    return {**body, "evaluateName": one.expression} if one.expression else body


def value_body(one: Variable, number: int, *, key: str) -> dict[str, Any]:
    """Return the fields that a variable, and the answer to an evaluation, have in common."""
    body: dict[str, Any] = {
        key: views.value_text(one.value, VALUE_MAX),
        "variablesReference": number,
    }
    if one.type:
        body["type"] = one.type[: views.NAME_MAX]
    if number and one.indexed is not None:
        body["indexedVariables"] = one.indexed
    if number and one.named is not None:
        body["namedVariables"] = one.named
    address = one.value.partition(" ")[0]
    if address.startswith("0x") and address[2:].isalnum():
        body["memoryReference"] = address
    return body
