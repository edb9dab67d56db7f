"""Names programs and locations for end-to-end tests, and reads an answer's data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import debuggees

Cli = Callable[..., Any]

_COMPILED = (".c", ".cpp", ".rs")


def program(name: str) -> str:
    """Return what `debugger start` takes: a built program, or the source of a script."""
    found = debuggees.build(name) if name.endswith(_COMPILED) else debuggees.source(name)
    return str(found)


def at(name: str, marker: str) -> str:
    """Return the place FILE:LINE of a marked line."""
    return f"{debuggees.source(name)}:{debuggees.marker(name, marker)}"


def data(answer: Any) -> dict[str, Any]:
    """Return the data of a JSON answer that succeeded."""
    assert answer.data["ok"], answer
    found: dict[str, Any] = answer.data["data"]
    return found


def start(cli: Cli, name: str, *words: str) -> dict[str, Any]:
    """Start a program; return the stop or the end."""
    return data(cli("--json", "start", program(name), *words, check=0))


def value(cli: Cli, expression: str) -> str:
    """Return the value of an expression."""
    return str(data(cli("--json", "print", expression, check=0))["value"])
