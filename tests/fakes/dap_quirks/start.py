"""Quirks of the handshake."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from dap_messages import event, failure, is_event, is_response, reverse_request

from dap_quirks.table import Turn, edit, instead

if TYPE_CHECKING:
    from dap_messages import Item, Json

LATE = ("supportsSetVariable", "supportsTerminateRequest", "supportsExceptionInfoRequest")
# Ends by itself within a minute, so that a failed test leaves nothing behind for long.
DEBUGGEE = "import signal; signal.alarm(60); signal.pause()"


def _is_start(turn: Turn) -> bool:
    return turn.asks("launch", "attach")


def _hold(turn: Turn, items: list[Item]) -> list[Item]:
    """Keep everything but `initialized` for later."""
    turn.session.held = [item for item in items if not is_event(item, "initialized")]
    return [item for item in items if is_event(item, "initialized")]


def _release(turn: Turn, items: list[Item]) -> list[Item]:
    """Put what was held behind the response."""
    held, turn.session.held = turn.session.held, []
    return items[:1] + held + items[1:]


@edit("initialized-before-launch")
def initialized_before_launch(turn: Turn, items: list[Item]) -> list[Item]:
    """Gdb sends `initialized` right after the initialize response, before launch."""
    if turn.asks("initialize"):
        return [*items, event("initialized")]
    return [item for item in items if not (_is_start(turn) and is_event(item, "initialized"))]


@edit("initialized-twice")
def initialized_twice(_turn: Turn, items: list[Item]) -> list[Item]:
    """The child of js-debug sends `initialized` twice."""
    return [copy for item in items for copy in [item] * (1 + is_event(item, "initialized"))]


@edit("launch-response-before-initialized")
def launch_response_before_initialized(turn: Turn, items: list[Item]) -> list[Item]:
    """Lldb-dap 19 answers launch before it sends `process` and `initialized`."""
    if not _is_start(turn):
        return items
    return sorted(items, key=lambda item: (not is_response(item)) + is_event(item, "initialized"))


@edit("launch-response-after-configuration-done")
def launch_response_after_configuration_done(turn: Turn, items: list[Item]) -> list[Item]:
    """Newer lldb-dap, debugpy and gdb answer launch only after `configurationDone`."""
    if _is_start(turn):
        return _hold(turn, items)
    return _release(turn, items) if turn.asks("configurationDone") else items


@edit("launch-error-after-configuration-done")
def launch_error_after_configuration_done(turn: Turn, items: list[Item]) -> list[Item]:
    """Gdb reports launch and attach errors only after `configurationDone`."""
    if _is_start(turn):
        turn.session.program = None
        refusal = failure("No such file or directory.")
        stamp = {"request_seq": turn.request["seq"], "command": turn.request["command"]}
        turn.session.held = [refusal | stamp]
        return [event("initialized")]
    return _release(turn, items) if turn.asks("configurationDone") else items


@instead("launch-fails")
def launch_fails(turn: Turn) -> list[Item] | None:
    """A failed launch is a launch response, without any `initialized`."""
    return [failure("'missing' does not exist")] if _is_start(turn) else None


@instead("launches-silently")
def launches_silently(turn: Turn) -> list[Item] | None:
    """Gdb launches a nonexistent program silently, with no events."""
    if _is_start(turn):
        return [event("initialized"), {"type": "response", "success": True}]
    return None


@edit("late-capabilities")
def late_capabilities(turn: Turn, items: list[Item]) -> list[Item]:
    """Lldb-dap 21 and delve's attach tell some capabilities in a late event."""
    if _is_start(turn):
        return [*items, event("capabilities", capabilities=dict.fromkeys(LATE, True))]
    if not turn.asks("initialize"):
        return items
    return [_without_late(item) if is_response(item) else item for item in items]


def _without_late(item: Json) -> Json:
    return item | {"body": {key: item["body"][key] for key in item["body"] if key not in LATE}}


@edit("misspelt-capability")
def misspelt_capability(turn: Turn, items: list[Item]) -> list[Item]:
    """Debugpy advertises `supportsTerminateDebuggee`, a misspelt key."""
    for item in items:
        if turn.asks("initialize") and is_response(item):
            body = {key: item["body"][key] for key in item["body"]}
            body["supportsTerminateDebuggee"] = body.pop("supportTerminateDebuggee")
            item["body"] = body
    return items


@edit("telemetry-output-first")
def telemetry_output_first(turn: Turn, items: list[Item]) -> list[Item]:
    """Debugpy sends telemetry output twice and debugpySockets before it answers initialize."""
    if not turn.asks("initialize"):
        return items
    telemetry = event("output", category="telemetry", output="ptvsd")
    return [telemetry, telemetry, event("debugpySockets", sockets=[]), *items]


@edit("no-reply-to-configuration-done")
def no_reply_to_configuration_done(turn: Turn, items: list[Item]) -> list[Item]:
    """The program runs, and `configurationDone` is never answered."""
    if not turn.asks("configurationDone"):
        return items
    return [item for item in items if not is_response(item)]


@instead("run-in-terminal")
def run_in_terminal(turn: Turn) -> list[Item] | None:
    """Lldb 19, debugpy and js-debug ask `runInTerminal`, and go on when they are answered."""
    session = turn.session
    if not turn.asks("launch") or not session.client.get("supportsRunInTerminalRequest"):
        return None
    if "runInTerminal" in session.awaited:
        return None

    def go_on(answer: Json) -> list[Item]:
        if not answer["success"]:
            stamp = {"request_seq": turn.request["seq"], "command": "launch"}
            return [failure("runInTerminal failed") | stamp]
        session.pid = answer.get("body", {}).get("processId") or session.pid
        return turn.answer_again()

    session.awaited["runInTerminal"] = go_on
    command = [sys.executable, "-S", "-c", "print('from the terminal')"]
    return [
        reverse_request(
            "runInTerminal", kind="integrated", title="program", cwd="/", args=command, env={}
        )
    ]


@edit("start-debugging")
def start_debugging(turn: Turn, items: list[Item]) -> list[Item]:
    """Js-debug and debugpy ask `startDebugging` for a child: a new connection, its arguments."""
    if turn.asks("attach"):
        turn.session.is_child = "__pendingTargetId" in turn.request["arguments"]
    if not turn.asks("configurationDone") or turn.session.is_child:
        return items
    if not turn.session.client.get("supportsStartDebuggingRequest"):
        return items
    connect = {"host": "127.0.0.1", "port": turn.session.port()}
    child = {"type": "fake", "name": "child", "__pendingTargetId": "1", "connect": connect}
    ask = reverse_request("startDebugging", request="attach", configuration=child)
    return [*items[:1], ask, *items[1:]]


@edit("debuggee-survives")
def debuggee_survives(turn: Turn, items: list[Item]) -> list[Item]:
    """When the adapter is killed, a running lldb debuggee survives: a real process here."""
    if turn.asks("disconnect", "terminate"):
        turn.session.kill_debuggee()
    if not turn.asks("launch"):
        return items
    command = [sys.executable, "-S", "-c", DEBUGGEE]
    nowhere = subprocess.DEVNULL
    debuggee = subprocess.Popen(
        command, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True
    )
    turn.session.pid, turn.session.kill_debuggee = debuggee.pid, debuggee.kill
    for item in items:
        if is_event(item, "process"):
            item["body"]["systemProcessId"] = debuggee.pid
    return items
