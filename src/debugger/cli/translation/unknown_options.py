"""Corrects options that a command does not have: near names, and options of the program."""

from __future__ import annotations

import re
from dataclasses import replace
from difflib import get_close_matches
from typing import Final

from debugger.cli.reference import positional_parameters
from debugger.cli.translation.argument_order import (
    AMBIGUOUS_FLAGS,
    OPTION_SPELLINGS,
    ArrangedWords,
    Correction,
    arrange_words,
    resolve_flag,
    runs_program,
    takes_command,
    value_counts,
)
from debugger.cli.translation.debugger_invocations import parse_native, start_words
from debugger.cli.translation.program_words import find_program
from debugger.cli.translation.question_phrases import correct_return_flag
from debugger.cli.translation.run_order import TEST_FILE
from debugger.cli.translation.start_order import separate_launcher
from debugger.model.command_registry import Command

_LOGPOINT: Final = re.compile(r"(?P<place>[^\s:]+:\d+)[\s:,]*(?P<text>.*)\Z")
_NEAR: Final = 0.75
_OF_PROGRAM: Final = "what belongs to the program goes after --"
_OF_JAVA: Final = frozenset({"-cp", "-classpath", "--class-path", "-jar"})
_ADAPTERS: Final = frozenset({"--gdb", "--lldb", "--delve", "--debugpy", "--frida"})
# Options of other questions, which no runner of tests has.
_OF_GROUPS: Final = frozenset({"--group", "--members"})
_NAMES_PROGRAM: Final = frozenset({"+program", "+command", "--pid", "--core", "--config"})


def correct_spelling(arranged: ArrangedWords) -> Correction | None:
    """Return the command with near options, with `--` put in, or without the unknown ones."""
    command = arranged.command
    special = (
        correct_return_flag(arranged)
        or _correct_log(arranged)
        or _correct_start(arranged)
        or _correct_group_of_tests(arranged)
    )
    if special is not None:
        return special
    separated = _separate_program(arranged)
    first = arranged.unknown[0][0]
    is_behind = (
        takes_command(command)
        and separated is not None
        and find_program(arranged.given[:first], first=0) is not None
    )
    # Behind the program it is an option of the program.
    near = None if is_behind else _replace_unknown(arranged)
    commands = [one for one in (near, separated) if one]
    has_command = "+command" in {flag for flag, _ in arranged.options}
    if not commands and command.name == "test" and arranged.rest is None and not has_command:
        commands = [(*arranged.name, "--", "pytest", *arranged.given)]
    if not commands and (dropped := _drop_unknown(arranged)) is not None:
        commands = [dropped]
    if not commands:
        return None
    reason = f"{command.name}: no option {arranged.unknown[0][1]}"
    if arranged.rest is None and runs_program(command):
        reason += f"; {_OF_PROGRAM}"
    return Correction(reason, tuple(commands))


def _correct_start(arranged: ArrangedWords) -> Correction | None:
    """Correct the options of a launcher, of a JVM, and of a native debugger behind `start`."""
    given, (at, typed) = arranged.given, arranged.unknown[0]
    if arranged.command.name != "start":
        return None
    if (launched := separate_launcher(arranged)) is not None:
        return launched
    if typed in _OF_JAVA and arranged.rest is None:
        return Correction("start takes a program", (("start", "--", "java", *given),))
    if typed in _ADAPTERS and len(given) > 1:
        others = (*given[:at], *given[at + 1 :])
        rest = () if arranged.rest is None else ("--", *arranged.rest)
        chosen = ("start", *others, "--adapter", typed.lstrip("-"), *rest)
        return Correction("the debugger is --adapter", (chosen,))
    if typed not in {"-ex", "-iex"}:
        return None
    end = next((i for i in range(at, len(given), 2) if given[i][-2:] != "ex"), len(given))
    line = (*given[at:end], "--args", *given[:at], *given[end:], *(arranged.rest or ()))
    return parse_native(line, (), is_lldb=False).correction("commands follow start")


def _correct_group_of_tests(arranged: ArrangedWords) -> Correction | None:
    """Suggest `test` without the options of a group: it explains a failure in its own worker."""
    at, typed = arranged.unknown[0]
    given, flag = list(arranged.given), typed.partition("=")[0]
    if arranged.command.name != "test" or flag not in _OF_GROUPS:
        return None
    del given[at : at + 1 + (typed == "--members")]  # whose value is the next word
    if not given and arranged.rest is None:
        return None
    is_file = bool(given) and TEST_FILE.match(given[0]) is not None
    words = ("--", *(["pytest"] if is_file else []), *given)
    if arranged.rest is not None:
        words = (*given, "--", *arranged.rest)
    return Correction(f"test: no option {typed}", ((*arranged.name, *words),))


def _correct_log(arranged: ArrangedWords) -> Correction | None:
    """Suggest `probe` for `start ./app --log f.c:3:x`, and what was written for `--log` alone."""
    index, word = arranged.unknown[0]
    flag, _, joined = word.partition("=")
    if arranged.command.name != "start" or flag not in {"--log", "--logpoint", "--log-at"}:
        return None
    value = joined or " ".join(arranged.given[index + 1 : index + 2])
    program = [one for one in arranged.positionals if one not in {word, value}]
    program += arranged.rest or ()
    if not program:
        return None
    if (placed := _LOGPOINT.match(value)) is None:
        begin = start_words((*program, word, *value.split())) if value else start_words(program)
        return Correction("start: no option --log", (begin, ("output",), ("daemon", "logs")))
    named = re.findall(r"\{([^{}]+)\}", placed["text"]) or [placed["text"] or "EXPR"]
    probe = ("probe", "--at", placed["place"], ", ".join(named), "--", *program)
    return Correction("values at a line are logged by probe", (probe,))


