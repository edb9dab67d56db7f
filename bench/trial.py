"""Are hidden bugs in large libraries found by the first question that a user would ask?

    python bench/trial.py list|fetch|run [CASE…] [--work FOLDER] [--json] [--answers FOLDER]

`bench/trial/*.toml` names published packages, and for each one change of a few words at one line
that makes it wrong, a small program that shows the symptom, and one question: the first that the
skill page suggests for the symptom. `fetch` gets the packages by their registries' ordinary
clients, checks that the symptom does not show before the change and does show after it, and
writes for each case what a user would say of it (`tasks/CASE/task.txt`) and, apart from it, what
was changed (`answers/CASE.txt`). `run` asks the question and looks for the changed line, as
FILE:LINE or as a numbered line of source, in the answer's text. No case is left out for what the
answer is.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

DATA = Path(__file__).with_suffix("")
WORK = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "debugger-trial"
FETCH_S = 900
COMMAND_S = 60
ANSWER_S = 240
HANG_S = 15
LEAST_LINES = 20_000
SHORT_RANGE = 8
_SOURCES = {
    "python": (".py",),
    "javascript": (".js", ".cjs", ".mjs", ".ts"),
    "c": (".c", ".h", ".cc", ".cpp", ".hpp"),
    "go": (".go",),
    "rust": (".rs",),
}


class TrialError(Exception):
    """A case that cannot be set up as its data says."""


@dataclass(frozen=True)
class Case:
    """One library with one line changed, the programs that show it, and the first question."""

    name: str
    language: str
    packages: tuple[str, ...]  # Registry and package with its version: `pypi:sqlglot==26.12.0`.
    needs: tuple[str, ...]  # What the packages need beside them, of the same registry.
    drop: tuple[str, ...]  # Other builds of the same source, which would show the original.
    file: str  # The changed file, from the case's folder.
    line: int  # The changed line, and where its statement ends.
    through: int
    function: str  # The function around the change.
    find: str
    put: str
    situation: str  # A situation of the skill page.
    symptom: str  # What a user would say.
    shows: str  # A pattern that the failing command's output has.
    bad: str
    good: str
    build: tuple[str, ...]
    ask: str
    hangs: bool
    files: tuple[tuple[str, str], ...]  # The user's own files.

    def folder(self, work: Path) -> Path:
        """Return the folder that holds the case's sources and programs."""
        return work / "tasks" / self.name

    def filled(self, text: str, work: Path) -> str:
        """Return a command with the placeholders filled in."""
        for word, value in (("{bad}", self.bad), ("{good}", self.good)):
            text = text.replace(word, value)
        return text.replace("{python}", str(work / "venv/bin/python"))


@dataclass(frozen=True)
class Found:
    """What one answer holds of the cause."""

    name: str
    language: str
    situation: str
    named: bool  # The changed line is in the answer.
    row: int | None  # The line of the answer that names it first.
    function: bool  # The name of the function around it is in the answer.
    characters: int
    seconds: float
    status: int


def read_cases(names: Sequence[str]) -> list[Case]:
    """Read the cases, all or those that begin with one of the names."""
    cases: list[Case] = []
    for path in sorted(DATA.glob("*.toml")):
        cases.extend(map(case_of, tomllib.loads(path.read_text())["case"]))
    cases.sort(key=lambda case: case.name)
    chosen = [case for case in cases if not names or any(case.name.startswith(n) for n in names)]
    if not chosen:
        raise TrialError(f"no case begins with {' or '.join(names)}")
    return chosen


def case_of(raw: dict[str, Any]) -> Case:
    """Make a case of its table in the data."""
    return Case(
        name=raw["name"],
        language=raw["language"],
        packages=tuple(raw["packages"]),
        needs=tuple(raw.get("needs", ())),
        drop=tuple(raw.get("drop", ())),
        file=raw["file"],
        line=raw["line"],
        through=raw.get("through", raw["line"]),
        function=raw["function"],
        find=raw["find"],
        put=raw["put"],
        situation=raw["situation"],
        symptom=raw["symptom"].strip(),
        shows=raw["shows"],
        bad=raw["bad"],
        good=raw.get("good", ""),
        build=tuple(raw.get("build", ())),
        ask=raw["ask"],
        hangs=raw.get("hangs", False),
        files=tuple(raw["files"].items()),
    )


