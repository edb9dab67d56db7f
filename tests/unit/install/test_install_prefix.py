"""An adapter is installed completely or not at all."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from debuggees import program_text
from debugger.errors import DebuggerError, ErrorCode
from debugger.install.installer import open_install_prefix


def put(folder: Path, content: str) -> None:
    with open_install_prefix(folder, "one") as place:
        (place.draft / "file").write_text(content)
        place.put_in_place()
        place.keep_new()


def list_folder(folder: Path) -> dict[str, str]:
    return {
        path.name: (path / "file").read_text()
        for path in folder.iterdir()
        if path.name != ".one.lock"
    }


def test_a_draft_takes_the_place_of_what_was_there(tmp_path):
    put(tmp_path / "deep/er", "first")
    assert list_folder(tmp_path / "deep/er") == {"one": "first"}
    put(tmp_path / "deep/er", "second")
    assert list_folder(tmp_path / "deep/er") == {"one": "second"}


@pytest.mark.parametrize("is_put", [False, True])
@pytest.mark.parametrize("there", ["", "first"])
def test_a_failure_leaves_what_was_there(tmp_path, there, is_put):
    if there:
        put(tmp_path, there)
    with contextlib.suppress(ValueError), open_install_prefix(tmp_path, "one") as place:
        (place.draft / "file").write_text("second")
        if is_put:
            place.put_in_place()
            assert list_folder(tmp_path)["one"] == "second"
        raise ValueError
    assert list_folder(tmp_path) == ({"one": there} if there else {})


KILLED = program_text("counted_lines/install_prefix_killed.py")


@pytest.mark.parametrize(
    ("when", "stays"), [("before", "first"), ("between", "first"), ("after", "second")]
)
def test_what_a_killed_one_left_is_cleared_by_the_next(tmp_path, when, stays):
    put(tmp_path, "first")
    ended = subprocess.run([sys.executable, "-c", KILLED, tmp_path, when], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert set(list_folder(tmp_path)) != {"one"}  # it has left something
    with pytest.raises(ValueError, match="no"), open_install_prefix(tmp_path, "one"):
        raise ValueError("no")
    assert list_folder(tmp_path) == {"one": stays}


def test_two_at_once_are_not_for_one_adapter(tmp_path):
    with open_install_prefix(tmp_path, "one"), open_install_prefix(tmp_path, "two"):
        with pytest.raises(DebuggerError) as found, open_install_prefix(tmp_path, "one"):
            pytest.fail("two drafts of one adapter")
        assert found.value.code is ErrorCode.WRONG_STATE
    descriptor = os.open(tmp_path / ".one.lock", os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # it is free again
    os.close(descriptor)


def test_a_folder_that_cannot_be_written_to_is_said(tmp_path):
    (tmp_path / "file").touch()
    with (
        pytest.raises(DebuggerError) as found,
        open_install_prefix(tmp_path / "file" / "adapters", "one"),
    ):
        pytest.fail("a folder in a file")
    assert found.value.code is ErrorCode.DENIED
    assert "XDG_DATA_HOME" in (found.value.hint or "")
