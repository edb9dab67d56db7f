"""The file that a partial path means."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.location import SourceMap
from debugger.session import source_files

NOWHERE = SourceMap()


@pytest.fixture
def folder(tmp_path):
    for name in ("app/a/mod.py", "app/b/mod.py", "app/a/one.py", "app/venv/lib/dep.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    return tmp_path / "app"


@pytest.fixture
def built(monkeypatch):
    """Say what a program was built from."""

    def from_(*paths: str) -> str:
        monkeypatch.setattr(source_files, "sources_of", lambda _: paths)
        return "/bin/program"

    return from_


def test_a_file_in_the_callers_directory_is_meant(folder):
    assert source_files.resolve_source("mod.py", [str(folder / "a")], None, NOWHERE) == str(
        folder / "a/mod.py"
    )
    assert source_files.resolve_source("a/mod.py", [str(folder)], None, NOWHERE) == str(
        folder / "a/mod.py"
    )


def test_a_file_below_is_found_by_a_part_of_its_path(folder):
    assert source_files.resolve_source("one.py", [str(folder)], None, NOWHERE) == str(
        folder / "a/one.py"
    )


def test_what_several_files_may_mean_is_refused_with_all_of_them(folder):
    with pytest.raises(DebuggerError) as refused:
        source_files.resolve_source("mod.py", [str(folder)], None, NOWHERE)
    assert refused.value.code is ErrorCode.USAGE
    for name in ("a/mod.py", "b/mod.py"):
        assert str(folder / name) in refused.value.message


def test_what_is_nowhere_and_what_is_not_ours_is_left_to_the_debugger(folder):
    for name in ("nosuch.py", "dep.py", "/nosuch/one.py", "../one.py"):
        assert source_files.resolve_source(name, [str(folder)], None, NOWHERE) == name


def test_a_programs_own_file_is_meant_before_one_that_lies_below(folder, built):
    program = built("/src/x/one.py", "/src/x/two.py")
    assert source_files.resolve_source("one.py", [str(folder)], program, NOWHERE) == "/src/x/one.py"
    assert (
        source_files.resolve_source("x/two.py", [str(folder)], program, NOWHERE) == "/src/x/two.py"
    )
    # Not in the program: a file of the same name elsewhere is not meant.
    assert source_files.resolve_source("mod.py", [str(folder)], program, NOWHERE) == "mod.py"


def test_of_several_files_of_a_program_the_users_own_is_meant_before_a_librarys(folder, built):
    library = "/usr/local/go/src/internal/godebugs/table.go"
    program = built(library, "/src/x/table.go")
    found = source_files.resolve_source("table.go", [str(folder)], program, NOWHERE)
    assert found == "/src/x/table.go"
    program = built(library, "/src/x/table.go", "/src/y/table.go")
    with pytest.raises(DebuggerError) as refused:
        source_files.resolve_source("table.go", [str(folder)], program, NOWHERE)
    assert refused.value.message.splitlines()[1:] == ["  /src/x/table.go", "  /src/y/table.go"]


def test_a_file_here_of_which_the_program_was_built_is_meant(folder, built):
    here = str(folder / "a/mod.py")
    program = built(here, str(folder / "b/mod.py"))
    assert source_files.resolve_source("mod.py", [str(folder / "a")], program, NOWHERE) == here
    link = folder.parent / "link"
    link.symlink_to(folder)
    assert source_files.resolve_source("mod.py", [str(link / "a")], program, NOWHERE) == here
    relative = built("a/mod.py")  # as DWARF 4 may name it
    assert source_files.resolve_source("mod.py", [str(folder / "a")], relative, NOWHERE) == here


def test_files_of_a_build_are_meant_where_they_are_mapped_to(folder, built):
    program = built("/build/a/mod.py", "/build/b/mod.py")
    places = SourceMap((("/build", str(folder)),))
    assert source_files.resolve_source("a/mod.py", [], program, places) == str(folder / "a/mod.py")
    assert source_files.resolve_source("b/mod.py", [str(folder)], program, places) == str(
        folder / "b/mod.py"
    )
    with pytest.raises(DebuggerError) as refused:
        source_files.resolve_source("mod.py", [], program, places)
    assert str(folder / "b/mod.py") in refused.value.message


def test_a_line_of_a_bundle_is_cut_around_the_column(tmp_path: Path) -> None:
    file = tmp_path / "bundle.js"
    file.write_text("short();\n" + "var a=1;" * 1000 + "boom(o.x);" + "var b=2;" * 1000)
    (shown,) = source_files.surrounding_lines(str(file), 2, before=0, after=0, column=8001)
    assert "var a=1;boom(o.x);var b=2;" in shown.text
    assert shown.text.startswith("… ")
    assert shown.text.endswith("… (column 8,001)")
    assert len(shown.text) < 160
    (shown,) = source_files.surrounding_lines(str(file), 1, before=0, after=0, column=3)
    assert shown.text == "short();"


def test_a_relative_file_of_the_debug_information_is_found_above_the_program(tmp_path, built):
    file = tmp_path / "src" / "main.rs"
    file.parent.mkdir()
    file.write_text("")
    built("src/main.rs")
    program = str(tmp_path / "target" / "debug" / "app")
    for folders in ([str(tmp_path)], ["/"], [str(file.parent)]):
        assert source_files.resolve_source("main.rs", folders, program, NOWHERE) == str(file)
