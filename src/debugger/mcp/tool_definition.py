"""Defines a tool: one annotated function, the source of its listing and its argument checks."""

from __future__ import annotations

import inspect
import json
import shlex
import types
import typing
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, Final, get_args, get_origin

import msgspec

from debugger.daemon.daemon_client import DaemonReply
from debugger.errors import DebuggerError, ErrorCode
from debugger.mcp.argument_names import convert_seconds, name_session, rename_arguments
from debugger.mcp.argument_shapes import is_several, unwrap_arguments
from debugger.mcp.argument_values import fit_value, gather_additions
from debugger.mcp.tool_call import ToolAnswer, ToolCall
from debugger.model.command_registry import COMMANDS, Parameter
from debugger.model.location import near_names

_PREFIX = "#/$defs/"


def of_arguments(
    arguments: type[msgspec.Struct],
    described: Mapping[str, str],
    session_key: str | None,
    lines: AbstractSet[str] = frozenset(),
) -> dict[str, Any]:
    """Return the schema of a tool's arguments; an optional one is never null in it.

    `lines` are listed as one text, though a list of words is accepted, too.
    """
    schema = msgspec.json.schema(arguments)
    top = _inline_references({"$ref": schema["$ref"]}, schema["$defs"])
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
    """Return a schema without rare parameters, and without details that only a check needs."""
    shown = schema["properties"].items()
    properties = {name: _brief_value(one) for name, one in shown if name not in rare}
    return {**schema, "properties": properties}


def _brief_value(value: Any) -> Any:
    if isinstance(value, list):
        return [_brief_value(each) for each in value]
    if not isinstance(value, dict):
        return value
    if "properties" in value:  # a nested object: the names of its fields say their types
        return {"type": "object", "description": f"{{{', '.join(value['properties'])}}}"}
    unsaid = {"additionalProperties", "anyOf", "default"}
    return {
        key: _brief_value(part) for key, part in value.items() if key not in unsaid and part != {}
    }


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
    """Drop details that a model does not need: titles, empty defaults, null."""
    if isinstance(value, list):
        return [_plain_schema(each) for each in value]
    if not isinstance(value, dict):
        return value
    kinds = [each for each in value.get("anyOf", ()) if each != {"type": "null"}]
    fields = {
        key: _plain_schema(part)
        for key, part in value.items()
        if key not in {"anyOf", "title", "$defs", "properties"}
        and (part or key not in {"default", "required"})
    }
    if "properties" in value:
        fields["properties"] = {
            name: _plain_schema(part) for name, part in value["properties"].items()
        }
    if len(kinds) > 1:
        return fields | {"anyOf": [_plain_schema(each) for each in kinds]}
    return fields | (_plain_schema(kinds[0]) if kinds else {})


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


SESSION_KEYS: Final = ("sessionId", "debugSessionId")
_LONGEST_CALL = 400  # characters of a suggested call
_SHOWN = 60  # characters of a wrong name

Run = Callable[..., Awaitable[ToolAnswer]]


class ParameterListing(Enum):
    """The listing of a parameter: a rare one is not in the core toolset; a line is one text.

    Both affect only the listing: unlisted parameters are accepted, and so is a line as a list of
    words.
    """

    RARE = "rare"
    LINE = "line"


RARE, LINE = ParameterListing.RARE, ParameterListing.LINE


@dataclass(frozen=True, eq=False)
class ToolField:
    """One argument of a tool: its type, its default, and how it is listed."""

    name: str
    kind: Any
    default: Any
    text: str = ""
    listing: AbstractSet[ParameterListing] = frozenset()

    def as_struct_field(self) -> tuple[Any, ...]:
        """Return the field of the struct that checks the arguments."""
        is_required = self.default is inspect.Parameter.empty
        return (self.name, self.kind) if is_required else (self.name, self.kind, self.default)


