"""What is switched off for speed is recorded again where it is needed, and nothing is lost."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from debugger.recorders.model import (
    CallEntered,
    CallsMerged,
    FunctionPlace,
    LinePassed,
    LineRecording,
    LinesHit,
    Recording,
    RecordingLimits,
    ValuesChanged,
)
from recording.recorders import PROGRAMS, PYTHONS, run_plain, run_recorded
from recording.test_rewritten import calls_in_all

SOURCE = (PROGRAMS / "hot.py").read_text().splitlines()
pytestmark = pytest.mark.parametrize("python", PYTHONS.values(), ids=PYTHONS)


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(SOURCE, 1) if line.strip() == text)


def calls_of(recording: Recording, name: str) -> list[CallEntered]:
    numbers = {one.number for one in recording.functions.values() if one.name == name}
    return [
        one for one in recording.events if isinstance(one, CallEntered) and one.function in numbers
    ]


def lines_of_calls(recording: Recording, name: str) -> list[int]:
    """Count the recorded lines of each call of a function."""
    passed = [one.call for one in recording.events if isinstance(one, LinePassed)]
    return [passed.count(one.call) for one in calls_of(recording, name)]


def hit_lines(recording: Recording) -> set[int]:
    hits = (one.lines for one in recording.events if isinstance(one, LinesHit))
    return {line for lines in hits for line in lines}


async def test_calls_after_one_with_too_many_lines_have_their_lines(
    python: str, tmp_path: Path
) -> None:
    ran = await run_recorded(
        [python, "hot.py", "long"],
        PROGRAMS,
        tmp_path,
        lines=LineRecording.EACH,
        line_depth=1_000,
        limits=RecordingLimits(lines=40),
    )
    # Three rounds of three lines, the head of the loop once more, and three lines around it.
    assert lines_of_calls(ran.recordings[0], "count") == [40, 13, 13, 13], ran


async def test_all_requested_calls_are_counted_when_enough_are_recorded(
    python: str, tmp_path: Path
) -> None:
    ran = await run_recorded(
        [python, "hot.py", "many"],
        PROGRAMS,
        tmp_path,
        functions=(FunctionPlace("later"),),
        most=3,
        lines=LineRecording.EACH,
    )
    recording = ran.recordings[0]
    assert (recording.seen, recording.chosen) == (1_000, 3)
    assert lines_of_calls(recording, "later") == [3, 4, 3]


async def test_a_line_that_runs_late_in_a_counted_function_is_recorded(
    python: str, tmp_path: Path
) -> None:
    limits = RecordingLimits(each=2)
    ran = await run_recorded(
        [python, "hot.py", "many"], PROGRAMS, tmp_path, lines=LineRecording.HIT, limits=limits
    )
    recording = ran.recordings[0]
    assert line_of('return "late"') in hit_lines(recording)
    merged = {one.call: one for one in recording.events if isinstance(one, CallsMerged)}
    counted = sum(one.count for one in merged.values()) + len(calls_of(recording, "later"))
    assert counted == 1_000


async def test_a_forked_child_records_lines_and_calls_that_its_parent_had_recorded(
    python: str, tmp_path: Path
) -> None:
    ran = await run_recorded(
        [python, "hot.py", "fork"], PROGRAMS, tmp_path, lines=LineRecording.HIT
    )
    parent, child = ran.recordings
    late = {line_of('return "late"'), line_of('return "odd"'), line_of('return "even"')}
    assert late <= hit_lines(parent)
    assert late <= hit_lines(child)
    assert not calls_of(child, "wait")
    ran = await run_recorded(
        [python, "hot.py", "fork"], PROGRAMS, tmp_path, functions=(FunctionPlace("later"),), most=3
    )
    assert [(one.seen, one.chosen) for one in ran.recordings] == [(1_000, 3)] * 2


async def test_what_a_line_changes_is_recorded_where_only_some_names_are_looked_at(
    python: str, tmp_path: Path
) -> None:
    each = {"lines": LineRecording.EACH, "line_depth": 1_000}
    ran = await run_recorded([python, "line_changes.py"], PROGRAMS, tmp_path, **each)
    (call,) = calls_of(ran.recordings[0], "outer")
    changes: dict[int, list[tuple[str, str | None]]] = {}
    line = 0
    for event in ran.recordings[0].events:
        if isinstance(event, LinePassed) and event.call == call.call:
            line = event.line
        elif isinstance(event, ValuesChanged) and event.call == call.call:
            changes.setdefault(line, []).extend((one.name, one.text) for one in event.values)
    assert {name for name, _ in changes.pop(8)} == {"bind"}
    assert changes == {
        6: [("item", "<Item>"), ("total", "1000")],
        7: [("total", "1002")],
        9: [("item", "Item(compared=True)")],
        11: [("n", "7")],
        13: [("row", "[7]")],
        14: [("total", None)],
        15: [("other", "[7]")],
    }


@pytest.mark.parametrize("followed", [100, 101])  # the last one is a resumption, or a start
async def test_calls_of_generators_that_are_followed_no_more_are_counted(
    python: str, followed: int, tmp_path: Path
) -> None:
    shutil.copy(PROGRAMS / "counted_generators.py", tmp_path / "prog.py")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    limits = RecordingLimits(each=2, followed=followed)
    order = {"lines": LineRecording.EACH, "line_depth": 1_000}
    ran = await run_recorded([python, "prog.py"], tmp_path, scratch, limits=limits, **order)
    parent, child = ran.recordings
    stopped = {parent.find_function(one).name for one in parent.stopped}
    # Traced ones are followed to their end.
    assert stopped >= {"each", "wait"} or not stopped
    counted = calls_in_all(parent)
    assert (counted["each"], counted["wait"], counted["run"]) == (300, 300, 1)
    counted = calls_in_all(child)
    assert (counted["each"], counted["wait"], counted["run"]) == (40, 40, 1)
    assert parent.uncounted == child.uncounted == frozenset()
    assert len(calls_of(parent, "each")) == len(calls_of(child, "each")) == 2


async def test_lines_of_code_with_a_long_line_table_are_those_that_a_tracer_sees(
    python: str, tmp_path: Path
) -> None:
    rows = "".join(f"        {number}: 'row {number}',\n" for number in range(1_500))
    source = (PROGRAMS / "long_table.py").read_text().replace("        # rows\n", rows)
    (tmp_path / "long.py").write_text(source)
    (tmp_path / "main.py").write_text("import long\nprint(len(long.pick(9)))\n")
    (tmp_path / "traced.py").write_text(
        "import sys\nimport long\nlines = set()\n"
        "def see(frame, event, _):\n"
        "    if event == 'line' and frame.f_code is long.pick.__code__:\n"
        "        lines.add(frame.f_lineno)\n"
        "    return see\n"
        "sys.settrace(see)\nlong.pick(9)\nsys.settrace(None)\nprint(*sorted(lines))\n"
    )
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    ran = await run_recorded([python, "main.py"], tmp_path, scratch, lines=LineRecording.HIT)
    expected = run_plain([python, "traced.py"], tmp_path)[1]
    recording = ran.recordings[0]
    found = {
        line
        for one in recording.events
        if isinstance(one, LinesHit) and recording.find_function(one.function).name == "pick"
        for line in one.lines
    }
    assert found == {int(one) for one in expected.split()}
