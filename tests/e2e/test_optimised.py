"""Variables without a location cannot be set, and the answer says so."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from debuggees import find_marker, find_source


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
    file = find_source("optimised.c")
    compiler = shutil.which("gcc") or "cc"
    subprocess.run([compiler, "-g", "-O2", "-o", program, file], check=True)
    place = f"{file}:{find_marker('optimised.c', 'late')}"
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
    subprocess.run([compiler, "-g", "-O2", "-o", program, find_source("split.cpp")], check=True)
    return program


@pytest.mark.adapter("codelldb")
def test_a_function_in_two_parts_is_stopped_in_by_its_name_and_by_its_line(cli, split):
    line = find_marker("split.cpp", "read")
    told = cli("start", split, "--adapter", "codelldb", "--break", "main", check=0)
    assert (
        f"main at {find_source('split.cpp').name}:{find_marker('split.cpp', 'main')} " in told.out
    )
    told = cli("break", "read_field", "--condition", "name.size() == 3", check=0)
    where = f"read_field at split.cpp:{line}"
    assert told.out == f"breakpoint 2: {where} (condition name.size() == 3)\n"
    assert cli("continue", check=0).out.startswith(f"stopped: breakpoint 2, {where} ")
    cli("stop", check=0)
    told = cli("start", split, "--adapter", "codelldb", "--break", f"split.cpp:{line}", check=0)
    assert told.out.startswith(f"stopped: breakpoint 1, {where} ")
    assert cli("continue", check=0).out.startswith("exited: status 0")


@pytest.mark.adapter("gdb")
def test_a_variable_of_a_file_without_them_is_not_taken_from_another_file(cli, tmp_path):
    (tmp_path / "other.c").write_text("static int one = 77;\nint read_one(void) { return one; }\n")
    (tmp_path / "main.c").write_text(
        "int read_one(void);\nint add(int one) {\n    int two = one + read_one();\n"
        "    return two;\n}\nint main(void) { return add(1) == 0; }\n"
    )
    compiler = shutil.which("gcc") or "cc"
    for name, level in (("other", "-g"), ("main", "-g1")):
        subprocess.run([compiler, level, "-c", f"{name}.c"], cwd=tmp_path, check=True)
    subprocess.run([compiler, "-o", "lines", "other.o", "main.o"], cwd=tmp_path, check=True)
    cli("start", tmp_path / "lines", "--adapter", "gdb", "--break", "main.c:4", check=0)
    told = cli("print", "one + 1", check=1)
    assert told.err.startswith("error: no 'one' is known here: main.c was compiled without its ")
    assert cli("print", "'other.c'::one", check=0).out == "'other.c'::one = 77\n"
    assert cli("print", "sizeof(int)", check=0).out == "sizeof(int) = 4\n"
