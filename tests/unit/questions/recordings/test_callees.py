"""What a call called is seen in a second run, which may be ended before it comes there."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from debugger.questions.calls import calls_question
from debugger.questions.calls.answer import Calls, LifeView
from debugger.questions.recordings.answer import RunView
from debugger.questions.recordings.function_lookup import FunctionPlace
from debugger.recorders.model import Recording

LIFE = LifeView(1, "work", "/src/app.c", 9, ())


@pytest.mark.parametrize(
    ("is_ended", "note"),
    [(True, "the second run, to see that, was ended before it was called"), (False, "inlined it")],
)
async def test_a_function_that_a_second_run_did_not_reach_was_inlined_only_if_that_run_ended(
    monkeypatch: pytest.MonkeyPatch, is_ended: bool, note: str
) -> None:
    async def run_traced(*_: Any) -> tuple[Recording, RunView]:
        return Recording(), RunView("./app", exit_code=0, timed_out=is_ended)

    async def traced() -> None: ...

    monkeypatch.setattr(calls_question.traced_run, "run_traced", run_traced)
    program: Any = SimpleNamespace(
        is_native=True, traced=traced, words=(), launch=SimpleNamespace(program=None)
    )
    function = FunctionPlace("work", "/src/app.c", 9)
    answer = Calls(RunView("./app"), "work", 1, 1, lives=(LIFE,))
    found = await calls_question.with_callees(program, function, answer, depth=2, is_chosen=False)
    (said,) = found.notes
    assert note in said
