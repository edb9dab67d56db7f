"""A lambda of C++ is found by its variable, and as `lambda` of the function around it."""

from __future__ import annotations

from pathlib import Path

import pytest

from debuggees import build_debuggee, find_marker
from debugger.symbols.dwarf import code_spans
from debugger.symbols.function_definitions import find_definitions, find_last_line


@pytest.mark.parametrize(
    ("name", "markers"),
    [
        ("main::lambda", ["twice", "less"]),
        ("main::twice", ["twice"]),
        ("twice", ["twice"]),
        ("Shop::sum::lambda", ["add"]),
        ("sum::add", ["add"]),
        ("main::add", []),
        ("Shop::sum::twice", []),
        ("lambda", []),
        ("items", []),
    ],
)
def test_a_lambda_is_found_at_the_line_of_its_body(name: str, markers: list[str]) -> None:
    found = find_definitions(str(build_debuggee("lambdas.cpp")), name)
    assert [one.line for one in found] == [find_marker("lambdas.cpp", one) for one in markers]
    assert all(one.is_lambda and one.name == name for one in found)


def test_a_function_is_no_lambda() -> None:
    [found] = find_definitions(str(build_debuggee("lambdas.cpp")), "Shop::sum")
    assert not found.is_lambda


def test_the_debug_information_of_a_program_is_read_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A command that names four functions of a Rust program read its library four times."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    program = str(build_debuggee("lambdas.cpp"))
    units: list[object] = []
    read = code_spans.of_unit
    monkeypatch.setattr(code_spans, "of_unit", lambda unit: units.append(unit) or read(unit))
    assert find_definitions(program, "Shop::sum")
    assert units
    units.clear()
    assert find_definitions(program, "Shop::sum")
    assert find_last_line(program, "Shop::sum")
    assert not units
