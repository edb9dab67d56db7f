"""Every quirk of an adapter gets a right answer or a clear error."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from debugger.backends import select_backend
from debugger.daemon.command_request import CommandReply
from debugger.errors import ErrorCode
from driven_backend import DaemonStack, open_stack, write_configuration
from fakes import fake_adapter

Check = Callable[[DaemonStack], Awaitable[None]]
CHECKS: dict[str, Check] = {}
# Seconds: a fake's request and initialize time-outs, and the longest that a check may take. Only a
# fake that is not to answer in time has the shorter request time-out: others have all the time that
# a slow machine needs.
_SILENT_S, _REQUEST_S, _INITIALIZE_S, _BOUND_S = 1.0, 20.0, 5.0, 60.0
_SILENT = ("never-answers:", "wedges-on:", "slow:evaluate:")

START = ("start", "main.c", "--adapter", "fake", "--timeout", "20")
BREAK = ("--break", "main.c:4")


def quirk(*specs: str) -> Callable[[Check], Check]:
    def enter(check: Check) -> Check:
        CHECKS.update(dict.fromkeys(specs, check))
        return check

    return enter


def _fails(reply: CommandReply, *codes: ErrorCode, saying: str = "") -> None:
    assert reply.error is not None, reply.text
    assert reply.error.code in codes, (reply.error.code, reply.error.message)
    assert saying in reply.error.message
    assert reply.error.hint
    assert reply.exit == reply.error.exit_code


@quirk(
    "initialized-before-launch",
    "initialized-twice",
    "launch-response-before-initialized",
    "launch-response-after-configuration-done",
    "misspelt-capability",
    "telemetry-output-first",
    "no-reply-to-configuration-done",
    "run-in-terminal",
    "stopped-before-response",
    "spurious-continued-before-stop",
    "no-continued",
    "no-thread-id-in-stopped",
    "terminated-twice",
    "terminated-before-exited",
    "output-after-terminated",
    "crash-after-disconnect",
    "ignores-disconnect",
    "debuggee-survives",
    "crlf-output",
    "numbers-as-text",
    "unknown-requests-kill",
    "slow:stackTrace:200",
    "late-stop:200",
    "never-answers:exceptionInfo",
)
async def _stops_and_ends(run: DaemonStack) -> None:
    """Go through a session in which nothing may be awkward."""
    stop = await run.data(*START, *BREAK)
    assert (stop["reason"], stop["frame"]["line"], stop["thread"]) == ("breakpoint", 4, 1)
    assert stop["hit_breakpoints"] == [1]
    await _goes_on(run)


async def _goes_on(run: DaemonStack) -> None:
    assert (await run.data("print", "n"))["value"] == "0"
    step = await run.data("next")
    assert (step["reason"], step["frame"]["line"]) == ("step", 5)
    assert (await run.data("finish"))["frame"]["function"] == "main"
    await run.data("breakpoint", "remove", "--all")
    end = await run.data("continue")
    assert (end["reason"], end["exit_code"]) == ("exit", 3)
    lines = [line["text"] for line in (await run.data("output", "--all"))["lines"]]
    assert [line for line in lines if line.startswith("step")] == [f"step {n}" for n in range(5)]


@quirk("late-capabilities")
async def _(run: DaemonStack) -> None:
    await run.data(*START, *BREAK)
    assert (await run.data("set", "n", "40"))["value"] == "40"
    assert (await run.data("print", "n"))["value"] == "40"


@quirk("thread-id-zero")
async def _(run: DaemonStack) -> None:
    assert (await run.data(*START, *BREAK))["thread"] == 0
    assert (await run.data("threads"))["threads"][0]["id"] == 0
    await _goes_on(run)


@quirk("refuses:variables")
async def _(run: DaemonStack) -> None:
    stop = await run.data(*START, *BREAK)
    assert (stop["reason"], stop["frame"]["line"]) == ("breakpoint", 4)
    assert "its values cannot be read: Failed command 'variables'" in stop["notes"]
    assert (await run.data("print", "n"))["value"] == "0"
    assert (await run.data("next"))["frame"]["line"] == 5


@quirk("breakpoints-without-options")
async def _(run: DaemonStack) -> None:
    stop = await run.data(*START, *BREAK)
    assert (stop["reason"], stop["hit_breakpoints"]) == ("breakpoint", [1])
    await run.data("breakpoint", "remove", "--all")
    await run.data("break", "main.c:4", "--when", "n == 2")
    await run.data("break", "main.c:5", "--log", "{doubled}")
    stop = await run.data("continue")
    assert (stop["frame"]["line"], stop["hit_breakpoints"]) == (4, [2])
    assert (await run.data("print", "n"))["value"] == "2"
    logged = [one["text"] for one in (await run.data("events", "--kind", "logpoint"))["events"]]
    assert logged == ["0", "2"]
    await run.data("breakpoint", "remove", "--all")
    await run.data("break", "work", "--hit-count", "2")
    stop = await run.data("continue")
    assert (stop["frame"]["line"], stop["hit_breakpoints"]) == (3, [4])
    assert (await run.data("print", "n"))["value"] == "4"
    await run.data("breakpoint", "remove", "--all")
    assert (await run.data("continue"))["exit_code"] == 3


@quirk("one-stopped-per-thread")
async def _(run: DaemonStack) -> None:
    assert (await run.data(*START, *BREAK))["thread"] == 1
    assert len((await run.data("events", "--kind", "stop"))["events"]) == 1
    await _goes_on(run)


@quirk("500-threads")
async def _(run: DaemonStack) -> None:
    await run.data(*START, *BREAK)
    assert len((await run.data("threads"))["threads"]) >= 1
    await _goes_on(run)


@quirk("deep-stack:5000")
async def _(run: DaemonStack) -> None:
    assert (await run.data(*START, *BREAK))["frame"]["function"] == "work"
    trace = await run.data("backtrace", "--limit", "7")
    assert len(trace["frames"]) == 7
    assert trace["total"] == 5000


@quirk("launch-error-after-configuration-done")
async def _(run: DaemonStack) -> None:
    _fails(await run(*START), ErrorCode.LAUNCH_FAILED, saying="No such file or directory")


@quirk("launch-fails")
async def _(run: DaemonStack) -> None:
    _fails(await run(*START, *BREAK), ErrorCode.LAUNCH_FAILED, saying="'missing' does not exist")


@quirk("launches-silently")
async def _(run: DaemonStack) -> None:
    # Nothing tells this from a program that runs; the wait ends and says no more than that.
    reply = await run(*START[:-1], "0.5")
    assert (reply.exit, reply.error) == (3, None)
    assert (await run.data("stop"))["ended"] == ["main"]


@quirk("start-debugging")
async def _(run: DaemonStack) -> None:
    await run.data(*START, *BREAK)
    names = {one["session"] for one in (await run.data("sessions"))["sessions"]}
    assert names == {"main", "main.1"}
    await run.data("stop", "--session", "main")


@quirk("pause-as-exception-sigstop", "pause-as-step")
async def _(run: DaemonStack) -> None:
    reply = await run(*START[:-1], "0.2", "--", "forever")
    assert (reply.exit, reply.error) == (3, None)
    assert (await run.data("pause"))["reason"] == "pause"
    assert (await run.data("status"))["state"] == "stopped"


@quirk("entry-as-exception-sigstop-without-source")
async def _(run: DaemonStack) -> None:
    stop = await run.data(*START, "--stop-on-entry")
    assert stop["reason"] == "entry"
    assert stop["frame"]["function"] == "_start"


@quirk("unverified-without-message")
async def _(run: DaemonStack) -> None:
    await run.data(*START, *BREAK)
    added = await run.data("breakpoint", "add", "main.c:1")
    assert added["verified"] is False
    assert added["why_unbound"]


@quirk("breakpoint-changed-later", "raw-key-as-message")
async def _(run: DaemonStack) -> None:
    await run.data(*START, *BREAK)
    (listed,) = (await run.data("breakpoint", "list"))["breakpoints"]
    assert (listed["verified"], listed["line"]) == (True, 4)
    assert "why_unbound" not in listed
    # The change may come after the answer to this, but before the next stop.
    assert (await run.data("breakpoint", "add", "main.c:5"))["line"] == 5
    assert (await run.data("continue"))["hit_breakpoints"] == [2]
    listed = (await run.data("breakpoint", "list"))["breakpoints"]
    assert [(one["verified"], one["line"]) for one in listed] == [(True, 4), (True, 5)]


@quirk("condition-error-stops-with-output")
async def _(run: DaemonStack) -> None:
    await run.data(*START, "--stop-on-entry")
    await run.data("breakpoint", "add", "main.c:4", "--condition", "nothing > 1")
    end = await run.data("continue")
    assert (end["reason"], end["exit_code"]) == ("exit", 3)
    assert any("nothing" in note for note in end["notes"])


@quirk("no-exited-event-status-in-output")
async def _(run: DaemonStack) -> None:
    end = await run.data(*START)
    assert end["reason"] == "exit"
    assert end["exit_code"] is None
    said = (await run.data("events", "--kind", "adapter"))["events"]
    assert any("has exited with status 3" in event["text"] for event in said)


@quirk("exit-code-is-signal")
async def _(run: DaemonStack) -> None:
    await _crashes(run, 11)


@quirk("signal-exit-zero")
async def _(run: DaemonStack) -> None:
    await _crashes(run, 0)


async def _crashes(run: DaemonStack, code: int) -> None:
    """The code is the adapter's to explain (Profile.exited); the crash before it is told."""
    stop = await run.data(*START, "--", "crash")
    assert (stop["reason"], stop["signal"]) == ("signal", "SIGSEGV")
    assert (await run.data("continue"))["exit_code"] == code


