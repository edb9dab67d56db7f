"""An adapter that only the configuration knows debugs a program from start to end."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from cli_commands import answer_data, marked_location, print_value, resolve_program, start_program
from fakes import fake_adapter
from refused_commands import check_refused

DOCS = Path(__file__).parent.parent.parent / "docs" / "adapters-config.md"
ruby = pytest.mark.adapter("ruby-gem")


@pytest.fixture
def rdbg(cli, runtime_dir, require_tool):
    """Configure the debug server of Ruby's gem as the documentation does."""
    shown = re.search(r"```toml\n(.*?\[adapters\.ruby-gem\].*?)```", DOCS.read_text(), re.DOTALL)
    assert shown is not None
    (runtime_dir / "config.toml").write_text(f'{shown[1]}path = "{require_tool("ruby-gem")}"\n')
    return cli


@ruby
def test_a_ruby_program_stops_steps_shows_and_sets(rdbg, tmp_path):
    (tmp_path / "in").write_text("hello\n")
    words = (
        "--break",
        marked_location("loop.rb", "add"),
        "--stdin",
        str(tmp_path / "in"),
        "--",
        "a",
        "b c",
    )
    stop = start_program(rdbg, "loop.rb", *words)
    assert stop["reason"] == "breakpoint"
    assert f"{stop['frame']['file']}:{stop['frame']['line']}" == marked_location("loop.rb", "add")
    told = {one["name"]: one["value"] for one in stop["locals"]}
    assert (told["i"], told["n"], told["sum"]) == ("1", "5", "0")
    assert [frame["function"] for frame in stop["stack"]][-1] == "<main>"
    assert print_value(rdbg, "sum + 40") == "40"
    rdbg("set", "sum", "100", check=0)
    stepped = answer_data(rdbg("--json", "step", check=0))
    assert stepped["frame"]["function"].endswith("calculate")
    rdbg("finish", check=0)
    stepped = answer_data(rdbg("--json", "next", check=0))
    assert (stepped["reason"], stepped["frame"]["file"]) == ("step", resolve_program("loop.rb"))
    status = answer_data(rdbg("--json", "status", check=0))
    assert (status["adapter"], status["state"]) == ("ruby-gem", "stopped")
    rdbg("stop", check=0)


@ruby
def test_a_ruby_program_ends_with_its_output_and_status(rdbg, tmp_path):
    (tmp_path / "in").write_text("hello\n")
    end = start_program(rdbg, "loop.rb", "--stdin", str(tmp_path / "in"), "--", "a", "b c")
    assert (end["state"], end["exit_code"], end["signal"]) == ("terminated", 3, None)
    lines = [(one["stream"], one["text"]) for one in end["output"] if one["stream"] != "console"]
    assert ("stderr", "arguments: a b c") in lines
    steps = [text for stream, text in lines if stream == "stdout"]
    assert steps == ["input: hello", *(f"step {turn}" for turn in range(1, 6)), "sum 30"]
    assert not any("DEBUGGER" in text for _, text in lines)
    assert end["notes"] == []


@ruby
def test_a_ruby_program_stops_at_its_entry_restarts_and_reads_input(rdbg):
    stop = start_program(rdbg, "loop.rb", "--stop-on-entry", "--adapter", "ruby-gem")
    assert (stop["reason"], stop["frame"]["line"]) == ("entry", 1)
    again = answer_data(rdbg("--json", "restart", check=0))
    assert (again["reason"], again["frame"]["line"]) == ("entry", 1)
    rdbg("input", "typed\n", check=0)
    end = answer_data(rdbg("--json", "continue", check=0))
    assert end["exit_code"] == 3
    assert "input: typed" in [one["text"] for one in end["output"]]


@ruby
def test_a_ruby_program_that_is_killed_tells_the_signal(rdbg, tmp_path):
    (tmp_path / "killed.rb").write_text("Process.kill(:KILL, Process.pid)\nsleep\n")
    end = answer_data(rdbg("--json", "start", tmp_path / "killed.rb", check=0))
    assert (end["exit_code"], end["signal"]) == (None, "SIGKILL")


