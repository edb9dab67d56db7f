"""Puts a tool's arguments into the types of its schema, where only one value can be meant."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Final

from debugger.cli.translation.command_translation import translate_command
from debugger.cli.translation.location_spelling import is_file_line, spell_location, split_condition
from debugger.mcp.argument_shapes import spell_place, split_names, split_places

Schema = Mapping[str, Any]
_TRUTHS: Final[Mapping[str, bool]] = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}
# What clients call the fields of a breakpoint.
_FIELDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("path", "filepath", "filename", "source", "sourcefile"), "file"),
    **dict.fromkeys(("linenumber", "lineno"), "line"),
    **dict.fromkeys(("cond", "when", "if"), "condition"),
    **dict.fromkeys(("hitcondition", "hits", "count", "ignorecount"), "hitCount"),
    **dict.fromkeys(("logmessage", "log", "text"), "message"),
    **dict.fromkeys(("name", "functionname", "func", "symbol", "method"), "function"),
}
_PLACES: Final = frozenset({"location", "at", "loc", "place", "breakpoint"})
# The actions of debug_continue, by our commands.
_STEPS: Final = {
    **dict.fromkeys(("next", "over"), "step-over"),
    **dict.fromkeys(("step", "in", "into"), "step-into"),
    **dict.fromkeys(("finish", "out"), "step-out"),
    "info": "status",
    "switch": "use",
}
_VARIABLES: Final = ("variables", "expressions", "names", "vars")
_IDENTITIES: Final = frozenset({"id", "ids", "breakpointid", "breakpointids"})
_ADDING: Final = frozenset({"add", "set", "create", "insert"})
_REMOVING: Final = frozenset({"remove", "delete", "clear", "del"})
_LISTING: Final = frozenset({"list", "show", "get"})


def fit_value(value: Any, schema: Schema) -> Any:
    """Return a value in the type of a schema; the value itself where it is not clear."""
    kinds = {one.get("type") for one in (schema, *schema.get("anyOf", ()))} - {None, "null"}
    if "enum" in schema and value not in schema["enum"]:
        return _fit_choice(value, schema["enum"])
    if "array" in kinds and "prefixItems" not in schema:
        listed = value if isinstance(value, list) else _list_parts(value, schema.get("items"))
        if schema.get("items") == {"type": "string"}:
            listed = _fit_texts([text for one in listed for text in _list_texts(one)])
        items = schema.get("items")
        return [fit_value(one, items) for one in listed] if isinstance(items, Mapping) else listed
    if "object" in kinds:
        return _fit_object(value, schema)
    if isinstance(value, str):
        return _fit_text(value, kinds)
    if kinds == {"string"} and isinstance(value, list) and all(isinstance(x, str) for x in value):
        return value[0] if len(value) == 1 else shlex.join(value)
    return spell_place(value) if kinds == {"string"} else value


def _fit_texts(values: Sequence[Any]) -> list[Any]:
    """Return numbers among texts as texts: `args: ["-n", 3]`."""
    return [str(one) if type(one) in {int, float} else one for one in values]


def _list_parts(value: Any, items: Any) -> list[Any]:
    """Return `f.py:3, f.py:7` and `stop,exit` as lists; another value as a list of one."""
    if not isinstance(value, str):
        return [value]
    if len(places := split_places(value)) > 1:
        return places
    is_named = isinstance(items, Mapping) and "file" not in items.get("properties", {})
    return split_names(value) if is_named else [value]


def _list_texts(value: Any) -> list[Any]:
    """Return `["n=1"]` for `{"n": 1}`, and `f.c:3` for an object of a file and a line."""
    if not isinstance(value, dict):
        return [value]
    place = spell_place(value)
    return [place] if place is not value else [f"{name}={one}" for name, one in value.items()]


def _fit_choice(value: Any, choices: Sequence[str]) -> Any:
    """Return the choice that another debugger's word means: `stepOver`, `terminate`."""
    found = translate_command((value,), choices) if isinstance(value, str) else None
    words = found if isinstance(found, tuple) else (value,)
    if words == ("stop", "--kill"):
        return "kill" if "kill" in choices else "stop"
    own = _STEPS.get(words[0], words[0])
    return own if own in choices else value


def _fit_text(value: str, kinds: set[Any]) -> Any:
    if kinds == {"boolean"}:
        return _TRUTHS.get(value.lower(), value)
    return int(value) if kinds == {"integer"} and value.isdecimal() else value


