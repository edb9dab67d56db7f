"""Lists a project's source files, and what to build and run of Go."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

SUFFIX = ".go"
TEST_PROGRAM = ".test"  # the end of the name of a package's built tests
TESTS = "_test.go"  # the end of the name of a file with tests
# Hidden, or with bytes that are not UTF-8, as `os.fsdecode` has them.
_SKIPPED = re.compile("^\\.|[\udc80-\udcff]")
_READ_MAX = 1 << 20  # bytes of a source
_MAIN = re.compile(r"^func\s+main\s*\(\s*\)", re.MULTILINE)
_OF_MAIN = re.compile(r"^package\s+main\b", re.MULTILINE)
_CONSTRAINT = re.compile(r"^//(?:go:build|\s*\+build)\s", re.MULTILINE)


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
    """Return whether a folder has Go files."""
    try:
        return any(one.suffix == SUFFIX for one in Path(path).iterdir())
    except (OSError, ValueError):  # ValueError: a NUL in the path
        return False


def find_go_target(path: str) -> GoTarget:
    """Resolve a path: a test file, or a package with nothing else, means tests."""
    file = Path(path)
    if file.is_dir():
        has_program = any(_OF_MAIN.search(_read_source(one)) for one in _go_sources(file))
        has_tests = any(one.name.endswith(TESTS) for one in file.iterdir())
        mode = "test" if has_tests and not has_program else "debug"
        return GoTarget(mode, path, path)
    folder = str(file.parent)
    if file.suffix != SUFFIX:
        return GoTarget("exec", path, folder)
    if file.name.endswith(TESTS):
        return GoTarget("test", folder, folder)
    return GoTarget("debug", folder if _is_all_of_a_package(file) else path, folder)


def _is_all_of_a_package(file: Path) -> bool:
    """Return whether a file's `main` is the only one of its package, which is then built.

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
    return [one for one in found if not one.name.endswith(TESTS)]


def _read_source(file: Path) -> str:
    try:
        with file.open("rb") as source:
            return source.read(_READ_MAX).decode(errors="replace")
    except OSError:
        return ""


_IMPORT = re.compile(
    r"\b(?:from|require\s*\(|import\s*\(?)\s*"
    r"""["'](?P<path>\.{1,2}/[^"'\n]*|\.{1,2})["']"""
)
_SUFFIXES = (".js", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".jsx")
# TypeScript names the file that is made of another, as Node wants it.
_MADE_OF = {".js": (".ts", ".tsx"), ".mjs": (".mts",), ".cjs": (".cts",), ".jsx": (".tsx",)}
_LOADED_MAX = 400  # imported files
_SIZE_MAX = 1 << 19  # bytes; what is longer was written by a program


def imported_files(scripts: Sequence[Path]) -> list[Path]:
    """Return scripts and their direct and indirect imports, the nearest first."""
    found = dict.fromkeys(Path(os.path.realpath(one)) for one in scripts)
    waiting = list(found)
    while waiting and len(found) < _LOADED_MAX:
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


_MODULE = re.compile(r"^module\s+(\S+)", re.MULTILINE)
_GO_IMPORT = re.compile(r'^\s*(?:import\s+)?(?:[\w.]+\s+)?"(?P<path>[^"\n]+)"', re.MULTILINE)
_GO_BODY = re.compile(r"^(?:func|type|var|const)\b", re.MULTILINE)


def imported_go_files(folder: Path, module: Path) -> list[Path]:
    """Return the Go files of a package, and of those of its module that it imports.

    Tests are of the package alone: those of others are not built with it. Without a `go.mod`, or
    where that replaces modules, all files below both folders are returned.
    """
    text = _read_source(module / "go.mod")
    named = _MODULE.search(text)
    if named is None or "replace" in text or (module / "go.work").exists():
        return project_files([folder, module], (SUFFIX,))
    found: dict[Path, None] = {}
    waiting, visited = [folder], {folder}
    while waiting and len(found) < _FILES_MAX:
        package = waiting.pop(0)
        files = [one for one in sorted(package.glob(f"*{SUFFIX}")) if one.is_file()]
        for file in files:
            if package != folder and file.name.endswith(TESTS):
                continue
            found[file] = None
            for path in _go_imports(file):
                inner = path.removeprefix(named[1])
                is_own = inner != path and inner[:1] in {"", "/"}
                other = module / inner.lstrip("/") if is_own else module / "vendor" / path
                if other not in visited and other.is_dir():
                    visited.add(other)
                    waiting.append(other)
    return list(found)


