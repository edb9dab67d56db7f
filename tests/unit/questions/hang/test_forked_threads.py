"""A process that was forked knows the kernel's number of its thread."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from debugger.questions.hang.inside import locks, snapshot, tasks

FORKED = Path(__file__).parents[3] / "programs" / "hang" / "forked_snapshot.py"


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_the_main_thread_of_a_forked_process_has_the_processs_number():
    files = [str(one.__file__) for one in (locks, tasks, snapshot)]
    command = [sys.executable, FORKED, *files]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    text, _, pid = found.strip().rpartition(" ")
    (main,) = [one for one in json.loads(text)["threads"] if one["is_main"]]
    assert main["native"] == int(pid) != os.getpid()
