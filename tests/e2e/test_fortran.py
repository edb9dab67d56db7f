"""A program of a language whose types few debuggers know is debugged by one that does."""

from __future__ import annotations

import shutil

import pytest

from cli_commands import answer_data, marked_location
from debuggees import build_debuggee, find_marker

pytestmark = [
    pytest.mark.adapter("gdb"),
    pytest.mark.skipif(shutil.which("gfortran") is None, reason="it needs gfortran"),
]


def test_fortran_has_its_values_its_beginning_its_crash_and_its_writes(cli):
    program = build_debuggee("shop.f90")
    begun = answer_data(cli("--json", "start", program, "--stop-on-entry", check=0))
    assert begun["frame"]["function"] == "MAIN__"
    cli("break", "total", check=0)
    stop = answer_data(cli("--json", "continue", check=0))
    assert stop["frame"]["function"] == "shop::total"
    assert "items(2)%price = 10\n" in cli("print", "items(2)%price", check=0).out
    cli("stop", check=0)

    crash = cli("crash", "--", program, check=0).out
    assert crash.startswith(
        f"crash: null pointer, in MAIN__ shop.f90:{find_marker('shop.f90', 'crashes')}\n"
    )
    assert "  missing=0x0\n" in crash

    place = marked_location("shop.f90", "returns")
    written = cli("who-wrote", "amount", "--at", place, "--", program, check=0).out
    assert written.startswith("amount=13 at ")
    assert f"3 → 13, in shop::total shop.f90:{find_marker('shop.f90', 'adds')}\n" in written
