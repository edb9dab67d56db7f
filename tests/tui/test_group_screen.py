"""A person at the terminal's screen of a group of 64, whose programs are in memory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from debugger.questions.runner.answer import DrawnCall, DrawnCallTree
from debugger.tui.answer_screen import AnswerCallTree, AnswerScreen
from debugger.tui.group_view import GroupGrid, MergedTree
from debugger.tui.trees import StackTree
from fakes.fake_backend import FakeBackend
from screen_person import Person, sit_down
from simulated_daemon import SimulatedDaemon, simulate_daemon
from simulated_groups import start_group

MEMBERS = 64
HOSTILE = "[bold]work\x1b[31m"
SHOWN = "[bold]work\\x1b[31m"

pytestmark = pytest.mark.timeout(180)


class SimulatedGroup:
    """A group of 64 whose programs are in memory."""

    def __init__(self, daemon: SimulatedDaemon, backends: list[FakeBackend]) -> None:
        self.daemon = daemon
        self.backends = backends

    def act(self, work: Callable[[], None]) -> None:
        """Let something happen in the daemon's loop."""

        async def awaited() -> None:
            work()

        self.daemon.run(awaited)


@pytest.fixture
def group(tmp_path: Path) -> Iterator[SimulatedGroup]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEBUGGER_RUNTIME_DIR", str(tmp_path))
        patch.setenv("DEBUGGER_CONFIG", str(tmp_path / "config.toml"))
        for name in ("DEBUGGER_SESSION", "DEBUGGER_BACKEND", "DEBUGGER_TRANSPORT"):
            patch.delenv(name, raising=False)
        with simulate_daemon(tmp_path) as daemon:
            _, backends = daemon.run(lambda: start_group(daemon.sessions, MEMBERS))
            for one in backends:
                one.is_stepping_at_once = True
            yield SimulatedGroup(daemon, backends)


