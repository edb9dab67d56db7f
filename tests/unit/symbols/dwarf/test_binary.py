from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import dwarf_stops
from debugger.errors import DebuggerError, ErrorCode
from debugger.symbols.dwarf import elf_file
from debugger.symbols.dwarf.binary_image import BinaryImage


@pytest.fixture
def program(tmp_path):
    return dwarf_stops.compile_debuggee("optimised.c", 0, tmp_path)


def test_the_build_id_is_the_one_that_readelf_reads(program):
    said = subprocess.run(["readelf", "-n", program], capture_output=True, text=True, check=True)
    assert f"Build ID: {elf_file.read_elf(program).build_id}\n" in said.stdout


def test_what_is_loaded_anywhere_is_told_from_what_is_not(tmp_path):
    pie = elf_file.read_elf(dwarf_stops.compile_debuggee("optimised.c", 0, tmp_path))
    fixed = elf_file.read_elf(dwarf_stops.compile_debuggee("optimised.c", 0, tmp_path, "-no-pie"))
    assert (pie.is_pie, fixed.is_pie) == (True, False)
    assert pie.load_bias(0x555555554000) == 0x555555554000
    assert fixed.load_bias(0x400000) == 0
    assert pie.interpreter == "/lib64/ld-linux-x86-64.so.2"


def test_symbols_are_those_that_nm_lists(program):
    said = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    there = set(re.findall(r"^0*([0-9a-f]+) [tTWi] (\w+)$", said, re.MULTILINE))
    here = {(f"{one.address:x}", one.name) for one in elf_file.read_elf(program).read_symbols()}
    wanted = {one for one in there if one[1] in {"main", "work"}}
    assert len(wanted) == 2
    assert wanted <= here


def _separate(program: Path) -> Path:
    debug = program.with_suffix(".debug")
    subprocess.run(["objcopy", "--only-keep-debug", program, debug], check=True)
    subprocess.run(["objcopy", "--strip-all", program], check=True)
    return debug


def test_a_separate_file_is_found_by_its_link(program):
    debug = _separate(program)
    subprocess.run(["objcopy", f"--add-gnu-debuglink={debug}", program], check=True)
    found = elf_file.debug_file(elf_file.read_elf(program))
    assert found is not None
    assert found.path == debug
    assert BinaryImage(program).lines.find_line("optimised.c", 6).locations


def test_a_separate_file_is_found_by_its_build_id(program, tmp_path):
    debug = _separate(program)
    number = elf_file.read_elf(program).build_id
    place = tmp_path / "root" / ".build-id" / number[:2] / f"{number[2:]}.debug"
    place.parent.mkdir(parents=True)
    debug.rename(place)
    found = elf_file.debug_file(elf_file.read_elf(program), root=tmp_path / "root")
    assert found is not None
    assert found.path == place


def test_a_separate_file_of_another_build_is_refused(program, tmp_path):
    debug = _separate(program)
    subprocess.run(["objcopy", f"--add-gnu-debuglink={debug}", program], check=True)
    other = dwarf_stops.compile_debuggee("recursion.c", 0, tmp_path)
    debug.write_bytes(other.read_bytes())
    assert elf_file.debug_file(elf_file.read_elf(program)) is None


def test_a_program_whose_information_is_split_off_has_its_lines(tmp_path, program):
    split = BinaryImage(dwarf_stops.compile_debuggee("optimised.c", 0, tmp_path, "-gsplit-dwarf"))
    assert len(split.split.found) == 1
    assert split.lines.find_line("optimised.c", 6).locations
    assert not BinaryImage(program).split.found


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "cannot read"),
        (b"#!/bin/sh\n", "is not a 64-bit little-endian ELF file"),
        (b"\x7fELF\x01\x01" + bytes(60), "is not a 64-bit little-endian ELF file"),
        (b"\x7fELF\x02\x01" + bytes(12) + b"\xb7\0" + bytes(60), "is for machine 183"),
        (b"\x7fELF\x02\x01" + bytes(12), "is a broken ELF file"),
    ],
)
def test_what_is_no_program_of_this_machine_is_refused(tmp_path, content, says):
    path = tmp_path / "program"
    path.write_bytes(content)
    with pytest.raises(DebuggerError, match=re.escape(says)) as caught:
        elf_file.read_elf(path)
    assert caught.value.hint
    assert caught.value.code in {ErrorCode.NOT_FOUND, ErrorCode.NOT_SUPPORTED}


def test_a_file_that_is_cut_off_is_refused_or_read_as_far_as_it_goes(program):
    whole = program.read_bytes()
    for size in range(64, len(whole), 997):
        program.write_bytes(whole[:size])
        try:
            found = elf_file.read_elf(program)
        except DebuggerError as error:
            assert error.code is ErrorCode.NOT_SUPPORTED
        else:
            assert found.segments
