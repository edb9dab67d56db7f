"""Scenes of an adapter's suite are tried in order, each with its own outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from debugger.errors import DebuggerError, ErrorCode
from debugger.questions.adapter_suite.answer import AdapterSuite, SceneOutcome, SceneView
from debugger.questions.adapter_suite.scene_runner import SceneFailed, SceneRunner, SceneSkipped
from debugger.questions.adapter_suite.suite_request import SuiteWords, merge_words


async def works() -> str:
    return "seen"


def raises(error: Exception) -> Callable[[], Awaitable[str]]:
    async def scene() -> str:
        raise error

    return scene


@pytest.mark.parametrize(
    ("scene", "outcome", "detail"),
    [
        (works, SceneOutcome.WORKS, "seen"),
        (raises(SceneFailed("it is wrong")), SceneOutcome.FAILS, "it is wrong"),
        (raises(SceneSkipped("give --pid")), SceneOutcome.NOT_TRIED, "give --pid"),
        (
            raises(DebuggerError(ErrorCode.NOT_SUPPORTED, "cannot", hint="-")),
            SceneOutcome.NOT_SUPPORTED,
            "cannot",
        ),
        (
            raises(DebuggerError(ErrorCode.ADAPTER_DIED, "gone", hint="-")),
            SceneOutcome.FAILS,
            "gone",
        ),
    ],
)
async def test_a_scene_has_the_outcome_of_what_it_raises(
    scene: Callable[[], Awaitable[str]], outcome: SceneOutcome, detail: str
) -> None:
    runner = SceneRunner(asyncio.Event())
    assert await runner.run_scene("one", scene) == (outcome is SceneOutcome.WORKS)
    assert [(one.outcome, one.detail) for one in runner.scenes] == [(outcome, detail)]


async def test_a_scene_without_an_answer_fails_in_time() -> None:
    runner = SceneRunner(asyncio.Event(), limit_s=0.01)

    async def hangs() -> str:
        await asyncio.Event().wait()
        return ""

    assert not await runner.run_scene("one", hangs, starts=2)
    assert runner.scenes[0].detail == "no answer within 0.02 s"


async def test_what_needs_a_failed_scene_is_not_tried() -> None:
    runner = SceneRunner(asyncio.Event())
    await runner.run_scene("start", raises(SceneFailed("no stop")))
    await runner.run_scene("stack", works, needs=("start",))
    assert runner.scenes[1].outcome is SceneOutcome.NOT_TRIED
    assert runner.scenes[1].detail == "it needs: start"


async def test_nothing_is_tried_after_an_interrupt() -> None:
    interrupted = asyncio.Event()
    interrupted.set()
    runner = SceneRunner(interrupted)
    assert not await runner.run_scene("one", works)
    assert runner.scenes[0].outcome is SceneOutcome.NOT_TRIED


@pytest.mark.parametrize(
    ("outcome", "is_essential", "has_failed"),
    [
        (SceneOutcome.FAILS, True, True),
        (SceneOutcome.NOT_SUPPORTED, True, True),
        (SceneOutcome.NOT_TRIED, True, False),
        (SceneOutcome.FAILS, False, False),
        (SceneOutcome.WORKS, True, False),
    ],
)
def test_the_suite_fails_by_essential_scenes_only(
    outcome: SceneOutcome, is_essential: bool, has_failed: bool
) -> None:
    scene = SceneView("one", outcome, is_essential=is_essential)
    assert AdapterSuite("own", "loop", (scene,)).has_failed == has_failed


def test_words_of_the_command_line_come_before_the_section() -> None:
    section = SuiteWords("/x/loop", ("a",), at="/x/loop.c:5", expression="n", raises=("bad",))
    assert merge_words(SuiteWords(), section) == section
    given = merge_words(SuiteWords("other", ("b",), at="other.c:1"), section)
    # Arguments of the section's program say nothing about another one.
    assert given == SuiteWords("other", ("b",), at="other.c:1", expression="n")
