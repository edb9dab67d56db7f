"""Corrects arguments that a command does not take: filler words, options without dashes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from debugger.cli.reference import option_parameters, positional_parameters, takes_many
from debugger.cli.translation.argument_order import (
    ArrangedWords,
    Correction,
    resolve_flag,
    runs_program,
    value_counts,
)

_FILLERS: Final = frozenset(
    {
        "a", "as", "at", "by", "for", "from", "function", "in", "line", "of", "on", "pid",
        "process", "session", "the", "thread", "threads", "times", "to", "frames", "breakpoint",
        "breakpoints", "lines", "steps", "all", "second", "seconds", "secs", "sec", "sessions",
    }
)  # fmt: skip
# Roles whose value is the argument itself where a command takes one: `up --count 2`.
_ARGUMENT_ROLES: Final = frozenset(
    {"+count", "+location", "+function", "+address", "+text", "+expression", "+pid", "+argument"}
)
_SECONDS: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(s|sec|secs|seconds|ms|m|min|h)?\Z")
_UNIT_SECONDS: Final[Mapping[str, float]] = {"ms": 0.001, "m": 60, "min": 60, "h": 3600}
# These are understood where they stand.
_UNDERSTOOD: Final = frozenset(
    {
        ("breakpoint add", "if"),
        ("breakpoint add", "thread"),
        ("who-wrote", "at"),
        ("why", "in"),
        ("why", "before"),
        ("who-wrote", "before"),
        ("who-wrote", "in"),
    }
    | {(name, "if") for name in ("probe", "diff", "calls", "until", "log")}
)
_LONGEST_OPTION_WORD: Final = 10
# Words that are hardly an expression; `name`, `count` and `line` are, in many programs.
_NO_EXPRESSIONS: Final = frozenset(
    {"at", "if", "when", "where", "condition", "nth", "timeout", "after", "until", "adapter"}
)
# A name that these commands do not take is likely the argument of another one.
_OTHER_COMMANDS: Final[Mapping[str, tuple[str, ...]]] = {
    "locals": ("print",),
    "args": ("print",),
    "exception": ("print",),
    "context": ("backtrace",),
    "threads": ("thread",),
}
_OF_THE_SELECTED: Final = frozenset(
    {
        "print", "eval", "args", "set", "source", "registers", "context", "read", "exception",
        "watch", "locals", "next", "step", "finish", "up", "down", "disassemble",
    }
)  # fmt: skip
_SELECTIONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("--frame", "--frame-id", "--frame-index", "--level"), "frame"),
    **dict.fromkeys(("--thread", "--thread-id", "--tid", "--goroutine"), "thread"),
}
_MEMBER_FLAGS: Final = frozenset({"--members", "--member", "--rank", "--ranks"})
# The option that an argument stands for, of a command without arguments.
_FIRST_OPTIONS: Final[Mapping[str, str]] = {
    "events": "--kind",
    "stop": "--session",
    "status": "--session",
    "output": "--tail",
    "await": "--timeout",
    "back-continue": "--to",
}
# The same, of a number.
_FIRST_NUMBERS: Final[Mapping[str, str]] = {
    **_FIRST_OPTIONS, "events": "--limit", "context": "--context"
}  # fmt: skip


def take_argument_roles(arranged: ArrangedWords) -> ArrangedWords:
    """Take `--count 2` and `--id 3` for the argument, where the command has no such option."""
    roles = [flag for flag, _ in arranged.options if flag in _ARGUMENT_ROLES]
    if not roles or not positional_parameters(arranged.command):
        return arranged
    values = [value for role in dict.fromkeys(roles) for value in arranged.role_values(role)]
    return arranged.change(without=roles, positionals=(*values, *arranged.positionals))


_OF_STACKS: Final = frozenset({"backtrace", "threads"})


def convert_seconds(arranged: ArrangedWords) -> ArrangedWords:
    """Turn `--timeout 10s` into `--timeout 10`."""
    kinds = {
        flag: float in (each.value_type, each.type) or each.value_type is float
        for each in option_parameters(arranged.command)
        for flag in each.about.flags  # type: ignore[union-attr] # an option's
    }
    options = []
    for flag, values in arranged.options:
        match = _SECONDS.match(values[0]) if values and kinds.get(flag) else None
        if match is None or match[2] is None:
            options.append((flag, values))
        else:
            seconds = float(match[1]) * _UNIT_SECONDS.get(match[2], 1)
            options.append((flag, (f"{seconds:g}",)))
    if tuple(options) == arranged.options:
        return arranged
    return arranged.change(without=[flag for flag, _ in arranged.options], add=options)


def correct_option_words(arranged: ArrangedWords) -> Correction | None:
    """Suggest `--when COND` for `when COND`, where the word is no argument."""
    command = arranged.command
    is_program = runs_program(command) and arranged.rest is None
    if command.dashes_are_words or is_program or command.name in {"log", "raw", "input"}:
        return None
    words = list(arranged.positionals)
    # A process is a number; without arguments of its own, words before `--` would be the program.
    has_own = bool(positional_parameters(command)) and command.name not in {"probe", "attach"}
    first = 1 if has_own and not _takes_words_alone(arranged) else 0
    for index, word in enumerate(words[:-1]):
        is_apart = arranged.rest is not None and word in {"when", "where"}
        if is_apart or ((command.name, word) in _UNDERSTOOD and word == "if"):
            return None  # what follows is the condition
        if (
            (command.name, word) in _UNDERSTOOD
            or index < first
            or not word.replace("-", "").isalpha()
            or len(word) > _LONGEST_OPTION_WORD
            or (command.name == "probe" and _is_expression(word, words[index + 1]))
        ):
            continue
        flag = resolve_flag(command, f"--{word}")
        if flag is None or flag.startswith("+") or value_counts(command)[flag] == 0:
            continue
        count = 1 if command.name == "probe" else value_counts(command)[flag]
        values = tuple(words[index + 1 : index + 1 + count])
        behind = words[index + 1 + count :]
        if command.name == "breakpoint add" and flag in {"--condition", "--when"}:
            values, behind = (" ".join((*values, *behind)),), []
        fixed = arranged.change(positionals=(*words[:index], *behind), add=[(flag, values)])
        return Correction(f"{word} is an option: {flag}", (fixed.to_typed_order(),))
    return None


def _takes_words_alone(arranged: ArrangedWords) -> bool:
    """Return whether the program, which stands behind `--`, is all that a question takes."""
    taken = positional_parameters(arranged.command)
    return arranged.rest is not None and [one.name for one in taken] == ["words"]


def _is_expression(word: str, following: str) -> bool:
    """Return whether a word of `probe` is rather a value of the program than an option's name."""
    return word not in _NO_EXPRESSIONS and not following.isdecimal()


