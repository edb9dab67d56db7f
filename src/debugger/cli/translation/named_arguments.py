"""Turns arguments as a tool call names them, `{"at": "f.py:5"}` or `line=5`, into options."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Any, Final

from debugger.cli.translation.argument_order import resolve_flag, value_counts
from debugger.model.command_registry import Argument, Command

_NAMED: Final = re.compile(r"(?P<name>[a-z][a-z_]+)=(?P<value>[^=].*)\Z")
# Names that are no variable of the program in the commands that take other arguments too.
_NAMES: Final = frozenset(
    {
        "file", "line", "location", "loc", "at", "breakpoint", "condition", "cond", "expr",
        "expression", "expressions", "cmd", "command", "program", "args", "function", "func",
        "timeout", "count", "thread", "frame", "pid", "cwd", "when", "nth", "limit",
    }
)  # fmt: skip


def expand_named_arguments(command: Command, words: Sequence[str]) -> tuple[str, ...]:
    """Return the words with a JSON object, or `name=value`, as options of the command."""
    named = re.match(r"expression=([^=].*)", words[0]) if len(words) == 1 else None
    if named is not None and command.name in {"print", "eval"}:
        return (named[1],)
    if command.dashes_are_words or _takes_assignments(command):
        return tuple(words)
    expanded: list[str] = []
    for word in words:
        found = _parse_object(word)
        if found is not None:
            expanded += _list_options(found)
        elif (match := _NAMED.match(word)) and _is_option(command, match["name"]):
            expanded += [f"--{match['name']}", match["value"]]
        else:
            expanded.append(word)
    return tuple(expanded)


def _takes_assignments(command: Command) -> bool:
    abouts = (parameter.about for parameter in command.parameters)
    return any(isinstance(about, Argument) and about.assigns for about in abouts)


def _is_option(command: Command, name: str) -> bool:
    flag = resolve_flag(command, f"--{name}") if name in _NAMES else None
    return flag is not None and (flag.startswith("+") or value_counts(command)[flag] > 0)


def _parse_object(word: str) -> dict[str, Any] | None:
    if not re.match(r"\s*\{\s*\"", word):
        return None
    try:
        found = json.loads(word)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _list_options(found: dict[str, Any]) -> Iterator[str]:
    for name, value in found.items():
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            yield flag
        elif isinstance(value, dict):  # `{"at": {"f.py:5": "x, y"}}`
            for key, part in value.items():
                yield from (flag, str(key), str(part))
        elif isinstance(value, list) and name in {"command", "cmd", "args"}:
            yield from ("--command", shlex.join(map(str, value)))
        elif isinstance(value, list):
            for part in value:
                yield from (flag, str(part))
        elif value is not False and value is not None:
            yield from (flag, str(value))
