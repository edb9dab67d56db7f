"""Brings a tool's arguments from other shapes into its own: JSON in a text, wrapped, in several."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from debugger.cli.translation.location_spelling import is_file_line
from debugger.cli.translation.program_words import split_program

Schema = Mapping[str, Any]
_WRAPPERS: Final = frozenset(
    {"args", "arguments", "params", "parameters", "input", "configuration", "config", "options"}
)
_FILES: Final = frozenset({"file", "filepath", "path", "filename", "source", "sourcefile"})
_LINES: Final = frozenset({"line", "linenumber", "lineno", "lines", "linenumbers"})
# Of launch.json; nothing here depends on them.
_EDITORS: Final = frozenset({"console", "justmycode", "presentation", "internalconsoleoptions"})
_UNITS: Final[Mapping[str, int]] = {"": 1000, "s": 1000, "sec": 1000, "ms": 1, "m": 60_000}
_SECONDS: Final = frozenset({"timeoutseconds", "timeoutsec", "timeouts", "seconds"})


def reduce_name(name: str) -> str:
    """Return the letters of a name, however it joins its words."""
    return name.replace("_", "").replace("-", "").lower()


def unwrap_arguments(given: Mapping[str, Any], properties: Schema) -> dict[str, Any]:
    """Return the arguments without an object around them, and with JSON texts as values."""
    found = {name: _parse_json(value) for name, value in given.items()}
    for name, value in list(found.items()):
        is_own = "object" in _kinds(properties.get(name, {}))
        if reduce_name(name) in _WRAPPERS and isinstance(value, dict) and not is_own:
            del found[name]
            found = {**value, **found}
    if "program" in found or "command" in found:
        found = {key: one for key, one in found.items() if reduce_name(key) not in _EDITORS}
        if "name" in found and "name" not in properties and "module" in properties:
            del found["name"]  # of a configuration
    return _split_program(_name_seconds(_gather_lines(found), properties), properties)


def _kinds(schema: Schema) -> set[Any]:
    return {one.get("type") for one in (schema, *schema.get("anyOf", ()))}


def _parse_json(value: Any) -> Any:
    """Return what a text holds that is an object or a list of JSON."""
    if not isinstance(value, str) or not re.match(r'\s*(?:\{\s*"|\[\s*[{"\[])', value):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def _gather_lines(given: dict[str, Any]) -> dict[str, Any]:
    """Spell `filename` and `line_number` as `file` and `line`, and several lines as locations."""
    file = next((one for one in given if reduce_name(one) in _FILES), None)
    line = next((one for one in given if reduce_name(one) in _LINES), None)
    if file is None or line is None:
        return given
    name = given[file].get("path", given[file]) if isinstance(given[file], dict) else given[file]
    numbers = given[line] if isinstance(given[line], list) else [given[line]]
    others = {key: one for key, one in given.items() if key not in {file, line}}
    if len(numbers) == 1:
        return {**others, "file": name, "line": numbers[0]}
    places = [f"{name}:{one}" for one in numbers]
    return {**others, "breakpoints": places} if "breakpoints" not in others else given


def _name_seconds(given: dict[str, Any], properties: Schema) -> dict[str, Any]:
    """Spell a time whose unit is clear, `timeout: "10s"` or `timeout_seconds: 10`, as `…Ms`."""
    own = [one for one in properties if one.endswith("Ms")]
    if len(own) != 1 or own[0] in given:
        return given
    for name, value in given.items():
        letters = reduce_name(name)
        text = str(value) if not isinstance(value, bool) else ""
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|sec|m|)", text)
        is_timed = letters in {"timeout", "after", "wait"} and match and match[2]
        # A hang is looked for after some seconds: no client means milliseconds by `after: 3`.
        is_small = own[0] == "afterMs" and letters in {"timeout", "after"}
        if match and (is_timed or letters in _SECONDS or is_small):
            others = {key: one for key, one in given.items() if key != name}
            amount = float(match[1])
            unit = 1 if is_small and not match[2] and amount >= _UNITS["s"] else _UNITS[match[2]]
            return {**others, own[0]: round(amount * unit)}
    return given


def _split_program(given: dict[str, Any], properties: Schema) -> dict[str, Any]:
    """Take `python a.py 1` of a tool that starts a program for the program and its arguments."""
    name = next((one for one in ("program", "command") if one in given), None)
    if name is None or "module" not in properties or "args" in given:
        return given
    typed = given[name]
    words = tuple(typed) if isinstance(typed, list) else split_program(typed)
    if len(words) == 1:
        return given
    words = words[1:] if re.match(r"(?:.*/)?(?:python[\d.]*|node)\Z", words[0]) else words
    if words[0].startswith("-"):
        return given
    return {**given, name: words[0], "args": list(words[1:])}


def is_several(value: Any) -> bool:
    """Return whether a value is a list of several: no expression, which a command line would be."""
    return isinstance(value, list) and len(value) > 1


def spell_place(value: Any) -> Any:
    """Return `f.py:3 if x` or a function's name for an object; other values unchanged."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, dict):
        return value
    fields = {reduce_name(name): one for name, one in value.items()}
    file = next((fields[one] for one in _FILES if one in fields), None)
    line = next((fields[one] for one in _LINES if one in fields), None)
    named = fields.get("function", fields.get("location", fields.get("at")))
    place = f"{file}:{line}" if file and line else named if line is None else str(line)
    condition = next((fields[one] for one in ("condition", "cond", "when") if one in fields), None)
    if place is None:
        return value
    return f"{place} if {condition}" if condition else str(place)


def split_places(text: str) -> list[str]:
    """Split `f.py:3, f.py:7`; another text is left whole."""
    parts = [one.strip() for one in text.split(",")]
    return parts if len(parts) > 1 and all(map(is_file_line, parts)) else [text]


def split_names(text: str) -> list[str]:
    """Split `stop,exit` or `x, y`, which are names without other signs."""
    parts = [one.strip() for one in text.split(",")]
    return parts if all(re.fullmatch(r"[\w.]+", one) for one in parts) else [text]
