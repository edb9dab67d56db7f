"""Parses a command line into a command and its arguments, and formats its help."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache, lru_cache
from typing import Any, Final

import click
from click.core import ParameterSource

from debugger.cli.command_help import before_dashes, unknown_command_error, usage_error
from debugger.cli.reference import (
    GLOBAL_OPTIONS,
    HELP_FLAGS,
    PROGRAM,
    Paths,
    command_paths,
    is_switch,
    option_flags,
    option_parameters,
    parameter_choices,
    parameter_metavar,
    positional_parameters,
    subcommands,
    takes_many,
    understood_flags,
    value_types,
)
from debugger.errors import DebuggerError
from debugger.model.command_registry import (
    HERE,
    Argument,
    Command,
    HostOptions,
    Parameter,
    Registry,
)

_GLOBAL: Final = "global_"
_REMEMBERED_CHARACTERS: Final = 200
_RESERVED: Final = {*HELP_FLAGS, *(flag for each in GLOBAL_OPTIONS for flag in option_flags(each))}
_NUMBER: Final = re.compile(r"-\.?\d")
_CLICK_TYPES: Final[Mapping[Any, click.ParamType[Any]]] = {int: click.INT, float: click.FLOAT}


@dataclass(frozen=True)
class Invocation:
    """A parsed command with its given arguments; the command itself fills in its defaults."""

    command: Command
    args: dict[str, Any]
    session: str | None
    is_json: bool
    budget: int | None
    is_color: bool
    host: HostOptions = HERE


def parse_argv(argv: Sequence[str], registry: Registry) -> Invocation:
    """Find the command of `argv` and parse its arguments, without running or printing anything.

    Raises:
        DebuggerError: USAGE, with near names or the help to read.
    """
    is_short = sum(map(len, argv)) <= _REMEMBERED_CHARACTERS
    found = (_remembered if is_short else _parse_as_typed)(tuple(argv), registry)
    # A copy: the cached invocation must not change with the caller's dictionary.
    return replace(found, args=dict(found.args))


def _parse_as_typed(argv: tuple[str, ...], registry: Registry) -> Invocation:
    # Help, which the client prints by itself, does without the tables of the translation.
    from debugger.cli.command_words import prepare_argv, suggest_commands

    def parses(words: tuple[str, ...]) -> bool:
        try:
            _parse_with_click(words, registry)
        except DebuggerError:
            return False
        return True

    prepared = prepare_argv(argv, registry, parses=parses)
    try:
        return _parse_with_click(prepared, registry)
    except DebuggerError as error:
        name, lacks, _ = error.message.partition(" needs ")
        if lacks and " " in name and name in " ".join(argv):
            raise  # a command of ours, as `memory write`, and not a request
        suggested = suggest_commands(argv, registry, parses=parses)
        if suggested is None:
            raise
        raise DebuggerError(error.code, error.message, hint=suggested.hint) from error


def _parse_with_click(argv: tuple[str, ...], registry: Registry) -> Invocation:
    root = _root_group(registry)
    try:
        invocation: Invocation = root.invoke(root.make_context(PROGRAM, list(argv)))
    except click.UsageError as error:
        raise _usage_error(error) from error
    return invocation


_remembered = lru_cache(maxsize=64)(
    _parse_as_typed
)  # the words of a `next` mean the same each time


class _CommandGroup(click.Group):
    """The commands whose names begin with `path`."""

    def __init__(self, known: Paths, path: tuple[str, ...]) -> None:
        super().__init__(
            " ".join(path),
            params=[*_global_options()],
            no_args_is_help=False,
            add_help_option=False,
        )
        self.known = known
        self.path = path

    def resolve_command(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's own signature
        args: list[str],
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, *rest = args
        path = (*self.path, name)
        own = self.known.get(path)
        below = subcommands(self.known, path)
        if own is None and not below:
            raise unknown_command_error(self.known, path)
        if own is None:
            return name, _CommandGroup(self.known, path), rest
        # A command may be a group's name, too: the next word decides.
        leaf = _leaf(own)
        if below and leaf.first_word(rest) in below:
            return name, _CommandGroup(self.known, path), rest
        return name, leaf, rest


class _LeafCommand(click.Command):
    """A click command that returns the parsed invocation and never runs the command."""

    def __init__(self, command: Command) -> None:
        super().__init__(
            command.name,
            params=[*map(_click_parameter, command.parameters), *_global_options()],
            add_help_option=False,
        )
        self.asked = command
        self.takes_value = {
            flag: not is_switch(each)
            for each in (*option_parameters(command), *GLOBAL_OPTIONS)
            for flag in understood_flags(each)
        } | dict.fromkeys(HELP_FLAGS, False)
        self.metavars = {
            flag: parameter_metavar(each)
            for each in (*option_parameters(command), *GLOBAL_OPTIONS)
            for flag in understood_flags(each)
        }
        self.words = {
            flag: each.word_count
            for each in option_parameters(command)
            for flag in understood_flags(each)
        }

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given, words = self._separate_options(args)
        try:
            # Behind `--` click takes no word for an option.
            return super().parse_args(ctx, [*given, "--", *words])
        except click.UsageError as error:
            # click leaves it out where an option is used wrongly.
            error.ctx = error.ctx or ctx
            raise

    def invoke(self, ctx: click.Context) -> Invocation:
        given = {
            each.name: _option_value(each, ctx.params[each.name])
            for each in self.asked.parameters
            # click 8.1 calls no words at all a given ().
            if _is_given(ctx, each.name) and ctx.params[each.name] != ()
        }
        return _build_invocation(ctx, self.asked, given)

    def first_word(self, args: Sequence[str]) -> str | None:
        """Return the first word before `--` that is neither an option nor an option's value."""
        _, words = self._separate_options(before_dashes(args))
        return words[0] if words else None

    def _separate_options(self, args: Sequence[str]) -> tuple[list[str], list[str]]:
        """Separate options and their values from words; click would take `-5` for an option."""
        given: list[str] = []
        words: list[str] = []
        remaining = deque(args)
        while remaining:
            part = remaining.popleft()
            if part == "--":
                # In `raw expression -O -- x` it belongs to the words.
                is_word = self.asked.dashes_are_words and words
                return given, [*words, *([part] if is_word else []), *remaining]
            if not self._is_option(part, is_first=not words):
                words.append(part)
                continue
            given.append(part)
            if self._wants_value(part):
                count = self.words.get(part, 1)
                if len(remaining) < count:
                    needs = f"a value, {self.metavars[part]}" if count == 1 else f"{count} values"
                    raise usage_error(f"{self.name}: {part} needs {needs}", self.name)
                given += [remaining.popleft() for _ in range(count)]
        return given, words

    def _is_option(self, part: str, *, is_first: bool) -> bool:
        if len(part) == 1 or not part.startswith("-"):
            return False
        if not self.asked.dashes_are_words:
            return _NUMBER.match(part) is None
        flag = part.partition("=")[0]
        return flag in self.takes_value and (is_first or flag.startswith("--"))

    def _wants_value(self, part: str) -> bool:
        if part.startswith("--"):
            return self.takes_value.get(part, False)
        for index, letter in enumerate(part[1:], start=2):
            if self.takes_value.get(f"-{letter}", True):
                return f"-{letter}" in self.takes_value and index == len(part)
        return False


