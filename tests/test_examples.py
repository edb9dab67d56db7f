"""Does the demonstration find the bug that the example has, by commands that mean what they say?"""

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


@pytest.mark.adapter("debugpy")
def test_the_demo_finds_the_bug(cli: Callable[..., object], tmp_path: Path) -> None:
    shim = tmp_path / "debugger"
    shim.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m debugger "$@"\n')
    shim.chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    ran = subprocess.run(
        ["sh", str(DEMO)],
        env=env,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stderr == ""
    commands = [line for line in ran.stdout.splitlines() if line.startswith("$ debugger ")]
    assert len(commands) == 6
    before, after = re.findall(r"^  net=(\S+)$", ran.stdout, re.MULTILINE)
    assert (before, after) == ("15150.0", "19700.0")
    assert "stopped: breakpoint 2, agreed at tariff.py:" in ran.stdout
    assert "number='C-1008', discount=0, free=150" in ran.stdout
    assert ran.stdout.splitlines()[-1].startswith("The bug: agreed() copies a tariff")
