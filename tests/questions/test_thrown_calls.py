"""How calls end that an exception leaves, in languages whose steps do not report it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli_commands import Cli, answer_data, resolve_program
from debuggees import build_debuggee, find_marker

RUBY = pytest.param(("ruby", "thrown.rb"), "RuntimeError", marks=pytest.mark.adapter("rdbg"))
PHP = pytest.param(("php", "thrown.php"), "RuntimeException", marks=pytest.mark.adapter("xdebug"))
JAVA = pytest.param(
    ("java", "Thrown.java"), "java.lang.IllegalStateException", marks=pytest.mark.adapter("java")
)


@pytest.mark.parametrize(("program", "thrown"), [RUBY, PHP, JAVA])
def test_a_call_that_catches_returns_and_one_that_does_not_raises(
    shared_cli: Cli, program: tuple[str, str], thrown: str
) -> None:
    runtime, file = program
    prefix = "Thrown." if runtime == "java" else ""
    command = ("--", runtime, resolve_program(f"thrown/{file}"))
    totals = answer_data(shared_cli("--json", "calls", f"{prefix}total", *command, check=0))
    line = find_marker(f"thrown/{file}", "too_big")
    assert [(one["value"], one["error"], one["error_line"]) for one in totals["lives"]] == [
        ("4", None, 0),
        (None, f"{thrown}: too big", line),
        (None, f"{thrown}: too big", line),
    ]
    caught = answer_data(shared_cli("--json", "calls", f"{prefix}safe", *command, check=0))
    assert [(one["value"], one["error"]) for one in caught["lives"]][:3] == [
        ("1", None),
        ("-1", None),
        ("4", None),
    ]


@pytest.mark.adapter("xdebug")
def test_a_call_that_phps_own_function_throws_out_of_is_one_call(
    shared_cli: Cli, tmp_path: Path
) -> None:
    text = "<?php\nfunction share($n) {\n    return intdiv(9, $n);\n}\nshare(0);\n"
    (tmp_path / "share.php").write_text(text)
    calls = shared_cli("--json", "calls", "share", "--", "php", tmp_path / "share.php", check=0)
    ended = [(one["value"], one["error"]) for one in answer_data(calls)["lives"]]
    assert ended == [(None, "DivisionByZeroError: Division by zero")]


@pytest.mark.adapter("xdebug")
def test_a_call_of_php_that_leaves_a_finally_after_a_throw_has_no_known_end(
    shared_cli: Cli, tmp_path: Path
) -> None:
    text = (
        "<?php\nfunction sweep($n) {\n    try {\n        if ($n) throw new LogicException('no');\n"
        "    } catch (LogicException $e) {\n        if ($n > 1) throw $e;\n    } finally {\n"
        "        $n = 0;\n    }\n}\nsweep(1);\ntry {\n    sweep(2);\n"
        "} catch (LogicException $e) {\n}\n"
    )
    (tmp_path / "sweep.php").write_text(text)
    calls = shared_cli("--json", "calls", "sweep", "--", "php", tmp_path / "sweep.php", check=0)
    found = answer_data(calls)
    assert [(one["value"], one["has_ended"]) for one in found["lives"]] == [
        ("", True),
        (None, False),
    ]
    doubt = "LogicException was thrown in it, and whether it left the call is not known"
    assert f"call 2 was not seen to end: {doubt}" in found["notes"]


@pytest.mark.adapter("rdbg")
@pytest.mark.parametrize(
    ("function", "ends"),
    [
        ("check", [("3", None), (None, "RuntimeError: nothing found")]),
        ("early", [("2", None)]),
        ("down", [("3", None)]),
    ],
)
def test_a_call_of_ruby_that_an_exception_leaves_through_an_ensure_clause_has_raised(
    shared_cli: Cli, function: str, ends: list[tuple[str | None, str | None]]
) -> None:
    command = ("calls", function, "--", "ruby", resolve_program("thrown/ensured.rb"))
    told = answer_data(shared_cli("--json", *command, check=0))
    # A block on the first line is no call of its own.
    assert [(one["value"], one["error"]) for one in told["lives"]] == ends
    passed = "calls that one of these made, or other threads meanwhile, are not among them"
    assert (passed in told["notes"]) is (function == "down")


@pytest.mark.adapter("lldb-dap")
@pytest.mark.parametrize(
    ("file", "thrown"),
    [("thrown.cpp", "std::length_error: too big"), ("thrown.rs", "panic: too big")],
)
def test_a_compiled_call_ends_where_an_exception_leaves_it_that_a_caller_catches(
    shared_cli: Cli, file: str, thrown: str
) -> None:
    command = ("total", "--depth", "0", "--", str(build_debuggee(f"thrown/{file}")))
    ended = answer_data(shared_cli("--json", "calls", *command, check=0))["lives"]
    line = find_marker(f"thrown/{file}", "too_big")
    assert [(one["error"], one["error_line"]) for one in ended if one["error"]] == [(thrown, line)]
    # No lines of a later call were taken for those of the one that was left.
    assert sorted(one["arguments"][0]["value"] for one in ended) == ["1", "2", "3"]
    assert all(one["has_ended"] for one in ended)


@pytest.mark.adapter("xdebug")
@pytest.mark.adapter("rdbg")
@pytest.mark.parametrize("file", ["thrown.rb", "thrown.php"])
def test_a_step_from_a_throw_ends_where_it_is_caught(cli: Cli, file: str) -> None:
    program = resolve_program(f"thrown/{file}")
    cli("start", program, "--break", "safe", check=0)
    cli("continue", check=0)
    cli("catch", "raised", check=0)
    assert answer_data(cli("--json", "next", check=0))["reason"] == "exception"
    caught = answer_data(cli("--json", "finish", check=0))
    assert (caught["frame"]["function"], caught["returned"]) == ("safe", None)
    assert answer_data(cli("--json", "next", check=0))["returned"]["value"] == "-1"
    cli("breakpoint", "remove", "1", check=0)
    # Nobody catches the last one: the program ends behind it, also by a step.
    while (stop := answer_data(cli("--json", "next", check=0)))["state"] == "stopped":
        assert stop["reason"] in {"step", "exception"}
    assert stop["exit_code"] in {1, 255}
