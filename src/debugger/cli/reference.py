"""Formats a command's usage, for help and for the reference page."""

from __future__ import annotations

import re
import sys
import textwrap
import types
import typing
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, Final, Literal, get_args, get_origin

from debugger.cli import situations, skill
from debugger.model.command_registry import COMMANDS, Argument, Command, Option, Parameter, Registry

PROGRAM: Final = "debugger"
WIDTH: Final = 100
MAX_OVERVIEW_LINES: Final = 72
HELP_FLAGS: Final = ("--help", "-h")
GLOBAL_OPTIONS: Final = tuple(
    Parameter(name=name, type=kind, default=default, about=about)
    for name, kind, default, about in (
        ("session", str | None, None, Option("--session", help="which session", metavar="NAME")),
        ("json", bool, False, Option("--json", help="answer with one JSON object")),
        (
            "budget",
            int | None,
            None,
            Option("--budget", help="cap the answer, in tokens", metavar="N"),
        ),
        ("host", str | None, None, Option("--host", help="there, by ssh", metavar="H,H")),
        (
            "container",
            str | None,
            None,
            Option("--container", help="in this one, by docker or podman", metavar="ID"),
        ),
        (
            "pod",
            str | None,
            None,
            Option("--pod", help="in it, by kubectl", metavar="NS/NAME[:C]"),
        ),
        ("no_color", bool, False, Option("--no-color", help="no colour on a terminal")),
    )
)
OVERVIEW_CELL: Final = WIDTH // 2 - 3
_LABEL: Final = 12
_LEAST: Final = 3  # less than a third of the room says too little
# Where a summary may end: the more it loses, the later is the way to end it.
_CLAUSE_ENDS: Final = tuple(
    map(re.compile, (r"[;:] ", r", ", r"(?<!and) (?:and|or|that|where|with|until|behind)\b"))
)
_SITUATIONS: Final = f"""\
usage: {PROGRAM} COMMAND …   One command answers a question; CMD is your program:
{situations.list_as_help(PROGRAM)}
`{PROGRAM} COMMAND --help` explains a command; `{PROGRAM} skill QUESTION` shows examples."""
_WORDS_NOTE: Final = "Options that it does not know are words; after `--` everything is."

Paths = Mapping[tuple[str, ...], Command]


def command_paths(registry: Registry) -> dict[tuple[str, ...], Command]:
    """Return every command by its words, names before aliases."""
    commands = list(registry)
    found = {tuple(command.name.split()): command for command in commands}
    for command in commands:
        for alias in command.aliases:
            found.setdefault(tuple(alias.split()), command)
    return found


def subcommands(known: Paths, path: tuple[str, ...]) -> tuple[str, ...]:
    """Return the possible words after `path`, in the registry's order."""
    size = len(path)
    return tuple(
        dict.fromkeys(key[size] for key in known if len(key) > size and key[:size] == path)
    )


def command_groups(registry: Registry) -> dict[str, list[Command]]:
    """Return the commands by group, both in registration order."""
    found: dict[str, list[Command]] = {}
    for command in registry:
        found.setdefault(command.group, []).append(command)
    return found


def value_types(parameter: Parameter) -> tuple[Any, ...]:
    """Return the possible types of one value: both of `int | str | None`."""
    kind = get_args(parameter.type)[0] if parameter.is_repeated else parameter.type
    if get_origin(kind) in {types.UnionType, typing.Union}:
        return tuple(part for part in get_args(kind) if part is not types.NoneType)
    return (kind,)


def parameter_choices(parameter: Parameter) -> dict[str, Any]:
    """Return the allowed values of a Literal or an Enum, as typed."""
    (kind, *others) = value_types(parameter)
    if others:
        return {}
    if get_origin(kind) is Literal:
        return {str(value): value for value in get_args(kind)}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {str(member.value): member.value for member in kind}
    return {}


def names_source(parameter: Parameter) -> str:
    """Return our words that print the possible values of an option, for the completion."""
    return parameter.about.names_from if isinstance(parameter.about, Option) else ""


def is_switch(parameter: Parameter) -> bool:
    """Return whether a parameter is an option without a value."""
    return isinstance(parameter.about, Option) and value_types(parameter) == (bool,)


def takes_many(parameter: Parameter) -> bool:
    """Return whether a parameter is an argument of several words."""
    about = parameter.about
    return isinstance(about, Argument) and (about.words or parameter.is_repeated)


def option_flags(parameter: Parameter) -> tuple[str, ...]:
    """Return an option's spellings, the short ones first; none for an argument."""
    if isinstance(parameter.about, Argument):
        return ()
    return tuple(sorted(parameter.about.flags, key=lambda flag: flag.startswith("--")))


def understood_flags(parameter: Parameter) -> tuple[str, ...]:
    """Return an option's spellings, with those that are not listed."""
    also = parameter.about.also if isinstance(parameter.about, Option) else ()
    return (*option_flags(parameter), *also)