def correct_extra_arguments(arranged: ArrangedWords) -> Correction | None:  # noqa: PLR0911 - one for each form
    """Correct a command with more arguments than it takes."""
    command, words = arranged.command, arranged.positionals
    taken = positional_parameters(command)
    if any(takes_many(each) for each in taken):
        return _correct_all(arranged)
    if len(words) <= len(taken) or arranged.rest is not None:
        return _correct_all(arranged)
    noun = "argument" if len(taken) == 1 else "arguments"
    reason = f"{command.name} takes {len(taken) or 'no'} {noun}, not {len(words)}"
    remaining = [one for one in words if one not in _FILLERS]
    options = _FIRST_NUMBERS if "".join(remaining).isdecimal() else _FIRST_OPTIONS
    is_gdbs = arranged.name == ("where",)  # gdb's name of `backtrace`
    if command.name in options and len(remaining) == 1 and not is_gdbs:
        fixed = arranged.change(positionals=(), add=[(options[command.name], tuple(remaining))])
        return Correction(reason, (fixed.to_typed_order(),))
    if command.name in _OTHER_COMMANDS:
        is_frame = command.name in {"locals", "args"} and words[0].isdecimal() and len(words) == 1
        other = (*_OTHER_COMMANDS[command.name], *words)
        in_frame = (("frame", *words), (command.name,))
        return Correction(reason, in_frame if is_frame else (other, arranged.name))
    if "all" in words and "--all" in value_counts(command) and not taken:
        return Correction(
            reason, (arranged.change(positionals=(), add=[("--all", ())]).to_words(),)
        )
    if command.name == "memory read" and len(remaining) == len(("from", "to")):
        remaining = _count_bytes(*remaining)
    added = [("--all", ())] if "all" in words and "--all" in value_counts(command) else []
    numbers = [one for one in remaining[len(taken) :] if one.isdecimal()]
    if numbers and "--count" in value_counts(command) and len(remaining) == len(taken) + 1:
        added.append(("--count", (numbers[0],)))  # type: ignore[arg-type] # of one word
        remaining = remaining[: len(taken)]
    if len(remaining) > len(taken):
        return None if taken else Correction(reason, (arranged.name,))
    return Correction(reason, (arranged.change(positionals=remaining, add=added).to_typed_order(),))


