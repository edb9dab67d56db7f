"""Separates a command's words into options and arguments, whatever their order and spelling."""

from __future__ import annotations

import re
import shlex
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from typing import Final

from debugger.cli.reference import (
    GLOBAL_OPTIONS,
    HELP_FLAGS,
    PROGRAM,
    is_switch,
    option_parameters,
    understood_flags,
)
from debugger.model.command_registry import Command

# Spellings of an option that other debuggers and other commands use: the first of these flags
# that the command has is meant. A value that begins with `+` is a role: no option of ours, but
# what `question_order` and `location_order` put in its place.
_CONDITION: Final = ("--condition", "--when")
_COUNT: Final = ("--hit-count", "--hit", "--nth", "--limit", "--tail", "--count", "+count")
_FUNCTION: Final = ("--function", "--around", "+function")
_PLACE: Final = ("--break", "--at", "--around", "+location")
OPTION_SPELLINGS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("--if", "--condition", "--cond", "--when", "--where", "-c"), _CONDITION),
    **dict.fromkeys(("--only-if", "--filter"), _CONDITION),
    "--count": ("--hit-count", "--limit", "--tail", "+count"),
    **dict.fromkeys(("--times", "--steps"), ("--limit", "+count")),
    **dict.fromkeys(("--first", "--frames"), ("--limit",)),
    "--all-threads": ("--all",),
    **dict.fromkeys(("--cmd", "--command"), ("+args",)),
    **dict.fromkeys(("--hits", "--hit", "--hit-count", "--nth"), _COUNT[:3]),
    "--call": ("--nth",),
    **dict.fromkeys(("--ignore", "--ignore-count", "--skip"), ("+ignore",)),
    **dict.fromkeys(("--max", "--max-hits", "--max-count", "--last", "-n"), ("--tail", "--limit")),
    **dict.fromkeys(("--lines", "-C"), ("--tail", "--context", "--limit")),
    **dict.fromkeys(("--levels", "--max-depth"), ("--depth",)),
    **dict.fromkeys(("--once", "--one-shot", "--temp"), ("--temporary",)),
    **dict.fromkeys(("--message", "--log-message", "--logpoint", "--text"), ("--log", "+text")),
    **dict.fromkeys(("--tid", "--thread-id", "--goroutine"), ("--thread",)),
    **dict.fromkeys(("--func", "--fn", "--function", "--name", "--method"), _FUNCTION),
    **dict.fromkeys(("--breakpoint", "--bp", "--breakpoints", "--break", "-b"), _PLACE),
    **dict.fromkeys(("--location", "--loc", "--at", "--place", "--address", "--addr"), _PLACE[1:]),
    "--line": ("+line",),
    "-l": ("+line",),
    "--file": ("+file",),
    "--source-file": ("+file",),
    **dict.fromkeys(("--level", "--id", "--number", "--index", "--ref"), ("+argument",)),
    **dict.fromkeys(("--expr", "--expression", "--print", "--eval", "-e"), ("+expression",)),
    **dict.fromkeys(("--var", "--variable", "--vars", "--value", "--show"), ("+expression",)),
    **dict.fromkeys(("--set", "--assign"), ("+expression",)),
    "--args": ("+args",),
    **dict.fromkeys(("--program", "--script", "--exe", "--executable"), ("+program",)),
    **dict.fromkeys(("--workdir", "--working-directory", "--wd", "--directory"), ("--cwd",)),
    "--environment": ("--env",),
    "--input": ("--stdin",),
    **dict.fromkeys(("--time-limit", "--max-time", "--seconds"), ("--timeout",)),
    "--wait": ("--after", "--timeout"),
    **dict.fromkeys(("-p", "--process", "--attach"), ("--pid", "+pid")),
    "--pid": ("+pid",),
    **dict.fromkeys(("--stop-at-entry", "--break-on-entry"), ("--stop-on-entry",)),
    **dict.fromkeys(("--stop-at-main", "--entry", "--pause-on-entry"), ("--stop-on-entry",)),
    "--debugger": ("--adapter",),
    **dict.fromkeys(("--length", "--len", "--bytes"), ("--count",)),
    **dict.fromkeys(("--nowait", "--background", "--async", "--detach"), ("--no-wait",)),
    **dict.fromkeys(("--against", "--versus", "--compare", "--compare-with", "--diff"), ("--vs",)),
    **dict.fromkeys(("--full", "--with-locals"), ("--locals",)),
    "-a": ("--all",),
    "--fmt": ("--format",),
    "--type": ("--kind",),
    "--host": ("--connect",),
    "--remote": ("--connect",),
}
# Where a spelling means something else for one command.
COMMAND_SPELLINGS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "breakpoint add": {"-n": ("--function",), "-o": ("+once",), "-i": ("+ignore",),
                       "-t": ("--thread",), "-a": ("+address",), "--address": ("+address",)},
    "probe": {"--func": ("--at",), "--function": ("--at",), "--fn": ("--at",),
              "--name": ("--at",)},
    "crash": {"-c": ("--core",)},
    "restart": {"--wait": ("+nothing",)},
    "continue": {"--wait": ("+nothing",), "--until": ("+location",), "--to": ("+location",)},
    "start": {"--wait": ("+nothing",), "--file": ("+program",), "-e": ("--env",)},
    "attach": {"-n": ("--name",), "-c": ("--core",)},
    "path": {"--at": ("--around",), "--break": ("--around",)},
    "calls": {"--at": ("+function",)},
    "who-wrote": {"--line": ("--at",), "-l": ("--at",)},
    "backtrace": {"-c": ("--limit",), "--depth": ("--limit",), "--count": ("--limit",),
                  "-f": ("--locals",)},
    "disassemble": {"-n": ("+address",), "--name": ("+address",), "-c": ("--count",),
                    "-f": ("+nothing",), "--frame": ("+nothing",)},
    "step": {"-i": ("--instruction",)}, "next": {"-i": ("--instruction",)},
    "output": {"-f": ("--follow",)},
    "memory read": {"-c": ("--count",), "-s": ("+size",), "--size": ("+size",),
                    "-f": ("--format",), "-count": ("--count",), "-size": ("+size",),
                    "-fmt": ("--format",), "-len": ("--count",)},
    "source": {"-n": ("+function",), "-f": ("+file",), "--function": ("--function",),
               "--name": ("+function",)},
    "registers": {"--all": ("+all",), "-a": ("+all",)},
    "events": {"--last": ("--limit",)},
}  # fmt: skip
# Spellings that may mean two things: they are corrected, not understood.
_AMBIGUOUS: Final[Mapping[tuple[str, str], str]] = {
    ("calls", "-n"): "--nth",
    ("hang", "-t"): "--after",
}
_SWITCH_ROLES: Final = frozenset({"+all", "+nothing"})
_NUMBER: Final = re.compile(r"-\.?\d")
_SHORTEST_PREFIX: Final = len("--abc")
_NEAR: Final = 0.75


