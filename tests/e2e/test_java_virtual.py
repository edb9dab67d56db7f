"""Virtual threads of a JVM are listed, stopped, stepped and found in a deadlock."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cli_commands import Cli, answer_data
from debuggees import PROGRAMS, find_marker
from debugger.system import java_home

FOLDER = PROGRAMS / "java_virtual"
VIRTUAL_SINCE = 21


def find_new_jdk() -> Path | None:
    """Return the newest installed JDK that has virtual threads; None without one."""
    env = {"PATH": "", "HOME": str(Path.home())}  # neither JAVA_HOME nor the java of the PATH
    found = java_home.find_jdk(env)
    is_new = found is not None and int(found.version.split(".")[0]) >= VIRTUAL_SINCE
    return found.path if found is not None and is_new else None


JDK = find_new_jdk()
pytestmark = [
    pytest.mark.adapter("java"),
    pytest.mark.skipif(JDK is None, reason="no JDK of 21 or later is installed"),
]


def java(cli: Cli, *words: str) -> Any:
    return answer_data(cli("--json", *words, check=0, cwd=FOLDER, env={"JAVA_HOME": str(JDK)}))


def test_virtual_threads_are_listed_and_stepped_and_expressions_run_in_them(cli: Cli) -> None:
    line = find_marker("java_virtual/Virtual.java", "twice")
    stop = java(cli, "start", "Virtual.java", "--break", f"Virtual.java:{line - 1}")
    assert stop["frame"]["function"] == "Virtual.twice"
    threads = java(cli, "threads")["threads"]
    names = [one["name"] for one in threads]
    assert "worker" in names
    assert len([name for name in names if name.startswith("virtual #")]) == 20
    assert not [name for name in names if "ForkJoinPool" in name]
    assert java(cli, "next")["frame"]["line"] == line
    assert (
        java(cli, "print", "Stream.of(result).map(x -> x + twice(1)).toList()")["value"] == "[44]"
    )
    merged = cli("backtrace", "--all", check=0).out
    assert "(20 threads)" in merged


def test_a_deadlock_of_virtual_threads_names_both(cli: Cli) -> None:
    found = java(cli, "hang", "--after", "0.5", "--", "Virtual.java", "locked")
    assert found["kind"] == "deadlock"
    for name in ("packer", "biller"):
        assert f"({name}) waits for second (ReentrantLock), held by thread" in found["cause"]
