"""A person who presses keys at the terminal's screen, and looks at it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import OptionList, Static, Tree

from debugger.daemon.daemon_client import DaemonClient
from debugger.tui.output_view import OutputView
from debugger.tui.source_view import SourceView
from debugger.tui.trees import StackTree, VariablesTree
from debugger.tui.tui_app import TuiApp

Cli = Callable[..., Any]
PATIENCE_S = 30.0
ScreenKind = TypeVar("ScreenKind", bound=Screen[Any])


class Person:
    """Presses keys, and looks at the screen."""

    def __init__(self, app: TuiApp, pilot: Pilot[None], agent: Cli) -> None:
        self.app = app
        self._pilot = pilot
        self._agent = agent

    async def press(self, *keys: str) -> None:
        await self._pilot.press(*keys)

    async def agent(self, *words: str, check: int | None = 0) -> Any:
        """Let the agent run a command meanwhile."""
        return await asyncio.to_thread(self._agent, *words, check=check)

    async def see(self, look: Callable[[], object], what: str) -> None:
        """Wait until something is on the screen."""
        end = asyncio.get_running_loop().time() + PATIENCE_S
        while not look():
            assert asyncio.get_running_loop().time() < end, f"{what} was not seen: {self}"
            await self._pilot.pause(0.02)

    def __str__(self) -> str:
        shown = [self.status, *self.toasts(), *self.labels(StackTree)[:3]]
        return "; ".join([*shown, *self.labels(VariablesTree)[:5], *self.output[-2:]])[:1000]

    @property
    def status(self) -> str:
        return str(self.app.screen_stack[0].query_one("#status", Static).content)

    @property
    def source(self) -> SourceView:
        return self.app.query_one(SourceView)

    @property
    def output(self) -> list[str]:
        return self.app.query_one(OutputView).texts

    async def screen(self, kind: type[ScreenKind]) -> ScreenKind:
        """Wait until such a screen lies over the others."""
        await self.see(lambda: isinstance(self.app.screen, kind), kind.__name__)
        found = self.app.screen
        assert isinstance(found, kind)
        return found

    def labels(self, kind: type[Tree[Any]]) -> list[str]:
        """List what a tree shows, from the outside to the inside."""
        waiting, found = list(self.app.query_one(kind).root.children), []
        while waiting:
            node = waiting.pop(0)
            found.append(str(node.label))
            waiting = [*(node.children if node.is_expanded else ()), *waiting]
        return found

    def options(self, name: str) -> list[str]:
        return [str(one.prompt) for one in self.app.query_one(f"#{name}", OptionList).options]

    def toasts(self) -> list[str]:
        return [one.message for one in self.app._notifications]

    def shown_line(self) -> int:
        return self.source.cursor + 1


@asynccontextmanager
async def sit_down(
    cli: Cli, session: str | None = None, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[Person]:
    async with DaemonClient(note=lambda _: None, starts_daemon=False) as daemon:
        app = TuiApp(daemon, session)
        async with app.run_test(size=size) as pilot:
            yield Person(app, pilot, cli)
