"""How often does a first answer name a random change in a library?

    python bench/mutants.py [--work FOLDER] [--seed TEXT] [--count N] [--json] [PROGRAM…]

The bugs of `bench/trial.py` were chosen; these are not. Each program of `mutants.toml` is checked
against what it returns with the library as it is. Then one place of the library that the program
ran is changed: a comparison or a condition turned round, an operator or a number replaced, two
arguments exchanged, a statement dropped. Of the changes that make a case fail the first N by
the seed are kept, and each is asked what a user would ask: `crash`, for a failed assertion `why`,
`hang` for a program that does not end, and `path --vs` where another case still passes. The
changed line counts as named as in `bench/trial.py`.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trial import find_row

DATA = Path(__file__).with_suffix(".toml")
WORK = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "debugger-mutants"
RUN_S, ANSWER_S = 20, 120
SCRIPT = """
import sys

CASES = {cases!r}
EXPECTED = {expected!r}

def main():
    case = int(sys.argv[1])
    got = work(CASES[case])
    expected = EXPECTED[case]
    assert got == expected

main()
"""
# Run in the library as it is: what each case returns, and the lines that ran.
SURVEY = """
import json, sys
lines = {}
def call(frame, event, argument):
    file = frame.f_code.co_filename
    if ROOT not in file:
        return None
    def line(frame, event, argument):
        lines.setdefault(file, set()).add(frame.f_lineno)
        return line
    return line
sys.settrace(call)
results = [work(case) for case in CASES]
sys.settrace(None)
print(json.dumps([results, {file: sorted(some) for file, some in lines.items()}]))
"""
COMPARED = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
CALCULATED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult}

# The same by the text of a line, for languages without a parser here.
TURNED = {
    "==": "!=",
    "!=": "==",
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "&&": "||",
    "||": "&&",
    "+": "-",
    "-": "+",
    "+=": "-=",
    "-=": "+=",
}
WORDS = {"true": "false", "false": "true", "0": "1", "1": "2", "2": "3"}
_OPERATOR = re.compile(r"(?<= )(?:[=!<>+-]=|[<>+-]|&&|\|\|)(?= )")
_WORD = re.compile(r"(?<![\w.'])(?:true|false|[012])(?![\w.'])")
_NOT = re.compile(r"!(?=[\w(])(?<!\w!)")
_STATEMENT = re.compile(r"(?<=\s)(?:[\w.\[\]]+ = [^{}]+|(?!return\b|let\b)[\w.]+\([^{}]*\));?$")


@dataclass(frozen=True)
class Mutant:
    """A changed library in a folder of its own, and what its program then does."""

    folder: Path
    file: str
    line: int
    statement: tuple[str, ...]  # the changed lines
    ends: str  # assert, crash or hang
    bad: int
    good: int | None


def read_programs(names: Sequence[str]) -> list[dict[str, Any]]:
    """Read the programs with these names, or all."""
    every: list[dict[str, Any]] = tomllib.loads(DATA.read_text())["program"]
    return [one for one in every if not names or one["name"] in names]


def install_packages(work: Path, packages: Sequence[str]) -> Path:
    """Install packages into an environment; return its interpreter."""
    python = work / "venv/bin/python"
    if not python.exists():
        venv.create(work / "venv", with_pip=True)
    subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=True)
    return python


def make_mutants(
    program: dict[str, Any], work: Path, python: Path, seed: str, count: int
) -> Iterator[Mutant]:
    """Yield changed copies of a program's library with which one of its cases fails."""
    cases = [ast.literal_eval(one) for one in program["cases"]]
    site = next((work / "venv/lib").glob("python*/site-packages"))
    root = f"/{program['module']}/"
    head = f"{program['source']}\nCASES = {cases!r}\nROOT = {root!r}\n"
    survey = subprocess.run([python, "-c", head + SURVEY], capture_output=True, check=True)
    expected, lines = json.loads(survey.stdout)
    script = program["source"] + SCRIPT.format(cases=cases, expected=expected)
    chosen = random.Random(f"{program['name']} {seed}")  # noqa: S311 - repeatable
    changes = [
        (Path(file), node, text)
        for file, some in lines.items()
        for node, text in list_changes(Path(file).read_text(), frozenset(some))
    ]
    chosen.shuffle(changes)
    made = 0
    for file, node, text in changes:
        if made == count:
            return
        folder = work / "mutants" / f"{program['name']}-{seed}-{made}"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(site / program["module"], folder / "site" / program["module"])
        (folder / "run.py").write_text(script)
        place = file.relative_to(site)
        (folder / "site" / place).write_text(replace_node(file.read_text(), node, text))
        ends = [run_case(folder, python, case) for case in range(len(cases))]
        bad = [case for case, end in enumerate(ends) if end]
        good = [case for case, end in enumerate(ends) if not end]
        if bad:
            made += 1
            changed = (folder / "site" / place).read_text().split("\n")
            statement = tuple(changed[node.lineno - 1 : node.end_lineno])
            yield Mutant(
                *(folder, file.name, node.lineno, statement, ends[bad[0]], bad[0]),
                good[0] if good else None,
            )


def list_changes(source: str, lines: frozenset[int]) -> Iterator[tuple[Any, str]]:
    """Yield the nodes of a source that ran, each with the text that replaces it."""
    nodes: Iterator[Any] = ast.walk(ast.parse(source))
    for node in nodes:
        if getattr(node, "lineno", 0) not in lines:
            continue
        text = change_node(node)
        if text and (text == "pass" or node.lineno == node.end_lineno):
            yield node, text


