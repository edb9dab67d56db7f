"""An editor debugs a program by `debugger dap`."""

from __future__ import annotations

from pathlib import Path

import debuggees
from editor_client import open_editor

LOOP = debuggees.find_source("loop.py")
LINE = debuggees.find_marker("loop.py", "step")


def test_an_editor_starts_stops_looks_steps_and_ends(runtime_dir: Path):
    with open_editor(runtime_dir) as editor:
        launched = editor.send("launch", program=str(LOOP))
        editor.event("initialized")
        (made,) = editor.set_lines(str(LOOP), LINE)
        assert made["id"] > 0
        editor.ask("configurationDone")
        assert editor.answer_to(launched)["success"]
        stopped = editor.event("stopped", reason="breakpoint")
        thread = stopped["threadId"]
        assert stopped["hitBreakpointIds"] == [made["id"]]
        frame = editor.top_frame(thread)
        assert (frame["source"]["path"], frame["line"]) == (str(LOOP), LINE)
        values = editor.local_values(frame["id"])
        assert values
        assert thread in [one["id"] for one in editor.ask("threads")["threads"]]
        editor.ask("next", threadId=thread)
        editor.event("stopped", reason="step")
        assert editor.top_frame(thread)["line"] != LINE
        editor.set_lines(str(LOOP))
        editor.ask("continue", threadId=thread)
        assert editor.event("exited") == {"exitCode": 3}
        editor.event("terminated")
        editor.ask("disconnect")
