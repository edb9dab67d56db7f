"""Formats in a line that the program has crashed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from debugger.core.answers import Crashed
from debugger.render.budget import Section, fixed
from debugger.render.places import basename
from debugger.render.values import short_name, shorten

_WHAT = 60
_FRAMES = 8
_LOCALS = 10


def details(data: Mapping[str, Any], most: int) -> list[str]:
    """Return the stack and the locals in the data of a crash, each in a line."""
    stack, values = data.get("stack") or [], data.get("locals") or []
    frames = [
        f"#{one['index']} {short_name(one['function'])} {_place(one['file'], one['line'])}".rstrip()
        for one in stack[:_FRAMES]
    ]
    if len(stack) > _FRAMES:
        frames.append(f"… {len(stack) - _FRAMES} more: --json")
    named = [f"{short_name(one['name'])}={shorten(one['value'], most)}" for one in values[:_LOCALS]]
    if len(values) > _LOCALS:
        named.append(f"… {len(values) - _LOCALS} more: --json")
    return [
        *([f"stack: {' · '.join(frames)}"] if frames else []),
        *([f"locals: {' '.join(named)}"] if named else []),
    ]


def _place(file: str | None, line: int | None) -> str:
    if file is None:
        return ""
    return basename(file) + (f":{line}" if line is not None else "")


def crashed(crash: object, rank: int = 1) -> list[Section]:
    """Return `crashed: SIGSEGV at 0x0 in parse file.c:12`, where it did."""
    if not isinstance(crash, Crashed):
        return []
    said = [short_name(crash.signal) if crash.signal else shorten(crash.description, _WHAT)]
    if isinstance(crash.address, str):
        said.append(f"at {short_name(crash.address)}")
    if isinstance(crash.function, str):
        said.append(f"in {short_name(crash.function)}")
    if isinstance(crash.file, str):
        said.append(_place(crash.file, crash.line if isinstance(crash.line, int) else None))
    return [fixed(f"crashed: {' '.join(said)} (debugger events --kind crash)", rank)]