def list_line_changes(source: str) -> Iterator[tuple[int, str]]:
    """Yield the changed lines of a source of Go or Rust, without those of tests in it."""
    for number, line in enumerate(source.split("\n"), 1):
        if line.startswith("#[cfg(test)]"):
            return
        code = line.split("//")[0].rstrip()
        if code.lstrip().startswith(("#", "use ", "import ")):
            continue
        for pattern, texts in ((_OPERATOR, TURNED), (_WORD, WORDS), (_NOT, {}), (_STATEMENT, {})):
            for found in pattern.finditer(code):
                head, tail = code[: found.start()], code[found.end() :]
                if not head.count('"') % 2:
                    yield number, head + texts.get(found[0], "") + tail


def change_node(node: Any) -> str:  # noqa: PLR0911 - one for each kind
    """Return the text of a changed node; "" for one that is left as it is."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARED:
        turned = [COMPARED[type(node.ops[0])](), *node.ops[1:]]
        return f"({ast.unparse(ast.Compare(node.left, turned, node.comparators))})"
    if isinstance(node, ast.BinOp) and type(node.op) in CALCULATED:
        return f"({ast.unparse(ast.BinOp(node.left, CALCULATED[type(node.op)](), node.right))})"
    if isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return f"({ast.unparse(ast.BoolOp(other, node.values))})"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return f"({ast.unparse(node.operand)})"
    if isinstance(node, ast.Constant) and type(node.value) in (int, bool):
        value: Any = node.value
        return f"({(not value if isinstance(value, bool) else value + 1)!r})"
    is_plain = isinstance(node, ast.Call) and not any(isinstance(a, ast.Starred) for a in node.args)
    if is_plain and len(node.args) > 1:
        first, second, *rest = node.args
        return f"({ast.unparse(ast.Call(node.func, [second, first, *rest], node.keywords))})"
    is_call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    is_write = isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute)
    return "pass" if is_call or is_write or isinstance(node, ast.AugAssign) else ""


def replace_node(source: str, node: Any, text: str) -> str:
    """Return a source with a node replaced; the lines after it keep their numbers."""
    lines = source.encode().splitlines(keepends=True)
    first, last = node.lineno - 1, node.end_lineno - 1
    head = lines[first][: node.col_offset]
    tail = lines[last][node.end_col_offset :]
    empty = b"\n" * (last - first)
    return b"".join(
        [*lines[:first], head + text.encode() + tail + empty, *lines[last + 1 :]]
    ).decode()


def run_case(folder: Path, python: Path, case: int) -> str:
    """Run a case; return how it fails: assert, crash or hang, "" if it passes."""
    env = {**os.environ, "PYTHONPATH": str(folder / "site"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [str(python), "run.py", str(case)]
    try:
        ran = subprocess.run(
            command,
            check=False,
            cwd=folder,
            env=env,
            capture_output=True,
            text=True,
            timeout=RUN_S,
        )
    except subprocess.TimeoutExpired:
        return "hang"
    if not ran.returncode:
        return ""
    return "assert" if "assert got == expected" in ran.stderr else "crash"


def list_questions(mutant: Mutant, python: Path) -> dict[str, list[str]]:
    """Return the questions that a user would ask, by name."""
    run = [str(python), "run.py", str(mutant.bad)]
    if mutant.ends == "hang":
        return {"hang": ["hang", "--after", "3", "--", *run]}
    found = {"crash": ["crash", "--", *run]}
    if mutant.ends == "assert":
        found["why"] = ["why", "got", "--at", "crash", "--", *run]
    if mutant.good is not None:
        found["path"] = ["path", "--", *run, "--vs", *run[:-1], str(mutant.good)]
    return found


def ask_question(mutant: Mutant, words: Sequence[str]) -> str:
    """Return the answer to a question about a mutant."""
    env = {**os.environ, "PYTHONPATH": str(mutant.folder / "site")}
    command = [str(Path(sys.executable).with_name("debugger")), *words]
    answer: subprocess.CompletedProcess[str] = subprocess.run(
        command,
        check=False,
        cwd=mutant.folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=ANSWER_S,
    )
    return answer.stdout + answer.stderr


def main() -> int:
    """Make the mutants, ask about each, and print how many answers name the changed line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--work", type=Path, default=WORK)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--count", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    programs = read_programs(options.programs)
    python = install_packages(options.work, [one["package"] for one in programs])
    figures: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for program in programs:
        for mutant in make_mutants(program, options.work, python, options.seed, options.count):
            named = ask_all(mutant, python, figures)
            text = f"{mutant.folder.name} {mutant.ends} {mutant.file}:{mutant.line}"
            print(f"{text}: {', '.join(named) or '-'}", file=sys.stderr, flush=True)
    if options.json:
        print(json.dumps(figures))
        return 0
    for name, (asked, count, characters) in sorted(figures.items()):
        print(f"{name:14} {count:3} of {asked:3} named, {characters:9,} characters")
    return 0


def ask_all(mutant: Mutant, python: Path, figures: dict[str, list[int]]) -> list[str]:
    """Ask a mutant's questions, and count the answers; return the questions that name the line."""
    named = []
    numbers = range(mutant.line, mutant.line + len(mutant.statement))
    for name, words in list_questions(mutant, python).items():
        answer = ask_question(mutant, words)
        is_named = find_row(answer, mutant.file, numbers, mutant.statement) is not None
        named += [name] if is_named else []
        add_figures(figures[f"{mutant.ends}.{name}"], len(answer), is_named=is_named)
    add_figures(figures[f"{mutant.ends}.any"], 0, is_named=bool(named))
    return named


def add_figures(row: list[int], characters: int, *, is_named: bool) -> None:
    """Count an answer in a row of figures: answers, those that name the line, characters."""
    row[0] += 1
    row[1] += is_named
    row[2] += characters


if __name__ == "__main__":
    sys.exit(main())
