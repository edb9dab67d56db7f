"""How often does `test` name a random change in a library, by the library's own tests?

    python bench/suites.py [--work FOLDER] [--seed TEXT] [--count N] [--json] [PACKAGE…]

Each package of `suites.toml` comes as its source distribution, with its tests. One place that the
tests run is changed as `bench/mutants.py` does; of the changes that make 1 to 12 tests fail the
first N by the seed are kept. Each is asked `debugger test -- python -m pytest -q TESTS`, as a user
would, and the changed line counts as named as in `bench/trial.py`.
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
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mutants import WORK, install_packages, list_changes, replace_node
from trial import find_row

DATA = Path(__file__).with_suffix(".toml")
SUITE_S, ANSWER_S = 60, 200
FAILED_MOST = 12  # tests: a change that more of them meet is found at once
TRIED_MOST = 40  # changes of a package, of which many are noticed by no test
TOOLS = ("pytest", "coverage", "setuptools", "wheel", "hatchling", "flit_core", "poetry-core")
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Suite:
    """A package's source with its tests."""

    folder: Path
    code: str
    tests: str
    python: Path

    def run(self, *words: str, seconds: float = SUITE_S) -> str:
        """Run the interpreter with the package's own code; return what it prints."""
        ran: subprocess.CompletedProcess[str] = subprocess.run(
            [str(self.python), *words],
            check=False,
            cwd=self.folder,
            env=self.environment(self.folder),
            capture_output=True,
            text=True,
            timeout=seconds,
        )
        return ran.stdout

    def environment(self, folder: Path) -> dict[str, str]:
        """Return the environment in which a copy of the package is imported."""
        return {**os.environ, "PYTHONPATH": str((folder / self.code).parent)}

    def failing_tests(self) -> set[str]:
        """Return the tests that fail; all time out together."""
        try:
            return set(_FAILED.findall(self.run("-m", "pytest", "-q", self.tests)))
        except subprocess.TimeoutExpired:
            return {"timeout"}


def fetch_suite(package: dict[str, Any], work: Path, python: Path) -> Suite:
    """Download and unpack a package's source once, and install what it needs."""
    folder = work / "suites" / package["name"]
    if not folder.exists():
        install_packages(work, [package["name"], *package.get("needs", ())])
        download = work / "downloads" / package["name"]
        source = ["--no-deps", "--no-binary", ":all:", "--no-build-isolation"]
        pip = [str(python), "-m", "pip"]
        words = [*pip, "download", "-q", *source, "-d", str(download), package["name"]]
        subprocess.run(words, check=True)
        with tarfile.open(next(download.glob("*.tar.gz"))) as archive:
            archive.extractall(download, filter="data")
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(next(one for one in download.iterdir() if one.is_dir()), folder)
    return Suite(folder, package["code"], package["tests"], python)


def executed_lines(suite: Suite) -> dict[str, list[int]]:
    """Return the lines of the package's code that its tests run."""
    code = str(suite.folder / suite.code)
    words = ["-m", "coverage", "run", f"--source={code}", "-m", "pytest", "-q", suite.tests]
    suite.run(*words, seconds=5 * SUITE_S)
    suite.run("-m", "coverage", "json", "-q", "-o", "lines.json")
    files = json.loads((suite.folder / "lines.json").read_text())["files"]
    # The package's own configuration may add its tests.
    return {
        file: one["executed_lines"]
        for file, one in files.items()
        if file.startswith(f"{suite.code}/")
    }


def make_mutants(suite: Suite, seed: str, count: int) -> Iterator[tuple[Path, str, range]]:
    """Yield changed copies of a package: the folder, and the changed file and lines."""
    before = suite.failing_tests()
    chosen = random.Random(f"{suite.folder.name} {seed}")  # noqa: S311 - repeatable
    changes = [
        (suite.folder / file, node, text)
        for file, lines in executed_lines(suite).items()
        for node, text in list_changes((suite.folder / file).read_text(), frozenset(lines))
    ]
    chosen.shuffle(changes)
    made = 0
    for file, node, text in changes[:TRIED_MOST]:
        if made == count:
            return
        source = file.read_text()
        try:
            file.write_text(replace_node(source, node, text))
            failed = suite.failing_tests() - before
            # A file that cannot be imported fails as a whole.
            if not 0 < len(failed) <= FAILED_MOST or any("::" not in one for one in failed):
                continue
            made += 1
            folder = suite.folder.parents[1] / "mutants" / f"{suite.folder.name}-{seed}-{made}"
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(suite.folder, folder)
        finally:
            file.write_text(source)
        yield folder, str(file.relative_to(suite.folder)), range(node.lineno, node.end_lineno + 1)


def ask_test(suite: Suite, folder: Path) -> str:
    """Return the answer to `test` about a changed copy."""
    command = [str(Path(sys.executable).with_name("debugger")), "test", "--", str(suite.python)]
    answer: subprocess.CompletedProcess[str] = subprocess.run(
        [*command, "-m", "pytest", "-q", suite.tests],
        check=False,
        cwd=folder,
        env=suite.environment(folder),
        capture_output=True,
        text=True,
        timeout=ANSWER_S,
    )
    return answer.stdout + answer.stderr


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the mutants, ask about each, and print how many answers name the changed line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("packages", nargs="*")
    parser.add_argument("--work", type=Path, default=WORK)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--count", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    python = install_packages(options.work, TOOLS)
    asked = named = characters = 0
    for package in tomllib.loads(DATA.read_text())["package"]:
        if options.packages and package["name"] not in options.packages:
            continue
        suite = fetch_suite(package, options.work, python)
        for folder, file, numbers in make_mutants(suite, options.seed, options.count):
            lines = (folder / file).read_text().split("\n")
            answer = ask_test(suite, folder)
            statement = lines[numbers.start - 1 : numbers.stop - 1]
            row = find_row(answer, Path(file).name, numbers, statement)
            asked, named = asked + 1, named + (row is not None)
            characters += len(answer)
            text = f"{folder.name} {file}:{numbers.start}: row {row or '-'}"
            print(text, file=sys.stderr, flush=True)
    if options.json:
        print(json.dumps({"asked": asked, "named": named, "characters": characters}))
        return 0
    print(f"test {named:3} of {asked:3} named, {characters:9,} characters")
    return 0


if __name__ == "__main__":
    sys.exit(main())
