"""Command lines of other debuggers' users are understood, or refused with the corrected command."""

from __future__ import annotations

import functools
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from debugger.cli import command_help, commands, parser
from debugger.cli.reference import command_paths
from debugger.cli.translation.foreign_commands import (
    ALONE_COMMANDS,
    CORRECTED_COMMANDS,
    EXACT_COMMANDS,
)
from debugger.errors import DebuggerError
from debugger.model.command_registry import COMMANDS

CORPUS = Path(__file__).parents[2] / "corpus" / "command_lines.txt"
LEAST_LINES = 400
LEAST_SHARE = 0.95
MOST_GENERIC = 0.02


@dataclass(frozen=True)
class CorpusLine:
    """A line of the corpus: what is typed, how it is to be taken, as which command."""

    number: int
    typed: str
    sign: str  # =>, ~> or ?
    command: str


def read_corpus(path: Path) -> list[CorpusLine]:
    found = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.endswith(" ?"):
            found.append(CorpusLine(number, line[:-2], "?", ""))
            continue
        sign = "=>" if " => " in line else "~>"
        typed, _, command = line.partition(f" {sign} ")
        assert command, f"{path.name}:{number}: no reading"
        found.append(CorpusLine(number, typed, sign, command))
    return found


def parse_line(text: str) -> tuple[Any, ...]:
    """Return what the parser makes of a command line."""
    found = parse_or_refuse(text)
    if isinstance(found, DebuggerError):
        raise found
    return found


@functools.cache
def parse_or_refuse(text: str) -> tuple[Any, ...] | DebuggerError:
    """Parse a command line once for all tests: most are readings of several others."""
    try:
        found = parser.parse_argv(shlex.split(text), COMMANDS)
    except DebuggerError as error:
        return error
    args = {name: value for name, value in found.args.items() if value not in {False, None}}
    return found.command.name, args, found.session, found.is_json, found.budget, found.host


def hinted_commands(hint: str) -> list[str]:
    lexer = shlex.shlex(hint, posix=False, punctuation_chars=";")
    lexer.whitespace_split = True
    found: list[list[str]] = [[]]
    for word in lexer:
        if word == ";":
            found.append([])
        else:
            found[-1].append(word)
    return [" ".join(words[1:]) for words in found if words[:1] == ["debugger"]]


def is_parsed(text: str) -> bool:
    if text == "--version":
        return True
    if shlex.split(text)[-1] == "--help":
        return bool(command_help.help_text(shlex.split(text), COMMANDS))
    return bool(parse_line(text))


def judge_line(line: CorpusLine) -> str:
    """Return "" for a line that is taken as it should be, else what was made of it."""
    try:
        found = parse_line(line.typed)
    except DebuggerError as error:
        hint = str(error.hint)
        corrected = [] if line.sign == "?" else hinted_commands(hint)
        if line.sign == "?":
            return ""
        if line.sign == "=>" or not corrected:
            return f"refused: {error.message} | {hint}"
        wanted = line.command.split("; ")[0]
        if {wanted.split()[-1], corrected[0].split()[-1]} & {"--help", "--version"}:
            return "" if corrected[0] == wanted else f"another correction: {hint}"
        is_right = parse_line(corrected[0]) == parse_line(wanted)
        return "" if is_right else f"another correction: {hint}"
    if line.sign == "=>" and found == parse_line(line.command):
        return ""
    return f"MISREAD as {found[0]} {found[1]}"


@pytest.fixture(scope="module", autouse=True)
def registered() -> None:
    commands.register_all()


@pytest.fixture(scope="module")
def corpus() -> list[CorpusLine]:
    return read_corpus(CORPUS)


def test_the_corpus_is_large_and_nearly_every_line_has_a_reading(corpus: list[CorpusLine]) -> None:
    assert len(corpus) >= LEAST_LINES
    assert sum(line.sign == "?" for line in corpus) <= MOST_GENERIC * len(corpus)
    assert len({line.typed for line in corpus}) == len(corpus)


