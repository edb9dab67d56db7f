"""Only its owner reads a timeline's file, and nothing of it outlives the daemon."""

from __future__ import annotations

import resource
import sqlite3
import stat
import subprocess
import sys

import pytest

from debugger.model.events import EventKind
from debugger.model.program import CallEvent
from debugger.session.timeline import Timeline, remove_abandoned


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_what_is_stored_is_its_owners_alone_and_goes_with_the_timeline(tmp_path):
    folder = tmp_path / "timelines"
    timeline = Timeline(folder=folder)
    timeline.append(EventKind.STOP, session="s")
    timeline.append_passages([CallEvent("f", 1, 1, "f()")], session="s")
    assert timeline.events().total == 2
    found = files(folder)
    assert found
    assert {stat.S_IMODE(path.stat().st_mode) for path in found} == {0o600}
    assert {stat.S_IMODE(path.parent.stat().st_mode) for path in found} == {0o700}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    timeline.close()
    assert list(tmp_path.iterdir()) == []


def test_each_timeline_has_a_folder_of_its_own(tmp_path):
    one, other = Timeline(folder=tmp_path / "t"), Timeline(folder=tmp_path / "t")
    one.append(EventKind.STOP, session="s")
    assert other.events().total == 0
    one.close()
    other.append(EventKind.STOP, session="s")
    assert other.events().total == 1
    other.close()


@pytest.mark.parametrize("room", [0, 4096])
def test_a_timeline_for_which_there_is_no_room_leaves_nothing(tmp_path, room):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        with pytest.raises(sqlite3.OperationalError):
            Timeline(folder=tmp_path / "timelines")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(tmp_path.iterdir()) == []


DIES = """
import os, sys
from pathlib import Path
from debugger.model.events import EventKind
from debugger.session.timeline import Timeline
timeline = Timeline(folder=Path(sys.argv[1]))
timeline.append(EventKind.STOP, session="s")
timeline.events()
os.kill(os.getpid(), 9)
"""


def test_what_a_dead_daemon_left_is_removed_and_what_lives_stays(tmp_path):
    folder = tmp_path / "timelines"
    subprocess.run([sys.executable, "-c", DIES, folder], timeout=30, check=False)
    assert files(folder)
    left = set(folder.iterdir())
    living = Timeline(folder=folder)
    remove_abandoned(folder)
    assert len(set(folder.iterdir()) - left) == 1
    assert not left & set(folder.iterdir())
    living.append(EventKind.STOP, session="s")
    assert living.events().total == 1
    living.close()
    assert not folder.exists()
    remove_abandoned(folder)