@quirk("closes-without-terminated")
async def _(run: DaemonStack) -> None:
    _fails(await run(*START), ErrorCode.ADAPTER_DIED, saying="exited with 0 unexpectedly")
    assert (await run.data("status"))["state"] == "terminated"


@quirk("evaluate-error-as-success-text")
async def _(run: DaemonStack) -> None:
    await run.data(*START, *BREAK)
    reply = await run("eval", "nothing")
    said = reply.error.message if reply.error else str(reply.result)
    assert "undeclared identifier 'nothing'" in said


@quirk("evaluate-error-as-type")
async def _(run: DaemonStack) -> None:
    await run.data(*START, *BREAK)
    assert (await run.data("print", "nothing"))["type"] == "NameError"


@quirk("empty-error-message-with-body-format")
async def _(run: DaemonStack) -> None:
    await run.data(*START, *BREAK)
    reply = await run("print", "nothing")
    _fails(reply, ErrorCode.EVALUATION_FAILED, saying="undeclared identifier 'nothing'")


@quirk("stale-variables-succeed-empty")
async def _(run: DaemonStack) -> None:
    await run.data(*START, "--break", "main.c:13")
    ref = next(one for one in (await run.data("locals"))["variables"] if one["name"] == "items")
    assert len((await run.data("vars", ref["ref"], "--count", "9"))["variables"]) == 9
    await run.data("continue")
    _fails(await run("vars", ref["ref"]), ErrorCode.STALE_REF)


