"""`breakpoint change` changes what a breakpoint does, and nothing else of it."""

from __future__ import annotations

from typing import Any

import pytest

from debugger.daemon.dispatch import CommandReply, CommandRequest, Dispatcher
from debugger.errors import DebuggerError, ErrorCode
from fakes.fake_backend import FILE, LAUNCH, FakeBackend


async def unheard(text: str) -> None:
    raise AssertionError(text)


class Agent:
    """A client of a dispatcher with one session, whose program is in memory."""

    def __init__(self, dispatcher: Dispatcher, env: dict[str, str]) -> None:
        self._dispatcher = dispatcher
        self._env = env
        self.backends: list[FakeBackend] = []

    async def begin(self) -> None:
        def make(sink: Any, tasks: Any) -> FakeBackend:
            self.backends.append(FakeBackend(sink, tasks))
            return self.backends[-1]

        session = await self._dispatcher._sessions.create(LAUNCH, make, name="app")
        await session.run_job(session.start_program)

    async def ask(self, *argv: str) -> CommandReply:
        request = CommandRequest(1, unheard, argv=argv, cwd="/", env=self._env)
        return await self._dispatcher.handle(request)

    def sent(self) -> list[tuple[str | None, int | None, str | None]]:
        specs = [one.spec for one in self.backends[0].lists[FILE]]
        return [(one.condition, one.hit_count, one.log) for one in specs]


@pytest.fixture
async def agent(tmp_path, monkeypatch):
    monkeypatch.setenv("DEBUGGER_RUNTIME_DIR", str(tmp_path))
    dispatcher = Dispatcher(lambda _: None)
    made = Agent(dispatcher, {"DEBUGGER_CONFIG": str(tmp_path / "config.toml")})
    await made.begin()
    await made.ask("break", f"{FILE}:5")
    yield made
    await dispatcher.close()


async def test_a_breakpoint_keeps_its_number_and_what_is_not_given(agent: Agent):
    changed = await agent.ask("breakpoint", "change", "1", "--condition", "i > 3")
    assert changed.result is not None
    assert (changed.result["id"], changed.result["condition"]) == (1, "i > 3")
    await agent.ask("breakpoint", "change", "1", "--hit-count", "7", "--log", "at {i}")
    assert agent.sent() == [("i > 3", 7, "at {i}")]
    await agent.ask("breakpoint", "change", "1", "--condition", "", "--hit-count", "0")
    assert agent.sent() == [(None, None, "at {i}")]


async def test_a_change_that_the_debugger_refuses_changes_nothing(agent: Agent):
    refused = DebuggerError(ErrorCode.NOT_SUPPORTED, "no conditions here")
    agent.backends[0].fails["set_breakpoints"] = refused
    reply = await agent.ask("breakpoint", "change", "1", "--condition", "i > 3")
    assert reply.error is not None
    assert "no conditions" in reply.error.message
    agent.backends[0].fails.clear()
    listed = await agent.ask("breakpoint", "list")
    assert listed.result is not None
    assert listed.result["breakpoints"][0].get("condition") is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("1",), "what?"),
        (("9", "--log", "x"), "no breakpoint 9"),
        (("1", "--hit-count", "-2"), "counts from 1"),
        (("1", "--condition", "a\nb"), "one line"),
        (("1", "--log", "  "), "empty"),
    ],
)
async def test_what_makes_no_sense_is_refused(agent: Agent, words: tuple[str, ...], message: str):
    reply = await agent.ask("breakpoint", "change", *words)
    assert reply.error is not None
    assert message in reply.error.message


async def test_a_watchpoint_is_set_again_instead(agent: Agent):
    (session,) = agent._dispatcher._sessions.all_sessions()
    spec = session.breakpoints.get(1).spec
    session.breakpoints.change(1, lambda _: type(spec)(watch="i"))
    reply = await agent.ask("breakpoint", "change", "1", "--condition", "i > 3")
    assert reply.error is not None
    assert reply.error.hint == "debugger breakpoint remove 1, and set it again"


async def test_a_breakpoint_is_disabled_enabled_and_removed_by_its_location(agent):
    assert (await agent.ask("disable", f"{FILE}:5")).text.startswith("breakpoint 1:")
    assert "disabled" not in (await agent.ask("enable", f"{FILE}:5")).text
    await agent.ask("break", f"{FILE}:5", "--log", "x")
    several = await agent.ask("disable", f"{FILE}:5")
    assert several.error is not None
    assert several.error.message == f"several breakpoints at {FILE}:5: 1, 2"
    assert (await agent.ask("clear", f"{FILE}:5")).text == "removed: breakpoints 1, 2\n"
    missing = await agent.ask("clear", f"{FILE}:5")
    assert missing.error is not None
    assert missing.error.code is ErrorCode.NOT_FOUND