# -- fetching ----------------------------------------------------------------------------------


def run_words(
    words: Sequence[str], cwd: Path, env: dict[str, str] | None = None, timeout: float = FETCH_S
) -> subprocess.CompletedProcess[str]:
    """Run a program without standard input; its output and errors are text."""
    return subprocess.run(
        words,
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=timeout,
        check=False,
    )


def run_client(words: Sequence[str], cwd: Path, env: dict[str, str] | None = None) -> str:
    """Run a registry's client or a build, and return its output.

    Raises:
        TrialError: When it fails.
    """
    done = run_words(words, cwd, env)
    if done.returncode:
        raise TrialError(f"{shlex.join(words)}: {(done.stdout + done.stderr)[-1500:]}")
    return done.stdout


def make_venv(work: Path) -> Path:
    """Make the virtual environment that the Python cases share, and return its interpreter."""
    python = work / "venv/bin/python"
    if not python.exists():
        run_client([sys.executable, "-m", "venv", str(work / "venv")], work)
        run_client([str(python), "-m", "pip", "install", "-q", "pytest"], work)
    return python


def fetch_pypi(case: Case, names: Sequence[str], folder: Path, work: Path) -> None:
    """Put packages beside the program, as Python source alone."""
    pip = [str(make_venv(work)), "-m", "pip", "install", "-q", "--no-compile"]
    if case.needs:
        run_client([*pip, *case.needs], work)
    run_client([*pip, "--no-deps", "--no-cache-dir", "--target", str(folder), *names], work)
    for compiled in folder.rglob("*.so"):
        compiled.unlink()


def fetch_npm(case: Case, names: Sequence[str], folder: Path, work: Path) -> None:
    """Unpack packages beside the program, not below node_modules: they count as the user's own."""
    with tempfile.TemporaryDirectory(dir=work) as cache:
        for name in names:
            quiet = ["--silent", "--cache", cache]
            packed = run_client(["npm", "pack", *quiet, name], folder).split()[-1]
            target = folder / name.rsplit("@", 1)[0].lstrip("@").replace("/", "-")
            target.mkdir()
            run_client(["tar", "xzf", packed, "-C", str(target), "--strip-components=1"], folder)
            (folder / packed).unlink()
    if case.needs:
        words = ["npm", "install", "--no-save", "--silent", "--ignore-scripts", "--no-audit"]
        run_client([*words, *case.needs], folder)


def fetch_go(names: Sequence[str], folder: Path, work: Path) -> None:
    """Make the case's folder a copy of a module, with what it needs in the usual module cache."""
    with tempfile.TemporaryDirectory(dir=work, ignore_cleanup_errors=True) as cache:
        env = {"GOMODCACHE": cache, "GOFLAGS": "-modcacherw"}
        for name in names:
            found = run_client(["go", "mod", "download", "-json", name], folder, env)
            shutil.copytree(json.loads(found)["Dir"], folder, dirs_exist_ok=True)
    run_client(["chmod", "-R", "u+w", str(folder)], work)
    run_client(["go", "mod", "download"], folder)


def fetch_crates(names: Sequence[str], folder: Path, work: Path) -> None:
    """Put crates beside the program, and what they need into `vendor`."""
    manifest = folder / "Cargo.toml"
    own = manifest.read_text() if manifest.exists() else ""
    wanted = "\n".join(f'{name} = "={version}"' for name, _, version in map(split_name, names))
    with tempfile.TemporaryDirectory(dir=work) as cache:
        env = {"CARGO_HOME": cache}
        project = Path(cache) / "project"
        (project / "src").mkdir(parents=True)
        (project / "src/lib.rs").touch()
        (project / "Cargo.toml").write_text(
            '[package]\nname = "fetched"\nversion = "0.1.0"\nedition = "2021"\n'
            f"[dependencies]\n{wanted}\n"
        )
        run_client(["cargo", "vendor", "-q"], project, env)
        for name, _, _ in map(split_name, names):
            shutil.move(project / "vendor" / name, folder / name)
        if own:
            shutil.move(project / "vendor", folder / "vendor")
    if own:
        (folder / ".cargo").mkdir()
        (folder / ".cargo/config.toml").write_text(
            '[source.crates-io]\nreplace-with = "vendored"\n[source.vendored]\n'
            'directory = "vendor"\n[net]\noffline = true\n'
        )


