"""Maps the source paths that a program was built from to files on this machine."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode


class SourceMap(Struct, frozen=True):
    """Pairs of folders: as the program was built, and as they are here; without a last slash."""

    pairs: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        """Tell whether anything is mapped."""
        return bool(self.pairs)

    def to_local(self, path: str) -> str:
        """Return where a file of the program's is; one that is not mapped is where it says."""
        return _replace_folder(path, self.pairs)

    def to_built(self, path: str) -> str:
        """Return what a file here was called when the program was built."""
        return _replace_folder(path, tuple((here, built) for built, here in self.pairs))


def _replace_folder(path: str, pairs: tuple[tuple[str, str], ...]) -> str:
    """Put another folder in the place of the innermost that has one."""
    fitting = [(old, new) for old, new in pairs if path == old or path.startswith(f"{old}/")]
    if not fitting:
        return path
    old, new = max(fitting, key=lambda pair: len(pair[0]))
    return new + path[len(old) :]


def source_map(told: Mapping[str, str], home: str) -> SourceMap:
    """Read the configuration's `[sources] map`; `~` stands for the home directory.

    Raises:
        DebuggerError: USAGE for a folder that is not absolute.
    """
    pairs = []
    for pair in told.items():
        folders = tuple(_clean_folder(path, home) for path in pair)
        bad = next((path for path in folders if not path.startswith("/")), None)
        if bad is not None:
            raise DebuggerError(
                ErrorCode.USAGE,
                f"[sources] map: not an absolute path: {bad!r}",
                hint='debugger config --path; [sources] map = { "/build/src" = "/home/me/src" }',
            )
        pairs.append((folders[0].rstrip("/"), folders[1].rstrip("/")))
    return SourceMap(tuple(pairs))


def _clean_folder(path: str, home: str) -> str:
    full = home + path[1:] if path == "~" or path.startswith("~/") else path
    return posixpath.normpath(full) if full else full