def _fit_object(value: Any, schema: Schema) -> Any:
    """Take `["A=1"]` for a mapping of texts, and `f.c:3` for a breakpoint there."""
    fields = schema.get("properties", {})
    if "file" in fields and isinstance(value, str):
        return _parse_location(value)
    if "variable" in fields and isinstance(value, str):
        return {"variable": value}
    if "file" in fields and isinstance(value, dict):
        return _name_fields(value, fields)
    is_assigned = isinstance(value, list) and all(isinstance(x, str) and "=" in x for x in value)
    if "additionalProperties" in schema and not fields and is_assigned:
        return dict(one.split("=", 1) for one in value)
    if "additionalProperties" in schema and not fields:
        return _fit_mapping(value, schema["additionalProperties"])
    return value


def _fit_mapping(value: Any, items: Any) -> Any:
    """Take `A=1 B=2` for a mapping, and numbers in one for texts."""
    if isinstance(value, str) and value and all("=" in one for one in value.split()):
        return dict(one.split("=", 1) for one in value.split())
    if items == {"type": "string"} and isinstance(value, dict):
        return dict(zip(value, _fit_texts([*value.values()]), strict=True))
    return value


def _parse_location(text: str) -> dict[str, Any]:
    """Return the fields of a breakpoint at FILE:LINE or a function, perhaps with a condition."""
    place, condition = split_condition(text) or (text, None)
    extra = {} if condition is None else {"condition": condition}
    if not is_file_line(place):
        return {"function": place, **extra}
    file, _, line = spell_location(place).rpartition(":")
    return {"file": file, "line": int(line), **extra}


def _name_fields(given: Mapping[str, Any], fields: Schema) -> dict[str, Any]:
    """Return the fields of a breakpoint under their own names, with a location in parts."""
    named: dict[str, Any] = {}
    for name, value in given.items():
        letters = _reduce_name(name)
        own = name if name in fields else _FIELDS.get(letters, name)
        if own not in fields and letters in _PLACES and isinstance(value, str):
            named |= {key: one for key, one in _parse_location(value).items() if key not in given}
        elif own not in named:
            named[own] = fit_value(value, fields.get(own, {}))
    return named


def _gather_targets(given: Mapping[str, Any], properties: Schema) -> dict[str, Any]:
    """Take `variable: n` and `variables: {"n": 3}` for the targets that are read or written."""
    remaining = dict(given)
    fields = properties["targets"]["items"]["properties"]
    if "variable" not in given and "name" in given:
        remaining["variable"] = remaining.pop("name")
    if target := {name: remaining.pop(name) for name in [*remaining] if name in fields}:
        return {**remaining, "targets": [target]}
    listed = next((one for one in _VARIABLES if one in remaining), None)
    if listed is None:
        return remaining
    values = remaining.pop(listed)
    if isinstance(values, dict):
        values = [{"variable": name, "value": one} for name, one in values.items()]
    return {**remaining, "targets": values}


def _gather_source(given: dict[str, Any], several: str) -> None:
    """Take the file of a request that sets all breakpoints of one."""
    if isinstance(source := given.get("source"), dict):
        del given["source"]
        given[several] = [{"file": source.get("path"), **one} for one in given[several]]


def gather_additions(given: Mapping[str, Any], properties: Schema) -> dict[str, Any]:  # noqa: C901 - one for each form
    """Take the fields of one breakpoint beside each other for `add`, and an action for its words.

    Args:
        given: The arguments as the client names them.
        properties: The schemas of the tool's arguments by name.
    """
    remaining = dict(given)
    if "targets" in properties and "targets" not in given:
        return _gather_targets(given, properties)
    fields = properties.get("add", {}).get("items", {}).get("properties", {})
    if "file" not in fields:
        return remaining
    verb = next((one for one in ("action", "operation", "op", "command") if one in remaining), "")
    action = str(remaining.pop(verb, "")) if "action" not in properties else ""
    if "delete" in remaining and "remove" not in remaining:
        remaining["remove"] = remaining.pop("delete")
    if action in _LISTING:
        return {name: one for name, one in remaining.items() if name in properties}
    several = next((one for one in ("breakpoints", "set") if one in remaining), None)
    if several is not None:
        _gather_source(remaining, several)
    if several is not None and "add" not in remaining:
        remaining["add"] = remaining.pop(several)
    identity = next((one for one in remaining if _reduce_name(one) in _IDENTITIES), None)
    if action in _REMOVING and identity is not None:
        remaining["remove"] = remaining.pop(identity)
        return remaining
    if "message" in fields and "expression" in remaining and "message" not in remaining:
        remaining["message"] = f"{{{remaining.pop('expression')}}}"
    own = [one for one in remaining if one not in properties and _is_field(one, fields)]
    if own and "add" not in remaining:
        remaining["add"] = [{one: remaining.pop(one) for one in own}]
    if action and action not in _ADDING:
        remaining["action"] = action
    return remaining


def _is_field(name: str, fields: Schema) -> bool:
    letters = _reduce_name(name)
    return name in fields or _FIELDS.get(letters) in fields or letters in _PLACES


def _reduce_name(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()
