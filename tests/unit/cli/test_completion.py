"""The shell completes a program behind `--`, and files behind the program."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from debugger.cli import commands, completion
from debugger.model.command_registry import COMMANDS


def complete(*words: str) -> list[str]:
    commands.register_all()
    script = completion.completion_script("bash", COMMANDS)
    given = " ".join(words)
    call = f"COMP_WORDS=({given}); COMP_CWORD={len(words) - 1}; _debugger; printf '%s\\n' "
    done = subprocess.run(
        ["bash", "--norc", "-c", f'{script}\n{call} "${{COMPREPLY[@]}}"'],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is missing")
def test_a_program_is_completed_behind_two_dashes_and_files_behind_it():
    assert "bash" in complete("debugger", "crash", "--", "bas")
    assert complete("debugger", "crash", "--", "bash", "bas") == []
    assert "crash" in complete("debugger", "cra")
