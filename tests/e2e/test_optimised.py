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
