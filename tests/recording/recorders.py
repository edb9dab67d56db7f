"""The Pythons that can be recorded, and how a program runs with and without a recorder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from debugger.recorders.model import RecordingOrder
from debugger.recorders.recorded_process import CompletedRun, record_run, roots_of

PROGRAMS = Path(__file__).parent.parent / "programs" / "recorded"
_MINORS = range(8, 16)
_MONITORED = 12


def find_interpreters() -> dict[str, str]:
    """Find one Python of each version from 3.8 on, by name; ours is always among them."""
    found = {f"3.{sys.version_info.minor}": sys.executable}
    kept = Path.home() / ".pyenv" / "versions"
    for minor in _MINORS:
        paths = [str(path) for path in kept.glob(f"3.{minor}.*/bin/python3")]
        named = shutil.which(f"python3.{minor}")
        # A shim that chooses by folder may stand for no version at all.
        paths += [named] if named and "shims" not in named else []
        if paths:
            found.setdefault(f"3.{minor}", paths[0])
    return found


def choose_versions(found: dict[str, str]) -> dict[str, str]:
    """Keep the oldest, the last that is traced, the first that is monitored, the newest."""
    minors = sorted(int(name.partition(".")[2]) for name in found)
    kept = {minors[0], minors[-1], sys.version_info.minor}
    kept |= {minor for minor in minors if minor == _MONITORED}
    return {f"3.{minor}": found[f"3.{minor}"] for minor in sorted(kept)}


PYTHONS = choose_versions(find_interpreters())


def run_plain(argv: list[str], cwd: Path) -> tuple[int, str, str]:
    """Run a program without us: status, standard output, standard error."""
    ran = subprocess.run(
        argv,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return ran.returncode, ran.stdout, ran.stderr


async def run_recorded(argv: list[str], cwd: Path, scratch: Path, **wanted: object) -> CompletedRun:
    """Run a program recorded; nothing is left in `scratch`."""
    timeout_s = wanted.pop("timeout_s", 60.0)
    stdin = wanted.pop("stdin", b"")
    order = RecordingOrder(roots=roots_of(argv, str(cwd)), **wanted)
    ran = await record_run(
        argv,
        order,
        cwd=str(cwd),
        env=dict(os.environ),
        stdin=stdin,
        timeout_s=timeout_s,
        scratch_root=scratch,
    )
    assert list(scratch.iterdir()) == []
    return ran
