"""How often does `test` name a random change in a library, by the library's own tests?

    python bench/suites.py [--work FOLDER] [--seed TEXT] [--count N] [--language L] [PACKAGE…]

Each package of `suites.toml` comes with its tests: a source distribution of PyPI, a module of Go, a
crate of Rust. One place is changed as `bench/mutants.py` does; of the changes that make 1 to 12
tests fail the first N by the seed are kept. Each is asked `debugger test --` with `python -m pytest
-q TESTS`, `go test ./...` or `cargo test`, as a user would, and the changed line counts as named as
in `bench/trial.py`. Beside it stands whether its function is named.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tarfile
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from mutants import WORK, install_packages, list_changes, list_line_changes, replace_node
from trial import find_row

DATA = Path(__file__).with_suffix(".toml")
SUITE_S, FIRST_S, ANSWER_S = 60, 300, 200
FAILED_MOST = 12  # tests: a change that more of them meet is found at once
TRIED_MOST = 80  # changes of a package, of which many are noticed by no test
TOOLS = ("pytest", "coverage", "setuptools", "wheel", "hatchling", "flit_core", "poetry-core")
COMMANDS = {"go": ["go", "test", "./..."], "rust": ["cargo", "test"]}
SUFFIXES = {"go": ".go", "rust": ".rs"}
_FAILED = {
    "python": re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE),
    "go": re.compile(r"^--- FAIL: (\S+)", re.MULTILINE),
    "rust": re.compile(r"^test (\S+) (?:- should panic )?\.\.\. FAILED", re.MULTILINE),
}
_FUNCTION = re.compile(
    r"^\s*(?:pub(?:\([^)]*\))? )?(?:const |async )*(?:def|fn|func(?: \([^)]*\))?) (\w+)"
)
_CRATE = '[package]\nname = "download"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\n'


@dataclass(frozen=True)
class Suite:
    """A package's source with its tests."""

    folder: Path
    language: str
    command: list[str]
    code: str = "."

    def run(self, words: Sequence[str], seconds: float = SUITE_S) -> str:
        """Run a command with the package's own code; return what it prints."""
        ran: subprocess.CompletedProcess[str] = subprocess.run(
            words,
            check=False,
            cwd=self.folder,
            env=self.environment(self.folder),
            capture_output=True,
            text=True,
            timeout=seconds,
        )
        return ran.stdout

    def environment(self, folder: Path) -> dict[str, str]:
        """Return the environment in which a copy of the package is tested."""
        return {**os.environ, "PYTHONPATH": str((folder / self.code).parent)}

    def failing_tests(self, seconds: float = SUITE_S) -> set[str]:
        """Return the tests that fail; none if they do not end."""
        try:
            return set(_FAILED[self.language].findall(self.run(self.command, seconds)))
        except subprocess.TimeoutExpired:
            return set()


@dataclass(frozen=True)
class Change:
    """A change of one place of a package."""

    file: str
    numbers: range
    make: Callable[[], str]  # the changed source


def fetch_suite(package: dict[str, Any], work: Path, python: Path) -> Suite:
    """Download and unpack a package's source once, and install what it needs."""
    language = package.get("language", "python")
    folder = work / "suites" / package["name"].replace("/", "-")
    fetch = {"python": fetch_python, "go": fetch_go, "rust": fetch_rust}[language]
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(fetch(package, work, python), folder)
        for one in [folder, *folder.rglob("*")]:
            one.chmod(one.stat().st_mode | 0o200)  # those of Go are read-only
    if language != "python":
        return Suite(folder, language, COMMANDS[language])
    command = [str(python), "-m", "pytest", "-q", package["tests"]]
    return Suite(folder, language, command, package["code"])


def fetch_python(package: dict[str, Any], work: Path, python: Path) -> Path:
    """Unpack a source distribution, and install the package and what it needs."""
    install_packages(work, [package["name"], *package.get("needs", ())])
    download = work / "downloads" / package["name"]
    source = ["--no-deps", "--no-binary", ":all:", "--no-build-isolation"]
    pip = [str(python), "-m", "pip"]
    words = [*pip, "download", "-q", *source, "-d", str(download), package["name"]]
    subprocess.run(words, check=True)
    with tarfile.open(next(download.glob("*.tar.gz"))) as archive:
        archive.extractall(download, filter="data")
    folders: list[Path] = [one for one in download.iterdir() if one.is_dir()]
    return folders[0]


def fetch_go(package: dict[str, Any], work: Path, _: Path) -> Path:
    """Download a module."""
    words = ["go", "mod", "download", "-json", f"{package['name']}@{package['version']}"]
    found = subprocess.run(words, check=True, cwd=work, capture_output=True)
    return Path(str(json.loads(found.stdout)["Dir"]))


def fetch_rust(package: dict[str, Any], work: Path, _: Path) -> Path:
    """Download a crate as what another one needs."""
    name, version = package["name"], package["version"]
    download = work / "downloads" / name
    (download / "src").mkdir(parents=True, exist_ok=True)
    (download / "src/lib.rs").touch()
    (download / "Cargo.toml").write_text(f'{_CRATE}{name} = "={version}"\n')
    words = ["cargo", "fetch", "-q"]
    subprocess.run(words, check=True, cwd=download)
    cargo = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    found: list[Path] = list(cargo.glob(f"registry/src/*/{name}-{version}"))
    return found[0]


