"""A session keeps up with what a raw command does to its program."""

from __future__ import annotations

import pytest

from cli_commands import Cli, answer_data, marked_location, start_program

_NATIVE = [
    ("--adapter", "lldb-dap"),
    ("--adapter", "codelldb"),
    ("--adapter", "gdb"),
    ("--backend", "lldb-cli"),
]


@pytest.mark.parametrize("chosen", _NATIVE, ids=[name for _, name in _NATIVE])
def test_a_raw_step_reports_its_stop_and_a_raw_end_is_refused(cli: Cli, chosen) -> None:
    start_program(cli, "stepping.c", *chosen, "--break", marked_location("stepping.c", "jumps"))
    told = answer_data(cli("--json", "raw", "next", check=0))
    assert told["stop"]["reason"] == "step"
    for command, instead in (("detach", "debugger detach"), ("kill", "debugger stop")):
        refused = cli("raw", command, check=2)
        assert instead in refused.err
    assert answer_data(cli("--json", "status", check=0))["state"] == "stopped"
    before = answer_data(cli("--json", "frame", check=0))["frame"]["index"]
    cli("locals", "--frame", "1", check=0)
    assert answer_data(cli("--json", "frame", check=0))["frame"]["index"] == before


@pytest.mark.parametrize("chosen", _NATIVE, ids=[name for _, name in _NATIVE])
def test_a_raw_interrupt_is_a_pause(cli: Cli, chosen) -> None:
    command = "interrupt" if "gdb" in chosen else "process interrupt"
    start_program(cli, "endless.c", *chosen, "--no-wait")
    told = answer_data(cli("--json", "raw", command, check=0))
    assert told["stop"]["reason"] == "pause"
    assert "crash" not in told["stop"]
