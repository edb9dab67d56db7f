"""The fake adapter behaves well without a quirk."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.raw_client import ADAPTER, PATIENCE, RawClient, words_of

HANDSHAKE = ["initialize", "(initialized)", "launch", "(process)", "setBreakpoints"]
SOURCE = {"path": "/imaginary/main.c"}


@pytest.fixture
def peer() -> Iterator[RawClient]:
    with RawClient.started() as one:
        yield one


def _frames(peer: RawClient) -> list[tuple[str, int]]:
    frames = peer.ask("stackTrace", threadId=1)["body"]["stackFrames"]
    return [(one["name"], one["line"]) for one in frames]


def _value(peer: RawClient, expression: str) -> str:
    answer = peer.ask("evaluate", expression=expression)
    return answer["body"]["result"] if answer["success"] else answer["message"]


def _variables(peer: RawClient, frame: int) -> dict[str, dict[str, str]]:
    """Give the variables of a frame by scope."""
    frames = peer.ask("stackTrace", threadId=1)["body"]["stackFrames"]
    scopes = peer.ask("scopes", frameId=frames[frame]["id"])["body"]["scopes"]
    found = {}
    for scope in scopes:
        answer = peer.ask("variables", variablesReference=scope["variablesReference"])
        found[scope["name"]] = {one["name"]: one["value"] for one in answer["body"]["variables"]}
    return found


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ADAPTER), *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_the_program_prints_five_steps_and_ends_with_three(peer: RawClient):
    told = peer.begin()
    assert told == [*HANDSHAKE, "configurationDone", *["(output)"] * 5, "(exited)", "(terminated)"]
    assert [one["output"] for one in peer.events("output")] == [f"step {n}\n" for n in range(5)]
    assert peer.events("exited") == [{"exitCode": 3}]
    assert peer.ask("disconnect")["success"]
    assert peer.drain() == []
    assert peer.ended() == 0


def test_messages_are_numbered_and_answer_the_request(peer: RawClient):
    peer.begin(lines=[4])
    messages = [item for item in peer.seen if isinstance(item, dict)]
    assert [one["seq"] for one in messages] == list(range(1, len(messages) + 1))
    answered = [one["request_seq"] for one in messages if one["type"] == "response"]
    assert answered == [1, 2, 3, 4, 5]


def test_lines_with_code_are_verified_and_others_say_why(peer: RawClient):
    peer.start()
    lines = [{"line": line} for line in range(1, 17)]
    answer = peer.ask("setBreakpoints", source=SOURCE, breakpoints=lines)
    found = answer["body"]["breakpoints"]
    assert [one["line"] for one in found if one["verified"]] == [3, 4, 5, 10, 11, 12, 13, 14]
    assert all(one["message"] for one in found if not one["verified"])


def test_the_sum_grows_turn_by_turn(peer: RawClient):
    peer.begin(lines=[13])
    seen = [(_value(peer, "i"), _value(peer, "total"))]
    for _ in range(4):
        peer.ask("continue", threadId=1)
        peer.until_event("stopped")
        seen.append((_value(peer, "i"), _value(peer, "total")))
    assert seen == [("0", "0"), ("1", "2"), ("2", "6"), ("3", "12"), ("4", "20")]


def test_a_frame_has_its_scopes_and_they_their_variables(peer: RawClient):
    peer.begin(lines=[4])
    assert _frames(peer) == [("work", 4), ("main", 12)]
    inner, outer = _variables(peer, 0), _variables(peer, 1)
    assert list(inner) == ["Arguments", "Locals", "Registers"]
    assert (inner["Arguments"], inner["Locals"]) == ({"n": "0"}, {"doubled": "0"})
    assert list(outer) == ["Locals", "Registers"]
    assert outer["Locals"] == {"i": "0", "total": "0", "items": "int [200]"}


def test_frames_and_children_come_in_pages(peer: RawClient):
    peer.begin(lines=[4])
    page = peer.ask("stackTrace", threadId=1, startFrame=1, levels=1)["body"]
    assert [one["name"] for one in page["stackFrames"]] == ["main"]
    assert page["totalFrames"] == 2
    frame = page["stackFrames"][0]["id"]
    items = peer.ask("evaluate", expression="items", frameId=frame)["body"]
    assert items["indexedVariables"] == 200
    reference = items["variablesReference"]
    some = peer.ask("variables", variablesReference=reference, start=7, count=3)["body"]
    assert [one["name"] for one in some["variables"]] == ["[7]", "[8]", "[9]"]
    everything = peer.ask("variables", variablesReference=reference)["body"]
    assert len(everything["variables"]) == 200


def test_references_and_frames_go_stale(peer: RawClient):
    peer.begin(lines=[13])
    frame = peer.ask("stackTrace", threadId=1)["body"]["stackFrames"][0]["id"]
    reference = peer.ask("scopes", frameId=frame)["body"]["scopes"][0]["variablesReference"]
    peer.ask("continue", threadId=1)
    peer.until_event("stopped")
    assert not peer.ask("variables", variablesReference=reference)["success"]
    assert not peer.ask("scopes", frameId=frame)["success"]


def test_steps_go_into_over_and_out(peer: RawClient):
    peer.begin(lines=[12])
    for how, frames in (
        ("stepIn", [("work", 3), ("main", 12)]),
        ("next", [("work", 4), ("main", 12)]),
        ("stepOut", [("main", 12)]),
        ("next", [("main", 13)]),
        ("next", [("main", 11)]),
    ):
        assert peer.ask(how, threadId=1)["success"]
        assert peer.until_event("stopped")["reason"] == "step"
        assert _frames(peer) == frames


@pytest.mark.parametrize(
    ("options", "seen"),
    [
        ({"condition": "i == 3"}, ["3"]),
        ({"condition": "i > 2"}, ["3", "4"]),
        ({"condition": "nothing > 1"}, []),
        ({"hitCondition": "2"}, ["1"]),
        ({"hitCondition": ">=4"}, ["3", "4"]),
        ({"hitCondition": "%2"}, ["1", "3"]),
    ],
)
def test_conditions_choose_the_turn(peer: RawClient, options: dict[str, str], seen: list[str]):
    peer.begin(breakpoints=[{"line": 13} | options])
    found = []
    while not peer.events("exited"):
        found.append(_value(peer, "i"))
        peer.ask("continue", threadId=1)
        peer.until(lambda item: item.get("event") in ("stopped", "exited"))
    assert found == seen


def test_a_logpoint_prints_and_does_not_stop(peer: RawClient):
    told = peer.begin(breakpoints=[{"line": 13, "logMessage": "i is {i}, {nothing}"}])
    assert "(stopped)" not in told
    printed = [one["output"] for one in peer.events("output") if one["category"] == "console"]
    assert printed[3].startswith("i is 3, <use of undeclared identifier")
    assert len(printed) == 5


def test_functions_can_be_stopped_in(peer: RawClient):
    peer.start()
    wanted = [{"name": name} for name in ("main", "work", "absent")]
    answer = peer.ask("setFunctionBreakpoints", breakpoints=wanted)
    assert [one["verified"] for one in answer["body"]["breakpoints"]] == [True, True, False]
    peer.ask("configurationDone")
    assert peer.until_event("stopped")["reason"] == "function breakpoint"
    assert _frames(peer) == [("main", 10)]
    peer.ask("continue", threadId=1)
    peer.until_event("stopped")
    assert _frames(peer) == [("work", 3), ("main", 12)]


def test_a_variable_can_be_set(peer: RawClient):
    peer.begin(lines=[13])
    frame = peer.ask("stackTrace", threadId=1)["body"]["stackFrames"][0]["id"]
    reference = peer.ask("scopes", frameId=frame)["body"]["scopes"][0]["variablesReference"]
    answer = peer.ask("setVariable", variablesReference=reference, name="total", value="40")
    assert answer["body"]["value"] == "40"
    assert _value(peer, "total + 2") == "42"
    for name, value in (("absent", "1"), ("total", "absent")):
        asked = {"variablesReference": reference, "name": name, "value": value}
        assert not peer.ask("setVariable", **asked)["success"]


@pytest.mark.parametrize("expression", ["nothing", "raise", "", "items[200]"])
def test_what_has_no_value_is_a_failure(peer: RawClient, expression: str):
    peer.begin(lines=[13])
    assert "undeclared identifier" in _value(peer, expression)


def test_a_crash_stops_and_then_ends(peer: RawClient):
    peer.begin("crash")
    assert peer.events("stopped")[0]["text"] == "signal SIGSEGV"
    assert _frames(peer) == [("work", 5), ("main", 12)]
    assert _value(peer, "n") == "2"
    peer.ask("continue", threadId=1)
    assert peer.until_event("exited") == {"exitCode": 139}


def test_an_exception_stops_when_asked_for(peer: RawClient):
    peer.start("throw")
    answer = peer.ask("setExceptionBreakpoints", filters=["raised", "absent"])
    assert [one["verified"] for one in answer["body"]["breakpoints"]] == [True, False]
    peer.ask("configurationDone")
    assert peer.until_event("stopped")["reason"] == "exception"
    info = peer.ask("exceptionInfo", threadId=1)["body"]
    assert (info["exceptionId"], info["description"]) == ("ValueError", "n is 2")


def test_the_words_of_the_program_are_obeyed(peer: RawClient):
    told = peer.begin("2", "noisy", "throw")
    assert [one["category"] for one in peer.events("output")] == ["stderr", "stdout", "stdout"]
    assert told[-1] == "(terminated)"


def test_an_endless_program_runs_until_it_is_paused(peer: RawClient):
    assert peer.begin("forever")[-1] == "(output)"
    refused = peer.ask("stackTrace", threadId=1)
    assert (refused["success"], refused["message"]) == (False, "notStopped")
    assert peer.ask("pause", threadId=1)["success"]
    assert peer.until_event("stopped")["reason"] == "pause"
    assert peer.ask("stackTrace", threadId=1)["success"]
    assert not peer.ask("pause", threadId=1)["success"]


def test_it_stops_on_entry(peer: RawClient):
    peer.begin(stopOnEntry=True)
    assert peer.events("stopped")[0]["reason"] == "entry"
    assert _frames(peer) == [("main", 10)]


def test_a_running_program_can_be_attached_to(peer: RawClient):
    peer.ask("initialize")
    peer.send("attach", stopOnEntry=True)
    peer.send("configurationDone")
    assert peer.settle()[1:] == [
        "(initialized)",
        "attach",
        "(process)",
        "configurationDone",
        "(stopped)",
    ]
    assert (_value(peer, "i"), _value(peer, "total")) == ("2", "2")
    assert peer.events("process")[0]["startMethod"] == "attach"


def test_terminate_ends_the_program_and_disconnect_the_adapter(peer: RawClient):
    peer.begin(lines=[4])
    peer.ask("terminate")
    assert peer.until_event("exited") == {"exitCode": 143}
    peer.until_event("terminated")
    assert peer.ask("threads")["body"]["threads"] == []
    peer.ask("disconnect")
    assert peer.ended() == 0


def test_the_source_is_told_and_fits_the_lines(peer: RawClient):
    peer.begin(lines=[4])
    text = peer.ask("source", sourceReference=1)["body"]["content"].splitlines()
    assert "step %d" in text[4 - 1]
    assert text[10 - 1].lstrip().startswith("int i")
    assert text[14 - 1].strip() == "return 3;"


@pytest.mark.parametrize("command", ["loadedSources", "gotoTargets", "noSuchRequest"])
def test_an_unknown_request_is_refused_cleanly(peer: RawClient, command: str):
    peer.begin(lines=[4])
    answer = peer.ask(command)
    assert (answer["success"], answer["message"]) == (False, f"unsupported request: {command}")
    assert _frames(peer)[0] == ("work", 4)


@pytest.mark.parametrize("command", ["continue", "next", "stackTrace"])
def test_an_unknown_thread_is_refused(peer: RawClient, command: str):
    peer.begin(lines=[4])
    assert peer.ask(command, threadId=99)["message"] == "no thread 99"


def test_it_ends_when_the_client_goes(peer: RawClient):
    peer.begin(lines=[4])
    assert peer.rest() == []
    assert peer.ended() == 0


@pytest.mark.parametrize("count", [0, 1, 4])
def test_it_dies_after_so_many_messages(count: int):
    with RawClient.started("--die-after", str(count)) as peer:
        for command in ("initialize", "launch", "configurationDone"):
            peer.send(command, program="/imaginary/main.c")
        assert len(peer.drain()) == count
        assert peer.ended() == -signal.SIGKILL


def test_the_log_has_each_request_as_it_came(tmp_path: Path):
    log = tmp_path / "log"
    with RawClient.started("--log", str(log)) as peer:
        peer.begin(lines=[4])
        requests = [json.loads(line) for line in log.read_text().splitlines()]
    commands = ["initialize", "launch", "setBreakpoints", "configurationDone", "threads"]
    assert [one["command"] for one in requests] == commands
    assert [one["seq"] for one in requests] == [1, 2, 3, 4, 5]
    assert requests[2]["arguments"] == {"source": SOURCE, "breakpoints": [{"line": 4}]}


def test_a_script_answers_first(tmp_path: Path):
    said = {"type": "response", "success": True, "body": {"result": "scripted"}}
    rule = {"on": "evaluate", "where": {"expression": "i"}, "once": True, "send": [said]}
    script = tmp_path / "script.json"
    script.write_text(json.dumps([rule]))
    with RawClient.started("--script", str(script)) as peer:
        peer.begin(lines=[13])
        assert [_value(peer, one) for one in ("total", "i", "i")] == ["0", "scripted", "0"]


def test_it_announces_its_port_and_serves_there():
    with RawClient.started("--port-announce") as process:
        line = process.read()
        assert isinstance(line, bytes)
        port = int(line.rpartition(b":")[2])
        address = ("127.0.0.1", port)
        with RawClient.connected(socket.create_connection(address, PATIENCE)) as peer:
            assert peer.begin(lines=[4])[-1] == "(stopped)"
            with RawClient.connected(socket.create_connection(address, PATIENCE)) as second:
                assert words_of([second.ask("initialize")]) == ["initialize"]
            peer.ask("disconnect")
        assert process.ended() == 0


def test_it_dials_the_client():
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(PATIENCE)
        with RawClient.started("--client-addr", f"127.0.0.1:{server.getsockname()[1]}") as process:
            with RawClient.connected(server.accept()[0]) as peer:
                assert peer.begin(lines=[4])[-1] == "(stopped)"
            assert process.ended() == 0


@pytest.mark.parametrize("quirk", ["no-such-quirk", "slow", "slow:next", "500-threads:1"])
def test_a_quirk_that_is_not_there_is_refused(quirk: str):
    ran = _run("--quirk", quirk)
    assert ran.returncode == 2
    assert quirk.partition(":")[0] in ran.stderr
