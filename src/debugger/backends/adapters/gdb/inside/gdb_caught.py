"""Ends a step of gdb's where an exception is caught that left the stepped function. Run inside gdb.

gdb 16.3 knows where an exception goes by probes of libgcc, which Debian's has not: a C++ exception
or a Rust panic passed the end of a step, and the program ran on to the next breakpoint.
"""

from __future__ import annotations

import importlib
import re
import sys
from typing import Any

gdb: Any = importlib.import_module("gdb")

# What runs where an exception has been caught, before the handler (Itanium C++ ABI: Exception
# Handling, 2.5.3; Rust 1.95: std::panicking::catch_unwind).
# In Rust, the name depends on what the compiler mangles, and on the debug information.
_RUST = tuple(f"{one}__rust_panic_cleanup" for one in ("__rustc::", "panic_unwind::", ""))
_CATCHES = (("__cxa_begin_catch",), _RUST)
# They catch in order to end the program.
_TERMINATING = re.compile(r"__clang_call_terminate|__cxa_call_\w+")
_LIBRARY = re.compile(
    r"^/usr/(?:local/)?include/|/include/c\+\+/|/rustc/|/rustlib/|^(?:\./)?(?:csu|nptl|sysdeps)/"
)
_FRAMES = 64
# In any thread: a step during which more are caught is gdb's own, and no slower.
_PASSED_MAX = 1000
# The commands that step, and whether what the step's own frame catches does not end them.
_STEPS = {"next": False, "nexti": False, "step": False, "stepi": False, "finish": True}


class _Landing(gdb.Breakpoint):  # type: ignore[misc]
    """A breakpoint in the frame that has caught, where its handler begins."""

    def __init__(self, frame: Any) -> None:
        super().__init__(f"*{frame.pc():#x}", internal=True)
        self.silent = True
        self.thread = gdb.selected_thread().global_num
        self._stack = int(frame.read_register("sp"))

    def stop(self) -> bool:
        """Stop in the frame itself, and not in a further call of its function."""
        return _step.is_active and int(gdb.newest_frame().read_register("sp")) >= self._stack


class _Catch(gdb.Breakpoint):  # type: ignore[misc]
    """A breakpoint where exceptions are caught, enabled during steps."""

    def __init__(self, function: str) -> None:
        super().__init__(function=function, internal=True)
        self.silent = True
        self.is_rust = function in _RUST

    def stop(self) -> bool:
        """Stop if the exception has left the step's function."""
        _step.passed += 1
        if _step.passed == _PASSED_MAX:
            # gdb allows no change of breakpoints here.
            gdb.post_event(_disable_catches)
        is_own = _step.is_active and gdb.selected_thread().global_num == _step.thread
        # The landing's breakpoint is set after this stop, as well.
        _step.landing = _find_landing(is_rust=self.is_rust) if is_own else None
        _step.is_rust = self.is_rust
        return _step.landing is not None


class _GdbStepWatch:
    """The step under way, and where it is to end."""

    def __init__(self) -> None:
        self.catches: list[_Catch] = []
        self.is_complete = False  # the loaded files were searched for what catches
        self.is_active = False
        self.passed = 0
        self.thread = 0
        self.leaves = False
        self.is_rust = False
        self.frame = 0  # the stack pointer of the caller of the step's frame
        self.landing: Any = None  # a frame that has caught: the step is to go on to it
        self.breakpoint: _Landing | None = None
        self.caught = ""


_step = _GdbStepWatch()
_state: Any = None


def begin_command(command: str) -> None:
    """Watch what exceptions a command that resumes the program may bring, if it is a step."""
    _remove_landing()
    word = command.split(maxsplit=1)[0]
    _step.is_active = word in _STEPS
    if not _step.is_active:
        _disable_catches()
        return
    if not _step.is_complete:
        _step.is_complete = True
        known = {one.is_rust for one in _step.catches}
        names = [next(filter(_is_loaded, some), "") for some in _CATCHES]
        _step.catches += [_Catch(one) for one in names if one and (one in _RUST) not in known]
    if not _step.catches:
        return
    _step.leaves, _step.frame = _STEPS[word], _canonical_address(gdb.newest_frame())
    _step.passed, _step.thread = 0, gdb.selected_thread().global_num
    for one in _step.catches:
        if not one.enabled:
            one.enabled = True


def _disable_catches() -> None:
    for one in _step.catches:
        one.enabled = False


def _is_loaded(function: str) -> bool:
    try:
        return bool(gdb.decode_line(function)[1])
    except gdb.error:
        return False


def _remove_landing() -> None:
    _step.landing, _step.caught = None, ""
    if _step.breakpoint is not None and _step.breakpoint.is_valid():
        _step.breakpoint.delete()
    _step.breakpoint = None


def _canonical_address(frame: Any) -> int:
    """Return the stack pointer of a frame's caller, which names the frame."""
    while frame.type() == gdb.INLINE_FRAME:
        frame = frame.older()
    older = frame.older()
    return int(older.read_register("sp")) if older is not None else sys.maxsize


def _find_landing(*, is_rust: bool) -> Any:
    """Return the frame of the program's own source that has caught; None where the step goes on."""
    outer: list[Any] = []
    frame = gdb.newest_frame().older()
    while frame is not None and len(outer) < _FRAMES:
        outer.append(frame)
        if _is_own(frame):
            break
        frame = frame.older()
    if frame is None or not _is_own(frame) or _TERMINATING.fullmatch(outer[0].name() or ""):
        return None
    # Rust's own functions that catch may lie where the frames were that the panic left.
    address = _canonical_address(frame if is_rust else outer[0])
    ends_own = not _step.leaves and not is_rust
    return frame if address > _step.frame or (address == _step.frame and ends_own) else None


def _is_own(frame: Any) -> bool:
    """Return whether a frame is of the program's own source."""
    place = frame.find_sal()
    return bool(place.symtab and place.line and not _LIBRARY.search(place.symtab.fullname()))


def takes_stop(stop: Any) -> bool:
    """Take a stop that is none of the user's, and go on to where the step ends."""
    hit = [one for one in getattr(stop, "breakpoints", ()) if _state.counts_hit(one)]
    if _step.landing is None or not all(isinstance(one, _Catch) for one in hit):
        return False
    # Posted: in a handler of gdb's events the program cannot be resumed.
    gdb.post_event(_go_to_landing)
    return True


def is_going_on() -> bool:
    """Return whether the program stands where something was caught, and goes on at once."""
    return _step.landing is not None


def _go_to_landing() -> None:
    frame = _step.landing
    _remove_landing()
    gdb.newest_frame().select()
    _step.is_active = False  # what is called below may throw
    _step.caught = _state.describe_caught(is_rust=_step.is_rust)
    _step.is_active = True
    _step.breakpoint = _Landing(frame)
    _state.run("continue")


def describe_landing(hit: list[Any]) -> dict[str, Any]:
    """Return what a `stopped` event says of the end of a step where an exception was caught."""
    _step.is_active = False  # whatever it is, the step is over
    if _step.breakpoint is None or _step.breakpoint not in hit:
        return {}
    return {"reason": "step", "text": _step.caught}


def _on_loaded(event: Any) -> None:
    del event
    _step.is_complete = False


def begin(state: Any, replaced: Any) -> None:
    """Watch the steps."""
    del replaced
    global _state  # noqa: PLW0603 - there is one program
    _state = state
    gdb.events.new_objfile.connect(_on_loaded)
    state.begin_command = begin_command
    state.takes_stop, state.is_going_on = takes_stop, is_going_on
    state.describe_landing = describe_landing
