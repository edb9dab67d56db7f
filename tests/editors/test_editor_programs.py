"""Neovim and Emacs with their own clients of the protocol, without a screen.

All are optional. DEBUGGER_NVIM_DAP names a checkout of nvim-dap (Neovim 0.10 or later): CI gets it
from no package registry. Debian 12 has dap-mode, whose installation takes longer than all other
tests of editors; Debian 13 has dape, for Emacs 29 or later (or a checkout: DEBUGGER_DAPE, and
DEBUGGER_DAPE_EMACS for its Emacs).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

import debuggees

LOOP = debuggees.find_source("loop.py")
STEP = debuggees.find_marker("loop.py", "step")
RETURN = debuggees.find_marker("loop.py", "return")
HERE = Path(__file__).parent
_JUDGED_S = 120.0
_NVIM_DAP = os.environ.get("DEBUGGER_NVIM_DAP", "")
_DAPE = os.environ.get("DEBUGGER_DAPE", "")
_DAPE_EMACS = os.environ.get("DEBUGGER_DAPE_EMACS", "emacs")

Cli = Callable[..., Any]


def _drive(words: Iterable[object], runtime_dir: Path, cli: Cli) -> list[str]:
    """Run an editor's script; return what it says that works."""
    env = {
        **os.environ,
        # The printed configurations run `debugger`.
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "DEBUGGER_RUNTIME_DIR": str(runtime_dir),
        "DEBUGGER_CONFIG": str(runtime_dir / "config.toml"),
        "DEBUGGER_PYTHON": sys.executable,
        "HOME": str(runtime_dir),
        "XDG_CACHE_HOME": str(runtime_dir),
        "XDG_STATE_HOME": str(runtime_dir),
    }
    ran = subprocess.run(
        [str(one) for one in words],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_JUDGED_S,
        check=False,
    )
    cli("stop", "--all")
    assert ran.returncode == 0, ran.stdout
    return [line.strip()[3:] for line in ran.stdout.splitlines() if line.startswith("ok ")]


def _has_package(emacs: str, name: str) -> bool:
    if shutil.which(emacs) is None:
        return False
    words = ("--batch", "--eval", f"(progn (package-initialize) (require '{name}))")
    return subprocess.run([emacs, *words], capture_output=True, check=False).returncode == 0


@pytest.fixture
def configuration(cli: Cli, tmp_path: Path) -> Callable[[str], Path]:
    """Write what is printed for an editor to a file."""

    def write(editor: str) -> Path:
        path = tmp_path / editor
        path.write_text(cli("dap", "--print", editor, check=0).out)
        return path

    return write


@pytest.mark.skipif(not _NVIM_DAP, reason="DEBUGGER_NVIM_DAP names no checkout of nvim-dap")
def test_neovim_starts_steps_joins_and_leaves(
    runtime_dir: Path, cli: Cli, configuration: Callable[[str], Path]
):
    nvim = shutil.which("nvim")
    assert nvim is not None, "DEBUGGER_NVIM_DAP is set, and there is no nvim"
    script = HERE / "nvim_dap.lua"
    words = [nvim, "--headless", "-u", "NONE", "-i", "NONE", "-l", script, _NVIM_DAP]
    done = _drive([*words, configuration("nvim"), LOOP, STEP, RETURN], runtime_dir, cli)
    assert len(done) == 9, done
    assert done[-1] == "leaves it"


def test_emacs_joins_steps_and_leaves(
    runtime_dir: Path, cli: Cli, configuration: Callable[[str], Path]
):
    if not _has_package("emacs", "dap-mode"):
        pytest.skip("emacs-nox or elpa-dap-mode is missing (Debian)")
    words = ["emacs", "--batch", "-l", HERE / "dap_mode.el", configuration("emacs")]
    done = _drive([*words, LOOP, STEP, RETURN], runtime_dir, cli)
    assert len(done) == 5, done
    assert done[-1] == "leaves it"


def test_dape_joins_steps_and_leaves(
    runtime_dir: Path, cli: Cli, configuration: Callable[[str], Path]
):
    if not _DAPE and not _has_package(_DAPE_EMACS, "dape"):
        pytest.skip("DEBUGGER_DAPE names no checkout, and elpa-dape (Debian 13) is missing")
    words = [_DAPE_EMACS, "--batch", "-l", HERE / "dape.el", _DAPE, configuration("emacs")]
    done = _drive([*words, LOOP, STEP, RETURN], runtime_dir, cli)
    assert len(done) == 5, done
    assert done[-1] == "leaves it"
