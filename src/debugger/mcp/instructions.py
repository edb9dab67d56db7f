"""What the server tells a model before anything else: how to work with it."""

from __future__ import annotations

from collections.abc import Container

CORE = """\
Real debuggers for C, C++, Rust, Go, Python and JavaScript. Use them when reading the code does \
not tell: state, time, threads, other people's libraries.

1. debug_launch {command, args, breakpoints: ["file.c:42"]} runs to the first stop and answers \
with the whole stop: why, source, locals, stack, output. No other call is needed to see it.
2. Ask more of one stop: debug_evaluate, debug_variables {frameIndex | ref}, debug_stack.
3. debug_continue {action: continue | step-over | step-into | step-out} waits for the next stop \
and shows what changed. A condition in debug_breakpoint saves many steps; debug_logpoint and \
debug_query show a value over time without stopping.
4. Who changes a value: debug_command "watch EXPR", then debug_continue. Which exception: \
debug_command "catch raised" (or throw, panic). A hang: debug_attach {pid, pause: true}, then \
debug_stack {allThreads: true}.
5. What must not stop (C, C++, Rust on Linux): debug_launch {backend: "frida"}, debug_trace, \
debug_read, debug_write while it runs.
6. debug_detach lets the program run on; debug_session {action: "stop"} ends it.

debug_command runs any other command; "help" lists them. A hint "debugger X" means debug_command \
"X". Without sessionId the session begun last is meant. The sessions are shared with the shell \
command `debugger`: a person can look on.
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
command `debugger`: a person can look on.
"""


def of(tools: Container[str]) -> str:
    """Return the instructions for a set of tools, by their names."""
    return CORE if "debug_launch" in tools else XCODE
