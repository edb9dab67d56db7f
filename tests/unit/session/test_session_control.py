"""A person takes over a session, hands it back, goes away, comes back, forgets it."""

from __future__ import annotations

import asyncio

import pytest

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.events import EventKind
from debugger.session.session_control import SessionControl
from debugger.session.stepping import WaitLimit
from debugger.session.timeline import Filters, Timeline


def make_control(**limits: float) -> tuple[SessionControl, Timeline]:
    timeline = Timeline()
    return SessionControl(timeline, "app", **limits), timeline


def control_texts(timeline: Timeline) -> list[str]:
    found = timeline.events(Filters(kinds={EventKind.CONTROL}), since=0, limit=100)
    return [one.text for one in found.events]


def test_an_agent_is_refused_while_a_page_has_taken_over():
    control, timeline = make_control()
    control.check_agent("next")
    control.take_over("page")
    control.take_over("page")
    with pytest.raises(DebuggerError, match="cannot next: a person took over app") as failure:
        control.check_agent("next")
    assert failure.value.code is ErrorCode.DENIED
    assert failure.value.hint is not None
    assert failure.value.hint.startswith("debugger await")
    control.hand_back("another")
    assert control.holder is not None
    control.hand_back("page")
    control.check_agent("next")
    assert control_texts(timeline) == ["taken over by a person", "handed back"]


def test_a_page_acts_only_after_it_has_taken_over():
    control, _ = make_control()
    with pytest.raises(DebuggerError, match="the agent acts"):
        control.note_action("page")
    control.take_over("page")
    control.note_action("page")
    with pytest.raises(DebuggerError, match="another screen"):
        control.note_action("other")
    control.take_over("other")
    with pytest.raises(DebuggerError, match="another screen"):
        control.note_action("page")


async def test_a_page_that_goes_away_hands_back_and_one_that_comes_back_does_not():
    control, timeline = make_control(grace_s=0.01)
    control.connect_page("page")
    control.take_over("page")
    # A reload: the new connection may come before the end of the old one, or after it.
    control.connect_page("page")
    control.disconnect_page("page")
    await timeline.wait(timeline.cursor(), {EventKind.CONTROL}, 0.1)
    assert control.holder is not None
    control.disconnect_page("page")
    control.connect_page("page")
    await timeline.wait(timeline.cursor(), {EventKind.CONTROL}, 0.1)
    assert control.holder is not None
    before = timeline.cursor()
    control.disconnect_page("page")
    control.disconnect_page("other")
    assert await timeline.wait(before, {EventKind.CONTROL}, 10.0)
    assert control.holder is None


def test_a_person_who_does_nothing_for_long_hands_back():
    control, timeline = make_control(idle_s=-1.0)
    control.take_over("page")
    control.check_agent("next")
    assert control.holder is None
    assert "did nothing" in control_texts(timeline)[-1]


async def test_a_wait_ends_with_the_hand_back_or_when_the_time_is_up():
    control, _ = make_control()
    control.take_over("page")
    with pytest.raises(DebuggerError, match="still waiting"):
        await control.wait_handed_back(WaitLimit(0.01, asyncio.Event()))
    interrupted = asyncio.Event()
    interrupted.set()
    with pytest.raises(DebuggerError, match="still waiting"):
        await control.wait_handed_back(WaitLimit(60.0, interrupted))
    loop = asyncio.get_running_loop()
    loop.call_later(0.01, control.hand_back, "page")
    assert 0 < await control.wait_handed_back(WaitLimit(60.0, asyncio.Event())) <= 60.0
    control.take_over("page")
    loop.call_later(0.01, control.end)
    assert await control.wait_handed_back(WaitLimit(60.0, asyncio.Event())) > 0


async def test_the_end_of_a_session_forgets_the_page_that_was_to_come_back():
    control, timeline = make_control(grace_s=0.01)
    control.take_over("page")
    control.disconnect_page("page")
    before = timeline.cursor()
    control.end()
    assert await timeline.wait(before, {EventKind.CONTROL}, 0.1) is None


def make_tree() -> tuple[SessionControl, SessionControl, Timeline]:
    timeline = Timeline()
    main = SessionControl(timeline, "job")
    return main, SessionControl(timeline, "job.1", above=main), timeline


def test_a_program_is_held_with_the_processes_below_it():
    main, child, _ = make_tree()
    assert child.timeline_id == main.timeline_id
    main.take_over("page")
    with pytest.raises(DebuggerError, match="a person took over job at"):
        child.check_agent("next")
    child.note_action("page")
    with pytest.raises(DebuggerError, match="another screen"):
        child.note_action("other")
    # Only what was taken over itself is handed back.
    child.hand_back("page")
    assert child.holder is not None
    assert child.own_holder is None
    main.hand_back("page")
    child.check_agent("next")


def test_a_process_that_is_held_alone_leaves_the_others_to_the_agent():
    main, child, timeline = make_tree()
    child.take_over("page", is_alone=True)
    main.check_agent("next")
    with pytest.raises(DebuggerError, match=r"took over job\.1"):
        child.check_agent("next")
    child.hand_back("page")
    main.take_over("page", is_alone=True)
    child.check_agent("next")
    with pytest.raises(DebuggerError, match="the agent acts"):
        child.note_action("page")
    # The whole, after the one alone.
    main.take_over("page")
    with pytest.raises(DebuggerError, match="took over job"):
        child.check_agent("next")
    assert control_texts(timeline).count("taken over by a person") == 3


def test_a_person_who_does_nothing_hands_back_what_is_below_too():
    timeline = Timeline()
    main = SessionControl(timeline, "job", idle_s=0.0)
    child = SessionControl(timeline, "job.1", above=main, idle_s=60.0)
    main.take_over("page")
    child.check_agent("next")
    assert main.holder is None