def list_suite_changes(suite: Suite) -> list[Change]:
    """Return the changes of a package's code; of Python of those lines that its tests run."""
    if suite.language != "python":
        return [
            Change(
                str(file.relative_to(suite.folder)),
                range(number, number + 1),
                partial(replace_line, file, number, text),
            )
            for file in sorted(suite.folder.rglob(f"*{SUFFIXES[suite.language]}"))
            if is_code(file.relative_to(suite.folder))
            for number, text in list_line_changes(file.read_text())
        ]
    return [
        Change(
            file,
            range(node.lineno, node.end_lineno + 1),
            partial(replace_node, source, node, text),
        )
        for file, lines in executed_lines(suite).items()
        for source in [(suite.folder / file).read_text()]
        for node, text in list_changes(source, frozenset(lines))
    ]


def is_code(file: Path) -> bool:
    """Return whether a file of Go or Rust is the library's own, and no test."""
    dull = {
        "tests",
        "test",
        "benches",
        "examples",
        "target",
        "internal",
        "cmd",
        "testdata",
        "build.rs",
    }
    return not dull & set(file.parts) and not re.search(r"test|bench|example", file.stem)


def replace_line(file: Path, number: int, text: str) -> str:
    """Return a source with another text for one of its lines."""
    lines = file.read_text().split("\n")
    lines[number - 1] = text
    return "\n".join(lines)


def executed_lines(suite: Suite) -> dict[str, list[int]]:
    """Return the lines of a package of Python that its tests run."""
    code = str(suite.folder / suite.code)
    python, *tests = suite.command
    suite.run([python, "-m", "coverage", "run", f"--source={code}", *tests], 5 * SUITE_S)
    suite.run([python, "-m", "coverage", "json", "-q", "-o", "lines.json"])
    files = json.loads((suite.folder / "lines.json").read_text())["files"]
    # The package's own configuration may add its tests.
    return {
        file: one["executed_lines"]
        for file, one in files.items()
        if file.startswith(f"{suite.code}/")
    }


def make_mutants(suite: Suite, seed: str, count: int) -> Iterator[tuple[Path, str, range]]:
    """Yield changed copies of a package: the folder, and the changed file and lines."""
    before = suite.failing_tests(FIRST_S)
    chosen = random.Random(f"{suite.folder.name} {seed}")  # noqa: S311 - repeatable
    changes = list_suite_changes(suite)
    chosen.shuffle(changes)
    made = 0
    for change in changes[:TRIED_MOST]:
        if made == count:
            return
        file = suite.folder / change.file
        source = file.read_text()
        try:
            file.write_text(change.make())
            failed = suite.failing_tests() - before
            # A file of Python that cannot be imported fails as a whole.
            is_file = suite.language == "python" and any("::" not in one for one in failed)
            if is_file or not 0 < len(failed) <= FAILED_MOST:
                continue
            made += 1
            folder = suite.folder.parents[1] / "mutants" / f"{suite.folder.name}-{seed}-{made}"
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(suite.folder, folder)
            for one in folder.rglob("*.rs"):
                one.touch()  # cargo takes a copied program for that of the copied sources
        finally:
            file.write_text(source)
        yield folder, change.file, change.numbers


def ask_test(suite: Suite, folder: Path) -> str:
    """Return the answer to `test` about a changed copy."""
    debugger = str(Path(sys.executable).with_name("debugger"))
    answer: subprocess.CompletedProcess[str] = subprocess.run(
        [debugger, "test", "--", *suite.command],
        check=False,
        cwd=folder,
        env=suite.environment(folder),
        capture_output=True,
        text=True,
        timeout=ANSWER_S,
    )
    return answer.stdout + answer.stderr


def function_around(lines: Sequence[str], number: int) -> str:
    """Return the name of the function whose head stands before a line."""
    heads = (_FUNCTION.match(lines[at]) for at in range(number - 1, -1, -1))
    return next((one[1] for one in heads if one is not None), "")


def ask_all(suite: Suite, seed: str, count: int, figures: dict[str, int]) -> None:
    """Ask about a package's mutants, print what each answer names, and add it to the figures."""
    for folder, file, numbers in make_mutants(suite, seed, count):
        lines = (folder / file).read_text().split("\n")
        began = time.monotonic()
        answer = ask_test(suite, folder)
        took_s = time.monotonic() - began
        (folder / "answer.txt").write_text(answer)
        statement = lines[numbers.start - 1 : numbers.stop - 1]
        row = find_row(answer, Path(file).name, numbers, statement)
        function = function_around(lines, numbers.start)
        is_function = bool(re.search(rf"\b{function}\b", answer))
        figures["asked"] += 1
        figures["named"] += row is not None
        figures["functions"] += is_function
        figures["characters"] += len(answer)
        text = f"row {row or '-'}, {function} {'named' if is_function else '-'}"
        text = f"{text}, {len(answer)} characters, {took_s:.0f} s"
        print(f"{folder.name} {file}:{numbers.start}: {text}", file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the mutants, ask about each, and print how many answers name the changed line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("packages", nargs="*")
    parser.add_argument("--work", type=Path, default=WORK)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--count", type=int, default=3)
    parser.add_argument("--language", default="python", choices=("python", *COMMANDS))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    python = install_packages(options.work, TOOLS)
    figures = dict.fromkeys(("asked", "named", "functions", "characters"), 0)
    for package in tomllib.loads(DATA.read_text())["package"]:
        is_chosen = not options.packages or package["name"] in options.packages
        if is_chosen and package.get("language", "python") == options.language:
            suite = fetch_suite(package, options.work, python)
            ask_all(suite, options.seed, options.count, figures)
    if options.json:
        print(json.dumps(figures))
        return 0
    text = (
        "test {named:3} of {asked:3} named ({functions} their function), {characters:9,} characters"
    )
    print(text.format(**figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