@quirk("empty-stack-while-running")
async def _(run: DaemonStack) -> None:
    await run(*START[:-1], "0.1", "--", "forever")
    _fails(await run("backtrace"), ErrorCode.WRONG_STATE)


@quirk("huge-output:20000")
async def _(run: DaemonStack) -> None:
    assert len((await run.data(*START, *BREAK))["output"]) < 100
    reply = await run("output", "--all")
    assert reply.text is not None
    assert len(reply.text) < 10_000


@quirk("huge-value:3000000")
async def _(run: DaemonStack) -> None:
    await run.data(*START, "--break", "main.c:11")
    reply = await run("print", "text")
    assert reply.text is not None
    assert "xxx" in reply.text
    assert len(reply.text) < 10_000


@quirk("self-referring-value")
async def _(run: DaemonStack) -> None:
    await run.data(*START, "--break", "main.c:11")
    reply = await run("print", "self", "--depth", "50")
    assert reply.error is None
    assert reply.text is not None
    assert len(reply.text) < 10_000


@quirk("slow:evaluate:3000")
async def _(run: DaemonStack) -> None:
    await run.data(*START, *BREAK)
    _fails(await run("print", "n"), ErrorCode.TIMEOUT, saying="did not answer evaluate within 1 s")


@quirk("never-answers:threads")
async def _(run: DaemonStack) -> None:
    await run.data(*START, *BREAK)
    _fails(await run("threads"), ErrorCode.TIMEOUT, saying="threads")
    await _goes_on(run)


@quirk("never-answers:pause")
async def _(run: DaemonStack) -> None:
    await run(*START[:-1], "0.1", "--", "forever")
    _fails(await run("pause"), ErrorCode.TIMEOUT, saying="pause")


@quirk("never-answers:launch")
async def _(run: DaemonStack) -> None:
    _fails(await run(*START, *BREAK), ErrorCode.TIMEOUT, saying="launch")


@quirk("never-answers:setBreakpoints")
async def _(run: DaemonStack) -> None:
    _fails(await run(*START, *BREAK), ErrorCode.TIMEOUT, saying="setBreakpoints")


@quirk("never-answers:disconnect")
async def _(run: DaemonStack) -> None:
    await run.data(*START, *BREAK)
    assert (await run.data("stop"))["ended"] == ["main"]


@quirk("initialize-never-answered")
async def _(run: DaemonStack) -> None:
    _fails(await run(*START), ErrorCode.TIMEOUT, saying="did not answer initialize within 5 s")


