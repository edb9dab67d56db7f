"""Which files a JavaScript or TypeScript program loads, by the relative imports in its text.

What is computed, renamed by a bundler or found by a package's name is not followed: the result
orders candidates, it does not exclude any.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

_IMPORT = re.compile(
    r"\b(?:from|require\s*\(|import\s*\(?)\s*"
    r"""["'](?P<path>\.{1,2}/[^"'\n]*|\.{1,2})["']"""
)
_SUFFIXES = (".js", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".jsx")
# TypeScript names the file that is made of another, as Node wants it.
_MADE_OF = {".js": (".ts", ".tsx"), ".mjs": (".mts",), ".cjs": (".cts",), ".jsx": (".tsx",)}
_FILES_MAX = 400
_SIZE_MAX = 1 << 19  # bytes; what is longer was written by a program


def imported_files(scripts: Sequence[Path]) -> list[Path]:
    """Return scripts and what they import, directly or not, the nearest first."""
    found = dict.fromkeys(Path(os.path.realpath(one)) for one in scripts)
    waiting = list(found)
    while waiting and len(found) < _FILES_MAX:
        for path in _relative_imports(waiting.pop(0)):
            if path not in found:
                found[path] = None
                waiting.append(path)
    return list(found)


def _relative_imports(script: Path) -> Iterator[Path]:
    try:
        if script.stat().st_size > _SIZE_MAX:
            return
        text = script.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    for match in _IMPORT.finditer(text):
        path = _resolve_import(script.parent / match["path"])
        if path is not None:
            yield Path(os.path.realpath(path))


def _resolve_import(path: Path) -> Path | None:
    """Find the file of an import, as Node, TypeScript and bundlers do."""
    made_of = [path.with_suffix(one) for one in _MADE_OF.get(path.suffix, ())]
    completed = [Path(f"{path}{one}") for one in _SUFFIXES]
    inner = [path / f"index{one}" for one in _SUFFIXES]
    return next((one for one in (path, *made_of, *completed, *inner) if one.is_file()), None)
