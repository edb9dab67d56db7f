"""Runs that are compared line by line: the first calls, their lines and the values they name."""

from __future__ import annotations

import shutil
from collections import defaultdict
from pathlib import Path

import pytest

from debugger.model.events import OutputStream
from debugger.recorders.model import (
    CallEntered,
    LinePassed,
    LineRecording,
    Recording,
    RecordingLimits,
    ValuesChanged,
)
from debugger.recorders.python.inside.compared_lines import is_followed
from recording.recorders import PROGRAMS, PYTHONS, run_plain, run_recorded
from recording.test_rewritten import calls_in_all

EACH = {"lines": LineRecording.EACH, "line_depth": 1_000}
COMPARED = {**EACH, "is_compared": True}
FEW = RecordingLimits(each=3, lines=12, text=240)
# Before 3.11 the statement of an instruction is not known, and a stopped function not counted.
_EXACT = {name: path for name, path in PYTHONS.items() if int(name.partition(".")[2]) > 10}
every_python = pytest.mark.parametrize("python", PYTHONS.values(), ids=PYTHONS)
exact_python = pytest.mark.parametrize("python", _EXACT.values(), ids=_EXACT)


def lines_by_function(recording: Recording) -> dict[str, list[list[int]]]:
    """Return the lines of each recorded call of a function, in order."""
    found: dict[str, list[list[int]]] = defaultdict(list)
    lines: dict[int, list[int]] = {}
    for one in recording.events:
        if isinstance(one, CallEntered):
            lines[one.call] = []
            found[recording.find_function(one.function).name].append(lines[one.call])
        elif isinstance(one, LinePassed) and one.call in lines:
            lines[one.call].append(one.line)
    return found


def changes_in(recording: Recording, name: str) -> list[tuple[int, str, str | None]]:
    """Return the lines of a function's calls with what they changed."""
    found, calls, lines = [], set(), {}
    for one in recording.events:
        if isinstance(one, CallEntered) and recording.find_function(one.function).name == name:
            calls.add(one.call)
        elif isinstance(one, LinePassed) and one.call in calls:
            lines[one.call] = one.line
        elif isinstance(one, ValuesChanged) and one.call in calls:
            found += [(lines[one.call], value.name, value.text) for value in one.values]
    return found


@every_python
@pytest.mark.parametrize("limits", [RecordingLimits(each=200, lines=400), FEW], ids=["all", "few"])
async def test_the_first_calls_have_the_lines_that_they_have_in_any_recording(
    python: str, limits: RecordingLimits, tmp_path: Path
) -> None:
    for program in ("each_line.py", "raises.py", "tasks.py"):
        argv = [python, program]
        compared, full = [
            (await run_recorded(argv, PROGRAMS, tmp_path, limits=limits, **order)).recordings[0]
            for order in (COMPARED, EACH)
        ]
        found, wanted = lines_by_function(compared), lines_by_function(full)
        assert found.keys() == wanted.keys()
        for name, calls in wanted.items():
            assert min(len(calls), 3) <= len(found[name]) <= len(calls)
            for lines, every in zip(found[name], calls, strict=False):
                # A generator is left alone once its function is; its lines so far are the same.
                assert lines == every[: len(lines)], (program, name)


@exact_python
async def test_all_calls_are_counted(python: str, tmp_path: Path) -> None:
    for program in ("each_line.py", "many_calls.py", "counted_generators.py", "counted_ways.py"):
        shutil.copy(PROGRAMS / program, tmp_path / program)
        argv = [python, program]
        scratch = tmp_path / program.replace(".py", "")
        scratch.mkdir()
        runs = [
            await run_recorded(argv, tmp_path, scratch, limits=FEW, **order)
            for order in (COMPARED, EACH)
        ]
        for compared, full in zip(*(ran.recordings for ran in runs), strict=True):
            assert compared.uncounted == frozenset()
            assert calls_in_all(compared) == calls_in_all(full), program


OFTEN = """
def small(n):
    return n + 1
first = small.__code__
for n in range(1_000):
    small(n)
print(small.__code__ is first)
"""


@pytest.mark.parametrize("name", [name for name in PYTHONS if name in ("3.12", "3.13")])
async def test_code_that_is_called_often_counts_its_calls_unless_bytecode_is_read(
    name: str, tmp_path: Path
) -> None:
    for text, found in ((OFTEN, "False\n"), (f"{OFTEN}len(first.co_code)\n", "True\n")):
        (tmp_path / "often.py").write_text(text)
        (scratch := tmp_path / found.strip()).mkdir()
        argv = [PYTHONS[name], "often.py"]
        ran = await run_recorded(argv, tmp_path, scratch, limits=FEW, **COMPARED)
        assert ran.joined_output(OutputStream.STDOUT) == found
        assert calls_in_all(ran.recordings[0])["small"] == 1_000


@every_python
async def test_a_compared_program_does_what_it_does_alone(python: str, tmp_path: Path) -> None:
    for script in ("each_line.py", "constructs.py"):
        argv = [python, script]
        status, out, err = run_plain(argv, PROGRAMS)
        ran = await run_recorded(argv, PROGRAMS, tmp_path, limits=FEW, **COMPARED)
        assert ran.joined_output(OutputStream.STDOUT) == out
        assert ran.joined_output(OutputStream.STDERR) == err
        assert ran.status == status


@exact_python
async def test_a_line_has_the_values_that_its_statement_names(python: str, tmp_path: Path) -> None:
    ran = await run_recorded([python, "compared_values.py"], PROGRAMS, tmp_path, **COMPARED)
    assert changes_in(ran.recordings[0], "fill") == [
        (12, "alias", "[]"),
        (13, "untouched", "{'a': 1}"),
        (14, "shop", "Shop(items=[5], closed=False)"),
        (14, "count", "1"),
        # Of what the statement does not name a container's length is looked at.
        (14, "alias", "[5]"),
        (15, "shop", "Shop(items=[5, 6], closed=False)"),
        (15, "alias", "[5, 6]"),
        (19, "items", "[7]"),
        (20, "shop", "Shop(items=[5, 6], closed=True)"),
        (21, "count", None),
    ]


def test_fewer_calls_of_a_function_are_followed_the_more_is_recorded() -> None:
    def most(records: int) -> int:
        return next(calls for calls in range(1_000) if not is_followed(calls, records, 200))

    found = [most(records) for records in range(0, 200_000, 1_000)]
    assert found[0] == 200
    assert found == sorted(found, reverse=True)
    # The first call of a function is, however much is recorded.
    assert found[-1] == 1
