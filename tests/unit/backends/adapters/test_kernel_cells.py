"""The cells of a Jupyter kernel are files while a debugger is attached, and gone afterwards."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from debugger.backends.adapters.debugpy.kernel_cells import (
    CellFiles,
    change_step_after,
    is_kernels,
)
from debugger.session.source_files import find_cell


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "ipykernel_1"


def test_a_cell_has_a_file_of_its_number_and_one_of_its_code_name(folder: Path):
    files = CellFiles(folder)
    name = str(folder / "123.py")
    files.add_cell(name, 4, ["x = 1\n", "y\n"])
    shown = folder / "cell4.py"
    assert shown.read_text() == Path(name).read_text() == "x = 1\ny\n"
    assert (files.file_of(name), files.name_of(str(shown))) == (str(shown), name)
    files.remove_all()
    assert not folder.exists()


def test_a_cell_that_runs_again_keeps_its_first_file(folder: Path):
    files = CellFiles(folder)
    name = str(folder / "123.py")
    for number in (1, 1, 3):
        files.add_cell(name, number, ["x\n"])
    assert files.file_of(name) == str(folder / "cell1.py")
    assert find_cell("cell3.py", [str(folder)]) == str(folder / "cell1.py")
    files.remove_all()
    assert not folder.exists()


def test_a_number_that_is_taken_again_stands_for_the_last_cell(folder: Path):
    # A cell that keeps no history has the number of the next one.
    files = CellFiles(folder)
    first, second = (str(folder / f"{one}.py") for one in (1, 2))
    files.add_cell(first, 1, ["silent\n"])
    files.add_cell(second, 1, ["x\n"])
    assert (folder / "cell1.py").read_text() == "x\n"
    assert (files.file_of(first), files.file_of(second)) == (None, str(folder / "cell1.py"))


def test_what_was_there_before_stays(folder: Path):
    folder.mkdir()
    # The kernel's own debugger has written this cell (`dumpCell`).
    (folder / "123.py").write_text("x\n")
    files = CellFiles(folder)
    files.add_cell(str(folder / "123.py"), 1, ["x\n"])
    files.remove_all()
    assert [one.name for one in folder.iterdir()] == ["123.py"]


def test_cells_that_share_one_name_are_left_alone(folder: Path):
    files = CellFiles(folder)
    files.add_cell("my_cell.py", 1, ["x\n"])  # IPYKERNEL_CELL_NAME
    assert not folder.exists()


def test_a_cell_is_found_in_a_kernels_folder_only(folder: Path):
    assert find_cell("cell1.py", [str(folder.parent)]) is None
    assert find_cell("cells.py", [str(folder)]) is None
    assert find_cell("cell1.py", ["/w", str(folder)]) == str(folder / "cell1.py")


@pytest.mark.parametrize(
    ("file", "is_one"),
    [
        ("/v/site-packages/IPython/core/interactiveshell.py", True),
        ("/v/site-packages/ipykernel/zmqshell.py", True),
        ("/tmp/ipykernel_12/345.py", False),
        ("/home/me/ipython/core.py", False),
    ],
)
def test_the_kernels_own_files_are_known(file, is_one):
    assert is_kernels(file) is is_one


@pytest.mark.parametrize(("before", "after"), [(108, 7), (-1, -1)])
async def test_a_step_that_a_statement_leaves_gets_another_command(before, after, monkeypatch):
    info = SimpleNamespace(pydev_step_cmd=before, pydev_step_stop="frame")
    monkeypatch.setattr(threading.current_thread(), "additional_info", info, raising=False)

    async def run() -> str:
        return "done"

    assert await change_step_after(run, command=7)() == "done"
    assert info.pydev_step_cmd == after
    assert (info.pydev_step_stop is None) is (before != -1)
