"""A raw debugger command that takes too long is interrupted."""

from __future__ import annotations

import sys

import pytest

from cli_commands import answer_data, marked_location, start_program
from refused_commands import check_refused

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it reads /proc")
lldb = pytest.mark.adapter("lldb-dap")


@lldb
def test_an_expression_that_lets_the_program_run_is_broken_off_and_all_is_as_before(cli):
    start_program(cli, "app.c", "--break", marked_location("app.c", "handled"))
    check_refused(
        cli,
        *("raw", "--within", "0.3", "expression (int)pause()"),
        exit=1,
        code="TIMEOUT",
        says="did not end within 0.3 s",
    )
    assert answer_data(cli("--json", "print", "request", check=0))["value"] == "1"
    # What broke it off is no stop of the program's.
    stop = answer_data(cli("--json", "continue", "--timeout", "20", check=0))
    assert (stop["reason"], stop["state"]) == ("breakpoint", "stopped")


@lldb
def test_a_command_that_ends_in_time_is_answered_and_its_own_options_are_its_own(cli):
    start_program(cli, "app.c", "--break", marked_location("app.c", "handled"))
    assert cli("raw", "--within", "20", "expression request", check=0).out == "(int) $0 = 1\n"
    told = cli("raw", "expression", "--timeout", "5000000", "--", "request + 1", check=0)
    assert told.out == "(int) $1 = 2\n"


@lldb
def test_a_time_that_is_none_is_refused(cli):
    start_program(cli, "app.c", "--break", marked_location("app.c", "handled"))
    check_refused(cli, "raw", "--within", "-1", "version", exit=2, code="USAGE", says="--within")
