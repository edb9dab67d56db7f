"""A process that becomes a rank's program runs it, whatever becomes of its debugger."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from debugger.cli import member_process
from debugger.system import entry_hold
from running_programs import ignored_signals

pytestmark = pytest.mark.skipif(not entry_hold.is_supported(), reason="not on this machine")
# A daemon that plans `sh -c SCRIPT`, and answers the second request with ANSWER.
MEMBER = """
import os, sys
from debugger.cli import member_process
script, answer = sys.argv[1:]
plan = {"is_held": True, "program": "/bin/sh", "words": ["sh", "-c", script]}
plan["env"] = [["GREETING", "hello"]]
def ask(words):
    if not any(one.startswith("--entry=0x") for one in words):
        return {"success": True, "result": plan}
    if answer == "dies":
        raise ConnectionError("the daemon is gone")
    return {"success": False, "error": {"message": answer}}
os._exit(member_process.run_member(["member", "--", "sh"], ask, lambda answer: 9))
"""


def run_member(script: str, answer: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", MEMBER, script, answer],
        input="a line\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("answer", ["dies", "it cannot be attached to"])
def test_a_program_whose_debugger_does_not_attach_runs_without_one(answer: str) -> None:
    ran = run_member("read line; echo $GREETING, $line; exit 3", answer)
    assert (ran.stdout, ran.returncode) == ("hello, a line\n", 3)
    problem = "the daemon is gone" if answer == "dies" else answer
    assert ran.stderr == (
        f"error: debugger member: the program runs without a debugger: {problem}\n"
    )


def test_a_program_has_the_signals_of_its_launcher_and_no_child_of_ours() -> None:
    ran = run_member("grep SigIgn /proc/self/status; wait; trap - PIPE; kill -PIPE $$", "late")
    assert ignored_signals(ran.stdout) == set()
    assert ran.returncode == -13


@pytest.mark.parametrize(
    ("is_typed", "hint"), [(True, "debugger member -b main -- ./program"), (False, None)]
)
def test_a_program_that_is_missing_is_reported_without_words_of_ours(
    is_typed: bool, hint: str | None
) -> None:
    def refuse(words: list[str]) -> dict[str, Any]:
        command = f"debugger {' '.join(words[:-1])} ./program"
        return {"success": False, "error": {"message": "no such command: ./x", "hint": command}}

    reported: list[dict[str, Any]] = []

    def report(answer: dict[str, Any]) -> int:
        reported.append(answer["error"])
        return 9

    words = ["member", "-b", "main", "--", "./x"]
    assert member_process.run_member(words, refuse, report, is_typed=is_typed) == 9
    assert reported == [{"message": "no such command: ./x", "hint": hint}]
