"""The backend that the command, the environment or the configuration selects."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import build_debuggee, find_marker, find_source
from refused_commands import check_refused

pytestmark = pytest.mark.adapter("lldb-cli")
Cli = Callable[..., Any]
OURS, THEIRS = "DEBUGGER_BACKEND", "XCODEBUILDMCP_DEBUGGER_BACKEND"
PLACE = f"{find_source('loop.c')}:{find_marker('loop.c', 'step')}"


def driven_by(cli: Cli, program: str | Path, *words: str, **env: str) -> tuple[str, str, str]:
    """Start a program; tell its backend and adapter, and why it stopped."""
    started = cli("--json", "start", program, *words, env=env, check=0).data["data"]
    told = cli("--json", "status", check=0).data["data"]
    cli("stop")
    return told["backend"], told["adapter"], started["reason"]


def test_the_backend_is_of_the_command_the_environment_or_the_configuration(
    cli: Cli, runtime_dir: Path
):
    program, at = build_debuggee("loop.c"), ("--break", PLACE)
    own = ("lldb-cli", "lldb", "breakpoint")
    assert driven_by(cli, program, *at, "--backend", "lldb-cli") == own
    assert driven_by(cli, program, *at, **{OURS: "lldb-cli"}) == own
    assert driven_by(cli, program, *at, **{THEIRS: "lldb"}) == own
    config = runtime_dir / "config.toml"
    config.write_text('[defaults]\nbackend = "lldb-cli"\nadapter = "lldb-dap"\n')
    assert driven_by(cli, program, *at) == own
    assert driven_by(cli, program, *at, "--backend", "dap")[0] == "dap"
    assert driven_by(cli, program, *at, "--adapter", "lldb-dap")[:2] == ("dap", "lldb-dap")


def test_what_is_set_for_all_is_passed_over_for_a_script(cli: Cli):
    told = driven_by(cli, find_source("loop.py"), **{OURS: "lldb-cli"})
    assert told[:2] == ("dap", "debugpy")


def test_what_cannot_be_meant_is_refused(cli: Cli):
    program = build_debuggee("loop.c")
    usage = {"exit": 2, "code": "USAGE"}
    check_refused(
        cli, "start", program, "--backend", "nope", **usage, says="--backend", hint="doctor"
    )
    other = ("--backend", "lldb-cli", "--adapter", "gdb")
    check_refused(cli, "start", program, *other, **usage, says="gdb", hint="--adapter lldb")
    check_refused(cli, "attach", "1", *other, **usage, says="gdb", hint="--adapter lldb")
    check_refused(cli, "attach", "1", "--backend", "nope", **usage, says="--backend", hint="doctor")
    script = ("start", find_source("loop.py"), "--backend", "lldb-cli")
    says = "it is a python program"
    check_refused(cli, *script, exit=1, code="NOT_SUPPORTED", says=says, hint="--backend dap")


@pytest.mark.adapter("lldb-dap")
def test_what_lldb_dap_cannot_do_names_the_backend_that_can(cli: Cli):
    cli("start", build_debuggee("loop.c"), "--break", PLACE, "--adapter", "lldb-dap", check=0)
    thread = cli("--json", "threads", check=0).data["data"]["threads"][0]["id"]
    words = ("continue", "--thread", str(thread))
    check_refused(
        cli, *words, exit=1, code="NOT_SUPPORTED", says="lldb-dap", hint="--backend lldb-cli"
    )
