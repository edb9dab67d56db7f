"""The line of a crash that says where its value comes from."""

from __future__ import annotations

import asyncio
import logging
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest

from debugger.questions.runner.answer import Crash, ValueOrigin
from debugger.questions.why import origin_line, trace_dispatch
from debugger.questions.why.why_request import WhyRequest


def test_a_fault_in_following_a_value_leaves_the_crash_and_is_in_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(*_: object) -> NoReturn:
        raise IndexError("no such item")

    monkeypatch.setattr(trace_dispatch, "trace_value", fail)
    question: Any = SimpleNamespace(patience=SimpleNamespace(seconds=5.0), language="php")
    call: Any = None
    origin = ValueOrigin("$x", "26")
    with caplog.at_level(logging.ERROR):
        found = asyncio.run(
            origin_line._trace_within(call, question, origin, (), WhyRequest("$x", "crash"))
        )
    assert (found.expression, found.value) == ("$x", "26")
    assert "a fault of the debugger" in found.reason
    assert "IndexError: no such item" in caplog.text


def test_the_operand_of_java_that_failed_is_followed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check and the message of `if (price < 0) throw … + price` are about the same value."""
    origin = ValueOrigin("price", "-1", text="passed as price")

    async def find(*_: object, **__: object) -> ValueOrigin:
        return origin

    monkeypatch.setattr(origin_line, "find_crash_origin", find)
    crash = Crash("crashed", "negative price -1", kind="exception", why=origin)
    question: Any = SimpleNamespace(
        patience=SimpleNamespace(seconds=60.0), language="java", target=None
    )
    nothing: Any = None
    added = asyncio.run(
        origin_line._add_origins(nothing, question, nothing, crash, 1.0, spent_s=0.0)
    )
    assert (added.why, added.why_compared) == (origin, None)
