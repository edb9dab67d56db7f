"""Are saved runs read as they were written, bounded, and of their sources as they were?"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import get_args

import pytest

from debugger.backends.base import Launch
from debugger.core import answers
from debugger.errors import Code, DebuggerError
from debugger.questions import saved as module
from debugger.questions.probing.differing import Taken
from debugger.questions.recorded import Program, Recorded
from debugger.questions.saved import SavedRuns, meant
from debugger.recording.model import Entered, Event, Function, Hit, Recording, Value
from debugger.session.stepping import Patience


@pytest.fixture
def program(tmp_path: Path) -> Program:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "a.py").write_text("one\ntwo\n")
    launch = Launch(program=str(tmp_path / "shop" / "a.py"), cwd=str(tmp_path / "shop"), env={})
    return Program(words=("a.py",), launch=launch, patience=Patience(1.0, asyncio.Event()))


def ran(program: Program) -> Recorded:
    recording = Recording(
        functions={1: Function(1, "main", str(program.launch.program), 1)},
        events=(Entered(1, 0, 1, 1, 5, 0, (Value("n", "3"),)), Hit(1, (1, 2))),
    )
    view = answers.RunView(command="a.py", exit_code=0)
    return Recorded(recording, (recording,), view, "python")


def test_every_kind_of_event_can_be_told_from_the_others_when_it_is_read():
    tags = [one.__struct_config__.tag for one in get_args(Event)]
    assert len(set(tags)) == len(tags)
    assert None not in tags


def test_a_saved_run_is_what_it_was_with_its_sources_as_they_were(
    program: Program, tmp_path: Path
) -> None:
    runs = SavedRuns(tmp_path / "runs")
    said = runs.save("before", program, ran(program), verb="path", scope="")
    assert said == "saved as run:before: debugger path -- CMD --vs run:before"
    found = runs.load("before", verb="path", scope="")
    assert found.ran.recording.events == ran(program).recording.events
    assert found.changed == ()
    copy = Path(found.ran.recording.function(1).file)
    Path(str(program.launch.program)).write_text("other\n")
    assert copy.read_text() == "one\ntwo\n"
    assert any(copy.is_relative_to(one) for one in found.roots)
    again = runs.load("before", verb="path", scope="")
    assert again.changed == (program.launch.program,)
    assert "since then changed a.py" in again.ran.view.notes[0]
    assert again.ran.view.command == "run:before (a.py)"
    (listed,) = runs.listed().runs
    assert (listed.name, listed.verb, listed.changed) == (
        "before",
        "path",
        (program.launch.program,),
    )
    assert all(one.stat().st_mode & 0o077 == 0 for one in (tmp_path / "runs").iterdir())


def test_a_run_is_for_the_question_that_saved_it(program: Program, tmp_path: Path) -> None:
    runs = SavedRuns(tmp_path / "runs")
    runs.save("one", program, ran(program), verb="diff", scope="main")
    for verb, scope in (("path", ""), ("diff", "")):
        with pytest.raises(DebuggerError, match="saved by debugger diff --function main"):
            runs.load("one", verb=verb, scope=scope)
    with pytest.raises(DebuggerError, match="there is: one") as refused:
        runs.load("on", verb="path", scope="")
    assert refused.value.code is Code.NOT_FOUND
    runs.remove("one")
    assert runs.listed().runs == ()


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "a b", "x" * 65])
def test_a_name_that_is_none_is_refused(program: Program, tmp_path: Path, name: str) -> None:
    with pytest.raises(DebuggerError, match="is no name for a run"):
        SavedRuns(tmp_path / "runs").save(name, program, ran(program), verb="path", scope="")
    assert not (tmp_path / "runs").exists()


def test_the_oldest_run_gives_way_and_one_that_is_too_large_is_refused(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "KEPT_MAX", 2)
    runs = SavedRuns(tmp_path / "runs")
    for name in ("a", "b", "b", "c"):
        runs.save(name, program, ran(program), verb="path", scope="")
    assert [one.name for one in runs.listed().runs] == ["b", "c"]
    monkeypatch.setattr(module, "_RUN_MAX", 10)
    with pytest.raises(DebuggerError, match="at most"):
        runs.save("d", program, ran(program), verb="path", scope="")
    assert [one.name for one in runs.listed().runs] == ["b", "c"]


def test_a_saved_run_stands_for_a_command_by_its_prefix():
    assert meant(["run:before"]) == "before"
    assert meant(["run:before", "x"]) is None
    assert meant(["./run"]) is None


def test_a_run_with_probes_is_kept_with_its_rows_for_the_same_probes(
    program: Program, tmp_path: Path
) -> None:
    runs = SavedRuns(tmp_path / "runs")
    file = str(program.launch.program)
    place = answers.ProbePlace("a.py:1", (answers.ProbeColumn("n", 1),), file=file, line=1, hits=1)
    view = answers.RunView(command="a.py", exit_code=0)
    taken = Taken(view, (place,), (answers.ProbeRow(0, 1, 0.1, ("3",)),), "recorder")
    scope = "--at a.py:1 n"
    said = runs.save("one", program, taken, verb="diff", scope=scope)
    assert said == "saved as run:one: debugger diff --at a.py:1 n -- CMD --vs run:one"
    Path(file).write_text("other\n")
    found = runs.load("one", verb="diff", scope=scope)
    assert found.probed is not None
    assert found.probed.rows == taken.rows
    assert Path(found.probed.places[0].file or "").read_text() == "one\ntwo\n"
    assert "since then changed a.py" in found.probed.view.notes[0]
    assert runs.listed().runs[0].verb == "diff --at a.py:1 n"
    for other in ("", "--at a.py:1 m", "main"):
        with pytest.raises(DebuggerError, match=r"saved by debugger diff --at a\.py:1 n, "):
            runs.load("one", verb="diff", scope=other)
