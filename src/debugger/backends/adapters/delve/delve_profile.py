"""Describes delve, for Go programs. Facts are of delve 1.27.2 with Go 1.26."""

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
from debugger.backends.adapters.delve import delve_abilities, delve_breakpoints, delve_values
from debugger.backends.base import AttachTarget, LaunchTarget, LogpointPassed, OutputPrinted
from debugger.backends.dap import adapter_profile as generic
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.adapter_profile import (
    AdapterLocation,
    AdapterProfile,
    AdapterSearch,
    Ask,
    StreamFiles,
)
from debugger.errors import DebuggerError
from debugger.model.debugger_words import DebuggerTraits, LogDialect, Runtime
from debugger.model.events import OutputStream
from debugger.model.program import EvaluationPurpose, Stopped, StopReason
from debugger.paths import data_dir
from debugger.sources import project_files

_LISTENS = r"listening at: .*:(?P<port>\d+)"
# Seconds: the first build of a large module compiles all its dependencies.
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
_REASONS = {"error": StopReason.EXCEPTION, "entry": StopReason.PAUSE}
_FAILED_CONDITION = "error evaluating expression: "
_HELP = "Type 'dlv help' for list of commands."


def _find_delve(search: AdapterSearch) -> AdapterLocation | None:
    if search.path is not None:
        return _found_delve(search.path, search)
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
    return _found_delve(str(Path(path).absolute()), search) if path is not None else None


def _found_delve(path: str, search: AdapterSearch) -> AdapterLocation:
    # It takes one client, of the same user, and ends with it.
    # Port 0, and the real one is read from its output: no other process can take it in between.
    words = (path, "dap", "--listen", "127.0.0.1:0", *search.args)
    return AdapterLocation(words, listens=_LISTENS)


def _launch_arguments(launch: LaunchTarget, files: StreamFiles) -> dict[str, Any]:
    assert launch.program is not None
    # A program that is compiled already, a package, or a package's tests: delve builds the latter
    # two.
    target = project_files.find_go_target(launch.program)
    own = {"program": target.what, "args": list(launch.args)}
    if target.mode != "exec":
        # Otherwise it builds into the current directory; what is here goes with the adapter.
        own |= {"output": str(Path(files.stdout).parent / target.name), "dlvCwd": target.folder}
    if target.mode == "test":
        own["args"] = list(project_files.test_arguments(launch.args))
    return {
        "request": "launch",
        "mode": target.mode,
        "cwd": launch.cwd,
        "env": _sendable_environment(launch.env),
        "stdinFrom": files.stdin,
        "stdoutTo": files.stdout,
        "stderrTo": files.stderr,
        # The runtime's own (garbage collector, finalizers) are not the user's.
        "hideSystemGoroutines": True,
        **_LOOK,
        **own,
    }


def _sendable_environment(env: Mapping[str, str]) -> dict[str, str]:
    """Remove variables that JSON cannot carry: the program inherits them from the adapter."""
    return {key: value for key, value in env.items() if not _SURROGATE.search(key + value)}


def _attach_arguments(target: AttachTarget) -> dict[str, Any]:
    common = {"stopOnEntry": target.pause, "hideSystemGoroutines": True, **_LOOK}
    # A core file is a mode of `launch` in delve, not of `attach`.
    if target.core is not None:
        files = {"program": target.program or "", "coreFilePath": target.core}
        return {"request": "launch", "mode": "core", **files, **common, "stopOnEntry": True}
    if target.connect is not None:
        return {"request": "attach", "mode": "remote", **common}
    return {"request": "attach", "mode": "local", "processId": target.pid, **common}


def _parse_stopped(body: dap.StoppedBody) -> Stopped:
    plain = generic.parse_stopped(body)
    # Those below 0 are its own, for panics.
    # A negative number is one of delve's breakpoints for panics and fatal errors.
    hits = tuple(hit for hit in plain.hits if hit > 0)
    reason = _REASONS.get(body.reason, plain.reason)
    # At its own "entry", which only an attach has, the first goroutine may not be there yet.
    thread = None if body.reason == "entry" else body.thread_id or None
    return msgspec.structs.replace(plain, hits=hits, reason=reason, thread=thread)


def _failed_condition(stop: Stopped) -> str | None:
    is_one = stop.raw_reason == "exception" and stop.text.startswith(_FAILED_CONDITION)
    return stop.text.removeprefix(_FAILED_CONDITION) if is_one else None


def _parse_output(body: dap.OutputBody) -> OutputPrinted | LogpointPassed | None:
    # The program writes to files of ours; everything that comes here is delve's own.
    text = body.output
    if body.category == "telemetry" or text.startswith(("Building ", _HELP)):
        return None
    # delve writes `> [Go 1]: ` before a logpoint's text.
    logged = _LOGGED.match(text)
    if logged:
        # A failure is printed by delve with a wrong format: only the message is kept.
        text = _LOG_FAILURE.sub(r"{\1}", text[logged.end() :])
    failed = _BUILD_ERROR.match(text)
    if failed:
        # Lines with `# ` name the package, and are go build's own.
        lines = [line for line in failed["said"].splitlines() if not line.startswith("# ")]
        text = "\n".join(lines) + "\n"
    return OutputPrinted(OutputStream.CONSOLE, text)


def _escape_log(text: str) -> str:
    """Double the percent signs outside of expressions: delve formats with them."""
    depth, found = 0, []
    for letter in text:
        depth += (letter == "{") - (letter == "}")
        found.append("%%" if letter == "%" and not depth else letter)
    return "".join(found)


