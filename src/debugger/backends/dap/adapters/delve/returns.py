"""What did the function return that was just left? Facts are of delve 1.27.2, Go 1.26 on x86-64.

Delve knows, and does not say so to DAP clients. Right after the call the results are in registers,
one after the other (Go's ABIInternal: "Function call argument and result passing").
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from debugger.backends.dap import messages as dap
from debugger.backends.dap.adapters.delve import machine, source
from debugger.backends.dap.adapters.delve import values as delve_values
from debugger.backends.dap.profile import Inside
from debugger.core.model import Frame, Purpose, Stopped, Variable
from debugger.errors import DebuggerError

_REGISTERS = ("_RAX", "_RBX", "_RCX", "_RDI", "_RSI", "_R8", "_R9", "_R10", "_R11")
_CALL = re.compile(r"CALL (?P<path>(?:[^\s()]*/)?)(?P<package>[\w-]+)\.(?P<name>.+)\(SB\)\Z")
_TYPE_ARGUMENTS = re.compile(r"\[.*\]")
_NUMBERS = frozenset({"int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16"})
_NUMBERS |= {"uint32", "uint64", "uintptr", "byte", "rune"}
_SPELLINGS = {"byte": "uint8", "rune": "int32"}
_TEXT_MAX = 1024


class ReturnValues:
    """Reads the results of the call that ends where a goroutine is, if it is amid a line."""

    def __init__(self, inside: Inside) -> None:
        self._inside = inside

    async def returned(self, stop: Stopped, frame: Frame) -> Variable | None:
        """Return the value; None where there was no call, or one with results of other types."""
        del stop
        if frame.index or frame.address is None or frame.file is None:
            return None
        try:
            types = await self._types(frame)
            return await self._value(types, frame) if types else None
        except DebuggerError:
            return None

    async def _types(self, frame: Frame) -> tuple[str, ...] | None:
        """Find the types in the source of the function that was called before."""
        arguments = {
            "memoryReference": frame.address,
            "instructionOffset": -1,
            "instructionCount": 2,
        }
        body = await self._inside.request("disassemble", arguments, dap.DisassembleBody)
        before, here = body.instructions[:2] if len(body.instructions) > 1 else (None, None)
        call = _CALL.match(before.instruction or "") if before is not None else None
        # A step to another line ends at its first instruction, which other ways may lead to.
        if call is None or here is None or here.location is not None:
            return None
        name = _TYPE_ARGUMENTS.sub("", call["name"])
        for file in await self._files(call["package"], frame):
            found = source.results(file, name)
            if found is not None:
                return found
        return None

    async def _files(self, package: str, frame: Frame) -> list[str]:
        assert frame.file is not None
        if frame.function.startswith(f"{package}."):
            return [str(one) for one in sorted(Path(frame.file).parent.glob("*.go"))]
        command = f"dlv sources /{package}/[^/]*[.]go$"
        listed = await self._inside.evaluate(command, None, Purpose.RAW)
        return listed.value.splitlines()

    async def _value(self, types: tuple[str, ...], frame: Frame) -> Variable | None:
        values: list[Variable] = []
        at = 0
        for kind in types:
            value = await self._read(kind, at, frame)
            if value is None:
                return None
            values.append(value)
            at += 2 if kind == "string" else 1
        if len(values) == 1:
            return values[0]
        shown = ", ".join(one.value for one in values)
        return Variable("", shown, f"({', '.join(types)})")

    async def _read(self, kind: str, at: int, frame: Frame) -> Variable | None:
        """Read one result, from a register on; None for a type that takes them otherwise."""
        if at + 1 >= len(_REGISTERS):
            return None
        first, second = _REGISTERS[at : at + 2]
        if kind in _NUMBERS:
            number = _SPELLINGS.get(kind, kind)
            return await delve_values.plain_value(self._inside, f"{number}({first})", frame)
        if kind == "bool":
            value = await delve_values.plain_value(self._inside, f"uint8({first})", frame)
            return Variable("", "true" if value.value == "1" else "false", kind)
        if kind == "string":
            return await self._text(first, second, frame)
        return None

    async def _text(self, where: str, length: str, frame: Frame) -> Variable:
        start = await delve_values.plain_value(self._inside, f"uintptr({where})", frame)
        size = int((await delve_values.plain_value(self._inside, f"int({length})", frame)).value)
        shown = min(size, _TEXT_MAX)
        memory = machine.Memory(self._inside)
        text = (await memory.read(int(start.value, 16), shown)).decode(errors="replace")
        rest = f"...+{size - shown} more" if shown < size else ""
        return Variable("", json.dumps(text, ensure_ascii=False) + rest, "string")
