"""Looks up what a command line names: in the caller's directory and environment.

The code of `python -c CODE` and similar goes into files: there it has a source, and lines.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

TYPED_CODE = "code"  # the folder's name, in the runtime folder
_STORED_MAX = 50  # the newest


class TypedCode:
    """The code that users typed on command lines, below one folder that only they can read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def store(self, text: str, name: str) -> str:
        """Write code to a file of a name, and return its path; the same code has the same path."""
        of_code = self._folder / hashlib.sha256(text.encode(errors="replace")).hexdigest()[:12]
        of_code.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder.chmod(0o700)
        file = of_code / name
        file.touch(mode=0o600)
        file.write_text(text, encoding="utf-8", errors="replace")
        stored = sorted(self._folder.iterdir(), key=lambda one: one.stat().st_mtime)
        for oldest in stored[:-_STORED_MAX]:
            shutil.rmtree(oldest, ignore_errors=True)
        return str(file)

    def remove_all(self) -> None:
        """Remove the files."""
        shutil.rmtree(self._folder, ignore_errors=True)


class CallerCommands:
    """Looks up files in the caller's directory and environment (`CommandLookup`)."""

    def __init__(
        self,
        cwd: str,
        which: Callable[[str], str | None],
        folders: Sequence[str],
        *,
        extensions: tuple[str, ...],
        typed: TypedCode,
        python_path: str,
        go_flags: str,
    ) -> None:
        self._cwd = cwd
        self._which = which
        self._folders = folders
        self._extensions = extensions
        self._typed = typed
        self._python_path, self._go_flags = python_path, go_flags

    def find_command(self, name: str) -> str | None:
        """Return the file of a command: in the caller's directory, else on the PATH."""
        here = os.path.normpath(os.path.join(self._cwd, os.path.expanduser(name)))
        if os.path.exists(here):
            return here
        return self._which(name) if "/" not in name else None

    def first_line(self, path: str) -> str:
        """Return the first line of a text file, else nothing."""
        try:
            with open(path, "rb") as file:
                head = file.read(256) if os.path.isfile(path) else b""
        except OSError:
            return ""
        return head.split(b"\n", 1)[0].decode(errors="replace") if head[:2] == b"#!" else ""

    def similar_names(self, name: str) -> Sequence[str]:
        """Return the files beside a path, or the commands for a name without a folder."""
        folder = os.path.dirname(name)
        places = [os.path.join(self._cwd, folder), *([] if folder else self._folders)]
        found: list[str] = []
        for place in places:
            try:
                with os.scandir(place) as entries:
                    found += [one.name for one in entries if not one.is_dir()]
            except OSError:
                continue
        return found

    def is_there(self, path: str) -> bool:
        """Return whether a file or directory exists."""
        return os.path.exists(os.path.join(self._cwd, path))

    def path_folders(self) -> Sequence[str]:
        """Return the folders of the PATH."""
        return self._folders

    def has_own_adapter(self, name: str) -> bool:
        """Return whether an adapter of the user's own is for files of such a name."""
        return bool(self._extensions) and name.endswith(self._extensions)

    def store_code(self, text: str, name: str) -> str:
        """Write code of a command line to a file of a name; return its path."""
        return self._typed.store(text, name)

    def python_path(self) -> str:
        """Return PYTHONPATH with the caller's directory first, which `python -c` imports from."""
        return os.pathsep.join(filter(None, (self._cwd, self._python_path)))

    def go_flags(self) -> str:
        """Return the caller's GOFLAGS, to which those of a command are added."""
        return self._go_flags
