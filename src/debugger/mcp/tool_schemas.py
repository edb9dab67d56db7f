"""Builds a tool's schemas: all of its arguments, the first level of its result.

A listing is paid for in every conversation, so nothing is in it that a model does not need: no
titles, no defaults that are null, results one level deep.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import msgspec

_PREFIX = "#/$defs/"


def of_arguments(
    arguments: type[msgspec.Struct],
    described: Mapping[str, str],
    session_key: str | None,
    lines: AbstractSet[str] = frozenset(),
) -> dict[str, Any]:
    """Return the schema of a tool's arguments; what may be left out is never null in it.

    `lines` are listed as one text, though their words are taken, too.
    """
    whole = msgspec.json.schema(arguments)
    top = _inline_references({"$ref": whole["$ref"]}, whole["$defs"])
    properties = {
        name: ({"type": "string"} if name in lines else _plain_schema(value))
        | ({"description": described[name]} if described.get(name) else {})
        for name, value in top["properties"].items()
    }
    if session_key is not None:
        properties[session_key] = {"type": "string"}
    found = {"type": "object", "properties": properties}
    return found | ({"required": top["required"]} if top.get("required") else {})


def brief_schema(schema: Mapping[str, Any], rare: AbstractSet[str]) -> dict[str, Any]:
    """Return a schema without what is seldom needed, and without what only a check needs."""
    shown = schema["properties"].items()
    properties = {name: _brief_value(one) for name, one in shown if name not in rare}
    return {**schema, "properties": properties}


def _brief_value(value: Any) -> Any:
    if isinstance(value, list):
        return [_brief_value(each) for each in value]
    if not isinstance(value, dict):
        return value
    unsaid = {"additionalProperties", "anyOf", "default"}
    return {key: _brief_value(part) for key, part in value.items() if key not in unsaid}


def of_result(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a structured content, one level deep."""
    return {
        "type": "object",
        "properties": {name: _shallow_schema(kind) for name, kind in result.items()},
    }


def _shallow_schema(kind: Any) -> dict[str, Any]:
    found = _plain_schema(msgspec.json.schema(kind))
    if "$ref" in found:
        return {"type": "object"}
    return {key: value for key, value in found.items() if key in {"type", "enum"}}


def _plain_schema(value: Any) -> Any:
    """Leave out what a model does not need: titles, defaults that are nothing, null."""
    if isinstance(value, list):
        return [_plain_schema(each) for each in value]
    if not isinstance(value, dict):
        return value
    kinds = [each for each in value.get("anyOf", ()) if each != {"type": "null"}]
    kept = {
        key: _plain_schema(part)
        for key, part in value.items()
        if key not in {"anyOf", "title", "$defs", "properties"}
        and (part or key not in {"default", "required"})
    }
    if "properties" in value:
        kept["properties"] = {
            name: _plain_schema(part) for name, part in value["properties"].items()
        }
    if len(kinds) > 1:
        return kept | {"anyOf": [_plain_schema(each) for each in kinds]}
    return kept | (_plain_schema(kinds[0]) if kinds else {})


def _inline_references(value: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(value, list):
        return [_inline_references(each, definitions) for each in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        named = _inline_references(definitions[value["$ref"].removeprefix(_PREFIX)], definitions)
        rest = {key: part for key, part in value.items() if key != "$ref"}
        return {key: part for key, part in named.items() if key != "description"} | rest
    return {key: _inline_references(part, definitions) for key, part in value.items()}
