"""Describes lldb-dap, for C, C++ and Rust programs. Facts are of lldb-dap 19.1.7."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec

from debugger.backends.base import Attach, Launch, Logged, Printed
from debugger.backends.dap import messages as dap
from debugger.backends.dap import profile as generic
from debugger.backends.dap import requests as ask
from debugger.backends.dap.adapters.lldb import abilities as own
from debugger.backends.dap.profile import Files, Found, Inside, Profile, Search
from debugger.backends.lldb import common, thrown, values
from debugger.backends.lldb_text import quoted
from debugger.core.events import Stream
from debugger.core.model import ExceptionDetails, Frame, Purpose, Reason, Stopped, Variable
from debugger.core.raw_effects import lldb_effect

_NEWEST_FIRST = range(30, 13, -1)
_XCRUN_S = 10
_WATCHPOINT_HIT = re.compile(r"\s*Watchpoint \d+ hit:\s|(?:old|new) value: .*\n\Z")
_WATCHPOINT = re.compile(r"watchpoint (\d+)")


def _find(search: Search) -> Found | None:
    if search.path is not None:
        return Found((search.path, *search.args))
    if sys.platform == "darwin":
        # Xcode's own comes first, as with LLDB's command line: only it knows Swift.
        own = _find_by_xcrun(search)
        if own is not None:
            return own
    path = search.env.get("PATH")
    names = ["lldb-dap", *(f"lldb-dap-{number}" for number in _NEWEST_FIRST)]
    for name in names:
        found = shutil.which(name, path=path)
        if found is not None:
            # By its absolute path: it looks for its own libraries and lldb-server from there.
            return Found((str(Path(found).absolute()), *search.args))
    for number in _NEWEST_FIRST:
        file = Path(f"/usr/lib/llvm-{number}/bin/lldb-dap")
        if file.exists():
            return Found((str(file), *search.args))
    return None


def missing_hint(platform: str) -> str:
    """Return how to get lldb-dap, or do without, on a system."""
    without = "LLDB's own command line does without it: --backend lldb-cli"
    if platform == "darwin":
        return f"Xcode 16 brings it (xcode-select --install; xcrun --find lldb-dap); {without}"
    return f"debugger setup lldb-dap --yes installs it; {without}"


def _find_by_xcrun(search: Search) -> Found | None:
    try:
        answer = subprocess.run(
            ["/usr/bin/xcrun", "--find", "lldb-dap"],
            capture_output=True,
            text=True,
            timeout=_XCRUN_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    path = answer.stdout.strip()
    return Found((path, *search.args)) if path else None


def _launch(launch: Launch, files: Files) -> dict[str, Any]:
    assert launch.program is not None
    commands = common.init_commands(launch)
    # The protocol has no request for input; files of ours also keep stdout and stderr apart.
    for name, path in (("input", files.stdin), ("output", files.stdout), ("error", files.stderr)):
        commands.append(f"settings set target.{name}-path {quoted(path)}")
    return {
        "type": "lldb-dap",
        "request": "launch",
        "program": launch.program,
        "args": list(launch.args),
        "cwd": launch.cwd,
        "env": common.sendable(launch.env),
        "stopOnEntry": launch.stop_on_entry,
        "initCommands": commands,
        "enableAutoVariableSummaries": True,
    }


def _attach(target: Attach) -> dict[str, Any]:
    told: dict[str, Any] = {
        "type": "lldb-dap",
        "request": "attach",
        "stopOnEntry": target.pause,
        "initCommands": common.init_commands(target),
        "enableAutoVariableSummaries": True,
    }
    if target.program is not None:
        told["program"] = target.program
    if target.core is not None:
        told["coreFile"] = target.core
    elif target.connect is not None:
        told["gdb-remote-hostname"], told["gdb-remote-port"] = target.connect
    else:
        told["pid"] = target.pid
    return told


def _stopped(body: dap.StoppedBody) -> Stopped:
    plain = generic.stopped(body)
    watched = _WATCHPOINT.search(plain.description)
    if watched:
        # LLDB numbers its watchpoints apart from its breakpoints: ours are negative.
        return msgspec.structs.replace(plain, reason=Reason.WATCHPOINT, hits=(-int(watched[1]),))
    signal = common.signal_of(plain.description)
    if body.reason == "exception" and signal is not None:
        # A pause and the entry are reported as the SIGSTOP that caused them.
        if signal == "SIGSTOP":
            return msgspec.structs.replace(plain, reason=Reason.PAUSE, signal=signal)
        return msgspec.structs.replace(plain, reason=Reason.SIGNAL, signal=signal)
    return plain


def _printed(body: dap.OutputBody) -> Printed | Logged | None:
    if _WATCHPOINT_HIT.match(body.output):
        return None  # of Rust programs LLDB writes it as if the program had
    # A program that is launched writes to files of ours; one behind a debug server, here.
    if body.category == "stdout":
        return Printed(Stream.STDOUT, body.output.replace("\r\n", "\n"))
    if body.category == "telemetry" or body.output.startswith("Running "):
        return None
    return Printed(Stream.CONSOLE, body.output)


async def _evaluate(
    inside: Inside, expression: str, frame: Frame | None, purpose: Purpose
) -> Variable | None:
    """Refuse what the request would misread; leave all else to the request."""
    if purpose is not Purpose.RAW:
        await values.refuse_misread(inside, expression, frame)
    return None


async def _raw(inside: Inside, command: str, frame: Frame | None) -> str:
    if frame is not None:
        # Only the scopes request selects the frame for commands.
        await inside.request("scopes", ask.OfFrame(frame.handle), dap.ScopesBody)
    lines = (await inside.evaluate(f"`{command}", frame, Purpose.RAW)).value.splitlines()
    # It repeats the command before its answer.
    return "\n".join(lines[1:] if lines and lines[0].startswith("(lldb) ") else lines)


async def _exception(inside: Inside, stop: Stopped) -> ExceptionDetails | None:
    if inside.attached is not None and inside.attached.core is not None:
        return common.details(ExceptionDetails("signal", stop.description))
    return await thrown.exception(inside, stop)


PROFILE = Profile(
    name="lldb-dap",
    languages=common.LANGUAGES,
    missing_hint=missing_hint(sys.platform),
    install="apt install lldb-19 (Debian), brew install llvm (macOS)",
    find=_find,
    launch=_launch,
    attach=_attach,
    is_terminal=True,
    contexts={
        # `watch` evaluates any C++ expression, `hover` only variable paths.
        Purpose.PRINT: ("watch", "hover"),
        Purpose.EVALUATE: ("watch",),
        # In `repl` a backtick makes a text a command, even where it could be an expression.
        Purpose.RAW: ("repl",),
    },
    raw=_raw,
    evaluate=_evaluate,
    raw_effect=lldb_effect,
    assigns_by_expression=True,
    clears=True,
    # It takes 5 s for a program that it launched, and longer where breakpoints are hot.
    detach_s=16.0,
    catches=common.CATCHES,
    catch_functions=common.CATCH_FUNCTIONS,
    abilities=own.ABILITIES,
    has=own.HAS,
    failed_conditions_stop=True,
    keeps_steps=True,
    steps=own.steps,
    # The answers have the order of a hash table: see `dap.breakpoints`.
    function_answers_are_ordered=False,
    settle=common.settle,
    stopped=_stopped,
    printed=_printed,
    exited=common.exited,
    exception=_exception,
    details=common.details,
    problem=common.problem,
    explain=common.explain,
    arguments=common.arguments,
    complete=values.complete,
    returned=values.returned,
)