def correct_selection(arranged: ArrangedWords) -> Correction | None:
    """Suggest `frame 2`, `thread 2` or `focus 2` before a command of the selected one."""
    words = arranged.given
    for at, word in enumerate(words):
        flag, is_joined, joined = word.partition("=")
        chosen = joined if is_joined else "".join(words[at + 1 : at + 2])
        remaining = (*words[:at], *words[at + (1 if is_joined else 2) :])
        if flag in {"--pid", "-p"} and chosen.isdecimal() and _is_of_a_stop(arranged, flag):
            reason = f"{arranged.command.name} is of a session"
            attach = ("attach", chosen, "--pause")
            stacks = (("hang", "--pid", chosen),) * (arranged.command.name in _OF_STACKS)
            return Correction(reason, (*stacks, attach, (*arranged.name, *remaining)))
        selects = _SELECTIONS.get(flag)
        if selects is not None and chosen.isdecimal():
            if arranged.command.name not in _OF_THE_SELECTED or _has_option(arranged, selects):
                continue
            reason = f"{arranged.command.name} is of the selected {selects}"
            return Correction(reason, ((selects, chosen), (*arranged.name, *remaining)))
        if flag in _MEMBER_FLAGS and _is_of_one_member(arranged) and chosen:
            reason = f"{arranged.command.name} is of one member, the one in focus"
            return Correction(reason, (("focus", chosen), (*arranged.name, *remaining)))
        if flag in _MEMBER_FLAGS and flag != "--members" and arranged.command.dashes_are_words:
            reason = f"{arranged.command.name}: no option {flag}"
            return Correction(reason, ((*arranged.name, *remaining, "--members", chosen),))
    return None


def _is_of_a_stop(arranged: ArrangedWords, flag: str) -> bool:
    """Return whether a command shows a stopped program, and the flag is no operator before it."""
    is_text = arranged.command.dashes_are_words and flag == "-p"
    is_other = runs_program(arranged.command) or arranged.command.name == "attach"
    return not (is_text or is_other or _has_option(arranged, "pid"))


def _is_of_one_member(arranged: ArrangedWords) -> bool:
    """Return whether a command of a session has no form for a group's members."""
    return not (runs_program(arranged.command) or _has_option(arranged, "members"))


def _has_option(arranged: ArrangedWords, name: str) -> bool:
    return f"--{name}" in value_counts(arranged.command)


def _count_bytes(start: str, end: str) -> list[str]:
    """Turn the end of a range of addresses into a number of bytes."""
    try:
        first, last = int(start, 0), int(end, 0)
    except ValueError:
        return [start, end]
    return [start, str(last - first if last > first else last)]


def _correct_all(arranged: ArrangedWords) -> Correction | None:
    """Suggest `--all` for `breakpoint remove all`, and drop the kind before the IDs."""
    command, words = arranged.command, arranged.positionals
    if command.name.split()[-1] != "remove" or not words or words[0].isdecimal():
        return None
    if words[0] == "all" and "--all" in value_counts(command):
        fixed = arranged.change(positionals=(), add=[("--all", ())])
        return Correction("all is an option", (fixed.to_typed_order(),))
    remaining = [one for one in words if one not in _FILLERS and one not in {"bp", "watchpoint"}]
    if remaining and len(remaining) < len(words):
        fixed = arranged.change(positionals=remaining)
        return Correction("which IDs?", (fixed.to_typed_order(),))
    return None
