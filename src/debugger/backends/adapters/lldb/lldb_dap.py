"""Describes lldb-dap, for C, C++ and Rust programs. Facts are of lldb-dap 19.1.7."""

from __future__ import annotations

import dataclasses
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec

from debugger.backends.adapters.lldb import lldb_dap_abilities as own
from debugger.backends.base import AttachTarget, LaunchTarget, LogpointPassed, OutputPrinted
from debugger.backends.dap import adapter_profile as generic
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.adapter_profile import (
    AdapterAccess,
    AdapterLocation,
    AdapterProfile,
    AdapterSearch,
    StreamFiles,
)
from debugger.backends.lldb import lldb_common, lldb_exceptions, lldb_values
from debugger.backends.lldb_text import quote_word
from debugger.model.debugger_words import lldb_effect
from debugger.model.events import OutputStream
from debugger.model.program import (
    EvaluationPurpose,
    ExceptionDetails,
    Frame,
    Stopped,
    StopReason,
    Variable,
)

# Debian names the program by LLDB's version.
_NEWEST_FIRST = range(30, 13, -1)
_XCRUN_S = 10
_WATCHPOINT_HIT = re.compile(r"\s*Watchpoint \d+ hit:\s|(?:old|new) value: .*\n\Z")
_WATCHPOINT = re.compile(r"watchpoint (\d+)")


def _find_lldb_dap(search: AdapterSearch) -> AdapterLocation | None:
    if search.path is not None:
        return AdapterLocation((search.path, *search.args))
    if sys.platform == "darwin":
        # Xcode's own comes first, as with LLDB's command line: only it knows Swift.
        own = _find_by_xcrun(search)
        if own is not None:
            return own
    path = search.env.get("PATH")
    names = ["lldb-dap", *(f"lldb-dap-{number}" for number in _NEWEST_FIRST)]
    for name in names:
        adapter_path = shutil.which(name, path=path)
        if adapter_path is not None:
            # By its absolute path: it looks for its own libraries and lldb-server from there.
            return AdapterLocation((str(Path(adapter_path).absolute()), *search.args))
    for number in _NEWEST_FIRST:
        file = Path(f"/usr/lib/llvm-{number}/bin/lldb-dap")
        if file.exists():
            return AdapterLocation((str(file), *search.args))
    return None


def build_missing_hint(platform: str) -> str:
    """Return how to get lldb-dap, or do without, on a system."""
    without = "LLDB's own command line does without it: --backend lldb-cli"
    if platform == "darwin":
        return f"Xcode 16 brings it (xcode-select --install; xcrun --find lldb-dap); {without}"
    return f"debugger setup lldb-dap --yes installs it; {without}"


def _find_by_xcrun(search: AdapterSearch) -> AdapterLocation | None:
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
    return AdapterLocation((path, *search.args)) if path else None


def _launch_arguments(launch: LaunchTarget, files: StreamFiles) -> dict[str, Any]:
    assert launch.program is not None
    # Settings of LLDB for the streams: lldb-dap has no argument for them, and runInTerminal costs
    # 0.75 to 1.2 s and leaves ASLR on.
    commands = lldb_common.build_init_commands(launch)
    # The protocol has no request for input; files of ours also keep stdout and stderr apart.
    for name, path in (("input", files.stdin), ("output", files.stdout), ("error", files.stderr)):
        commands.append(f"settings set target.{name}-path {quote_word(path)}")
    return {
        "type": "lldb-dap",
        "request": "launch",
        "program": launch.program,
        "args": list(launch.args),
        "cwd": launch.cwd,
        "env": lldb_common.sendable_environment(launch.env),
        "stopOnEntry": launch.stop_on_entry,
        "initCommands": commands,
        # A struct is then written as `{x:1, y:2}` and not as an address.
        "enableAutoVariableSummaries": True,
    }


def _attach_arguments(target: AttachTarget) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "type": "lldb-dap",
        "request": "attach",
        "stopOnEntry": target.pause,
        "initCommands": lldb_common.build_init_commands(target),
        "enableAutoVariableSummaries": True,
    }
    if target.program is not None:
        arguments["program"] = target.program
    if target.core is not None:
        arguments["coreFile"] = target.core
    elif target.connect is not None:
        arguments["gdb-remote-hostname"], arguments["gdb-remote-port"] = target.connect
    else:
        arguments["pid"] = target.pid
    return arguments


