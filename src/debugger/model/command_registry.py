"""Defines a command: one annotated function, the source of every user interface."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, get_args, get_origin

import msgspec

from debugger.errors import DebuggerError, ErrorCode


class HostOptions(msgspec.Struct, frozen=True):
    """The options of every command that say where it runs; without them, here."""

    host: str | None = None
    container: str | None = None
    pod: str | None = None


HERE = HostOptions()


class Activity:
    """A description of a command's current work; empty at first."""

    def __init__(self) -> None:
        self.describe: Callable[[], str] = str


_current: ContextVar[Activity | None] = ContextVar("activity", default=None)


def begin_activity(activity: Activity) -> None:
    """Set the activity of the current task, and of its later child tasks."""
    _current.set(activity)


@contextmanager
def describe_activity(describe: Callable[[], str]) -> Iterator[None]:
    """Set the function that describes the command's work, called for each display.

    It runs in the daemon's event loop: it must be quick, and must not raise.
    """
    activity = _current.get()
    if activity is None:
        yield
        return
    before, activity.describe = activity.describe, describe
    try:
        yield
    finally:
        activity.describe = before


@dataclass(frozen=True)
class Argument:
    """A positional argument; `words` joins all remaining words with blanks.

    `assigns`: its words are assignments (`x=3`), never the name of an option with its value.
    """

    metavar: str
    help: str = ""
    words: bool = False
    assigns: bool = False


@dataclass(frozen=True)
class Option:
    """An option with its spellings, the long one first."""

    flags: tuple[str, ...]
    help: str
    metavar: str | None
    also: tuple[str, ...]  # spellings that are understood, and not listed
    is_hidden: bool  # understood, to be refused with a reason, and not listed
    names_from: str  # our words that print the possible values, one a line, for the completion

    def __init__(
        self,
        *flags: str,
        help: str = "",  # noqa: A002 - the field's standard word
        metavar: str | None = None,
        also: tuple[str, ...] = (),
        is_hidden: bool = False,
        names_from: str = "",
    ) -> None:
        object.__setattr__(self, "flags", flags)
        object.__setattr__(self, "help", help)
        object.__setattr__(self, "metavar", metavar)
        object.__setattr__(self, "also", also)
        object.__setattr__(self, "is_hidden", is_hidden)
        object.__setattr__(self, "names_from", names_from)

    def changed(self, *, help: str, also: tuple[str, ...], is_hidden: bool) -> Option:  # noqa: A002 - the field's standard word
        """Return the option with another help and other unlisted spellings."""
        return Option(*self.flags, help=help, metavar=self.metavar, also=also, is_hidden=is_hidden)


@dataclass(frozen=True)
class Parameter:
    """One parameter of a command, with everything that a user interface needs."""

    name: str
    type: Any
    default: Any
    about: Argument | Option

    @property
    def is_required(self) -> bool:
        """Whether a value is required."""
        return self.default is inspect.Parameter.empty

    @property
    def is_repeated(self) -> bool:
        """Whether the value is a list."""
        return get_origin(self.type) is tuple

    @property
    def word_count(self) -> int:
        """The number of words of one value: 2 of `tuple[tuple[str, str], ...]`."""
        kind = self.value_type
        return len(get_args(kind)) if get_origin(kind) is tuple else 1

    @property
    def value_type(self) -> Any:
        """The type of one value: T of `T | None` and of `tuple[T, ...]`."""
        if self.is_repeated:
            return get_args(self.type)[0]
        if get_origin(self.type) in {types.UnionType, typing.Union}:
            return next(part for part in get_args(self.type) if part is not types.NoneType)
        return self.type


@dataclass(frozen=True)
class OptionGroup:
    """Options that commands share, and the function that builds one value of theirs.

    A command's parameter is annotated with the group; users see the group's options instead.
    """

    parameters: tuple[Parameter, ...]
    build: Callable[..., Any]  # called with the command's name, and the options by name