def split_name(name: str) -> tuple[str, str, str]:
    """Split `name==version` or `name@version`."""
    separator = "==" if "==" in name else "@"
    return name.rpartition(separator)


def fetch_packages(case: Case, folder: Path, work: Path) -> None:
    """Get the packages of a case, by the client of their registry."""
    registry = case.packages[0].partition(":")[0]
    names = [package.partition(":")[2] for package in case.packages]
    if registry == "pypi":
        fetch_pypi(case, names, folder, work)
    elif registry == "npm":
        fetch_npm(case, names, folder, work)
    elif registry == "go":
        fetch_go(names, folder, work)
    elif registry == "crates":
        fetch_crates(names, folder, work)
    else:
        raise TrialError(f"{case.name}: no client for {registry}")
    for pattern in case.drop:
        for path in list(folder.glob(pattern)):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()


# -- setting up --------------------------------------------------------------------------------


def fetch_case(case: Case, work: Path) -> int:
    """Set up one case, and return how many lines its libraries have.

    Raises:
        TrialError: When the symptom shows without the change, or does not show with it.
    """
    folder = case.folder(work)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    write_files(case, folder, first=True)
    fetch_packages(case, folder, work)
    write_files(case, folder, first=False)
    lines = count_lines(folder, _SOURCES[case.language])
    if lines < LEAST_LINES:
        raise TrialError(f"{case.name}: only {lines:,} lines")
    build(case, work)
    status, output = run_program(case, case.bad, work)
    if status != 0:
        raise TrialError(f"{case.name}: fails without the change, with {status}: {output[-800:]}")
    change_line(case, folder)
    remove_leftovers(folder)
    build(case, work)
    check_symptom(case, work)
    write_task(case, work, lines)
    return lines


def write_files(case: Case, folder: Path, *, first: bool) -> None:
    """Write the user's own files; Cargo.toml comes first, as the client looks for it."""
    for name, text in case.files:
        if (name == "Cargo.toml") == first:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.lstrip("\n"))


def count_lines(folder: Path, suffixes: Iterable[str]) -> int:
    """Count the lines of source in a case's folder, without what the libraries need."""
    return sum(
        path.read_bytes().count(b"\n")
        for suffix in suffixes
        for path in folder.rglob(f"*{suffix}")
        if path.is_file() and not {"node_modules", "vendor", "target"} & set(path.parts)
    )


def change_line(case: Case, folder: Path) -> None:
    """Put the fault in.

    Raises:
        TrialError: When the words to replace are not on the line exactly once.
    """
    path = folder / case.file
    lines = path.read_text(encoding="utf-8").split("\n")
    old = lines[case.line - 1]
    if old.count(case.find) != 1:
        raise TrialError(f"{case.name}: {case.file}:{case.line} is {old.strip()!r}")
    lines[case.line - 1] = old.replace(case.find, case.put)
    path.write_text("\n".join(lines), encoding="utf-8")


def remove_leftovers(folder: Path) -> None:
    """Remove what would show the original."""
    for name in ("__pycache__", ".pytest_cache"):
        for cache in list(folder.rglob(name)):
            shutil.rmtree(cache, ignore_errors=True)


def build(case: Case, work: Path) -> None:
    """Run the commands that build a case's program."""
    for command in case.build:
        run_client(["bash", "-c", case.filled(command, work)], case.folder(work))


def run_program(
    case: Case, command: str, work: Path, seconds: float = COMMAND_S
) -> tuple[int, str]:
    """Run a case's program; -1 is the status of one that did not end in time."""
    words = shlex.split(case.filled(command, work))
    env = {"PYTHONDONTWRITEBYTECODE": "1"}
    while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
        name, _, value = words.pop(0).partition("=")
        env[name] = value
    try:
        done = run_words(words, case.folder(work), env, seconds)
    except subprocess.TimeoutExpired as error:
        parts = (error.output or b"", error.stderr or b"")
        return -1, "".join(
            part.decode(errors="replace") if isinstance(part, bytes) else part for part in parts
        )
    return done.returncode, done.stdout + done.stderr


