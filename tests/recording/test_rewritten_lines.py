"""Each line of rewritten code is recorded as that of traced code is (CPython 3.11)."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from debugger.model.events import OutputStream
from debugger.recorders.model import (
    CallEntered,
    CallRaised,
    CallReturned,
    LinePassed,
    LineRecording,
    LinesSkipped,
    Recording,
    RecordingLimits,
    ValuesChanged,
)
from recording.recorders import PROGRAMS, run_plain, run_recorded
from recording.test_rewritten import PYTHON, TRACED, calls_in_all, notes_of

pytestmark = pytest.mark.skipif(not PYTHON, reason="rewritten for 3.11 alone")
EACH = {"lines": LineRecording.EACH, "line_depth": 1_000}
FEW = RecordingLimits(each=3, lines=12, text=240)


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    made = tmp_path / "scratch"
    made.mkdir()
    return made


def describe_calls(recording: Recording) -> dict[str, list[list[object]]]:
    """Return what is recorded of each call of a function, in order, without times and numbers."""
    found: dict[str, list[list[object]]] = defaultdict(list)
    calls: dict[int, list[object]] = {}
    for one in recording.events:
        match one:
            case CallEntered():
                function = recording.find_function(one.function)
                if function.file == "<string>":  # what runs the traced script
                    continue
                values = tuple((value.name, value.text) for value in one.arguments)
                is_known = one.parent in calls
                calls[one.call] = [("call", values, is_known and one.line)]
                found[function.name].append(calls[one.call])
            case LinePassed() if one.call in calls:
                calls[one.call].append(one.line)
            case ValuesChanged() if one.call in calls:
                calls[one.call] += [(value.name, value.text) for value in one.values]
            case LinesSkipped() if one.call in calls:
                calls[one.call].append(("skipped", one.lines))
            case CallReturned() if one.call in calls:
                calls[one.call].append(("return", one.value))
            case CallRaised() if one.call in calls:
                calls[one.call].append(("raise", one.exception_text, one.line))
    return found


async def record_both(
    script: str, scratch: Path, *arguments: str, limits: RecordingLimits
) -> list[tuple[Recording, ...]]:
    """Record a script by rewritten code, and traced."""
    words = [script, *arguments]
    traced = TRACED.format(str(PROGRAMS), words, script)
    runs = [
        await run_recorded([PYTHON, *one], PROGRAMS, scratch, limits=limits, **EACH)
        for one in (words, ["-c", traced])
    ]
    for recording in runs[0].recordings:
        assert notes_of(recording) == []
    return [ran.recordings for ran in runs]


@pytest.mark.parametrize(
    "program",
    ["constructs", "raises", "tasks", "account", "changes_in_place", "line_changes", "each_line"],
)
@pytest.mark.parametrize("limits", [RecordingLimits(each=200, lines=400), FEW], ids=["all", "few"])
async def test_each_line_is_recorded_as_if_it_was_traced(
    program: str, limits: RecordingLimits, scratch: Path
) -> None:
    (rewritten,), (traced,) = await record_both(f"{program}.py", scratch, limits=limits)
    found, wanted = describe_calls(rewritten), describe_calls(traced)
    assert found.keys() == wanted.keys()
    for name, calls in wanted.items():
        # The texts of a thread have numbers of the run.
        assert found[name] == calls or name == "run_thread"
    # Of the traced run also those of what runs the script.
    counted, traced_counts = calls_in_all(rewritten), calls_in_all(traced)
    assert counted.keys() == wanted.keys()
    assert all(counted[one] == traced_counts[one] for one in wanted if one != "<module>")


async def test_a_forked_child_records_its_own_first_calls(scratch: Path) -> None:
    both = await record_both("each_line.py", scratch, "fork", limits=FEW)
    (_, child), (_, traced) = both
    assert describe_calls(child) == describe_calls(traced)
    assert len(describe_calls(child)["deep"]) == FEW.each


async def test_lines_of_the_first_calls_are_recorded_when_later_ones_are_followed_no_more(
    scratch: Path,
) -> None:
    limits = RecordingLimits(each=3, lines=12, followed=20)
    ran = await run_recorded([PYTHON, "each_line.py"], PROGRAMS, scratch, limits=limits, **EACH)
    (recording,) = ran.recordings
    assert {"deep", "fail", "one_line"} <= {
        recording.find_function(one).name for one in recording.stopped
    }
    calls = describe_calls(recording)
    assert [len(calls[name]) for name in ("deep", "fail", "one_line", "pairs")] == [3] * 4
    # The outermost calls end long after the function has other code.
    assert [one[-2:] for one in calls["deep"]] == [
        [18, ("return", str(n + 1))] for n in (400, 399, 398)
    ]
    counted = calls_in_all(recording)
    assert (counted["deep"], counted["fail"], counted["one_line"]) == (401, 40, 120)


async def test_a_program_whose_lines_are_recorded_does_what_it_does_alone(scratch: Path) -> None:
    for script in ("each_line.py", "constructs.py"):
        argv = [PYTHON, script]
        status, out, err = run_plain(argv, PROGRAMS)
        ran = await run_recorded(argv, PROGRAMS, scratch, limits=FEW, **EACH)
        assert ran.joined_output(OutputStream.STDOUT) == out
        assert ran.joined_output(OutputStream.STDERR) == err
        assert ran.status == status
