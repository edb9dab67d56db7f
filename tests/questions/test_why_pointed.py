"""`why` follows values through calls that no name shows: pointers, closures, generators."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import PROGRAMS, build_debuggee, find_marker

FOLDER = PROGRAMS / "why"
Why = Callable[..., dict[str, Any]]


@pytest.fixture
def why(cli: Callable[..., Any]) -> Why:
    """Return what asks for the origin of an expression at a program's last marker."""

    def run(source: str, expression: str) -> dict[str, Any]:
        name = f"why/{source}"
        program: tuple[object, ...] = {
            ".py": (sys.executable, source),
            ".go": ("go", "run", source),
        }.get(Path(source).suffix) or (build_debuggee(name),)
        # A busy machine must not end the runs: their number alone is the bound.
        options = ["--at", f"{source}:{find_marker(name, 'end')}", "--timeout", "100"]
        command = ["why", expression, *options, "--", *program]
        told = cli("--json", *map(str, command), check=0, cwd=FOLDER, timeout=120)
        data: dict[str, Any] = told.data["data"]
        return data

    return run


def _last_line(answer: dict[str, Any]) -> int:
    return int(answer["links"][-1]["frame"]["line"])


@pytest.mark.adapter("gdb")
def test_a_value_that_a_function_pointer_returned_is_followed_into_the_function(why: Why) -> None:
    answer = why("pointed_calls.c", "price")
    assert [one["kind"] for one in answer["links"]][1:3] == ["returned", "returned"]
    assert answer["links"][1]["frame"]["line"] == find_marker("why/pointed_calls.c", "dispatch")
    assert _last_line(answer) == find_marker("why/pointed_calls.c", "bulk")
    assert answer["ended"] == "constant"


@pytest.mark.adapter("gdb")
def test_a_bit_field_was_not_written_by_what_wrote_its_neighbours(why: Why) -> None:
    answer = why("pointed_calls.c", "level")
    assert _last_line(answer) == find_marker("why/pointed_calls.c", "level")
    assert (answer["links"][-1]["old"], answer["links"][-1]["new"]) == ("0", "5")


@pytest.mark.adapter("gdb")
def test_a_value_of_cpp_is_followed_through_a_function_object_and_a_product(why: Why) -> None:
    answer = why("pointed_calls.cpp", "price")
    lambda_link = next(one for one in answer["links"] if one["certainty"] == "inferred")
    assert lambda_link["frame"]["line"] == find_marker("why/pointed_calls.cpp", "lambda")
    assert lambda_link["statement"] == "return price * percent / 100;"
    assert "by percent=-250" in lambda_link["details"]
    area = why("pointed_calls.cpp", "area")
    assert _last_line(area) == find_marker("why/pointed_calls.cpp", "scale")
    assert (area["ended"], area["ending"].split()[0]) == ("constant", "0.0")


@pytest.mark.adapter("gdb")
def test_the_origin_of_a_text_is_what_wrote_its_end(why: Why) -> None:
    answer = why("pointed_calls.cpp", "key")
    assert answer["links"][0]["frame"]["line"] == find_marker("why/pointed_calls.cpp", "grown")


@pytest.mark.adapter("gdb")
def test_a_value_of_rust_is_followed_into_closures_and_functions_on_one_line(why: Why) -> None:
    answer = why("pointed_calls.rs", "out")
    closure = next(one for one in answer["links"] if one["statement"] == "x * factor")
    assert closure["frame"]["line"] == find_marker("why/pointed_calls.rs", "closure")
    assert "by factor=-3" in closure["details"]
    assert _last_line(why("pointed_calls.rs", "max")) == find_marker(
        "why/pointed_calls.rs", "relax"
    )


@pytest.mark.adapter("delve")
@pytest.mark.parametrize(
    ("expression", "marker", "ended"),
    [
        ("out", "closure", "not followed"),
        ("low", "send", "constant"),
        ("x[2]", "other", "constant"),
        ("s.port", "port", "constant"),
        ("saved", "recover", "constant"),
        # An atomic, parts of a literal and of a copied array, a result with a field of its own.
        ("picked", "count", "constant"),
        ("bent", "count", "constant"),
        # A function of a variable, where a later line calls another one.
        ("doubled", "inner", "not followed"),
    ],
)
def test_a_value_of_go_is_followed_through_function_values_and_sends_on_one_line(
    why: Why, expression: str, marker: str, ended: str
) -> None:
    answer = why("pointed_calls.go", expression)
    assert _last_line(answer) == find_marker("why/pointed_calls.go", marker)
    assert answer["ended"] == ended
    # What a closure captured was not read: its register is not set yet there.
    assert "bonus=" not in answer["ending"]


@pytest.mark.parametrize(
    ("expression", "marker", "ended"),
    [
        ("last", "reading", "constant"),
        ("after", "loop", "constant"),
        ("temperature", "slot", "constant"),
        ("prio", "prio", "constant"),
    ],
)
def test_a_value_of_python_is_followed_out_of_generators_and_loops(
    why: Why, expression: str, marker: str, ended: str
) -> None:
    answer = why("iterated.py", expression)
    lines = [one["frame"]["line"] for one in answer["links"]]
    assert find_marker("why/iterated.py", marker) in lines
    assert answer["ended"] == ended


def test_items_of_a_generator_and_a_deque_are_found_by_their_values(why: Why) -> None:
    largest = why("iterated.py", "largest")
    assert largest["links"][1]["text"] == "yielded by doubled"
    assert [one["value"] for one in largest["links"][1]["operands"]] == ["3"]
    total = why("iterated.py", "total")
    assert [one["value"] for one in total["links"][0]["operands"]] == ["6", "8"]
    assert total["ended"] == "not followed"
    oldest = why("iterated.py", "oldest")
    assert oldest["links"][1]["frame"]["line"] == find_marker("why/iterated.py", "window")


def test_a_returned_null_is_followed_to_the_call_that_failed_and_the_jump(
    cli: Callable[..., Any],
) -> None:
    program = build_debuggee("why/failed_calls.c")
    words = ("got", "--at", "crash", "--timeout", "100", "--", program)
    told = cli("--json", "why", *words, check=0, timeout=120)
    answer = told.data["data"]
    found = [(one["kind"], one["frame"]["line"]) for one in answer["links"][-3:]]
    markers = [("returned", "null"), ("reached", "check"), ("returned", "refused")]
    assert found == [(kind, find_marker("why/failed_calls.c", one)) for kind, one in markers]
    text = "reached by `goto fail`, as `!read_item(list, &text)` was true"
    assert answer["links"][-2]["text"] == text
    assert answer["reached"][0]["frame"]["line"] == find_marker("why/failed_calls.c", "digit")


def test_of_a_failed_check_of_a_call_its_result_is_followed_and_the_operand_that_decided(
    cli: Callable[..., Any],
) -> None:
    program = build_debuggee("why/failed_calls.c")
    told = cli("--json", "crash", "--", program, "called", check=0, timeout=120)
    answer = told.data["data"]["why"]
    assert (answer["expression"], answer["value"], answer["links"]) == ('first_of("1279")', "-1", 1)
    assert answer["frame"]["line"] == find_marker("why/failed_calls.c", "none")
    places = [find_marker("why/failed_calls.c", one) for one in ("missing", "read", "null")]
    lines = [one["line"] for one in answer["earlier"]]
    assert [one for one in lines if one in places] == places
    assert not told.data["data"].get("why_compared")
