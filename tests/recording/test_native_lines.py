"""The lines of a native program are recorded in all its threads and forked processes."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from pathlib import Path

import pytest

from debuggees import build_debuggee, find_marker
from debugger.errors import DebuggerError
from debugger.recorders.model import LinesHit
from debugger.recorders.native.line_recorder import RANK_WORDS, NativeLineRecorder, NativeLines
from debugger.recorders.recorded_process import CompletedRun, record_run


def recorded_run(program: Path, *arguments: str) -> CompletedRun:
    recorder = NativeLineRecorder(NativeLines(str(program), str(program.parent)))
    words = recorder.command_line([str(program), *arguments])
    return asyncio.run(
        record_run(words, recorder, cwd=str(program.parent), env=dict(os.environ), timeout_s=30)
    )


def recorded_lines(ran: CompletedRun) -> dict[str, set[int]]:
    """Return the lines of each function."""
    [recording] = ran.recordings
    return {
        recording.functions[one.function].name: set(one.lines)
        for one in recording.events
        if isinstance(one, LinesHit)
    }


def test_the_lines_of_threads_and_of_a_forked_process_are_recorded() -> None:
    ran = recorded_run(build_debuggee("spectrum/forked.c"))
    assert ran.status == 7
    lines = recorded_lines(ran)
    assert lines["doubled"] == {6, 7, 8}
    assert find_marker("spectrum/forked.c", "in-child") in lines["main"]
    assert find_marker("spectrum/forked.c", "aborts") not in lines["main"]


@pytest.mark.parametrize("flag", ["-no-pie", "-static"])
def test_a_program_that_is_not_moved_when_it_is_loaded_is_recorded(
    tmp_path: Path, flag: str
) -> None:
    source = tmp_path / "half.c"
    source.write_text(
        "int half(int n)\n{\n    return n / 2;\n}\nint main(void)\n{\n    return half(14);\n}\n"
    )
    program = tmp_path / "half"
    subprocess.run(["gcc", "-g", flag, "-o", program, source], check=True, timeout=60)
    ran = recorded_run(program)
    assert ran.status == 7
    assert recorded_lines(ran)["half"] == {2, 3, 4}


def test_a_recorded_program_ends_as_it_does_alone() -> None:
    ran = recorded_run(build_debuggee("spectrum/forked.c"), "more")
    assert (ran.status, ran.signal) == (None, signal.SIGABRT)
    aborts = find_marker("spectrum/forked.c", "aborts")
    assert aborts in recorded_lines(ran)["main"]


def test_a_program_without_lines_of_its_own_is_refused(tmp_path: Path) -> None:
    program = build_debuggee("spectrum/forked.c", debug=False)
    with pytest.raises(DebuggerError, match="has no debug information of sources of its own"):
        NativeLines(str(program), str(tmp_path))


def test_forked_processes_are_recordings_of_their_own_with_all_their_lines() -> None:
    program = build_debuggee("groups/branching.c")
    lines = NativeLines(str(program), str(program.parent))
    recorder = NativeLineRecorder(lines, is_each=True)
    words = [*RANK_WORDS, str(program)]
    folder, env = str(program.parent), dict(os.environ)
    ran = asyncio.run(record_run(words, recorder, cwd=folder, env=env, timeout_s=30))
    assert (ran.status, len(ran.recordings)) == (0, 4)
    assert [one.process.is_fork for one in ran.recordings] == [False, True, True, True]
    odd = find_marker("groups/branching.c", "odd")
    per_process = [
        {one.functions[each.function].name: {*each.lines} for each in one.events
         if isinstance(each, LinesHit)}
        for one in ran.recordings
    ]  # fmt: skip
    # What the first has run already runs in the others, too.
    assert [len(one["work"] - {odd}) for one in per_process] == [len(per_process[0]["work"])] * 4
    assert sum(odd in one["work"] for one in per_process) == 1