@dataclass(frozen=True)
class Correction:
    """A refusal whose hint is the user's command as it should be typed, ready to paste."""

    reason: str
    # The likeliest first; each without the program's name.
    commands: tuple[tuple[str, ...], ...]

    @property
    def hint(self) -> str:
        """The commands as typed in a shell."""
        return "; ".join(f"{PROGRAM} {shlex.join(words)}" for words in self.commands)


@dataclass(frozen=True)
class ArrangedWords:
    """A command's words by kind."""

    name: tuple[str, ...]  # of the command, as typed
    command: Command
    options: tuple[tuple[str, tuple[str, ...]], ...] = ()
    positionals: tuple[str, ...] = ()
    # What stands behind `--`; None without one.
    rest: tuple[str, ...] | None = None
    # Options that the command does not have, with their index in `given`.
    unknown: tuple[tuple[int, str], ...] = ()
    # The option that lacks its value, before `--`.
    lacking: str | None = None
    given: tuple[str, ...] = ()
    # Whether a word was spelled or placed otherwise than the parser takes it.
    is_changed: bool = False

    def role_values(self, role: str) -> list[str]:
        """Return the values of an option or a role, in order."""
        return [value for flag, values in self.options if flag == role for value in values]

    def change(
        self,
        *,
        without: Iterable[str] = (),
        add: Iterable[tuple[str, tuple[str, ...]]] = (),
        positionals: Iterable[str] | None = None,
    ) -> ArrangedWords:
        """Return the words without some options and roles, with others, or other arguments."""
        dropped = set(without)
        return replace(
            self,
            options=(*(one for one in self.options if one[0] not in dropped), *add),
            positionals=self.positionals if positionals is None else tuple(positionals),
            is_changed=True,
        )

    def to_words(self) -> tuple[str, ...]:
        """Return the words in the order that the parser takes: name, options, arguments."""
        words = [*self.name]
        for flag, values in self.options:
            words += [flag, *values]
        if self.positionals[:1] and self.positionals[0].startswith("-") and self.rest is None:
            words.append("--")
        words += self.positionals
        if self.rest is not None:
            words += ["--", *self.rest]
        return tuple(words)

    def to_typed_order(self) -> tuple[str, ...]:
        """Return the words with the arguments first, as a person types them."""
        is_program = self.rest is not None or self.command.dashes_are_words
        if is_program or any(one.startswith("-") for one in self.positionals):
            return self.to_words()
        words = [*self.name, *self.positionals]
        for flag, values in self.options:
            words += [flag, *values]
        return tuple(words)