_leaf = cache(_LeafCommand)  # click keeps nothing between two parses


@lru_cache(maxsize=1)
def _root_group(registry: Registry) -> _CommandGroup:
    return _CommandGroup(command_paths(registry), ())


def _click_type(parameter: Parameter) -> click.ParamType[Any]:
    if allowed := parameter_choices(parameter):
        return click.Choice(list(allowed))
    kind, *others = value_types(parameter)
    return click.STRING if others else _CLICK_TYPES.get(kind, click.STRING)


def _click_parameter(parameter: Parameter) -> click.Parameter:
    if isinstance(parameter.about, Argument):
        return click.Argument(
            [parameter.name],
            type=_click_type(parameter),
            nargs=-1 if takes_many(parameter) else 1,
            required=parameter.is_required,
            metavar=parameter_metavar(parameter),
        )
    # Found when the parser is built, in any test, and not when somebody uses the option.
    if taken := set(parameter.about.flags) & _RESERVED:
        message = f"{parameter.name}: {taken} belongs to every command"
        raise ValueError(message)
    return _click_option(parameter, parameter.name)


def _click_option(parameter: Parameter, name: str) -> click.Option:
    if is_switch(parameter):
        return click.Option([name, *option_flags(parameter)], is_flag=True)
    return click.Option(
        [name, *understood_flags(parameter)],
        type=_click_type(parameter),
        nargs=parameter.word_count,
        multiple=parameter.is_repeated,
        required=parameter.is_required,
        metavar=parameter_metavar(parameter),
    )


