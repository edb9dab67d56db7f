"""What the server tells a model before anything else: how to work with it."""

from __future__ import annotations

from collections.abc import Container

CORE = """\
Real debuggers for C, C++, Rust, Go, Python and JavaScript. Use them when reading the code does \
not tell: state, time, threads, other people's libraries.

Ask first; each call runs a command line (`./prog ARGS`, `python x.py`) to its answer and cleans up:
- it crashes: debug_crash; a test fails: debug_test; it hangs: debug_hang
- values at a line over a run: debug_probe {command, at: {"a.py:9": "x, len(y)"}}
- what ran at all, or only in the failing run: debug_path {versus}; where two runs part: debug_diff
- one function, line by line: debug_calls; who changed a value: debug_who_wrote

Step only when no question fits:
1. debug_launch {command, args, breakpoints: ["file.c:42"]} answers with the whole stop.
2. debug_evaluate, debug_variables {frameIndex | ref}, debug_stack look at it; debug_try tells \
whether a change would help.
3. debug_continue goes on. What must not stop: debug_launch {backend: "frida"}, debug_trace, \
debug_logpoint, debug_query.
4. debug_session {action: "stop"} ends it.

debug_command runs any other command; "help" lists them. A hint "debugger X" means debug_command \
"X". Without sessionId the session begun last is meant. A person can look on with the shell \
command `debugger`.
"""

XCODE = """\
LLDB on a running app: in a simulator (debug_attach_sim with bundleId or pid) or any process of \
this machine (debug_attach with pid or name).

1. Attach; the app runs on unless continueOnAttach is false. session_set_defaults keeps simulator \
and bundle.
2. debug_breakpoint_add {file, line, condition} or {function}; then make the app come there.
3. debug_session {action: "wait"} waits for the stop; {action: "pause"} stops it where it is.
4. debug_stack, debug_variables {frameIndex}, debug_lldb_command {command: "expression x"}.
5. debug_continue goes on and returns at once. debug_detach at the end: the app lives on.

Without debugSessionId the current debug session is meant. The sessions are shared with the shell \
command `debugger`: a person can look on. What an answer names as "debugger X" is such a command.
"""


def tool_instructions(tools: Container[str]) -> str:
    """Return the instructions for a set of tools, by their names."""
    return CORE if "debug_launch" in tools else XCODE
