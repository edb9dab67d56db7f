"""Lines and functions are found, and near ones named."""

from __future__ import annotations

import pytest

import dwarf_stops
from debuggees import find_marker, find_source
from debugger.symbols.dwarf.binary_image import BinaryImage
from debugger.symbols.dwarf.elf_file import demangle
from debugger.symbols.dwarf.function_index import name_components


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    return BinaryImage(
        dwarf_stops.compile_debuggee("shapes.cpp", 0, tmp_path_factory.mktemp("places"))
    )


@pytest.fixture(scope="module")
def rust(tmp_path_factory):
    return BinaryImage(
        dwarf_stops.compile_debuggee("shapes.rs", 0, tmp_path_factory.mktemp("places"))
    )


@pytest.mark.parametrize(
    "file", ["shapes.cpp", "programs/shapes.cpp", str(find_source("shapes.cpp"))]
)
def test_a_file_is_named_by_its_last_parts(image, file):
    found = image.lines.find_line(file, find_marker("shapes.cpp", "callback"))
    assert [one.function for one in found.locations] == ["callback"]
    assert found.file == str(find_source("shapes.cpp"))


@pytest.mark.parametrize("file", ["hapes.cpp", "other/shapes.cpp", "nowhere.c"])
def test_a_file_that_is_none_of_the_sources_has_no_lines(image, file):
    found = image.lines.find_line(file, find_marker("shapes.cpp", "callback"))
    assert (found.locations, found.nearest, found.files) == ((), (), ())


def test_a_line_without_code_names_the_nearest_on_both_sides(image):
    found = image.lines.find_line("shapes.cpp", find_marker("shapes.cpp", "callback") + 3)
    line = find_marker("shapes.cpp", "callback")
    assert not found.locations
    assert found.nearest[:2] == (line, line + 1)
    assert all(one > line + 3 for one in found.nearest[2:])
    assert len(found.nearest) == 4


def test_an_inlined_function_has_its_line_in_every_copy(image):
    found = image.lines.find_line("shapes.cpp", find_marker("shapes.cpp", "inner"))
    assert [one.is_inlined for one in found.locations] == [True, True]


def test_a_template_has_its_line_in_every_instance(rust):
    found = rust.lines.find_line("shapes.rs", find_marker("shapes.rs", "best"))
    assert {one.function for one in found.locations} == {
        "shapes::largest<f64>",
        "shapes::largest<i64>",
    }


def test_an_address_is_of_the_line_that_has_it(image):
    line = find_marker("shapes.cpp", "deep")
    (place,) = image.lines.find_line("shapes.cpp", line).locations
    found = image.lines.line_at(place.address)
    assert (found.file, found.line) == (str(find_source("shapes.cpp")), line)
    assert image.lines.line_at(0x10) is None


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("callback", ["callback"]),
        ("twice", ["Box<int>::twice"]),
        ("Box::twice", ["Box<int>::twice"]),
        ("Box<int>::twice", ["Box<int>::twice"]),
        ("Box<long>::twice", []),
        ("::main", ["main"]),
        ("hidden", ["(anonymous namespace)::hidden"]),
        ("(anonymous namespace)::hidden", ["(anonymous namespace)::hidden"]),
        ("inner", ["inner", "inner"]),
        ("mai", []),
    ],
)
def test_functions_are_found_by_their_last_parts(image, name, found):
    assert [one.name for one in image.functions.find_by_name(name)] == found


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("square", ["square__shop_42"]),
        ("shop.square", ["square__shop_42"]),
        ("Fill", ["shop__fill"]),
        ("Shop.Fill", ["shop__fill"]),
        ("cart.square", []),
        ("shop", []),
    ],
)
def test_names_whose_parts_the_compiler_has_joined_are_found(tmp_path, name, found):
    joined = BinaryImage(dwarf_stops.compile_debuggee("joined_names.c", 0, tmp_path))
    assert [one.name for one in joined.functions.find_by_name(name)] == found


def test_functions_are_found_the_same_once_all_are_indexed(image, rust):
    for one, name in [(image, "Box<int>::twice"), (image, "inner"), (rust, "zoo::legs")]:
        fresh = BinaryImage(one.binary.path)
        before = fresh.functions.find_by_name(name)
        assert before
        assert list(fresh.functions.all_names)
        assert fresh.functions.find_by_name(name) == before


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("call*", {"callback"}),
        ("Box::*", {"Box<int>::twice"}),
        ("*twice", set()),
        ("**twice", {"Box<int>::twice"}),
        ("zoo::*", set()),
        ("de?p", {"deep"}),
        ("@file:nowhere.cpp", set()),
    ],
)
def test_a_star_stops_at_a_scope_and_two_do_not(image, pattern, found):
    assert {one.name for one in image.functions.find_by_pattern(pattern)} == found


def test_a_pattern_is_narrowed_to_files(image):
    found = {one.name for one in image.functions.find_by_pattern("@file:programs/sh*.cpp **")}
    assert {"main", "callback", "Box<int>::twice", "deep"} <= found
    assert not any(one.startswith("std::") for one in found)


def test_near_names_are_given_for_one_that_is_nowhere(image, rust):
    assert "callback" in image.functions.near_names("calback")
    assert "shapes::zoo::legs" in rust.functions.near_names("leggs")


def test_the_functions_around_an_address_go_from_the_copy_outwards(image):
    line = find_marker("shapes.cpp", "inner")
    place = image.lines.find_line("shapes.cpp", line).locations[0]
    assert [one.name for one in image.functions.functions_at(place.address)] == [
        "inner",
        "middle",
        "outer",
    ]


@pytest.mark.parametrize(
    ("linkage", "name"),
    [
        ("main", "main"),
        ("_ZN3zoo3Dog4barkEi", "zoo::Dog::bark"),
        ("_ZN5panic4main17h4cdfaefe56da6b23E", "panic::main"),
        ("_ZN4core3ptr13drop$LT$T$GT$17h4cdfaefe56da6b23E", "core::ptr::drop<T>"),
        ("_Zbroken", "_Zbroken"),
    ],
)
def test_a_linkage_name_is_read_as_the_source_writes_it(linkage, name):
    assert demangle(linkage) == name


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("a::b", ["a", "b"]),
        ("a<b::c>::d", ["a<b::c>", "d"]),
        ("a::operator<", ["a", "operator<"]),
        ("a::operator->", ["a", "operator->"]),
        ("{impl#1}::fmt", ["{impl#1}", "fmt"]),
    ],
)
def test_a_name_is_split_outside_of_brackets(name, parts):
    assert name_components(name) == parts