def _go_imports(file: Path) -> list[str]:
    text = _read_source(file)
    body = _GO_BODY.search(text)
    return [
        one["path"] for one in _GO_IMPORT.finditer(text, 0, body.start() if body else len(text))
    ]


_FILES_MAX = 3000
_ENTRIES_MAX = 30_000  # directory entries that a search reads
_DEPTH_MAX = 8  # levels of folders that a search enters
_NOT_OWN = frozenset({"node_modules", "site-packages", "__pycache__", "bower_components"})
_ENVIRONMENT = "pyvenv.cfg"  # marks a virtual environment


def project_files(folders: Iterable[str | Path], suffixes: Collection[str]) -> list[Path]:
    """Return files below folders by extension, the nearest first, within a limit.

    Installed code is skipped: `node_modules`, virtual environments, hidden folders. So is what no
    adapter can be sent: a name that is not UTF-8.
    """
    remaining = _ENTRIES_MAX
    found: dict[Path, None] = {}
    waiting = [(Path(folder), 0) for folder in folders]
    visited: set[Path] = set()
    while waiting and remaining > 0 and len(found) < _FILES_MAX:
        folder, depth = waiting.pop(0)
        if folder in visited or folder == Path("/"):
            continue
        visited.add(folder)
        try:
            with os.scandir(folder) as scan:
                entries = sorted(scan, key=lambda one: one.name)
        except OSError:
            continue
        if depth and any(one.name == _ENVIRONMENT for one in entries):
            continue
        remaining -= len(entries)
        for entry in entries:
            if _SKIPPED.search(entry.name) or entry.name in _NOT_OWN:
                continue
            if entry.is_dir(follow_symlinks=False):
                if depth < _DEPTH_MAX:
                    waiting.append((Path(entry.path), depth + 1))
            elif os.path.splitext(entry.name)[1] in suffixes:
                found[Path(entry.path)] = None
    return list(found)[:_FILES_MAX]


_PYTHON_IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t].*", re.MULTILINE)


def imported_python_files(scripts: Iterable[Path], files: Sequence[Path]) -> list[Path]:
    """Return scripts, and those of the files that they import by name, the nearest first.

    Names are compared without their packages: the order of files is all that is needed of them.
    """
    by_module: dict[str, list[Path]] = {}
    for path in files:
        module = path.parent.name if path.stem == "__init__" else path.stem
        by_module.setdefault(module, []).append(path)
    found = dict.fromkeys(scripts)
    waiting = list(found)
    while waiting and len(found) < _LOADED_MAX:
        lines = _PYTHON_IMPORT.findall(_read_source(waiting.pop(0)))
        names = dict.fromkeys(re.findall(r"\w+", "\n".join(lines)))
        imported = [one for name in names for one in by_module.get(name, ()) if one not in found]
        found |= dict.fromkeys(imported)
        waiting += imported
    return list(found)


_PACKAGE = re.compile(
    r"""\b(?:from|require\s*\(|import\s*\(?)\s*["'](?P<name>@[\w.-]+/[\w.-]+|[\w-][\w.-]*)["'/]"""
)


def installed_files(scripts: Sequence[Path], suffixes: Collection[str]) -> list[Path]:
    """Return the files of the packages in `node_modules` that scripts name, within a limit."""
    names: dict[str, None] = {}
    for script in scripts:
        text = _read_source(script)
        names |= {one["name"]: None for one in _PACKAGE.finditer(text)}
    folders = dict.fromkeys(
        parent / "node_modules" for script in scripts for parent in script.parents
    )
    packages = [
        package for folder in folders for name in names if (package := folder / name).is_dir()
    ]
    return project_files(packages, suffixes)


def with_text(paths: Iterable[Path], text: str, *, size_max: int) -> list[Path]:
    """Return the files that contain a text; unreadable ones do not."""
    found = []
    needle = text.encode()
    for path in paths:
        try:
            if path.stat().st_size <= size_max and needle in path.read_bytes():
                found.append(path)
        except OSError:
            continue
    return found