GROUP_FIELDS = (
    ToolField("group", str | None, None, "a group's name", frozenset({RARE})),
    ToolField("members", str | None, None, "of its group: 0-3,7", frozenset({RARE})),
)


@dataclass(frozen=True)
class ArgumentForm:
    """A form that a client gives a value in, other than the command's."""

    takes: Any  # the type of the command's parameter
    kind: Any
    default: Any
    to_command: Callable[[Any], Any]


MILLISECONDS = ArgumentForm(
    float | None, int | None, None, lambda given: None if given is None else given / 1000
)
ENVIRONMENT = ArgumentForm(
    tuple[str, ...],
    dict[str, str],
    {},
    lambda given: tuple(f"{name}={value}" for name, value in given.items()),
)
PAIRS = ArgumentForm(
    tuple[tuple[str, str], ...], dict[str, str], {}, lambda given: tuple(given.items())
)
ONE_TEXT = ArgumentForm(
    tuple[str, ...], str | None, None, lambda given: () if given is None else (given,)
)
HIT_NUMBER = ArgumentForm(
    str | None, int | str | None, None, lambda given: None if given is None else str(given)
)


@dataclass(frozen=True)
class ToolArgument:
    """An argument of a tool that a parameter of a command is made of.

    The command declares the type and the default; `text` describes it in the listing, where the
    command's own help is too long.
    """

    parameter: str
    text: str = ""
    listing: AbstractSet[ParameterListing] = frozenset()
    renamed: str = ""
    form: ArgumentForm | None = None
    is_required: bool = False  # also where the command finds out by itself what is missing

    @property
    def name(self) -> str:
        """The argument's name: the parameter's, unless renamed."""
        return self.renamed or self.parameter

    def to_command(self, given: Any) -> Any:
        """Convert a client's value to the command's."""
        return given if self.form is None else self.form.to_command(given)

    def field_of(self, parameter: Parameter) -> ToolField:
        """Return the tool's argument for a parameter of the command.

        Raises:
            ValueError: The form does not fit the parameter's type.
        """
        kind, default = parameter.type, parameter.default
        if self.form is not None:
            if self.form.takes != kind:
                message = f"{self.name}: the command takes {kind}, not {self.form.takes}"
                raise ValueError(message)
            kind, default = self.form.kind, self.form.default
        if self.is_required:
            if typing.get_origin(kind) in {types.UnionType, typing.Union}:
                kind = next(one for one in get_args(kind) if one is not types.NoneType)
            default = inspect.Parameter.empty
        return ToolField(self.name, kind, default, self.text, self.listing)


