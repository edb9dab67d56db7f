"""What a run says of itself while it is recorded."""

import asyncio
import sys
from pathlib import Path

from debugger.model.command_registry import Activity, begin_activity
from debugger.recorders.recorded_process import RecordCounter
from recording.recorders import run_recorded

FILLER = b"\0" * 100
# It ends once the test has seen what it recorded.
PROGRAM = """
import pathlib, time
def double(n):
    return 2 * n
double(4)
print("ready", flush=True)
while not pathlib.Path("seen").exists():
    time.sleep(0.02)
"""


def test_records_are_counted_once_each_in_the_files_of_all_processes(tmp_path):
    counter = RecordCounter(tmp_path)
    assert counter.count() == 0
    (tmp_path / "1.jsonl").write_bytes(b"[1]\n[2]\n[3" + FILLER)
    assert counter.count() == 2
    (tmp_path / "1.jsonl").write_bytes(b"[1]\n[2]\n[3]\n" + FILLER)
    (tmp_path / "2.jsonl").write_bytes(b"[1]\n" + FILLER)
    assert (counter.count(), counter.count()) == (4, 4)


def test_a_folder_that_is_not_there_has_no_records(tmp_path):
    assert RecordCounter(tmp_path / "none").count() == 0


async def test_a_run_says_its_command_and_what_came_of_it_and_nothing_once_it_is_over(
    tmp_path,
):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    (tmp_path / "prog.py").write_text(PROGRAM)
    activity = Activity()
    begin_activity(activity)
    assert activity.describe() == ""
    running = asyncio.create_task(run_recorded([sys.executable, "prog.py"], tmp_path, scratch))
    async with asyncio.timeout(60):
        while "6 characters printed" not in activity.describe():
            await asyncio.sleep(0.02)
    said = activity.describe()
    (tmp_path / "seen").touch()
    await running
    assert said.startswith(f"{Path(sys.executable).name} prog.py, ")
    assert " records, " in said
    assert activity.describe() == ""
