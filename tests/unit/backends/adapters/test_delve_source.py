"""Go sources are parsed: functions, parameters, results."""

from __future__ import annotations

from pathlib import Path

import pytest

from debuggees import program_text
from debugger.backends.adapters.delve import delve_breakpoints as go_source
from debugger.backends.adapters.delve.go_functions import find_closure

SOURCE = program_text("counted_lines/delve_source.go")


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "tree.go"
    path.write_text(SOURCE)
    return str(path)


def test_functions_are_named_as_delve_names_them(file: str):
    expected = ["tree.New", "tree.(*Tree).Add", "tree.node.Len", "tree.Map", "tree.nothing"]
    assert go_source.function_names(file) == expected


@pytest.mark.parametrize(
    ("function", "line", "names"),
    [
        ("tree.New", 9, ["size", "names"]),
        ("tree.(*Tree).Add", 16, ["t", "key", "value", "added", "err"]),
        ("tree.(*Tree).Add.func1", 14, None),
        ("tree.node.Len", 19, ["n"]),
        ("tree.Map", 24, ["from", "by"]),
        ("tree.nothing", 28, []),
        ("tree.New", 500, None),
    ],
)
def test_the_parameters_of_a_function_are_known(file: str, function, line, names):
    assert go_source.parameter_names(file, function, line) == names


@pytest.mark.parametrize(
    ("function", "types"),
    [
        ("New", ("*Tree",)),
        ("(*Tree).Add", ("bool", "error")),
        ("Map", ("[]K", "error")),
        ("nothing", ()),
        ("unknown", None),
    ],
)
def test_what_a_function_returns_is_known_by_its_types(file: str, function, types):
    assert go_source.result_types(file, function) == types


def test_names_that_share_a_type_each_have_it(tmp_path: Path):
    path = tmp_path / "a.go"
    path.write_text("package a\n\nfunc f() (quotient, rest int, err error) {\n}\n")
    assert go_source.result_types(str(path), "f") == ("int", "int", "error")


def test_a_file_that_changes_is_read_anew(tmp_path: Path):
    path = tmp_path / "a.go"
    path.write_text("package a\n\nfunc old() {\n}\n")
    assert go_source.function_names(str(path)) == ["a.old"]
    path.write_text("package a\n\nfunc newer() {\n}\n")
    assert go_source.function_names(str(path)) == ["a.newer"]


@pytest.mark.parametrize("text", ["", "package", "func (", "func f(((", "\0", "func f() {"])
def test_a_broken_file_is_no_error(tmp_path: Path, text: str):
    path = tmp_path / "a.go"
    path.write_text(text)
    assert go_source.outline_file(str(path)) is not None
    assert go_source.parameter_names(str(path), "a.f", 1) in (None, [])


def test_a_file_that_is_not_there_has_nothing(tmp_path: Path):
    assert go_source.function_names(str(tmp_path / "none.go")) == []
    assert go_source.count_lines(str(tmp_path / "none.go")) is None


def test_the_programs_own_sources_are_told_from_gos_and_from_other_modules(tmp_path: Path):
    (tmp_path / "go" / "src" / "runtime").mkdir(parents=True)
    (tmp_path / "go" / "VERSION").write_text("go1.26")
    (tmp_path / "VERSION").write_text("1")  # without Go's runtime beside it
    own = str(tmp_path / "work" / "main.go")
    others = [
        *(str(tmp_path / "go" / "src" / name) for name in ("fmt/print.go", "fmt/scan.go", "a.go")),
        "/home/u/go/pkg/mod/example.com/x@v1/x.go",
        "_cgo_gotypes.go",
    ]
    assert go_source.choose_own([*others, own, "/main.go", "main.go"]) == [
        own, "/main.go", "main.go",
    ]  # fmt: skip


def test_a_closure_is_found_by_its_variable(tmp_path: Path):
    path = tmp_path / "counter.go"
    path.write_text(
        "package main\n\nfunc counter(start int) func(int) int {\n"
        "\tadd := func(count int) int {\n\t\treturn start + count\n\t}\n\treturn add\n}\n"
    )
    for name in ("add", "counter.add", "main.counter.add"):
        found = find_closure([path], name)
        assert found is not None
        assert (found.name, found.line) == ("main.counter.add", 5)
    assert find_closure([path], "other.add") is None
    assert find_closure([path], "start") is None
