"""Code that was typed on a command line is kept in few files, which only their user can read."""

from __future__ import annotations

import os
from pathlib import Path

from debugger.targets.caller_commands import TypedCode


def test_the_same_code_has_the_same_file(tmp_path: Path) -> None:
    typed = TypedCode(tmp_path / "code")
    path = typed.store("import app\n", "python-c.py")
    assert Path(path).read_text() == "import app\n"
    assert typed.store("import app\n", "python-c.py") == path
    assert typed.store("import other\n", "python-c.py") != path
    assert {os.stat(one).st_mode & 0o777 for one in (path,)} == {0o600}
    assert {one.stat().st_mode & 0o777 for one in (tmp_path / "code", Path(path).parent)} == {0o700}


def test_only_the_newest_are_kept_and_none_in_the_end(tmp_path: Path) -> None:
    typed = TypedCode(tmp_path / "code")
    paths = [Path(typed.store(f"x = {number}", "python-c.py")) for number in range(60)]
    assert 45 <= len(list((tmp_path / "code").iterdir())) <= 51
    assert paths[-1].exists()
    typed.remove_all()
    assert not (tmp_path / "code").exists()
