"""The tools that read and write several values at once."""

from __future__ import annotations

import struct
from typing import Annotated, Any

from msgspec import Struct

from debugger.errors import Code, DebuggerError
from debugger.mcp.call import Told, ToolCall, one_of
from debugger.mcp.daemon import Reply
from debugger.mcp.tool import Toolset

TOOLS = Toolset()
# The seed's names of types, as formats of memory and of Python's struct.
_TYPES = {
    "i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I",
    "i64": "q", "u64": "Q", "f32": "f", "f64": "d", "pointer": "Q",
}  # fmt: skip
_PAUSED = "Local variable writes require a paused breakpoint."


class Target(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A variable (any expression that has a place), or an address with its type."""

    variable: str | None = None
    address: str | None = None
    type: str | None = None


class Write(Struct, frozen=True, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """What to write where."""

    variable: str | None = None
    address: str | None = None
    value: float | int | str | bool
    type: str | None = None


@TOOLS.tool("debug_read", title="Read values", result={"results": list[Any]}, reads_only=True)
async def debug_read(
    call: ToolCall,
    targets: Annotated[tuple[Target, ...], "type of an address: i8…u64, f32, f64, pointer"],
) -> Told:
    """Read several variables or addresses at once."""
    _some(targets)
    replies = [await _read(call, one) for one in targets]
    results = [_result(one, reply) for one, reply in zip(targets, replies, strict=True)]
    return Told.joined(replies, {"results": results})


async def _read(call: ToolCall, target: Target) -> Reply:
    if one_of(variable=target.variable, address=target.address) == "variable":
        return await call.ask("print", expression=target.variable)
    return await _memory(call, str(target.address), _size(target.type), _form(target.type))


def _result(target: Target, reply: Reply) -> dict[str, Any]:
    if target.variable:
        kept = {key: reply.data[key] for key in ("value", "type", "ref") if key in reply.data}
        return {"variable": target.variable, **kept}
    return {
        "address": target.address,
        "value": _first(reply, target.type),
        "type": target.type or "u64",
    }


@TOOLS.tool("debug_write", title="Write values", result={"results": list[Any]}, destructive=True)
async def debug_write(
    call: ToolCall, targets: Annotated[tuple[Write, ...], "as debug_read, with a value"]
) -> Told:
    """Write several variables or addresses; answers with previousValue and newValue."""
    _some(targets)
    replies, results = [], []
    for one in targets:
        reply, result = await _write(call, one)
        replies.append(reply)
        results.append(result)
    return Told.joined(replies, {"results": results})


async def _write(call: ToolCall, target: Write) -> tuple[Reply, dict[str, Any]]:
    if one_of(variable=target.variable, address=target.address) == "address":
        return await _write_memory(call, target)
    try:
        reply = await call.ask("set", name=target.variable, value=_literal(target.value))
    except DebuggerError as error:
        if error.code is not Code.WRONG_STATE:
            raise
        raise DebuggerError(Code.WRONG_STATE, _PAUSED, hint=error.hint) from error
    return reply, {
        "variable": target.variable,
        "previousValue": reply.data.get("previous"),
        "newValue": reply.data.get("value"),
    }


async def _write_memory(call: ToolCall, target: Write) -> tuple[Reply, dict[str, Any]]:
    address, size = str(target.address), _size(target.type)
    previous = await _memory(call, address, size, _form(target.type))
    code = _TYPES[target.type or "u64"]
    try:
        number: Any = float(target.value) if code in "fd" else int(target.value)
        data = struct.pack(f"<{code}", number)
    except (struct.error, ValueError, OverflowError) as error:
        raise DebuggerError(
            Code.USAGE,
            f"{target.value!r} is no {target.type or 'u64'}",
            hint=f"type is one of {', '.join(_TYPES)}",
        ) from error
    await call.ask("memory_write", address=address, data=data.hex())
    now = await _memory(call, address, size, _form(target.type))
    return now, {
        "address": address,
        "previousValue": _first(previous, target.type),
        "newValue": _first(now, target.type),
    }


async def _memory(call: ToolCall, address: str, size: int, form: str) -> Reply:
    """Read one value.

    Raises:
        DebuggerError: EVALUATION_FAILED if not all of it is mapped.
    """
    reply = await call.ask("memory_read", address=address, count=1, form=form)
    if reply.data["size"] < size:
        raise DebuggerError(
            Code.EVALUATION_FAILED,
            f"{reply.data['size']} of {size} bytes at {address} are mapped",
            hint=f'debug_command {{"command": "memory read {address}"}}',
        )
    return reply


def _first(reply: Reply, name: str | None) -> Any:
    code = _TYPES[name or "u64"]
    (value,) = struct.unpack(f"<{code}", bytes.fromhex(reply.data["bytes"]))
    return f"0x{value:x}" if name == "pointer" else value


def _size(name: str | None) -> int:
    if name is not None and name not in _TYPES:
        raise DebuggerError(
            Code.USAGE, f"no type {name!r} for an address", hint=f"one of {', '.join(_TYPES)}"
        )
    return struct.calcsize(f"<{_TYPES[name or 'u64']}")


def _form(name: str | None) -> str:
    return "u64" if name in {None, "pointer"} else str(name)


def _literal(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _some(targets: tuple[Any, ...]) -> None:
    if not targets:
        raise DebuggerError(Code.USAGE, "no targets", hint='{"targets": [{"variable": "x"}]}')
