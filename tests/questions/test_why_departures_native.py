"""`why` follows the part by which a value of a compiled program failed its check."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import PROGRAMS, build_debuggee, find_marker

_CPP = "why/compared.cpp"


def _follow(cli: Callable[..., Any], at: str, *words: object, cwd: Path) -> dict[str, Any]:
    # A time limit of its own, as the usual one is of seconds: the machine may be busy.
    question = ("--json", "why", "got", "--at", at, "--timeout", "100", "--", *words)
    answer: dict[str, Any] = cli(*question, check=0, cwd=cwd, timeout=120).data["data"]
    return answer


@pytest.mark.adapter("gdb")
@pytest.mark.parametrize(
    ("case", "part", "marker"),
    [
        ("items", ("got[2].price", "21", "20"), "price"),
        ("memory", ("got.used[1]", "6", "7"), "used"),
    ],
)
def test_the_part_of_a_value_of_cpp_that_departs_is_followed(
    cli: Callable[..., Any], case: str, part: tuple[str, str, str], marker: str
) -> None:
    answer = _follow(cli, "crash", build_debuggee(_CPP), case, cwd=PROGRAMS)
    assert (answer["expression"], answer["value"], answer["other"]) == part
    assert answer["links"][0]["frame"]["line"] == find_marker(_CPP, marker), answer["links"]


@pytest.mark.adapter("gdb")
def test_a_crash_names_the_statement_that_made_the_part(cli: Callable[..., Any]) -> None:
    answer = cli("crash", "--", build_debuggee(_CPP), "text", check=0, cwd=PROGRAMS, timeout=120)
    line = next(one for one in answer.out.splitlines() if one.startswith("why: "))
    place = f"compared.cpp:{find_marker(_CPP, 'letter')}"
    assert line.startswith("why: got[2:]='zY DOG', not 'ZY DOG', "), line
    assert f" at {place} in to_upper: " in line


@pytest.mark.adapter("gdb")
@pytest.mark.skipif(shutil.which("rustc") is None, reason="rustc is missing")
def test_a_crash_of_rust_follows_what_was_compared_and_no_condition_around_it(
    cli: Callable[..., Any],
) -> None:
    program = build_debuggee("why/compared.rs")
    crash = cli("--json", "crash", "--", program, check=0, cwd=PROGRAMS, timeout=120).data["data"]
    assert crash["why"]["expression"] == "got"
    answer = _follow(cli, "crash", program, cwd=PROGRAMS)
    part = (answer["expression"], answer["value"], answer["other"])
    assert part == ("got[2].price", "21", "20")
    lines = [one["frame"]["line"] for one in answer["links"]]
    assert find_marker("why/compared.rs", "price") in lines


@pytest.mark.adapter("delve")
def test_a_part_of_a_value_of_go_is_followed_into_the_package(cli: Callable[..., Any]) -> None:
    folder = PROGRAMS / "why" / "compared"
    answer = _follow(cli, "fail", "go", "test", ".", cwd=folder)
    part = (answer["expression"], answer["value"], answer["other"])
    assert part == ("got[2].Price", "21", "20")
    computed = next(one for one in answer["links"] if one["kind"] == "computed")
    assert computed["frame"]["line"] == find_marker(folder / "items.go", "price")
    assert (computed["old"], computed["new"]) == ("20", "21")


EARLY = """static int noise(int a) { int x = a * 3, y = x + 1; return x + y; }
static int total(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i;
    return sum;
}
int main(void) {
    int a = noise(7);
    return a + total(4);
}
"""


@pytest.mark.adapter("gdb")
def test_a_local_at_the_beginning_of_its_function_is_not_said_to_be_read(
    cli: Callable[..., Any], compile_program: Callable[..., Path]
) -> None:
    program = compile_program(EARLY)
    question = ("why", "sum", "--at", "total", "--timeout", "100", "--", program)
    out = cli(*question, check=0, cwd=program.parent, timeout=120).out
    assert "sum is not assigned yet: prog.c:3 does it after the place of the stop" in out
    assert "was left on" not in out
