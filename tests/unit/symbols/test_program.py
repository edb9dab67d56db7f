"""A file is classified, and a hostile one does no harm."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import tracemalloc
from pathlib import Path

import pytest

from debugger.symbols.program_file import ProgramFile, inspect_program, may_start_processes
from debugger.system.process_info import command_line


def elf(sections: list[bytes], body: bytes = b"", *, bits: int = 64, order: str = "<") -> bytes:
    """Write the least of an ELF file that has these sections."""
    names = b"\0" + b"".join(name + b"\0" for name in sections)
    head = 64 if bits == 64 else 52
    entry = 64 if bits == 64 else 40
    table_at = head + len(body) + len(names)
    ident = b"\x7fELF" + bytes([2 if bits == 64 else 1, 1 if order == "<" else 2, 1]) + bytes(9)
    count = len(sections) + 1
    words, machine = ("HHIQQQIHHHHHH", 62) if bits == 64 else ("HHIIIIIHHHHHH", 3)
    rest = struct.pack(order + words, 2, machine, 1, 0, 0, table_at, 0, head, 0, 0, entry, count, 0)
    where = order + ("IIQQQQIIQQ" if bits == 64 else "IIIIIIIIII")
    table = struct.pack(where, 0, 3, 0, 0, head + len(body), len(names), 0, 0, 0, 0)
    at = 1
    for name in sections:
        table += struct.pack(where, at, 1, 0, 0, 0, 0, 0, 0, 0, 0)
        at += len(name) + 1
    return ident + rest + body + names + table


@pytest.fixture
def inspect_file(tmp_path):
    def look_at(content: bytes, name: str = "program") -> ProgramFile:
        (tmp_path / name).write_bytes(content)
        return inspect_program(str(tmp_path / name))

    return look_at


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("order", ["<", ">"])
def test_an_elf_files_sections_tell_language_and_debug_information(inspect_file, bits, order):
    plain = elf([b".text"], bits=bits, order=order)
    assert inspect_file(plain) == ProgramFile("native", is_native=True, has_debug_info=False)
    debug = elf([b".text", b".debug_info"], bits=bits, order=order)
    assert inspect_file(debug) == ProgramFile("native", is_native=True, has_debug_info=True)
    go = elf([b".note.go.buildid"], bits=bits, order=order)
    assert inspect_file(go).language == "go"


@pytest.mark.parametrize(
    ("mark", "language"),
    [(b"__gxx_personality_v0", "c++"), (b"rust_eh_personality", "rust"), (b"", "native")],
)
def test_the_runtime_tells_the_language(inspect_file, mark, language):
    assert inspect_file(elf([b".text"], mark)).language == language


@pytest.mark.parametrize(
    ("symbol", "language"),
    [
        (b"_gfortran_set_args", "fortran"),
        (b"_FortranAProgramStart", "fortran"),
        (b"__gnat_runtime_initialize", "ada"),
        (b"_Dmain", "d"),
        (b"my_Dmain", ""),
        (b"_gfortran_set_args_of_mine", ""),
    ],
)
def test_a_main_program_tells_whose_types_it_has(inspect_file, symbol, language):
    found = inspect_file(elf([b".text"], b"\0" + symbol + b"\0"))
    assert (found.language, found.type_language) == ("native", language)


@pytest.mark.parametrize(
    ("first", "language"),
    [
        (b"#!/usr/bin/env python3\n", "python"),
        (b"#!/usr/bin/env -S python3.11 -u\n", "python"),
        (b"#! /usr/bin/python\n", "python"),
        (b"#!/usr/bin/nodejs\n", "javascript"),
        (b"#!/home/python/bin/bash\n", ""),
        (b"#!/bin/sh\n", ""),
        (b"#!\n", ""),
        (b"#!", ""),
        (b"", ""),
        (b"plain text\n", ""),
    ],
)
def test_a_script_is_what_its_first_line_says(inspect_file, first, language):
    assert inspect_file(first) == ProgramFile(language)


@pytest.mark.parametrize(
    ("name", "language"),
    [("a.py", "python"), ("a.PY", "python"), ("a.js", "javascript"), ("a.go", "go"), ("a.c", "")],
)
def test_a_script_is_what_its_suffix_says(inspect_file, name, language):
    assert inspect_file(b"\n", name) == ProgramFile(language)


def test_a_mach_o_file_is_native(inspect_file):
    assert inspect_file(b"\xcf\xfa\xed\xfe" + bytes(60)) == ProgramFile("native", is_native=True)


@pytest.mark.parametrize("length", [*range(4, 70), 100, 150, 200])
def test_an_elf_file_cut_anywhere_is_native_at_most(inspect_file, length):
    assert inspect_file(elf([b".debug_info"])[:length]).language == "native"


def hostile(**changes: int) -> bytes:
    data = bytearray(elf([b".text", b".debug_info"]))
    places = {"offset": ("<Q", 40), "entry": ("<H", 58), "count": ("<H", 60), "names": ("<H", 62)}
    for name, value in changes.items():
        form, at = places[name]
        struct.pack_into(form, data, at, value)
    return bytes(data)


@pytest.mark.parametrize(
    "data",
    [
        hostile(offset=2**64 - 1),
        hostile(offset=2**63),
        hostile(offset=2**63 - 1),
        hostile(names=0xFFFF),
        hostile(entry=0),
        hostile(entry=1),
        hostile(count=0),
    ],
)
def test_offsets_beyond_the_file_do_no_harm(inspect_file, data):
    found = inspect_file(data)
    assert (found.language, found.is_native) == ("native", True)


def test_huge_counts_take_little_memory(inspect_file):
    tracemalloc.start()
    try:
        assert inspect_file(hostile(entry=0xFFFF, count=0xFFFF)).is_native
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


def test_what_cannot_be_read_has_no_language(tmp_path):
    assert inspect_program(str(tmp_path / "no")) == ProgramFile("")
    assert inspect_program(str(tmp_path)) == ProgramFile("")
    assert inspect_program("a\0b") == ProgramFile("")


@pytest.mark.timeout(60)
def test_a_fifo_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    assert inspect_program(str(tmp_path / "fifo")) == ProgramFile("")


SOURCES = {
    "cc": ("c", "int main(void) { return 0; }\n"),
    "c++": ("cpp", "int main() { try { throw 1; } catch (int) { return 0; } }\n"),
    "rustc": ("rs", "fn main() {}\n"),
}


def compiled(compiler: str, folder: Path) -> Path:
    """Compile a small program with debug information."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is missing")
    suffix, text = SOURCES[compiler]
    (folder / f"main.{suffix}").write_text(text)
    words = [compiler, "-g", f"main.{suffix}", "-o", "program"]
    subprocess.run(words, cwd=folder, check=True)
    return folder / "program"


