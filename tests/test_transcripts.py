"""Whole sessions read as written down in transcripts/.

A transcript begins with `program: NAME` (a debuggee, and the files it needs beside it) and
`needs: ADAPTER`, then has commands with what they print. In a command, `{name}` is the number of
the line marked `@name`, and `{FILE@name}` that of another file. `pytest --update` writes down
what is seen.
"""

from __future__ import annotations

import difflib
import os
import re
import shlex
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from debuggees import compile_into, find_marker, find_source

TRANSCRIPTS = Path(__file__).parent / "transcripts"
FILES = sorted(TRANSCRIPTS.glob("*.txt"))
_PROMPT = "$ debugger "


@dataclass(frozen=True)
class Step:
    """A command, the comments before it, and what it prints."""

    comments: tuple[str, ...]
    command: str
    expected: str = ""

    def __str__(self) -> str:
        lines = [*self.comments, _PROMPT + self.command, self.expected]
        return "\n".join(line for line in lines if line)


@dataclass(frozen=True)
class Transcript:
    """A session as a file has it."""

    files: tuple[str, ...]
    needs: str
    about: tuple[str, ...]
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        head = [*self.about, f"program: {' '.join(self.files)}", f"needs: {self.needs}"]
        return "\n\n".join(["\n".join(head), *map(str, self.steps)]) + "\n"


def read(path: Path) -> Transcript:
    """Read a transcript.

    Raises: KeyError when it does not say which program it needs, and which adapter.
    """
    head, *blocks = re.split(r"\n\n(?=(?:# .*\n)*\$ debugger )", path.read_text(encoding="utf-8"))
    lines = head.strip().splitlines()
    fields = dict(line.split(": ", 1) for line in lines if not line.startswith("#"))
    about = tuple(line for line in lines if line.startswith("#"))
    files = tuple(fields["program"].split())
    return Transcript(files, fields["needs"], about, tuple(map(_step, blocks)))


def _step(block: str) -> Step:
    lines = block.rstrip("\n").splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith(_PROMPT))
    command = lines[at].removeprefix(_PROMPT)
    return Step(tuple(lines[:at]), command, "\n".join(lines[at + 1 :]))


def prepare(files: tuple[str, ...], folder: Path) -> None:
    """Put a debuggee's source, and the program built from it, into a folder."""
    for name in files:
        shutil.copy(find_source(name), folder)
    if not files[0].endswith(".py"):
        compile_into(folder, folder / files[0])


def words(command: str, program: str) -> list[str]:
    """Split a command as a shell does, with the markers resolved to numbers."""

    def line(found: re.Match[str]) -> str:
        return str(find_marker(find_source(found["file"] or program), found["name"]))

    return shlex.split(re.sub(r"\{(?:(?P<file>[\w.]+)@)?(?P<name>[a-z_]+)\}", line, command))


# What differs from run to run, or from one machine's C library to another's.
_VOLATILE: Final = tuple(
    (re.compile(pattern, re.MULTILINE), name)
    for pattern, name in (
        (r"0x[0-9a-f]{6,16}\b", "<addr>"),
        (r"(?<=\bpid )\d+", "<pid>"),
        (r"\b\d+(?:\.\d+)?(?= ?(?:ms|s|seconds)\b)", "<time>"),
        (r"(?:^[* ] #\d+ .* <addr>\n?)+", "  <frames without source>\n"),
        (
            r"^  … \d+ frames? of the runtime: debugger backtrace --limit \d+$",
            "  <frames of the runtime>",
        ),
        (r"\b\d+(?= without source$)", "<n>"),
        (r"[ \t]+$", ""),
    )
)
# LLDB's threads have the numbers that the system gave them; debugpy counts from 1.
_NATIVE_THREAD: Final = re.compile(r"(?<=\(thread )\d+(?=\))")


def stable(text: str, folder: Path, *, is_native: bool) -> str:
    """Replace what differs from run to run by names."""
    text = text.replace(f"{folder}{os.sep}", "").replace(str(folder), "<dir>")
    for pattern, name in _VOLATILE:
        text = pattern.sub(name, text)
    return (_NATIVE_THREAD.sub("<tid>", text) if is_native else text).strip("\n")


def assert_agrees(seen: str, expected: str) -> None:
    """Compare what was seen with what is written down.

    lldb-dap 19 describes a struct for some milliseconds only, then writes `...`: on a loaded
    machine that may stand for what is written down.
    """
    __tracebackhide__ = True
    if re.fullmatch(".*".join(map(re.escape, seen.split("..."))), expected):
        return
    lines = difflib.unified_diff(expected.splitlines(), seen.splitlines(), lineterm="", n=6)
    pytest.fail("--update accepts this:\n" + "\n".join(lines), pytrace=False)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=pytest.mark.adapter(read(path).needs))
        for path in FILES
    ],
)
def test_a_session_reads_as_it_is_written_down(
    path: Path,
    cli: Callable[..., Any],
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    transcript = read(path)
    prepare(transcript.files, tmp_path)
    # Without the tool, an update would write down a shell's complaint.
    cli("sessions", check=0)
    seen = []
    is_native = not transcript.files[0].endswith(".py")
    for step in transcript.steps:
        answer = cli(*words(step.command, transcript.files[0]), cwd=tmp_path)
        told = stable(answer.out + answer.err, tmp_path, is_native=is_native)
        told += f"\n[exit {answer.exit}]" if answer.exit else ""
        seen.append(Step(step.comments, step.command, told.strip("\n")))
    now = Transcript(transcript.files, transcript.needs, transcript.about, tuple(seen))
    if request.config.getoption("--update"):
        path.write_text(str(now), encoding="utf-8")
    assert_agrees(str(now), path.read_text(encoding="utf-8"))


def test_there_are_transcripts_and_none_is_empty() -> None:
    assert FILES
    for path in FILES:
        steps = read(path).steps
        assert steps, path.name
        assert all(step.expected for step in steps), f"{path.name}: pytest --update {path.stem}"