def check_symptom(case: Case, work: Path) -> None:
    """Check that the failing command fails as the case says, and that the good one passes.

    Raises:
        TrialError: When one of them does not.
    """
    limit = HANG_S if case.hangs else COMMAND_S
    status, output = run_program(case, case.bad, work, limit)
    if (status == -1) != case.hangs or status == 0:
        raise TrialError(f"{case.name}: {case.bad} ended with {status}: {output[-800:]}")
    if not re.search(case.shows, output):
        raise TrialError(f"{case.name}: {case.bad} does not show it: {output[-800:]}")
    if case.good:
        status, output = run_program(case, case.good, work)
        if status != 0:
            raise TrialError(f"{case.name}: {case.good} ended with {status}: {output[-800:]}")


def write_task(case: Case, work: Path, lines: int) -> None:
    """Write what a user would say of the case, and apart from it what was changed."""
    folder = case.folder(work)
    rows = [case.symptom, "", f"Fails: {case.filled(case.bad, work)}"]
    if case.good:
        rows.append(f"Works: {case.filled(case.good, work)}")
    if case.build:
        rows.append(f"Built by: {' && '.join(case.filled(each, work) for each in case.build)}")
    rows.append(f"Run it in {folder}, which holds all the sources ({lines:,} lines).")
    if case.language == "python":
        rows.append(f"The interpreter is {work / 'venv/bin/python'}.")
    rows.append("The fault is one line of the library, not of the small program.")
    (folder / "task.txt").write_text("\n".join(rows) + "\n")
    answers = work / "answers"
    answers.mkdir(exist_ok=True)
    (answers / f"{case.name}.txt").write_text(
        f"{case.file}:{case.line} in {case.function}: {case.find!r} became {case.put!r}\n"
        f"packages: {' '.join(case.packages)}\nfirst question: debugger {case.ask}\n"
    )


# -- asking ------------------------------------------------------------------------------------


def ask_question(case: Case, work: Path, runtime: Path) -> tuple[str, float, int]:
    """Ask a case's question by a daemon of its own; return the answer, the seconds, the status."""
    env = {
        "DEBUGGER_RUNTIME_DIR": str(runtime),
        "DEBUGGER_CONFIG": str(runtime / "none.toml"),
    }
    words = [sys.executable, "-m", "debugger", *shlex.split(case.filled(case.ask, work))]
    began = time.monotonic()
    try:
        done = run_words(words, case.folder(work), env, ANSWER_S)
    except subprocess.TimeoutExpired:
        return f"no answer within {ANSWER_S} s", time.monotonic() - began, -1
    return done.stdout + done.stderr, time.monotonic() - began, done.returncode


def judge_answer(case: Case, answer: str, statement: Sequence[str]) -> tuple[int | None, bool]:
    """Return the row of an answer that names the cause first, and whether its function is named."""
    numbers = range(case.line, case.through + 1)
    row = find_row(answer, Path(case.file).name, numbers, statement)
    name = case.function.rsplit(".", 1)[-1].rsplit("::", 1)[-1]
    return row, bool(re.search(rf"\b{re.escape(name)}\b", answer))


def find_row(answer: str, file: str, numbers: range, statement: Sequence[str]) -> int | None:
    """Return the first row of an answer that names one of some lines of a file; None without one.

    A row names it as FILE:LINE, as FILE:FIRST-LAST of few lines, as :LINE where the rows before it
    are of the same file, or as the number of a line of source before its text.
    """
    spans = re.compile(rf"(?<![\w.]){re.escape(file)}:(\d+)-(\d+)")
    full = [re.compile(rf"(?<![\w.]){re.escape(file)}:{number}(?!\d)") for number in numbers]
    short = [re.compile(rf"(?<![\w.]):{number}(?!\d)") for number in numbers]
    texts = [
        (number, text.strip()[:24])
        for number, text in zip(numbers, statement, strict=True)
        if text.strip()
    ]
    listed = [re.compile(rf"^\W*{number}\b.*{re.escape(text)}") for number, text in texts]
    of_file = False
    for count, said in enumerate(answer.splitlines(), 1):
        other = re.findall(r"[\w.-]+\.(?:py|[cm]?js|ts|c|cc|cpp|h|hpp|go|rs)(?=:\d)", said)
        spanned = any(covers(span.groups(), numbers) for span in spans.finditer(said))
        if spanned or any(pattern.search(said) for pattern in full):
            return count
        of_file = file in said or (of_file and not other)
        patterns = [*short, *listed] if of_file else listed
        if any(pattern.search(said) for pattern in patterns):
            return count
    return None


