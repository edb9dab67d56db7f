"""Calls that are numbered from the last one need the end of the program."""

from __future__ import annotations

from typing import Any, cast

import pytest

from debugger.errors import DebuggerError, ErrorCode
from debugger.questions.calls import calls_question
from debugger.questions.calls.answer import Calls
from debugger.questions.recordings.answer import RunView


async def find_first(monkeypatch: pytest.MonkeyPatch, counted: Calls) -> int:
    async def record_calls(*_words: Any, **_named: Any) -> Calls:
        return counted

    monkeypatch.setattr(calls_question, "record_calls", record_calls)
    return await calls_question.number_from_end(cast("Any", None), "tick", 2, is_filtered=False)


async def test_the_last_calls_of_a_program_that_ends_have_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = RunView("python slow.py", exit_code=0)
    assert await find_first(monkeypatch, Calls(run, "tick", 9, 1)) == 8


@pytest.mark.parametrize("seen", [9, 0])
async def test_a_program_that_goes_on_has_no_last_call(
    monkeypatch: pytest.MonkeyPatch, seen: int
) -> None:
    run = RunView("python slow.py", timed_out=True, took_s=3.0)
    with pytest.raises(DebuggerError) as caught:
        await find_first(monkeypatch, Calls(run, "tick", seen, 1))
    assert caught.value.code is ErrorCode.TIMEOUT
    assert caught.value.hint == "debugger calls tick -- python slow.py (shows the first ones)"


async def test_calls_that_no_recording_counts_are_counted_by_probe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = RunView("node slow.js", is_cut=True)
    with pytest.raises(DebuggerError) as caught:
        await find_first(monkeypatch, Calls(run, "tick", 0, 1))
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("debugger probe --at tick EXPR --nth last -- node slow.js")
