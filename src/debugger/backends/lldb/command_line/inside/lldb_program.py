"""Starts, attaches to, ends and detaches from the program. Runs inside LLDB."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import signal
from pathlib import Path
from typing import Any

lldb: Any = importlib.import_module("lldb")

_CONNECT_S = 10
bridge: Any = None
events: Any = None
debugger: Any = None
_AGAIN = 3
_TRAPS = 4  # LLDB's server may have set so many at one address
_PENDING = 1 << signal.SIGTRAP - 1 | 1 << signal.SIGSTOP - 1
# By LLDB's own number: a pid may come again.
_begun_as = 0  # the process, among all of this LLDB
_reason = ""  # of the stop to report when the configuration is done; "" for none


def begin(main: Any) -> dict[str, Any]:
    """Return the questions that this module answers, by name."""
    global bridge, events, debugger  # noqa: PLW0603 - there is one conversation
    bridge = main
    # LLDB takes its own name for it away when a command is done.
    debugger = lldb.SBDebugger.FindDebuggerWithID(lldb.debugger.GetID())
    events = importlib.import_module("lldb_events")
    return {
        "launch": launch,
        "attach": attach,
        "core": core,
        "connect": connect,
        "run": run,
        "raw": raw,
        "end": end,
    }


def target() -> Any:
    """Return the program."""
    return debugger.GetSelectedTarget()


def process() -> Any:
    """Return the process."""
    return target().GetProcess()


def _create_target(program: str | None, commands: list[str]) -> Any:
    for command in commands:
        raw(command)
    error = lldb.SBError()
    created = debugger.CreateTarget(program or "", None, None, True, error)
    if not created.IsValid():
        raise bridge.RequestRefused(
            error.GetCString() or f"{program} is no program", "LAUNCH_FAILED"
        )
    debugger.SetSelectedTarget(created)
    events.listen(created)
    return created


def _start_answer(error: Any, reason: str) -> dict[str, Any]:
    global _reason, _begun_as  # noqa: PLW0603 - there is one program
    if error.Fail():
        raise bridge.RequestRefused(error.GetCString() or "it did not start", "LAUNCH_FAILED")
    _reason = reason
    _begun_as = process().GetUniqueID()
    # From here on a resume returns at once, and the stop comes as an event.
    debugger.SetAsync(True)
    return {"pid": process().GetProcessID()}


def launch(
    *,
    program: str,
    args: list[str],
    cwd: str,
    env: list[str],
    files: list[str],
    stop: bool,
    commands: list[str],
) -> dict[str, Any]:
    """Start a program, up to its first instruction."""
    created = _create_target(program, commands)
    info = created.GetLaunchInfo()
    info.SetArguments(args, False)
    info.SetWorkingDirectory(cwd)
    # True: added to LLDB's own environment, which is the user's without PYTHON….
    info.SetEnvironmentEntries(env, True)
    info.SetListener(events.listener())
    for number, path in enumerate(files):
        # Standard input for reading, the other two for writing.
        info.AddOpenFileAction(number, path, number == 0, number > 0)
    info.SetLaunchFlags(
        # Stopped at its first instruction, so that breakpoints are set before any code runs. The
        # same addresses in each run make one run comparable with the next.
        info.GetLaunchFlags() | lldb.eLaunchFlagStopAtEntry | lldb.eLaunchFlagDisableASLR
    )
    # Synchronous: the first stop is awaited here, and leaves no event.
    debugger.SetAsync(False)
    error = lldb.SBError()
    created.Launch(info, error)
    return _start_answer(error, "entry" if stop else "")


def attach(*, pid: int, program: str | None, stop: bool, commands: list[str]) -> dict[str, Any]:
    """Attach to a process."""
    created = _create_target(program, commands)
    info = lldb.SBAttachInfo(pid)
    info.SetListener(events.listener())
    debugger.SetAsync(False)
    error = lldb.SBError()
    created.Attach(info, error)
    return _start_answer(error, "pause" if stop else "")


def core(file: str, program: str, commands: list[str]) -> dict[str, Any]:
    """Load a core file."""
    created = _create_target(program, commands)
    error = lldb.SBError()
    created.LoadCore(file, error)
    return _start_answer(error, "core")


def connect(*, url: str, program: str | None, stop: bool, commands: list[str]) -> dict[str, Any]:
    """Connect to a debug server that has a program."""
    created = _create_target(program, commands)
    error = lldb.SBError()
    debugger.SetAsync(False)
    created.ConnectRemote(events.listener(), url, "gdb-remote", error)
    if error.Success() and not events.settled(_CONNECT_S):
        raise bridge.RequestRefused(f"{url} did not say where its program is", "LAUNCH_FAILED")
    return _start_answer(error, "pause" if stop else "")


def run() -> None:
    """Let the program run, or report the stop that was requested."""
    # Only now: until here LLDB was synchronous, and its stops left no events.
    events.start()
    if _reason:
        events.tell_stop(None if _reason == "core" else _reason)
        return
    error = process().Continue()
    if error.Fail():
        raise bridge.RequestRefused(error.GetCString(), "LAUNCH_FAILED")


def raw(command: str, frame: int | None = None) -> str:
    """Run a command of LLDB's own, in a frame of this stop; return all of its output."""
    frame_selected = importlib.import_module("lldb_values").frame_of(frame)
    result = lldb.SBCommandReturnObject()
    interpreter = debugger.GetCommandInterpreter()
    # Output of a command in Python is not in the result.
    # LLDB's own output stream is our channel: what Python prints must not get into it.
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        if frame_selected is None:
            interpreter.HandleCommand(command, result)
        else:
            # To select the frame is not enough: the command that runs us has been given its own.
            interpreter.HandleCommand(command, lldb.SBExecutionContext(frame_selected), result)
    now = process()
    if _begun_as and now.IsValid() and now.GetUniqueID() != _begun_as:
        # Nobody would receive its events, and LLDB has ended the previous process.
        now.Kill()
        bridge.news("exited", code=int(signal.SIGKILL))
        raise bridge.RequestRefused(
            "that began another process, which a session cannot follow: both have been ended",
            "NOT_SUPPORTED",
        )
    return (result.GetOutput() or "") + printed.getvalue() + (result.GetError() or "")


