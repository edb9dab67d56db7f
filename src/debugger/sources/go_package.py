"""Finds what to build and run of Go: a program, a file, a package, or a package's tests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

SUFFIX = ".go"
_TESTS = "_test.go"
_READ_MAX = 1 << 20  # bytes of a source
_MAIN = re.compile(r"^func\s+main\s*\(\s*\)", re.MULTILINE)
_OF_MAIN = re.compile(r"^package\s+main\b", re.MULTILINE)
_CONSTRAINT = re.compile(r"^//(?:go:build|\s*\+build)\s", re.MULTILINE)
# What `go test` hands on to the tests with this before it (go help testflag).
_TEST_PREFIX = "test."
_TEST_FLAGS = frozenset(
    {
        "bench", "benchmem", "benchtime", "count", "cpu", "failfast", "fullpath", "fuzz",
        "fuzztime", "list", "parallel", "run", "short", "shuffle", "skip", "timeout", "v",
    }
)  # fmt: skip


class GoTarget(Struct, frozen=True):
    """A Go target, and the way it is built."""

    # exec, debug or test.
    mode: str
    # A program, a file, or a package's folder.
    what: str
    # The folder to build in.
    folder: str

    @property
    def name(self) -> str:
        """The name of the built program."""
        path = Path(self.what)
        stem = path.stem if path.suffix == SUFFIX else path.name
        return f"{stem or 'main'}.{self.mode}"


def is_package(path: str) -> bool:
    """Tell whether a folder has Go files."""
    try:
        return any(one.suffix == SUFFIX for one in Path(path).iterdir())
    except (OSError, ValueError):  # ValueError: a NUL in the path
        return False


def find_go_target(path: str) -> GoTarget:
    """Resolve a path: a test file, or a package with nothing else, means tests."""
    file = Path(path)
    if file.is_dir():
        has_program = any(_OF_MAIN.search(_read_source(one)) for one in _go_sources(file))
        has_tests = any(one.name.endswith(_TESTS) for one in file.iterdir())
        mode = "test" if has_tests and not has_program else "debug"
        return GoTarget(mode, path, path)
    folder = str(file.parent)
    if file.suffix != SUFFIX:
        return GoTarget("exec", path, folder)
    if file.name.endswith(_TESTS):
        return GoTarget("test", folder, folder)
    return GoTarget("debug", folder if _is_all_of_a_package(file) else path, folder)


def _is_all_of_a_package(file: Path) -> bool:
    """Tell whether a file's `main` is the only one of its package, which is then built.

    Otherwise the file alone is built, as by `go run FILE`.
    """
    if not any((folder / "go.mod").is_file() for folder in file.parents):
        return False
    if not _MAIN.search(_read_source(file)) or _CONSTRAINT.search(_read_source(file)):
        return False
    others = [one for one in _go_sources(file.parent) if one.name != file.name]
    return not any(
        _MAIN.search(_read_source(one)) and not _CONSTRAINT.search(_read_source(one))
        for one in others
    )


def _go_sources(folder: Path) -> list[Path]:
    found = sorted(folder.glob(f"*{SUFFIX}"))
    return [one for one in found if not one.name.endswith(_TESTS)]


def _read_source(file: Path) -> str:
    try:
        with file.open("rb") as source:
            return source.read(_READ_MAX).decode(errors="replace")
    except OSError:
        return ""


def test_arguments(words: Sequence[str]) -> tuple[str, ...]:
    """Convert arguments of `go test` to those of the tests' program: -run becomes -test.run.

    Arguments after `-args` are the program's own.
    """
    found: list[str] = []
    for at, word in enumerate(words):
        if word in {"-args", "--args"}:
            return (*found, *words[at + 1 :])
        name = word.lstrip("-").partition("=")[0]
        is_flag = word.startswith("-") and name in _TEST_FLAGS
        found.append(f"-{_TEST_PREFIX}{word.lstrip('-')}" if is_flag else word)
    return tuple(found)