@cache
def _global_options() -> list[click.Parameter]:
    asks_help = click.Option(
        [_GLOBAL + "help", *HELP_FLAGS], is_flag=True, is_eager=True, callback=_refuse_help
    )
    return [asks_help, *(_click_option(each, _GLOBAL + each.name) for each in GLOBAL_OPTIONS)]


def _refuse_help(context: click.Context, _parameter: click.Parameter, is_requested: Any) -> None:
    if is_requested:
        raise usage_error("--help asks for text and runs nothing", context.command.name)


def _is_given(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is ParameterSource.COMMANDLINE


def _option_value(parameter: Parameter, given: Any) -> Any:
    if is_switch(parameter):
        return parameter.default is not True
    if isinstance(parameter.about, Argument) and parameter.about.words:
        return " ".join(given)
    allowed = parameter_choices(parameter)
    if not allowed:
        return given
    return tuple(allowed[each] for each in given) if parameter.is_repeated else allowed[given]


def _build_invocation(context: click.Context, command: Command, args: dict[str, Any]) -> Invocation:
    """Merge the given arguments; of a global option given twice the inner one is used."""
    given: dict[str, Any] = {}
    level: click.Context | None = context
    while level is not None:
        for option in GLOBAL_OPTIONS:
            if _is_given(level, _GLOBAL + option.name):
                given.setdefault(option.name, level.params[_GLOBAL + option.name])
        level = level.parent
    return Invocation(
        command=command,
        args=args,
        session=given.get("session"),
        is_json=given.get("json", False),
        budget=given.get("budget"),
        is_color=not given.get("no_color", False),
        host=HostOptions(given.get("host"), given.get("container"), given.get("pod")),
    )


def _usage_error(error: click.UsageError) -> DebuggerError:
    """Translate click's usage error into our words."""
    command = error.ctx.command if error.ctx else None
    name = (command.name if command else None) or ""
    prefix = f"{name}: " if name else ""
    if isinstance(error, click.NoSuchOption):
        return _no_option(error, command, prefix)
    if isinstance(error, click.MissingParameter) and error.param:
        return usage_error(f"{name} needs {_parameter_name(error.param)}", name)
    if isinstance(error, click.BadParameter) and error.param:
        return usage_error(
            f"{prefix}{_parameter_name(error.param)}: {_plain_message(error.message)}", name
        )
    if type(error) is click.UsageError and isinstance(command, _CommandGroup):
        below = ", ".join(subcommands(command.known, command.path))
        return usage_error(f"{name} needs one of {below}" if name else "no command given", name)
    if isinstance(command, _LeafCommand) and "unexpected extra arg" in error.message:
        count = len(positional_parameters(command.asked))
        takes = f"{count or 'no'} argument{'' if count == 1 else 's'}"
        return usage_error(f"{name} takes {takes}: {_plain_message(error.message)}", name)
    return usage_error(prefix + _plain_message(error.message), name)


def _no_option(
    error: click.NoSuchOption, command: click.Command | None, prefix: str
) -> DebuggerError:
    flags = [flag for each in command.params for flag in each.opts] if command else []
    # Without the dashes, in which all are alike.
    known = {flag.lstrip("-"): flag for flag in flags if flag.startswith("-")}
    near = [known[one] for one in get_close_matches(error.option_name.lstrip("-"), known)]
    advice = ""
    if near:
        advice = f"did you mean {' or '.join(near)}? "
    elif isinstance(command, _CommandGroup):
        advice = "a command's options follow its name; "
    elif isinstance(command, _LeafCommand) and any(
        map(takes_many, positional_parameters(command.asked))
    ):
        advice = "what is no option of its own goes after `--`; "
    name = command.name if command else None
    return usage_error(f"{prefix}no option {error.option_name}", name, advice=advice)


def _parameter_name(parameter: click.Parameter) -> str:
    if isinstance(parameter, click.Option):
        return next((one for one in parameter.opts if one.startswith("--")), parameter.opts[-1])
    return parameter.metavar or parameter.human_readable_name


def _plain_message(message: str) -> str:
    return message[:1].lower() + message[1:].rstrip(".")
