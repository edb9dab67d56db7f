"""Is it said when a variable cannot be set because the compiler gave it no place?"""

from __future__ import annotations

import shutil
import subprocess

import pytest

from debuggees import marker, source


@pytest.mark.parametrize(
    "adapter",
    [
        pytest.param(name, marks=pytest.mark.adapter(name))
        for name in ("lldb-dap", "codelldb", "gdb")
    ],
)
@pytest.mark.parametrize("name", ["t", "b"])
def test_a_variable_without_a_place_is_not_set_and_that_is_said(cli, tmp_path, adapter, name):
    program = tmp_path / "optimised"
    file = source("optimised.c")
    compiler = shutil.which("gcc") or "cc"
    subprocess.run([compiler, "-g", "-O2", "-o", program, file], check=True)
    place = f"{file}:{marker('optimised.c', 'late')}"
    cli("start", program, "--adapter", adapter, "--break", place, check=0)
    told = cli("set", name, "50", check=1)
    assert told.err == (
        f"error: Variable '{name}' is optimized out at this PC. Recompile with -O0.\n"
        "hint: debugger up: the caller may still have the value\n"
    )
    assert cli("continue", check=0).out.startswith("exited: status 0")


@pytest.fixture(scope="module")
def split(tmp_path_factory):
    """Build a program with functions in two parts."""
    program = tmp_path_factory.mktemp("split") / "split"
    compiler = shutil.which("g++") or "c++"
    subprocess.run([compiler, "-g", "-O2", "-o", program, source("split.cpp")], check=True)
    return program


@pytest.mark.adapter("codelldb")
def test_a_function_in_two_parts_is_stopped_in_by_its_name_and_by_its_line(cli, split):
    line = marker("split.cpp", "read")
    told = cli("start", split, "--adapter", "codelldb", "--break", "main", check=0)
    assert f"main at {source('split.cpp').name}:{marker('split.cpp', 'main')} " in told.out
    told = cli("break", "read_field", "--condition", "name.size() == 3", check=0)
    where = f"read_field at split.cpp:{line}"
    assert told.out == f"breakpoint 2: {where} (condition name.size() == 3)\n"
    assert cli("continue", check=0).out.startswith(f"stopped: breakpoint 2, {where} ")
    cli("stop", check=0)
    told = cli("start", split, "--adapter", "codelldb", "--break", f"split.cpp:{line}", check=0)
    assert told.out.startswith(f"stopped: breakpoint 1, {where} ")
    assert cli("continue", check=0).out.startswith("exited: status 0")
