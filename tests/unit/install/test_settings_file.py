"""The configuration gets a new value, and everything else stays as written."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from debugger.errors import DebuggerError, ErrorCode
from debugger.install import settings_file
from debugger.install.settings_file import with_path


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '[adapters.gdb]\npath = "/new"\n'),
        ("# mine", '# mine\n\n[adapters.gdb]\npath = "/new"\n'),
        (
            "[timeouts]\ndap_request_secs = 5 # slow\n",
            '[timeouts]\ndap_request_secs = 5 # slow\n\n[adapters.gdb]\npath = "/new"\n',
        ),
        (
            '[adapters.gdb]  # here\nargs = ["-q"]\n[output]\nmax_events = 1\n',
            '[adapters.gdb]  # here\npath = "/new"\nargs = ["-q"]\n[output]\nmax_events = 1\n',
        ),
        ('[adapters.gdb]\npath="/old"  # why\n', '[adapters.gdb]\npath = "/new"  # why\n'),
        ("[adapters.'gdb']\npath = '/old'", "[adapters.'gdb']\npath = \"/new\"\n"),
        ("[adapters.gdb]", '[adapters.gdb]\npath = "/new"\n'),
        (
            '[adapters.lldb-dap]\npath = "/l"\n',
            '[adapters.lldb-dap]\npath = "/l"\n\n[adapters.gdb]\npath = "/new"\n',
        ),
    ],
)
def test_a_path_is_added_or_replaced_and_no_comment_is_lost(before, after):
    assert with_path(before, "gdb", "/new") == after
    assert with_path(after, "gdb", "/new") == after


@pytest.mark.parametrize("path", ['/a "b"', "/ü/\\x", "/a\tb"])
def test_every_path_is_written_so_that_it_is_read(path):
    written = with_path("", "gdb", path)
    assert tomllib.loads(written) == {"adapters": {"gdb": {"path": path}}}


@pytest.mark.parametrize(
    "written",
    [
        'adapters = { gdb = { path = "/old" } }\n',
        'adapters.gdb.path = "/old"\n',
        '[adapters]\ngdb.path = "/old"\n',
        "[adapters.gdb]\ntext = '''\npath = \"/old\"\n'''\n",
    ],
)
def test_what_is_not_changed_safely_is_left_to_the_user(written):
    with pytest.raises(DebuggerError) as found:
        with_path(written, "gdb", "/new")
    assert found.value.code is ErrorCode.USAGE
    assert 'path = "/new"' in found.value.message


def test_a_broken_configuration_is_said_and_kept():
    with pytest.raises(DebuggerError, match="invalid TOML"):
        with_path("[", "gdb", "/new")


def test_the_file_is_replaced_as_a_whole_behind_its_link(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to("real")
    settings_file.write_settings(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o640
    settings_file.write_settings(tmp_path / "deep/er/config", "first")
    assert settings_file.read_settings(tmp_path / "deep/er/config") == "first"
    assert {path.name for path in tmp_path.iterdir()} == {"real", "link", "deep"}


def test_a_folder_that_cannot_be_written_to_is_said(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(DebuggerError) as found:
        settings_file.write_settings(Path(tmp_path / "file" / "config.toml"), "x")
    assert found.value.code is ErrorCode.DENIED
