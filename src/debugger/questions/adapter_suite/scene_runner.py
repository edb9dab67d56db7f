"""Runs scenes one after the other, each within a time limit, and keeps what came of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from debugger.errors import DebuggerError, ErrorCode
from debugger.questions.adapter_suite.answer import SceneOutcome, SceneView

SCENE_S = 20.0
_MESSAGE = 600  # characters


class SceneFailed(Exception):
    """A scene saw something else than it expects; the text says what."""


class SceneSkipped(Exception):
    """A scene cannot be tried; the text says what it needs."""


class SceneRunner:
    """Collects the outcome of each scene; after a failure that others need, those are not tried."""

    def __init__(self, interrupted: asyncio.Event, limit_s: float = SCENE_S) -> None:
        self._interrupted = interrupted
        self._limit_s = limit_s
        self._scenes: list[SceneView] = []

    @property
    def scenes(self) -> tuple[SceneView, ...]:
        """The scenes so far, in order."""
        return tuple(self._scenes)

    def works(self, name: str) -> bool:
        """Return whether a scene was tried and works."""
        return any(one.name == name and one.outcome is SceneOutcome.WORKS for one in self._scenes)

    async def run_scene(
        self,
        name: str,
        scene: Callable[[], Awaitable[str]],
        *,
        is_essential: bool = False,
        needs: tuple[str, ...] = (),
        starts: int = 1,
    ) -> bool:
        """Run a scene, which returns what it saw; return whether it works.

        `needs` are the scenes without which it cannot be tried. The time limit is for each of the
        `starts` of a program.
        """
        began = asyncio.get_running_loop().time()
        outcome, detail = SceneOutcome.NOT_TRIED, ""
        missing = next((one for one in needs if not self.works(one)), None)
        if self._interrupted.is_set():
            detail = "interrupted"
        elif missing is not None:
            detail = f"it needs: {missing}"
        else:
            outcome, detail = await _try_scene(scene, self._limit_s * starts)
        took_s = round(asyncio.get_running_loop().time() - began, 3)
        self._scenes.append(SceneView(name, outcome, detail[:_MESSAGE], is_essential, took_s))
        return outcome is SceneOutcome.WORKS


async def _try_scene(
    scene: Callable[[], Awaitable[str]], limit_s: float
) -> tuple[SceneOutcome, str]:
    try:
        async with asyncio.timeout(limit_s):
            return SceneOutcome.WORKS, await scene()
    except SceneSkipped as error:
        return SceneOutcome.NOT_TRIED, str(error)
    except SceneFailed as error:
        return SceneOutcome.FAILS, str(error)
    except TimeoutError:
        return SceneOutcome.FAILS, f"no answer within {limit_s:g} s"
    except DebuggerError as error:
        is_unknown = error.code is ErrorCode.NOT_SUPPORTED
        return (SceneOutcome.NOT_SUPPORTED if is_unknown else SceneOutcome.FAILS), error.message