def _parse_stopped(body: dap.StoppedBody) -> Stopped:
    plain = generic.parse_stopped(body)
    # lldb-dap reports a watchpoint as a breakpoint without number: only the description has it.
    watchpoint = _WATCHPOINT.search(plain.description)
    if watchpoint:
        # LLDB numbers its watchpoints apart from its breakpoints: ours are negative.
        return msgspec.structs.replace(
            plain, reason=StopReason.WATCHPOINT, hits=(-int(watchpoint[1]),)
        )
    signal = lldb_common.find_signal_name(plain.description)
    if body.reason == "exception" and signal is not None:
        # A pause and the entry are reported as the SIGSTOP that caused them.
        if signal == "SIGSTOP":
            return msgspec.structs.replace(plain, reason=StopReason.PAUSE, signal=signal)
        return msgspec.structs.replace(plain, reason=StopReason.SIGNAL, signal=signal)
    return plain


def _parse_output(body: dap.OutputBody) -> OutputPrinted | LogpointPassed | None:
    if _WATCHPOINT_HIT.match(body.output):
        return None  # of Rust programs LLDB writes it as if the program had
    # A program that is launched writes to files of ours; one behind a debug server, here.
    if body.category == "stdout":
        return OutputPrinted(OutputStream.STDOUT, body.output.replace("\r\n", "\n"))
    if body.category == "telemetry" or body.output.startswith("Running "):
        return None
    return OutputPrinted(OutputStream.CONSOLE, body.output)


async def _evaluate_expression(
    adapter: AdapterAccess, expression: str, frame: Frame | None, purpose: EvaluationPurpose
) -> Variable | None:
    """Refuse an expression that the request would misread; leave others to the request."""
    if purpose is not EvaluationPurpose.RAW:
        await lldb_values.refuse_misread_expression(adapter, expression, frame)
    return None


async def _run_raw(adapter: AdapterAccess, command: str, frame: Frame | None) -> str:
    if frame is not None:
        # Only the scopes request selects the frame for commands.
        # `frameId` of evaluate does not select the frame for a command.
        await adapter.send_request("scopes", ask.FrameArguments(frame.handle), dap.ScopesBody)
    lines = (await adapter.evaluate(f"`{command}", frame, EvaluationPurpose.RAW)).value.splitlines()
    # It repeats the command before its answer.
    return "\n".join(lines[1:] if lines and lines[0].startswith("(lldb) ") else lines)


async def _read_exception(adapter: AdapterAccess, stop: Stopped) -> ExceptionDetails | None:
    # In a core file no function can be called: what() is not available.
    if adapter.attach_target is not None and adapter.attach_target.core is not None:
        return lldb_common.signal_details(ExceptionDetails("signal", stop.description))
    return await lldb_exceptions.read_exception(adapter, stop)


PROFILE = AdapterProfile(
    name="lldb-dap",
    languages=lldb_common.LANGUAGES,
    traits=dataclasses.replace(lldb_common.TRAITS, has_kernel_thread_ids=True),
    missing_hint=build_missing_hint(sys.platform),
    install="apt install lldb-19 (Debian), brew install llvm (macOS)",
    find=_find_lldb_dap,
    launch=_launch_arguments,
    attach=_attach_arguments,
    is_terminal=True,
    contexts={
        # `watch` evaluates any C++ expression, `hover` only variable paths.
        EvaluationPurpose.PRINT: ("watch", "hover"),
        EvaluationPurpose.EVALUATE: ("watch",),
        # In `repl` a backtick makes a text a command, even where it could be an expression.
        EvaluationPurpose.RAW: ("repl",),
    },
    raw=_run_raw,
    evaluate=_evaluate_expression,
    raw_effect=lldb_effect,
    assigns_by_expression=True,
    clears=True,
    # It takes 5 s for a program that it launched, and longer where breakpoints are hot.
    detach_s=16.0,
    catches=lldb_common.CATCHES,
    catch_functions=lldb_common.CATCH_FUNCTIONS,
    abilities=own.ABILITIES,
    has=own.HAS,
    failed_conditions_stop=True,
    keeps_steps=True,
    steps=own.make_steps,
    # The answers have the order of a hash table: see `dap_breakpoints`.
    function_answers_are_ordered=False,
    settle=lldb_common.settle_core_stop,
    stopped=_parse_stopped,
    printed=_parse_output,
    exited=lldb_common.to_exited,
    exception=_read_exception,
    details=lldb_common.signal_details,
    problem=lldb_common.error_text,
    explain=lldb_common.explain_unbound,
    arguments=lldb_common.argument_names,
    complete=lldb_values.complete_variables,
    returned=lldb_values.returned_value,
)
