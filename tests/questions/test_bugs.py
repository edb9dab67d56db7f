"""Do the commands that an example's `expect.toml` names show the cause of its bug?"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

BUGS = Path(__file__).parents[2] / "examples" / "bugs"
EXPECTED = sorted(BUGS.glob("*/expect.toml"))
_CHARACTERS_MAX = 2200
KINDS = frozenset({"crash", "wrong value", "corruption", "concurrency", "hang", "failing test"})


def _filled(words: list[str], out: Path) -> list[str]:
    return [word.format(out=out, python=sys.executable) for word in words]


def _line_of(file: Path, text: str) -> int:
    lines = file.read_text(encoding="utf-8").splitlines()
    fitting = [number for number, line in enumerate(lines, 1) if line.strip() == text]
    assert len(fitting) == 1, f"{text!r} stands {len(fitting)} times in {file.name}"
    return fitting[0]


@pytest.fixture
def built(tmp_path: Path, require_tool: Callable[[str], str]) -> Callable[..., Path]:
    """Give a function that copies an example, builds it, and returns its folder."""

    def build(folder: Path, expected: dict[str, Any]) -> Path:
        copy = tmp_path / folder.name
        shutil.copytree(folder, copy)
        words = _filled(expected.get("build", []), copy)
        if words:
            require_tool(words[0])
            subprocess.run(words, cwd=copy, check=True, timeout=100, capture_output=True)
        if "needs" in expected:
            require_tool(expected["needs"])
        for ask in expected["ask"]:
            if "node" in ask["command"]:
                require_tool("js-debug")
            elif words and words[0] == "go":
                require_tool("delve")
            elif words:
                require_tool("lldb-dap")
        return copy

    return build


@pytest.mark.parametrize("expect", EXPECTED, ids=lambda path: path.parent.name)
def test_the_commands_show_the_cause(
    expect: Path, built: Callable[..., Path], cli: Callable[..., Any]
) -> None:
    expected = tomllib.loads(expect.read_text(encoding="utf-8"))
    folder = built(expect.parent, expected)
    for ask in expected["ask"]:
        words = _filled(ask["command"], folder)
        answer = cli(*words, cwd=folder, check=0, timeout=90)
        first = answer.out.splitlines()[0]
        # Only of a crash there is one cause, which is all that the first line says.
        within = first if ask["command"][0] == "crash" else answer.out
        for said in ask["cause"]:
            assert said in within, str(answer)
        if "line" in ask:
            number = _line_of(folder / ask["file"], ask["line"])
            place = f"{ask['file']}:{number}"
            is_there = first.endswith(place) if within is first else place in answer.out
            assert is_there, str(answer)
        for said in ask.get("answer", []):
            assert said in answer.out, str(answer)
        assert len(answer.out) <= _CHARACTERS_MAX, str(answer)
    assert "no sessions" in cli("sessions", check=0).out


def test_every_example_says_what_it_is_about() -> None:
    folders = [one for one in BUGS.iterdir() if one.is_dir()]
    assert {one.parent for one in EXPECTED} == set(folders)
    for path in EXPECTED:
        expected = tomllib.loads(path.read_text(encoding="utf-8"))
        assert expected["about"]
        assert expected["kind"] in KINDS
        assert all(ask["cause"] for ask in expected["ask"])
