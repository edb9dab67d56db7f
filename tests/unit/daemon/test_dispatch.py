"""Every request is answered in the requested form, errors too."""

from __future__ import annotations

import json
from typing import Any

import pytest

from debugger.daemon.command_request import CommandReply, CommandRequest
from debugger.daemon.dispatch import Dispatcher
from event_loop import await_condition


async def unheard(text: str) -> None:
    raise AssertionError(text)


@pytest.fixture
async def ask(tmp_path, monkeypatch):
    monkeypatch.setenv("DEBUGGER_RUNTIME_DIR", str(tmp_path))
    dispatcher = Dispatcher(lambda _: None)
    env = {"DEBUGGER_CONFIG": str(tmp_path / "config.toml")}

    async def run(*argv: str, **more: Any) -> CommandReply:
        words = {"argv": argv} if argv else {}
        told = {"id": 1, "stream": unheard, "cwd": str(tmp_path), "env": env, **words, **more}
        return await dispatcher.handle(CommandRequest(**told))

    yield run
    await dispatcher.close()


async def test_text_and_json_tell_the_same(ask):
    plain = await ask("sessions")
    told = await ask("sessions", "--json")
    assert plain.exit == told.exit == 0
    assert json.loads(told.text) == {"ok": True, "data": plain.result}
    assert told.text.endswith("}\n")


@pytest.mark.parametrize("words", [("sessions",), ("sessions", "--json")])
async def test_who_wants_the_text_alone_gets_the_same_text_without_the_result(ask, words):
    alone = await ask(*words, wants_result=False)
    assert alone.result is None
    assert alone.text == (await ask(*words)).text


async def test_a_command_by_its_name_on_the_socket_is_the_same(ask):
    assert (await ask(command="sessions")).result == (await ask("sessions")).result


@pytest.mark.parametrize("argv", [("locals", "--json"), ("--json", "locals")])
async def test_an_error_in_json_is_one_object_with_code_message_and_hint(ask, argv):
    reply = await ask(*argv)
    assert (reply.success, reply.exit) == (False, 4)
    told = json.loads(reply.text)
    assert set(told) == {"ok", "error"}
    assert told["ok"] is False
    assert told["error"]["code"] == "NO_SESSION"
    assert set(told["error"]) == {"code", "message", "hint"}


async def test_an_error_in_text_leaves_the_words_to_the_client(ask):
    reply = await ask("locals")
    assert (reply.exit, reply.text) == (4, None)
    assert reply.error.hint


async def test_words_that_cannot_be_parsed_are_json_where_that_was_asked_for(ask):
    reply = await ask("nosuch", "--json")
    assert reply.exit == 2
    assert json.loads(reply.text)["error"]["code"] == "USAGE"


@pytest.mark.parametrize("budget", ["0", "9", "-1", "1000001"])
async def test_a_budget_out_of_range_is_a_usage_error(ask, budget):
    reply = await ask("--budget", budget, "sessions")
    assert reply.exit == 2
    assert "--budget" in reply.error.message


async def test_a_broken_configuration_is_said_but_its_place_can_still_be_asked(ask, tmp_path):
    (tmp_path / "config.toml").write_text("[timeout]\n")
    reply = await ask("sessions")
    assert reply.exit == 2
    assert "unknown key 'timeout'" in reply.error.message
    assert reply.error.hint == "debugger config --path"
    found = await ask("config", "--path")
    assert found.text == f"{tmp_path / 'config.toml'}\n"
    assert (await ask("config")).exit == 2


@pytest.mark.parametrize(
    "asked",
    [
        {"command": "nosuch"},
        {"command": "sessions", "args": {"x": 1}},
        {"command": "use"},
        {"command": "breakpoint_remove", "args": {"ids": "x"}},
        {},
    ],
)
async def test_a_request_that_does_not_fit_is_a_usage_error(ask, asked):
    reply = await ask(**asked)
    assert (reply.success, reply.exit) == (False, 2)


@pytest.mark.parametrize(
    "args",
    [
        {"program": "a\0b"},
        {"program": "x", "cwd": "a\0b"},
        {"program": "x", "stdin": "a\0b"},
        {"module": "pkg", "adapter": "lldb-dap"},
        {"program": "x", "timeout": float("nan")},
        {"program": "x", "adapter": "nosuch"},
        {"program": "x", "backend": "nosuch"},
    ],
)
async def test_a_start_that_cannot_be_meant_is_an_answer_and_leaves_no_session(ask, args):
    reply = await ask(command="start", args=args)
    assert not reply.success
    assert reply.exit in {1, 2}
    assert (await ask("sessions")).result["sessions"] == []


async def test_stop_all_ends_the_daemon_also_without_a_session(ask):
    reply = await ask("stop", "--all")
    assert reply.stop_daemon
    assert reply.exit == 0


async def test_no_color_in_the_environment_is_as_the_option(ask, tmp_path):
    env = {"DEBUGGER_CONFIG": str(tmp_path / "config.toml")}
    words = {"tty": True, "width": 100}
    assert "\x1b[" in (await ask("config", **words)).text
    plain = await ask("config", "--no-color", **words)
    for variable in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        found = await ask("config", **words, env={**env, **variable})
        assert found.text == plain.text
        assert "\x1b[" not in found.text


async def test_a_hint_holds_the_users_own_program(ask):
    reply = await ask("why", "n", "--at", "crash", "--nth", "2", "--", "/bin/true", "a b")
    assert reply.error.hint == "debugger why n --at crash -- /bin/true 'a b'"


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (
            ("why", "a b", "--at", "f.py:3", "--", "./my prog"),
            "debugger why 'a b' --at f.py:3 -- ./my prog",
        ),
        (
            ("who-wrote", "n", "--at", "f.py:3", "--", "./my prog"),
            "debugger who-wrote n --at f.py:3 -- ./my prog",
        ),
        (
            ("holds", "n > 0", "--at", "f.py:3", "--", "./my prog"),
            "debugger holds 'n > 0' --at f.py:3 -- ./my prog",
        ),
        (
            ("holds", "n > 0", "--each", "f", "--", "./my prog"),
            "debugger holds 'n > 0' --at LOC -- ./my prog",
        ),
        (("calls", "add", "--", "./my prog"), "debugger calls add -- ./my prog"),
    ],
)
async def test_the_hint_of_a_wrong_program_keeps_what_is_asked(ask, words, hint):
    assert (await ask(*words)).error.hint == hint


async def test_a_long_program_is_not_repeated_in_a_hint(ask):
    reply = await ask("why", "n", "--at", "crash", "--nth", "2", "--", "/bin/true", "a" * 300)
    assert reply.error.hint == "debugger why n --at crash -- CMD"


async def test_changes_of_the_live_sessions_that_come_together_are_published_once():
    published: list[Any] = []
    dispatcher = Dispatcher(published.append)
    for _ in range(1000):
        dispatcher._sessions.note_change()
    assert published == []
    await await_condition(lambda: published, what="the publication")
    dispatcher._sessions.note_change()
    await await_condition(lambda: len(published) > 1, what="the next one")
    assert published == [[], []]
    await dispatcher.close()
