"""Every command that a hint names exists, and takes the options that the hint gives it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import debugger
from debugger import commands
from debugger.core.command import COMMANDS
from debugger.errors import DebuggerError
from debugger.surface import cli
from debugger.surface.reference import GLOBAL_OPTIONS, flags, options, paths

ROOT = Path(debugger.__file__).parent
NAMED = re.compile(r"\bdebugger (?=[a-z-])([^;,:()`'\"]*)")
LOCAL = {"completion", "--help", "--version"}


def texts(node: ast.expr) -> Iterator[str]:
    """Yield the texts of an expression, a placeholder for each value that is put into one."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=parts):
            yield "".join(str(one.value) if isinstance(one, ast.Constant) else "X" for one in parts)
        case ast.IfExp(body=body, orelse=other):
            yield from texts(body)
            yield from texts(other)
        case ast.BinOp(left=left, right=right):
            yield from texts(left)
            yield from texts(right)
        case ast.BoolOp(values=values):
            for one in values:
                yield from texts(one)


def hints() -> Iterator[tuple[str, str]]:
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.keyword) and node.arg in {"hint", "remedy", "fix"}:
                for text in texts(node.value):
                    for named in NAMED.findall(text):
                        yield f"{path.relative_to(ROOT)}:{node.value.lineno}", named


def fault(named: str) -> str | None:
    """Say what is wrong with a command as a hint names it: what follows its name may be prose."""
    commands.load()
    known = paths(COMMANDS)
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
    every = (*options(command), *GLOBAL_OPTIONS)
    taken = {flag for one in every for flag in flags(one)} | {"--help", "--"}
    given = words[: words.index("--")] if "--" in words else words
    unknown = [one for one in given if one.startswith("--") and one not in taken]
    return f"{command.name} takes no {unknown[0]}" if unknown else None


def test_every_hint_names_a_command_that_exists_with_options_that_it_takes() -> None:
    found = list(hints())
    assert len(found) > 200
    wrong = [
        f"{where}: debugger {named}: {what}" for where, named in found if (what := fault(named))
    ]
    assert wrong == []


def test_a_wrong_hint_is_found() -> None:
    assert fault("frobnicate the session") == "no command 'frobnicate'"
    assert fault("stop --hard") == "stop takes no --hard"
    assert fault("breakpoint list shows them") is None


@pytest.mark.parametrize(
    ("word", "names"),
    [("run", "start PROGRAM"), ("info", "locals"), ("quit", "stop"), ("ptype", "print --type")],
)
def test_a_word_of_another_debugger_is_answered_with_ours(word: str, names: str) -> None:
    commands.load()
    with pytest.raises(DebuggerError) as raised:
        cli.parse([word], COMMANDS)
    assert names in str(raised.value.hint)


def test_no_word_of_another_debugger_is_a_command_of_ours() -> None:
    commands.load()
    ours = {path[0] for path in paths(COMMANDS)}
    assert not ours & cli._ELSEWHERE.keys()
    for answer in cli._ELSEWHERE.values():
        for named in answer.split(", "):
            assert fault(named.removeprefix("or ")) is None
