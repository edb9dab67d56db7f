"""Rewritten code is kept for the next run, where nobody else can write it (CPython 3.11)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from debugger.recorders.model import LineRecording, RecordingLimits
from debugger.recorders.python.code_folder import prepare_code_folder
from debugger.recorders.recorded_process import CompletedRun
from recording.recorders import PROGRAMS, find_interpreters, run_recorded
from recording.test_rewritten import summarise

PYTHON = find_interpreters().get("3.11", "")
on_311 = pytest.mark.skipif(not PYTHON, reason="rewritten for 3.11 alone")
EACH = {
    "lines": LineRecording.EACH,
    "line_depth": 1_000,
    "is_compared": True,
    "limits": RecordingLimits(each=200, lines=400, text=240),
}


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    made = tmp_path / "run" / "scratch"
    made.mkdir(parents=True)
    return made


def cached_files(scratch: Path) -> list[Path]:
    return sorted((scratch.parent / "recorded-code").glob("*/*"))


async def record(cwd: Path, scratch: Path, script: str, **wanted: object) -> CompletedRun:
    ran = await run_recorded([PYTHON, script], cwd, scratch, **wanted)
    assert ran.recordings
    assert ran.faults == ()
    return ran


@on_311
@pytest.mark.parametrize("wanted", [{"lines": LineRecording.HIT}, EACH], ids=["hit", "each"])
async def test_a_run_with_kept_code_records_what_the_first_run_does(
    scratch: Path, wanted: dict[str, object]
) -> None:
    first = await record(PROGRAMS, scratch, "constructs.py", **wanted)
    files = cached_files(scratch)
    written = {one: one.stat().st_mtime_ns for one in files}
    assert files
    again = await record(PROGRAMS, scratch, "constructs.py", **wanted)
    assert summarise(again.recordings[0]) == summarise(first.recordings[0])
    assert {one: one.stat().st_mtime_ns for one in cached_files(scratch)} == written
    assert all(one.stat().st_mode & 0o077 == 0 for one in (*files, files[0].parent))


@on_311
async def test_a_changed_function_and_a_damaged_file_are_rewritten(
    scratch: Path, tmp_path: Path
) -> None:
    (tmp_path / "part.py").write_text("def f(x):\n    return x + 1\ndef g():\n    return f(2)\n")
    (tmp_path / "main.py").write_text("import part\nprint(part.g())\n")
    for text in ("x + 1", "(lambda y: y * 5)(x)"):
        (tmp_path / "part.py").write_text(
            f"def f(x):\n    return {text}\ndef g():\n    return f(2)\n"
        )
        ran = await record(tmp_path, scratch, "main.py", lines=LineRecording.HIT)
        expected = str(eval(text, {"x": 2}))
        assert ran.output_lines() == [expected]
        assert ("return", ("f", 1), expected, 1) in summarise(ran.recordings[0])
    for one in cached_files(scratch):
        one.write_bytes(one.read_bytes()[:-9])
    cut = await record(tmp_path, scratch, "main.py", lines=LineRecording.HIT)
    assert summarise(cut.recordings[0]) == summarise(ran.recordings[0])


@on_311
async def test_a_script_that_is_imported_too_is_kept_apart(scratch: Path, tmp_path: Path) -> None:
    (tmp_path / "part.py").write_text("def f(x):\n    return x + 1\nprint(f(2))\n")
    (tmp_path / "main.py").write_text("import part\nprint(part.f(5))\n")
    found = []
    for script in ("part.py", "main.py") * 2:
        ran = await record(tmp_path, scratch, script, lines=LineRecording.HIT)
        found.append((ran.output_lines(), summarise(ran.recordings[0])))
    assert found[:2] == found[2:]
    assert [lines for lines, _ in found[:2]] == [["3"], ["3", "6"]]
    assert len(cached_files(scratch)) == 3


@on_311
async def test_a_folder_that_others_can_write_to_is_not_used(scratch: Path) -> None:
    folder = Path(prepare_code_folder(scratch))
    folder.chmod(0o770)
    await record(PROGRAMS, scratch, "constructs.py", lines=LineRecording.HIT)
    assert cached_files(scratch) == []


def test_code_of_another_recorder_and_the_oldest_files_are_removed(scratch: Path) -> None:
    folder = Path(prepare_code_folder(scratch))
    (folder.parent / "0123456789abcdef").mkdir()
    for number in range(3):
        (folder / str(number)).write_bytes(bytes(100))
        os.utime(folder / str(number), (number, number))
    assert prepare_code_folder(scratch, most=250) == str(folder)
    assert cached_files(scratch) == [folder / "1", folder / "2"]
    assert prepare_code_folder(None) == ""
