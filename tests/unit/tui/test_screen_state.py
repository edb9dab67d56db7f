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


def group_state() -> ScreenState:
    state = state_of(held={})
    state.group, state.states = "job", {"job": "running", "job.1": "stopped", "job.2": "stopped"}
    state.labels = {"job": "main", "job.1": "0", "job.2": "1"}
    state.member = None
    return state


def test_a_member_stays_in_view_while_it_is_stopped():
    state = group_state()
    assert state.note_stop({"session": "job.1", "threadId": 3, "reason": "breakpoint"})
    assert not state.note_stop({"session": "job.2", "threadId": 4, "reason": "pause"})
    assert state.member == "job.1"
    assert state.describe_program() == "0 stopped: breakpoint"
    assert not state.note_running("job.2")
    assert state.note_running("job.1")
    # Now the next stop is shown.
    assert state.note_stop({"session": "job.2", "threadId": 4, "reason": "pause"})
    assert state.describe_program() == "1 stopped: pause"
    assert state.note_states({**state.states, "job.2": "terminated"})
    assert state.describe_program() == "1 ended"


def test_one_member_may_be_held_alone_and_all_by_another_screen():
    state = group_state()
    stop = {"session": "job.1", "threadId": 3, "reason": "breakpoint"}
    state.note_stop(stop)
    state.about = {"state": "stopped", "holder": None, "held": {"job.1": HOLDER}}
    assert state.describe_actor() == "you act on 0, since 10:00:00"
    assert state.own_stops() == [stop]
    assert state.own_running() == []
    assert "take over all first" in (state.why_not("restart") or "")
    other = {"isThisPage": False, "since": "10:00:01"}
    state.about = {"state": "stopped", "holder": other, "held": {"job.1": HOLDER}}
    assert state.why_not("over") is None
    state.show_member("job")
    assert state.describe_actor() == "another screen acts on all, since 10:00:01"
    assert state.why_not("over") == "the agent acts: take over first (F2)"
    state.about = {"state": "stopped", "holder": HOLDER, "held": {}}
    assert state.own_running() == ["job", "job.2"]
    state.forget_stop({**stop})  # another one
    assert state.own_stops() == [stop]
    state.forget_stop(stop)
    assert state.own_stops() == []