@ruby
def test_a_ruby_program_that_does_not_parse_says_so(rdbg, tmp_path):
    (tmp_path / "broken.rb").write_text("def (\n")
    check_refused(
        rdbg,
        "start",
        tmp_path / "broken.rb",
        exit=1,
        code="LAUNCH_FAILED",
        says=("before it listened", "syntax error"),
    )


@ruby
def test_doctor_and_setup_know_what_is_configured(rdbg):
    checks = {one["name"]: one for one in answer_data(rdbg("--json", "doctor", check=0))["checks"]}
    assert checks["ruby-gem"]["status"] == "ok"
    told = answer_data(rdbg("--json", "setup", "ruby-gem", check=0))
    assert (told["status"], told["changed"]) == ("installed", False)


def fake(*words: str, **more: object) -> str:
    """Configure the fake adapter, as an adapter that we know nothing of."""
    command = [sys.executable, str(fake_adapter.ADAPTER), *words]
    section = {"command": command, "extensions": [".imaginary"], **more}
    lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in section.items())
    return f"[adapters.own]\n{lines}launch = {{ program = '{{program}}', args = '{{args}}' }}\n"


@pytest.mark.parametrize(
    ("words", "more"),
    [
        ((), {}),
        (("--port-announce",), {"transport": "tcp", "listens": r":(?P<port>[0-9]+)"}),
        (("--port", "{port}"), {"transport": "tcp", "connect": "127.0.0.1:{port}"}),
    ],
    ids=["stdio", "listens", "connect"],
)
def test_an_adapter_is_talked_to_as_it_is_configured(cli, runtime_dir, tmp_path, words, more):
    (runtime_dir / "config.toml").write_text(fake(*words, **more))
    (tmp_path / "main.imaginary").write_text("\n" * 20)
    stop = answer_data(
        cli("--json", "start", "main.imaginary", "--break", "work", cwd=tmp_path, check=0)
    )
    assert (stop["reason"], stop["frame"]["function"]) == ("function_breakpoint", "work")
    assert answer_data(cli("--json", "status", check=0))["adapter"] == "own"
    assert answer_data(cli("--json", "stop", check=0))["killed"] == []


def test_an_adapter_that_does_not_listen_is_told_in_time(cli, runtime_dir, tmp_path):
    words = {"transport": "tcp", "connect": "127.0.0.1:{port}"}
    written = fake("--port-announce", **words) + "[timeouts]\ndap_initialize_secs = 0.5\n"
    (runtime_dir / "config.toml").write_text(written)
    (tmp_path / "main.imaginary").touch()
    says = "own does not listen at 127.0.0.1:"
    where = tmp_path / "main.imaginary"
    check_refused(
        cli, "start", where, exit=1, code="ADAPTER_FAILED", says=says, hint="debugger doctor"
    )


@pytest.mark.parametrize(
    ("written", "says", "hint"),
    [
        ("[adapters.gbd]\npath = '/x'\n", "[adapters.gbd]", "did you mean gdb?"),
        ("[adapters.own]\ncomand = ['x']\n", "did you mean 'command'?", "debugger config"),
        ("[adapters.own]\ncommand = ['x']\n", "languages or extensions", "debugger config"),
        ("[adapters.own]\ntransport = 'udp'\n", "udp", "debugger config"),
    ],
)
def test_a_section_that_means_nothing_is_an_error(cli, runtime_dir, written, says, hint):
    (runtime_dir / "config.toml").write_text(written)
    check_refused(cli, "sessions", exit=2, code="USAGE", says=says, hint=hint)


def test_an_adapter_that_is_not_here_says_what_to_do(cli, runtime_dir, tmp_path):
    section = "[adapters.own]\ncommand = ['nosuchtool']\nextensions = ['.x']\n"
    (runtime_dir / "config.toml").write_text(section)
    (tmp_path / "a.x").touch()
    missing = {"exit": 5, "code": "ADAPTER_NOT_FOUND", "says": "own is not installed"}
    check_refused(cli, "start", tmp_path / "a.x", **missing, hint="put nosuchtool on the PATH")
