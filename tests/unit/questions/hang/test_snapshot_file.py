"""The file into which a process writes where its threads are."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from debugger.questions.hang.python_waits import find_memory_folder, make_writable
from debugger.system.process_info import read_owner

NOBODY = 65534
WRITE = "import sys; open(sys.argv[1], 'w').write('here')"


@pytest.fixture
def path() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "snapshot.json"


def test_a_process_of_our_own_user_creates_it(path):
    assert read_owner(os.getpid()) == os.geteuid()
    assert make_writable(path, os.getpid()) == path
    assert not path.exists()
    assert make_writable(path, None) == path


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser enters processes of others")
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv is missing")
def test_a_process_of_another_user_may_write_it_and_replace_nothing(path):
    other = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    with subprocess.Popen(
        [*other, "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b"x")
        process.stdin.flush()
        process.stdout.read(1)  # it has become another user's by now
        make_writable(path, process.pid)
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable
    subprocess.run([*other, python, "-c", WRITE, str(path)], check=True)
    assert path.read_text() == "here"
    removing = [*other, "rm", "-f", str(path)]
    assert subprocess.run(removing, check=False, capture_output=True).returncode != 0


def test_without_space_in_memory_a_disk_is_used(tmp_path, monkeypatch):
    folder = str(tmp_path)
    assert find_memory_folder(str(tmp_path / "none")) is None
    for free, found in ((1 << 30, folder), (0, None)):
        space = os.statvfs_result((1, 1, 0, 0, free, 0, 0, 0, 0, 255))
        monkeypatch.setattr(os, "statvfs", lambda _, space=space: space)
        assert find_memory_folder(folder) == found