def correct_lacking(arranged: ArrangedWords) -> Correction | None:
    """Suggest the command without its last option, which lacks a value: `output --tail`."""
    flag = arranged.lacking or ""
    if flag.startswith("+") or not arranged.given[-1:] or not arranged.given[-1].startswith("-"):
        return None
    if runs_program(arranged.command) and not arranged.positionals:
        return None  # the program was its value: the help tells more
    needs = f"{arranged.command.name}: {arranged.given[-1]} needs a value"
    without = arranged.change(without=(flag,), add=[
        one for one in arranged.options if one[0] == flag and one[1]
    ])  # fmt: skip
    return Correction(needs, (without.to_typed_order(),))


def drop_roles(arranged: ArrangedWords) -> Correction | None:
    """Suggest a command without the options that only other commands have: `path --file F`."""
    roles = [flag for flag, _ in arranged.options if flag.startswith("+")]
    if not roles:
        return None
    typed = next(
        (one for one in arranged.given if resolve_flag(arranged.command, one) in roles), roles[0]
    )
    given, reason = arranged.given, f"{arranged.command.name}: no option {typed}"
    at = given.index(typed) if typed in given else 0
    program = find_program(given, first=0) if takes_command(arranged.command) else None
    if program is not None and program < at:  # it is the program's: `hang mpirun -n 2 ./app`
        of_program = replace(arranged, unknown=((at, typed),))
        if (separated := _separate_program(of_program)) is not None:
            return Correction(f"{reason}; {_OF_PROGRAM}", (separated,))
    skipped = [one for one in arranged.role_values("+ignore") if one.isdecimal()]
    # The first hit behind those that are skipped.
    nth = [("--nth", (str(int(skipped[0]) + 1),))] if skipped else []
    without = arranged.change(without=roles, add=nth)
    return Correction(reason, (without.to_typed_order(),))


def _drop_unknown(arranged: ArrangedWords) -> tuple[str, ...] | None:
    """Return the command without the options that it does not have, and without their values."""
    given = arranged.given
    dropped = {index for index, _ in arranged.unknown}
    needed = sum(each.is_required for each in positional_parameters(arranged.command))
    spare = len(arranged.positionals) - len(dropped) - needed
    for index, word in arranged.unknown:
        following = given[index + 1 : index + 2]
        if spare > 0 and "=" not in word and following and not following[0].startswith("-"):
            dropped.add(index + 1)
            spare -= 1
    remaining = [one for index, one in enumerate(given) if index not in dropped]
    has_program = arranged.rest or any(flag in _NAMES_PROGRAM for flag, _ in arranged.options)
    if runs_program(arranged.command) and not has_program and spare <= 0:
        return None  # it may have named the program
    behind = () if arranged.rest is None else ("--", *arranged.rest)
    is_listing = not positional_parameters(arranged.command) and len(given) == 1
    if not remaining and not behind and not is_listing:
        return None  # nothing is left: the help tells more
    return (*arranged.name, *remaining, *behind)


def _replace_unknown(arranged: ArrangedWords) -> tuple[str, ...] | None:
    """Replace each unknown option by a near one; None if one has none."""
    given = list(arranged.given)
    for index, word in arranged.unknown:
        typed, is_joined, joined = word.partition("=")
        flag = _near_flag(arranged.command, typed)
        following = given[index + 1 : index + 2]
        lacks_value = not is_joined and (not following or following[0].startswith("--"))
        if flag is None or (lacks_value and value_counts(arranged.command).get(flag) != 0):
            return None
        given[index] = f"{flag}={joined}" if is_joined else flag
    behind = () if arranged.rest is None else ("--", *arranged.rest)
    return (*arranged.name, *given, *behind)


def _near_flag(command: Command, typed: str) -> str | None:
    if (command.name, typed) in AMBIGUOUS_FLAGS:
        return AMBIGUOUS_FLAGS[command.name, typed]
    if typed.startswith("-") and not typed.startswith("--") and len(typed) > len("-x"):
        flag = resolve_flag(command, f"-{typed}")
        return f"-{typed}" if (flag or "").startswith("+") else flag
    known = [flag for flag in value_counts(command) if flag.startswith("--")]
    roles = {*known, "+expression"} if runs_program(command) else {*known}
    spelled = [one for one in OPTION_SPELLINGS if resolve_flag(command, one) in roles]
    # Without the dashes, which make any two options look alike.
    names = {one[2:]: one for one in (*spelled, *known) if one.startswith("--")}
    plain = typed.lstrip("-")
    names = {name: one for name, one in names.items() if name != f"no-{plain}"}  # the opposite
    known = [one for one in known if one != f"--no-{plain}"]
    near = [one for one in names if len(plain) > len("ab") and one.startswith(plain)]
    if plain != "env-file":  # which names a file, and `--env` does not
        near = near or [one for one in names if plain.startswith(f"{one}-")]
    near = near or [one for one in (flag[2:] for flag in known) if plain.endswith(f"-{one}")]
    near = near[:1] or get_close_matches(plain, names, n=1, cutoff=_NEAR)
    if not near:
        return None
    flag = resolve_flag(command, names[near[0]])
    return names[near[0]] if flag is None or flag.startswith("+") else flag


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
    if takes_command(command):
        own = [each.name for each in command.parameters].index("words")
    fixed = before.change(positionals=before.positionals[:own])
    behind = (*before.positionals[own:], *arranged.given[first:])
    if takes_command(command):
        is_file = command.name == "test" and (match := TEST_FILE.match(behind[0]))
        runner = ("pytest",) if is_file and match and match["extension"] == "py" else ()
        return (*fixed.to_words(), "--", *runner, *behind)
    return (*fixed.to_typed_order(), "--", *behind)
