"""Globals that were discarded, or belong to another file or function."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from debugger.symbols.dwarf.binary_image import BinaryImage
from debugger.symbols.dwarf.scope_variables import LEFT_OUT

_PROGRAMS = Path(__file__).parents[3] / "frida" / "programs"
_FLAGS = ("-g", "-O0", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections")


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    program = tmp_path_factory.mktemp("globals") / "left_out"
    sources = [_PROGRAMS / "left_out.c", _PROGRAMS / "left_out_part.c"]
    subprocess.run(["gcc", *_FLAGS, *sources, "-o", program], check=True)
    return BinaryImage(program)


def test_what_the_linker_left_out_has_no_place_and_says_so(image):
    found = image.scopes.global_named("unused")
    assert (found.place, found.why) == ((), LEFT_OUT)
    assert not image.scopes.global_named("kept").why


def test_a_function_that_the_linker_left_out_has_no_code_and_no_lines(image):
    assert not image.functions.find_by_name("removed")
    assert not image.lines.find_line("left_out.c", 10).locations
    assert image.lines.find_line("left_out.c", 10).nearest == (14, 16)
    assert image.units.unit_at_address(4) is None


def test_a_name_that_two_files_have_is_ambiguous_until_one_is_named(image):
    scopes = image.scopes
    found = scopes.global_named("state")
    assert (found.place, found.why) == (
        (),
        "ambiguous: left_out.c::state, left_out_part.c::state",
    )
    symbols = [one.address for one in image.binary.read_symbols() if one.name == "state"]
    named = [scopes.global_named(one) for one in ("left_out.c::state", "'left_out_part.c'::state")]
    assert sorted(one.place[0].first for one in named) == sorted(symbols)
    assert named[0].place != named[1].place
    near = image.functions.find_by_name("part")[0].address
    assert scopes.global_named("state", near=near).place == named[1].place


def test_a_static_of_a_function_is_named_alone_or_with_its_function(image):
    place = image.scopes.global_named("count::calls").place
    assert place == image.scopes.global_named("calls").place
    assert place
    assert image.scopes.global_named("part::calls") is None
