"""Limits of the recorders: what is beyond one is counted in a note."""

from __future__ import annotations

import json
from pathlib import Path

from debugger.recorders.go import go_recorder
from debugger.recorders.go.go_cover import CounterFiles
from debugger.recorders.go.go_recorder import GoRecorder
from debugger.recorders.model import RecordingNote
from debugger.recorders.node.node_recorder import NodeRecorder


def notes(recording) -> list[str]:
    return [one.text for one in recording.events if isinstance(one, RecordingNote)]


def test_files_of_node_beyond_the_limit_are_counted(tmp_path: Path) -> None:
    records = tmp_path / "records"
    records.mkdir()
    for pid in range(1, 6):
        process = {"pid": pid, "parent": 0, "words": ["node"], "time": 1.0}
        (records / f"process-{pid}.json").write_text(json.dumps(process))
    first, *_ = NodeRecorder([str(tmp_path)], files_max=2).read_recordings(tmp_path, 1)[0]
    assert notes(first)[-1] == "3 more files of counts are not read"


def test_processes_of_go_beyond_the_limit_are_counted(tmp_path: Path, monkeypatch) -> None:
    found = {pid: CounterFiles() for pid in range(1, 6)}
    monkeypatch.setattr(go_recorder, "find_counter_files", lambda _folder: found)
    first, *others = GoRecorder("", [], processes_max=2).read_recordings(tmp_path, 3)[0]
    assert (first.process.pid, len(others)) == (3, 1)
    assert notes(first)[-1] == "3 more processes ran, whose counts are not read"
