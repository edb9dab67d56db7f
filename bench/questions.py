"""What does an answer cost by our questions, step by step, and by mcp-debugger?

    python bench/questions.py [NAME…] [--json] [--ours] [--answers FOLDER]

For each of examples/bugs/: the calls and the characters that were read until the line of its cause
was. Step by step means the basic commands that `expect.toml` lists as `steps`; mcp-debugger (npm)
is asked the same of Python and JavaScript over its standard streams, where npm can install it.
Each column has to show the cause's line, or says `no`. `--ours` leaves mcp-debugger out,
`--answers` writes what was read into a folder, a file for each bug and column.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from mcp_debugger import CannotAskError, McpDebugger, installed

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from bug_examples import CannotHaveError, Example, examples, filled, line_of, made  # noqa: E402

COMMAND_S = 90
BUDGET_S = 9 * 60
_STEPPED = ("python", "js")
_PLACE = re.compile(r'"file":"[^"]*?([^/"]+)","line":(\d+)')


@dataclass(frozen=True)
class Cost:
    """What was read until the cause was: calls, characters, and whether its line was in them."""

    calls: int
    characters: int
    shows: bool


@dataclass(frozen=True)
class Row:
    """One bug; None is what could not be asked."""

    name: str
    ours: Cost
    steps: Cost | None
    other: Cost | None

    @property
    def ratio(self) -> float | None:
        """Return our characters by those of the steps."""
        return self.ours.characters / self.steps.characters if self.steps else None


class Commands:
    """The command line, with a daemon of its own."""

    def __init__(self, runtime: Path) -> None:
        self.env = {
            **os.environ,
            "DEBUGGER_RUNTIME_DIR": str(runtime),
            "DEBUGGER_CONFIG": str(runtime / "none.toml"),
        }

    def run(self, words: Sequence[str], folder: Path) -> str:
        """Run one command, and return all that it wrote."""
        done = subprocess.run(
            [sys.executable, "-m", "debugger", *words],
            env=self.env,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=COMMAND_S,
            check=False,
        )
        return done.stdout + done.stderr


def places(one: Example, folder: Path) -> set[str]:
    """Return where the cause is by what the example expects, as FILE:LINE and as its text."""
    known = [ask for ask in one.asks if ask.file and ask.line]
    named = {f"{Path(ask.file).name}:{line_of(folder / ask.file, ask.line)}" for ask in known}
    return named | {ask.line for ask in known}


def cost(answers: Sequence[str], wanted: set[str]) -> Cost:
    """Count what was read; a place is shown as FILE:LINE, by its text, or in JSON's words."""
    text = "\n".join(answers)
    told = {f"{file}:{line}" for file, line in _PLACE.findall(text)}
    shows = not wanted or any(re.search(rf"{re.escape(each)}(?!\w)", text) for each in wanted)
    return Cost(len(answers), sum(map(len, answers)), shows or bool(told & wanted))


def asked(one: Example, folder: Path, commands: Commands, wanted: set[str]) -> list[str]:
    """Ask the questions of an example, up to the first answer that holds the cause's line."""
    said: list[str] = []
    for ask in one.asks:
        said.append(commands.run(filled(ask.command, folder), folder))
        # A session that is begun is no answer yet.
        if wanted and ask.command[0] != "start" and cost(said, wanted).shows:
            break
    if one.asks[0].command[0] == "start":
        commands.run(["stop"], folder)
    return said


def stepped(one: Example, folder: Path, commands: Commands) -> list[str]:
    """Go the way of the basic commands."""
    said = [commands.run(filled(words, folder), folder) for words in one.steps]
    commands.run(["stop"], folder)
    return said


async def elsewhere(one: Example, folder: Path, wanted: set[str], script: Path) -> Cost:
    """Go the same way with mcp-debugger."""
    async with McpDebugger.started(script) as other:
        for words in one.steps:
            await other.step(filled(words, folder), folder, one.language)
        return cost(other.said, wanted)


def kept(
    answers: Path | None, name: str, commands: Sequence[Sequence[str]], said: Sequence[str]
) -> None:
    """Write what was read into a folder, if one is wanted."""
    if answers is None:
        return
    answers.mkdir(parents=True, exist_ok=True)
    pairs = zip(commands, said, strict=False)
    text = "".join(f"$ debugger {shlex.join(words)}\n{answer}\n" for words, answer in pairs)
    (answers / f"{name}.txt").write_text(text, encoding="utf-8")


