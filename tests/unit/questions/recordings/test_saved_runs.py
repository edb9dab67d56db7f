"""Saved runs are read back bounded, with their sources as they were."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import get_args

import pytest

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.questions.probe.answer import ProbeColumn, ProbePlace, ProbeRow
from debugger.questions.probe.probe_comparison import ProbedRun
from debugger.questions.recordings.answer import RunView
from debugger.questions.recordings.recorded_run import RecordedProgram, RecordedRun
from debugger.questions.recordings.saved_runs import SavedRunStore, saved_name
from debugger.recorders.model import (
    CallEntered,
    Event,
    LinesHit,
    RecordedFunction,
    RecordedValue,
    Recording,
)
from debugger.session.stepping import WaitLimit


@pytest.fixture
def program(tmp_path: Path) -> RecordedProgram:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "a.py").write_text("one\ntwo\n")
    launch = LaunchTarget(
        program=str(tmp_path / "shop" / "a.py"), cwd=str(tmp_path / "shop"), env={}
    )
    return RecordedProgram(words=("a.py",), launch=launch, patience=WaitLimit(1.0, asyncio.Event()))


def ran(program: RecordedProgram) -> RecordedRun:
    recording = Recording(
        functions={1: RecordedFunction(1, "main", str(program.launch.program), 1)},
        events=(CallEntered(1, 0, 1, 1, 5, 0, (RecordedValue("n", "3"),)), LinesHit(1, (1, 2))),
    )
    view = RunView(command="a.py", exit_code=0)
    return RecordedRun(recording, (recording,), view, "python")


def test_every_kind_of_event_can_be_told_from_the_others_when_it_is_read():
    tags = [one.__struct_config__.tag for one in get_args(Event)]
    assert len(set(tags)) == len(tags)
    assert None not in tags


def test_a_saved_run_is_what_it_was_with_its_sources_as_they_were(
    program: RecordedProgram, tmp_path: Path
) -> None:
    runs = SavedRunStore(tmp_path / "runs")
    said = runs.save_run("before", program, ran(program), verb="path", scope="")
    assert said == "saved as run:before: debugger path -- CMD --vs run:before"
    found = runs.load_run("before", verb="path", scope="")
    assert found.ran.recording.events == ran(program).recording.events
    assert found.changed == ()
    copy = Path(found.ran.recording.find_function(1).file)
    Path(str(program.launch.program)).write_text("other\n")
    assert copy.read_text() == "one\ntwo\n"
    assert any(copy.is_relative_to(one) for one in found.roots)
    again = runs.load_run("before", verb="path", scope="")
    assert again.changed == (program.launch.program,)
    assert "since then changed a.py" in again.ran.view.notes[0]
    assert again.ran.view.command == "run:before (a.py)"
    (listed,) = runs.list_runs().runs
    assert (listed.name, listed.verb, listed.changed) == (
        "before",
        "path",
        (program.launch.program,),
    )
    assert all(one.stat().st_mode & 0o077 == 0 for one in (tmp_path / "runs").iterdir())


def test_a_run_is_for_the_question_that_saved_it(program: RecordedProgram, tmp_path: Path) -> None:
    runs = SavedRunStore(tmp_path / "runs")
    runs.save_run("one", program, ran(program), verb="diff", scope="main")
    for verb, scope in (("path", ""), ("diff", "")):
        with pytest.raises(DebuggerError, match="saved by debugger diff --function main"):
            runs.load_run("one", verb=verb, scope=scope)
    with pytest.raises(DebuggerError, match="there is: one") as refused:
        runs.load_run("on", verb="path", scope="")
    assert refused.value.code is ErrorCode.NOT_FOUND
    runs.remove_run("one")
    assert runs.list_runs().runs == ()


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "a b", "x" * 65])
def test_a_name_that_is_none_is_refused(
    program: RecordedProgram, tmp_path: Path, name: str
) -> None:
    with pytest.raises(DebuggerError, match="is not a name for a run"):
        SavedRunStore(tmp_path / "runs").save_run(
            name, program, ran(program), verb="path", scope=""
        )
    assert not (tmp_path / "runs").exists()


def test_the_oldest_run_gives_way_and_one_that_is_too_large_is_refused(
    program: RecordedProgram, tmp_path: Path
) -> None:
    runs = SavedRunStore(tmp_path / "runs", kept_max=2)
    for name in ("a", "b", "b", "c"):
        runs.save_run(name, program, ran(program), verb="path", scope="")
    assert [one.name for one in runs.list_runs().runs] == ["b", "c"]
    small = SavedRunStore(tmp_path / "runs", bytes_max=10)
    with pytest.raises(DebuggerError, match="at most"):
        small.save_run("d", program, ran(program), verb="path", scope="")
    assert [one.name for one in runs.list_runs().runs] == ["b", "c"]


def test_a_saved_run_stands_for_a_command_by_its_prefix():
    assert saved_name(["run:before"]) == "before"
    assert saved_name(["run:before", "x"]) is None
    assert saved_name(["./run"]) is None


def test_a_run_with_probes_is_kept_with_its_rows_for_the_same_probes(
    program: RecordedProgram, tmp_path: Path
) -> None:
    runs = SavedRunStore(tmp_path / "runs")
    file = str(program.launch.program)
    place = ProbePlace("a.py:1", (ProbeColumn("n", 1),), file=file, line=1, hits=1)
    view = RunView(command="a.py", exit_code=0)
    taken = ProbedRun(view, (place,), (ProbeRow(0, 1, 0.1, ("3",)),), "recorder")
    scope = "--at a.py:1 n"
    said = runs.save_run("one", program, taken, verb="diff", scope=scope)
    assert said == "saved as run:one: debugger diff --at a.py:1 n -- CMD --vs run:one"
    Path(file).write_text("other\n")
    found = runs.load_run("one", verb="diff", scope=scope)
    assert found.probed is not None
    assert found.probed.rows == taken.rows
    assert Path(found.probed.places[0].file or "").read_text() == "one\ntwo\n"
    assert "since then changed a.py" in found.probed.view.notes[0]
    assert runs.list_runs().runs[0].verb == "diff --at a.py:1 n"
    for other in ("", "--at a.py:1 m", "main"):
        with pytest.raises(DebuggerError, match=r"saved by debugger diff --at a\.py:1 n, "):
            runs.load_run("one", verb="diff", scope=other)
