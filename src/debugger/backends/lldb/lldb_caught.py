"""Stops a step of LLDB where an exception is caught that left the stepped function. Runs in LLDB.

LLDB 19 sets the end of a step at lines and returns only: a C++ exception or a Rust panic passes
both, and the program ran on to the next breakpoint.
"""

from __future__ import annotations

import importlib
import re
from typing import Any

lldb: Any = importlib.import_module("lldb")
# What runs where an exception has been caught, before the handler (Itanium C++ ABI: Exception
# Handling, 2.5.3; Rust 1.95: std::panicking::catch_unwind).
_CATCHES = ("__cxa_begin_catch", "__rust_panic_cleanup")
_RUST = "__rust_panic_cleanup"
# They catch in order to end the program.
_TERMINATING = re.compile(r"__clang_call_terminate|__cxa_call_\w+")
_NAME = "debugger_catches"
_LIBRARY = re.compile(
    r"^/usr/(?:local/)?include/|/include/c\+\+/|/rustc/|/rustlib/|^(?:\./)?(?:csu|nptl|sysdeps)/"
)
# From a panic's unwind header to its cause, a Box<dyn Any + Send> (Rust 1.95: panic_unwind::imp).
_CAUSE_AFTER = 40
_FRAMES = 64
# Each costs some milliseconds, in any thread: a step during which more are caught is LLDB's own.
_PASSED_MAX = 300


class _LldbStepWatch:
    """The step under way, and where it is to end."""

    catches: Any = None  # the breakpoint at the functions of `_CATCHES`
    landing: Any = None  # the breakpoint in the frame that has caught
    thread = 0
    frame = 0  # the canonical frame address where the step began
    leaves = False  # a step out: what its own frame catches does not end it
    passed = 0
    caught = ""  # the addresses of what was caught


_step = _LldbStepWatch()


def watch(_debugger: Any, command: str, context: Any, result: Any, _names: Any) -> None:
    """Run the command `debugger-watch-catches THREAD next|step|finish`."""
    target = context.GetTarget()
    number, how = command.split()
    if _step.catches is None:
        _step.catches = _set_catches(target)
    if not _step.catches.GetNumLocations():
        result.AppendMessage("nothing catches")
        return
    _delete_landing(target)  # of the step before
    _step.thread = int(number)
    _step.frame = target.GetProcess().GetThreadByID(_step.thread).GetFrameAtIndex(0).GetCFA()
    _step.leaves, _step.passed = how == "finish", 0
    _step.catches.SetEnabled(True)  # noqa: FBT003 - LLDB's own
    result.AppendMessage("watched")


def _set_catches(target: Any) -> Any:
    # By the command: the functions' first instructions are needed, where the argument still is.
    names = " ".join(f"--name {one}" for one in _CATCHES)
    words = f"--skip-prologue false --disable --breakpoint-name {_NAME}"
    # The debugger's own HandleCommand writes its answer as if the program had.
    _run_command(target.GetDebugger(), f"breakpoint set {names} {words}")
    found = lldb.SBBreakpointList(target)
    target.FindBreakpointsByName(_NAME, found)
    catches = found.GetBreakpointAtIndex(0)
    catches.SetScriptCallbackFunction(f"{__name__}.on_catch")
    return catches


def unwatch(_debugger: Any, _command: str, context: Any, _result: Any, _names: Any) -> None:
    """Run the command `debugger-unwatch-catches`."""
    _step.catches.SetEnabled(False)  # noqa: FBT003 - LLDB's own
    _delete_landing(context.GetTarget())


def tell_landing(_debugger: Any, _command: str, _context: Any, result: Any, _names: Any) -> None:
    """Run the command `debugger-show-landing`: the breakpoint that ended the step."""
    if _step.landing is not None and _step.landing.GetHitCount():
        result.AppendMessage(f"landed {_step.landing.GetID()} {_step.caught}")


def on_catch(frame: Any, _location: Any, _more: Any, _names: Any) -> bool:
    """Set the step's end where an exception is caught, if it has left the step's function."""
    _step.passed += 1
    if _step.passed > _PASSED_MAX:
        _step.catches.SetEnabled(False)  # noqa: FBT003 - LLDB's own
        return False
    thread, target = frame.GetThread(), frame.GetThread().GetProcess().GetTarget()
    if thread.GetThreadID() != _step.thread:
        return False
    outer = [thread.GetFrameAtIndex(at) for at in range(1, min(thread.GetNumFrames(), _FRAMES))]
    is_rust = _RUST in (frame.GetSymbol().GetName() or "")
    landing = next((one for one in outer if _is_own(one)), None)
    if landing is None or _TERMINATING.fullmatch(outer[0].GetFunctionName() or ""):
        return False
    # Rust's own functions that catch may lie where the frames were that the panic left.
    catcher = landing if is_rust else outer[0]
    ends_own = not _step.leaves and not is_rust
    if catcher.GetCFA() < _step.frame or (catcher.GetCFA() == _step.frame and not ends_own):
        return False
    if not _is_stepping(target.GetDebugger(), thread):
        return False
    _delete_landing(target)
    _step.caught = _describe_caught(thread, frame, is_rust=is_rust)
    _step.landing = target.BreakpointCreateByAddress(landing.GetPC())
    _step.landing.SetThreadID(_step.thread)
    # Not in a further call of its function, before a library's handler has returned to it.
    _step.landing.SetCondition(f"$sp >= {landing.GetSP()}")
    return False


def _is_stepping(debugger: Any, thread: Any) -> bool:
    """Return whether a step is under way, and not a `continue` that the user gave LLDB himself."""
    plans = _run_command(debugger, f"thread plan list --thread-id {thread.GetThreadID()}")
    return "No active thread plans" not in plans


def _run_command(debugger: Any, command: str) -> str:
    answer = lldb.SBCommandReturnObject()
    debugger.GetCommandInterpreter().HandleCommand(command, answer)
    return answer.GetOutput() or ""


def _describe_caught(thread: Any, frame: Any, *, is_rust: bool) -> str:
    """Return `c++ HEADER`, or `rust DATA TABLE` of a panic's cause, which is moved from there."""
    # Not GetValueAsUnsigned: with the toolchain's formatters of Rust loaded, LLDB 19 returns
    # an address of its own for it.
    header = int(frame.FindRegister("arg1").GetValue() or "0", 0)
    if not is_rust:
        return f"c++ {header}"
    process, error = thread.GetProcess(), lldb.SBError()
    words = [
        process.ReadPointerFromMemory(
            header + _CAUSE_AFTER + at * process.GetAddressByteSize(), error
        )
        for at in range(2)
    ]
    return f"rust {words[0]} {words[1]}"


def _is_own(frame: Any) -> bool:
    """Return whether a frame is of the program's own source."""
    entry = frame.GetLineEntry()
    path = entry.GetFileSpec().fullpath if entry.IsValid() else None
    return bool(path) and entry.GetLine() > 0 and not _LIBRARY.search(str(path))


def _delete_landing(target: Any) -> None:
    if _step.landing is not None:
        target.BreakpointDelete(_step.landing.GetID())
        _step.landing = None


def __lldb_init_module(debugger: Any, _names: Any) -> None:
    for name, command in (
        ("watch", "debugger-watch-catches"),
        ("unwatch", "debugger-unwatch-catches"),
        ("tell_landing", "debugger-show-landing"),
    ):
        debugger.HandleCommand(f"command script add -o -f {__name__}.{name} {command}")