def covers(ends: Sequence[str], numbers: range) -> bool:
    """Tell whether a short range of lines holds one of the changed ones."""
    first, last = map(int, ends)
    return last - first < SHORT_RANGE and any(first <= number <= last for number in numbers)


def run_case(case: Case, work: Path, runtime: Path, answers: Path | None) -> Found:
    """Ask a case's question, and judge the answer.

    Raises:
        TrialError: When its symptom does not show.
    """
    check_symptom(case, work)
    answer, seconds, status = ask_question(case, work, runtime)
    source = (case.folder(work) / case.file).read_text(encoding="utf-8").split("\n")
    row, function = judge_answer(case, answer, source[case.line - 1 : case.through])
    if answers is not None:
        answers.mkdir(parents=True, exist_ok=True)
        (answers / f"{case.name}.txt").write_text(f"$ debugger {case.ask}\n{answer}")
    return Found(
        name=case.name,
        language=case.language,
        situation=case.situation,
        named=row is not None,
        row=row,
        function=function,
        characters=len(answer),
        seconds=round(seconds, 1),
        status=status,
    )


def show_found(found: Sequence[Found]) -> str:
    """Return the results as a table, with totals."""
    rows = [f"{'case':<26} {'situation':<14} line  row function characters seconds"]
    for one in found:
        row = "-" if one.row is None else str(one.row)
        rows.append(
            f"{one.name:<26} {one.situation:<14} {'yes' if one.named else 'no':<4} {row:>4} "
            f"{'yes' if one.function else 'no':<8} {one.characters:>10,} {one.seconds:>7.1f}"
        )
    named = sum(one.named for one in found)
    rows.append(
        f"{named} of {len(found)} name the changed line, "
        f"{sum(one.function for one in found)} its function; "
        f"{sum(one.characters for one in found):,} characters, "
        f"{sum(one.seconds for one in found):.0f} s"
    )
    return "\n".join(rows)


def show_cases(cases: Sequence[Case], *, as_json: bool) -> str:
    """Return the list of cases, without the changes."""
    if as_json:
        return json.dumps([asdict(case) for case in cases], indent=1)
    return "\n".join(
        f"{case.name:<26} {case.situation:<14} {' '.join(case.packages)}" for case in cases
    )


def ask_all(cases: Sequence[Case], work: Path, answers: Path | None) -> tuple[list[Found], bool]:
    """Ask the questions of all cases; return what was found, and whether a case could not run."""
    found = []
    broken = False
    with tempfile.TemporaryDirectory(prefix="dbg-trial-") as runtime:
        for case in cases:
            try:
                found.append(run_case(case, work, Path(runtime), answers))
            except TrialError as error:
                broken = True
                print(f"error: {error}", file=sys.stderr)
        stop = [sys.executable, "-m", "debugger", "daemon", "stop"]
        run_words(stop, work, {"DEBUGGER_RUNTIME_DIR": runtime}, COMMAND_S)
    return found, broken


def main() -> int:
    """List, fetch or run the cases."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("action", choices=("list", "fetch", "run"))
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--work", type=Path, default=WORK)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--answers", type=Path)
    args = parser.parse_args()
    cases = read_cases(args.cases)
    if args.action == "list":
        print(show_cases(cases, as_json=args.json))
        return 0
    work = args.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    if args.action == "fetch":
        return fetch_all(cases, work)
    found, broken = ask_all(cases, work, args.answers)
    if args.json:
        print(json.dumps([asdict(one) for one in found], indent=1))
    else:
        print(show_found(found))
    return 1 if broken else 0


def fetch_all(cases: Sequence[Case], work: Path) -> int:
    """Set up all cases; one that cannot be set up is an error, and the others go on."""
    failed = 0
    for case in cases:
        try:
            print(f"{case.name}: {fetch_case(case, work):,} lines", flush=True)
        except (TrialError, OSError, subprocess.TimeoutExpired) as error:
            failed += 1
            print(f"error: {error}", file=sys.stderr, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
