"""delve: Go programs. Facts are of delve 1.27.2 with Go 1.26."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from debugger.backends import abilities
from debugger.backends.base import Attach, Launch, Logged, Printed
from debugger.backends.dap import messages as dap
from debugger.backends.dap import profile as generic
from debugger.backends.dap import requests as ask
from debugger.backends.dap.adapters.delve import breakpoints, machine, panics, returns, values
from debugger.backends.dap.profile import Ask, Files, Found, Profile, Search
from debugger.core.events import Stream
from debugger.core.model import Purpose, Reason, Stopped
from debugger.errors import DebuggerError
from debugger.paths import data_dir
from debugger.targets import gopackage

_LISTENS = r"listening at: .*:(?P<port>\d+)"
_BUILD_S = 600.0
_FRAMES_MAX = 10_000
# Of each string and each list that is shown: more is read when it is asked for.
_LOOK = {"maxStringLen": 1024, "maxArrayValues": 64, "stackTraceDepth": _FRAMES_MAX}
_SURROGATE = re.compile("[\ud800-\udfff]")
_THREAD = re.compile(r"^(?:\* )?\[Go (?P<number>\d+)(?P<labels>[^\]]*)\] (?P<function>.*?)"
                     r"(?: \(Thread \d+\))?$")  # fmt: skip
_LOGGED = re.compile(r"> \[Go \d+\]: ")
_LOG_FAILURE = re.compile(r"\{eval err: &\{%!e\(string=(.*?)\)\}\}")
_BUILD_ERROR = re.compile(
    r"Build Error: [^\n]*\n(?P<said>.*?)(?: \(exit status \d+\))?\s*\Z", re.DOTALL
)
_REASONS = {"error": Reason.EXCEPTION, "entry": Reason.PAUSE}
_FAILED_CONDITION = "error evaluating expression: "
_HELP = "Type 'dlv help' for list of commands."


def _find(search: Search) -> Found | None:
    if search.path is not None:
        return _found(search.path, search)
    env = search.env
    home = env.get("HOME") or str(Path.home())
    folders = [
        env.get("GOBIN", ""),
        *(f"{root}/bin" for root in env.get("GOPATH", f"{home}/go").split(":") if root),
        f"{data_dir(env)}/adapters/delve",
    ]
    path = shutil.which("dlv", path=env.get("PATH"))
    for folder in folders:
        path = path or (shutil.which("dlv", path=folder) if folder else None)
    return _found(str(Path(path).absolute()), search) if path is not None else None


def _found(path: str, search: Search) -> Found:
    # It takes one client, of the same user, and ends with it.
    words = (path, "dap", "--listen", "127.0.0.1:0", *search.args)
    return Found(words, listens=_LISTENS)


def _launch(launch: Launch, files: Files) -> dict[str, Any]:
    assert launch.program is not None
    target = gopackage.target(launch.program)
    own = {"program": target.what, "args": list(launch.args)}
    if target.mode != "exec":
        # Otherwise it builds into the current directory; what is here goes with the adapter.
        own |= {"output": str(Path(files.stdout).parent / target.name), "dlvCwd": target.folder}
    if target.mode == "test":
        own["args"] = list(gopackage.test_arguments(launch.args))
    return {
        "request": "launch",
        "mode": target.mode,
        "cwd": launch.cwd,
        "env": _sendable(launch.env),
        "stdinFrom": files.stdin,
        "stdoutTo": files.stdout,
        "stderrTo": files.stderr,
        "hideSystemGoroutines": True,
        **_LOOK,
        **own,
    }


def _sendable(env: Mapping[str, str]) -> dict[str, str]:
    """Leave out what JSON cannot carry: the program has it from the adapter's own environment."""
    return {key: value for key, value in env.items() if not _SURROGATE.search(key + value)}


def _attach(target: Attach) -> dict[str, Any]:
    common = {"stopOnEntry": target.pause, "hideSystemGoroutines": True, **_LOOK}
    if target.core is not None:
        files = {"program": target.program or "", "coreFilePath": target.core}
        return {"request": "launch", "mode": "core", **files, **common, "stopOnEntry": True}
    if target.connect is not None:
        return {"request": "attach", "mode": "remote", **common}
    return {"request": "attach", "mode": "local", "processId": target.pid, **common}


def _stopped(body: dap.StoppedBody) -> Stopped:
    plain = generic.stopped(body)
    # Those below 0 are its own, for panics.
    hits = tuple(hit for hit in plain.hits if hit > 0)
    reason = _REASONS.get(body.reason, plain.reason)
    # At its own "entry", which only an attach has, the first goroutine may not be there yet.
    thread = None if body.reason == "entry" else body.thread_id or None
    return msgspec.structs.replace(plain, hits=hits, reason=reason, thread=thread)


def _failed_condition(stop: Stopped) -> str | None:
    is_one = stop.raw_reason == "exception" and stop.text.startswith(_FAILED_CONDITION)
    return stop.text.removeprefix(_FAILED_CONDITION) if is_one else None