def end(*, kill: bool) -> bool:
    """End the program, or let it run on."""
    # First of all: nothing is to be reported of what follows, and no other thread may be within
    # LLDB.
    events.finish()
    current_process = process()
    if not current_process.IsValid() or current_process.GetState() in (
        lldb.eStateExited,
        lldb.eStateDetached,
    ):
        return True
    if not kill:
        _remove_breakpoints(current_process)
    # Kill and Detach return when they are done.
    debugger.SetAsync(False)
    error = current_process.Kill() if kill else current_process.Detach()
    if error.Fail() and kill:
        # The kill must not depend on LLDB's server.
        os.kill(current_process.GetProcessID(), signal.SIGKILL)
    return bool(error.Success())


def _remove_breakpoints(held: Any) -> None:
    """Stop a program and remove all breakpoints, before the detach.

    LLDB forgets a breakpoint that is removed while a thread steps over it, but its server does not:
    the trap would end the program. A pending SIGSTOP of a thread would stop the program for good.
    So the server is asked to remove each trap, as often as it may have set it, and the program runs
    until no signal is pending, three times at most.
    """
    places = [
        location.GetLoadAddress()
        for one in target().breakpoint_iter()
        for location in one
        if location.IsResolved()
    ]
    if held.GetProcessInfo().IsValid():  # a core file's does not run
        # Before the program is stopped: LLDB may not come to that while breakpoints are hit again
        # and again.
        target().DeleteAllBreakpoints()
    for _ in range(_AGAIN):
        if not events.halt():
            return
        for place in places:
            for _ in range(_TRAPS):
                # gdb's remote protocol: z0 removes a software breakpoint; an error means that there
                # is none.
                if "response: OK" not in raw(f"process plugin packet send z0,{place:x},1"):
                    break
        if not _has_pending(held.GetProcessID()) or not events.run_on():
            return


def _has_pending(pid: int) -> bool:
    """Return whether a stop or a trap is still pending for a stopped thread (Linux)."""
    for file in Path("/proc", str(pid), "task").glob("*/status"):
        with contextlib.suppress(OSError):
            lines = file.read_text("utf-8", "replace").splitlines()
            masks = [line.split()[1] for line in lines if line.startswith(("SigPnd:", "ShdPnd:"))]
            if any(int(one, 16) & _PENDING for one in masks):
                return True
    return False
