"""A program's sources, by its debug information."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

import debuggees
from debugger.symbols.dwarf.debug_entries import DebugSections
from debugger.symbols.source_names import parse_line_tables, sources_of

COMPILER = shutil.which("gcc") or shutil.which("cc")


def line_sections(line: bytes, texts: bytes = b"") -> DebugSections:
    return DebugSections(lambda _: b"", {"line": line, "line_str": texts, "str": texts})


def compiled(tmp_path, *flags: str) -> str:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "twice.c").write_text("int twice(int n) { return n * 2; }\n")
    (tmp_path / "main.c").write_text("int twice(int);\nint main(void) { return twice(0); }\n")
    command = [COMPILER, *flags, "-o", "app", "main.c", "src/twice.c"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=60)
    return str(tmp_path / "app")


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
@pytest.mark.parametrize("flags", [("-g", "-gdwarf-5"), ("-g", "-gdwarf-5", "-gz=zlib")])
def test_the_sources_of_a_program_are_absolute(tmp_path, flags):
    found = sources_of(compiled(tmp_path, *flags))
    assert {str(tmp_path / "main.c"), str(tmp_path / "src" / "twice.c")} <= set(found)


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_older_tables_name_them_as_the_compiler_was_told(tmp_path, version):
    found = sources_of(compiled(tmp_path, "-g", f"-gdwarf-{version}"))
    assert {"main.c", "src/twice.c"} <= set(found)


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
def test_a_program_without_debug_information_tells_nothing(tmp_path):
    assert sources_of(compiled(tmp_path, "-g0", "-s")) == ()


@pytest.mark.parametrize("name", ["panic.rs", "uncaught.cpp"])
def test_the_sources_of_other_languages_are_found(name, require_tool):
    require_tool("rustc" if name.endswith(".rs") else "g++")
    found = sources_of(str(debuggees.build_debuggee(name)))
    assert any(path.endswith(name) for path in found)


def test_what_is_no_program_has_no_sources(tmp_path):
    assert sources_of(str(tmp_path)) == ()
    assert sources_of(str(tmp_path / "nosuch")) == ()
    assert sources_of(__file__) == ()
    assert sources_of("a\0b") == ()


@given(st.binary(max_size=300), st.binary(max_size=100))
def test_no_bytes_are_too_strange_to_be_read(line, texts):
    assert isinstance(parse_line_tables(line_sections(line, texts)), set)


@given(st.data())
def test_a_damaged_table_gives_what_is_before_the_damage(data):
    whole = bytearray(table(b"a.c", b"b.c"))
    assert parse_line_tables(line_sections(bytes(whole))) == {"/src/a.c", "/src/b.c"}
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] = data.draw(st.integers(0, 255))
    assert isinstance(
        parse_line_tables(line_sections(bytes(whole[: data.draw(st.integers(0, len(whole)))]))), set
    )


def table(*names: bytes) -> bytes:
    """Write a line table of version 5 whose texts stand in it (DWARF 5, 6.2.4)."""
    folders = bytes([1, 1, 8, 1]) + b"/src\0"
    files = bytes([2, 1, 8, 2, 11, len(names)]) + b"".join(name + b"\0\0" for name in names)
    rest = bytes([8, 0]) + bytes(4) + bytes([1, 1, 1, 0xFB, 14, 2, 0]) + folders + files
    text = (5).to_bytes(2, "little") + rest
    return len(text).to_bytes(4, "little") + text


def test_a_table_that_names_too_many_files_to_be_read_in_time_tells_nothing():
    one = table(*(b"%d.c" % number for number in range(120)))
    assert len(parse_line_tables(line_sections(one))) == 120
    assert parse_line_tables(line_sections(one * 1700)) == set()
