"""The demonstration finds the example's bug by its own commands."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
DEMO = EXAMPLES / "demo.sh"
# The demo names lines by number, as its reader would: here is what must stand there.
MEANT = {
    "report.py": "return Invoice(account.customer, account.kwh, net, ",
    "tariff.py": "tariff.tiers.insert(0, Tier(contract.free, 0.0))",
}


def report() -> dict[str, str]:
    """Run the report, and give each customer's amount."""
    command = [sys.executable, "-B", str(EXAMPLES / "billing" / "report.py")]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    return {line[:22].strip(): line.split()[-1] for line in ran.stdout.splitlines()}


def test_the_example_still_has_its_bug() -> None:
    amounts = report()
    assert amounts["Abbey Bakery"] == "181.80"
    assert amounts["Rosewood Hospice"] == "259.56"
    assert amounts["total"] == "2,192.24"


def test_the_demo_names_the_lines_that_it_means() -> None:
    named = re.findall(r"(\w+\.py):(\d+)", DEMO.read_text(encoding="utf-8"))
    assert {name for name, _ in named} == set(MEANT)
    for name, number in named:
        lines = (EXAMPLES / "billing" / name).read_text(encoding="utf-8").splitlines()
        assert lines[int(number) - 1].strip().startswith(MEANT[name])


def demonstrated(script: Path, folder: Path) -> str:
    """Run a demonstration with the debugger under test, and return what it shows."""
    shim = folder / "debugger"
    shim.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m debugger "$@"\n')
    shim.chmod(0o755)
    env = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    ran = subprocess.run(
        ["sh", str(script)],
        env={**env, "TMPDIR": str(folder)},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stderr == ""
    return ran.stdout


@pytest.mark.adapter("debugpy")
def test_the_demo_finds_the_bug(cli: Callable[..., object], tmp_path: Path) -> None:
    shown = demonstrated(DEMO, tmp_path)
    commands = [line for line in shown.splitlines() if line.startswith("$ debugger ")]
    assert len(commands) == 6
    before, after = re.findall(r"^  net=(\S+)$", shown, re.MULTILINE)
    assert (before, after) == ("15150.0", "19700.0")
    assert "stopped: breakpoint 2, agreed at tariff.py:" in shown
    assert "number='C-1008', discount=0, free=150" in shown
    assert shown.splitlines()[-1].startswith("The bug: agreed() copies a tariff")


@pytest.mark.adapter("frida")
def test_the_live_demo_finds_the_bug_while_the_program_runs(
    cli: Callable[..., object], tmp_path: Path
) -> None:
    shown = demonstrated(EXAMPLES / "live" / "demo.sh", tmp_path)
    before, _, after = shown.partition("$ debugger write")
    # Traced, it is called with a frequency that nobody expects; that alone does not say why.
    traced = before.partition("$ debugger break")[0]
    assert traced.count(" function_enter player::refill(") >= 1
    assert traced.count(" function_enter player::advance(") >= 2
    # The condition stops it at the moment when the value is negative, where the locals say why.
    assert "stopped: breakpoint 1, player::advance at player.cpp:" in before
    assert 'track.name = "song"\nsampleRate = -21436\nbufferSize = 4096\nstep = -28\n' in before
    # The corrected value holds: the condition is not met again, and the program runs on.
    assert "track.sampleRate = 44100 (was -21436)\n" in after
    assert "step = 58 (was -28)\n" in after
    assert "running: no stop within 1 s" in after
    seen = re.findall(r"refill\(track=(0x[0-9a-f]+)\)", after)
    assert len(seen) <= 6, "as often as before"
    assert int(re.findall(r"player::blocks = (\d+)", after)[0]) > 100
    assert shown.splitlines()[-1].startswith("The bug: load() keeps the rate in a short.")


def test_the_live_demo_names_the_line_that_it_means() -> None:
    named = re.findall(r"player\.cpp:(\d+)", (EXAMPLES / "live" / "demo.sh").read_text())
    lines = (EXAMPLES / "live" / "player.cpp").read_text().splitlines()
    assert [lines[int(number) - 1].strip() for number in named] == ["track.position += step;"]
