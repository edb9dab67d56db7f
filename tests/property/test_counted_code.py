"""Code that counts its calls itself does what it did, and counts what `sys.monitoring` reports."""

from __future__ import annotations

import json
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from debugger.recorders.python import inside
from random_python import ProgramWriter
from recording.recorders import PROGRAMS, find_interpreters

PYTHONS = {name: path for name, path in find_interpreters().items() if name in ("3.12", "3.13")}


@pytest.mark.skipif(not PYTHONS, reason="no Python whose code can count its calls")
@settings(max_examples=3, deadline=None)
@given(st.lists(st.integers(0, 1 << 40), min_size=50, max_size=50))
def test_random_programs_count_the_calls_that_are_reported(seeds: list[int]) -> None:
    programs = [ProgramWriter(seed).write() for seed in seeds]
    for python in PYTHONS.values():
        ran = subprocess.run(
            [python, "count_code.py", *inside.__path__],
            cwd=PROGRAMS,
            input=json.dumps(programs),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        for program, (plain, counted) in zip(programs, json.loads(ran.stdout), strict=True):
            assert counted == plain, program
