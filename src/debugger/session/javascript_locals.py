"""Finds the variables of a frame of JavaScript that the program has not assigned yet.

V8's debugger shows `undefined` for a variable before its declaration has run, while a read of it
fails in the program (ECMAScript: temporal dead zone).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.program import EvaluationPurpose, Frame, ScopeKind, Variable
from debugger.session.session import Session
from debugger.sources.javascript_declarations import (
    describe_undeclared,
    find_outer_declarations,
    find_unassigned,
)

_UNDEFINED = "undefined"
# What V8 says of a variable that a closure has, before its declaration, as of one that is nowhere.
_NOT_DEFINED = re.compile(r"ReferenceError: ([\w$]+) is not defined")


async def unassigned_names(
    session: Session, frame: Frame, variables: Sequence[Variable]
) -> frozenset[str]:
    """Return the names of the variables that are surely not assigned yet (a job)."""
    names = {one.name for one in variables if one.value == _UNDEFINED}
    if not names or frame.file is None or frame.line is None:
        return frozenset()
    found = set(
        await asyncio.to_thread(find_unassigned, frame.file, frame.line, frame.column, names)
    )
    outer = await asyncio.to_thread(
        find_outer_declarations, frame.file, frame.line, names - found, frame.column
    )
    for name in outer:
        if await _is_before_declaration(session, frame, name):
            found.add(name)
    return frozenset(found)


async def _is_before_declaration(session: Session, frame: Frame, name: str) -> bool:
    """Return whether the declaration of a variable of another function has not run: V8 knows."""
    try:
        await session.backend.evaluate(name, frame, EvaluationPurpose.PRINT)
    except DebuggerError as error:
        if error.code is not ErrorCode.EVALUATION_FAILED:
            raise
        return True
    return False


async def declaration_error(session: Session, frame: Frame, error: DebuggerError) -> DebuggerError:
    """Return the error of a read before the declaration in another function (a job).

    V8 says of such a variable that it is not defined.
    """
    missing = _NOT_DEFINED.search(error.message)
    if error.code is not ErrorCode.EVALUATION_FAILED or missing is None or not frame.line:
        return error
    name = missing[1]
    outer = await asyncio.to_thread(
        find_outer_declarations, frame.file or "", frame.line, [name], frame.column
    )
    if not outer:
        return error
    if await _is_listed(session, frame, name):
        why = describe_undeclared(name, outer[name])
    else:
        why = (
            f"{name} of line {outer[name]} cannot be read in {frame.function}, which does not use "
            "it: V8 gives a function no other variables of those around it"
        )
    return DebuggerError(error.code, why, hint=error.hint)


async def _is_listed(session: Session, frame: Frame, name: str) -> bool:
    """Return whether a scope of a frame has a variable, although it cannot be read."""
    for scope in await session.backend.read_scopes(frame):
        if scope.kind in {ScopeKind.LOCALS, ScopeKind.ARGUMENTS}:
            variables = await session.backend.read_variables(scope.handle)
            if any(one.name == name for one in variables):
                return True
    return False
