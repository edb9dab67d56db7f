"""The command of a hint is taken where no session is: questions, and what begins a session."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import hint_situations as situations
from debuggees import build_debuggee, find_marker, find_source
from hint_texts import asks_help, commands_in

CMD = ["python3", "loop.py"]
# What a user puts in place of the words that a hint leaves open, by the word before or by itself.
AFTER = {
    "python3": ["loop.py"],
    "node": ["loop.js"],
    "--save": ["kept"],
    "who-wrote": ["i"],
    "why": ["i"],
}
WORDS = {
    "CMD": CMD,
    "CMD_A": CMD,
    "CMD_B": CMD,
    "ARGS": [],
    "ARGUMENTS": [],
    "PROGRAM": ["./loop"],
    "FILE": ["notes.txt"],
    "DIRECTORY": ["."],
    "PATH": ["python3"],
    "FILE:LINE": [f"loop.py:{find_marker(find_source('loop.py'), 'return')}"],
    "LOC": ["calculate"],
    "EXPR": ["i"],
    "EXPR, EXPR": ["i, square"],
    "total, count": ["i, square"],
}
# What is not there to be reached: a test's runner, another machine, a server, a core file, a crash,
# a failure, a hang, a name at the end of the program, a launcher that starts two ranks everywhere.
ABSENT = (
    "path --group",
    "probe --group",
    "test",
    "attach",
    "hang --pid",
    "crash --core",
    "start npx",
    "mcp",
    "diff --at calculate",
    "why i --at crash",
    "why i --at fail",
    "probe --at crash",
    "probe --at fail",
    "probe --at hang",
    "why i --at exit",
)

# What a hint names for a session that is stopped.
AT_A_STOP = frozenset({"why i"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("loop.c", "loop.py", "loop.js"):
        shutil.copy(find_source(name), tmp_path)
    shutil.copy(build_debuggee("loop.c"), tmp_path / "loop")
    (tmp_path / "notes.txt").write_text("3\n")
    return tmp_path


def filled(command: str, failed: list[str]) -> list[str]:
    """Return the words of a hint's command as its reader gives them, after one that failed."""
    words = shlex.split(command)
    if words == ["start"]:
        words.append("…")
    found: list[str] = []
    for before, word in zip(["", *words], words, strict=False):
        if word == "…" and "--" in words:
            found.append("i")  # the rest of the options: here the expression
        elif word == "…":
            given = failed[1 : failed.index("--")] if "--" in failed else failed[1:]
            is_own = "--at" not in words and "--at" in given
            found += given[given.index("--at") : given.index("--at") + 3] if is_own else []
            found += failed[failed.index("--") :] if "--" in failed else ["./loop"]
        elif word.isupper() and before in AFTER:
            found += AFTER[before]
        elif word == "CMD" and failed[0] in {"who-wrote", "calls", "why"}:
            # The place is in this program alone.
            found += failed[failed.index("--") + 1 :] if "--" in failed else ["./loop"]
        else:
            found += WORDS.get(word, [word])
    return found


def with_program(expected: str, program: str) -> str:
    """Return a hint, or its beginning, with the user's own program, ready to paste."""

    def place(found: re.Match[str]) -> str:
        return f"-- {program} ({found[1]}{');' if found[2] else ''}"

    noted = re.sub(r"-- CMD:? ([a-z][^;]*)(;)?", place, expected)
    return noted.replace("-- CMD", f"-- {program}")


def faults(cli: Any, table: dict[str, str], folder: Path) -> Iterator[str]:
    """Yield which situations get another hint, and which hints' commands fail there."""
    tried: set[str] = set()
    for failing, expected in table.items():
        words = shlex.split(failing)
        answer = cli("--json", *words, cwd=folder)
        if answer.data is None:  # a command that needs no daemon answers with text
            hint = answer.err.partition("hint: ")[2].strip()
        else:
            hint = (answer.data.get("error") or {}).get("hint") or ""
        program = failing.partition(" -- ")[2].partition(" --vs ")[0]
        named = with_program(expected, program)
        if expected not in hint and named not in hint:
            yield f"{failing}: {answer.out}{answer.err}"
            continue
        for command in commands_in(hint):
            given = filled(command, words)
            key = shlex.join(given)
            if key in tried:
                continue
            tried.add(key)
            if asks_help(given) or given[0] == "mcp":
                continue  # mcp serves until it is ended
            if key in AT_A_STOP:
                continue
            reply = cli(*given, cwd=folder)
            is_wrong = "error: " in reply.err and not key.startswith(ABSENT)
            if is_wrong or reply.exit == os.EX_USAGE or (reply.exit == 2 and "needs" in reply.err):
                yield f"{failing}: its hint does not help: {reply}"


# Whose hints make what is saved in the situations of others: the run `kept`, and evidence.
MAKERS = {"run:kept": "path", "evidence export": "probe"}


def by_verb(table: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Yield the situations of each verb, in their order."""
    found: dict[str, dict[str, str]] = {}
    for failing, expected in table.items():
        makers = (maker for saved, maker in MAKERS.items() if saved in failing)
        found.setdefault(next(makers, failing.split()[0]), {})[failing] = expected
    yield from found.values()


@pytest.mark.adapter("lldb-dap")
@pytest.mark.parametrize(
    "table",
    [*by_verb(situations.QUESTIONS), *by_verb(situations.BEGINNINGS)],
    ids=lambda table: next(iter(table)).split()[0],
)
def test_hints_without_a_session_help_there(cli, folder, table):
    found = "\n".join(faults(cli, table, folder))
    cli("stop", "--all")
    if found:
        pytest.fail(found, pytrace=False)
