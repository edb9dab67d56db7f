"""A tool's arguments under other names, and in other forms, are taken where one can be meant."""

from __future__ import annotations

from typing import Any

import pytest

from debugger.cli import commands
from debugger.mcp.tools import CORE

# A tool, what a client sends, and the same as the tool names it.
CALLS: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
    (
        "debug_probe",
        {"file": "shop.py", "line": 7, "expression": "x", "command": "python shop.py"},
        {"at": {"shop.py:7": "x"}, "command": "python shop.py"},
    ),
    (
        "debug_probe",
        {"file": "shop.py", "line": 7, "expressions": ["x", "y"], "program": "python shop.py"},
        {"at": {"shop.py:7": "x, y"}, "command": "python shop.py"},
    ),
    (
        "debug_probe",
        {"location": "shop.py:7", "expr": "x", "program": "python", "args": "shop.py --n 3"},
        {"at": {"shop.py:7": "x"}, "command": "python shop.py --n 3"},
    ),
    (
        "debug_probe",
        {
            "breakpoint": "shop.py:7",
            "condition": "x > 3",
            "exprs": ["x"],
            "cmd": ["python", "shop.py"],
        },
        {"at": {"shop.py:7": "x"}, "when": "x > 3", "command": "python shop.py"},
    ),
    (
        "debug_probe",
        {"at": ["shop.py:7", "shop.py:8"], "expressions": ["x", "y"], "command": "python shop.py"},
        {"at": {"shop.py:7": "x", "shop.py:8": "y"}, "command": "python shop.py"},
    ),
    (
        "debug_probe",
        {"at": {"shop.py:7": ["x", "y"]}, "command": "python shop.py"},
        {"at": {"shop.py:7": "x, y"}, "command": "python shop.py"},
    ),
    (
        "debug_probe",
        {"at": [{"file": "shop.py", "line": 7, "expressions": ["x"]}], "command": "python shop.py"},
        {"at": {"shop.py:7": "x"}, "command": "python shop.py"},
    ),
    (
        "debug_probe",
        {"locations": [{"location": "shop.py:7", "expressions": "x"}], "command": "python shop.py"},
        {"at": {"shop.py:7": "x"}, "command": "python shop.py"},
    ),
    (
        "debug_probe",
        {"function": "add", "expression": "x", "command": "python shop.py"},
        {"at": {"add": "x"}, "command": "python shop.py"},
    ),
    (
        "debug_probe",
        {"at": "shop.py:7", "expressions": "x, y", "command": "python shop.py", "max_hits": 5},
        {"at": {"shop.py:7": "x, y"}, "command": "python shop.py", "limit": 5},
    ),
    (
        "debug_probe",
        {"at": {"shop.py:7": "x"}, "command": "python shop.py", "count": 5, "session_id": "s1"},
        {"at": {"shop.py:7": "x"}, "command": "python shop.py", "limit": 5},
    ),
    (
        "debug_probe",
        {"at": {"file": "shop.py", "line": 7}, "expressions": "x", "command": "python shop.py"},
        {"at": {"shop.py:7": "x"}, "command": "python shop.py"},
    ),
    (
        "debug_probe",
        {"at": {"shop.py:7": "x"}, "program": "shop.py", "args": ["--n", "3"], "cwd": "/tmp"},
        {"at": {"shop.py:7": "x"}, "command": "shop.py --n 3", "cwd": "/tmp"},
    ),
    ("debug_crash", {"program": "./app", "args": "-n 3"}, {"command": "./app -n 3"}),
    ("debug_crash", {"program": "./app", "args": ["-n", "3"]}, {"command": "./app -n 3"}),
    ("debug_crash", {"script": "shop.py", "arguments": ["--bad"]}, {"command": "shop.py --bad"}),
    ("debug_crash", {"executable": "./app", "arguments": "--bad"}, {"command": "./app --bad"}),
    (
        "debug_crash",
        {"command": "./app", "timeout_ms": 5000},
        {"command": "./app", "timeoutMs": 5000},
    ),
    (
        "debug_crash",
        {"core_file": "core.1", "program": "./app"},
        {"core": "core.1", "command": "./app"},
    ),
    ("debug_crash", {"process_id": 991}, {"pid": 991}),
    ("debug_crash", {"pid": "991"}, {"pid": 991}),
    (
        "debug_crash",
        {"command": "./app", "workingDirectory": "/tmp", "environment": {"A": "1"}},
        {"command": "./app", "cwd": "/tmp", "env": {"A": "1"}},
    ),
    (
        "debug_crash",
        {"command": "./app", "env": ["A=1", "B=2"]},
        {"command": "./app", "env": {"A": "1", "B": "2"}},
    ),
    ("debug_hang", {"processId": 991}, {"pid": 991}),
    ("debug_test", {"test": "pytest tests/test_a.py"}, {"command": "pytest tests/test_a.py"}),
    ("debug_test", {"program": "pytest", "args": ["-x", "tests"]}, {"command": "pytest -x tests"}),
    (
        "debug_path",
        {"command": "./app a", "vs": "./app b"},
        {"command": "./app a", "versus": ["./app b"]},
    ),
    (
        "debug_path",
        {"command": "./app a", "versus": "./app b"},
        {"command": "./app a", "versus": ["./app b"]},
    ),
    (
        "debug_path",
        {"bad": "./app a", "good": "./app b"},
        {"command": "./app a", "versus": ["./app b"]},
    ),
    (
        "debug_path",
        {"failing_command": "./app a", "passing_command": "./app b"},
        {"command": "./app a", "versus": ["./app b"]},
    ),
    (
        "debug_diff",
        {"command1": "./app a", "command2": "./app b"},
        {"command": "./app a", "versus": "./app b"},
    ),
    (
        "debug_diff",
        {"bad": "./app a", "good": "./app b"},
        {"command": "./app a", "versus": "./app b"},
    ),
    (
        "debug_diff",
        {"command": "./app a", "versus": ["./app", "b"]},
        {"command": "./app a", "versus": "./app b"},
    ),
    (
        "debug_calls",
        {"name": "add", "command": "python shop.py", "call": 3},
        {"function": "add", "command": "python shop.py", "nth": 3},
    ),
    (
        "debug_calls",
        {"func": "add", "program": "python shop.py", "condition": "x > 1", "count": 2},
        {"function": "add", "command": "python shop.py", "when": "x > 1", "limit": 2},
    ),
    (
        "debug_calls",
        {"location": "shop.py:5", "command": "python shop.py"},
        {"function": "shop.py:5", "command": "python shop.py"},
    ),
    (
        "debug_calls",
        {"function_name": "add", "command": "python shop.py", "invocation": 2},
        {"function": "add", "command": "python shop.py", "nth": 2},
    ),
    (
        "debug_why",
        {"expr": "total", "file": "shop.py", "line": 12, "command": "python shop.py"},
        {"expression": "total", "at": "shop.py:12", "command": "python shop.py"},
    ),
    (
        "debug_why",
        {"variable": "total", "location": "shop.py:12", "program": "python shop.py"},
        {"expression": "total", "at": "shop.py:12", "command": "python shop.py"},
    ),
    (
        "debug_why",
        {"value": "total", "where": "shop.py:12", "cmd": "python shop.py"},
        {"expression": "total", "at": "shop.py:12", "command": "python shop.py"},
    ),
    (
        "debug_who_wrote",
        {"name": "total", "at": "shop.py:12", "command": "python shop.py"},
        {"expression": "total", "at": "shop.py:12", "command": "python shop.py"},
    ),
    (
        "debug_holds",
        {"invariant": "x >= 0", "location": "shop.py:7", "command": "python shop.py"},
        {"expression": "x >= 0", "at": ["shop.py:7"], "command": "python shop.py"},
    ),
    (
        "debug_holds",
        {"condition": "x >= 0", "at": "shop.py:7", "command": "python shop.py"},
        {"expression": "x >= 0", "at": ["shop.py:7"], "command": "python shop.py"},
    ),
    (
        "debug_holds",
        {"expr": "x >= 0", "function": "Cart.add", "command": "python shop.py"},
        {"expression": "x >= 0", "each": ["Cart.add"], "command": "python shop.py"},
    ),
    ("debug_breakpoint", {"file": "shop.py", "line": 7}, {"add": [{"file": "shop.py", "line": 7}]}),
    (
        "debug_breakpoint",
        {"file": "shop.py", "line": 7, "condition": "x > 3"},
        {"add": [{"file": "shop.py", "line": 7, "condition": "x > 3"}]},
    ),
    (
        "debug_breakpoint",
        {"action": "add", "location": "shop.py:7"},
        {"add": [{"file": "shop.py", "line": 7}]},
    ),
    ("debug_breakpoint", {"add": "shop.py:7"}, {"add": [{"file": "shop.py", "line": 7}]}),
    (
        "debug_breakpoint",
        {"add": ["shop.py:7", "main"]},
        {"add": [{"file": "shop.py", "line": 7}, {"function": "main"}]},
    ),
    (
        "debug_breakpoint",
        {"breakpoints": [{"file": "shop.py", "line": 7}]},
        {"add": [{"file": "shop.py", "line": 7}]},
    ),
    ("debug_breakpoint", {"function": "main"}, {"add": [{"function": "main"}]}),
    ("debug_breakpoint", {"remove": 1}, {"remove": [1]}),
    ("debug_breakpoint", {"action": "remove", "id": 1}, {"remove": [1]}),
    ("debug_breakpoint", {"action": "list"}, {}),
    (
        "debug_breakpoint",
        {"add": [{"path": "shop.py", "line": 7}]},
        {"add": [{"file": "shop.py", "line": 7}]},
    ),
    (
        "debug_breakpoint",
        {"add": [{"file": "shop.py", "lineNumber": 7, "cond": "x"}]},
        {"add": [{"file": "shop.py", "line": 7, "condition": "x"}]},
    ),
    (
        "debug_evaluate",
        {"expr": "a.b", "session_id": "s1"},
        {"expression": "a.b", "sessionId": "s1"},
    ),
    ("debug_evaluate", {"expression": "a.b", "frame": 2}, {"expression": "a.b", "frameIndex": 2}),
    ("debug_evaluate", {"code": "a.b"}, {"expression": "a.b"}),
    (
        "debug_evaluate",
        {"expression": "a.b", "frame_id": 1, "context": "repl"},
        {"expression": "a.b", "frameIndex": 1},
    ),
    ("debug_stack", {"thread_id": 1, "levels": 5}, {"threadIndex": 1, "maxFrames": 5}),
    ("debug_stack", {"full": True}, {"withLocals": True}),
    ("debug_variables", {"frame": 1, "scope": "locals"}, {"frameIndex": 1}),
    ("debug_variables", {"variablesReference": "v3"}, {"ref": "v3"}),
    ("debug_command", {"cmd": "watch total"}, {"command": "watch total"}),
    ("debug_command", {"command": "debugger watch total"}, {"command": "debugger watch total"}),
    (
        "debug_launch",
        {"program": "./app", "args": "-n 3"},
        {"command": "./app", "args": ["-n", "3"]},
    ),
    (
        "debug_launch",
        {"program": "shop.py", "args": ["-n", "3"], "stop_on_entry": "true"},
        {"command": "shop.py", "args": ["-n", "3"], "stopOnEntry": True},
    ),
    (
        "debug_launch",
        {"program": "shop.py", "breakpoints": [{"file": "shop.py", "line": 7}]},
        {"command": "shop.py", "breakpoints": ["shop.py:7"]},
    ),
    (
        "debug_launch",
        {"program": "shop.py", "breakpoints": "shop.py:7"},
        {"command": "shop.py", "breakpoints": ["shop.py:7"]},
    ),
    (
        "debug_launch",
        {"script": "shop.py", "breakpoint": "shop.py:7", "language": "python"},
        {"command": "shop.py", "breakpoints": ["shop.py:7"]},
    ),
    ("debug_launch", {"command": ["python", "shop.py"]}, {"command": "python shop.py"}),
    ("debug_attach", {"processId": "991"}, {"pid": 991}),
    ("debug_attach", {"process": 991, "stop": True}, {"pid": 991, "pause": True}),
    ("debug_attach", {"host": "localhost", "port": 5678}, {"connect": "localhost:5678"}),
    (
        "debug_attach",
        {"core_path": "core.1", "executable": "./app"},
        {"core": "core.1", "program": "./app"},
    ),
    (
        "debug_continue",
        {"session_id": "s1", "timeout_ms": 3000},
        {"sessionId": "s1", "timeoutMs": 3000},
    ),
    ("debug_continue", {"action": "stepOver"}, {"action": "step-over"}),
    ("debug_continue", {"action": "step_into"}, {"action": "step-into"}),
    ("debug_continue", {"command": "next"}, {"action": "step-over"}),
    ("debug_try", {"set": "n=1", "until": "shop.py:9"}, {"changes": ["n=1"], "until": "shop.py:9"}),
    (
        "debug_try",
        {"changes": {"n": 1}, "expect": "x > 0"},
        {"changes": ["n=1"], "expect": "x > 0"},
    ),
    (
        "debug_try",
        {"assignments": ["n=1"], "run_until": "shop.py:9"},
        {"changes": ["n=1"], "until": "shop.py:9"},
    ),
    ("debug_evidence", {"id": "e1"}, {"answer": "e1"}),
    ("debug_evidence", {"evidence": "e1"}, {"answer": "e1"}),
    (
        "debug_logpoint",
        {"file": "shop.py", "line": 7, "message": "x={x}"},
        {"add": [{"file": "shop.py", "line": 7, "message": "x={x}"}]},
    ),
    (
        "debug_logpoint",
        {"location": "shop.py:7", "log_message": "x={x}"},
        {"add": [{"file": "shop.py", "line": 7, "message": "x={x}"}]},
    ),
    ("debug_trace", {"function": "parse"}, {"add": ["parse"]}),
    ("debug_trace", {"functions": ["parse", "render"]}, {"add": ["parse", "render"]}),
    ("debug_trace", {"add": "parse*"}, {"add": ["parse*"]}),
    ("debug_read", {"variable": "total"}, {"targets": [{"variable": "total"}]}),
    ("debug_read", {"targets": ["total"]}, {"targets": [{"variable": "total"}]}),
    (
        "debug_write",
        {"variable": "total", "value": 3},
        {"targets": [{"variable": "total", "value": 3}]},
    ),
    ("debug_query", {"event_type": "stop", "limit": "5"}, {"eventType": ["stop"], "limit": 5}),
    ("debug_query", {"kind": "output"}, {"eventType": ["output"]}),
    ("debug_session", {"command": "stop"}, {"action": "stop"}),
    ("debug_session", {"action": "terminate"}, {"action": "kill"}),
    (
        "debug_stack",
        {"max_frames": "5", "all_threads": "true"},
        {"maxFrames": 5, "allThreads": True},
    ),
    ("debug_variables", {"frame_index": "1"}, {"frameIndex": 1}),
    (
        "debug_probe",
        {"at": {"shop.py:7": "x"}, "cmd": "python shop.py", "first": 3},
        {"at": {"shop.py:7": "x"}, "command": "python shop.py", "limit": 3},
    ),
    (
        "debug_probe",
        {"at": "shop.py:7", "watch": ["x"], "command": "python shop.py"},
        {"at": {"shop.py:7": "x"}, "command": "python shop.py"},
    ),
    (
        "debug_probe",
        {"breakpoints": {"shop.py:7": "x"}, "command": "python shop.py"},
        {"at": {"shop.py:7": "x"}, "command": "python shop.py"},
    ),
    (
        "debug_holds",
        {"invariants": ["a > 0", "b > 0"], "at": "f.py:3", "command": "python f.py"},
        {"expression": "a > 0", "also": ["b > 0"], "at": ["f.py:3"], "command": "python f.py"},
    ),
    (
        "debug_why",
        {"expression": "total", "at": "crash", "program": "./app", "args": ["1"]},
        {"expression": "total", "at": "crash", "command": "./app 1"},
    ),
    (
        "debug_calls",
        {"function": "add", "command": "python shop.py", "max_calls": 2},
        {"function": "add", "command": "python shop.py", "limit": 2},
    ),
    (
        "debug_crash",
        {"program_path": "./app", "program_args": ["-n", "3"]},
        {"command": "./app -n 3"},
    ),
    ("debug_crash", {"cmdline": "./app"}, {"command": "./app"}),
    (
        "debug_crash",
        {"core_file": "core.1", "binary": "./app"},
        {"core": "core.1", "command": "./app"},
    ),
    ("debug_crash", {"process_id": "4321"}, {"pid": 4321}),
    ("debug_crash", {"target": "./app"}, {"command": "./app"}),
    ("debug_crash", {"scriptPath": "app.py"}, {"command": "app.py"}),
    (
        "debug_crash",
        {"command": "./app", "environment": ["A=1"]},
        {"command": "./app", "env": {"A": "1"}},
    ),
    (
        "debug_crash",
        {"command": "./app", "stdin_file": "in.txt"},
        {"command": "./app", "stdin": "in.txt"},
    ),
    ("debug_test", {"test_command": "pytest x.py"}, {"command": "pytest x.py"}),
    ("debug_test", {"testCommand": ["pytest", "x.py"]}, {"command": "pytest x.py"}),
    (
        "debug_test",
        {"runner": "pytest", "test": "x.py::test_a"},
        {"command": "pytest x.py::test_a"},
    ),
    ("debug_test", {"command": "pytest", "args": ["-k", "a"]}, {"command": "pytest -k a"}),
    (
        "debug_probe",
        {"locations": {"a.py:3": ["x"]}, "command": "python a.py"},
        {"at": {"a.py:3": "x"}, "command": "python a.py"},
    ),
    (
        "debug_probe",
        {"at": "a.py:3 x, y", "command": "python a.py"},
        {"at": {"a.py:3": "x, y"}, "command": "python a.py"},
    ),
    (
        "debug_probe",
        {"probes": [{"at": "a.py:3", "expr": "x"}], "command": "python a.py"},
        {"at": {"a.py:3": "x"}, "command": "python a.py"},
    ),
    (
        "debug_probe",
        {"points": {"a.py:3": "x"}, "command": "python a.py"},
        {"at": {"a.py:3": "x"}, "command": "python a.py"},
    ),
    (
        "debug_probe",
        {"loc": "a.py:3", "expressions": "x", "command": "python a.py"},
        {"at": {"a.py:3": "x"}, "command": "python a.py"},
    ),
    (
        "debug_probe",
        {"at": {"a.py:3": "x"}, "command": "python a.py", "maxHits": 5},
        {"at": {"a.py:3": "x"}, "command": "python a.py", "limit": 5},
    ),
    (
        "debug_probe",
        {"at": {"a.py:3": "x"}, "command": "python a.py", "only_changes": True},
        {"at": {"a.py:3": "x"}, "command": "python a.py", "changes": True},
    ),
    (
        "debug_probe",
        {"at": {"a.py:3": "x"}, "command": "python a.py", "changes": "yes"},
        {"at": {"a.py:3": "x"}, "command": "python a.py", "changes": True},
    ),
    (
        "debug_probe",
        {"at": {"a.py:3": "x"}, "command": "python a.py", "limit": "5"},
        {"at": {"a.py:3": "x"}, "command": "python a.py", "limit": 5},
    ),
    (
        "debug_probe",
        {"at": {"a.py:3": "x"}, "command": "python a.py", "in_function": "f"},
        {"at": {"a.py:3": "x"}, "command": "python a.py", "inside": "f"},
    ),
    (
        "debug_path",
        {"failing": "./app b", "good": "./app a"},
        {"command": "./app b", "versus": "./app a"},
    ),
    (
        "debug_path",
        {"command": "./app b", "compare_with": "./app a"},
        {"command": "./app b", "versus": "./app a"},
    ),
    ("debug_path", {"command": "./app", "function": "f"}, {"command": "./app", "around": "f"}),
    (
        "debug_path",
        {"command": "./app b", "vs": ["./app a"]},
        {"command": "./app b", "versus": "./app a"},
    ),
    (
        "debug_calls",
        {"function_name": "f", "command": "./app"},
        {"function": "f", "command": "./app"},
    ),
    (
        "debug_calls",
        {"functions": ["f"], "command": "./app"},
        {"function": "f", "command": "./app"},
    ),
    (
        "debug_calls",
        {"func": "f", "program": "./app", "call_number": 3},
        {"function": "f", "command": "./app", "nth": 3},
    ),
    (
        "debug_calls",
        {"function": "f", "command": "./app", "max_calls": "2"},
        {"function": "f", "command": "./app", "limit": 2},
    ),
    (
        "debug_diff",
        {"command_a": "./app a", "command_b": "./app b"},
        {"command": "./app a", "versus": "./app b"},
    ),
    ("debug_diff", {"old": "./old", "new": "./new"}, {"command": "./new", "versus": "./old"}),
    ("debug_diff", {"commands": ["./old", "./new"]}, {"command": "./old", "versus": "./new"}),
    ("debug_hang", {"pid": "4321"}, {"pid": 4321}),
    (
        "debug_who_wrote",
        {"variable": "x", "location": "a.py:3", "command": "python a.py"},
        {"expression": "x", "at": "a.py:3", "command": "python a.py"},
    ),
    (
        "debug_who_wrote",
        {"variable_name": "x", "file": "a.py", "line": "3", "command": "python a.py"},
        {"expression": "x", "at": "a.py:3", "command": "python a.py"},
    ),
    (
        "debug_who_wrote",
        {"expression": "x", "at": "a.py:3 if n>1", "command": "python a.py"},
        {"expression": "x", "at": "a.py:3", "when": "n>1", "command": "python a.py"},
    ),
    (
        "debug_why",
        {"value": "x", "line": 3, "file": "a.py", "command": "python a.py"},
        {"expression": "x", "at": "a.py:3", "command": "python a.py"},
    ),
    (
        "debug_why",
        {"question": "x", "at": "a.py:3", "command": "python a.py"},
        {"expression": "x", "at": "a.py:3", "command": "python a.py"},
    ),
    (
        "debug_why",
        {"expressions": ["x"], "at": "a.py:3", "command": "python a.py"},
        {"expression": "x", "at": "a.py:3", "command": "python a.py"},
    ),
    (
        "debug_holds",
        {"invariant": "n>0", "functions": ["f"], "command": "./app"},
        {"expression": "n>0", "each": ["f"], "command": "./app"},
    ),
    (
        "debug_holds",
        {"condition": "n>0", "file": "a.py", "command": "python a.py"},
        {"expression": "n>0", "within": ["a.py"], "command": "python a.py"},
    ),
    (
        "debug_holds",
        {"expression": "n>0", "in": "a.py", "command": "python a.py"},
        {"expression": "n>0", "within": ["a.py"], "command": "python a.py"},
    ),
    (
        "debug_holds",
        {"expression": "n>0", "at": "a.py:3", "command": "python a.py"},
        {"expression": "n>0", "at": ["a.py:3"], "command": "python a.py"},
    ),
    ("debug_continue", {"action": "step_over"}, {"action": "step-over"}),
    ("debug_continue", {"action": "stepIn"}, {"action": "step-into"}),
    ("debug_continue", {"type": "next"}, {"action": "step-over"}),
    ("debug_continue", {"step": "out"}, {"action": "step-out"}),
    (
        "debug_launch",
        {"program": "./app", "arguments": ["-n"], "stop_at_entry": True},
        {"command": "./app", "args": ["-n"], "stopOnEntry": True},
    ),
    (
        "debug_launch",
        {"command": "./app", "breakpoints": ["a.c:3 if n > 2"]},
        {"command": "./app", "breakpoints": [{"file": "a.c", "line": 3, "condition": "n > 2"}]},
    ),
    ("debug_launch", {"command": "./app -n 3"}, {"command": "./app -n 3"}),
    ("debug_launch", {"mode": "debug", "program": "main.go"}, {"command": "main.go"}),
    ("debug_attach", {"process_name": "server"}, {"name": "server"}),
    ("debug_attach", {"port": 9229, "host": "127.0.0.1"}, {"connect": "127.0.0.1:9229"}),
    (
        "debug_breakpoint",
        {"location": "a.c:3", "condition": "n>2"},
        {"add": [{"file": "a.c", "line": 3, "condition": "n>2"}]},
    ),
    ("debug_breakpoint", {"set": ["a.c:3"]}, {"add": [{"file": "a.c", "line": 3}]}),
    ("debug_breakpoint", {"action": "remove", "breakpoint_id": 2}, {"remove": [2]}),
    ("debug_stack", {"limit": 5}, {"maxFrames": 5}),
    ("debug_stack", {"depth": 5}, {"maxFrames": 5}),
    ("debug_stack", {"include_locals": True}, {"withLocals": True}),
    ("debug_stack", {"thread": 2}, {"threadIndex": 2}),
    ("debug_variables", {"frame": 1}, {"frameIndex": 1}),
    ("debug_evaluate", {"expr": "x", "frame": "1"}, {"expression": "x", "frameIndex": 1}),
    ("debug_evaluate", {"code": "x"}, {"expression": "x"}),
    ("debug_evaluate", {"variables": ["x"]}, {"expression": "x"}),
    ("debug_trace", {"function": "f"}, {"add": ["f"]}),
    ("debug_query", {"kind": "stop"}, {"eventType": "stop"}),
    (
        "debug_probe",
        {"filename": "a.py", "line_number": 3, "expression": "x", "command": "python a.py"},
        {"at": {"a.py:3": "x"}, "command": "python a.py"},
    ),
    (
        "debug_probe",
        {"file": "a.py", "lines": [3, 7], "expressions": ["x"], "command": "python a.py"},
        {"at": {"a.py:3": "x", "a.py:7": "x"}, "command": "python a.py"},
    ),
    (
        "debug_probe",
        {"file": "a.py", "lines": "3", "expressions": "x", "command": "python a.py"},
        {"at": {"a.py:3": "x"}, "command": "python a.py"},
    ),
    (
        "debug_probe",
        {"at": '{"a.py:3": "x"}', "command": "python a.py"},
        {"at": {"a.py:3": "x"}, "command": "python a.py"},
    ),
    (
        "debug_probe",
        {"at": [["a.py:3", "x"]], "command": "python a.py"},
        {"at": {"a.py:3": "x"}, "command": "python a.py"},
    ),
    (
        "debug_probe",
        {"at": {"a.py:3": "x"}, "command": "python a.py", "timeout_seconds": 30},
        {"at": {"a.py:3": "x"}, "command": "python a.py", "timeoutMs": 30000},
    ),
    (
        "debug_probe",
        {"at": {"a.py:3": "x"}, "command": "python a.py", "env": ["A=1"]},
        {"at": {"a.py:3": "x"}, "command": "python a.py", "env": {"A": "1"}},
    ),
    (
        "debug_probe",
        {"at": {"a.py:3": "x"}, "command": "python a.py", "env": "A=1"},
        {"at": {"a.py:3": "x"}, "command": "python a.py", "env": {"A": "1"}},
    ),
    (
        "debug_probe",
        {"at": {"a.py:3": "x"}, "command": "python a.py", "env": {"A": 1}},
        {"at": {"a.py:3": "x"}, "command": "python a.py", "env": {"A": "1"}},
    ),
    (
        "debug_probe",
        {"args": {"at": {"a.py:3": "x"}, "command": "python a.py"}},
        {"at": {"a.py:3": "x"}, "command": "python a.py"},
    ),
    (
        "debug_crash",
        {"command": "./app", "timeout": "10s"},
        {"command": "./app", "timeoutMs": 10000},
    ),
    (
        "debug_crash",
        {"command": "./app", "timeoutMs": "10000"},
        {"command": "./app", "timeoutMs": 10000},
    ),
    ("debug_crash", {"command": "./app", "timeoutMs": 10}, {"command": "./app", "timeoutMs": 10}),
    (
        "debug_crash",
        {"command": "./app", "cwd": "/tmp", "env": {}},
        {"command": "./app", "cwd": "/tmp", "env": {}},
    ),
    ("debug_crash", {"command": "./app", "why": False}, {"command": "./app", "noWhy": True}),
    ("debug_test", {"file": "test_a.py"}, {"command": "test_a.py"}),
    ("debug_test", {"command": "pytest", "file": "test_a.py"}, {"command": "pytest test_a.py"}),
    ("debug_hang", {"command": "./app", "timeout": 5}, {"command": "./app", "afterMs": 5000}),
    (
        "debug_holds",
        {"predicate": "n>0", "each": "Base.*", "command": "python a.py"},
        {"expression": "n>0", "each": ["Base.*"], "command": "python a.py"},
    ),
    (
        "debug_path",
        {"command": "python a.py", "from": "f", "to": "g"},
        {"command": "python a.py", "between": ["f", "g"]},
    ),
    (
        "debug_launch",
        {"program": "a.py", "breakpoints": [{"line": 3}]},
        {"command": "a.py", "breakpoints": ["3"]},
    ),
    (
        "debug_launch",
        {
            "program": "a.py",
            "breakpoints": [{"filename": "a.py", "lineNumber": 3, "condition": "x"}],
        },
        {"command": "a.py", "breakpoints": ["a.py:3 if x"]},
    ),
    (
        "debug_launch",
        {"program": "a.py", "breakpoints": [{"function": "f"}]},
        {"command": "a.py", "breakpoints": ["f"]},
    ),
    (
        "debug_launch",
        {"configuration": {"program": "a.py", "args": ["1"]}},
        {"command": "a.py", "args": ["1"]},
    ),
    (
        "debug_launch",
        {
            "program": "a.py",
            "type": "python",
            "request": "launch",
            "name": "x",
            "console": "integratedTerminal",
        },
        {"command": "a.py"},
    ),
    (
        "debug_launch",
        {"program": "a.py", "env": "A=1 B=2"},
        {"command": "a.py", "env": {"A": "1", "B": "2"}},
    ),
    ("debug_attach", {"address": "localhost:5678"}, {"connect": "localhost:5678"}),
    (
        "debug_breakpoint",
        {"file": "a.py", "lines": [3, 7]},
        {"add": [{"file": "a.py", "line": 3}, {"file": "a.py", "line": 7}]},
    ),
    ("debug_breakpoint", {"operation": "remove", "breakpoint_id": "1"}, {"remove": ["1"]}),
    ("debug_breakpoint", {"action": "delete", "ids": [1, 2]}, {"remove": [1, 2]}),
    (
        "debug_breakpoint",
        {"source": {"path": "a.py"}, "breakpoints": [{"line": 3}]},
        {"add": [{"file": "a.py", "line": 3}]},
    ),
    ("debug_breakpoint", {"delete": [1]}, {"remove": [1]}),
    (
        "debug_variables",
        {"reference": "v3", "from": 10, "count": "5"},
        {"ref": "v3", "start": 10, "count": 5},
    ),
    ("debug_read", {"variables": "x, y"}, {"targets": [{"variable": "x"}, {"variable": "y"}]}),
    (
        "debug_read",
        {"address": "0x10", "type": "u32"},
        {"targets": [{"address": "0x10", "type": "u32"}]},
    ),
    ("debug_write", {"name": "x", "value": "3"}, {"targets": [{"variable": "x", "value": "3"}]}),
    ("debug_write", {"variables": {"x": 3}}, {"targets": [{"variable": "x", "value": 3}]}),
    ("debug_query", {"event_types": "stop,exit"}, {"eventType": ["stop", "exit"]}),
    ("debug_session", {"operation": "list"}, {"action": "list"}),
    ("debug_session", {"action": "switch", "session": "s2"}, {"action": "use", "sessionId": "s2"}),
    ("debug_try", {"variable": "x", "value": 3}, {"changes": ["x=3"]}),
)


@pytest.fixture(scope="module", autouse=True)
def registered() -> None:
    commands.register_all()


@pytest.mark.parametrize(("name", "sent", "meant"), CALLS)
def test_arguments_are_taken_under_other_names(
    name: str, sent: dict[str, Any], meant: dict[str, Any]
) -> None:
    tool = CORE.get(name)
    assert tool is not None
    assert tool.bind_arguments(sent) == tool.bind_arguments(meant)
