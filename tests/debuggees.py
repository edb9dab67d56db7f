"""Finds the debuggees and their marked lines, and builds them."""

from __future__ import annotations

import functools
import hashlib
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PROGRAMS: Final = Path(__file__).parent / "programs"
CACHE: Final = Path(__file__).parents[1] / ".cache" / "programs"

_BUILD_TIMEOUT_S: Final = 120


@dataclass(frozen=True)
class Toolchain:
    """Which compilers can build a language, and with which flags."""

    compilers: tuple[str, ...]
    flags: tuple[str, ...]
    debug: tuple[str, ...]
    stripped: tuple[str, ...]
    version: str = "--version"

    def flags_for(self, *, debug: bool) -> tuple[str, ...]:
        """Return all flags, with or without debug information."""
        return self.flags + (self.debug if debug else self.stripped)


_GNU_DEBUG: Final = ("-g", "-O0")
_GNU_STRIPPED: Final = ("-g0", "-O0", "-s")
_TOOLCHAINS: Final = {
    ".c": Toolchain(
        ("gcc", "cc", "clang"),
        ("-std=gnu11", "-Wall", "-Wextra", "-pthread"),
        _GNU_DEBUG,
        _GNU_STRIPPED,
    ),
    ".cpp": Toolchain(
        ("g++", "c++", "clang++"),
        ("-std=c++17", "-Wall", "-Wextra", "-pthread"),
        _GNU_DEBUG,
        _GNU_STRIPPED,
    ),
    ".f90": Toolchain(("gfortran",), ("-Wall",), _GNU_DEBUG, _GNU_STRIPPED),
    ".rs": Toolchain(
        ("rustc",),
        ("--edition=2021", "-C", "opt-level=0"),
        ("-g",),
        ("-C", "debuginfo=0", "-C", "strip=symbols"),
    ),
    ".go": Toolchain(
        ("go",),
        ("build", "-buildvcs=false"),
        # Without optimisation and inlining, in the standard library too.
        ("-gcflags=all=-N -l",),
        ("-ldflags=-w -s",),
        version="version",
    ),
}


def program_text(name: str) -> str:
    """Return the text of a program in tests/programs."""
    return (PROGRAMS / name).read_text(encoding="utf-8")


def find_source(name: str) -> Path:
    """Return the path of a debuggee's source, such as `loop.c` or `pkg/mod.py`.

    Raises: FileNotFoundError for a name that is none of the debuggees.
    """
    path = PROGRAMS / name
    if not path.is_file():
        raise FileNotFoundError(f"no debuggee {name} in {PROGRAMS}")
    return path


def find_marker(path: Path | str, name: str) -> int:
    """Return the number, from 1, of the line whose comment is `@name`.

    `path` is a file, or the name of a debuggee.
    Raises: LookupError unless exactly one line has the marker.
    """
    path = path if isinstance(path, Path) else find_source(path)
    pattern = re.compile(rf"(?://|#|!|--|/\*)\s*@{re.escape(name)}\b")
    lines = path.read_text(encoding="utf-8").splitlines()
    found = [number for number, line in enumerate(lines, start=1) if pattern.search(line)]
    if len(found) != 1:
        raise LookupError(f"{path.name} has {len(found)} lines marked @{name}")
    return found[0]


def build_debuggee(name: str, *, debug: bool = True) -> Path:
    """Return the program built from a debuggee, from the cache if it is there.

    It is a file, or the folder of a Go package. With `debug=False` it has no debug information
    and no symbols.
    Raises: FileNotFoundError without the source or a compiler; CalledProcessError.
    """
    path = PROGRAMS / name if (PROGRAMS / name / "go.mod").is_file() else find_source(name)
    place = CACHE / f"{path.stem}-{hash_source(path, debug=debug)}"
    program = place / path.stem
    if program.exists():
        return program
    CACHE.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f"{path.stem}-draft-", dir=CACHE))
    try:
        compile_into(draft, path, debug=debug)
        publish_build(draft, place)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return program


def build_java(name: str, *, options: tuple[str, ...] = ("-g",)) -> Path:
    """Return the class file of a Java debuggee; all of them are compiled together, once.

    Raises: FileNotFoundError without the source or a compiler; CalledProcessError.
    """
    find_source(f"java/{name}.java")
    compiler_path = shutil.which("javac")
    if compiler_path is None:
        raise FileNotFoundError("no compiler for Java")
    files = sorted((PROGRAMS / "java").glob("*.java"))
    texts = [compiler_version(compiler_path, "--version"), *options]
    texts += [one.read_text(encoding="utf-8") for one in files]
    place = CACHE / f"java-{hashlib.sha256(chr(0).join(texts).encode()).hexdigest()[:16]}"
    if not place.is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix="java-draft-", dir=CACHE))
        try:
            command = [compiler_path, "-nowarn", *options, "-d", str(draft), *map(str, files)]
            subprocess.run(
                command, capture_output=True, text=True, timeout=_BUILD_TIMEOUT_S, check=True
            )
            publish_build(draft, place)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return place / f"{name}.class"


def compile_into(directory: Path, path: Path, *, debug: bool = True) -> Path:
    """Compile a source into a directory, in the source's own directory, and return the program.

    Raises: FileNotFoundError without a compiler; CalledProcessError with what it said.
    """
    found = find_compiler(path)
    if found is None:
        raise FileNotFoundError(f"no compiler for {path.name}")
    program = directory / path.stem
    flags = choose_toolchain(path).flags_for(debug=debug)
    # The name alone, so that the debug information says `loop.c` in its own directory.
    where, what = (path, ".") if path.is_dir() else (path.parent, path.name)
    command = [found, *flags, "-o", str(program), what]
    done = subprocess.run(
        command,
        cwd=where,
        capture_output=True,
        text=True,
        timeout=_BUILD_TIMEOUT_S,
        check=False,
    )
    if done.returncode != 0:
        error = subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
        error.add_note(done.stderr)
        raise error
    return program


def choose_toolchain(path: Path) -> Toolchain:
    return _TOOLCHAINS[".go" if path.is_dir() else path.suffix]


def find_compiler(path: Path) -> str | None:
    return next(filter(None, map(shutil.which, choose_toolchain(path).compilers)), None)


def publish_build(draft: Path, place: Path) -> None:
    try:
        draft.rename(place)
    except OSError:
        # Another worker was first: its build is of the same source by the same compiler.
        if not place.is_dir():
            raise


def hash_source(path: Path, *, debug: bool) -> str:
    found = find_compiler(path)
    toolchain = choose_toolchain(path)
    version = compiler_version(found, toolchain.version) if found else ""
    flags = " ".join(toolchain.flags_for(debug=debug))
    files = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
    texts = (text for one in files for text in (one.name, one.read_text(encoding="utf-8")))
    # The path counts: it is in the debug information.
    parts = (str(path), version, flags, *texts)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


@functools.cache
def compiler_version(compiler_path: str, option: str) -> str:
    command = [compiler_path, option]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
    return done.stdout
