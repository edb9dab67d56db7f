"""Corrects a session's command that is given a program: `print x --at f.py:5 -- python f.py`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from debugger.cli.reference import positional_parameters
from debugger.cli.translation.argument_order import (
    OPTION_SPELLINGS,
    ArrangedWords,
    Correction,
    runs_program,
)
from debugger.cli.translation.debugger_invocations import start_words
from debugger.cli.translation.location_spelling import (
    is_file_line,
    spell_location,
    split_condition,
)
from debugger.cli.translation.program_words import begins_program, find_program, split_command

Words = tuple[str, ...]
_VALUES: Final = frozenset({"print", "eval", "read", "vars"})
# These show what only a stop has.
_AT_A_STOP: Final = frozenset(
    {
        "locals", "args", "context", "backtrace", "source", "frame", "threads", "registers",
        "disassemble", "memory read", "next", "step", "finish", "continue", "up", "down", "call",
        "set", "write", "thread",
    }
)  # fmt: skip
# What a stack is looked at for, where no place is named.
_QUESTIONS_OF_STACKS: Final = {"backtrace": "crash", "threads": "hang"}
_PLACE_FLAGS: Final = frozenset(
    flag for flag, meanings in OPTION_SPELLINGS.items() if "+location" in meanings
)
_CONDITION_FLAGS: Final = frozenset(
    flag for flag, meanings in OPTION_SPELLINGS.items() if "--when" in meanings
)
_PLACE_WORDS: Final = frozenset({"at", "in", "on", "@"})
_CONDITION_WORDS: Final = frozenset({"if", "when", "where"})


def correct_session_program(arranged: ArrangedWords) -> Correction | None:
    """Suggest the question, or the session, for a session's command with a program."""
    command = arranged.command
    if runs_program(command) or command.name in {"raw", "input", "attach", "mcp", "try"}:
        return None
    if command.name in _AT_A_STOP and (opened := _correct_core(arranged)) is not None:
        return opened
    own, program = _split_program(arranged)
    place, condition, words = _take_location(own)
    is_value = command.name in _VALUES | {"watch"} and place is not None
    if program is None and not (is_value and _is_placed(own)):
        return None
    if program is not None and command.name == "until" and place is None and words:
        place, words = words[0], words[1:]
    cmd = program or ("CMD",)
    when = ("--when", condition) if condition else ()
    found = _suggest_commands(command.name, place, when, tuple(words), cmd)
    if found is None:
        return None
    return Correction(f"{command.name} takes no program: it is of a session", found)


def _correct_core(arranged: ArrangedWords) -> Correction | None:
    """Correct `backtrace --core core.1 ./app`."""
    words = [*arranged.given]
    if "--core" not in words[:-1]:
        return None
    at = words.index("--core")
    core, others = words[at + 1], [*words[:at], *words[at + 2 :], *(arranged.rest or ())]
    program = [one for one in others if begins_program([one])][:1] or ["PROGRAM"]
    crash = ("crash", "--core", core, *program)
    attach = ("attach", "--core", core, *program)
    return Correction("a core file is opened by a question", (crash, attach))


def _split_program(arranged: ArrangedWords) -> tuple[list[str], Words | None]:
    """Split the words as typed into the command's own and the program."""
    given, rest = list(arranged.given), arranged.rest
    if rest is not None and len(rest) == 1:
        rest = split_command(rest[0])
    if rest is not None:
        return (given, rest) if begins_program(rest) else ([*given, "--", *rest], None)
    for flag in ("--cmd", "--command", "--program"):
        if flag in given[:-1]:
            index = given.index(flag)
            behind = given[index + 1 :]
            program = split_command(behind[0]) if len(behind) == 1 else tuple(behind)
            return given[:index], program
    # Without `--` only a place that is named shows that a program follows.
    is_trace = arranged.command.name == "trace add"
    if not positional_parameters(arranged.command) and begins_program(given):
        return [], tuple(given)  # `backtrace ./app 3`
    at = find_program(given, first=1)
    is_path = at is not None and arranged.command.name == "breakpoint add" and given[at][:1] in "./"
    if at is None or not (is_trace or is_path or _is_placed(given[:at])):
        return given, None
    return given[:at], tuple(given[at:])


