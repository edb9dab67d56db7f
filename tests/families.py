"""Starts a forking program in an end-to-end test, and inspects its process tree."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from asking import Cli, at, data, start

NATIVE: Final = "family.c"
WORKED: Final = at(NATIVE, "work")


def listed(cli: Cli) -> dict[str, dict[str, Any]]:
    """Return the sessions by their names."""
    return {one["session"]: one for one in data(cli("--json", "sessions", check=0))["sessions"]}


def is_alive(pid: int) -> bool:
    """Tell whether a process runs: one that has ended may still wait for its parent."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def fork(cli: Cli, by: tuple[str, str], mode: str, word: object = "", *words: str) -> Any:
    """Start the program that forks, `by` an adapter or a backend; return the stop or the end."""
    return start(cli, NATIVE, *by, *words, "--", mode, str(word))


def again(cli: Cli, *words: str) -> dict[str, Any]:
    """Return the data of one more command."""
    return data(cli("--json", *words, check=0))


def await_child(cli: Cli, wait_until: Any) -> int:
    """Wait until the first child runs; return its pid."""
    wait_until(lambda: listed(cli).get("family.1", {}).get("state") == "running", what="a child")
    pid: int = listed(cli)["family.1"]["pid"]
    return pid
