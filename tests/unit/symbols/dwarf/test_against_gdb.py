"""Debug information and stops, compared with gdb."""

from __future__ import annotations

import pytest

import dwarf_stops
from debuggees import find_source
from debugger.symbols.dwarf.binary_image import BinaryImage
from debugger.symbols.dwarf.unwinding import frame_variables, variable_value

pytestmark = pytest.mark.adapter("gdb-cli")

PROGRAMS = [
    ("optimised.c", 0),
    ("optimised.c", 2),
    ("values.cpp", 0),
    ("throws.cpp", 0),
    ("throws.cpp", 2),
    ("shapes.cpp", 0),
    ("shapes.cpp", 2),
    ("panic.rs", 0),
    ("shapes.rs", 0),
    ("shapes.rs", 2),
]

LINES = """
answer = {}
for line in range(1, lines + 1):
    try:
        point = gdb.Breakpoint(f"{name}:{line}")
    except gdb.error:
        continue
    answer[line] = [(one.address, one.source[1]) for one in point.locations]
    point.delete()
"""


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    return tmp_path_factory.getbasetemp().parent / "dwarf"


@pytest.fixture
def folder(built):
    built.mkdir(exist_ok=True)
    return built


@pytest.mark.parametrize(("name", "level"), PROGRAMS)
def test_a_line_has_the_addresses_that_gdb_breaks_at(name, level, folder, tmp_path):
    program = dwarf_stops.compile_debuggee(name, level, folder)
    count = len(find_source(name).read_text().splitlines())
    theirs = dwarf_stops.run_gdb_script(
        program, f"name, lines = {name!r}, {count}\n{LINES}", tmp_path
    )
    image = BinaryImage(program)
    wrong = []
    for words, places in theirs.items():
        found = image.lines.find_line(name, int(words))
        here = {one.address for one in found.locations}
        # For a line without code gdb takes the next one that has some.
        there = {address for address, _ in places} if here else set()
        if level:
            # Of an optimised program it leaves out some copies, and lines that begin inside others.
            there = {address for address, line in places if line == int(words)}
        if here != there if level == 0 else there - here:
            wrong.append((words, sorted(map(hex, here)), sorted(map(hex, there))))
    assert wrong == []


STOPS = [
    ("optimised.c", 2, "late", "main"),
    ("values.cpp", 0, "ready", "main"),
    ("values.cpp", 0, "template", "main"),
    ("values.cpp", 0, "throw", "main"),
    ("throws.cpp", 0, "catch", "main"),
    ("throws.cpp", 2, "catch", "main"),
    ("shapes.cpp", 0, "shown", "main"),
    ("shapes.cpp", 0, "twice", "main"),
    ("shapes.cpp", 0, "deep", "main"),
    ("shapes.cpp", 0, "inner", "main"),
    ("shapes.cpp", 2, "shown", "main"),
    ("shapes.cpp", 2, "deep", "main"),
    ("shapes.cpp", 2, "inner", "main"),
    ("panic.rs", 0, "panic", "panic::main"),
    ("panic.rs", 0, "event", "panic::main"),
    ("shapes.rs", 0, "shown", "shapes::main"),
    ("shapes.rs", 0, "dog", "shapes::main"),
    ("shapes.rs", 2, "best", "shapes::main"),
]


FORMATS = [
    (0, "shown", "-gdwarf-3"),
    (0, "shown", "-gdwarf-4"),
    (0, "shown", "-gdwarf64"),
    (0, "shown", "-gz"),
    (0, "shown", "-fdebug-types-section"),
    (0, "shown", "-no-pie"),
    (2, "shown", "-gdwarf-4"),
    (2, "inner", "-flto"),
    (2, "deep", "-fomit-frame-pointer"),
]


@pytest.mark.parametrize(("level", "where", "option"), FORMATS)
def test_every_form_of_debug_information_is_read(level, where, option, folder):
    _agree(dwarf_stops.stop_at_marker("shapes.cpp", level, where, folder, option), level)


@pytest.mark.parametrize(("name", "level", "where", "last"), STOPS)
def test_a_stop_has_the_frames_and_values_that_gdb_shows(name, level, where, last, folder):
    _agree(dwarf_stops.stop_at_marker(name, level, where, folder, last=last), level)


def _agree(stop, level):
    frames = stop.own_stack()[: len(stop.theirs)]
    assert [(one.pc, one.line, one.file, one.is_inlined) for one in frames] == [
        (one["pc"], one["line"], one["file"], one["inlined"]) for one in stop.theirs
    ]
    wrong = []
    for frame, theirs in zip(frames, stop.theirs, strict=True):
        held = {one.name: one for one in frame_variables(frame) if not one.is_shadowed}
        for known, there in theirs["variables"].items():
            if known not in held:
                wrong.append((frame.function, known, "missing", there))
                continue
            here = dwarf_stops.plain_value(
                variable_value(held[known], frame, stop.memory), stop.memory
            )
            # What only the caller knew, by its entry value, gdb works out, and we do not.
            if here != there and (level == 0 or here != "gone"):
                wrong.append((frame.function, known, here, there))
    assert wrong == []
