"""What editors may ask for, and hear, beside the usual: progress, memory, sources, members."""

from __future__ import annotations

import base64
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import debuggees
from cli_commands import resolve_program
from editor_client import EditorClient, open_editor

LOOP = debuggees.find_source("loop.py")
STEP = debuggees.find_marker("loop.py", "step")

Cli = Callable[..., Any]


def _stop_at(editor: EditorClient, program: str | Path, file: Path, line: int) -> dict[str, Any]:
    """Start a program, stop it at a line; return its frame."""
    launched = editor.send("launch", program=str(program))
    editor.event("initialized")
    editor.set_lines(str(file), line)
    editor.ask("configurationDone")
    assert editor.answer_to(launched)["success"]
    return editor.top_frame(editor.event("stopped")["threadId"])


def test_a_start_reports_its_progress_and_ends_it(runtime_dir: Path):
    with open_editor(runtime_dir) as editor:
        frame = _stop_at(editor, LOOP, LOOP, STEP)
        start = editor.event("progressStart")
        assert start["title"] == f"Starting {LOOP}"
        assert editor.event("progressEnd") == {"progressId": start["progressId"]}
        editor.ask("cancel", progressId=start["progressId"])  # it is over: nothing to give up
        assert editor.ask("evaluate", expression="i", frameId=frame["id"])["result"] == "1"
        names = [one["label"] for one in _completions(editor, frame, "sys.path_")]
        assert "path_hooks" in names
        assert _completions(editor, frame, "print(sys.argv).") == []
        assert _completions(editor, frame, "nope.") == []
        sources = [one["path"] for one in editor.ask("loadedSources")["sources"]]
        assert str(LOOP) in sources
        assert sources == sorted(sources)
        assert "single threads" in editor.refused("terminateThreads", threadIds=[1])
        editor.ask("disconnect")


def _completions(editor: EditorClient, frame: dict[str, Any], text: str) -> list[dict[str, Any]]:
    found = editor.ask("completions", text=text, column=len(text) + 1, frameId=frame["id"])
    return list(found["targets"])


def test_a_start_that_hangs_is_given_up_by_its_progress(runtime_dir: Path, tmp_path: Path):
    (tmp_path / "usercustomize.py").write_text("")
    (tmp_path / "sitecustomize.py").write_text("import time\ntime.sleep(600)\n")
    with open_editor(runtime_dir) as editor:
        launched = editor.send("launch", program=str(LOOP), env={"PYTHONPATH": str(tmp_path)})
        editor.event("initialized")
        editor.ask("configurationDone")
        name = editor.event("progressStart")["progressId"]
        assert "1 s" in editor.event("progressUpdate", progressId=name)["message"]
        editor.ask("cancel", progressId=name)
        assert not editor.answer_to(launched)["success"]
        editor.event("progressEnd", progressId=name)
        editor.event("terminated")
        editor.ask("disconnect")


@pytest.mark.adapter("gdb")
def test_memory_that_is_shown_is_announced_when_anybody_changes_it(runtime_dir: Path, cli: Cli):
    line = debuggees.find_marker("loop.c", "step")
    with open_editor(runtime_dir) as editor:
        file = debuggees.find_source("loop.c")
        frame = _stop_at(editor, resolve_program("loop.c"), file, line)
        value = editor.ask("evaluate", expression="&i", frameId=frame["id"], context="watch")
        address = value["memoryReference"]
        cli("set", "i", "=", "2", check=0)
        editor.event("invalidated")
        assert not any(one.get("event") == "memory" for one in editor.messages)
        editor.ask("readMemory", memoryReference=address, count=4)
        editor.ask("readMemory", memoryReference=address, offset=4, count=4)
        cli("set", "i", "=", "3", check=0)
        expected = {"memoryReference": address, "offset": 0, "count": 8}
        assert editor.event("memory") == expected
        data = base64.b64encode(b"\x04\0\0\0").decode()
        editor.ask("writeMemory", memoryReference=address, data=data)
        assert editor.event("memory") == expected
        editor.ask("setExpression", expression="i", value="5", frameId=frame["id"])
        assert editor.event("memory") == expected
        sources = [one["path"] for one in editor.ask("loadedSources")["sources"]]
        assert str(file) in sources
        editor.ask("disconnect")


def test_exceptions_of_one_type_only(runtime_dir: Path):
    file = debuggees.find_source("exception.py")
    with open_editor(runtime_dir) as editor:
        launched = editor.send("launch", program=str(file))
        editor.event("initialized")
        options = {"filterId": "raised", "condition": "KeyError"}
        editor.ask("setExceptionBreakpoints", filters=[], filterOptions=[options])
        editor.ask("configurationDone")
        assert editor.answer_to(launched)["success"]
        assert "KeyError" in editor.event("stopped")["text"]
        options["condition"] = "ValueError"
        editor.ask("setExceptionBreakpoints", filters=[], filterOptions=[options])
        editor.ask("restart")
        assert "ValueError" in editor.event("stopped")["text"]
        editor.ask("disconnect")


def test_an_editor_that_ends_the_door_by_a_signal_ends_it_well(runtime_dir: Path):
    with open_editor(runtime_dir) as editor:
        _stop_at(editor, LOOP, LOOP, STEP)
        editor.process.send_signal(signal.SIGINT)
        assert editor.process.wait(30) == 0
