"""Calls that the program's code numbers itself are found and recorded as those that are traced."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from debuggees import find_marker
from debugger.recorders.model import OriginOrder, RecordingNote
from recording.recorders import PROGRAMS, PYTHONS, run_plain, run_recorded

PROGRAM = PROGRAMS / "numbered.py"
FAILS = PROGRAMS / "numbered_crash.py"
AT_LAST = {"expression": "total", "line": find_marker(PROGRAM, "last")}
AT_WHILE = {"expression": "total", "line": find_marker(PROGRAM, "while")}
AT_PRINT = {"expression": "total", "line": find_marker(PROGRAM, "print")}
AT_ENTRY = {"expression": "self.items", "name": "put"}
IMPORTS = PROGRAMS / "numbered_imports.py"
AT_END = {"expression": "rows['c']", "line": find_marker(IMPORTS, "end"), "file": IMPORTS.name}
AT_CRASH = {"expression": "self.sum", "event": "crash", "file": FAILS.name}
FEW, SOME = {"statements": 60}, {"statements": 900}
WINDOW = {**SOME, "windows": ((1_500, 1_560), (2_300, 9_000)), "frames": (1, 7, 1_550)}

VERSIONS = [one for one in ("3.11", "3.12", "3.13") if one in PYTHONS]


async def record(
    version: str, scratch: Path, order: dict[str, Any], *words: str, is_traced: bool = False
) -> dict[str, Any]:
    """Return the notes of a recording; an interactive interpreter's calls are traced."""
    file = order.get("file", PROGRAM.name)
    argv = [PYTHONS[version], *(["-i"] if is_traced else []), file, *words]
    origin = OriginOrder(**{"file": file, **order})
    ran = await run_recorded(argv, PROGRAMS, scratch, origin=origin)
    found: dict[str, Any] = {"output": ran.output_lines()[0]}
    for note in ran.recordings[0].events:
        if not isinstance(note, RecordingNote):
            continue
        text = re.sub(r" #\d+", "", note.text)  # objects are numbered as they come
        found[note.kind] = json.loads(text) if text.startswith("{") else text
    located = found.get("located", {})
    located.pop("ns", None)
    # Where calls are only counted, a generator that goes on is not seen.
    located["unrecorded"] = bool(located.get("unrecorded"))
    return found


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "order",
    [
        {**AT_LAST},
        {**AT_LAST, **FEW},
        {**AT_LAST, **SOME},
        {**AT_LAST, **WINDOW},
        {**AT_LAST, **WINDOW, "names": ("SEEN", "items")},
        {**AT_WHILE, **FEW, "nth": 3},
        {**AT_WHILE, **FEW, "nth": -1},
        {**AT_PRINT, **SOME, "when": "len(last) > 2"},
        {**AT_ENTRY, **FEW, "nth": 40},
        {**AT_ENTRY, **SOME, "nth": -1},
        {**AT_END},
        {**AT_END, "import_statements": 9},
        {**AT_END, "import_statements": 9, "frames": (1, 2)},
        {**AT_END, "import_statements": 9, "windows": ((5, 900),), "frames": (1, 80)},
        {**AT_END, **FEW, "frames": (1, 70, 80), "names": ("value", "result")},
        {**AT_CRASH},
        {**AT_CRASH, **FEW},
        {**AT_CRASH, **SOME, "windows": ((1_300, 9_000),), "frames": (1, 2)},
        {**AT_CRASH, **FEW, "names": ("amount", "sum")},
    ],
    ids=str,
)
async def test_a_run_with_numbered_calls_records_what_a_traced_one_does(
    version: str, order: dict[str, Any], tmp_path: Path
) -> None:
    numbered = await record(version, tmp_path, order)
    traced = await record(version, tmp_path, order, is_traced=True)
    assert "fault" not in numbered
    # Calls of libraries count in portions, in which some of ours may be.
    spent = [one.get("located", {}).pop("statements", 0) for one in (numbered, traced)]
    assert abs(spent[0] - spent[1]) <= 2
    assert numbered == traced


THREADS = """
from threading import Thread
seen = []
def work(number):
    seen.append(number)
for number in (1, 2):
    one = Thread(target=work, args=(number,), name=f"worker {number}")
    one.start()
    one.join()
print(seen[1])
"""


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_thread_is_not_taken_for_one_that_ended_before_it(
    version: str, tmp_path: Path
) -> None:
    # The system gives the identity of an ended thread again.
    (tmp_path / "run.py").write_text(THREADS)
    origin = OriginOrder("seen[1]", file="run.py", line=10)
    scratch = tmp_path / "out"
    scratch.mkdir()
    ran = await run_recorded([PYTHONS[version], "run.py"], tmp_path, scratch, origin=origin)
    recording = ran.recordings[0]
    notes = {one.kind: one.text for one in recording.events if isinstance(one, RecordingNote)}
    threads = {one["thread"] for one in json.loads(notes["origin"])["links"]}
    assert {recording.threads[one] for one in threads} == {"worker 2"}


LIBRARY = """
import json
def write(count):
    return sum(len(json.dumps([one], indent=1)) for one in range(count))
def show(total):
    print(total)
show(write(3_000))
"""


@pytest.mark.parametrize("is_traced", [False, True])
@pytest.mark.parametrize("version", VERSIONS)
async def test_a_window_ends_in_which_libraries_run_and_no_statement_begins(
    version: str, tmp_path: Path, *, is_traced: bool
) -> None:
    (tmp_path / "run.py").write_text(LIBRARY)
    origin = OriginOrder("total", file="run.py", line=6, statements=60)
    scratch = tmp_path / "out"
    scratch.mkdir()
    argv = [PYTHONS[version], *(["-i"] if is_traced else []), "run.py"]
    ran = await run_recorded(argv, tmp_path, scratch, origin=origin)
    notes = (one for one in ran.recordings[0].events if isinstance(one, RecordingNote))
    located = next(json.loads(one.text) for one in notes if one.kind == "located")
    assert (located["calls"], located["unrecorded"], located["statements"] < 60) == (3, 1, True)


@pytest.mark.parametrize("version", VERSIONS)
async def test_the_last_of_many_exceptions_is_looked_at_where_its_number_is_known(
    version: str, tmp_path: Path
) -> None:
    order = {**AT_CRASH, **FEW}
    first = await record(version, tmp_path, order, "1200")
    # Those that leave recorded calls are not counted.
    assert (int(first["counted"]) > 390, "origin" in first) == (True, False)
    second = await record(version, tmp_path, {**order, "nth": int(first["counted"])}, "1200")
    assert second["origin"]["value"] == "2000"


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_program_does_what_it_does_alone(version: str, tmp_path: Path) -> None:
    # In a module and a class of 3.12 the interpreter itself would change comprehensions.
    argv = [PYTHONS[version], "each_line.py"]
    origin = OriginOrder("early", event="crash")
    ran = await run_recorded(argv, PROGRAMS, tmp_path, origin=origin)
    plain = await asyncio.to_thread(run_plain, argv, PROGRAMS)
    assert ran.status == plain[0] == 0
    assert list(ran.output_lines()) == "".join(plain[1:]).splitlines()
