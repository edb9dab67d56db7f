"""Finds the modules of a Java project, and the source files of its classes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

_DEPTH = 4  # folders below the project, for those of its modules
_MODULES_MAX = 200
_SKIPPED = frozenset({"src", "target", "build", "node_modules", "out", "bin"})
_ROOTS = ("src/{}/java", "src/{}/kotlin", "src/{}/groovy", "src/{}/scala")
_PACKAGE = re.compile(r"^\s*package\s+([\w.]+)\s*;?\s*$", re.MULTILINE)
OUT_OF_PACKAGE = (".kt", ".scala", ".groovy")
_SETS = ("test", "main", "integrationTest", "it", "testFixtures")


def list_modules(folder: str) -> list[str]:
    """List the folders of a project that have sources, the project's own first."""
    found: list[str] = []
    for one in _walk(folder, _DEPTH):
        if os.path.isdir(os.path.join(one, "src")):
            found.append(one)
        if len(found) == _MODULES_MAX:
            break
    return found


def _walk(folder: str, depth: int) -> Iterator[str]:
    yield folder
    if depth == 0:
        return
    try:
        with os.scandir(folder) as entries:
            inner = sorted(
                one.path
                for one in entries
                if one.is_dir(follow_symlinks=False)
                and one.name not in _SKIPPED
                and not one.name.startswith(".")
            )
    except OSError:
        return
    for path in inner:
        yield from _walk(path, depth - 1)


def find_class_source(modules: Sequence[str], class_name: str, file_name: str) -> str | None:
    """Return the source file of a class, by the file's name in its class file; None if unknown.

    Those of Kotlin, Scala and Groovy may lie outside of the folders of their package.
    """
    package = class_name.rpartition(".")[0]
    parts = package.split(".") if package else []
    roots = [root.format(each) for each in _SETS for root in _ROOTS]
    is_elsewhere = file_name.endswith(OUT_OF_PACKAGE)
    for omitted in range(len(parts) + 1 if is_elsewhere else 1):
        for module in modules:
            for root in (*roots, "src", "test", ""):
                path = Path(module, root, *parts[omitted:], file_name)
                if path.is_file() and (not omitted or find_package(path) == package):
                    return str(path)
    return None


def find_package(path: Path) -> str:
    """Return the package that a source declares; nothing without one."""
    found = _PACKAGE.search(path.read_text("utf-8", "replace"))
    return found[1] if found else ""
