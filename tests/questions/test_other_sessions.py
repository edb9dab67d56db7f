"""The daemon answers other sessions while a question searches a program's sources."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from debugger.daemon.command_request import CommandReply, CommandRequest
from debugger.daemon.dispatch import Dispatcher
from debugger.questions.recordings import function_lookup, source_search

_WAIT_S = 60
_PROGRAM = """\
def total(numbers):
    result = sum(numbers)
    return result


total([1, 2])
"""


class SourceGate:
    """Holds a search of sources until another session has its answer."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.opened = threading.Event()
        self.in_loop = 0

    def pass_through(self, roots: Iterable[str]) -> Iterator[str]:
        self.reached.set()
        if threading.current_thread() is threading.main_thread():
            self.in_loop += 1
        else:
            assert self.opened.wait(_WAIT_S)
        for root in roots:
            yield from (str(one) for one in Path(root).glob("*.py"))


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> SourceGate:
    made = SourceGate()
    monkeypatch.setattr(source_search, "source_files", made.pass_through)
    monkeypatch.setattr(function_lookup, "source_files", made.pass_through)
    return made


@pytest.fixture
async def dispatcher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Dispatcher]:
    monkeypatch.setenv("DEBUGGER_RUNTIME_DIR", str(tmp_path / "run"))
    (tmp_path / "run").mkdir(mode=0o700)
    made = Dispatcher(lambda _: None)
    yield made
    await made.close()


async def unheard(text: str) -> None:
    assert text


async def ask(dispatcher: Dispatcher, cwd: Path, *argv: str) -> CommandReply:
    env: dict[str, Any] = os.environ | {"DEBUGGER_CONFIG": str(cwd / "config.toml")}
    return await dispatcher.handle(
        CommandRequest(id=1, stream=unheard, cwd=str(cwd), env=env, argv=argv)
    )


@pytest.mark.parametrize(
    "words",
    [
        ("calls", "totol"),
        ("path", "--around", "totol"),
        ("path", "--between", "totol", "total"),
        ("diff", "--function", "totol", "--vs", f"{sys.executable} shop.py"),
        ("holds", "result > 0", "--at", "totol"),
        ("holds", "result > 0", "--at", "shop.total"),
        ("probe", "--at", "totol", "result"),
        ("who-wrote", "result", "--at", "totol"),
        ("why", "result", "--at", "totol"),
    ],
    ids=lambda words: "-".join(words[:2]),
)
async def test_a_search_of_the_sources_keeps_no_other_session_waiting(
    gate: SourceGate, dispatcher: Dispatcher, tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "shop.py").write_text(_PROGRAM)
    command = (sys.executable, "shop.py")
    asked = asyncio.create_task(ask(dispatcher, tmp_path, *words, "--", *command))
    reached = asyncio.create_task(asyncio.to_thread(gate.reached.wait, _WAIT_S))
    await asyncio.wait({asked, reached}, return_when=asyncio.FIRST_COMPLETED)
    try:
        assert gate.reached.is_set(), asked.result().text
        other = await ask(dispatcher, tmp_path, "sessions")
        assert other.exit == 0
        assert gate.in_loop or not asked.done()
    finally:
        gate.opened.set()
        gate.reached.set()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(asked, reached)
    assert not gate.in_loop
