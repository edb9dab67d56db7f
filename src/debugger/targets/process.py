"""What a running process is."""

from __future__ import annotations

from pathlib import Path


def command_line(pid: int) -> tuple[str, ...]:
    """Return a process's arguments, from proc_pid_cmdline(5); nothing where there is no /proc."""
    try:
        text = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return ()
    words = text.decode(errors="surrogateescape").split("\0")
    return tuple(words[:-1] if words[-1:] == [""] else words)