def parameter_metavar(parameter: Parameter) -> str:
    """Return the placeholder for a parameter's value."""
    if parameter.about.metavar:
        return parameter.about.metavar
    allowed = "|".join(parameter_choices(parameter))
    return allowed or parameter.name.upper().replace("_", "-")


def parameter_usage(parameter: Parameter) -> str:
    """Return a parameter as in a list of parameters: `-c, --condition EXPR`, `ID…`."""
    word = parameter_metavar(parameter)
    if isinstance(parameter.about, Argument):
        return f"{word}…" if takes_many(parameter) and not word.endswith("…") else word
    names = ", ".join(option_flags(parameter))
    return names if is_switch(parameter) else f"{names} {word}"


def parameter_help(parameter: Parameter) -> str:
    """Return a parameter's help with its allowed values and its default."""
    notes = [parameter.about.help] if parameter.about.help else []
    allowed = "|".join(parameter_choices(parameter))
    if allowed and allowed != parameter_metavar(parameter):
        notes.append(allowed)
    if isinstance(parameter.about, Option) and parameter.is_repeated:
        notes.append("may be repeated")
    default = parameter.default.value if isinstance(parameter.default, Enum) else parameter.default
    if (
        not parameter.is_required
        and not isinstance(default, bool)
        and default not in {None, "", ()}
    ):
        notes.append(f"default {default:g}" if isinstance(default, float) else f"default {default}")
    return "; ".join(notes)


def positional_parameters(command: Command) -> list[Parameter]:
    """Return the positional parameters."""
    return [each for each in command.parameters if isinstance(each.about, Argument)]


def option_parameters(command: Command) -> list[Parameter]:
    """Return the command's own options."""
    return [each for each in command.parameters if isinstance(each.about, Option)]


def listed_options(command: Command) -> list[Parameter]:
    """Return the command's own options without those that it only refuses."""
    return [
        each
        for each in option_parameters(command)
        if isinstance(each.about, Option) and not each.about.is_hidden
    ]


def usage_line(command: Command) -> str:
    """Return the usage line: `debugger breakpoint add [OPTIONS] [LOC]`."""
    parts = [PROGRAM, command.name]
    if any(not each.is_required for each in option_parameters(command)):
        parts.append("[OPTIONS]")
    parts += [parameter_usage(each) for each in option_parameters(command) if each.is_required]
    for argument in positional_parameters(command):
        word = parameter_usage(argument)
        parts.append(word if argument.is_required else f"[{word}]")
    return " ".join(parts)


def help_page(known: Paths, path: tuple[str, ...]) -> Iterator[str]:
    """Format the help of a command, of the commands below its name, or of both."""
    command = known.get(path)
    if command:
        yield from _command_page(command)
    else:
        yield f"usage: {PROGRAM} {' '.join(path)} COMMAND …"
    below = [known.get((*path, word)) for word in subcommands(known, path)]
    if below:
        yield "\nCommands:"
        yield from _markdown_table((_names_text(each), each.summary) for each in below if each)
    yield f"\n{_global_usage()}"


def _command_page(command: Command) -> Iterator[str]:
    yield f"usage: {usage_line(command)}"
    yield f"\n{command.summary}"
    if command.aliases:
        yield f"Aliases: {', '.join(command.aliases)}"
    if command.details:
        yield f"\n{command.details}"
    example = skill.find_example((command.name, *command.aliases))
    if example:
        yield f"\nExample: {example}"
    for title, parameters in (
        ("Arguments", positional_parameters(command)),
        ("Options", listed_options(command)),
    ):
        if parameters:
            yield f"\n{title}:"
            yield from _markdown_table(
                (parameter_usage(each), parameter_help(each)) for each in parameters
            )
    if command.dashes_are_words:
        yield f"\n{_WORDS_NOTE}"


