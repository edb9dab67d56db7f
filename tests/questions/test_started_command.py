"""Of the processes that a script starts, questions are asked about that with the location."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import build_debuggee, find_marker

SOURCE = "why/workers.c"
PLACE = f"workers.c:{find_marker(SOURCE, 'end')}"
pytestmark = pytest.mark.adapter("gdb", "frida", "lldb-dap")


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """Return a shell script that starts the program, with a variable and a file as its input."""
    (tmp_path / "number.txt").write_text("40\n")
    script = tmp_path / "run.sh"
    program = build_debuggee(SOURCE)
    script.write_text(f"#!/bin/sh\necho begins\nexport SCALE=10\n{program} < number.txt\n")
    script.chmod(0o755)
    return script


def test_a_value_is_followed_in_a_process_that_a_script_s_program_forks(
    cli: Callable[..., Any], script: Path
) -> None:
    answer = cli(
        *("why", "job->sum", "--at", PLACE, "--when", "job->id == 2", "--json", "--", "./run.sh"),
        check=0,
        cwd=script.parent,
        timeout=120,
    ).data["data"]
    link, passed = answer["links"][0], answer["links"][1]
    assert link["frame"]["line"] == find_marker(SOURCE, "wrong")
    assert (link["old"], link["new"]) == ("420", "-42")
    assert passed["statement"].startswith("work(&job, number + id)")
    program = build_debuggee(SOURCE)
    assert answer["notes"][0] == (
        "only in the first process of ./run.sh that comes there, run by itself, in a process that "
        "it forks (fork 2): "
        f"debugger why … --env SCALE=10 --stdin {script.parent}/number.txt -- {program}"
    )


def test_a_run_is_recorded_of_the_program_that_a_script_starts(
    cli: Callable[..., Any], script: Path
) -> None:
    shown = cli("path", "--", "sh", "run.sh", check=0, cwd=script.parent).out
    where = "only in the first process of sh run.sh that has sources, run by itself"
    assert f"note: {where}: debugger path … --env" in shown
    assert "begins" not in shown
    script.write_text("#!/bin/sh\necho begins\n")
    refused = cli("path", "--", "./run.sh", check=1, cwd=script.parent).err
    assert "of what ./run.sh starts no compiled program came to main" in refused
    assert "hint: debugger path … -- PROGRAM ARGUMENTS, the command that it starts" in refused


def test_who_wrote_names_the_question_that_follows_a_fork(
    cli: Callable[..., Any], script: Path
) -> None:
    program = build_debuggee(SOURCE)
    options = ("--stdin", "number.txt", "--env", "SCALE=3")
    refused = cli(
        *("who-wrote", "job->sum", "--at", PLACE, *options, "--", program),
        check=1,
        cwd=script.parent,
        timeout=120,
    ).err
    assert f"{PLACE} was reached in a process that it forks (fork 1)" in refused
    assert f"hint: debugger why 'job->sum' --at {PLACE} --stdin number.txt --env SCALE=3" in refused
