"""The locks that a frame holds are found in the source of its function, which alone is parsed."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from cli_commands import resolve_program
from debugger.questions.hang.inside import locks

SOURCE = Path(resolve_program("held_locks.py")).read_text()
OTHERS = "".join(f"\ndef other_{n}():\n    with LOCK:\n        pass\n" for n in range(500))


@pytest.fixture
def functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    path = tmp_path / "stores.py"
    path.write_text(SOURCE + OTHERS)
    monkeypatch.setattr(locks, "_statements", {})
    names: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    return names


def look(*_: object) -> list[object]:
    return locks.held_objects(sys._getframe(1))


def test_the_locks_of_a_frame_are_found(functions: dict[str, Any]) -> None:
    lock, other = functions["LOCK"], functions["OTHER"]
    store = functions["Store"]()
    assert (store.save(look), store.load(look)) == ([lock], [])
    assert functions["take"](look) == ([], [other])
    assert functions["free"](look) == []
    # The list's own frame, which Python 3.11 has, begins in the line of the `with`.
    assert functions["ask"](look) == [[lock]]


def test_only_the_function_of_a_frame_is_parsed(
    functions: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[int] = []

    def record(text: str) -> ast.Module:
        parsed.append(len(text))
        return ast.parse(text)

    recording = ModuleType("ast")
    vars(recording).update(vars(ast), parse=record)
    monkeypatch.setattr(locks, "ast", recording)
    functions["Store"]().save(look)
    functions["Store"]().load(look)
    functions["take"](look)
    assert len(parsed) == 2  # the functions without a word of locks are not parsed at all
    assert sum(parsed) < len(SOURCE)
