"""Core files are read, and hostile ones do no harm."""

from __future__ import annotations

import struct
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from debugger.symbols.core_file import (
    CoreFile,
    NotACore,
    explain_mismatch,
    parse_core,
    read_build_id,
    read_core,
)

BASE, ENTRY = 0x400000, 0x401000
BUILD_ID = bytes(range(20))


def note(owner: bytes, kind: int, text: bytes, order: str = "<") -> bytes:
    name = owner + b"\0"
    pad = bytes(-len(name) % 4), bytes(-len(text) % 4)
    return struct.pack(f"{order}III", len(name), len(text), kind) + name + pad[0] + text + pad[1]


def elf(kind: int, segments: list[tuple[int, int, bytes]], *, bits: int = 64, order: str = "<"):
    """Write an ELF file of segments: (kind, address, contents)."""
    is_64 = bits == 64
    head, entry = (64, 56) if is_64 else (52, 32)
    ident = b"\x7fELF" + bytes([2 if is_64 else 1, 1 if order == "<" else 2, 1]) + bytes(9)
    layout = "HHIQQQIHHHHHH" if is_64 else "HHIIIIIHHHHHH"
    count = len(segments)
    rest = struct.pack(order + layout, kind, 62, 1, 0, head, 0, 0, head, entry, count, 0, 0, 0)
    at, table, body = head + entry * count, b"", b""
    for one, address, text in segments:
        size = len(text)
        if is_64:
            table += struct.pack(order + "IIQQQQQQ", one, 4, at, address, 0, size, size, 1)
        else:
            table += struct.pack(order + "IIIIIIII", one, at, address, 0, size, size, 4, 1)
        body += text
        at += size
    return ident + rest + table + body


def core_of(path: bytes = b"/srv/app", *, bits: int = 64, order: str = "<", id_: bytes = BUILD_ID):
    word = "Q" if bits == 64 else "I"
    status = struct.pack(f"{order}iiih", 0, 0, 0, 11) + bytes(100)
    ids = struct.pack(f"{order}IIII", 1234, 1, 2, 3)
    names = path.rpartition(b"/")[2][:15].ljust(16, b"\0") + b"./app -v ".ljust(80, b"\0")
    info = bytes(24 if bits == 64 else 12) + ids + names
    auxv = struct.pack(f"{order}4{word}", 9, ENTRY, 0, 0)
    spans = [(BASE, BASE + 0x1000, 0), (BASE + 0x1000, BASE + 0x2000, 1), (1 << 20, 1 << 21, 0)]
    numbers = [len(spans), 4096, *(number for span in spans for number in span)]
    files = struct.pack(f"{order}{len(numbers)}{word}", *numbers)
    files += path + b"\0" + path + b"\0/lib/libc.so.6\0"
    parts = [(b"CORE", 1, status), (b"CORE", 3, info), (b"CORE", 6, auxv)]
    parts += [(b"CORE", 0x46494C45, files), (b"CORE", 1, status)]
    notes = b"".join(note(*part, order) for part in parts)
    image = elf(3, [(4, 0x100, note(b"GNU", 3, id_, order))], bits=bits, order=order)
    # Mapped as in memory: the note stands where its address says, behind the first segment.
    mapped = image.ljust(0x100, b"\0") + note(b"GNU", 3, id_, order)
    return elf(4, [(4, 0, notes), (1, BASE, mapped)], bits=bits, order=order)


def write_core(image: bytes, size: int | None = None) -> CoreFile:
    shown = image if size is None else image[:size]
    return parse_core(lambda at, count: shown[at : at + count], len(shown))


@pytest.mark.parametrize("bits", [64, 32])
@pytest.mark.parametrize("order", ["<", ">"])
def test_a_core_file_tells_program_process_signal_and_build(bits, order):
    assert write_core(core_of(bits=bits, order=order)) == CoreFile(
        program="/srv/app",
        name="app",
        words="./app -v",
        pid=1234,
        signal=11,
        threads=2,
        build_id=BUILD_ID.hex(),
    )


def test_a_core_file_that_is_cut_off_says_how_much_is_missing():
    whole = core_of()
    cut = write_core(whole, len(whole) - 10)
    assert cut.missing == 10
    assert cut.program == "/srv/app"


@pytest.mark.parametrize(
    ("image", "says"),
    [
        (b"", "is empty"),
        (b"hello", "not an ELF file"),
        (b"\x7fELF\x02\x01", "ends within its first header"),
        (elf(2, []), "a program, no core file"),
        (elf(3, []), "a program or a shared library"),
        (elf(1, []), "an object file"),
        (elf(4, []), "an empty core file"),
    ],
)
def test_what_is_no_core_file_says_what_it_is(image, says):
    with pytest.raises(NotACore, match=says):
        write_core(image)


@given(st.binary(max_size=400))
def test_no_bytes_are_too_strange_to_be_read(image):
    try:
        assert isinstance(write_core(image), CoreFile)
    except NotACore:
        return


@given(st.data())
def test_no_damage_to_a_core_file_is_worse_than_a_wrong_answer(data):
    image = bytearray(core_of())
    for _ in range(data.draw(st.integers(1, 8))):
        at = data.draw(st.integers(0, len(image) - 1))
        image[at] = data.draw(st.integers(0, 255))
    size = data.draw(st.integers(0, len(image)))
    try:
        found = write_core(bytes(image), size)
    except NotACore:
        return
    assert all(letter.isprintable() for letter in found.program + found.name + found.words)


def test_a_file_of_huge_counts_is_read_within_bounds():
    image = bytearray(core_of())
    image[54:58] = b"\xff\xff\xff\xff"  # the size and the number of its headers
    asked: list[int] = []

    def read(at: int, count: int) -> bytes:
        asked.append(count)
        return bytes(image[at : at + count])

    with pytest.raises(NotACore):
        parse_core(read, len(image))
    assert max(asked) <= 64 << 20


def test_a_core_file_of_another_program_says_which():
    core = write_core(core_of())
    same = BUILD_ID.hex()
    assert explain_mismatch(core, "/else/renamed", same) is None
    assert explain_mismatch(core, "/else/app", "") is None
    assert "another build of /srv/app" in (explain_mismatch(core, "/srv/app", "ff") or "")
    assert "/srv/app, build id" in (explain_mismatch(core, "/bin/true", "ff") or "")
    assert explain_mismatch(core, "/bin/true", "") == "/srv/app"
    nameless = CoreFile(name="a_rather_long_n")
    assert explain_mismatch(nameless, "/x/a_rather_long_name", "ff") is None
    assert explain_mismatch(nameless, "/x/other", "ff") == "a_rather_long_n"
    assert explain_mismatch(CoreFile(), "/x/other", "ff") is None


def test_the_build_id_of_a_program_is_read(tmp_path):
    program = tmp_path / "app"
    program.write_bytes(elf(3, [(1, 0, b"code"), (4, 0x10, note(b"GNU", 3, BUILD_ID))]))
    assert read_build_id(str(program)) == BUILD_ID.hex()
    assert read_build_id(str(tmp_path / "nosuch")) == ""
    assert read_build_id(__file__) == ""
    with pytest.raises(NotACore, match="is not an ELF file"):
        read_core(__file__)
    with pytest.raises(NotACore, match="no core file"):
        read_core(str(program))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="an ELF file of the system's")
def test_a_program_of_the_system_is_no_core_file():
    with pytest.raises(NotACore, match="no core file"):
        read_core("/proc/self/exe")