def run_agent(*words: str, check: int | None = None) -> Any:
    ran = subprocess.run(
        [sys.executable, "-m", "debugger", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert check is None or ran.returncode == check, (ran.stdout, ran.stderr)
    return ran


def grid_of(one: Person) -> GroupGrid:
    return one.app.query_one(GroupGrid)


def headings(one: Person) -> list[str]:
    return [row.heading for row in grid_of(one).grid.rows if row.heading]


def session_of(one: Person, label: int) -> str:
    return next(each.session for each in grid_of(one).grid.members if each.label == str(label))


async def choose(one: Person, label: int) -> None:
    """Choose a member by its label, with the keys."""
    await one.press("8")
    labels = [each.label for each in grid_of(one).grid.members]
    by = labels.index(str(label)) - grid_of(one).cursor
    await one.press(*(["right"] * by if by > 0 else ["left"] * -by), "enter")
    await one.see(lambda: one.app.state.label_of(one.app.state.member) == str(label), "the member")


async def test_a_group_of_64_is_a_grid_by_state_with_merged_stacks(group: SimulatedGroup):
    def be_odd() -> None:
        for one in group.backends[:2]:
            one.function, one.file = HOSTILE, "/nowhere/[b].c"
            one.stop(12)
        group.backends[63].end(3)

    group.act(be_odd)
    async with sit_down(run_agent, "job") as one:
        await one.see(lambda: "63 stopped" in headings(one), "the members")
        assert headings(one) == ["1 ended with status 3", "63 stopped", "1 running"]
        await one.press("m")
        await one.see(lambda: len(one.labels(MergedTree)) >= 3, "the merged stacks")
        merged = one.labels(MergedTree)
        # The odd ones come first.
        assert merged[0] == f"0-1 2× {SHOWN} [b].c:12"
        assert merged[1].startswith("2-62 61× work ")
        assert any(each.startswith("main ") for each in merged)
        await choose(one, 7)
        await one.see(lambda: "work loop.c:10" in str(one.labels(StackTree)), "its stack")
        await one.press("8", "down")
        assert grid_of(one).cursor > 10
        # A stop of another member does not take the screen away from this one.
        group.act(lambda: group.backends[9].stop(33))
        await one.see(
            lambda: any("33" in each.where for each in grid_of(one).grid.members), "the stop"
        )
        assert one.app.state.label_of(one.app.state.member) == "7"


async def test_a_person_takes_over_one_member_and_the_agent_has_the_others(group: SimulatedGroup):
    async with sit_down(run_agent, "job", size=(200, 60)) as one:
        await one.see(lambda: f"{MEMBERS} stopped" in headings(one), "the members")
        await choose(one, 5)
        await one.press("f10")
        assert one.toasts()[-1] == "the agent acts: take over first (F2)"
        await one.press("f2")
        await one.see(lambda: "you act on 5, since" in one.status, "who acts")
        own, other = session_of(one, 5), session_of(one, 6)
        session = session_of(one, 7)
        refused = await one.agent("--session", own, "next", check=1)
        assert f"a person took over {own}" in refused.stderr
        assert "stopped: step" in (await one.agent("--session", other, "next")).stdout
        line = group.backends[5].line
        await one.press("f10")
        await one.see(lambda: f"loop.c:{line + 1}" in str(one.labels(StackTree)), "the step")
        await one.press("6")
        timeline = one.options("timeline")
        assert any("control" in row and "5: taken over by a person" in row for row in timeline)
        await choose(one, 6)
        assert "the agent acts" in one.status

        await one.press("T")
        await one.see(lambda: "you act on all" in one.status, "who acts")
        await one.agent("--session", other, "next", check=1)
        await one.press("C")
        await one.see(lambda: f"{MEMBERS + 1} running" in headings(one), "that all run")
        await one.press("P")
        await one.see(lambda: f"{MEMBERS + 1} stopped" in headings(one), "that all are stopped")
        await one.press("T")
        await one.see(lambda: "the agent acts" in one.status, "the hand-back")
        await one.agent("--session", other, "next")
        await choose(one, 7)
        await one.press("f2")
        await one.see(lambda: "you act on 7" in one.status, "who acts")
        await one.press("q")
        await one.see(lambda: not one.app.is_running, "the end")
    # Who leaves the screen hands back.
    await one.agent("--session", session, "next")


async def test_the_calls_of_an_answer_are_a_tree(group: SimulatedGroup):
    rows = (
        DrawnCall(0, "main()", 1.0, facts="8 ms"),
        DrawnCall(1, f"{HOSTILE}(x=1)", 0.25, result=HOSTILE, file="/nowhere/b.c", line=3),
        DrawnCall(2, "inner()", 0.25),
        DrawnCall(1, "work()", 0.5, marks=("raised Error",)),
    )
    trees = (DrawnCallTree("./job", "exited with status 0", "time", rows, omitted=2),)
    group.daemon.evidence.keep_answer(
        ("debugger", "path"), "/", summary=HOSTILE, text=HOSTILE, files=(), trees=trees
    )
    async with sit_down(run_agent, "job") as one:
        await one.see(lambda: one.options("answers"), "the answer")
        await one.press("5", "down", "enter")
        answer = await one.screen(AnswerScreen)
        tree = answer.query_one(AnswerCallTree)
        assert answer.text == SHOWN
        (main, omitted) = tree.root.children
        assert str(main.label) == "██████████ main()  8 ms"
        (work, other) = main.children
        assert str(work.label) == f"██▌        {SHOWN}(x=1) → {SHOWN}  b.c:3"
        assert [str(each.label) for each in work.children] == ["██▌        inner()  "]
        assert str(other.label).startswith("█████      work() raised Error")
        assert str(omitted.label).startswith("2 more lines")
        await one.press("down", "down", "enter")
        await one.see(lambda: one.app.screen is not answer, "the line of the call")
