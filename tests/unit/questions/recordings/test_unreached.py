"""A recorded run that did not come to a place says what ended it."""

from __future__ import annotations

import asyncio

from debugger.questions.recordings.counted_run import describe_unreached
from debugger.session.stepping import WaitLimit


def test_an_interrupted_run_is_not_said_to_have_taken_its_time() -> None:
    patience = WaitLimit(60.0, asyncio.Event())
    assert describe_unreached(patience).message == "the place was not reached in 60 s, recorded"
    patience.interrupted.set()
    error = describe_unreached(patience)
    assert error.message == "the place was not reached before the run was interrupted"
