"""Turns arguments as a tool call names them, `{"at": "f.py:5"}` or `line=5`, into options."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Any, Final

from debugger.cli.translation.argument_order import Correction, resolve_flag
from debugger.model.command_registry import Argument, Command

_NAMED: Final = re.compile(r"(?P<name>[a-z][A-Za-z_]+)=(?P<value>[^=].*)\Z")
# Names that are no variable of the program in the commands that take other arguments too.
_NAMES: Final = frozenset(
    {
        "file", "line", "location", "loc", "at", "breakpoint", "condition", "cond", "expr",
        "expression", "expressions", "cmd", "command", "program", "args", "function", "func",
        "timeout", "count", "thread", "frame", "pid", "cwd", "when", "nth", "limit", "path",
        "thread-id", "frame-id", "stop-on-entry", "hit-condition", "log-message", "process-id",
    }
)  # fmt: skip


_REQUEST_KEYS: Final = ("command", "tool", "action", "method", "request", "name")
_ARGUMENT_KEYS: Final = ("arguments", "args", "params", "input", "parameters")


def read_request_object(words: Sequence[str]) -> Correction | None:
    """Correct a whole request as an object, `{"command": "break", "file": "f.py", "line": 3}`."""
    found = _parse_object(words[0]) if len(words) == 1 else None
    key = next((one for one in _REQUEST_KEYS if isinstance((found or {}).get(one), str)), None)
    if found is None or key is None:
        return None
    given = {name: value for name, value in found.items() if name != key}
    for name in _ARGUMENT_KEYS:
        if isinstance(given.get(name), dict):
            given |= given.pop(name)
    command = (*found[key].split(), *_list_options(given))
    return Correction("a command has words and options", (command,))


def expand_named_arguments(command: Command, words: Sequence[str]) -> tuple[str, ...]:
    """Return the words with a JSON object, or `name=value`, as options of the command."""
    if command.name in {"print", "eval"} and words:
        return _take_expression(words)
    if command.dashes_are_words or _takes_assignments(command):
        return tuple(words)
    expanded: list[str] = []
    for word in words:
        found = _parse_object(word)
        if found is not None and expanded[-1:] and expanded[-1].startswith("--"):
            expanded.append(_spell_object(found) or word)  # `--location '{"file": …, "line": …}'`
        elif found is not None:
            expanded += _list_options(found)
        elif (match := _NAMED.match(word)) and _is_option(command, match["name"]):
            expanded.append(f"--{_spell_name(match['name'])}={match['value']}")
        else:
            expanded.append(word)
    return tuple(expanded)


def _take_expression(words: Sequence[str]) -> tuple[str, ...]:
    """Take `expression=total frameId=1` for the expression, with options behind it."""
    first, *others = (_NAMED.match(one) for one in words)
    is_named = first is not None and first["name"] in {"expression", "expr"}
    if first is None or not is_named or not all(others):
        return tuple(words)
    options = (f"--{_spell_name(one['name'])}={one['value']}" for one in others if one)
    return (first["value"], *options)


def _spell_name(name: str) -> str:
    """Return `thread-id` for `threadId` and `thread_id`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower().replace("_", "-")


def _takes_assignments(command: Command) -> bool:
    abouts = (parameter.about for parameter in command.parameters)
    return any(isinstance(about, Argument) and about.assigns for about in abouts)


def _is_option(command: Command, name: str) -> bool:
    plain = _spell_name(name)
    return plain in _NAMES and resolve_flag(command, f"--{plain}") is not None


def _spell_object(found: dict[str, Any]) -> str | None:
    """Return a location that is an object of a file and a line."""
    file = next((found[one] for one in ("file", "path", "source") if one in found), None)
    return f"{file}:{found['line']}" if file and "line" in found else None


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
