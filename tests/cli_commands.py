"""Names programs and locations for end-to-end tests, and reads an answer's data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import debuggees

Cli = Callable[..., Any]

_COMPILED = (".c", ".cpp", ".rs")


def resolve_program(name: str) -> str:
    """Return what `debugger start` takes: a built program, or the source of a script."""
    found = (
        debuggees.build_debuggee(name) if name.endswith(_COMPILED) else debuggees.find_source(name)
    )
    return str(found)


def marked_location(name: str, marker: str) -> str:
    """Return the place FILE:LINE of a marked line."""
    return f"{debuggees.find_source(name)}:{debuggees.find_marker(name, marker)}"


def answer_data(answer: Any) -> dict[str, Any]:
    """Return the data of a JSON answer that succeeded."""
    assert answer.data["ok"], answer
    found: dict[str, Any] = answer.data["data"]
    return found


def start_program(cli: Cli, name: str, *words: str) -> dict[str, Any]:
    """Start a program; return the stop or the end."""
    return answer_data(cli("--json", "start", resolve_program(name), *words, check=0))


def print_value(cli: Cli, expression: str) -> str:
    """Return the value of an expression."""
    return str(answer_data(cli("--json", "print", expression, check=0))["value"])
