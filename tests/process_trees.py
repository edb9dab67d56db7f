"""Starts a forking program in an end-to-end test, and inspects its process tree."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from cli_commands import Cli, answer_data, marked_location, start_program

NATIVE: Final = "family.c"
WORKED: Final = marked_location(NATIVE, "work")


def list_sessions(cli: Cli) -> dict[str, dict[str, Any]]:
    """Return the sessions by their names."""
    return {
        one["session"]: one for one in answer_data(cli("--json", "sessions", check=0))["sessions"]
    }


def is_alive(pid: int) -> bool:
    """Return whether a process runs: one that has ended may still wait for its parent."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def start_forking(cli: Cli, by: tuple[str, str], mode: str, word: object = "", *words: str) -> Any:
    """Start the program that forks, `by` an adapter or a backend; return the stop or the end."""
    return start_program(cli, NATIVE, *by, *words, "--", mode, str(word))


def read_again(cli: Cli, *words: str) -> dict[str, Any]:
    """Return the data of one more command."""
    return answer_data(cli("--json", *words, check=0))


def await_child(cli: Cli, wait_until: Any) -> int:
    """Wait until the first child runs; return its pid."""
    wait_until(
        lambda: list_sessions(cli).get("family.1", {}).get("state") == "running", what="a child"
    )
    pid: int = list_sessions(cli)["family.1"]["pid"]
    return pid