def measure(one: Example, commands: Commands, answers: Path | None) -> Row:
    """Measure one bug in a folder of its own, by our questions and by our basic commands."""
    with tempfile.TemporaryDirectory(prefix="bench-", dir="/tmp") as private:
        folder = made(one, Path(private))
        wanted = places(one, folder)
        ours = asked(one, folder, commands, wanted)
        kept(answers, f"{one.name}.ours", [ask.command for ask in one.asks], ours)
        steps = stepped(one, folder, commands)
        kept(answers, f"{one.name}.steps", one.steps, steps)
        return Row(one.name, cost(ours, wanted), cost(steps, wanted) if steps else None, None)


def compared(one: Example, row: Row, script: Path) -> Row:
    """Add what it takes by mcp-debugger."""
    with tempfile.TemporaryDirectory(prefix="bench-", dir="/tmp") as private:
        folder = made(one, Path(private))
        other = asyncio.run(elsewhere(one, folder, places(one, folder), script))
        return replace(row, other=other)


def told(one: Cost | None) -> str:
    """Write one column's cell."""
    if one is None:
        return f"{'-':>5} {'-':>7} {'-':>4}"
    return f"{one.calls:>5} {one.characters:>7,} {'yes' if one.shows else 'no':>4}"


def table(rows: Sequence[Row]) -> str:
    """Write all rows, and what they come to."""
    lines = [f"{'':18}{'questions':>18}  {'step by step':>18}  {'mcp-debugger':>18}  characters"]
    lines += [f"{'bug':18}" + 3 * f"{'calls':>5} {'chars':>7} {'line':>4}  " + "by steps"]
    for row in rows:
        ratio = f"{row.ratio:.2f}" if row.ratio is not None else "-"
        cells = "  ".join(map(told, (row.ours, row.steps, row.other)))
        lines.append(f"{row.name:18}{cells}  {ratio}")
    few = sum(row.ours.calls <= 2 for row in rows)  # noqa: PLR2004 - the aim
    lines.append(f"cause's line by our questions: {sum(r.ours.shows for r in rows)} of {len(rows)}")
    lines.append(f"in 2 calls at most: {few} of {len(rows)}")
    for name, column in (("step by step", "steps"), ("mcp-debugger", "other")):
        pairs = [(row.ours, getattr(row, column)) for row in rows if getattr(row, column)]
        if not pairs:
            continue
        mine, theirs = (sum(pair[at].characters for pair in pairs) for at in (0, 1))
        quarter = sum(one.characters <= other.characters / 4 for one, other in pairs)
        lines.append(
            f"characters by {name}: {mine / theirs:.2f} of all; "
            f"a quarter or less in {quarter} of {len(pairs)}; "
            f"it shows the line in {sum(other.shows for _, other in pairs)}"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure the bugs that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--ours", action="store_true")
    parser.add_argument("--answers", type=Path)
    words = parser.parse_args()
    began = time.monotonic()
    known = {one.name: one for one in examples() if not words.names or one.name in words.names}
    rows: dict[str, Row] = {}

    def each(names: Sequence[str], what: str, add: Callable[[Example], Row]) -> None:
        for name in names:
            if time.monotonic() - began > BUDGET_S:
                print(f"{name}: without {what}, the time was up", file=sys.stderr)
                continue
            try:
                rows[name] = add(known[name])
                print(table([rows[name]]).splitlines()[2], file=sys.stderr, flush=True)
            except (CannotHaveError, CannotAskError, OSError, subprocess.SubprocessError) as error:
                print(f"{name}: without {what}: {str(error)[:300]}", file=sys.stderr)

    with tempfile.TemporaryDirectory(prefix="bench-", dir="/tmp") as runtime:
        commands = Commands(Path(runtime))
        try:
            each(list(known), "an answer", lambda one: measure(one, commands, words.answers))
        finally:
            commands.run(["daemon", "stop"], Path(runtime))
    try:
        script = None if words.ours else installed(ROOT / ".cache" / "mcp-debugger")
    except CannotAskError as error:
        print(f"without mcp-debugger: {error}", file=sys.stderr)
    else:
        others = [one for one in rows if known[one].steps and known[one].language in _STEPPED]
        if script is not None:
            each(others, "mcp-debugger", lambda one: compared(one, rows[one.name], script))
    shown: Any = [asdict(row) for row in rows.values()]
    print(json.dumps(shown, indent=1) if words.json else table(list(rows.values())))


if __name__ == "__main__":
    main()
