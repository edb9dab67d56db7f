"""Formats in a line that the program has crashed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from debugger.model.answers import CrashNote
from debugger.output.budget import TextSection, fixed_section
from debugger.output.location_text import base_name
from debugger.output.value_text import short_name, shorten_value

_WHAT = 60
_FRAMES = 8
_LOCALS = 10


def format_details(data: Mapping[str, Any], most: int) -> list[str]:
    """Return the stack and the locals in the data of a crash, each in a line."""
    stack, values = data.get("stack") or [], data.get("locals") or []
    frames = [
        f"#{one['index']} {short_name(one['function'])} "
        f"{_format_place(one['file'], one['line'])}".rstrip()
        for one in stack[:_FRAMES]
    ]
    if len(stack) > _FRAMES:
        frames.append(f"… {len(stack) - _FRAMES} more: --json")
    named = [
        f"{short_name(one['name'])}={shorten_value(one['value'], most)}" for one in values[:_LOCALS]
    ]
    if len(values) > _LOCALS:
        named.append(f"… {len(values) - _LOCALS} more: --json")
    return [
        *([f"stack: {' · '.join(frames)}"] if frames else []),
        *([f"locals: {' '.join(named)}"] if named else []),
    ]


def _format_place(file: str | None, line: int | None) -> str:
    if file is None:
        return ""
    return base_name(file) + (f":{line}" if line is not None else "")


def format_crashed(crash: object, rank: int = 1) -> list[TextSection]:
    """Return `crashed: SIGSEGV at 0x0 in parse file.c:12`, where it did."""
    if not isinstance(crash, CrashNote):
        return []
    said = [short_name(crash.signal) if crash.signal else shorten_value(crash.description, _WHAT)]
    if isinstance(crash.address, str):
        said.append(f"at {short_name(crash.address)}")
    if isinstance(crash.function, str):
        said.append(f"in {short_name(crash.function)}")
    if isinstance(crash.file, str):
        said.append(_format_place(crash.file, crash.line if isinstance(crash.line, int) else None))
    return [fixed_section(f"crashed: {' '.join(said)} (debugger events --kind crash)", rank)]
