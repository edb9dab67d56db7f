"""A shim of pyenv, rbenv and their like stands for the program that its manager chooses."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugger.targets.launch_target import find_behind_shim

SHIM = '#!/usr/bin/env bash\nprogram="${{0##*/}}"\nexec "{}" exec "$program" "$@"\n'
MANAGER = '#!/bin/sh\n[ "$1 $2 $PICKED" = "which pytest yes" ] && echo "$PWD/bin/pytest"\n'


@pytest.fixture
def shim(tmp_path: Path) -> Path:
    for name in ("shims", "libexec", "bin"):
        (tmp_path / name).mkdir()
    manager = tmp_path / "libexec" / "pyenv"
    for file, text in (
        (manager, MANAGER),
        (tmp_path / "shims" / "pytest", SHIM.format(manager)),
        (tmp_path / "bin" / "pytest", "#!/usr/bin/python3\n"),
    ):
        file.write_text(text)
        file.chmod(0o755)
    return tmp_path / "shims" / "pytest"


def test_the_managers_program_is_found_in_the_callers_directory_and_environment(
    shim: Path, tmp_path: Path
) -> None:
    found = find_behind_shim(str(shim), str(tmp_path), {"PICKED": "yes", "PATH": "/bin:/usr/bin"})
    assert found == str(tmp_path / "bin" / "pytest")


def test_a_shim_whose_manager_names_no_file_stays(shim: Path, tmp_path: Path) -> None:
    assert find_behind_shim(str(shim), str(tmp_path), {"PATH": "/bin"}) == str(shim)


def test_a_script_elsewhere_is_not_read(shim: Path, tmp_path: Path) -> None:
    other = tmp_path / "bin" / "pytest"
    other.write_text(shim.read_text())
    assert find_behind_shim(str(other), str(tmp_path), {"PICKED": "yes"}) == str(other)
