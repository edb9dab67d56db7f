"""The tools that read and write several values at once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.mcp.tool_call import ToolAnswer, ToolCall, answer_each, failed_text, one_of
from debugger.mcp.tool_definition import Toolset

TOOLS = Toolset()
_DEFAULT = "u64"
_WHOLE = frozenset({"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"})
_REAL = frozenset({"f32", "f64"})


class ToolTarget(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A variable (any expression that has a place), or an address with its type."""

    variable: str | None = None
    address: str | None = None
    type: str | None = None


class ToolWrite(Struct, frozen=True, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """What to write where."""

    variable: str | None = None
    address: str | None = None
    value: float | int | str | bool
    type: str | None = None


@TOOLS.tool("debug_read", title="Read values", result={"results": list[Any]}, reads_only=True)
async def debug_read(
    call: ToolCall,
    targets: Annotated[tuple[ToolTarget, ...], "address: with type i8…u64, f32, f64, pointer"],
) -> ToolAnswer:
    """Read variables or addresses; with frida or Python also while it runs."""
    _require_targets(targets)
    reply = await call.run_command("read", names=tuple(_target_name(one) for one in targets))
    pairs = zip(targets, reply.data["values"], strict=True)
    return ToolAnswer(reply.text, {"results": [_read_result(one, found) for one, found in pairs]})


def _target_name(one: ToolTarget | ToolWrite) -> str:
    """Write a target as the commands `read` and `write` take it."""
    if one_of(variable=one.variable, address=one.address) == "variable":
        return str(one.variable)
    return f"{one.address}:{one.type or _DEFAULT}"


def _read_result(target: ToolTarget, found: Mapping[str, Any]) -> dict[str, Any]:
    if "error" in found:
        named = {"variable": target.variable, "address": target.address}
        return {key: name for key, name in named.items() if name} | {"error": found["error"]}
    if target.variable:
        kept = {key: found[key] for key in ("value", "type", "ref") if key in found}
        return {"variable": target.variable, **kept}
    kind = target.type or _DEFAULT
    return {"address": target.address, "value": _plain_number(found["value"], kind), "type": kind}


@TOOLS.tool("debug_write", title="Write values", result={"results": list[Any]}, destructive=True)
async def debug_write(call: ToolCall, targets: tuple[ToolWrite, ...]) -> ToolAnswer:
    """Write variables or addresses; answers with previousValue and newValue."""
    _require_targets(targets)
    names = [_target_name(one) for one in targets]
    named = {
        name if names.count(name) == 1 else f"{name} ({at})": one
        for at, (name, one) in enumerate(zip(names, targets, strict=True), start=1)
    }
    replies, failures = await answer_each(
        {
            key: partial(
                call.run_command, "write", name=_target_name(one), value=_literal_text(one.value)
            )
            for key, one in named.items()
        }
    )
    results = [
        _write_result(one, replies[key].data)
        if key in replies
        else _read_result(ToolTarget(one.variable, one.address), {"error": failures[key].message})
        for key, one in named.items()
    ]
    text = "".join(one.text for one in replies.values()) + failed_text(failures)
    return ToolAnswer(text, {"results": results})


def _write_result(target: ToolWrite, found: Mapping[str, Any]) -> dict[str, Any]:
    previous, new = found.get("previous"), found.get("value")
    if target.variable:
        known = {key: found[key] for key in ("address", "type") if found.get(key)}
        values = {"previousValue": previous, "newValue": new}
        return {"variable": target.variable, **known, **values}
    kind = target.type or _DEFAULT
    values = {"previousValue": _plain_number(previous, kind), "newValue": _plain_number(new, kind)}
    return {"address": target.address, **values}


def _plain_number(value: Any, kind: str) -> Any:
    """Return a number of one of the protocol's types as a number; an address stays a text."""
    try:
        return float(value) if kind in _REAL else int(value) if kind in _WHOLE else value
    except (TypeError, ValueError):
        return value


def _literal_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _require_targets(targets: tuple[Any, ...]) -> None:
    if not targets:
        raise DebuggerError(ErrorCode.USAGE, "no targets", hint='{"targets": [{"variable": "x"}]}')
