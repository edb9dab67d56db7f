"""A person's page that leaves lets go of every member of a group, whatever has ended before."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from debugger.editors.editor_channel import EditorChannel
from debugger.editors.editor_conversation import EditorConversation
from debugger.editors.session_follower import PageView
from debugger.session.session import Session
from event_loop import await_condition
from fakes.fake_backend import LAUNCH

KEY = "tab"


def open_page(session_factory, session: Session) -> EditorConversation:
    call = SimpleNamespace(sessions=session_factory.sessions)
    channel = EditorChannel(asyncio.StreamReader(), None)
    page = EditorConversation(call, channel, {}, {})
    page.take_session(session, ends_program=False, page=PageView(KEY, "0"))
    return page


async def attach_group(session_factory) -> tuple[Session, Session]:
    """Create two processes that share a timeline; neither has started the other."""
    first, _ = await session_factory.started("meet")
    second = await session_factory.sessions.create(
        LAUNCH, session_factory.make, name="meet.4", joined=first
    )
    await second.run_job(second.start_program)
    for one in (first, second):
        one.control._grace_s = 0.0
    return first, second


@pytest.mark.parametrize("ends", ["none", "first"])
async def test_a_page_that_leaves_lets_go_of_each_member(session_factory, ends: str):
    first, second = await attach_group(session_factory)
    page = open_page(session_factory, first)
    second.control.take_over(KEY, is_alone=True)
    if ends == "first":
        await session_factory.sessions.close(first, kill=False)
        assert second.is_live
    await page.leave_session(ends_program=False)
    await await_condition(lambda: second.control.holder is None, what="the hand-back")
    second.control.check_agent("continue")


async def test_a_page_that_leaves_lets_another_pages_member_be(session_factory):
    first, second = await attach_group(session_factory)
    page = open_page(session_factory, first)
    second.control.take_over("another tab", is_alone=True)
    await page.leave_session(ends_program=False)
    assert second.control._release is None
    assert second.control.holder is not None