def test_every_reading_is_a_command_that_parses(corpus: list[CorpusLine]) -> None:
    for line in corpus:
        for command in line.command.split("; ") if line.command else ():
            assert is_parsed(command), f"{line.number}: {command}"


def test_command_lines_are_understood_or_rightly_corrected(corpus: list[CorpusLine]) -> None:
    wrong = {
        f"{line.number}: {line.typed} {line.sign} {line.command}": said
        for line in corpus
        if (said := judge_line(line))
    }
    assert {text: said for text, said in wrong.items() if said.startswith("MISREAD")} == {}
    assert len(wrong) <= (1 - LEAST_SHARE) * len(corpus), wrong


def test_every_corrected_command_parses(corpus: list[CorpusLine]) -> None:
    for line in corpus:
        try:
            parse_line(line.typed)
        except DebuggerError as error:
            if line.sign == "~>":
                for command in hinted_commands(str(error.hint)):
                    assert is_parsed(command), f"{line.number}: {command}"


TABLES = (EXACT_COMMANDS, CORRECTED_COMMANDS, ALONE_COMMANDS)
LOCAL_WORDS = (["--help"], ["--version"], ["{}", "--help"])


def test_each_entry_of_the_tables_names_a_command_of_ours() -> None:
    paths = command_paths(COMMANDS)
    for table in TABLES:
        for key, templates in table.items():
            for template in templates.split("; "):
                words = shlex.split(template)
                is_known = any(tuple(words[:size]) in paths for size in (1, 2))
                assert is_known or words in LOCAL_WORDS, f"{key}: {template}"


def test_no_entry_of_the_tables_hides_a_command_of_ours() -> None:
    paths = {" ".join(path) for path in command_paths(COMMANDS)}
    hidden = {key for table in (EXACT_COMMANDS, CORRECTED_COMMANDS) for key in table} & paths
    assert hidden == set()


OWN_LINES = [
    "print -x", "print --x", "print x if y else z", "watch x if y else z", "raw info locals",
    "set i =", "set var 3", "set -- args 1 2", "call f 1 2", "log f.c:3 asks if so",
    "next 3", "until 30", "break list.c:3", "break run", "trace add list", "start ./app list",
    "path ./app -- 1", "crash -- ./app --at f.c:3", "input quit", "eval x = 3", "memory read x",
    "--json break main -c x", "probe --at f.c:3 -x -- ./app", "diff -- ./a --vs ./b --when",
    "print -- -x", "log f.c:3 crash at line 5", "print a/b", "eval x if a else b", "print f.py",
    "break f.c:3 --when 'a if b else c'", "probe --at f.c:3 print -- ./app", "calls node -- ./app",
    "probe --at f.c:3 'x == 5' -- ./app", "probe --at f.c:3 'f(a=1)' -- ./app",
    "holds 'a is b' --at f.c:3 -- ./app", "crash -- ./app core", "crash -- ./app --cmd x",
    "who-wrote is --at f.c:3 -- ./app", "test -- ./run.py", "start ./app true",
    "start app.py run", "trace add audio::* @file:parser.c", "input run ./app",
    "input print x at app.py:5", "raw print x at app.py:5 -- ./x", "catch throw std::runtime_error",
    "path -- ./app vs.txt", "diff -- ./app a --vs ./app b", "events --text 'at f.py:3'",
    "start -m this", "source 10", "evidence", "runs", "thread 2", "frame 1", "stop --all",
]  # fmt: skip


@pytest.mark.parametrize("text", OWN_LINES)
def test_a_command_line_of_ours_is_taken_as_it_is(text: str) -> None:
    found = parser.parse_argv(shlex.split(text), COMMANDS)
    plain = parser._parse_with_click(tuple(shlex.split(text)), COMMANDS)
    assert (found.command, found.args) == (plain.command, plain.args)
