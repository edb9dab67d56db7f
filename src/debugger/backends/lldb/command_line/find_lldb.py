"""Finds the program of LLDB's command line."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

_NEWEST_FIRST = range(30, 13, -1)
_XCRUN_S = 10


def find_lldb(env: Mapping[str, str]) -> str | None:
    """Return LLDB's path, of the newest version on the caller's PATH; None without one."""
    path = env.get("PATH")
    if sys.platform == "darwin":
        # Only Xcode's own LLDB knows Swift.
        own = _find_by_xcrun()
        if own is not None:
            return own
    for name in ("lldb", *(f"lldb-{number}" for number in _NEWEST_FIRST)):
        lldb_path = shutil.which(name, path=path)
        if lldb_path is not None:
            return str(Path(lldb_path).absolute())
    for number in _NEWEST_FIRST:
        file = Path(f"/usr/lib/llvm-{number}/bin/lldb")
        if file.exists():
            return str(file)
    return None


def _find_by_xcrun() -> str | None:
    answer = _run_lldb("/usr/bin/xcrun", "--find", "lldb", within=_XCRUN_S)
    return answer.strip() or None


def _run_lldb(*words: str, within: float) -> str:
    try:
        answer = subprocess.run(
            words, capture_output=True, text=True, timeout=within, check=True, errors="replace"
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout
