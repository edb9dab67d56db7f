"""Quirks of answers, ends and faults do what their names say."""

from __future__ import annotations

import signal
import subprocess
import time

import pytest

from fakes.quirk_checks import QuirkChecks, name_of, read_quirks
from fakes.raw_client import RawClient, words_of

CHECKS = QuirkChecks()


def _old_reference(peer: RawClient) -> int:
    """Give a reference that was right at the stop before."""
    peer.begin(lines=[13])
    frame = peer.ask("stackTrace", threadId=1)["body"]["stackFrames"][0]["id"]
    scope = peer.ask("scopes", frameId=frame)["body"]["scopes"][0]
    peer.ask("continue", threadId=1)
    peer.until_event("stopped")
    return scope["variablesReference"]


# Answers.


@CHECKS.of("evaluate-error-as-success-text")
def _(peer: RawClient) -> None:
    peer.begin(lines=[4])
    answer = peer.ask("evaluate", expression="nothing")
    assert answer["success"]
    assert answer["body"]["result"].startswith("error: use of undeclared identifier")


@CHECKS.of("evaluate-error-as-type")
def _(peer: RawClient) -> None:
    peer.begin(lines=[4])
    answer = peer.ask("evaluate", expression="nothing")
    assert (answer["success"], answer["body"]["type"]) == (True, "NameError")


@CHECKS.of("empty-error-message-with-body-format")
def _(peer: RawClient) -> None:
    peer.begin(lines=[4])
    answer = peer.ask("evaluate", expression="nothing")
    assert (answer["success"], answer["message"]) == (False, "")
    assert "undeclared" in answer["body"]["error"]["format"]


@CHECKS.of("stale-variables-succeed-empty")
def _(peer: RawClient) -> None:
    answer = peer.ask("variables", variablesReference=_old_reference(peer))
    assert (answer["success"], answer["body"]["variables"]) == (True, [])


@CHECKS.of("empty-stack-while-running")
def _(peer: RawClient) -> None:
    peer.begin("forever")
    answer = peer.ask("stackTrace", threadId=1)
    assert (answer["success"], answer["body"]["stackFrames"]) == (True, [])


@CHECKS.of("slow:evaluate:50")
def _(peer: RawClient) -> None:
    peer.begin(lines=[4])
    begun = time.monotonic()
    assert peer.ask("evaluate", expression="n")["success"]
    assert time.monotonic() - begun >= 0.05


@CHECKS.of("huge-output:1000")
def _(peer: RawClient) -> None:
    peer.begin(lines=[4])
    printed = [one["output"] for one in peer.events("output")]
    assert printed == [f"line {number}\n" for number in range(1000)]


@CHECKS.of("crlf-output")
def _(peer: RawClient) -> None:
    peer.begin("1", "noisy")
    printed = [(one["category"], one["output"]) for one in peer.events("output")]
    assert printed == [("stdout", "warning: noisy\r\n"), ("stdout", "step 0\r\n")]


@CHECKS.of("numbers-as-text")
def _(peer: RawClient) -> None:
    peer.send("initialize")
    answer = peer.until(lambda item: item.get("command") == "initialize")
    assert (answer["seq"], answer["request_seq"]) == ("7", "1")


@CHECKS.of("refuses:variables")
def _(peer: RawClient) -> None:
    peer.begin(lines=[4])
    answer = peer.ask("variables", variablesReference=1)
    assert (answer["success"], answer["message"]) == (False, "error: Failed command 'variables'")


@CHECKS.of("huge-value:100000")
def _(peer: RawClient) -> None:
    peer.begin(lines=[4])
    assert len(peer.ask("evaluate", expression="text")["body"]["result"]) == 100_002


@CHECKS.of("self-referring-value")
def _(peer: RawClient) -> None:
    peer.begin(lines=[4])
    reference = peer.ask("evaluate", expression="self")["body"]["variablesReference"]
    for _turn in range(3):
        (child,) = peer.ask("variables", variablesReference=reference)["body"]["variables"]
        assert (child["name"], child["variablesReference"]) == ("self", reference)


# Ends.


@CHECKS.of("no-exited-event-status-in-output")
def _(peer: RawClient) -> None:
    assert "(exited)" not in peer.begin()
    assert peer.events("output")[-1]["output"].endswith("has exited with status 3\n")


@CHECKS.of("exit-code-is-signal")
def _(peer: RawClient) -> None:
    assert _crash_code(peer) == signal.SIGSEGV


@CHECKS.of("signal-exit-zero")
def _(peer: RawClient) -> None:
    assert _crash_code(peer) == 0


