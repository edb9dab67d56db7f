"""The shell completes a program behind `--`, and files behind the program."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

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
    return done.stdout.splitlines() if done.stdout.strip() else []


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is missing")
@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("''", ["Python:\\ API", "Tests"]),
        ("Py", ["Python:\\ API"]),
        ("'Python:\\ '", ["Python:\\ API"]),
        ("\\''Py'", ["Python: API"]),
        ("X", []),
    ],
)
def test_names_with_blanks_are_completed_within_quotes_and_without(
    typed: str, completed: list[str], tmp_path: Path
):
    program = tmp_path / "debugger"
    program.write_text(
        "#!/bin/sh\n[ \"$*\" = 'completion configs' ] && echo 'Python: API\nTests'\n"
    )
    program.chmod(0o755)
    assert complete(str(program), "start", "--config", typed) == completed


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is missing")
def test_a_program_is_completed_behind_two_dashes_and_files_behind_it():
    assert "bash" in complete("debugger", "crash", "--", "bas")
    assert complete("debugger", "crash", "--", "bash", "bas") == []
    assert "crash" in complete("debugger", "cra")
