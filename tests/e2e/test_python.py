"""What does a debugger tell of real Python programs: exceptions, children, modules, values?"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import debuggees

Cli = Callable[..., Any]
pytestmark = pytest.mark.adapter("debugpy")


def at(name: str, marker: str) -> str:
    return f"{debuggees.source(name)}:{debuggees.marker(name, marker)}"


def data(answer: Any) -> dict[str, Any]:
    assert answer.data["ok"], answer
    found: dict[str, Any] = answer.data["data"]
    return found


def start(cli: Cli, name: str, *words: str) -> dict[str, Any]:
    return data(cli("--json", "start", str(debuggees.source(name)), *words, check=0))


def value(cli: Cli, expression: str) -> str:
    return str(data(cli("--json", "print", expression, check=0))["value"])


def test_an_uncaught_exception_tells_type_message_and_cause(cli: Cli) -> None:
    stop = start(cli, "exception.py")
    assert stop["reason"] == "exception"
    assert stop["exception"]["type"] == "ValueError"
    assert stop["exception"]["message"] == "no price for 'quince'"
    assert stop["exception"]["causes"] == ["KeyError: 'quince'"]
    assert stop["frame"]["line"] == debuggees.marker("exception.py", "value_error")
    assert {one["name"]: one["value"] for one in stop["locals"]}["name"] == "'quince'"
    assert [one["function"] for one in stop["stack"]] == ["total", "main", "<module>"]
    end = data(cli("--json", "continue", check=0))
    assert end["exit_code"] == 1
    assert any("ValueError: no price" in one["text"] for one in end["output"])


def test_a_child_process_stops_as_a_session_of_its_own(cli: Cli) -> None:
    stop = start(cli, "child.py", "--break", at("child_worker.py", "worker"))
    assert (stop["session"], stop["frame"]["function"]) == ("child.1", "double")
    listed = data(cli("--json", "sessions", check=0))
    assert listed["current"] == "child.1"
    child = next(one for one in listed["sessions"] if one["session"] == "child.1")
    assert (child["parent"], Path(child["program"]).name) == ("child", "child_worker.py")
    assert value(cli, "result") == "14"
    end = data(cli("--json", "continue", check=0))
    assert (end["session"], end["reason"], end["exit_code"]) == ("child", "exit", 0)
    assert end["never_hit"] == []
    assert [one["text"] for one in end["output"]][-2:] == ["child says 14", "child ended with 0"]


def test_what_was_printed_before_a_stop_is_seen_at_it(cli: Cli) -> None:
    # Not only on a machine that asks every Python program not to buffer.
    stop = data(
        cli(
            *("--json", "start", str(debuggees.source("loop.py"))),
            *("--break", at("loop.py", "return")),
            env={"PYTHONUNBUFFERED": ""},
            check=0,
        )
    )
    assert [one["text"] for one in stop["output"]] == ["step 1"]


def test_a_module_runs_with_its_arguments(cli: Cli) -> None:
    folder = str(debuggees.PROGRAMS)
    end = data(cli("--json", "start", "-m", "pkg", "--", "one", cwd=folder, check=0))
    assert end["reason"] == "exit"


def test_the_callers_virtual_environment_runs_the_program(cli: Cli) -> None:
    end = start(cli, "shows_venv.py", "--python", sys.executable)
    assert any(sys.prefix in one["text"] for one in end["output"])


def test_large_values_are_summaries_that_can_be_paged(cli: Cli) -> None:
    stop = start(cli, "values.py", "--break", at("values.py", "ready"))
    assert len(cli("context", check=0).out) < 4000
    big = [one for one in stop["locals"] if one["value"].startswith("list[100000]")]
    assert len(big) == 1, stop["locals"]
    name = big[0]["name"]
    ref = data(cli("--json", "print", name, check=0))["ref"]
    part = data(cli("--json", "vars", ref, "--from", "99998", "--count", "5", check=0))
    assert part["total"] == 100_000
    assert [one["name"] for one in part["variables"]] == ["[99998]", "[99999]"]


def test_threads_and_recursion_are_bounded(cli: Cli) -> None:
    start(cli, "recursion.py", "--break", at("recursion.py", "bottom"))
    found = data(cli("--json", "backtrace", "--limit", "5", check=0))
    assert len(found["frames"]) == 5
    assert found["total"] > 1000


def test_a_syntax_error_is_told(cli: Cli) -> None:
    end = cli("start", str(debuggees.source("syntax_error.py")), check=0)
    assert "SyntaxError" in end.out