def _crash_code(peer: RawClient) -> int:
    peer.begin("crash")
    peer.ask("continue", threadId=1)
    return peer.until_event("exited")["exitCode"]


@CHECKS.of("terminated-twice")
def _(peer: RawClient) -> None:
    assert peer.begin()[-3:] == ["(exited)", "(terminated)", "(terminated)"]


@CHECKS.of("output-after-terminated")
def _(peer: RawClient) -> None:
    assert peer.begin()[-2:] == ["(terminated)", "(output)"]
    assert peer.events("output")[-1]["output"] == "last words\n"


@CHECKS.of("terminated-before-exited")
def _(peer: RawClient) -> None:
    assert peer.begin()[-2:] == ["(terminated)", "(exited)"]


@CHECKS.of("closes-without-terminated")
def _(peer: RawClient) -> None:
    peer.start()
    peer.send("configurationDone")
    assert words_of(peer.drain())[-1] == "(output)"
    assert peer.ended() == 0


@CHECKS.of("crash-after-disconnect")
def _(peer: RawClient) -> None:
    peer.begin(lines=[4])
    peer.send("disconnect")
    assert words_of(peer.drain()) == ["disconnect", "(output)", "(output)", "garbage"]
    assert peer.ended() == -signal.SIGABRT


@CHECKS.of("ignores-disconnect")
def _(peer: RawClient) -> None:
    peer.begin(lines=[4])
    peer.send("disconnect")
    peer.settle()
    assert peer.process
    peer.process.terminate()
    peer.hang_up()
    with pytest.raises(subprocess.TimeoutExpired):
        peer.process.wait(0.3)
    assert "disconnect" not in words_of(peer.seen)


# Faults.


@CHECKS.of("never-answers:evaluate")
def _(peer: RawClient) -> None:
    peer.begin(lines=[4])
    peer.send("evaluate", expression="n")
    told = peer.settle()
    assert not {"evaluate", "!evaluate"} & set(told)


@CHECKS.of("initialize-never-answered")
def _(peer: RawClient) -> None:
    peer.send("initialize")
    assert peer.rest() == []


@CHECKS.of("wedges-on:loadedSources")
def _(peer: RawClient) -> None:
    peer.begin(lines=[4])
    for command in ("loadedSources", "threads", "disconnect"):
        peer.send(command)
    assert peer.rest() == []


@CHECKS.of("dies-on:evaluate")
def _(peer: RawClient) -> None:
    peer.begin(lines=[4])
    peer.send("evaluate", expression="n")
    assert peer.drain() == []
    assert peer.ended() == -signal.SIGABRT
    assert "without an active exception" in _complaint(peer)


@CHECKS.of("unknown-requests-kill")
def _(peer: RawClient) -> None:
    peer.begin(lines=[4])
    peer.send("loadedSources")
    assert peer.drain() == []
    assert peer.ended() == -signal.SIGABRT


@CHECKS.of("garbage-header", "invalid-json")
def _(peer: RawClient) -> None:
    told = peer.begin(lines=[4])
    at = told.index("garbage")
    assert told[at - 1] == "setBreakpoints"
    assert "configurationDone" in told[at:]


@CHECKS.of("garbage-header:evaluate", "invalid-json:evaluate")
def _(peer: RawClient) -> None:
    assert "garbage" not in peer.begin(lines=[4])
    peer.ask("evaluate", expression="n")
    assert "garbage" in words_of(peer.seen)


@CHECKS.of("oversize-message", "oversize-message:evaluate")
def _(peer: RawClient) -> None:
    peer.start()
    peer.send("configurationDone")
    peer.send("evaluate", expression="n")
    found = [item for item in peer.rest() if isinstance(item, bytes)]
    assert found[0] == b"Content-Length: 99999999999\r\n"


@CHECKS.of("stderr-then-exit", "stderr-then-exit:initialize")
def _(peer: RawClient) -> None:
    peer.send("initialize")
    assert peer.drain() == []
    assert peer.ended() == 1
    assert _complaint(peer) == "error: cannot load libpython\n"


def _complaint(peer: RawClient) -> str:
    assert peer.process
    assert peer.process.stderr
    return peer.process.stderr.read().decode()


@pytest.mark.parametrize("spec", CHECKS)
def test_a_quirk_has_its_effect(spec: str):
    with RawClient.started("--quirk", spec) as peer:
        CHECKS[spec](peer)


def test_every_quirk_is_checked():
    assert CHECKS.names() == set(map(name_of, read_quirks("answers", "ends", "faults")))
