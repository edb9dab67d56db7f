"""Stores the code of `python -c CODE` and similar in files: there it has a source, and lines."""

from __future__ import annotations

import hashlib
import shutil
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
