"""Programs in Ada, D, Fortran and Nim: what ends them, and what wrote a value."""

from __future__ import annotations

import functools
import shutil
import subprocess
from pathlib import Path

import pytest

from debuggees import CACHE, find_marker, find_source

_BUILD_S = 120
# By the name of a case: the source, and the command that builds it into a folder.
_BUILDS = {
    "ada": ("refused.adb", ("gnatmake", "-q", "-g", "{source}", "-o", "{program}")),
    "ldc": ("refused.d", ("ldc2", "-g", "-of={program}", "{source}")),
    "gdc": ("refused.d", ("gdc", "-g", "{source}", "-o", "{program}")),
    "fortran": ("refused.f90", ("gfortran", "-g", "{source}", "-o", "{program}")),
    "nim": (
        "refused.nim",
        ("nim", "c", "--hints:off", "--debugger:native", "--nimcache:{folder}", "-o:{program}",
         "{source}"),
    ),
}  # fmt: skip


@functools.cache
def _build(case: str) -> Path:
    name, command = _BUILDS[case]
    if shutil.which(command[0]) is None:
        pytest.skip(f"it needs {command[0]}")
    folder = CACHE / "compiled" / case
    folder.mkdir(parents=True, exist_ok=True)
    program, source = folder / "refused", find_source(f"compiled/{name}")
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        words = [one.format(source=source, program=program, folder=folder) for one in command]
        subprocess.run(words, cwd=folder, check=True, timeout=_BUILD_S, capture_output=True)
    return program


def _line(case: str, marker: str) -> str:
    name = f"compiled/{_BUILDS[case][0]}"
    return f"{Path(name).name}:{find_marker(name, marker)}"


@pytest.mark.parametrize(
    ("case", "cause"),
    [
        pytest.param("ada", "TOO_MUCH: too much", marks=pytest.mark.adapter("gdb")),
        pytest.param("ldc", "TooMuch: too much", marks=pytest.mark.adapter("gdb")),
        pytest.param("gdc", "TooMuch: too much", marks=pytest.mark.adapter("gdb")),
        pytest.param("fortran", "ERROR STOP: too much", marks=pytest.mark.adapter("gdb")),
        pytest.param("nim", "ValueError: too much", marks=pytest.mark.adapter("lldb-dap")),
    ],
)
def test_an_error_that_nobody_handles_is_a_crash_at_the_line_that_raised_it(cli, case, cause):
    said = cli("crash", "--no-why", "--", _build(case), check=0).out
    first = said.splitlines()[0]
    assert first.startswith(f"crash: {cause}, in "), said
    assert first.endswith(_line(case, "raises")), said
    assert "in the end: exited with status 1\n" in said
    assert "before it" not in said


@pytest.mark.adapter("gdb")
@pytest.mark.parametrize(
    ("case", "expression", "at", "written"),
    [
        ("ada", "total", "checks", ("30 → 60", "adds")),
        ("ada", "shade", "checks", ("red → blue", "shades")),
        ("ada", "prices", "checks", ("(10, 20, 30) → (10, 21, 30)", "prices")),
        ("ldc", "total", "checks", ("30 → 60", "adds")),
        ("ldc", "shop.shade", "checks", ("0 → 2", "shades")),
        ("ldc", "shop.prices", "checks", ("", "prices")),
        ("gdc", "shop.shade", "checks", ("0 → 2", "shades")),
        ("fortran", "prices", "raises", ("(10, 10, 10) → (10, 21, 10)", "prices")),
        ("fortran", "total", "raises", ("20 → 30", "adds")),
    ],
)
def test_the_last_write_of_a_value_is_found(cli, case, expression, at, written):
    change, marker = written
    said = cli("who-wrote", expression, "--at", _line(case, at), "--", _build(case), check=0).out
    first = said.splitlines()[0]
    assert f" was last written: {change}" in first, said
    assert first.endswith(_line(case, marker)), said