@dataclass(frozen=True, eq=False)
class McpTool:
    """One tool; `result` maps the keys of its structured content to their types."""

    name: str
    title: str
    description: str
    run: Run
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
    arguments: type[msgspec.Struct] = field(repr=False)
    session_key: str | None = SESSION_KEYS[0]
    failure: str | None = None
    reads_only: bool = False
    destructive: bool = False
    # It acts on a group, too: it has the arguments of GROUP_FIELDS.
    of_group: bool = False
    rare: frozenset[str] = frozenset()
    lines: frozenset[str] = frozenset()
    pairs: frozenset[str] = frozenset()
    # It is taken where only the common tools are listed, and not listed there.
    is_rare: bool = False

    @property
    def brief_schema(self) -> dict[str, Any]:
        """The schema of the arguments without the rare ones."""
        return brief_schema(self.input_schema, self.rare)

    def bind_arguments(self, given: Mapping[str, Any]) -> tuple[str | None, dict[str, Any]]:
        """Check untrusted arguments: the session, and the function's arguments.

        Raises:
            DebuggerError: USAGE, naming the argument.
        """
        known = list(self.input_schema["properties"])
        given = name_session(given, known) if self.failure is None else given
        rest = {name: value for name, value in given.items() if name not in SESSION_KEYS}
        if self.failure is not None:  # XcodeBuildMCP's: an empty string counts as not given
            rest = {name: value for name, value in rest.items() if value != ""}
        session = _session_name(given) if self.session_key else None
        properties = self.input_schema["properties"]
        if self.failure is None:
            rest = unwrap_arguments(rest, properties)
            rest = gather_additions(rest, properties)
            rest = rename_arguments(rest, known, self.pairs)
            rest = {
                name: value
                if name in self.lines or (name == "expression" and is_several(value))
                else fit_value(value, properties.get(name, {}))
                for name, value in rest.items()
            }
        for name in rest:
            if name not in known:
                raise self._unknown_argument(name, rest, known)
        for name in self.lines & rest.keys():
            rest[name] = _split_line(self.name, name, rest[name])
        try:
            checked = msgspec.convert(rest, self.arguments)
        except msgspec.ValidationError as error:
            raise DebuggerError(
                ErrorCode.USAGE, f"{self.name}: {error}", hint=f"it takes {', '.join(known)}"
            ) from error
        return session, {name: getattr(checked, name) for name in checked.__struct_fields__}

    @staticmethod
    def split_choice(arguments: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Separate the choice of a group's members from the arguments of the tool's function."""
        names = {one.name for one in GROUP_FIELDS}
        rest = {name: value for name, value in arguments.items() if name not in names}
        return {name: arguments[name] for name in names & arguments.keys()}, rest

    def _unknown_argument(
        self, name: str, given: Mapping[str, Any], known: Sequence[str]
    ) -> DebuggerError:
        """Return the failure for an argument that the tool does not have, with the right call."""
        near = next(iter(near_names(name, known, 1)), None)
        advice = f"did you mean {near}? " if near else ""
        value = convert_seconds(near or "", given[name])
        remaining = {**{one: given[one] for one in given if one != name}, near or name: value}
        call = json.dumps(
            {one: remaining[one] for one in remaining if one in known}, ensure_ascii=False
        )
        is_shown = (
            near is not None and near not in given and len(call) <= _LONGEST_CALL and len(given) > 1
        )
        example = f"{self.name} {call}; " if is_shown else ""
        return DebuggerError(
            ErrorCode.USAGE,
            f"{self.name} has no {name[:_SHOWN]!r}",
            hint=f"{advice}{example}it takes {', '.join(known)}",
        )


def _split_line(tool: str, name: str, line: Any) -> Any:
    """Split a command line as a shell would; a list of words is unchanged."""
    if not isinstance(line, str):
        return line
    try:
        return shlex.split(line)
    except ValueError as error:
        raise DebuggerError(
            ErrorCode.USAGE, f"{tool}: {name} cannot be read: {error}", hint="close the quotes"
        ) from error


def _session_name(given: Mapping[str, Any]) -> str | None:
    named = [given[key] for key in SESSION_KEYS if given.get(key) not in {None, ""}]
    for name in named:
        if not isinstance(name, str):
            raise DebuggerError(
                ErrorCode.USAGE, "a session's id is a string", hint="debug_session lists them"
            )
    if len(set(named)) > 1:
        raise DebuggerError(
            ErrorCode.USAGE,
            "sessionId and debugSessionId name two sessions",
            hint="give one of them",
        )
    return named[0] if named else None


class Toolset:
    """Tools by name, in listing order; with `brief` only the common parameters are listed."""

    def __init__(self, tools: Iterable[McpTool] = (), *, brief: bool = False) -> None:
        self._tools = {one.name: one for one in tools}
        self.brief = brief

    def __iter__(self) -> typing.Iterator[McpTool]:
        return iter(self._tools.values())

    def __or__(self, other: Toolset) -> Toolset:
        """Join two toolsets; of a common name the first set's tool is kept."""
        return Toolset([*(one for one in other if one.name not in self._tools), *self])

    def listed_tools(self) -> list[McpTool]:
        """Return the tools that are listed; with `brief` without the rare ones."""
        return [one for one in self if not (self.brief and one.is_rare)]

    def get(self, name: str) -> McpTool | None:
        """Return a tool by its name."""
        return self._tools.get(name)

    def tool(
        self,
        name: str,
        *,
        title: str,
        result: Mapping[str, Any],
        session_key: str | None = SESSION_KEYS[0],
        failure: str | None = None,
        reads_only: bool = False,
        destructive: bool = False,
        of_group: bool = False,
        is_rare: bool = False,
    ) -> Callable[[Run], Run]:
        """Add an annotated function as a tool; its docstring is the description.

        `result` has the keys of the structured content with their types; `session_key` is the
        listed name of the session's argument, None where there is none; `failure` is what a
        failure's text begins with, where it has an envelope.
        """

        def register(run: Run) -> Run:
            self._add(
                _annotated_fields(run),
                name=name,
                title=title,
                description=inspect.cleandoc(run.__doc__ or "").replace("\n", " "),
                run=run,
                output_schema=of_result(result),
                session_key=session_key,
                failure=failure,
                reads_only=reads_only,
                destructive=destructive,
                of_group=of_group,
                is_rare=is_rare,
            )
            return run

        return register

    def derive_tool(
        self,
        name: str,
        command: str,
        arguments: Sequence[ToolArgument],
        *,
        title: str,
        description: str,
        result: Mapping[str, Any],
        answer: Callable[[ToolCall, DaemonReply], ToolAnswer],
        needs_session: bool = False,
    ) -> None:
        """Add a tool that runs one command; the command's declaration types its arguments.

        `answer` makes the tool's answer of the command's.

        Raises:
            ValueError: The command has no such parameter.
        """
        found = COMMANDS.get(command)
        parameters = {one.name: one for one in found.parameters}
        for one in arguments:
            if one.parameter not in parameters:
                message = f"{name}: {command} has no parameter {one.parameter}"
                raise ValueError(message)

        async def run(call: ToolCall, **given: Any) -> ToolAnswer:
            values = {one.parameter: one.to_command(given[one.name]) for one in arguments}
            runner = call if needs_session else call.without_session()
            return answer(call, await runner.run_command(found.wire_name, waits=True, **values))

        self._add(
            [one.field_of(parameters[one.parameter]) for one in arguments],
            name=name,
            title=title,
            description=description,
            run=run,
            output_schema=of_result(result),
            session_key=SESSION_KEYS[0] if needs_session else None,
            destructive=True,
        )

    def _add(self, fields: Sequence[ToolField], *, name: str, **more: Any) -> None:
        if more.get("of_group"):
            fields = [*fields, *GROUP_FIELDS]
        arguments = msgspec.defstruct(
            name.title().replace("_", "") + "Arguments",
            [one.as_struct_field() for one in fields],
            frozen=True,
            kw_only=True,
            rename="camel",
        )
        lines = frozenset(camel_case(one.name) for one in fields if LINE in one.listing)
        described = {camel_case(one.name): one.text for one in fields}
        pairs = frozenset(camel_case(one.name) for one in fields if one.kind == PAIRS.kind)
        self._tools[name] = McpTool(
            name=name,
            input_schema=of_arguments(arguments, described, more["session_key"], lines),
            arguments=arguments,
            rare=frozenset(camel_case(one.name) for one in fields if RARE in one.listing)
            | frozenset(SESSION_KEYS),
            lines=lines,
            pairs=pairs - {"env"},
            **more,
        )


def _annotated_fields(run: Run) -> list[ToolField]:
    """Read the arguments of a tool from the annotations of its function."""
    hints = typing.get_type_hints(run, include_extras=True)
    fields: list[ToolField] = []
    for parameter in list(inspect.signature(run).parameters.values())[1:]:
        hint = hints[parameter.name]
        kind, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint, "")
        fields.append(
            ToolField(parameter.name, kind, parameter.default, notes[0], frozenset(notes[1:]))
        )
    return fields


def camel_case(name: str) -> str:
    """Return a name in wire form: `frameIndex` for `frame_index`."""
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)
