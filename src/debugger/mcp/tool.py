"""What a tool is: one annotated function, from which its listing and its arguments' check come.

    @tool("debug_evaluate", title="Evaluate", result={"value": str, "type": str})
    async def evaluate(
        call: ToolCall,
        expression: Annotated[str, "in the program's language"],
        *,
        frame_index: Annotated[int | None, "0 is the innermost"] = None,
    ) -> Told:
        '''Evaluate an expression in a frame; it may change the program.'''

A parameter `frame_index` is `frameIndex` on the wire. Every tool that works on a session takes
`sessionId` as well as `debugSessionId`, though its listing names one of them.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, get_args, get_origin

import msgspec

from debugger.core.locate import near_names
from debugger.errors import Code, DebuggerError
from debugger.mcp import schemas
from debugger.mcp.call import Told, ToolCall

SESSION_KEYS: Final = ("sessionId", "debugSessionId")
_SHOWN = 60

Run = Callable[..., Awaitable[Told]]


@dataclass(frozen=True, eq=False)
class Tool:
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

    def bind(self, given: Mapping[str, Any]) -> tuple[str | None, dict[str, Any]]:
        """Check untrusted arguments: the session that is meant, and the function's arguments.

        Raises:
            DebuggerError: USAGE, naming the argument.
        """
        rest = {name: value for name, value in given.items() if name not in SESSION_KEYS}
        if self.failure is not None:  # XcodeBuildMCP's: an empty string counts as not given
            rest = {name: value for name, value in rest.items() if value != ""}
        session = _session(given) if self.session_key else None
        known = list(self.input_schema["properties"])
        for name in rest:
            if name not in known:
                near = near_names(name, known)
                meant = f"did you mean {near[0]}?" if near else f"it takes {', '.join(known)}"
                raise DebuggerError(Code.USAGE, f"{self.name} has no {name[:_SHOWN]!r}", hint=meant)
        try:
            checked = msgspec.convert(rest, self.arguments)
        except msgspec.ValidationError as error:
            raise DebuggerError(
                Code.USAGE, f"{self.name}: {error}", hint=f"it takes {', '.join(known)}"
            ) from error
        return session, {name: getattr(checked, name) for name in checked.__struct_fields__}


def _session(given: Mapping[str, Any]) -> str | None:
    named = [given[key] for key in SESSION_KEYS if given.get(key) not in {None, ""}]
    for name in named:
        if not isinstance(name, str):
            raise DebuggerError(
                Code.USAGE, "a session's id is a string", hint="debug_session lists them"
            )
    if len(set(named)) > 1:
        raise DebuggerError(
            Code.USAGE, "sessionId and debugSessionId name two sessions", hint="give one of them"
        )
    return named[0] if named else None


class Toolset:
    """Tools by name, in the order in which they are listed."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools = {one.name: one for one in tools}

    def __iter__(self) -> typing.Iterator[Tool]:
        return iter(self._tools.values())

    def __or__(self, other: Toolset) -> Toolset:
        """Join two; of a name that both have, the tool of the first stays."""
        return Toolset([*(one for one in other if one.name not in self._tools), *self])

    def get(self, name: str) -> Tool | None:
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
    ) -> Callable[[Run], Run]:
        """Add an annotated function as a tool; its docstring is the description.

        `result` has the keys of the structured content with their types; `session_key` is the
        listed name of the session's argument, None where there is none; `failure` is what a
        failure's text begins with, where it has an envelope.
        """

        def register(run: Run) -> Run:
            described = _described(run)
            arguments = _arguments(name, run)
            self._tools[name] = Tool(
                name=name,
                title=title,
                description=inspect.cleandoc(run.__doc__ or "").replace("\n", " "),
                run=run,
                input_schema=schemas.of_arguments(arguments, described, session_key),
                output_schema=schemas.of_result(result),
                arguments=arguments,
                session_key=session_key,
                failure=failure,
                reads_only=reads_only,
                destructive=destructive,
            )
            return run

        return register


def _hints(run: Run) -> dict[str, Any]:
    hints = typing.get_type_hints(run, include_extras=True)
    names = list(inspect.signature(run).parameters)[1:]
    return {name: hints[name] for name in names}


def _described(run: Run) -> dict[str, str]:
    return {
        camel(name): get_args(hint)[1]
        for name, hint in _hints(run).items()
        if get_origin(hint) is Annotated
    }


def _arguments(name: str, run: Run) -> type[msgspec.Struct]:
    fields: list[Any] = []
    parameters = inspect.signature(run).parameters
    for own, hint in _hints(run).items():
        kind = get_args(hint)[0] if get_origin(hint) is Annotated else hint
        default = parameters[own].default
        fields.append((own, kind) if default is inspect.Parameter.empty else (own, kind, default))
    return msgspec.defstruct(
        name.title().replace("_", "") + "Arguments",
        fields,
        frozen=True,
        kw_only=True,
        rename="camel",
    )


def camel(name: str) -> str:
    """Return a name as it is on the wire: `frameIndex` for `frame_index`."""
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


__all__ = ["SESSION_KEYS", "Told", "Tool", "ToolCall", "Toolset", "camel"]
