"""The session on the README's first screen is the demonstration's."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.adapter("debugpy")
def test_the_readme_shows_the_demo_as_it_is(cli: Callable[..., object], tmp_path: Path) -> None:
    shown = re.search(
        r"<!-- demo -->\n```console\n(.*?)\n```\n<!-- /demo -->",
        (ROOT / "README.md").read_text(encoding="utf-8"),
        re.DOTALL,
    )
    assert shown is not None
    shim = tmp_path / "debugger"
    shim.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m debugger "$@"\n')
    shim.chmod(0o755)
    ran = subprocess.run(
        ["sh", str(ROOT / "examples" / "demo.sh")],
        env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=90,
        check=True,
    )
    assert ran.stdout.strip() == shown[1].strip()