@cache
def value_counts(command: Command) -> Mapping[str, int]:
    """Return the number of words that each option takes; 0 for a switch."""
    return {
        flag: 0 if is_switch(each) else each.word_count
        for each in (*option_parameters(command), *GLOBAL_OPTIONS)
        for flag in understood_flags(each)
    } | dict.fromkeys(HELP_FLAGS, 0)


def resolve_flag(command: Command, flag: str) -> str | None:
    """Return the command's own flag, or the role, that a spelling means; None if unknown."""
    known = value_counts(command)
    if flag in known:
        return flag
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", flag).lower().replace("_", "-")
    plain = plain if flag.startswith("--") else flag
    if plain in known:
        return plain
    if (command.name, plain) in _AMBIGUOUS:
        return None
    own = COMMAND_SPELLINGS.get(command.name, {})
    for other in (*own.get(plain, ()), *OPTION_SPELLINGS.get(plain, ())):
        if other.startswith("+") or other in known:
            return other
    if plain.startswith("--") and len(plain) >= _SHORTEST_PREFIX:
        fitting = [one for one in known if one.startswith(plain)]
        if len(fitting) == 1:
            return fitting[0]
    return None


def arrange_words(
    name: Sequence[str], command: Command, words: Sequence[str], rest: Sequence[str] | None
) -> ArrangedWords:
    """Separate a command's words before `--` into options with their values, and arguments."""
    options: list[tuple[str, tuple[str, ...]]] = []
    positionals: list[str] = []
    unknown: list[tuple[int, str]] = []
    lacking, is_changed = None, False
    left = deque(enumerate(words))
    while left:
        index, word = left.popleft()
        if not _is_option(command, word, is_first=not positionals):
            positionals.append(word)
            continue
        typed, is_joined, joined = word.partition("=")
        flag = resolve_flag(command, typed)
        if flag is None or (flag == "+args" and is_joined):
            unknown.append((index, word))
            positionals.append(word)
            continue
        if flag == "+args":  # everything behind it belongs to the program
            options.append((flag, tuple(text for _, text in left)))
            left.clear()
            is_changed = True
            break
        count = _count_values(command, flag)
        if is_joined and not count and joined.lower() not in {"", "true", "1", "yes"}:
            unknown.append((index, word))
            continue
        values = [joined] if is_joined and count else []
        is_changed |= flag != typed or bool(is_joined and count != 1)
        while len(values) < count and left:
            if len(values) == 1 and _lacks_expression(command, flag, left[0][1]):
                break
            values.append(left.popleft()[1])
        if len(values) < count and not (count > 1 and values and _is_place_option(command, flag)):
            lacking = flag
        options.append((flag, tuple(values)))
    return ArrangedWords(
        tuple(name), command, tuple(options), tuple(positionals),
        None if rest is None else tuple(rest), tuple(unknown), lacking, tuple(words), is_changed,
    )  # fmt: skip


def _count_values(command: Command, flag: str) -> int:
    if flag.startswith("+"):
        return 0 if flag in _SWITCH_ROLES else 1
    return value_counts(command)[flag]


def _is_place_option(command: Command, flag: str) -> bool:
    """Tell whether an option takes a location, and expressions which may be elsewhere."""
    return flag == "--at" and value_counts(command)[flag] > 1


def _lacks_expression(command: Command, flag: str, word: str) -> bool:
    """Tell whether the word behind `--at LOC` is an option, not its expressions."""
    if not _is_place_option(command, flag):
        return False
    # `-x` may be an expression; `--x` would decrement a variable.
    is_option = _is_option(command, word, is_first=False)
    return is_option and (
        word.startswith("--") or resolve_flag(command, word.partition("=")[0]) is not None
    )


