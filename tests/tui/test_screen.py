"""A person at the terminal's screen, beside an agent at the command line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.widgets import Input, Static

import debuggees
from debugger.tui.answer_screen import AnswerScreen
from debugger.tui.console_view import ConsoleView
from debugger.tui.edit_screens import FormScreen
from debugger.tui.output_view import LINES_MAX
from debugger.tui.text_screen import ChoiceScreen
from debugger.tui.trees import StackTree, VariablesTree
from screen_person import PATIENCE_S, Cli, sit_down

LOOP = debuggees.find_source("loop.py")
CROWDED = debuggees.find_source("crowded.py")
RETURN = debuggees.find_marker("loop.py", "return")
STEP = debuggees.find_marker("loop.py", "step")
READY = debuggees.find_marker("crowded.py", "ready")

pytestmark = pytest.mark.timeout(180)


async def test_a_person_follows_takes_over_steps_and_hands_back(cli: Cli):
    cli("start", LOOP, "--break", f"{LOOP}:{STEP}", check=0)
    async with sit_down(cli) as one:
        await one.see(lambda: "stopped: breakpoint · the agent acts" in one.status, "the stop")
        await one.see(lambda: "square = 1" in one.labels(VariablesTree), "the locals")
        assert one.labels(StackTree)[:2] == [
            "MainThread stopped here",
            f"calculate loop.py:{STEP}",
        ]
        assert one.shown_line() == STEP
        await one.press("f10")
        assert one.toasts()[-1] == "the agent acts: take over first (F2)"
        await one.agent("next")
        await one.see(lambda: one.shown_line() == RETURN, "the agent's step")
        await one.see(lambda: "step 1" in one.output, "the output")

        await one.press("f2")
        await one.see(lambda: "you act, since" in one.status, "who acts")
        refused = await one.agent("next", check=None)
        assert refused.exit != 0
        assert "a person took over" in refused.err
        await one.press("f10")
        await one.see(lambda: "sum_to" in one.labels(StackTree)[1], "the caller")
        await one.press("f5")
        await one.see(lambda: "i = 2" in one.labels(VariablesTree), "the next hit")
        assert one.labels(VariablesTree)[0] == "Locals"
        await one.press("f2")
        await one.see(lambda: "the agent acts" in one.status, "the hand-back")
        await one.agent("continue")
        await one.see(lambda: "i = 3" in one.labels(VariablesTree), "the agent's continue")


async def test_breakpoints_watches_and_answers_are_worked_with_by_keyboard(cli: Cli):
    cli("start", LOOP, "--break", f"{LOOP}:{STEP}", check=0)
    async with sit_down(cli, size=(200, 60)) as one:
        await one.see(lambda: one.shown_line() == STEP and one.source.has_focus, "the source")
        await one.press("down", "f9")
        await one.see(lambda: len(one.options("breakpoints")) == 2, "the breakpoint")
        assert f"{LOOP}:{RETURN}" in one.options("breakpoints")[1]
        listed = await one.agent("breakpoints", "--json")
        assert [b["line"] for b in listed.data["data"]["breakpoints"]] == [STEP, RETURN]
        await one.press("f9")
        await one.see(lambda: len(one.options("breakpoints")) == 1, "its removal")

        await one.press("w", *"square*10", "enter")
        await one.see(lambda: "square*10 = 10" in one.labels(VariablesTree), "the watch")
        await one.press("w", *"nothing", "enter")
        await one.see(lambda: "NameError" in str(one.labels(VariablesTree)), "its problem")
        await one.press("w", *"nothing", "enter")
        await one.see(lambda: "nothing" not in str(one.labels(VariablesTree)), "its end")

        await one.agent("probe", "--at", f"{LOOP}:{RETURN}", "square", "--", sys.executable, LOOP)
        await one.see(lambda: "probe --at" in str(one.options("answers")), "the answer")
        await one.press("5", "down", "enter")
        answer = await one.screen(AnswerScreen)
        # The chart in characters, and the text.
        assert "hit of loop.py" in answer.picture
        assert "┬" in answer.picture
        assert "square" in answer.text
        await one.press("escape", "f1")
        await one.see(lambda: "take over" in str(one.app.screen.query_one(Static).content), "keys")


async def test_values_and_conditions_are_set_and_expressions_evaluated(cli: Cli):
    cli("start", LOOP, "--break", f"{LOOP}:{STEP}", check=0)
    async with sit_down(cli) as one:
        await one.see(lambda: "square = 1" in one.labels(VariablesTree), "the locals")
        tree = one.app.query_one(VariablesTree)
        await one.press("3")
        square = next(
            node for node in tree.root.children[0].children if "square" in str(node.label)
        )
        tree.move_cursor(square)
        await one.press("e")
        assert one.toasts()[-1] == "the agent acts: take over first (F2)"
        # What is typed only reads until the person takes over.
        await one.press("7", *"square+1", "enter")
        console = one.app.query_one(ConsoleView)
        await one.see(lambda: console.answers == ["2"], "the answer")
        await one.press("f2")
        await one.see(lambda: "you act, since" in one.status, "who acts")
        await one.press(*"square=5", "enter")
        await one.see(lambda: "square = 5" in one.labels(VariablesTree), "what was assigned")
        await one.press("up")
        assert console.query_one(Input).value == "square=5"
        await one.press("escape", "f1", "escape", "alt+3")
        square = next(
            node for node in tree.root.children[0].children if "square" in str(node.label)
        )
        tree.move_cursor(square)
        await one.press("e")
        form = await one.screen(FormScreen)
        await one.press("end", "backspace", *"1 +", "enter")
        await one.see(lambda: form.problem, "why it cannot be set")
        await one.press("backspace", "backspace", "backspace", *"77", "enter")
        await one.see(lambda: "square = 77" in one.labels(VariablesTree), "the value")
        printed = await one.agent("print", "square")
        assert printed.out.strip() == "square = 77"

        await one.press("2", "down", "B")
        await one.screen(FormScreen)
        await one.press(*"square > 3", "down", *"x", "enter")
        assert "a number" in (await one.screen(FormScreen)).problem
        await one.press("backspace", *"2", "enter")
        await one.see(lambda: len(one.options("breakpoints")) == 2, "the breakpoint")
        assert "if square > 3, from hit 2" in one.options("breakpoints")[1]
        listed = await one.agent("breakpoints", "--json")
        made = listed.data["data"]["breakpoints"][1]
        assert (made["line"], made["condition"], made["hit_count"]) == (RETURN, "square > 3", 2)
        await one.press("9", "end", "e")
        await one.screen(FormScreen)
        await one.press("end", *" + 1", "enter")
        await one.see(lambda: "square > 3 + 1" in one.options("breakpoints")[1], "the change")
        await one.press("space")
        await one.see(lambda: "off" in one.options("breakpoints")[1], "that it is off")
        await one.press("delete")
        await one.see(lambda: len(one.options("breakpoints")) == 1, "its removal")
        await one.press("6")
        timeline = "\n".join(one.options("timeline"))
        assert "taken over by a person" in timeline


async def test_what_a_program_prints_and_names_is_text_and_bounded(cli: Cli):
    cli("start", CROWDED, "--break", f"{CROWDED}:{READY}", check=0)
    async with sit_down(cli) as one:
        await one.see(lambda: one.shown_line() == READY, "the stop")
        await one.see(lambda: any("long xxx" in line for line in one.output), "the output")
        assert len(one.output) <= LINES_MAX
        assert any("<b onclick=x>bold</b> \\x1b[1;32mgreen" in line for line in one.output)
        assert len(one.labels(StackTree)) <= 502
        await one.see(lambda: "by_name" in str(one.labels(VariablesTree)), "the locals")
        tree = one.app.query_one(VariablesTree)
        found = {
            str(node.label).partition(" = ")[0]: node for node in tree.root.children[0].children
        }
        found["values"].expand()
        await one.see(lambda: "… more: Enter" in one.labels(VariablesTree), "the first of them")
        assert len(one.labels(VariablesTree)) < 600
        values = next(each for each in one.labels(VariablesTree) if each.startswith("values = "))
        assert values.startswith("values = list[10000] of str ['value 0', ")
        found["by_name"].expand()
        await one.see(lambda: "\\x1b[31mred" in str(one.labels(VariablesTree)), "an escape as text")


async def test_an_end_a_restart_and_a_new_daemon_are_followed(cli: Cli, runtime_dir: Path):
    async with sit_down(cli) as one:
        await one.see(lambda: "debugger start PROGRAM" in one.status, "that there is none")
        await one.agent("start", LOOP, "--break", f"{LOOP}:{STEP}")
        await one.see(lambda: one.shown_line() == STEP, "the first session")
        await one.agent("breakpoint", "remove", "--all")
        await one.agent("continue")
        await one.see(lambda: "ended: status 3" in one.status, "the end")
        await one.agent("daemon", "stop")
        await one.agent("start", LOOP, "--break", f"{LOOP}:{RETURN}")
        await one.see(lambda: one.shown_line() == RETURN, "the session of the new daemon")
        await one.see(lambda: "stopped: breakpoint" in one.status, "its state")


async def test_a_session_that_is_not_there_is_said_and_another_chosen(cli: Cli):
    cli("start", LOOP, "--break", f"{LOOP}:{STEP}", check=0)
    async with sit_down(cli, "nobody") as one:
        await one.see(lambda: "no session" in str(one.labels(StackTree)), "that there is none")
        await one.press("c", "m", "8", "f3")
        await one.screen(ChoiceScreen)
        await one.press("enter")
        await one.see(lambda: one.shown_line() == STEP, "the chosen session")


def test_without_a_terminal_it_says_what_it_is_for(cli: Cli):
    answer = cli("tui", check=2)
    assert "is for a person at a terminal" in answer.err
    assert "debugger ui" in answer.err


@pytest.mark.parametrize(("width", "height"), [(80, 24), (200, 60)])
def test_a_real_terminal_shows_it(  # noqa: PLR0917 - the sizes
    cli: Cli,
    runtime_dir: Path,
    wait_until: Callable[..., None],
    require_tool: Callable[[str], str],
    width: int,
    height: int,
):
    tmux = require_tool("tmux")
    cli("start", LOOP, "--break", f"{LOOP}:{STEP}", check=0)
    server = [tmux, "-u", "-S", str(runtime_dir / "tmux"), "-f", "/dev/null"]

    def ask(*words: str) -> str:
        return subprocess.run(
            [*server, *words], capture_output=True, text=True, check=True, timeout=30
        ).stdout

    command = f"exec env -u COLUMNS -u LINES {sys.executable} -m debugger tui"
    ask("new-session", "-d", "-s", "s", "-x", str(width), "-y", str(height), command)
    try:

        def screen() -> str:
            return ask("capture-pane", "-p", "-t", "s")

        wait_until(lambda: "square = 1" in screen(), PATIENCE_S, what="the variables")
        wait_until(lambda: "●▶" in screen(), PATIENCE_S, what="the line")
        lines = screen().splitlines()
        assert "loop · stopped: breakpoint · the agent acts" in lines[0]
        assert any("●▶" in line and 'print(f"step {i}")' in line for line in lines), screen()
        assert "f1 Keys" in lines[-1]
        assert "Break" in lines[-1]
        ask("send-keys", "-t", "s", "F2")
        wait_until(lambda: "you act" in screen(), PATIENCE_S, what="who acts")
        ask("send-keys", "-t", "s", "F10")
        wait_until(lambda: "stopped: step" in screen(), PATIENCE_S, what="the step")
        ask("send-keys", "-t", "s", "q")
        wait_until(lambda: not _is_alive(server), PATIENCE_S, what="the end")
    finally:
        subprocess.run([*server, "kill-server"], capture_output=True, check=False)
    # Who leaves the screen hands back.
    wait_until(lambda: cli("next").exit == 0, PATIENCE_S, what="the hand-back")


def _is_alive(server: list[str]) -> bool:
    return (
        subprocess.run([*server, "has-session"], capture_output=True, check=False).returncode == 0
    )