@pytest.mark.parametrize(
    ("compiler", "language"), [("cc", "native"), ("c++", "c++"), ("rustc", "rust")]
)
def test_real_programs_are_known(tmp_path, compiler, language):
    found = inspect_program(str(compiled(compiler, tmp_path)))
    assert found == ProgramFile(language, is_native=True, has_debug_info=True)


def test_a_stripped_program_has_no_debug_information(tmp_path):
    program = compiled("cc", tmp_path)
    if shutil.which("strip") is None:
        pytest.skip("strip is missing")
    subprocess.run(["strip", str(program)], check=True)
    assert inspect_program(str(program)) == ProgramFile(
        "native", is_native=True, has_debug_info=False
    )


def test_a_process_is_its_words():
    if not Path("/proc/self/cmdline").exists():
        pytest.skip("there is no /proc")
    words = ["/bin/sh", "-c", "echo up; read x", "", "b c"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"up\n"
        assert command_line(child.pid) == tuple(words)
    assert command_line(2**22 + 5) == ()


def test_a_program_whose_debug_information_alone_names_system_starts_nothing(
    tmp_path: Path,
) -> None:
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("no gcc")
    for name, text, starts in (
        ("named", "struct { int system; } s; int main(void) { return s.system; }", False),
        ("calls", 'int system(const char *); int main(void) { return system("true"); }', True),
    ):
        source, program = tmp_path / f"{name}.c", tmp_path / name
        source.write_text(text)
        subprocess.run([compiler, "-g", "-o", program, source], check=True, timeout=60)
        assert b"\0system\0" in program.read_bytes()
        assert may_start_processes(str(program)) is starts
