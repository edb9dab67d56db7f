"""Describes delve, for Go programs. Facts are of delve 1.27.2 with Go 1.26."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from debugger.backends import abilities
from debugger.backends.adapters.delve import (
    delve_abilities,
    delve_breakpoints,
    delve_values,
    go_functions,
)
from debugger.backends.base import AttachTarget, LaunchTarget, LogpointPassed, OutputPrinted
from debugger.backends.dap import debug_adapter as generic
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.debug_adapter import (
    AdapterLocation,
    AdapterSearch,
    Ask,
    DebugAdapter,
    StreamFiles,
)
from debugger.errors import DebuggerError
from debugger.model.debugger_words import DebuggerTraits, LogDialect, Runtime
from debugger.model.events import OutputStream
from debugger.model.go_test_words import test_arguments
from debugger.model.program import (
    EvaluationPurpose,
    Stopped,
    StopReason,
)
from debugger.paths import data_dir
from debugger.sources import project_files

_LISTENS = r"listening at: .*:(?P<port>\d+)"
# Seconds: the first build of a large module compiles all its dependencies.
_BUILD_S = 600.0
_FRAMES_MAX = 10_000
# Of each string and each list that is shown: more is read when it is asked for.
_LOAD_CONFIG = {"maxStringLen": 1024, "maxArrayValues": 64, "stackTraceDepth": _FRAMES_MAX}
_SURROGATE = re.compile("[\ud800-\udfff]")
_THREAD = re.compile(r"^(?:\* )?\[Go (?P<number>\d+)(?P<labels>[^\]]*)\] (?P<function>.*?)"
                     r"(?: \(Thread \d+\))?$")  # fmt: skip
_LOGGED = re.compile(r"> \[Go \d+\]: ")
_LOG_FAILURE = re.compile(
    r"\{eval err: (?:&\{%!e\(string=(?P<said>.*?)\)\}"
    # Of an expression that cannot be parsed: a list of the parser's errors with their positions.
    r"|\[%!e\(\*scanner\.Error=&\{\{[^{}]*\} (?P<parsed>.*?)\}\).*?\])\}"
)
# The error of `a.b` where there is no `a` holds nothing but this name.
_SYMBOL = re.compile(r"[\w./]+")
_BUILD_ERROR = re.compile(
    r"Build Error: [^\n]*\n(?P<said>.*?)(?: \(exit status \d+\))?\s*\Z", re.DOTALL
)
_REASONS = {"error": StopReason.EXCEPTION, "entry": StopReason.PAUSE}
_FAILED_CONDITION = "error evaluating expression: "
_HELP = "Type 'dlv help' for list of commands."


def _plain_log_failure(found: re.Match[str]) -> str:
    message = found["said"] or found["parsed"]
    what = "could not find symbol " if _SYMBOL.fullmatch(message) else ""
    return f"{{{what}{message}}}"


def _found_delve(path: str, search: AdapterSearch) -> AdapterLocation:
    # It takes one client, of the same user, and ends with it.
    # Port 0, and the real one is read from its output: no other process can take it in between.
    words = (path, "dap", "--listen", "127.0.0.1:0", *search.args)
    return AdapterLocation(words, listens=_LISTENS)


def _sendable_environment(env: Mapping[str, str]) -> dict[str, str]:
    """Remove variables that JSON cannot carry: the program inherits them from the adapter."""
    return {key: value for key, value in env.items() if not _SURROGATE.search(key + value)}


class DelveAdapter(DebugAdapter):
    """delve, for Go programs."""

    name = "delve"
    languages = ("go",)
    # A breakpoint that changes while the program runs is hit twice.
    traits = DebuggerTraits(
        own_programs=("dlv",),
        runtime=Runtime.GO,
        return_hint="set what it returns from: debugger try 'x=3'",
        log=LogDialect(thread="runtime.curg.goid", read_error=delve_breakpoints.read_logged_error),
    )
    install_command = "go install github.com/go-delve/delve/cmd/dlv@latest"
    is_server = True
    # Up to 1.25 it knows nothing of stdoutTo: the program's output is among its own.
    served_output = OutputStream.STDOUT
    # In `repl` a text is a command of delve's only with the prefix `dlv`; `variables` gives values
    # in full.
    evaluation_contexts: ClassVar = {
        EvaluationPurpose.PRINT: ("variables",),
        EvaluationPurpose.EVALUATE: ("variables",),
        EvaluationPurpose.RAW: ("repl",),
    }
    raw_prefix = "dlv "
    build_limit_s = _BUILD_S
    exception_filters = ("unrecovered-panic", "runtime-fatal-throw")
    catch_filters: ClassVar = {
        "panic": "unrecovered-panic",
        "uncaught": "unrecovered-panic",
    }
    catch_functions: ClassVar = {
        "raised": "runtime.gopanic",
        "throw": "runtime.gopanic",
    }
    own_abilities: ClassVar = {
        abilities.DisassemblyAbility: delve_abilities.DelveDisassembly,
        abilities.MemoryAbility: delve_abilities.DelveMemory,
        abilities.RegisterAbility: delve_abilities.DelveRegisters,
        abilities.InstructionStepAbility: delve_abilities.DelveInstructionSteps,
        abilities.ReturnValueAbility: delve_abilities.DelveReturnValues,
        abilities.WatchpointAbility: delve_abilities.DelveWatchpoints,
    }
    request_abilities = frozenset(
        {
            abilities.ExceptionAbility,
            abilities.InstructionBreakpointAbility,
            abilities.RawCommandAbility,
        }
    )
    # Its own entry is before Go's runtime has begun: there is no goroutine, and no step.
    entry_function = "main.main"
    interrupted_step_text = "Step interrupted by a breakpoint."
    releases_target = True
    has_outside_frames = True
    reads_exception_types = True
    has_command_line = True

    # Overrides that stand in other modules.
    parse_exit = staticmethod(generic.convert_exit_or_signal)
    shorten_refusal = staticmethod(delve_breakpoints.parse_refusal)
    parse_taken_location = staticmethod(delve_breakpoints.parse_taken)
    choose_function = staticmethod(delve_breakpoints.choose_function)
    correct_breakpoint = staticmethod(go_functions.correct_breakpoint)
    explain_unbound = staticmethod(delve_breakpoints.explain_unbound)
    read_argument_names = staticmethod(delve_breakpoints.argument_names)
    complete_variables = staticmethod(delve_values.complete_variables)
    read_page = staticmethod(delve_values.read_page)
    evaluate_expression = staticmethod(delve_values.evaluate_go)
    assign_value = staticmethod(delve_values.assign_value)
    read_exception = staticmethod(delve_values.read_exception)
    shorten_error = staticmethod(delve_values.error_text)

    def find_installation(self, search: AdapterSearch) -> AdapterLocation | None:
        """Return the command that starts the adapter; None if it is not installed."""
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

    def launch_arguments(self, launch: LaunchTarget, files: StreamFiles) -> dict[str, Any]:
        """Build the arguments of the `launch` request."""
        assert launch.program is not None
        # A program that is compiled already, a package, or a package's tests: delve builds the
        # latter two.
        target = project_files.find_go_target(launch.program)
        own = {"program": target.what, "args": list(launch.args)}
        if target.mode != "exec":
            # Otherwise it builds into the current directory; what is here goes with the adapter.
            own |= {"output": str(Path(files.stdout).parent / target.name), "dlvCwd": target.folder}
        if target.mode == "test":
            own["args"] = list(test_arguments(launch.args))
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
            **_LOAD_CONFIG,
            **own,
        }

    def attach_arguments(self, target: AttachTarget) -> dict[str, Any]:
        """Build the arguments of the `attach` request."""
        common = {"stopOnEntry": target.pause, "hideSystemGoroutines": True, **_LOAD_CONFIG}
        # A core file is a mode of `launch` in delve, not of `attach`.
        if target.core is not None:
            files = {"program": target.program or "", "coreFilePath": target.core}
            return {"request": "launch", "mode": "core", **files, **common, "stopOnEntry": True}
        if target.connect is not None:
            return {"request": "attach", "mode": "remote", **common}
        return {"request": "attach", "mode": "local", "processId": target.pid, **common}

    def shorten_launch_problem(self, text: str) -> str:
        """Shorten the adapter's message about a failed launch."""
        if "Build error" in text:
            return "the program does not build"
        return text.removeprefix("Failed to launch: ").removeprefix("Failed to attach: ")

    def find_launch_hint(self, text: str) -> str | None:
        """Return a hint for a program that does not start; None if the adapter may be at fault."""
        return "go build names what to mend in the same words" if "Build error" in text else None

    async def release_target(
        self, request: Ask, halted: asyncio.Event, files: Sequence[str]
    ) -> None:
        """Remove all breakpoints from a program that delve launched, and continue it.

        A disconnect of delve's kills a launched program; the death of delve leaves it running.
        """
        nothing = ask.SetExceptionBreakpointsArguments(())
        # Before the first request: its stop may come before its response.
        halted.clear()
        try:
            await request("setExceptionBreakpoints", nothing, dap.BreakpointsBody)
        # delve refuses breakpoint requests of a running program: it is paused, and the first list
        # sent again.
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

    def parse_stopped(self, body: dap.StoppedBody) -> Stopped:
        """Convert a `stopped` event (DAP: StoppedEvent)."""
        plain = generic.parse_stopped(body)
        # Those below 0 are its own, for panics.
        # A negative number is one of delve's breakpoints for panics and fatal errors.
        hits = tuple(hit for hit in plain.hits if hit > 0)
        reason = _REASONS.get(body.reason, plain.reason)
        # At its own "entry", which only an attach has, the first goroutine may not be there yet.
        thread = None if body.reason == "entry" else body.thread_id or None
        return msgspec.structs.replace(plain, hits=hits, reason=reason, thread=thread)

    def parse_output(self, body: dap.OutputBody) -> OutputPrinted | LogpointPassed | None:
        """Convert an `output` event (DAP: OutputEvent); None for one that is not for the user."""
        # The program writes to files of ours; everything that comes here is delve's own.
        text = body.output
        if body.category == "telemetry" or text.startswith(("Building ", _HELP)):
            return None
        # delve writes `> [Go 1]: ` before a logpoint's text.
        logged = _LOGGED.match(text)
        if logged:
            # A failure is printed by delve with a wrong format: only the message is kept.
            text = _LOG_FAILURE.sub(_plain_log_failure, text[logged.end() :])
        failed = _BUILD_ERROR.match(text)
        if failed:
            # Lines with `# ` name the package, and are go build's own.
            lines = [line for line in failed["said"].splitlines() if not line.startswith("# ")]
            text = "\n".join(lines) + "\n"
        return OutputPrinted(OutputStream.CONSOLE, text)

    def read_failed_condition(self, stop: Stopped) -> str | None:
        """Return the problem of a condition that a stop itself reports."""
        is_one = stop.raw_reason == "exception" and stop.text.startswith(_FAILED_CONDITION)
        return stop.text.removeprefix(_FAILED_CONDITION) if is_one else None

    def format_hit_count(self, count: int) -> str:
        """Format the hit from which on a breakpoint stops."""
        return f">= {count}"

    def format_log(self, text: str) -> str:
        """Double the percent signs outside of expressions: delve formats with them."""
        depth, found = 0, []
        for letter in text:
            depth += (letter == "{") - (letter == "}")
            found.append("%%" if letter == "%" and not depth else letter)
        return "".join(found)

    def convert_thread(self, body: dap.DapThread) -> dap.DapThread:
        """Convert a thread's name to what the user shall see."""
        # The name that delve gives a thread without a goroutine.
        if body.name == "Dummy":
            # Go's runtime has not begun; what runs belongs to no goroutine, and has the number 0.
            return msgspec.structs.replace(body, id=0, name="no goroutine")
        match = _THREAD.match(body.name or "")
        if match is None:
            return body
        name = f"goroutine {match['number']}{match['labels']} {match['function']}"
        return msgspec.structs.replace(body, name=name)

    def is_outside(self, frame: dap.DapStackFrame) -> bool:
        """Return whether a frame at a stack's end is not the program's own."""
        return frame.name in {"runtime.main", "runtime.goexit"}
