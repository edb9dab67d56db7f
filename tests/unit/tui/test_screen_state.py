"""What the terminal's screen says of its session, and what a person may do."""

from __future__ import annotations

import pytest

from debugger.tui.screen_state import ScreenState

HOLDER = {"isThisPage": True, "since": "10:00:00"}


def state_of(**about: object) -> ScreenState:
    state = ScreenState()
    state.begin("app")
    state.member = "app"
    state.about = {"state": "stopped", "holder": None, **about}
    return state


def test_it_says_what_the_program_does_and_who_acts():
    assert ScreenState().describe_program() == "no session yet: debugger start PROGRAM"
    state = state_of()
    state.note_stop({"reason": "exception", "text": "KeyError: \x1b[31m'a'", "threadId": 1})
    assert state.describe_program() == "stopped: KeyError: \\x1b[31m'a'"
    assert state.describe_actor() == "the agent acts"
    state.about = {"state": "running", "holder": {"isThisPage": False, "since": "10:00:00"}}
    state.note_running()
    assert state.describe_program() == "running"
    assert state.describe_actor() == "another screen acts, since 10:00:00"
    state.about = {"state": "terminated", "holder": None, "exit": 3}
    state.note_end()
    assert state.describe_program() == "ended: status 3"
    assert state.describe_actor() == ""
    state.about = {"state": "terminated", "holder": None, "exit": "SIGSEGV"}
    assert state.describe_program() == "ended: SIGSEGV"


@pytest.mark.parametrize(
    ("holder", "stop", "action", "why"),
    [
        (None, {"reason": "step"}, "over", "the agent acts: take over first (F2)"),
        (HOLDER, {"reason": "step"}, "over", None),
        (HOLDER, None, "over", "the program runs: F6 pauses it"),
        (HOLDER, {"reason": "step"}, "pause", "the program is stopped already"),
        (HOLDER, None, "pause", None),
        (HOLDER, {"reason": "step"}, "restart", None),
    ],
)
def test_an_action_is_possible_or_it_is_said_why_not(holder, stop, action, why):
    state = state_of(holder=holder, state="stopped" if stop else "running")
    if stop is not None:
        state.note_stop(stop)
    assert state.why_not(action) == why


def test_a_held_key_steps_once_and_an_ended_program_is_only_restarted():
    state = state_of(holder=HOLDER)
    state.note_stop({"reason": "step"})
    state.is_busy = True
    assert state.why_not("over") == ""
    state.note_end()
    assert state.why_not("over") == "no program runs"
    assert state.why_not("restart") is None
