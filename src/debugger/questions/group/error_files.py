"""Reads what members have written to files of their own in the place of standard error.

Engines and launchers give each worker a file (Ray's logs, `torchrun --log-dir`, `srun --error`):
what Python's fault handler writes there is in no output of the job.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from debugger.session.session import Session
from debugger.system.descriptor_peers import open_file_path

_STDERR = 2
_READ_MAX = 64_000  # bytes at the end
_ENTRIES_MAX = 10_000  # of a folder
_FILES_MAX = 8


@dataclass(frozen=True)
class ErrorFile:
    """A member's file, and its size when it was first seen: what is older is of another process."""

    path: str
    begin: int

    def read_lines(self) -> list[str]:
        """Return the last lines that were written since; nothing where the file is gone."""
        try:
            with Path(self.path).open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(self.begin, size - _READ_MAX))
                content = file.read(_READ_MAX)
        except OSError:
            return []
        return content.decode("utf-8", "replace").splitlines()


class ErrorFiles:
    """The files of a group's members, noted while they live."""

    def __init__(self) -> None:
        self._files: dict[str, ErrorFile] = {}

    def note_members(self, sessions: Iterable[Session]) -> None:
        """Note where each live member's standard error goes now."""
        shared = _file_of(os.getpid())
        for one in sessions:
            path = _file_of(one.pid) if one.is_live else None
            if path is None or path == shared:
                continue
            known = self._files.get(one.name)
            if known is None or known.path != path:
                self._files[one.name] = ErrorFile(path, _size_of(path))

    def lines_of(self, session: Session) -> list[str]:
        """Return what a member has written to its file.

        One that died soon after its stream was redirected is known with the file of before: what is
        named by its pid beside that one is read, too.
        """
        known = self._files.get(session.name)
        if known is None:
            return []
        beside = [ErrorFile(one, 0) for one in _named_by(session.pid, Path(known.path).parent)]
        files = [known, *(one for one in beside if one.path != known.path)]
        return [line for one in files for line in one.read_lines()]


def _named_by(pid: int | None, folder: Path) -> list[str]:
    """Return the files of a folder whose names have a process's number in them."""
    number = re.compile(rf"(?<!\d){pid}(?!\d)")
    try:
        with os.scandir(folder) as entries:
            looked_at = islice(entries, _ENTRIES_MAX)
            named = [one for one in looked_at if number.search(one.name) and one.is_file()]
    except OSError:
        return []
    return sorted(one.path for one in named)[:_FILES_MAX]


def _file_of(pid: int | None) -> str | None:
    return open_file_path(pid, _STDERR) if pid is not None else None


def _size_of(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0