def _is_option(command: Command, word: str, *, is_first: bool) -> bool:
    if len(word) == 1 or not word.startswith("-") or word == "--" or _NUMBER.match(word):
        return False
    if not command.dashes_are_words:
        return True
    typed = word.partition("=")[0]
    is_known = typed in value_counts(command) or resolve_flag(command, typed) is not None
    is_own_form = typed.startswith("--") or (is_first and typed in value_counts(command))
    if is_first and command.name == "watch" and typed == "-c":
        return True
    return is_known and is_own_form and _could_be_option(command, typed)


def _could_be_option(command: Command, typed: str) -> bool:
    """Tell `--if` from the expression `--count`, which decrements a variable."""
    if command.name == "raw" or typed in value_counts(command):
        return typed in value_counts(command)
    flag = resolve_flag(command, typed) or ""
    if command.name == "watch" and typed in {"--var", "--variable"}:
        return True
    return flag in {"--condition", "--format", "--thread"} or typed in {"--expr", "--expression"}


def correct_spelling(arranged: ArrangedWords) -> Correction | None:
    """Return the command with options that are near to unknown ones, or with `--` put in.

    None if nothing is known about an unknown option.
    """
    command = arranged.command
    commands = [one for one in (_replace_unknown(arranged), _separate_program(arranged)) if one]
    if not commands:
        return None
    reason = f"{command.name}: no option {arranged.unknown[0][1]}"
    if arranged.rest is None and runs_program(command):
        reason += "; what belongs to the program goes after --"
    return Correction(reason, tuple(commands))


def _replace_unknown(arranged: ArrangedWords) -> tuple[str, ...] | None:
    """Replace each unknown option by a near one; None if one has none."""
    given = list(arranged.given)
    for index, word in arranged.unknown:
        typed, is_joined, joined = word.partition("=")
        flag = _near_flag(arranged.command, typed)
        if flag is None:
            return None
        given[index] = f"{flag}={joined}" if is_joined else flag
    behind = () if arranged.rest is None else ("--", *arranged.rest)
    return (*arranged.name, *given, *behind)


def _near_flag(command: Command, typed: str) -> str | None:
    if (command.name, typed) in _AMBIGUOUS:
        return _AMBIGUOUS[command.name, typed]
    if typed.startswith("-") and not typed.startswith("--") and len(typed) > len("-x"):
        return resolve_flag(command, f"-{typed}")
    known = [flag for flag in value_counts(command) if flag.startswith("--")]
    roles = {*known, "+expression"} if runs_program(command) else {*known}
    spelled = [one for one in OPTION_SPELLINGS if resolve_flag(command, one) in roles]
    # Without the dashes, which make any two options look alike.
    names = {one[2:]: one for one in (*spelled, *known) if one.startswith("--")}
    plain = typed.lstrip("-")
    near = [one for one in names if len(plain) > len("ab") and one.startswith(plain)]
    near = near[:1] or get_close_matches(plain, names, n=1, cutoff=_NEAR)
    if not near:
        return None
    flag = resolve_flag(command, names[near[0]])
    return names[near[0]] if flag is None or flag.startswith("+") else flag


def runs_program(command: Command) -> bool:
    """Tell whether a command takes a program with arguments of its own behind `--`."""
    return command.name == "start" or _takes_command(command)


def _takes_command(command: Command) -> bool:
    """Tell whether everything behind `--` is a command, as for a question."""
    return any(each.name == "words" for each in command.parameters)


def _separate_program(arranged: ArrangedWords) -> tuple[str, ...] | None:
    """Put `--` before the program whose options are unknown here."""
    command = arranged.command
    first = arranged.unknown[0][0]
    before = arrange_words(arranged.name, command, arranged.given[:first], None)
    if arranged.rest and command.name == "test":  # the option of its runner
        return (*before.to_words(), "--", *arranged.rest, *arranged.given[first:])
    if arranged.rest is not None or not before.positionals or not runs_program(command):
        return None
    # Before `--` stay the question's own arguments, or the program of `start`.
    own = 1
    if _takes_command(command):
        own = [each.name for each in command.parameters].index("words")
    fixed = before.change(positionals=before.positionals[:own])
    behind = (*before.positionals[own:], *arranged.given[first:])
    if _takes_command(command):
        return (*fixed.to_words(), "--", *behind)
    return (*fixed.to_typed_order(), "--", *behind)