@dataclass(frozen=True, eq=False)
class Command:
    """A command: its name (`breakpoint add`), what it does, and the function that runs it."""

    name: str
    group: str
    summary: str
    details: str
    aliases: tuple[str, ...]
    declared: Callable[..., Awaitable[Any]]  # the annotated function
    reads_only: bool = False
    dashes_are_words: bool = False
    # It lets a session's program run, stops, changes or ends it: not while a person has taken over.
    acts_on_program: bool = False

    # Read when they are needed: help needs those of one command.

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters that users see: in the place of a group, its options."""
        return tuple(
            parameter
            for _, one in self._declarations
            for parameter in (one.parameters if isinstance(one, OptionGroup) else (one,))
        )

    @cached_property
    def arguments(self) -> type[msgspec.Struct]:
        """The class that checks the arguments."""
        return _arguments_struct(self.name, self.parameters)

    @cached_property
    def run(self) -> Callable[..., Awaitable[Any]]:
        """The function that runs the command, and takes the options of groups one by one."""
        groups = {name: one for name, one in self._declarations if isinstance(one, OptionGroup)}
        return _group_options(self.name, self.declared, groups) if groups else self.declared

    @cached_property
    def _declarations(self) -> tuple[tuple[str, Parameter | OptionGroup], ...]:
        return tuple(_read_declarations(self.declared))

    @property
    def wire_name(self) -> str:
        """The command's name on the socket: `breakpoint_add`."""
        return self.name.replace(" ", "_").replace("-", "_")

    def bind_arguments(self, given: dict[str, Any]) -> dict[str, Any]:
        """Check untrusted arguments against the parameters' types and fill in the defaults.

        Raises:
            DebuggerError: USAGE.
        """
        try:
            checked = msgspec.convert(given, self.arguments, strict=False)
        except msgspec.ValidationError as error:
            raise DebuggerError(
                ErrorCode.USAGE, f"{self.name}: {error}", hint=f"debugger {self.name} --help"
            ) from error
        return {parameter.name: getattr(checked, parameter.name) for parameter in self.parameters}


class Registry:
    """All commands by name."""

    def __init__(self) -> None:
        self._by_name: dict[str, Command] = {}
        self._aliases: dict[str, str] = {}

    def __iter__(self) -> Iterator[Command]:
        return iter(self._by_name.values())

    def add(self, command: Command) -> None:
        """Add a command; its names must be new."""
        for name in (command.name, *command.aliases):
            if name in self._by_name or name in self._aliases:
                message = f"two commands are called {name!r}"
                raise ValueError(message)
        self._by_name[command.name] = command
        self._aliases.update(dict.fromkeys(command.aliases, command.name))

    def get(self, name: str) -> Command:
        """Return a command by its name in words, its wire name, or an alias.

        Raises:
            DebuggerError: USAGE, naming near ones.
        """
        for known in self._by_name.values():
            if name in {known.name, known.wire_name, *known.aliases}:
                return known
        raise DebuggerError(
            ErrorCode.USAGE, f"no command {name!r}", hint="debugger --help lists them"
        )


COMMANDS = Registry()


def register_command(
    name: str,
    *,
    group: str,
    aliases: tuple[str, ...] = (),
    reads_only: bool = False,
    dashes_are_words: bool = False,
    acts_on_program: bool = False,
    registry: Registry = COMMANDS,
) -> Callable[[Callable[..., Awaitable[Any]]], Callable[..., Awaitable[Any]]]:
    """Register an annotated function as a command; its docstring's first line is the summary."""

    def register(run: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        summary, _, details = inspect.cleandoc(run.__doc__ or "").partition("\n")
        registry.add(
            Command(
                name=name,
                group=group,
                summary=summary,
                details=details.strip(),
                aliases=aliases,
                declared=run,
                reads_only=reads_only,
                dashes_are_words=dashes_are_words,
                acts_on_program=acts_on_program,
            )
        )
        return run

    return register


def _group_options(
    name: str, run: Callable[..., Awaitable[Any]], groups: dict[str, OptionGroup]
) -> Callable[..., Awaitable[Any]]:
    """Return the function of a command that takes the options of its groups one by one."""

    async def run_grouped(call: Any, **given: Any) -> Any:
        for parameter, group in groups.items():
            known = [one.name for one in group.parameters if one.name in given]
            given[parameter] = group.build(name, **{one: given.pop(one) for one in known})
        return await run(call, **given)

    return run_grouped


def _read_declarations(
    run: Callable[..., Any],
) -> Iterator[tuple[str, Parameter | OptionGroup]]:
    """Read the parameters of a function by name; one may stand for a group of options."""
    _, *declared = inspect.signature(run).parameters.values()
    # The call and the answer are types of the daemon: what only describes a command does without.
    namespace = types.SimpleNamespace(
        __annotations__={one.name: one.annotation for one in declared}, __globals__=run.__globals__
    )
    hints = typing.get_type_hints(namespace, include_extras=True)
    for parameter in declared:
        hint = hints[parameter.name]
        if get_origin(hint) is not Annotated:
            message = f"{run.__name__}: {parameter.name} needs an Arg or an Opt"
            raise TypeError(message)
        kind, about = get_args(hint)
        is_group = isinstance(about, OptionGroup)
        found = about if is_group else Parameter(parameter.name, kind, parameter.default, about)
        yield parameter.name, found


def _arguments_struct(name: str, parameters: tuple[Parameter, ...]) -> type[msgspec.Struct]:
    fields: list[Any] = []
    for parameter in parameters:
        if parameter.is_required:
            fields.append((parameter.name, parameter.type))
        else:
            fields.append((parameter.name, parameter.type, parameter.default))
    return msgspec.defstruct(
        name.title().replace(" ", "") + "Arguments",
        fields,
        frozen=True,
        kw_only=True,
        forbid_unknown_fields=True,
    )
