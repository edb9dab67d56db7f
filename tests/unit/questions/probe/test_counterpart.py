"""A location's counterpart in the other run's sources."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugger.model.breakpoints import BreakpointSpec
from debugger.questions.probe.answer import ProbePlace
from debugger.questions.probe.probe_points import ProbePoint, counterpart_file, counterpart_points


@pytest.fixture
def folders(tmp_path: Path) -> tuple[str, str, str]:
    for name, text in (("before", "one\ntwo\nthree\n"), ("after", "new\none\nthree\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").write_text(text)
    return str(tmp_path), str(tmp_path / "before"), str(tmp_path / "after")


def test_a_file_below_one_programs_folder_is_that_below_the_others(
    folders: tuple[str, str, str],
) -> None:
    here, before, after = folders
    assert counterpart_file(f"{before}/a.py", (here, before), (here, after)) == f"{after}/a.py"
    assert counterpart_file(f"{before}/a.py", (here,), (here, after)) == f"{before}/a.py"
    assert (
        counterpart_file(f"{before}/none.py", (here, before), (here, after)) == f"{before}/none.py"
    )
    assert counterpart_file("/lib/a.py", (here, before), (here, after)) == "/lib/a.py"


@pytest.mark.parametrize(("line", "there", "notes"), [(3, 3, 0), (1, 2, 0), (2, 2, 1)])
def test_a_line_is_found_by_its_text(
    folders: tuple[str, str, str], line: int, there: int, notes: int
) -> None:
    here, before, after = folders
    wanted = ProbePoint(f"a.py:{line}", BreakpointSpec(file=f"{before}/a.py", line=line), ("x",))
    known = ProbePlace("a.py", (), file=f"{before}/a.py", line=line)
    (found,), said = counterpart_points([wanted], [known], (here, before), (here, after))
    assert (found.spec.file, found.spec.line) == (f"{after}/a.py", there)
    assert len(said) == notes


def test_a_function_is_found_by_its_name(folders: tuple[str, str, str]) -> None:
    here, before, after = folders
    wanted = ProbePoint("run", BreakpointSpec(function="run"), ())
    known = ProbePlace("run", (), file=f"{before}/a.py", line=1)
    assert counterpart_points([wanted], [known], (here, before), (here, after)) == ([wanted], [])