def _markdown_table(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    rows = list(pairs)
    column = min(max(len(label) for label, _ in rows), WIDTH // 3)
    for label, text in rows:
        first, *others = textwrap.wrap(text, WIDTH - column - 4) or [""]
        if len(label) > column:
            yield f"  {label}"
            label = ""  # noqa: PLW2901 - it has its line
        yield f"  {label:<{column}}  {first}".rstrip()
        yield from (f"  {'':<{column}}  {other}" for other in others)


def _names_text(command: Command) -> str:
    return f"{command.name} ({', '.join(command.aliases)})" if command.aliases else command.name


def _global_usage() -> str:
    # Containers and pods are hosts as well, and one line must do.
    shown = [each for each in GLOBAL_OPTIONS if each.name not in {"container", "pod"}]
    return f"Global options: {', '.join(parameter_usage(each) for each in shown)}, -h, --help"


def command_overview(registry: Registry) -> Iterator[str]:
    """Format the situations and all commands by group, in at most `MAX_OVERVIEW_LINES`."""
    head = [*_SITUATIONS.splitlines(), _global_usage()]
    families = {
        name: _command_families(commands) for name, commands in command_groups(registry).items()
    }
    listing = [line for each in families.items() for line in _overview_section(*each, is_cut=False)]
    if len(head) + len(listing) > MAX_OVERVIEW_LINES:
        sections = {
            each[0]: list(_overview_section(*each, is_cut=True)) for each in families.items()
        }
        room = MAX_OVERVIEW_LINES - len(head) - sum(map(len, sections.values()))
        # The last groups are the ones whose names say least: as much of them as there is room for.
        for name in reversed(sections):
            all_lines = list(_overview_section(name, families[name], is_cut=False))
            if len(all_lines) - len(sections[name]) <= room:
                room -= len(all_lines) - len(sections[name])
                sections[name] = all_lines
        listing = [line for each in sections.values() for line in each]
    yield from head
    yield from listing


def _command_families(commands: Iterable[Command]) -> list[tuple[str, str]]:
    """Group commands with the same first word: (`breakpoint add|list (b)`, summary)."""
    by_word: dict[str, list[Command]] = {}
    for command in commands:
        by_word.setdefault(command.name.split()[0], []).append(command)
    return [_family_row(word, members) for word, members in by_word.items()]


def _family_row(word: str, members: Sequence[Command]) -> tuple[str, str]:
    own = next((each for each in members if each.name == word), None)
    verbs = "|".join(each.name.removeprefix(word).strip() for each in members if each is not own)
    spelled_out = [alias for each in members for alias in each.aliases if " " not in alias]
    aliases = [alias for alias in spelled_out if alias != word]
    parts = [word, f"[{verbs}]" if own and verbs else verbs, f"({', '.join(aliases)})"]
    label = " ".join(part for part in parts if part.strip("()"))
    return label, (own or members[0]).summary.rstrip(".")


def _overview_section(name: str, rows: Iterable[tuple[str, str]], *, is_cut: bool) -> Iterator[str]:
    """Format a group, two entries on a line if both fit into half of it."""
    yield f"{name}:"
    remaining = deque(_overview_cell(*row, is_cut=is_cut) for row in rows)
    while remaining:
        cell = remaining.popleft()
        if remaining and max(len(cell), len(remaining[0])) <= OVERVIEW_CELL:
            cell = f"{cell:<{OVERVIEW_CELL}}  {remaining.popleft()}"
        yield f"  {cell}"


def _overview_cell(label: str, summary: str, *, is_cut: bool) -> str:
    padded = f"{label:<{_LABEL}}  "
    room = OVERVIEW_CELL if is_cut and len(padded) < OVERVIEW_CELL * 2 // 3 else WIDTH - 2
    return padded + _shorten_summary(summary, room - len(padded))


def _shorten_summary(summary: str, room: int) -> str:
    """Return a summary, or as many of its clauses as fit."""
    if len(summary) <= room:
        return summary
    for end in _CLAUSE_ENDS:
        cuts = [found.start() for found in end.finditer(summary) if found.start() <= room]
        if cuts and cuts[-1] >= room // _LEAST:
            return summary[: cuts[-1]]
    return textwrap.shorten(summary, max(room, 1), placeholder="…")


def reference_page(registry: Registry) -> str:
    """Return the reference page in Markdown, deterministic for a registry."""
    return "\n".join(_page_lines(registry)) + "\n"


def _page_lines(registry: Registry) -> Iterator[str]:
    yield "# Commands"
    yield ""
    yield "Generated by `python -m debugger.cli.reference`; edit the commands, not this page."
    yield ""
    by_group = command_groups(registry)
    for group, commands in by_group.items():
        links = (f"[{each.name}](#{each.name.replace(' ', '-')})" for each in commands)
        yield f"- **{group}**: {' · '.join(links)}"
    yield ""
    yield "Options of every command, before or after its name, never after `--`:"
    yield ""
    yield from _parameter_list(GLOBAL_OPTIONS)
    for group, commands in by_group.items():
        yield f"\n## {group}"
        for command in commands:
            yield from _command_entry(command)


def _command_entry(command: Command) -> Iterator[str]:
    yield f"\n### {command.name}"
    yield ""
    yield f"`{usage_line(command)}`"
    yield ""
    yield command.summary
    if command.details:
        yield f"\n{command.details}"
    for parameters in (positional_parameters(command), listed_options(command)):
        if parameters:
            yield ""
            yield from _parameter_list(parameters)
    if command.dashes_are_words:
        yield f"\n{_WORDS_NOTE}"
    if command.aliases:
        yield f"\nAliases: {', '.join(f'`{alias}`' for alias in command.aliases)}"


def _parameter_list(parameters: Iterable[Parameter]) -> Iterator[str]:
    for parameter in parameters:
        about = parameter_help(parameter)
        yield f"- `{parameter_usage(parameter)}`" + (f": {about}" if about else "")


def main() -> None:
    """Print the reference page of all commands."""
    # Late: whoever only describes commands must not load them all.
    from debugger.cli import commands

    commands.register_all()
    sys.stdout.write(reference_page(COMMANDS))


if __name__ == "__main__":
    main()
