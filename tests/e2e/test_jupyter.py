"""Cells of a running Jupyter kernel are debugged, and the kernel goes on as it was."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from cli_commands import answer_data, resolve_program
from refused_commands import check_refused
from running_programs import find_tracer

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it reads /proc"),
    pytest.mark.adapter("debugpy"),
]
CLIENT = resolve_program("kernel_client.py")
DOUBLE = """\
def double(n):
    m = n * 2
    return m
"""
CALL = """\
x = double(3)
y = x + 1
y"""
FAIL = """\
def fail(key):
    return {}[key]
fail("k")"""

RunCells = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], RunCells]]:
    """Run a kernel, whose connection file is k.json, and give what runs cells in it."""
    env = os.environ | {"TMPDIR": str(tmp_path), "IPYTHONDIR": str(tmp_path / "ipython")}
    words = [sys.executable, "-Xfrozen_modules=off", "-m", "ipykernel_launcher", "-f"]
    clients: list[subprocess.Popen[str]] = []

    def run_cells(*cells: str) -> subprocess.Popen[str]:
        command: Sequence[str] = (sys.executable, CLIENT, "k.json", *cells)
        one = subprocess.Popen(command, cwd=tmp_path, text=True, stdout=subprocess.PIPE)
        clients.append(one)
        return one

    with subprocess.Popen(
        [*words, tmp_path / "k.json"], cwd=tmp_path, env=env,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        try:
            while not (tmp_path / "k.json").exists():
                assert process.poll() is None
                os.sched_yield()
            yield process, run_cells
        finally:
            process.kill()
            for one in clients:
                if one.poll() is None:
                    one.kill()
                    one.communicate()


def test_cells_are_debugged_and_the_kernel_goes_on(
    cli: Any, kernel: tuple[subprocess.Popen[bytes], RunCells], tmp_path: Path
) -> None:
    process, run_cells = kernel
    assert run_cells(DOUBLE).communicate() == ("", None)
    folder = tmp_path / f"ipykernel_{process.pid}"
    answer = answer_data(cli("--json", "attach", "--kernel", "k.json", cwd=tmp_path, check=0))
    assert answer["notes"][:2] == [
        f"the kernel is process {process.pid}",
        f"cells: cell1.py in {folder}; cell1.py is In [1]",
    ]
    cli("break", "cell1.py:2", check=0)
    client = run_cells(CALL, FAIL, CALL)

    def stop(*words: str) -> tuple[str, str, str, int]:
        found = answer_data(cli("--json", *words, "--timeout", "60", check=0))
        frame = found["frame"]
        return found["reason"], frame["function"], Path(frame["file"]).name, frame["line"]

    assert stop("await") == ("breakpoint", "double", "cell1.py", 2)
    assert cli("print", "n", check=0).out == "n = 3\n"
    frames = answer_data(cli("--json", "backtrace", check=0))["frames"]
    assert [Path(one["file"]).name for one in frames] == ["cell1.py", "cell2.py"]
    assert stop("finish") == ("step", "<module>", "cell2.py", 1)
    assert stop("next") == ("step", "<module>", "cell2.py", 2)
    assert stop("next") == ("step", "<module>", "cell2.py", 3)
    # The kernel's own code follows: it is not stepped into.
    assert stop("next") == ("exception", "fail", "cell3.py", 2)
    assert cli("exception", check=0).out.startswith("KeyError: 'k'\nin fail at cell3.py:2\n")
    assert stop("continue") == ("breakpoint", "double", "cell1.py", 2)
    cli("detach", check=0)
    assert client.communicate() == ("7\nKeyError\n7\n", None)
    assert find_tracer(process.pid) == 0
    assert not folder.exists()
    # Again, beside the running kernel: what it compiled before has its files again.
    cli("attach", "--kernel", "k.json", cwd=tmp_path, check=0)
    cli("log", "cell1.py:3", "m={m}", check=0)
    run_cells(CALL).communicate()
    assert "m=6" in cli("events", "--kind", "logpoint", check=0).out
    assert cli("print", "x", check=0).out == "x = 6\n"
    cli("detach", check=0)
    assert run_cells("x").communicate() == ("6\n", None)
    check_refused(
        cli, "attach", "--kernel", tmp_path / "none.json", says="does not exist",
        env={"JUPYTER_RUNTIME_DIR": str(tmp_path / "none")},
        exit=1, code="NOT_FOUND", hint="in a notebook, %connect_info shows the file",
    )  # fmt: skip
