"""Answers the debugger's questions. Runs inside LLDB, from its start.

A question comes as a command on LLDB's standard input, and is answered by one line on its standard
output. A thread that waits for LLDB's events reports them by such lines, too; LLDB itself is kept
from handling the events, so that it prints nothing of its own about them. (Facts are of LLDB
19.1.7; Python 3.9 and later.)
"""

from __future__ import annotations

import base64
import importlib
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

lldb: Any = importlib.import_module("lldb")

# The modules of this folder import each other by their plain names: they are no package here.
sys.path.insert(0, str(Path(__file__).parent))
_PARTS = ("lldb_program", "lldb_events", "lldb_breaks", "lldb_values", "lldb_steps")
_OUTPUT = 1
_secret = ""
# The answering thread and the event thread both write: lines must not mix.
_writing = threading.Lock()
_handlers: dict[str, Any] = {}


class RequestRefused(Exception):
    """A failure, with the code of the error that the user gets."""

    def __init__(self, message: str, code: str = "EVALUATION_FAILED") -> None:
        super().__init__(message)
        self.code = code


def write_line(number: int, body: Any) -> None:
    """Write one line: an answer, or an event under the number 0."""
    # A program behind a debug server may print to the same stream: the secret tells our lines.
    head = f"\x1e{_secret} {number} "
    line = memoryview(f"{head}{json.dumps(body)}\n".encode("ascii"))
    with _writing:
        # A pipe may take a long line in several parts.
        while line:
            line = line[os.write(_OUTPUT, line) :]


def news(event: str, **more: Any) -> None:
    """Report an event."""
    write_line(0, {"event": event, **more})


def begin(secret: str) -> None:
    """Take over the events: LLDB prints nothing about them from now on."""
    global _secret  # noqa: PLW0603 - there is one conversation
    _secret = secret
    debugger = lldb.debugger
    listener = debugger.GetListener()
    # LLDB's own event handler prints a stop, with source, to its output: it must not get these
    # events.
    for name in (
        lldb.SBProcess.GetBroadcasterClassName(),
        lldb.SBTarget.GetBroadcasterClassName(),
        lldb.SBThread.GetBroadcasterClassName(),
    ):
        listener.StopListeningForEventClass(debugger, name, 0xFFFFFFFF)
    for name in _PARTS:
        part = importlib.import_module(name)
        _handlers.update(part.begin(sys.modules[__name__]))
    write_line(0, {"event": "ready", "version": debugger.GetVersionString()})


def ask(text: str) -> None:
    """Answer a question; a failure is an answer, too."""
    # In base64 nothing of a question can end the command or the text that contains it.
    question = json.loads(base64.b64decode(text))
    try:
        answer = {"ok": _handlers[question["do"]](**question["with"])}
    except RequestRefused as error:
        answer = {"error": str(error), "code": error.code}
    # SIGINT: the console interrupts a question that takes too long, and LLDB passes it on to
    # Python.
    except KeyboardInterrupt:
        answer = {"error": "it was interrupted", "code": "TIMEOUT"}
    except Exception as error:  # noqa: BLE001 - the daemon waits for an answer
        answer = {"error": f"{type(error).__name__}: {error}", "code": "ADAPTER_FAILED"}
    write_line(question["number"], answer)


def passed(frame: Any, location: Any, _extra: Any, _names: Any) -> bool:
    """Write a logpoint's text (LLDB calls this by its name at a breakpoint)."""
    stops: bool = importlib.import_module("lldb_breaks").passed(frame, location)
    return stops
