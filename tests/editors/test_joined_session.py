"""An agent at the command line and a person at an editor act on one session."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import debuggees
from cli_commands import answer_data
from editor_client import EditorClient, open_editor

LOOP = debuggees.find_source("loop.py")
STEP = debuggees.find_marker("loop.py", "step")
RETURN = debuggees.find_marker("loop.py", "return")
PRINT = debuggees.find_marker("loop.py", "print")
DONE = debuggees.find_marker("loop.py", "done")

Cli = Callable[..., Any]


@pytest.fixture
def editor(runtime_dir: Path, cli: Cli) -> Iterator[EditorClient]:
    """Stop a program by the command line, and join it with an editor."""
    cli("start", LOOP, "--break", f"{LOOP}:{STEP}", check=0)
    with open_editor(runtime_dir) as client:
        client.ask("attach")
        client.event("initialized")
        client.ask("configurationDone")
        yield client


def _thread(editor: EditorClient) -> int:
    return int(editor.event("stopped")["threadId"])


def _place(cli: Cli) -> int:
    return int(answer_data(cli("--json", "context", check=0))["frame"]["line"])


def _breakpoints(cli: Cli) -> list[int]:
    listed = answer_data(cli("--json", "breakpoint", "list", check=0))
    return sorted(one["line"] for one in listed["breakpoints"])


def test_who_joins_sees_the_stop_and_the_breakpoints_that_there_are(editor: EditorClient):
    assert editor.event("breakpoint", reason="new")["breakpoint"]["line"] == STEP
    assert editor.top_frame(_thread(editor))["line"] == STEP


def test_a_step_of_the_agent_moves_the_editor(editor: EditorClient, cli: Cli):
    _thread(editor)
    cli("next", check=0)
    stopped = editor.event("stopped", reason="step")
    assert editor.top_frame(stopped["threadId"])["line"] == RETURN


def test_a_step_of_the_editor_moves_the_agent(editor: EditorClient, cli: Cli):
    editor.ask("next", threadId=_thread(editor))
    editor.event("stopped", reason="step")
    assert _place(cli) == RETURN


def test_a_breakpoint_of_the_agent_appears_in_the_editor(editor: EditorClient, cli: Cli):
    _thread(editor)
    editor.event("breakpoint", reason="new")
    cli("break", f"{LOOP}:{DONE}", check=0)
    made = editor.event("breakpoint", reason="new")["breakpoint"]
    assert (made["line"], made["verified"]) == (DONE, True)


def test_a_breakpoint_of_the_editor_appears_in_the_agents_list(editor: EditorClient, cli: Cli):
    _thread(editor)
    editor.set_lines(str(LOOP), DONE)
    assert _breakpoints(cli) == [STEP, DONE]


def test_an_editor_that_lists_a_files_lines_takes_none_of_the_agents(
    editor: EditorClient, cli: Cli
):
    _thread(editor)
    editor.set_lines(str(LOOP), RETURN)
    editor.set_lines(str(LOOP), DONE)
    editor.set_lines(str(LOOP))
    assert _breakpoints(cli) == [STEP]


def test_a_line_that_both_have_set_is_one_breakpoint(editor: EditorClient, cli: Cli):
    _thread(editor)
    number = editor.event("breakpoint", reason="new")["breakpoint"]["id"]
    (same,) = editor.set_lines(str(LOOP), STEP)
    assert same["id"] == number
    assert _breakpoints(cli) == [STEP]


def test_a_breakpoint_that_the_agent_removes_leaves_the_editor(editor: EditorClient, cli: Cli):
    _thread(editor)
    (made,) = editor.set_lines(str(LOOP), DONE)
    cli("breakpoint", "remove", str(made["id"]), check=0)
    removed = editor.event("breakpoint", reason="removed")
    assert removed["breakpoint"]["id"] == made["id"]


def test_a_value_that_the_agent_sets_is_announced(editor: EditorClient, cli: Cli):
    thread = _thread(editor)
    cli("set", "square", "=", "77", check=0)
    editor.event("invalidated")
    assert editor.local_values(editor.top_frame(thread)["id"])["square"] == "77"


def test_a_value_that_the_editor_sets_is_the_agents(editor: EditorClient, cli: Cli):
    frame = editor.top_frame(_thread(editor))["id"]
    scope = editor.ask("scopes", frameId=frame)["scopes"][0]["variablesReference"]
    editor.ask("variables", variablesReference=scope)
    changed = editor.ask("setVariable", variablesReference=scope, name="square", value="55")
    assert changed["value"] == "55"
    assert answer_data(cli("--json", "print", "square", check=0))["value"] == "55"


def test_the_agent_continues_to_the_end_and_the_editor_hears_it(editor: EditorClient, cli: Cli):
    _thread(editor)
    cli("breakpoint", "remove", "--all", check=0)
    cli("continue")
    assert editor.event("exited") == {"exitCode": 3}
    editor.event("terminated")


def test_the_editor_continues_to_the_end_and_the_agent_hears_it(editor: EditorClient, cli: Cli):
    thread = _thread(editor)
    cli("breakpoint", "remove", "--all", check=0)
    editor.ask("continue", threadId=thread)
    editor.event("terminated")
    assert "3" in cli("status").out


def test_an_editor_that_leaves_leaves_the_session(editor: EditorClient, cli: Cli):
    _thread(editor)
    editor.ask("disconnect")
    assert _place(cli) == STEP


def test_an_editor_that_dies_leaves_the_session(editor: EditorClient, cli: Cli):
    _thread(editor)
    editor.process.kill()
    editor.process.wait()
    assert _place(cli) == STEP


def test_an_editor_may_end_what_it_has_joined(editor: EditorClient, cli: Cli):
    _thread(editor)
    editor.ask("disconnect", terminateDebuggee=True)
    assert "no debug session" in cli("context").err


def test_a_session_that_the_agent_ends_ends_in_the_editor(editor: EditorClient, cli: Cli):
    _thread(editor)
    cli("stop", check=0)
    editor.event("terminated")


def test_a_restart_by_the_agent_shows_the_new_run(editor: EditorClient, cli: Cli):
    _thread(editor)
    cli("restart", check=0)
    assert editor.top_frame(_thread(editor))["line"] == STEP


def test_a_restart_by_the_editor_shows_the_new_run_to_the_agent(editor: EditorClient, cli: Cli):
    editor.ask("next", threadId=_thread(editor))
    editor.event("stopped", reason="step")
    editor.ask("restart")
    editor.event("stopped", reason="breakpoint")
    assert _place(cli) == STEP


def test_a_frame_of_a_stop_that_the_agent_has_left_is_refused(editor: EditorClient, cli: Cli):
    frame = editor.top_frame(_thread(editor))["id"]
    cli("next", check=0)
    assert "earlier stop" in editor.refused("scopes", frameId=frame)


def test_two_editors_see_each_others_steps(editor: EditorClient, runtime_dir: Path):
    first = _thread(editor)
    with open_editor(runtime_dir) as other:
        other.ask("attach")
        other.event("initialized")
        other.ask("configurationDone")
        other.event("stopped")
        editor.ask("next", threadId=first)
        editor.event("stopped", reason="step")
        stopped = other.event("stopped", reason="step")
        assert other.top_frame(stopped["threadId"])["line"] == RETURN
        other.ask("disconnect")


def test_what_is_printed_is_read_by_both(editor: EditorClient, cli: Cli):
    editor.ask("next", threadId=_thread(editor))
    assert editor.event("output", category="stdout")["output"] == "step 1\n"
    assert "step 1" in cli("output").out


def test_a_jump_of_the_agent_moves_the_editor(editor: EditorClient, cli: Cli):
    _thread(editor)
    cli("jump", f"{LOOP}:{RETURN}", check=0)
    stopped = editor.event("stopped")
    assert editor.top_frame(stopped["threadId"])["line"] == RETURN


def test_a_pause_of_the_editor_stops_what_the_agent_let_run(runtime_dir: Path, cli: Cli):
    endless = debuggees.find_source("endless.py")
    cli("start", endless, "--no-wait", check=0)
    with open_editor(runtime_dir) as editor:
        editor.ask("attach")
        editor.event("initialized")
        editor.ask("configurationDone")
        editor.ask("pause", threadId=0)
        editor.event("stopped", reason="pause")
        assert _place(cli) > 0
        editor.ask("terminate")
        editor.event("terminated")