def _is_placed(words: Sequence[str]) -> bool:
    """Return whether the words name a line of a file behind `--at` or `at`."""
    behind = pairwise(words)
    return any(
        flag.partition("=")[0] in _PLACE_FLAGS | _PLACE_WORDS and is_file_line(word)
        for flag, word in behind
    )


def _take_location(words: Sequence[str]) -> tuple[str | None, str | None, list[str]]:
    """Take the location and the condition out of the words."""
    remaining, others = list(words), []
    place: str | None = None
    condition: str | None = None
    while remaining:
        word = remaining.pop(0)
        flag, is_joined, joined = word.partition("=")
        split = split_condition(word)
        if flag in _PLACE_FLAGS and (is_joined or remaining):
            place = spell_location(joined if is_joined else remaining.pop(0))
        elif word in _PLACE_WORDS and remaining and is_file_line(remaining[0]):
            place = spell_location(remaining.pop(0))
        elif flag in _CONDITION_FLAGS and flag.startswith("-") and (is_joined or remaining):
            condition = joined if is_joined else remaining.pop(0)
        elif word in _CONDITION_WORDS and place is not None and remaining:
            condition, remaining = " ".join(remaining), []
        elif split is not None and is_file_line(split[0]):
            place, condition = split
        elif is_file_line(word) and place is None:
            place = spell_location(word)
        elif flag not in {
            "--expr",
            "-e",
            "--expression",
            "--var",
            "--function",
            "--func",
            "--name",
        }:
            others.append(word)
        elif is_joined:
            others.append(joined)
    return place, condition, others


def _suggest_commands(  # noqa: C901, PLR0911 - one for each kind
    name: str, place: str | None, when: Words, words: Words, program: Words
) -> tuple[Words, ...] | None:
    text = " ".join(words) or "EXPR"
    behind = ("--", *program)
    where = place or "LOC"
    if name in _VALUES:
        if name in {"print", "read", "vars"} and all(map(_is_name, words)):
            text = ", ".join(words) or "EXPR"
        return (("probe", "--at", where, text, *when, *behind),)
    if name == "watch":
        return (("who-wrote", text, "--at", where, *when, *behind),)
    if name == "call":
        return (("calls", words[0] if words else "FUNCTION", *when, *words[1:], *behind),)
    if name == "trace add":
        function = place or (words[0] if words else None)
        if function is None:
            return (("path", *behind),)
        values = words if place else words[1:]
        if is_file_line(function) and values:  # `trace f.c:30 n`
            return (("probe", "--at", function, " ".join(values), *when, *behind),)
        return (("calls", function, *behind), ("path", "--around", function, *behind))
    if name == "log":
        named = re.findall(r"\{([^{}]+)\}", text)
        return (("probe", "--at", where, ", ".join(named) or "EXPR", *when, *behind),)
    if name in {"catch", "exception"}:
        return (("crash", *(("--raised",) if name == "catch" else ()), *behind),)
    if name in {"breakpoint add", "until"}:
        where = place or (words[0] if words else "LOC")
        return (_start_at(where, when, program),)
    if name not in _AT_A_STOP:
        return None
    stopped = (_start_at(where, when, program), (*name.split(), *words))
    if place is None and name in _QUESTIONS_OF_STACKS:
        return (_QUESTIONS_OF_STACKS[name], *behind), *stopped
    return stopped


def _is_name(word: str) -> bool:
    return re.fullmatch(r"[\w.\[\]]+", word) is not None


def _start_at(place: str, when: Words, program: Words) -> Words:
    where = f"{place} if {when[1]}" if when else place
    return start_words(program, ("--break", where)) if program != ("CMD",) else (
        "start", "PROGRAM", "--break", where
    )  # fmt: skip
