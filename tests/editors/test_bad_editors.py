"""Editors that are too early, too late, or do not listen."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import debuggees
from cli_commands import answer_data
from debugger.backends.dap.dap_transport import encode_message
from editor_client import EditorClient, open_editor

LOOP = debuggees.find_source("loop.py")
STEP = debuggees.find_marker("loop.py", "step")
FLOOD = """\
for at in range(100_000):
    print(f"line {at} {'x' * 100}")
done = True
"""

Cli = Callable[..., Any]


@contextmanager
def begin_door(runtime_dir: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start `debugger dap`, to which nothing has been said yet."""
    with subprocess.Popen(
        [sys.executable, "-m", "debugger", "dap"],
        env={**os.environ, "DEBUGGER_RUNTIME_DIR": str(runtime_dir)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_requests_before_initialize_are_refused_and_it_works_after(runtime_dir: Path, cli: Cli):
    cli("start", LOOP, "--break", f"{LOOP}:{STEP}", check=0)
    with begin_door(runtime_dir) as process:
        editor = EditorClient(process)
        assert "launch before initialize" in editor.refused("launch", program=str(LOOP))
        assert "attach before initialize" in editor.refused("attach")
        assert "pause before initialize" in editor.refused("pause", threadId=1)
        assert "pathFormat" in editor.refused("initialize", adapterID="x", pathFormat="uri")
        assert "threads before initialize" in editor.refused("threads")
        assert editor.ask("initialize", adapterID="x")["supportsConfigurationDoneRequest"]
        assert "answered already" in editor.refused("initialize", adapterID="x")
        assert "nothing is debugged" in editor.refused("threads")
        assert "nothing waits" in editor.refused("configurationDone")
        editor.ask("attach")
        editor.ask("configurationDone")
        assert editor.top_frame(editor.event("stopped")["threadId"])["line"] == STEP
        process.kill()
        editor.join_reader()


def test_a_session_that_ends_while_it_is_joined_is_said_to_have_ended(runtime_dir: Path, cli: Cli):
    cli("start", LOOP, "--break", f"{LOOP}:{STEP}", check=0)
    with open_editor(runtime_dir) as editor:
        editor.ask("attach")
        editor.event("initialized")
        cli("stop", check=0)
        # Whether it came before or after: an answer, and the end.
        editor.answer_to(editor.send("configurationDone"))
        editor.event("terminated")
        assert editor.refused("next", threadId=1)
        editor.ask("disconnect")


def test_an_editor_that_never_reads_keeps_nobody_else_waiting(
    runtime_dir: Path, cli: Cli, tmp_path: Path
):
    program = tmp_path / "flood.py"
    program.write_text(FLOOD)
    cli("start", program, "--stop-on-entry", check=0)
    with begin_door(runtime_dir) as process:
        assert process.stdin is not None
        for seq, name in enumerate(("initialize", "attach", "configurationDone"), 1):
            arguments = {"adapterID": "x"} if name == "initialize" else {}
            message = {"seq": seq, "type": "request", "command": name, "arguments": arguments}
            process.stdin.write(encode_message(json.dumps(message).encode()))
        process.stdin.flush()
        cli("until", f"{program}:3", "--timeout", "60", check=0)
        assert answer_data(cli("--json", "print", "at", check=0))["value"] == "99999"
        # Another editor hears it all the same, and both may be left.
        with open_editor(runtime_dir) as other:
            other.ask("attach")
            other.ask("configurationDone")
            assert other.top_frame(other.event("stopped")["threadId"])["line"] == 3
            other.ask("disconnect")
    # What never read has gone, and has taken nothing along.
    assert answer_data(cli("--json", "context", check=0))["frame"]["line"] == 3
