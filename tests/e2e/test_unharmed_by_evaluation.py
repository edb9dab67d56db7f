"""Evaluation in a running Python program leaves its streams and its warnings as they are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from debugger.backends import abilities, select_backend
from debugger.model.events import OutputStream
from debugger.model.program import EvaluationPurpose, ExitedProgram
from driven_backend import drive_adapter, launch_target

pytestmark = pytest.mark.adapter("debugpy")
# It prints from several threads into a full pipe, so that print() waits for its stream, and counts
# the moments in which one of its streams, or its filters of warnings, is another one.
PROGRAM = """
import sys, threading, time, warnings
streams, filters = (sys.stdout, sys.stderr), list(warnings.filters)
changed = 0
def work():
    global changed
    while not done:
        changed += (sys.stdout, sys.stderr) != streams or warnings.filters != filters
        print("x" * 2000, flush=True)
done = False
threads = [threading.Thread(target=work) for _ in range(3)]
for one in threads: one.start()
print("ready", flush=True)
while not done: time.sleep(0.01)
for one in threads: one.join()
"""
EVALUATIONS = 150


async def test_a_program_that_prints_survives_many_evaluations(
    tmp_path: Path, runtime_dir: Path
) -> None:
    file = tmp_path / "prints.py"
    file.write_text(PROGRAM)
    adapter = select_backend.ADAPTERS["debugpy"]
    found = select_backend.find_adapter(adapter, os.environ, {})
    async with drive_adapter(adapter, found, runtime_dir / "scratch") as one:
        await one.backend.start(launch_target(file))
        await one.backend.run_program()
        await one.seen.until_printed("ready", OutputStream.STDOUT)
        live = one.backend.find_ability(abilities.LiveValueAbility)
        for _ in range(EVALUATIONS):
            await one.backend.evaluate("1 + 1", None, EvaluationPurpose.EVALUATE)
            assert (await live.read_live_value("changed")).value == "0"
        await one.backend.evaluate(
            "setattr(__import__('__main__'), 'done', True)", None, EvaluationPurpose.EVALUATE
        )
        assert await one.seen.next(ExitedProgram) == ExitedProgram(0)