def _printed(body: dap.OutputBody) -> Printed | Logged | None:
    # The program writes to files of ours; everything that comes here is delve's own.
    text = body.output
    if body.category == "telemetry" or text.startswith(("Building ", _HELP)):
        return None
    logged = _LOGGED.match(text)
    if logged:
        text = _LOG_FAILURE.sub(r"{\1}", text[logged.end() :])
    failed = _BUILD_ERROR.match(text)
    if failed:
        lines = [line for line in failed["said"].splitlines() if not line.startswith("# ")]
        text = "\n".join(lines) + "\n"
    return Printed(Stream.CONSOLE, text)


def _log(text: str) -> str:
    """Double the percent signs outside of expressions: delve formats with them."""
    depth, found = 0, []
    for letter in text:
        depth += (letter == "{") - (letter == "}")
        found.append("%%" if letter == "%" and not depth else letter)
    return "".join(found)


def _thread(body: dap.Thread) -> dap.Thread:
    if body.name == "Dummy":
        # Go's runtime has not begun; what runs belongs to no goroutine, and has the number 0.
        return msgspec.structs.replace(body, id=0, name="no goroutine")
    match = _THREAD.match(body.name or "")
    if match is None:
        return body
    name = f"goroutine {match['number']}{match['labels']} {match['function']}"
    return msgspec.structs.replace(body, name=name)


def _is_outside(frame: dap.StackFrame) -> bool:
    return frame.name in {"runtime.main", "runtime.goexit"}


def _launch_problem(text: str) -> str:
    if "Build error" in text:
        return "the program does not build"
    return text.removeprefix("Failed to launch: ").removeprefix("Failed to attach: ")


def _launch_hint(text: str) -> str | None:
    return "go build names what to mend in the same words" if "Build error" in text else None


async def _let_go(request: Ask, halted: asyncio.Event, files: Sequence[str]) -> None:
    """Take everything out of a program that delve launched, and let it run.

    Told to disconnect, delve kills what it launched; killed itself, it leaves it running.
    """
    nothing = ask.SetExceptionBreakpoints(())
    halted.clear()
    try:
        await request("setExceptionBreakpoints", nothing, dap.BreakpointsBody)
    except DebuggerError:  # it runs
        await request("pause", ask.OfThread(0), dap.Body)
        await halted.wait()
        await request("setExceptionBreakpoints", nothing, dap.BreakpointsBody)
    lists: dict[str, msgspec.Struct] = {
        "setFunctionBreakpoints": ask.SetFunctionBreakpoints(()),
        "setInstructionBreakpoints": ask.SetInstructionBreakpoints(()),
        "setDataBreakpoints": ask.SetDataBreakpoints(()),
    }
    for command, arguments in lists.items():
        with suppress(DebuggerError):  # what the machine cannot have was not set
            await request(command, arguments, dap.BreakpointsBody)
    for file in files:
        empty = ask.SetBreakpoints(ask.SourceArgument(path=file), ())
        await request("setBreakpoints", empty, dap.BreakpointsBody)
    await request("continue", ask.OfThread(0), dap.Body)


PROFILE = Profile(
    name="delve",
    languages=("go",),
    install="go install github.com/go-delve/delve/cmd/dlv@latest",
    find=_find,
    launch=_launch,
    attach=_attach,
    is_server=True,
    # Up to 1.25 it knows nothing of stdoutTo: the program's output is among its own.
    served_output=Stream.STDOUT,
    contexts={
        Purpose.PRINT: ("variables",),
        Purpose.EVALUATE: ("variables",),
        Purpose.RAW: ("repl",),
    },
    raw_prefix="dlv ",
    launch_s=_BUILD_S,
    exception_filters=("unrecovered-panic", "runtime-fatal-throw"),
    catches={"panic": "unrecovered-panic", "uncaught": "unrecovered-panic"},
    catch_functions={"raised": "runtime.gopanic", "throw": "runtime.gopanic"},
    abilities={
        abilities.Disassembly: machine.Disassembly,
        abilities.Memory: machine.Memory,
        abilities.Registers: machine.Registers,
        abilities.InstructionSteps: machine.InstructionSteps,
        abilities.ReturnValues: returns.ReturnValues,
        abilities.Watchpoints: machine.Watchpoints,
    },
    has=frozenset(
        {
            abilities.Exceptions,
            abilities.InstructionBreakpoints,
            abilities.RawCommands,
        }
    ),
    # Its own entry is before Go's runtime has begun: there is no goroutine, and no step.
    entry="main.main",
    interrupted_step="Step interrupted by a breakpoint.",
    failed_condition=_failed_condition,
    let_go=_let_go,
    hit_condition=lambda count: f">= {count}",
    log=_log,
    thread=_thread,
    launch_problem=_launch_problem,
    launch_hint=_launch_hint,
    problem=values.problem,
    stopped=_stopped,
    printed=_printed,
    exited=generic.exited_or_killed,
    is_outside=_is_outside,
    exception=panics.exception,
    choose_function=breakpoints.choose_function,
    taken=breakpoints.taken,
    refusal=breakpoints.refusal,
    explain=breakpoints.explain,
    arguments=breakpoints.arguments,
    evaluate=values.evaluate,
    complete=values.complete,
    page=values.page,
    assign=values.assign,
)
