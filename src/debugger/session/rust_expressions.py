"""Evaluates elements of Rust's references, which LLDB and gdb read as C's pointers.

To them `values[1]` of a `&Vec<i32>` or a `&[i32; 3]` is what lies behind the whole collection, and
`n + 1` of an `&i32` an address. Rust reads through the reference in both.
"""

from __future__ import annotations

import re

import msgspec

from debugger.backends.base import Backend
from debugger.core.model import Frame, Purpose, Variable
from debugger.core.numbers import integer
from debugger.errors import Code, DebuggerError

_PATH = re.compile(r"[A-Za-z_][\w.:\[\] ]*\Z")
_WITH_INDEX = re.compile(r"([A-Za-z_](?:[\w.]|::)*)\s*\[")
_SUM = re.compile(r"[\w)\]]\s*[-+]\s*[\w(*]")
# gdb's own names of what is no plain pointer: slices and texts know how long they are.
_FAT = re.compile(r"&(?:mut )?(?:\[[^;]*\]|str)\Z")


async def evaluate(backend: Backend, expression: str, frame: Frame, purpose: Purpose) -> Variable:
    """Evaluate an expression of Rust; of a path with an index, the element that Rust means.

    Raises:
        DebuggerError: EVALUATION_FAILED, also for what would be taken for C's pointers.
    """
    split = _split(expression)
    if split is not None:
        return await _element(backend, *split, frame, purpose)
    for base in _WITH_INDEX.findall(expression):
        if await _is_known_pointer(backend, base, frame):
            raise _misread(base, f"print '{base}[0]' alone shows an element")
    value = await backend.evaluate(expression, frame, purpose)
    if _is_pointer(value) and _SUM.search(expression):
        raise _misread(expression, "print '*NAME' reads through a reference")
    return value


def _split(expression: str) -> tuple[str, str] | None:
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


async def _element(
    backend: Backend, base: str, index: str, frame: Frame, purpose: Purpose
) -> Variable:
    holder = await evaluate(backend, base, frame, purpose)
    if _is_pointer(holder) and "[" not in base:
        holder = await backend.evaluate(f"*{base}", frame, Purpose.PRINT)
    number = integer(index)
    if number is None:
        number = integer((await evaluate(backend, index, frame, Purpose.PRINT)).value)
    name = f"[{number}]"
    if number is not None and number >= 0 and holder.handle:
        found = await backend.variables(holder.handle, start=number, count=1)
        if found and found[0].name == name:
            return msgspec.structs.replace(found[0], name=f"{base}[{index}]")
    raise DebuggerError(
        Code.EVALUATION_FAILED,
        f"{base} has no element {name if number is not None else index}",
        hint=f"debugger print '{base}' shows those that it has",
    )


async def _is_known_pointer(backend: Backend, name: str, frame: Frame) -> bool:
    try:
        return _is_pointer(await backend.evaluate(name, frame, Purpose.PRINT))
    except DebuggerError as error:
        if error.code is not Code.EVALUATION_FAILED:
            raise
        return False  # No variable: a register's name, a word of a text.


def _is_pointer(value: Variable) -> bool:
    kind = value.type.strip()
    return kind.endswith("*") or (kind.startswith(("&", "*")) and not _FAT.match(kind))


def _misread(what: str, instead: str) -> DebuggerError:
    return DebuggerError(
        Code.EVALUATION_FAILED,
        f"{what}: the debugger behind the session takes a reference for a pointer of C",
        hint=f"debugger {instead}; --backend frida evaluates as Rust does",
    )
