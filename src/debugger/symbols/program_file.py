"""Detects what kind of program a file is: its language, and whether it has debug information."""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from debugger.sources import project_files
from debugger.symbols import elf_headers

_SUFFIXES = {
    ".py": "python",
    ".pyw": "python",
    ".pyz": "python",
    ".js": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".ts": "javascript",
    ".mts": "javascript",
    ".cts": "javascript",
    ".go": "go",
    ".rb": "ruby",
    ".java": "java",
    ".class": "java",
    ".jar": "java",
    ".php": "php",
}
_INTERPRETERS = {b"python": "python", b"node": "javascript", b"ruby": "ruby", b"php": "php"}
# Build tools are scripts that start JVMs: what is debugged is a JVM of the tests or the program.
JAVA_BUILD_TOOLS = frozenset({"mvn", "mvnw", "gradle", "gradlew"})
_MACH_O = {b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\xce\xfa\xed\xfe", b"\xfe\xed\xfa\xcf"}
# What only the main program of a language has: gfortran's, GNAT's binder's, D's and Nim's.
_MAIN_PROGRAMS = {
    b"_gfortran_set_args": "fortran",
    b"_FortranAProgramStart": "fortran",
    b"__gnat_runtime_initialize": "ada",
    b"_Dmain": "d",
    b"NimMain": "nim",
}
_FORKS = (b"fork", b"vfork")
# The last is Go's.
_STARTS = (b"posix_spawn", b"posix_spawnp", b"system", b"popen", b"os/exec.(*Cmd).Start")
# A larger program is not searched to its end.
_DEBUG = ".debug"
_SCAN_MAX = 64 << 20


class ProgramFile(Struct, frozen=True):
    """Describes a file; `language` is "" where it cannot be detected.

    `native` stands for compiled code of an unknown language.
    """

    language: str
    is_native: bool = False
    has_debug_info: bool = True
    # Of native code, the language of its main program where few debuggers know its types.
    type_language: str = ""


def inspect_program(path: str) -> ProgramFile:
    """Inspect a file; an unreadable one has no language."""
    if not Path(path).is_file():  # to open a FIFO would wait for its writer
        return ProgramFile("go" if project_files.is_package(path) else "")
    try:
        with Path(path).open("rb") as file:
            head = file.read(256)
            if head.startswith(elf_headers.MAGIC):
                # The launcher of a JVM: what it debugs is what it is told to run.
                is_java = Path(path).name == "java"
                return ProgramFile("java") if is_java else _look_at_elf(file.fileno())
    except OSError:
        return ProgramFile("")
    suffix = Path(path).suffix.lower()
    # A class file begins like a Mach-O file for several processors.
    if head[:4] in _MACH_O and suffix != ".class":
        return ProgramFile("native", is_native=True)
    if suffix in _SUFFIXES:
        return ProgramFile(_SUFFIXES[suffix])
    return ProgramFile("java" if Path(path).name in JAVA_BUILD_TOOLS else _script_language(head))


def may_fork(path: str) -> bool:
    """Return whether a compiled program names fork(2) or vfork(2); an unreadable one does not."""
    return _has_name(path, _FORKS)


def may_start_processes(path: str) -> bool:
    """Return whether a compiled program names a function that forks or starts a program."""
    return _has_name(path, (*_FORKS, *_STARTS))


def _has_name(path: str, names: Sequence[bytes]) -> bool:
    try:
        with Path(path).open("rb") as file:
            if file.read(len(elf_headers.MAGIC)) != elf_headers.MAGIC:
                return False
            size = min(os.fstat(file.fileno()).st_size, _SCAN_MAX)
            with mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) as image:
                # As a whole word of a string table: an imported symbol. The debug information of
                # each C++ program that includes <cstdlib> names `system`, too.
                debug = [one for one in _read_sections(file.fileno()) if _DEBUG in one.name]
                spans = [(one.offset, one.offset + one.size) for one in debug]
                return any(_is_outside(image, b"\0%b\0" % name, spans) for name in names)
    except OSError:
        return False


def _is_outside(image: mmap.mmap, word: bytes, spans: Sequence[tuple[int, int]]) -> bool:
    """Return whether a word stands anywhere but in the spans."""
    at = image.find(word)
    while at >= 0:
        ends = [end for start, end in spans if start <= at < end]
        if not ends:
            return True
        at = image.find(word, max(ends))
    return False


def _script_language(head: bytes) -> str:
    first = head.split(b"\n", 1)[0]
    if first.startswith(b"#!"):
        names = [word.rpartition(b"/")[2] for word in first[2:].split()]
        for start, language in _INTERPRETERS.items():
            if any(name.startswith(start) for name in names):
                return language
    return ""


def _look_at_elf(descriptor: int) -> ProgramFile:
    size = os.fstat(descriptor).st_size
    with mmap.mmap(descriptor, min(size, _SCAN_MAX), access=mmap.ACCESS_READ) as image:
        names = _section_names(descriptor)
        has_debug_info = any(
            name in names
            for name in (".debug_info", ".zdebug_info", ".debug_info.dwo", ".debug_line")
        )
        language = "native"
        if ".note.go.buildid" in names or ".go.buildinfo" in names:
            language = "go"
        # By the names of the runtimes' unwinding routines.
        elif image.find(b"rust_eh_personality") >= 0 or image.find(b"rust_begin_unwind") >= 0:
            language = "rust"
        elif image.find(b"__gxx_personality_v0") >= 0:
            language = "c++"
        of_main = (
            known for name, known in _MAIN_PROGRAMS.items() if image.find(b"\0%b\0" % name) >= 0
        )
        type_language = next(of_main, "")
    return ProgramFile(
        language, is_native=True, has_debug_info=has_debug_info, type_language=type_language
    )


def _section_names(descriptor: int) -> frozenset[str]:
    return frozenset(one.name for one in _read_sections(descriptor))


def _read_sections(descriptor: int) -> list[elf_headers.ElfSection]:
    """Return the sections; none where they cannot be read."""

    def read(at: int, size: int) -> bytes:
        return os.pread(descriptor, size, at)

    try:
        header = elf_headers.parse_header(read(0, elf_headers.HEADER_SIZE))
        return elf_headers.read_sections(read, header)
    except (struct.error, OverflowError, OSError):  # cut off, or offsets beyond any file
        return []
