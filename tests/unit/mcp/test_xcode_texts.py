"""XcodeBuildMCP's tools write what its users know."""

from __future__ import annotations

import pytest

from debugger.errors import DebuggerError, ErrorCode
from debugger.mcp.tool_call import ToolFailure, format_failure, invalid_arguments
from debugger.mcp.tools import xcode_session as texts

FRAMES = [
    {"index": 0, "function": "f", "file": "/a/b.c", "line": 3},
    {"index": 1, "function": "start", "file": None, "line": None},
]


def test_a_stack_is_a_line_a_frame() -> None:
    assert texts.stack_text(7, FRAMES) == (
        "Thread 7\nframe #0: f at /a/b.c:3\nframe #1: start at unknown:0"
    )


def test_a_thread_has_its_name_where_it_is_known() -> None:
    assert texts.stack_text(7, FRAMES, name="main").startswith("Thread 7 (main)\n")
    assert texts.stack_text(7, []) == "Thread 7: no stack frames."


def test_frames_that_are_left_out_are_counted() -> None:
    assert texts.stack_text(7, FRAMES, left_out=4).endswith("\n… 4 more: maxFrames")


def test_variables_stand_in_a_section_with_their_types() -> None:
    found = [{"name": "a", "value": "1", "type": "int"}, {"name": "b", "value": "x", "type": ""}]
    assert texts.variables_text("Locals", found, 2) == "Locals:\n  a (int) = 1\n  b = x"
    assert texts.variables_text("Locals", [], 0) == "Locals:\n  (no variables)"


def test_variables_that_are_too_many_or_too_long_are_counted() -> None:
    one = {"name": "a", "value": "1" * 6000, "type": "int"}
    text = texts.variables_text("Locals", [one] * 5, 9)
    assert len(text) < texts.TEXT_MAX + 100
    assert text.endswith('\n  … 7 more: debug_lldb_command "frame variable NAME"')


def test_what_lldb_printed_is_cut_and_the_rest_counted() -> None:
    assert texts.output_text("  a\n") == "a"
    text = texts.output_text("a" * (texts.TEXT_MAX + 5))
    assert text == "a" * texts.TEXT_MAX + "\n… 5 more characters: ask for less of it"


@pytest.mark.parametrize(
    ("backend", "label"), [("dap", "DAP debugger"), ("lldb-cli", "LLDB"), ("lldb", "LLDB")]
)
def test_an_attach_tells_what_it_got_and_what_can_be_done_next(backend: str, label: str) -> None:
    status = {"session": "app", "pid": 5, "backend": backend}
    text = texts.attached_text(status, "UDID", is_current=False, is_running=False, warnings=["odd"])
    assert text == (
        f"⚠️ odd\n\n✅ Attached {label} to simulator process 5 (UDID).\n\n"
        "Debug session ID: app\n"
        "This session is not set as the current session.\n"
        "Execution is paused. Use debug_continue to resume before UI automation.\n\n"
        "Next steps:\n"
        '1. Add a breakpoint: debug_breakpoint_add({ debugSessionId: "app", file: "...", '
        "line: 123 })\n"
        '2. Continue execution: debug_continue({ debugSessionId: "app" })\n'
        '3. Show call stack: debug_stack({ debugSessionId: "app" })'
    )


def test_a_breakpoint_tells_where_it_is_or_why_it_is_not() -> None:
    bound = {"id": 1, "file": "/a.c", "line": 4, "requested_line": 3, "verified": True}
    assert texts.breakpoint_text(bound) == "✅ Breakpoint 1 set.\n\nSet breakpoint 1 at /a.c:4"
    by_name = {**bound, "requested_line": None, "function": "f", "condition": "i > 2"}
    assert texts.breakpoint_text(by_name).endswith("Set breakpoint 1 on f if i > 2")
    pending = {"id": 2, "function": "g", "verified": False, "why_unbound": "no function g"}
    assert texts.breakpoint_text(pending).endswith("on g\n⚠️ Not bound yet: no function g")
    assert texts.breakpoint_text({**pending, "why_unbound": None}).endswith("it may bind later")


def test_a_failure_has_an_envelope() -> None:
    error = DebuggerError(ErrorCode.NOT_FOUND, "Breakpoint not found: 4")
    assert format_failure("Failed to remove breakpoint", error) == (
        "Error: Failed to remove breakpoint\nDetails: Breakpoint not found: 4"
    )
    hinted = DebuggerError(ErrorCode.DENIED, "no", hint="debugger config")
    assert format_failure("Failed", hinted) == "Error: Failed\nDetails: no\nhint: debugger config"


def test_arguments_that_cannot_be_meant_are_told_as_that_whatever_the_tool() -> None:
    assert format_failure("Failed", invalid_arguments("both", tip="one")) == (
        "Error: Parameter validation failed\nDetails: Invalid parameters:\nroot: both\nTip: one"
    )
    assert format_failure("Failed", invalid_arguments("odd", argument="pid")).endswith("\npid: odd")
    assert format_failure("Failed", DebuggerError(ErrorCode.USAGE, "odd")) == (
        "Error: Parameter validation failed\nDetails: Invalid parameters:\nodd"
    )
    assert format_failure("Failed", ToolFailure("Missing", "all")) == "Error: Missing\nDetails: all"
