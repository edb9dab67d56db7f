"""The runtime directory is found, made for its owner alone, or refused."""

from __future__ import annotations

import errno
import os
import pwd
import stat
from pathlib import Path
from unittest.mock import Mock

import pytest

from debugger import paths
from debugger.errors import DebuggerError, ErrorCode


def mode_of(path: str | Path) -> int:
    return stat.S_IMODE(os.lstat(path).st_mode)


@pytest.fixture
def new_runtime_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Name a runtime directory that is not there yet."""
    path = tmp_path / "own"
    monkeypatch.setenv("DEBUGGER_RUNTIME_DIR", str(path))
    return path


def test_a_directory_that_is_not_there_is_made_for_its_owner_alone(new_runtime_dir):
    assert paths.runtime_dir() == str(new_runtime_dir)
    assert mode_of(new_runtime_dir) == 0o700
    assert paths.runtime_dir() == str(new_runtime_dir)


def test_a_umask_that_would_let_others_in_changes_nothing(new_runtime_dir):
    before = os.umask(0)
    try:
        paths.runtime_dir()
    finally:
        os.umask(before)
    assert mode_of(new_runtime_dir) == 0o700


def test_a_relative_directory_is_made_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DEBUGGER_RUNTIME_DIR", "here")
    assert paths.runtime_dir() == str(tmp_path / "here")


def test_without_its_own_variable_the_users_runtime_directory_is_used(tmp_path, monkeypatch):
    monkeypatch.delenv("DEBUGGER_RUNTIME_DIR", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert paths.runtime_dir() == str(tmp_path / "debugger-cli")


@pytest.mark.parametrize("shared", [None, "", "relative", "/no/such/directory"])
def test_without_a_users_runtime_directory_it_is_one_of_its_own_in_tmp(monkeypatch, shared):
    monkeypatch.delenv("DEBUGGER_RUNTIME_DIR", raising=False)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    if shared is not None:
        monkeypatch.setenv("XDG_RUNTIME_DIR", shared)
    # Asked without making it: it is the real one.
    assert paths._configured_directory() == f"/tmp/debugger-cli-{os.getuid()}"


def test_what_is_installed_is_in_the_users_data_directory():
    assert paths.data_dir({"XDG_DATA_HOME": "/data", "HOME": "/h"}) == "/data/debugger-cli"


@pytest.mark.parametrize("shared", [{}, {"XDG_DATA_HOME": ""}, {"XDG_DATA_HOME": "relative"}])
def test_without_a_data_directory_it_is_in_the_home_directory(shared):
    assert paths.data_dir({"HOME": "/h", **shared}) == "/h/.local/share/debugger-cli"


def test_without_a_home_the_data_directory_is_the_password_databases(monkeypatch):
    monkeypatch.delenv("HOME", raising=False)
    home = pwd.getpwuid(os.getuid()).pw_dir
    assert paths.data_dir({}) == f"{home}/.local/share/debugger-cli"


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o701, 0o740, 0o710])
def test_a_directory_that_others_can_reach_into_is_refused(new_runtime_dir, mode):
    new_runtime_dir.mkdir()
    new_runtime_dir.chmod(mode)
    with pytest.raises(DebuggerError, match=f"mode {mode:04o}, not 0700") as refused:
        paths.runtime_dir()
    assert refused.value.code is ErrorCode.DENIED
    assert "DEBUGGER_RUNTIME_DIR" in refused.value.hint


def test_a_link_is_refused_wherever_it_leads(new_runtime_dir, tmp_path):
    (tmp_path / "target").mkdir(0o700)
    new_runtime_dir.symlink_to(tmp_path / "target")
    with pytest.raises(DebuggerError, match="is a symbolic link"):
        paths.runtime_dir()
    new_runtime_dir.unlink()
    new_runtime_dir.symlink_to(tmp_path / "nowhere")
    with pytest.raises(DebuggerError, match="is a symbolic link"):
        paths.runtime_dir()


def test_a_file_is_refused(new_runtime_dir):
    new_runtime_dir.touch(0o600)
    with pytest.raises(DebuggerError, match="is not a directory"):
        paths.runtime_dir()


def test_another_users_directory_is_refused(new_runtime_dir, monkeypatch):
    new_runtime_dir.mkdir(0o700)
    monkeypatch.setattr(os, "getuid", lambda: new_runtime_dir.stat().st_uid + 1)
    with pytest.raises(DebuggerError, match=r"belongs to another user \(uid \d+\)"):
        paths.runtime_dir()


def test_a_directory_that_cannot_be_made_is_an_error_that_says_why(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("DEBUGGER_RUNTIME_DIR", str(tmp_path / "file" / "below"))
    with pytest.raises(DebuggerError, match="Not a directory") as refused:
        paths.runtime_dir()
    assert refused.value.code is ErrorCode.DENIED


def test_a_private_file_is_its_owners_alone_and_never_at_the_end_of_a_link(tmp_path):
    path = tmp_path / "file"
    os.close(paths.open_private(str(path), os.O_WRONLY))
    assert mode_of(path) == 0o600
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(OSError, match="symbolic link"):
        paths.open_private(str(tmp_path / "link"), os.O_WRONLY)


def test_a_file_is_replaced_as_a_whole(tmp_path):
    path = tmp_path / "file"
    paths.write_private(str(path), b"a longer old content")
    with path.open("rb") as before:
        paths.write_private(str(path), b"new")
        assert before.read() == b"a longer old content"
    assert path.read_bytes() == b"new"
    assert mode_of(path) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_written_stays_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    monkeypatch.setattr(os, "replace", Mock(side_effect=full))
    with pytest.raises(OSError, match="No space left"):
        paths.write_private(str(path), b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_not_there_is_as_good_as_removed(tmp_path):
    (tmp_path / "file").touch()
    for _ in range(2):
        paths.remove_file(str(tmp_path / "file"))
    assert not any(tmp_path.iterdir())


def test_the_tail_of_a_log_is_its_last_lines_after_a_place(tmp_path):
    path = tmp_path / "log"
    assert paths.log_tail(str(path), lines=3) == []
    path.write_bytes(b"1\n2\n3\n\xff\n5\n")
    assert paths.log_tail(str(path), lines=3) == ["3", "\ufffd", "5"]
    assert paths.log_tail(str(path), lines=99, since=4) == ["3", "\ufffd", "5"]
    assert paths.log_tail(str(path), lines=99, since=1000) == []


def test_the_tail_of_a_log_of_one_endless_line_stays_small(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"x" * (1 << 20))
    assert len("".join(paths.log_tail(str(path), lines=2))) == 800
