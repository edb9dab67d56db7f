"""Locations are parsed from a user's words."""

from __future__ import annotations

from typing import Self

import pytest

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.location import (
    Location,
    absolute_path,
    is_pattern,
    match_paths,
    near_files,
    near_names,
    nearest_lines,
    parse_location,
    plain_function,
    short_paths,
    split_arguments,
)


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ("main.c:42", Location(file="main.c", line=42)),
        (" main.c:42 ", Location(file="main.c", line=42)),
        ("/a b/main.c:1", Location(file="/a b/main.c", line=1)),
        ("C:\\x\\main.c:7", Location(file="C:\\x\\main.c", line=7)),
        ("42", Location(line=42)),
        ("main", Location(function="main")),
        ("std::vector<int>::push", Location(function="std::vector<int>::push")),
        ("ns::5", Location(function="ns::5")),
        ("*0x40A0", Location(address="0x40a0")),
        ("Tree.add", Location(function="Tree.add")),
    ],
)
def test_a_place_is_a_line_a_function_or_an_address(words, place):
    assert parse_location(words) == place


@pytest.mark.parametrize(
    "words", ["", "  ", "0", "a.c:0", "*12", "*", "*0x", "a\nb", "a.c:1\x00", "9" * 5000]
)
def test_what_is_no_place_is_refused_with_the_forms(words):
    with pytest.raises(DebuggerError) as refused:
        parse_location(words)
    assert refused.value.code is ErrorCode.USAGE
    assert refused.value.hint


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("work(int, char**)", "work"),
        ("std::vector<f(int)>::push(x)", "std::vector<f(int)>::push"),
        ("app::main::h0123456789abcdef", "app::main"),
        ("app::main::_$u7b$$u7b$closure$u7d$$u7d$::h0123456789abcdef", "app::main::{closure}"),
        ("operator()(int)", "operator()"),
        ("a::operator()(int) const", "a::operator()"),
        ("operator<<(std::ostream&, int)", "operator<<"),
        ("operator<(A, A)", "operator<"),
        ("operator<=>(A, A)", "operator<=>"),
        ("operator>>(A, A)", "operator>>"),
        ("P::operator->()", "P::operator->"),
        ("foo::(anonymous namespace)::bar(int)", "foo::(anonymous namespace)::bar"),
        ("(anonymous namespace)::bar(int)", "(anonymous namespace)::bar"),
        ("main::{lambda(int)#1}::operator()(int)", "main::{lambda(int)#1}::operator()"),
        (
            "decltype (from(j, at<T>(v))) n::from_fn::operator()<J, int&>(J const&, int&) const",
            "n::from_fn::operator()<J, int&>",
        ),
        ("decltype(auto) n::get<0>(n::pair&)", "n::get<0>"),
        ("app::run::{{closure}}", "app::run::{{closure}}"),
        ("<T as core::fmt::Debug>::fmt", "<T as core::fmt::Debug>::fmt"),
        ("main.(*Tree).Add", "main.(*Tree).Add"),
        ("size() const", "size"),
        ("<module>", "<module>"),
        ("-[NSObject init]", "-[NSObject init]"),
        ("", ""),
        ("(", "("),
    ],
)
def test_a_plain_name_has_no_arguments_and_no_hash(name, plain):
    assert plain_function(name) == plain


class CountedText(str):
    """A text that counts the characters that its slices copy."""

    __slots__ = ("copied",)

    def __new__(cls, text: str) -> Self:
        made = super().__new__(cls, text)
        made.copied = 0
        return made

    def __getitem__(self, part):
        found = super().__getitem__(part)
        self.copied += len(found)
        return found


@pytest.mark.parametrize("part", ["a<", "a<(", "decltype (", "operator<"])
def test_of_a_very_long_name_no_character_is_copied_often(part):
    name = CountedText(part * 10_000)
    assert plain_function(name)
    # A slice at each character would copy half of the name each time.
    assert name.copied <= 3 * len(name)


def test_a_path_matches_by_its_last_parts_the_shortest_first():
    candidates = ["/x/src/main.c", "/main.c", "/x/domain.c", "/y/lib/src/main.c"]
    assert match_paths("main.c", candidates) == ["/main.c", "/x/src/main.c", "/y/lib/src/main.c"]
    assert match_paths("src/main.c", candidates) == ["/x/src/main.c", "/y/lib/src/main.c"]
    assert match_paths("./src//main.c", candidates)[0] == "/x/src/main.c"


def test_a_file_is_meant_from_the_callers_directory():
    assert absolute_path("../b/x.c", "/home/me/a") == "/home/me/b/x.c"
    assert absolute_path("/x.c", "/home/me") == "/x.c"


def test_the_nearest_lines_are_told_in_ascending_order():
    assert nearest_lines(10, [1, 9, 11, 12, 30, 9]) == (1, 9, 11, 12)
    assert nearest_lines(10, []) == ()


def test_a_name_is_near_by_its_last_part_and_in_any_case():
    assert near_names("Sum_to", ["main", "app::sum_to", "work"]) == ("app::sum_to",)
    assert near_names("zzz", ["main"]) == ()


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("incr*", True),
        ("Shape::*", True),
        ("f?", True),
        ("main.(*Tree).Add", False),
        ("A::operator*", False),
        ("max<int*>", False),
        ("f(char*)", False),
    ],
)
def test_a_pattern_is_told_from_a_name(name: str, is_one: bool) -> None:
    assert is_pattern(name) is is_one


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("a::f(int, char *)", ("a::f", "int,char*")),
        ("a::f", ("a::f", None)),
        ("f()", ("f", "")),
        ("A::operator()", ("A::operator()", None)),
    ],
)
def test_a_functions_arguments_are_split_from_its_name(
    name: str, split: tuple[str, str | None]
) -> None:
    assert split_arguments(name) == split


def test_of_files_that_are_equally_near_that_of_the_same_kind_is_first() -> None:
    assert near_files("lop.py", ["loop", "loop.c", "loop.js", "loop.py"])[0] == "loop.py"
    assert near_files("lop", ["loop.c", "loop"])[0] == "loop"


def test_a_file_of_data_is_near_only_another_of_its_kind() -> None:
    assert near_files("tox", ["tox.toml", "tox.ini", "tox.py"]) == ("tox.py",)
    assert near_files("nofile", ["NoFile.class", "nofile.o"]) == ()
    assert near_files("toxs.toml", ["tox.toml"]) == ("tox.toml",)


@pytest.mark.parametrize(
    ("text", "file", "function"),
    [
        ("shop.py:Cart.total", "shop.py", "Cart.total"),
        ("a/tree.go:(*Tree).Add", "a/tree.go", "(*Tree).Add"),
        ("shapes.cpp:geo::Box::area", "shapes.cpp", "geo::Box::area"),
        ("lib.cjs:#secret", "lib.cjs", "#secret"),
    ],
)
def test_a_function_of_a_file_is_parsed(text: str, file: str, function: str):
    assert parse_location(text) == Location(file=file, function=function)


@pytest.mark.parametrize("text", ["shop.py::total", "app::main", "std::vector<int>::push"])
def test_two_colons_make_a_name_and_no_file(text: str):
    assert parse_location(text).file is None


def test_files_of_one_name_are_told_apart_by_as_many_folders_as_that_takes():
    files = ["/app/a/util.py", "/app/b/util.py", "/app/main.py", "/lib/x/b/util.py"]
    assert list(short_paths(files).values()) == [
        "a/util.py",
        "app/b/util.py",
        "main.py",
        "x/b/util.py",
    ]