def _clean_thread(body: dap.DapThread) -> dap.DapThread:
    # The name that delve gives a thread without a goroutine.
    if body.name == "Dummy":
        # Go's runtime has not begun; what runs belongs to no goroutine, and has the number 0.
        return msgspec.structs.replace(body, id=0, name="no goroutine")
    match = _THREAD.match(body.name or "")
    if match is None:
        return body
    name = f"goroutine {match['number']}{match['labels']} {match['function']}"
    return msgspec.structs.replace(body, name=name)


def _is_outside(frame: dap.DapStackFrame) -> bool:
    return frame.name in {"runtime.main", "runtime.goexit"}


def _launch_problem(text: str) -> str:
    if "Build error" in text:
        return "the program does not build"
    return text.removeprefix("Failed to launch: ").removeprefix("Failed to attach: ")


def _launch_hint(text: str) -> str | None:
    return "go build names what to mend in the same words" if "Build error" in text else None


async def _let_go(request: Ask, halted: asyncio.Event, files: Sequence[str]) -> None:
    """Remove all breakpoints from a program that delve launched, and continue it.

    A disconnect of delve's kills a launched program; the death of delve leaves it running.
    """
    nothing = ask.SetExceptionBreakpointsArguments(())
    # Before the first request: its stop may come before its response.
    halted.clear()
    try:
        await request("setExceptionBreakpoints", nothing, dap.BreakpointsBody)
    # delve refuses breakpoint requests of a running program: it is paused, and the first list sent
    # again.
    except DebuggerError:  # it runs
        await request("pause", ask.ThreadArguments(0), dap.DapBody)
        await halted.wait()
        await request("setExceptionBreakpoints", nothing, dap.BreakpointsBody)
    lists: dict[str, msgspec.Struct] = {
        "setFunctionBreakpoints": ask.SetFunctionBreakpointsArguments(()),
        "setInstructionBreakpoints": ask.SetInstructionBreakpointsArguments(()),
        "setDataBreakpoints": ask.SetDataBreakpointsArguments(()),
    }
    for command, arguments in lists.items():
        with suppress(DebuggerError):  # what the machine cannot have was not set
            await request(command, arguments, dap.BreakpointsBody)
    for file in files:
        empty = ask.SetBreakpointsArguments(ask.SourceReferenceArgument(path=file), ())
        await request("setBreakpoints", empty, dap.BreakpointsBody)
    # The program runs when delve is killed: delve does not continue what it leaves.
    await request("continue", ask.ThreadArguments(0), dap.DapBody)


PROFILE = AdapterProfile(
    name="delve",
    languages=("go",),
    # A breakpoint that changes while the program runs is hit twice.
    traits=DebuggerTraits(
        own_programs=("dlv",),
        runtime=Runtime.GO,
        return_hint="set what it returns from: debugger try 'x=3'",
        log=LogDialect(thread="runtime.curg.goid", read_error=delve_breakpoints.read_logged_error),
    ),
    install="go install github.com/go-delve/delve/cmd/dlv@latest",
    find=_find_delve,
    launch=_launch_arguments,
    attach=_attach_arguments,
    is_server=True,
    # Up to 1.25 it knows nothing of stdoutTo: the program's output is among its own.
    served_output=OutputStream.STDOUT,
    # In `repl` a text is a command of delve's only with the prefix `dlv`; `variables` gives values
    # in full.
    contexts={
        EvaluationPurpose.PRINT: ("variables",),
        EvaluationPurpose.EVALUATE: ("variables",),
        EvaluationPurpose.RAW: ("repl",),
    },
    raw_prefix="dlv ",
    launch_s=_BUILD_S,
    exception_filters=("unrecovered-panic", "runtime-fatal-throw"),
    catches={"panic": "unrecovered-panic", "uncaught": "unrecovered-panic"},
    catch_functions={"raised": "runtime.gopanic", "throw": "runtime.gopanic"},
    abilities={
        abilities.DisassemblyAbility: delve_abilities.DelveDisassembly,
        abilities.MemoryAbility: delve_abilities.DelveMemory,
        abilities.RegisterAbility: delve_abilities.DelveRegisters,
        abilities.InstructionStepAbility: delve_abilities.DelveInstructionSteps,
        abilities.ReturnValueAbility: delve_abilities.DelveReturnValues,
        abilities.WatchpointAbility: delve_abilities.DelveWatchpoints,
    },
    has=frozenset(
        {
            abilities.ExceptionAbility,
            abilities.InstructionBreakpointAbility,
            abilities.RawCommandAbility,
        }
    ),
    # Its own entry is before Go's runtime has begun: there is no goroutine, and no step.
    entry="main.main",
    interrupted_step="Step interrupted by a breakpoint.",
    failed_condition=_failed_condition,
    let_go=_let_go,
    hit_condition=lambda count: f">= {count}",
    log=_escape_log,
    thread=_clean_thread,
    launch_problem=_launch_problem,
    launch_hint=_launch_hint,
    problem=delve_values.error_text,
    stopped=_parse_stopped,
    printed=_parse_output,
    exited=generic.convert_exit_or_signal,
    is_outside=_is_outside,
    exception=delve_values.read_exception,
    choose_function=delve_breakpoints.choose_function,
    taken=delve_breakpoints.parse_taken,
    refusal=delve_breakpoints.parse_refusal,
    explain=delve_breakpoints.explain_unbound,
    arguments=delve_breakpoints.argument_names,
    evaluate=delve_values.evaluate_go,
    complete=delve_values.complete_variables,
    page=delve_values.read_page,
    assign=delve_values.assign_value,
)
