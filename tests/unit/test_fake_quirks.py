"""Quirks of start and stop do what their names say."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence

import pytest

from fakes.quirk_checks import QuirkChecks, name_of, read_quirks
from fakes.raw_client import ADAPTER, PATIENCE, Json, RawClient, words_of

CHECKS = QuirkChecks()


def _order(told: Sequence[str], *words: str) -> list[str]:
    return [word for word in told if word in words]


def _stop(peer: RawClient) -> Json:
    """Give the only stop so far."""
    (stop,) = peer.events("stopped")
    return stop


# The handshake.


@CHECKS.of("initialized-before-launch")
def _(peer: RawClient) -> None:
    peer.ask("initialize")
    peer.until_event("initialized")
    peer.send("launch", program="/imaginary/main.c")
    assert peer.settle() == ["initialize", "(initialized)", "launch", "(process)"]


@CHECKS.of("initialized-twice")
def _(peer: RawClient) -> None:
    assert peer.begin(lines=[4]).count("(initialized)") == 2


@CHECKS.of("launch-response-before-initialized")
def _(peer: RawClient) -> None:
    told = peer.begin(lines=[4])
    assert told[1:4] == ["launch", "(process)", "(initialized)"]


@CHECKS.of("launch-response-after-configuration-done")
def _(peer: RawClient) -> None:
    told = _order(peer.begin(lines=[4]), "(initialized)", "launch", "configurationDone")
    assert told == ["(initialized)", "configurationDone", "launch"]


@CHECKS.of("launch-error-after-configuration-done")
def _(peer: RawClient) -> None:
    told = peer.begin(lines=[4])
    assert told[1:] == ["(initialized)", "setBreakpoints", "configurationDone", "!launch"]


@CHECKS.of("launch-fails")
def _(peer: RawClient) -> None:
    told = peer.begin()
    assert told[1] == "!launch"
    assert "(initialized)" not in told


@CHECKS.of("launches-silently")
def _(peer: RawClient) -> None:
    told = peer.begin(lines=[4])
    assert told[1:] == ["(initialized)", "launch", "setBreakpoints", "configurationDone"]


@CHECKS.of("late-capabilities")
def _(peer: RawClient) -> None:
    peer.begin(lines=[4])
    early = peer.seen[0]["body"]
    (late,) = peer.events("capabilities")
    assert "supportsSetVariable" not in early
    assert late["capabilities"]["supportsSetVariable"] is True


@CHECKS.of("misspelt-capability")
def _(peer: RawClient) -> None:
    body = peer.ask("initialize")["body"]
    assert body["supportsTerminateDebuggee"] is True
    assert "supportTerminateDebuggee" not in body


@CHECKS.of("telemetry-output-first")
def _(peer: RawClient) -> None:
    peer.ask("initialize")
    assert words_of(peer.seen) == ["(output)", "(output)", "(debugpySockets)", "initialize"]
    assert peer.events("output")[0]["category"] == "telemetry"


@CHECKS.of("no-reply-to-configuration-done")
def _(peer: RawClient) -> None:
    told = peer.begin(lines=[4])
    assert "configurationDone" not in told
    assert told[-1] == "(stopped)"


@CHECKS.of("run-in-terminal")
def _(peer: RawClient) -> None:
    peer.start(client={"supportsRunInTerminalRequest": True})
    asked = peer.until(lambda item: item["type"] == "request")
    assert asked["command"] == "runInTerminal"
    assert asked["arguments"]["args"]
    peer.reply(asked, processId=4711)
    assert peer.until_event("process")["systemProcessId"] == 4711
    assert "launch" in words_of(peer.seen)


@CHECKS.of("start-debugging")
def _(peer: RawClient) -> None:
    peer.begin(lines=[4], client={"supportsStartDebuggingRequest": True})
    asked = next(item for item in peer.seen if item["type"] == "request")
    assert asked["command"] == "startDebugging"
    configuration = asked["arguments"]["configuration"]
    address = ("127.0.0.1", configuration["connect"]["port"])
    with RawClient.connected(socket.create_connection(address, PATIENCE)) as child:
        child.ask("initialize", supportsStartDebuggingRequest=True)
        child.send("attach", **configuration)
        child.send("configurationDone")
        told = child.settle()
    assert "attach" in told
    assert "?startDebugging" not in told


@CHECKS.of("debuggee-survives")
def _(peer: RawClient) -> None:
    peer.begin(lines=[4])
    (process,) = peer.events("process")
    pid = process["systemProcessId"]
    assert peer.process
    assert pid != peer.process.pid
    try:
        peer.process.kill()
        peer.ended()
        os.kill(pid, 0)
    finally:
        os.kill(pid, signal.SIGKILL)


# Stops, threads and breakpoints.


@CHECKS.of("stopped-before-response")
def _(peer: RawClient) -> None:
    peer.begin(lines=[4])
    peer.seen.clear()
    peer.send("next", threadId=1)
    assert _order(peer.settle(), "(stopped)", "next") == ["(stopped)", "next"]


@CHECKS.of("spurious-continued-before-stop")
def _(peer: RawClient) -> None:
    told = peer.begin(lines=[4])
    assert told[-4:] == ["(continued)", "configurationDone", "(continued)", "(stopped)"]


@CHECKS.of("no-continued")
def _(peer: RawClient) -> None:
    peer.begin(lines=[4])
    peer.send("continue", threadId=1)
    assert peer.settle()[-3:] == ["continue", "(output)", "(stopped)"]
    assert peer.events("continued") == []


@CHECKS.of("breakpoints-without-options")
def _(peer: RawClient) -> None:
    peer.begin(lines=[4])
    assert "hitBreakpointIds" not in _stop(peer)
    source = {"path": "/imaginary/main.c"}
    plain = peer.ask("setBreakpoints", source=source, breakpoints=[{"line": 4}])
    assert [sorted(one) for one in plain["body"]["breakpoints"]] == [["line", "source", "verified"]]
    refused = peer.ask("setBreakpoints", source=source, breakpoints=[{"line": 4, "condition": "n"}])
    assert not refused["success"]


@CHECKS.of("one-stopped-per-thread")
def _(peer: RawClient) -> None:
    peer.begin(lines=[4])
    stops = peer.events("stopped")
    assert sorted(one["threadId"] for one in stops) == [1, 2, 3]
    assert [one["threadId"] for one in stops if not one.get("preserveFocusHint")] == [1]
    assert len(peer.ask("threads")["body"]["threads"]) == 3


@CHECKS.of("pause-as-exception-sigstop")
def _(peer: RawClient) -> None:
    _pause(peer)
    assert (_stop(peer)["reason"], _stop(peer)["text"]) == ("exception", "signal SIGSTOP")


@CHECKS.of("pause-as-step")
def _(peer: RawClient) -> None:
    _pause(peer)
    assert _stop(peer)["reason"] == "step"


def _pause(peer: RawClient) -> None:
    peer.begin("forever")
    peer.ask("pause", threadId=1)
    peer.until_event("stopped")


@CHECKS.of("entry-as-exception-sigstop-without-source")
def _(peer: RawClient) -> None:
    peer.begin(stopOnEntry=True)
    assert (_stop(peer)["reason"], _stop(peer)["text"]) == ("exception", "signal SIGSTOP")
    (frame,) = peer.ask("stackTrace", threadId=1)["body"]["stackFrames"]
    assert (frame["name"], "source" in frame) == ("_start", False)


@CHECKS.of("thread-id-zero")
def _(peer: RawClient) -> None:
    peer.begin(lines=[4])
    assert _stop(peer)["threadId"] == 0
    assert peer.ask("threads")["body"]["threads"][0]["id"] == 0
    assert peer.ask("stackTrace", threadId=0)["success"]


@CHECKS.of("no-thread-id-in-stopped")
def _(peer: RawClient) -> None:
    peer.begin(lines=[4])
    assert "threadId" not in _stop(peer)


@CHECKS.of("500-threads")
def _(peer: RawClient) -> None:
    peer.begin(lines=[4])
    threads = peer.ask("threads")["body"]["threads"]
    assert len({one["id"] for one in threads}) == 500


@CHECKS.of("deep-stack:5000")
def _(peer: RawClient) -> None:
    peer.begin(lines=[4])
    body = peer.ask("stackTrace", threadId=1, startFrame=4990)["body"]
    assert (len(body["stackFrames"]), body["totalFrames"]) == (10, 5000)


@CHECKS.of("unverified-without-message")
def _(peer: RawClient) -> None:
    (one,) = _set(peer, 1)
    assert (one["verified"], "message" in one) == (False, False)


@CHECKS.of("breakpoint-changed-later")
def _(peer: RawClient) -> None:
    (one,) = _set(peer, 4)
    assert (one["verified"], one["reason"]) == (False, "pending")
    _changes(peer, one)


@CHECKS.of("raw-key-as-message")
def _(peer: RawClient) -> None:
    (one,) = _set(peer, 4)
    assert (one["verified"], one["message"]) == (False, "breakpoint.provisionalBreakpoint")
    _changes(peer, one)


def _set(peer: RawClient, *lines: int) -> list[Json]:
    peer.start()
    source = {"path": "/imaginary/main.c"}
    answer = peer.ask("setBreakpoints", source=source, breakpoints=[{"line": n} for n in lines])
    return answer["body"]["breakpoints"]


def _changes(peer: RawClient, one: Json) -> None:
    body = peer.until_event("breakpoint")
    assert body["reason"] == "changed"
    assert (body["breakpoint"]["id"], body["breakpoint"]["verified"]) == (one["id"], True)


@CHECKS.of("condition-error-stops-with-output")
def _(peer: RawClient) -> None:
    told = peer.begin(breakpoints=[{"line": 3, "condition": "nothing > 1"}])
    assert told[-2:] == ["(output)", "(stopped)"]
    assert "nothing" in peer.events("output")[0]["output"]


@CHECKS.of("late-stop:50")
def _(peer: RawClient) -> None:
    peer.begin(lines=[4])
    begun = time.monotonic()
    peer.ask("next", threadId=1)
    peer.until_event("stopped")
    assert time.monotonic() - begun >= 0.05


@pytest.mark.parametrize("spec", CHECKS)
def test_a_quirk_has_its_effect(spec: str):
    with RawClient.started("--quirk", spec) as peer:
        CHECKS[spec](peer)


def test_every_quirk_is_checked():
    assert CHECKS.names() == set(map(name_of, read_quirks("start", "stops")))


def test_quirks_add_up():
    with RawClient.started("--quirk", "thread-id-zero", "--quirk", "terminated-twice") as peer:
        peer.begin(lines=[14])
        assert _stop(peer)["threadId"] == 0
        peer.send("continue", threadId=0)
        assert peer.settle()[-2:] == ["(terminated)", "(terminated)"]


def test_the_list_and_the_table_agree():
    ran = subprocess.run(
        [sys.executable, str(ADAPTER), "--list-quirks"],
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=True,
    )
    listed = dict(line.split("\t") for line in ran.stdout.splitlines())
    assert listed == read_quirks("answers", "ends", "faults", "start", "stops")
    assert all(source.endswith(".") for source in listed.values())
