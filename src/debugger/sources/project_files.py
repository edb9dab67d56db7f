"""The source files of a project: below the program's folder and the current directory."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from pathlib import Path

_FILES_MAX = 3000
_ENTRIES_MAX = 30_000
_DEPTH_MAX = 8
_NOT_OWN = frozenset({"node_modules", "site-packages", "__pycache__", "bower_components"})
_ENVIRONMENT = "pyvenv.cfg"  # marks a virtual environment


def project_files(folders: Iterable[str | Path], suffixes: Collection[str]) -> list[Path]:
    """Return the files below folders that end so, the nearest first: a bounded number.

    What was installed is left out: `node_modules`, virtual environments, hidden folders.
    """
    left = _ENTRIES_MAX
    found: dict[Path, None] = {}
    waiting = [(Path(folder), 0) for folder in folders]
    seen: set[Path] = set()
    while waiting and left > 0 and len(found) < _FILES_MAX:
        folder, depth = waiting.pop(0)
        if folder in seen or folder == Path("/"):
            continue
        seen.add(folder)
        try:
            with os.scandir(folder) as scan:
                entries = sorted(scan, key=lambda one: one.name)
        except OSError:
            continue
        if depth and any(one.name == _ENVIRONMENT for one in entries):
            continue
        left -= len(entries)
        for entry in entries:
            if entry.name.startswith(".") or entry.name in _NOT_OWN:
                continue
            if entry.is_dir(follow_symlinks=False):
                if depth < _DEPTH_MAX:
                    waiting.append((Path(entry.path), depth + 1))
            elif os.path.splitext(entry.name)[1] in suffixes:
                found[Path(entry.path)] = None
    return list(found)[:_FILES_MAX]


def with_text(paths: Iterable[Path], text: str, *, size_max: int) -> list[Path]:
    """Return those of the files that hold a text; one that cannot be read does not."""
    found = []
    needle = text.encode()
    for path in paths:
        try:
            if path.stat().st_size <= size_max and needle in path.read_bytes():
                found.append(path)
        except OSError:
            continue
    return found
