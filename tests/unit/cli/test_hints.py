"""Every command that a hint names exists, and takes the options that the hint gives it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import hint_situations as situations
from debugger.cli import commands, parser
from debugger.cli.reference import GLOBAL_OPTIONS, command_paths, option_flags, option_parameters
from debugger.errors import DebuggerError
from debugger.model.command_registry import COMMANDS
from hint_texts import COMMAND, PLACEHOLDER, collect_hints, commands_in

LOCAL = {"completion", "--help", "--version"}


def named_commands() -> Iterator[tuple[str, str]]:
    for path, line, text in collect_hints():
        for named in COMMAND.findall(text):
            yield f"{path}:{line}", named


def fault(named: str) -> str | None:
    """Say what is wrong with a command as a hint names it: what follows its name may be prose."""
    commands.register_all()
    known = command_paths(COMMANDS)
    words = named.split()
    if words[:1] and words[0] in {"--budget", "--session"}:
        words = words[2:]
    if not words or words[0] in LOCAL or words[0] in {"X", "COMMAND"}:
        return None
    sizes = [size for size in (3, 2, 1) if tuple(words[:size]) in known]
    if not sizes:
        is_group = any(path[: len(words[:1])] == tuple(words[:1]) for path in known)
        return None if is_group else f"no command {words[0]!r}"
    command = known[tuple(words[: sizes[0]])]
    every = (*option_parameters(command), *GLOBAL_OPTIONS)
    taken = {flag for one in every for flag in option_flags(one)} | {"--help", "--"}
    given = words[: words.index("--")] if "--" in words else words
    unknown = [one for one in given if one.startswith("--") and one not in taken]
    return f"{command.name} takes no {unknown[0]}" if unknown else None


def test_every_hint_names_a_command_that_exists_with_options_that_it_takes() -> None:
    found = list(named_commands())
    assert len(found) > 200
    wrong = [
        f"{where}: debugger {named}: {what}" for where, named in found if (what := fault(named))
    ]
    assert wrong == []


# What may stand in place of a verb that a hint takes from the command that failed.
VERBS = ("crash", "start", "path", "probe", "who-wrote", "attach", "step", "hang")
NUMBERS = dict.fromkeys(("X", "N", "PID", "ID"), "1")


def misread(hint: str) -> Iterator[str]:
    """Yield what the command line says of a hint's commands that it does not understand."""
    for named in commands_in(hint):
        words = shlex.split(named)
        # `…` stands for the rest of the command that failed; help is asked for without arguments.
        if "…" in words or words[-1] == "--help":
            continue
        for given in (words, [NUMBERS.get(one, one) for one in words]):
            try:
                parser.parse_argv(given, COMMANDS)
            except DebuggerError as error:
                said = f"debugger {named}: {error.message}"
            else:
                break
        else:
            yield said


def test_every_hints_command_is_understood_with_its_arguments_as_it_is_written() -> None:
    commands.register_all()
    wrong = []
    for path, line, text in collect_hints():
        verbs = VERBS if re.search(r"\bdebugger X\b", text) else ("X",)
        read = [list(misread(re.sub(r"\bdebugger X\b", f"debugger {one}", text))) for one in verbs]
        wrong += [f"{path}:{line}: {said[0]}" for said in read[:1] if all(read)]
    assert wrong == []
    assert list(misread("debugger jump; debugger locals")) == ["debugger jump: jump needs LOC"]


def expected_hints() -> Iterator[str]:
    by_adapter = (*situations.BY_ADAPTER.values(), *situations.BY_ADAPTER_RUNNING.values())
    states = (situations.STOPPED, situations.NATIVE, situations.RUNNING, situations.ENDED)
    others = (situations.NONE, situations.QUESTIONS, situations.BEGINNINGS)
    for table in (*states, *others, *by_adapter):
        yield from table.values()


def has_situation(path: str, text: str, expected: list[str]) -> bool:
    """Return whether a hint is expected in some situation, or has a reason to be in none."""
    pattern = ".*".join(re.escape(part) for part in text.split(PLACEHOLDER))
    is_met = any(one in text or re.fullmatch(pattern, one) for one in expected)
    return is_met or any(f"{path}: {text}".startswith(one) for one in situations.REASONS)


def test_every_hint_that_names_a_command_is_met_in_a_situation_or_says_why_not() -> None:
    expected = list(expected_hints())
    missing = [
        f"{path}:{line}: {text}"
        for path, line, text in collect_hints()
        if "debugger " in text and not has_situation(path, text, expected)
    ]
    assert missing == []
    assert not has_situation("session/selection.py", "debugger frobnicate", expected)


def test_every_reason_is_for_a_hint_that_exists() -> None:
    every = [f"{path}: {text}" for path, _, text in collect_hints()]
    unused = [one for one in situations.REASONS if not any(x.startswith(one) for x in every)]
    assert unused == []


def test_every_reason_names_a_test_that_exists() -> None:
    root = Path(situations.__file__).parents[1]
    tests = [reason.split()[-1] for reason in situations.REASONS.values()]
    assert [one for one in tests if not (root / one).is_file()] == []


def test_a_wrong_hint_is_found() -> None:
    assert fault("frobnicate the session") == "no command 'frobnicate'"
    assert fault("stop --hard") == "stop takes no --hard"
    assert fault("breakpoint list shows them") is None
