"""Evaluates elements of Rust's references, which LLDB and gdb read as C's pointers.

To them `values[1]` of a `&Vec<i32>` or a `&[i32; 3]` is what lies behind the whole collection, and
`n + 1` of an `&i32` an address. Rust reads through the reference in both.
"""

from __future__ import annotations

import re

import msgspec

from debugger.backends.base import Backend
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.number_format import parse_integer
from debugger.model.program import EvaluationPurpose, Frame, Variable

_PATH = re.compile(r"[A-Za-z_][\w.:\[\] ]*\Z")
_WITH_INDEX = re.compile(r"([A-Za-z_](?:[\w.]|::)*)\s*\[")
_SUM = re.compile(r"[\w)\]]\s*[-+]\s*[\w(*]")
# gdb's own names of what is no plain pointer: slices and texts know how long they are.
_FAT = re.compile(r"&(?:mut )?(?:\[[^;]*\]|str)\Z")


async def evaluate_rust(
    backend: Backend, expression: str, frame: Frame, purpose: EvaluationPurpose
) -> Variable:
    """Evaluate an expression of Rust; of a path with an index, the element that Rust means.

    Raises:
        DebuggerError: EVALUATION_FAILED, also for what would be taken for C's pointers.
    """
    split = _split_index(expression)
    if split is not None:
        return await _evaluate_element(backend, *split, frame, purpose)
    for base in _WITH_INDEX.findall(expression):
        if await _is_known_pointer(backend, base, frame):
            raise _misread_error(base, f"print '{base}[0]' alone shows an element")
    value = await backend.evaluate(expression, frame, purpose)
    if _is_pointer(value) and _SUM.search(expression):
        raise _misread_error(expression, "print '*NAME' reads through a reference")
    return value


def _split_index(expression: str) -> tuple[str, str] | None:
    """Split a path that ends with an index into what is before it and the index."""
    text = expression.strip()
    if not (text.endswith("]") and _PATH.match(text)):
        return None
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += {"]": 1, "[": -1}.get(text[at], 0)
        if not depth:
            return text[:at].strip(), text[at + 1 : -1].strip()
    return None


async def _evaluate_element(
    backend: Backend, base: str, index: str, frame: Frame, purpose: EvaluationPurpose
) -> Variable:
    holder = await evaluate_rust(backend, base, frame, purpose)
    if _is_pointer(holder) and "[" not in base:
        holder = await backend.evaluate(f"*{base}", frame, EvaluationPurpose.PRINT)
    number = parse_integer(index)
    if number is None:
        number = parse_integer(
            (await evaluate_rust(backend, index, frame, EvaluationPurpose.PRINT)).value
        )
    name = f"[{number}]"
    if number is not None and number >= 0 and holder.handle:
        found = await backend.read_variables(holder.handle, start=number, count=1)
        if found and found[0].name == name:
            return msgspec.structs.replace(found[0], name=f"{base}[{index}]")
    raise DebuggerError(
        ErrorCode.EVALUATION_FAILED,
        f"{base} has no element {name if number is not None else index}",
        hint=f"debugger print '{base}' shows those that it has",
    )


async def _is_known_pointer(backend: Backend, name: str, frame: Frame) -> bool:
    try:
        return _is_pointer(await backend.evaluate(name, frame, EvaluationPurpose.PRINT))
    except DebuggerError as error:
        if error.code is not ErrorCode.EVALUATION_FAILED:
            raise
        return False  # No variable: a register's name, a word of a text.


def _is_pointer(value: Variable) -> bool:
    kind = value.type.strip()
    return kind.endswith("*") or (kind.startswith(("&", "*")) and not _FAT.match(kind))


def _misread_error(what: str, instead: str) -> DebuggerError:
    return DebuggerError(
        ErrorCode.EVALUATION_FAILED,
        f"{what}: the debugger behind the session takes a reference for a pointer of C",
        hint=f"debugger {instead}; --backend frida evaluates as Rust does",
    )
