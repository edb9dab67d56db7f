"""Requests of editors that not every session makes: other languages, machine code, bad input."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

import debuggees
from cli_commands import answer_data, resolve_program
from debugger.backends.dap.dap_transport import encode_message
from editor_client import EditorClient, open_editor
from running_programs import run_program

LOOP = debuggees.find_source("loop.py")
STEP = debuggees.find_marker("loop.py", "step")
RETURN = debuggees.find_marker("loop.py", "return")
ADD = debuggees.find_marker("loop.py", "add")
ENDLESS = debuggees.find_source("endless.py")

Cli = Callable[..., Any]


def _launch(editor: EditorClient, program: str | Path, file: Path, *lines: int, **more: Any) -> int:
    """Start a program with breakpoints; return the thread of the first stop."""
    launched = editor.send("launch", program=str(program), **more)
    editor.event("initialized")
    editor.set_lines(str(file), *lines)
    editor.ask("configurationDone")
    assert editor.answer_to(launched)["success"]
    return int(editor.event("stopped")["threadId"])


@pytest.mark.parametrize(
    ("name", "marker"),
    [
        pytest.param("loop.c", "step", marks=pytest.mark.adapter("gdb")),
        pytest.param("loop.js", "step", marks=pytest.mark.adapter("js-debug")),
        pytest.param("loop.go", "step", marks=pytest.mark.adapter("delve")),
        pytest.param("holders.rs", "here", marks=pytest.mark.adapter("lldb-dap")),
    ],
)
def test_each_language_starts_stops_looks_steps_and_ends(runtime_dir: Path, name: str, marker: str):
    file = debuggees.find_source(name)
    line = debuggees.find_marker(name, marker)
    with open_editor(runtime_dir) as editor:
        thread = _launch(editor, resolve_program(name), file, line)
        frame = editor.top_frame(thread)
        assert (Path(frame["source"]["path"]).name, frame["line"]) == (name, line)
        assert editor.local_values(frame["id"])
        editor.ask("next", threadId=thread)
        thread = editor.event("stopped")["threadId"]
        assert editor.top_frame(thread)
        editor.set_lines(str(file))
        editor.ask("continue", threadId=thread)
        editor.event("terminated")
        editor.ask("disconnect")


def test_conditions_counts_and_logs_are_taken(runtime_dir: Path):
    with open_editor(runtime_dir) as editor:
        launched = editor.send("launch", program=str(LOOP), args=["9"])
        editor.event("initialized")
        editor.ask(
            "setBreakpoints",
            source={"path": str(LOOP)},
            breakpoints=[
                {"line": STEP, "condition": "i == 4"},
                {"line": RETURN, "logMessage": "square {square}"},
                {"line": ADD, "hitCondition": ">= 8"},
            ],
        )
        editor.ask("configurationDone")
        assert editor.answer_to(launched)["success"]
        stopped = editor.event("stopped")
        frame = editor.top_frame(stopped["threadId"])["id"]
        assert editor.ask("evaluate", expression="i", frameId=frame)["result"] == "4"
        assert "square 9\n" in editor.output_so_far("console")
        editor.ask("continue", threadId=stopped["threadId"])
        stopped = editor.event("stopped")
        frame = editor.top_frame(stopped["threadId"])["id"]
        assert editor.ask("evaluate", expression="i", frameId=frame)["result"] == "8"
        assert "hits" in editor.refused(
            "setBreakpoints",
            source={"path": str(LOOP)},
            breakpoints=[{"line": STEP, "hitCondition": "often"}],
        )
        editor.ask("disconnect")


def test_functions_exceptions_completions_and_values_are_told(runtime_dir: Path):
    file = debuggees.find_source("exception.py")
    with open_editor(runtime_dir) as editor:
        launched = editor.send("launch", program=str(file))
        editor.event("initialized")
        editor.ask("setExceptionBreakpoints", filters=["uncaught"])
        editor.ask("configurationDone")
        assert editor.answer_to(launched)["success"]
        offered = editor.event("capabilities")["capabilities"]["exceptionBreakpointFilters"]
        assert "uncaught" in [one["filter"] for one in offered]
        thread = editor.event("stopped", reason="exception")["threadId"]
        told = editor.ask("exceptionInfo", threadId=thread)
        assert told["exceptionId"]
        assert told["details"]["typeName"] == told["exceptionId"]
        frame = editor.top_frame(thread)["id"]
        names = editor.local_values(frame)
        name = next(one for one in names if one.isidentifier())
        offered = editor.ask("completions", text=name[:1], column=2, frameId=frame)["targets"]
        assert name in [one["label"] for one in offered]
        editor.ask("disconnect")


def test_a_function_breakpoint_stops_in_the_function(runtime_dir: Path):
    with open_editor(runtime_dir) as editor:
        launched = editor.send("launch", program=str(LOOP))
        editor.event("initialized")
        editor.ask("setFunctionBreakpoints", breakpoints=[{"name": "calculate"}])
        editor.ask("configurationDone")
        assert editor.answer_to(launched)["success"]
        thread = editor.event("stopped")["threadId"]
        assert "calculate" in editor.top_frame(thread)["name"]
        editor.ask("disconnect")


@pytest.mark.adapter("gdb")
def test_memory_machine_code_modules_and_watchpoints_of_a_native_program(runtime_dir: Path):
    file = debuggees.find_source("loop.c")
    line = debuggees.find_marker("loop.c", "step")
    with open_editor(runtime_dir) as editor:
        thread = _launch(editor, resolve_program("loop.c"), file, line, type="gdb")
        frame = editor.top_frame(thread)
        told = editor.ask("evaluate", expression="&i", frameId=frame["id"], context="watch")
        address = told["memoryReference"]
        read = editor.ask("readMemory", memoryReference=address, count=4)
        assert base64.b64decode(read["data"]) == b"\x01\0\0\0"
        data = base64.b64encode(b"\x07\0\0\0").decode()
        assert editor.ask("writeMemory", memoryReference=address, data=data)["bytesWritten"] == 4
        assert editor.ask("evaluate", expression="i", frameId=frame["id"])["result"] == "7"
        pointer = frame["instructionPointerReference"]
        code = editor.ask(
            "disassemble", memoryReference=pointer, instructionCount=6, instructionOffset=-2
        )["instructions"]
        assert (len(code), int(code[2]["address"], 0)) == (6, int(pointer, 0))
        names = [one["name"] for one in editor.ask("modules")["modules"]]
        assert any("libc" in name for name in names)
        assert "unreadableBytes" in editor.ask("readMemory", memoryReference="0x10", count=4)
        info = editor.ask("dataBreakpointInfo", name="i", frameId=frame["id"])
        (made,) = editor.ask(
            "setDataBreakpoints", breakpoints=[{"dataId": info["dataId"], "accessType": "write"}]
        )["breakpoints"]
        assert made["verified"]
        editor.ask("stepIn", threadId=thread, granularity="instruction")
        assert editor.event("stopped")["threadId"] == thread
        editor.ask("disconnect")


def test_a_process_is_attached_to_and_runs_on(runtime_dir: Path):
    with run_program(sys.executable, ENDLESS) as process, open_editor(runtime_dir) as editor:
        attached = editor.send("attach", processId=process.pid)
        editor.event("initialized")
        editor.ask("configurationDone")
        assert editor.answer_to(attached)["success"]
        assert editor.event("process")["systemProcessId"] == process.pid
        editor.ask("pause", threadId=0)
        editor.event("stopped")
        editor.ask("disconnect")
        assert process.poll() is None


def test_lines_and_columns_count_as_the_editor_says(runtime_dir: Path):
    zero = {"linesStartAt1": False, "columnsStartAt1": False}
    with open_editor(runtime_dir, **zero) as editor:
        thread = _launch(editor, LOOP, LOOP, STEP - 1)
        assert editor.top_frame(thread)["line"] == STEP - 1
        editor.ask("disconnect")


def test_what_an_editor_has_started_ends_with_it(
    runtime_dir: Path, cli: Cli, wait_until: Callable[..., None]
):
    with open_editor(runtime_dir) as editor:
        _launch(editor, LOOP, LOOP, STEP)
        program = psutil.Process(answer_data(cli("--json", "status", check=0))["pid"])
        editor.process.kill()
        editor.process.wait()
        program.wait(30)
    wait_until(lambda: "no sessions" in cli("sessions").out, what="the end of the session")


@pytest.mark.parametrize(
    ("request_", "arguments", "text"),
    [
        ("launch", {}, "which program"),
        ("launch", {"program": "/nowhere/prog.py"}, "no such"),
        ("launch", {"program": 7.5}, "a text"),
        ("launch", {"program": "${file}"}, "did not replace"),
        ("launch", {"program": "x.py", "args": {"a": 1}}, "list of words"),
        ("attach", {"session": "nobody"}, "no session"),
        ("attach", {"processId": 999999999}, "process"),
        ("attach", {"listen": {"port": 1}}, "cannot listen"),
        ("attach", {}, "no debug session"),
        ("configurationDone", {}, "nothing waits"),
        ("next", {"threadId": 1}, "no thread"),
        ("next", {}, "threadId"),
        ("next", {"threadId": "first"}, "int"),
        ("stackTrace", {"threadId": 12}, "no thread"),
        ("scopes", {"frameId": 12}, "earlier stop"),
        ("setBreakpoints", {"source": {"path": "/x.py"}}, "nothing is debugged"),
        ("threads", {}, "nothing is debugged"),
        ("readMemory", {"memoryReference": "there", "count": 1}, "not an address"),
        ("stepBack", {"threadId": 1}, "not supported"),
        ("makeCoffee", {}, "unknown request"),
    ],
)
def test_bad_requests_are_refused_and_the_conversation_goes_on(
    runtime_dir: Path, request_: str, arguments: dict[str, Any], text: str
):
    with open_editor(runtime_dir) as editor:
        assert text in editor.refused(request_, **arguments)
        assert "nothing is debugged" in editor.refused("threads")


def test_a_message_that_is_no_request_is_said_and_skipped(runtime_dir: Path):
    with open_editor(runtime_dir) as editor:
        for body in (b"[1]", b"{", b'{"seq": 1, "type": "event", "command": "x"}'):
            editor.send_raw(encode_message(body))
            assert "the editor sent" in editor.event("output")["output"]
        assert "nothing is debugged" in editor.refused("threads")


def test_bytes_that_are_no_protocol_end_the_conversation(runtime_dir: Path):
    with open_editor(runtime_dir) as editor:
        editor.send_raw(b"GET / HTTP/1.1\r\n\r\n")
        assert "not the Debug Adapter Protocol" in editor.event("output")["output"]
        editor.process.wait(30)


def test_a_giant_message_is_refused(runtime_dir: Path):
    with open_editor(runtime_dir) as editor:
        editor.send_raw(b"Content-Length: 999999999999\r\n\r\n")
        assert "sent a message over" in editor.event("output")["output"]
        editor.process.wait(30)


def test_a_flood_of_output_comes_in_few_messages(runtime_dir: Path, tmp_path: Path):
    program = tmp_path / "flood.py"
    program.write_text("for i in range(100_000):\n    print(i)\n")
    with open_editor(runtime_dir) as editor:
        launched = editor.send("launch", program=str(program))
        editor.event("initialized")
        editor.ask("configurationDone")
        assert editor.answer_to(launched)["success"]
        editor.event("terminated")
        editor.ask("disconnect")
        texts = [one["body"]["output"] for one in editor.messages if one.get("event") == "output"]
        assert len(texts) < 10_000
        assert "99999\n" in "".join(texts)


def test_requests_before_the_session_leave_it_usable(runtime_dir: Path):
    with open_editor(runtime_dir) as editor:
        editor.refused("variables", variablesReference=1)
        editor.refused("evaluate", expression="1")
        thread = _launch(editor, LOOP, LOOP, STEP)
        assert "empty" in editor.refused("evaluate", expression=" ")
        assert editor.refused("evaluate", expression="nothing_there")
        assert "already" in editor.refused("launch", program=str(LOOP))
        assert editor.top_frame(thread)["line"] == STEP
        json.dumps(editor.ask("disconnect"))
