"""Reads and writes globals and typed addresses while the program runs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from debugger.backends.inprocess.expressions import location_nodes
from debugger.backends.inprocess.expressions.expression_types import BASIC
from debugger.backends.inprocess.inspection.inspection_access import InspectionAccess
from debugger.backends.inprocess.own_binaries import is_of_system
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.location import near_names
from debugger.model.program import Variable
from debugger.symbols.dwarf.unwinding import LoadedBinary

_ADDRESS = re.compile(r"0[xX][0-9a-fA-F]{1,16}\Z")
_NAME = re.compile(r"[A-Za-z_][\w:]*")
_HINT = "debugger pause stops it, for locals; debugger read 0xADDR --type i32"
KINDS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64", "pointer", "char*")
_POINTERS = {"pointer": "void *", "char*": "char *", "string": "char *"}


class InProcessLiveValues:
    """Memory of a program that runs, or has paused."""

    def __init__(self, inside: InspectionAccess) -> None:
        self._inside = inside

    async def read_live_value(self, expression: str, *, kind: str | None = None) -> Variable:
        """Evaluate an expression over globals, or an address with a type."""
        looking = self._inside.looking
        try:
            result = await looking.evaluating.evaluate_result(
                self._typed_expression(expression, kind), None
            )
        except DebuggerError as error:
            raise self._explain_local(expression, error, "read") from error
        return await looking.result_variable(expression, result)

    async def write_live_value(
        self, target: str, value: str, *, kind: str | None = None
    ) -> tuple[Variable, Variable]:
        """Write a global, or an address with a type; return what was there and what is now."""
        looking = self._inside.looking
        try:
            before, after = await looking.assign_global(self._typed_expression(target, kind), value)
        except DebuggerError as error:
            raise self._explain_local(target, error, "write") from error
        return _rename_variable(before, target), _rename_variable(after, target)

    def _typed_expression(self, expression: str, kind: str | None) -> str:
        text = expression.strip()
        is_address = _ADDRESS.match(text) is not None
        if kind is None:
            if is_address:
                raise DebuggerError(
                    ErrorCode.USAGE,
                    "an address is read as a type",
                    hint=f"--type {' | '.join(KINDS)}",
                )
            return text
        known = _POINTERS.get(kind, kind)
        if kind not in _POINTERS and known not in BASIC:
            raise DebuggerError(
                ErrorCode.USAGE, f"no type {kind!r} is read so", hint=f"--type {' | '.join(KINDS)}"
            )
        place = text if is_address else f"&({text})"
        return f"*({known} *){place}"

    def _explain_local(self, expression: str, error: DebuggerError, what: str) -> DebuggerError:
        """Say that a name is one of a function's, which a running program has no place for."""
        if error.code is not ErrorCode.EVALUATION_FAILED or "in scope here" not in error.message:
            return error
        match = _NAME.search(expression)
        name = match[0] if match else expression
        if self._is_local(name):
            if what == "write":
                said = "Local variable writes require a paused breakpoint."
            else:
                said = f"{name} is a local variable: it is read at a breakpoint"
            hint = "debugger break LOC; debugger set NAME VALUE"
            return DebuggerError(ErrorCode.WRONG_STATE, said, hint=hint)
        why = self._why_absent(name)
        if why:
            return DebuggerError(ErrorCode.EVALUATION_FAILED, f"{name} is {why}", hint=_HINT)
        near = near_names(name, self._global_names())
        also = f"; near: {', '.join(near)}" if near else ""
        missing = next(
            filter(None, (one.image.why_incomplete() for one in self._own_modules())), ""
        )
        also += f"; {missing}" if missing else ""
        said = f"no global {name!r} in the program{also}"
        return DebuggerError(ErrorCode.EVALUATION_FAILED, said, hint=_HINT)

    def _why_absent(self, name: str) -> str:
        """Say why a global that is declared has no place while the program runs."""
        for module in self._own_modules():
            known = module.image.scopes.global_named(name)
            if known is not None:
                return known.why or location_nodes.THREAD_LOCAL
        return ""

    def _global_names(self) -> list[str]:
        found: list[str] = []
        for module in self._own_modules():
            found += module.image.scopes.global_names
        return found

    def _is_local(self, name: str) -> bool:
        return any(module.image.scopes.is_local(name) for module in self._own_modules())

    def _own_modules(self) -> Iterator[LoadedBinary]:
        modules = self._inside.modules
        return (one for one in modules if one.image.has_debug and not is_of_system(one))


def _rename_variable(one: Variable, name: str) -> Variable:
    return Variable(name, one.value, one.type, one.handle, one.indexed, one.named, one.expression)