@quirk("wedges-on:stackTrace")
async def _(run: DaemonStack) -> None:
    _fails(await run(*START, *BREAK), ErrorCode.TIMEOUT, saying="stackTrace")
    assert (await run("status")).error is None
    assert (await run.data("stop"))["ended"] == ["main"]


@quirk("dies-on:evaluate")
async def _(run: DaemonStack) -> None:
    await run.data(*START, *BREAK)
    reply = await run("print", "n")
    _fails(reply, ErrorCode.ADAPTER_DIED, saying="terminate called without an active exception")
    _fails(await run("next"), ErrorCode.ADAPTER_DIED, saying="was killed by signal 6")
    assert (await run.data("status"))["state"] == "terminated"


@quirk("garbage-header")
async def _(run: DaemonStack) -> None:
    reply = await run(*START, *BREAK)
    _fails(
        reply, ErrorCode.ADAPTER_DIED, ErrorCode.PROTOCOL, saying="not the Debug Adapter Protocol"
    )


@quirk("garbage-header:evaluate")
async def _(run: DaemonStack) -> None:
    await run.data(*START, *BREAK)
    reply = await run("print", "n")
    _fails(reply, ErrorCode.ADAPTER_DIED, ErrorCode.PROTOCOL, saying="this is no header")
    _fails(await run("next"), ErrorCode.ADAPTER_DIED, saying="this is no header")


@quirk("invalid-json")
async def _(run: DaemonStack) -> None:
    reply = await run(*START, *BREAK)
    _fails(reply, ErrorCode.ADAPTER_DIED, ErrorCode.PROTOCOL, saying="fake sent a broken message")


@quirk("oversize-message")
async def _(run: DaemonStack) -> None:
    reply = await run(*START, *BREAK)
    _fails(
        reply, ErrorCode.ADAPTER_DIED, ErrorCode.PROTOCOL, saying="a message over 67108864 bytes"
    )


@quirk("stderr-then-exit")
async def _(run: DaemonStack) -> None:
    reply = await run(*START)
    _fails(
        reply,
        ErrorCode.ADAPTER_DIED,
        ErrorCode.ADAPTER_FAILED,
        saying="error: cannot load libpython",
    )
    assert reply.error is not None
    assert "exited with 1" in reply.error.message


@quirk("stderr-then-exit:launch")
async def _(run: DaemonStack) -> None:
    reply = await run(*START)
    _fails(
        reply,
        ErrorCode.ADAPTER_DIED,
        ErrorCode.LAUNCH_FAILED,
        saying="error: cannot load libpython",
    )


def _is_silent(spec: str) -> bool:
    return spec.startswith(_SILENT)


@pytest.fixture
async def run_with(
    runtime_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Callable[..., Any]]:
    monkeypatch.setattr(
        select_backend, "ADAPTERS", {**select_backend.ADAPTERS, "fake": fake_adapter.FAKE_ADAPTER}
    )
    (tmp_path / "main.c").write_text("// the fake adapter imagines the rest\n" * 20)
    config = tmp_path / "config.toml"

    def make(*arguments: str) -> Any:
        request_s = _SILENT_S if any(map(_is_silent, arguments)) else _REQUEST_S
        initialize_s = _INITIALIZE_S if "initialize-never-answered" in arguments else _REQUEST_S
        seconds = {"dap_initialize_secs": initialize_s, "dap_request_secs": request_s}
        write_configuration(config, adapter="fake", arguments=arguments, **seconds)
        return open_stack(tmp_path, config)

    yield make
    assert list(runtime_dir.glob("scratch/*")) == []


@pytest.mark.parametrize("spec", CHECKS)
async def test_a_quirk_gets_a_right_answer_or_a_clear_error_in_time(
    spec: str, run_with: Callable[..., Any]
):
    async with asyncio.timeout(_BOUND_S), run_with(*fake_adapter.quirk_words(spec)) as run:
        await CHECKS[spec](run)


async def test_a_stop_whose_thread_cannot_be_found_out_is_told_all_the_same(
    run_with: Callable[..., Any],
):
    together = ("no-thread-id-in-stopped", "never-answers:threads")
    async with run_with(*fake_adapter.quirk_words(*together)) as run:
        assert (await run(*START, *BREAK)).error is not None
        assert (await run.data("status"))["state"] == "stopped"
        assert (await run.data("stop"))["ended"] == ["main"]


def test_every_quirk_is_met():
    listed = subprocess.run(
        [sys.executable, str(fake_adapter.ADAPTER), "--list-quirks"],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    ).stdout.splitlines()
    names = {line.partition("\t")[0].partition(":")[0] for line in listed}
    assert names == {spec.partition(":")[0] for spec in CHECKS}
