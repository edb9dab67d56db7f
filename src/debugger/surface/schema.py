"""Which JSON object is a command's arguments?"""

from __future__ import annotations

from typing import Any

import msgspec

from debugger.core.command import Command

_PREFIX = "#/$defs/"


def schema(command: Command) -> dict[str, Any]:
    """Return the JSON schema of a command's arguments: one flat object, each property described.

    An argument that may be left out is left out: null is not among its values.
    """
    whole = msgspec.json.schema(command.arguments)
    top = _inlined({"$ref": whole["$ref"]}, whole["$defs"])
    described = {parameter.name: parameter.about.help for parameter in command.parameters}
    properties = {
        name: _property(value, described[name]) for name, value in top["properties"].items()
    }
    found = {"type": "object", "properties": properties, "additionalProperties": False}
    return found | ({"required": top["required"]} if top.get("required") else {})


def _property(value: dict[str, Any], description: str) -> dict[str, Any]:
    kept = _without_null(value)
    if kept.get("default") in {None, ()}:
        kept.pop("default", None)
    return kept | ({"description": description} if description else {})


def _without_null(value: dict[str, Any]) -> dict[str, Any]:
    rest = {key: part for key, part in value.items() if key != "anyOf"}
    kinds = [each for each in value.get("anyOf", ()) if each != {"type": "null"}]
    if len(kinds) > 1:
        return rest | {"anyOf": kinds}
    return rest | (kinds[0] if kinds else {})


def _inlined(value: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_inlined(each, definitions) for each in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        named: dict[str, Any] = _inlined(
            definitions[value["$ref"].removeprefix(_PREFIX)], definitions
        )
        rest = {key: part for key, part in value.items() if key != "$ref"}
        return {key: part for key, part in named.items() if key != "title"} | rest
    return {key: _inlined(part, definitions) for key, part in value.items()}
