"""`crash` of small bugs of C, C++, Rust and Go: the wrong value, and where it comes from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from debuggees import build_debuggee, find_marker

_C = pytest.mark.adapter("lldb-dap")
_RUST = pytest.mark.adapter("gdb")
_GO = pytest.mark.adapter("delve")


def _ask(cli: Callable[..., Any], program: str, bug: str) -> dict[str, Any]:
    built = build_debuggee(f"slips/{program}")
    answer: dict[str, Any] = cli("crash", "--json", "--", built, bug, timeout=60).data["data"]
    return answer


@pytest.mark.parametrize(
    ("program", "bug", "cause", "culprit"),
    [
        pytest.param("slips.c", "product", "bad pointer: pixels[bytes], ", "bytes", marks=_C),
        pytest.param(
            "slips.c",
            "missing_break",
            "null pointer, perhaps what name_of(kind) returned, ",
            "name_of(kind)",
            marks=_C,
        ),
        pytest.param(
            "slips.c", "far_index", "bad pointer: buckets[slot*100000], ", "slot*100000", marks=_C
        ),
        pytest.param("slips.c", "below_zero", "bad pointer: data[i], ", "i", marks=_C),
        pytest.param(
            "slips.cpp", "empty", "empty: levels, back() of it is called, ", "levels", marks=_C
        ),
        pytest.param(
            "slips.cpp",
            "text",
            'invalid_argument: stoi of port="", which is no number, ',
            "port",
            marks=_C,
        ),
        pytest.param(
            "slips.cpp",
            "ended",
            "null pointer: it->second, it is an iterator of no element, ",
            "it",
            marks=_C,
        ),
        pytest.param(
            "slips.rs",
            "character",
            "slice of text ends at byte at=7, inside the character 'é' (bytes 6..8), ",
            "at",
            marks=_RUST,
        ),
        pytest.param(
            "slips.rs",
            "converted",
            "index 44 out of range, table has 4 with small as usize=44, ",
            "small",
            marks=_RUST,
        ),
    ],
)
def test_the_wrong_value_is_named_with_the_line_that_gave_it(
    shared_cli: Callable[..., Any], program: str, bug: str, cause: str, culprit: str
) -> None:
    answer = _ask(shared_cli, program, bug)
    assert answer["cause"].startswith(cause)
    why = answer["why"]
    place = (why["expression"], why["frame"]["line"])
    assert place == (culprit, find_marker(f"slips/{program}", bug))
    if bug in {"product", "converted"}:
        assert why["details"][0].startswith("overflow: ")


@pytest.mark.parametrize(
    ("program", "bug", "cause"),
    [
        pytest.param(
            "slips.cpp",
            "pure",
            "call of the pure virtual release() while its object is built or destroyed, ",
            marks=_C,
        ),
        pytest.param(
            "slips.rs",
            "unwraps",
            "unwrap() of None, returned by first.as_ref().unwrap().next.as_ref()",
            marks=_RUST,
        ),
        pytest.param("slips.go", "inner", 'write to a nil map: rates()["c"] is nil, ', marks=_GO),
        pytest.param(
            "slips.go",
            "function",
            'nil pointer, perhaps handlers["put"], a function that is nil or has no entry, ',
            marks=_GO,
        ),
    ],
)
def test_the_part_of_a_statement_that_failed_is_named(
    shared_cli: Callable[..., Any], program: str, bug: str, cause: str
) -> None:
    assert _ask(shared_cli, program, bug)["cause"].startswith(cause)


@_C
@pytest.mark.parametrize(
    ("bug", "name"), [("view", "shown"), ("reference", "first"), ("iterator", "it")]
)
def test_what_a_view_a_reference_or_an_iterator_leads_to_was_freed(
    shared_cli: Callable[..., Any], bug: str, name: str
) -> None:
    freed = _ask(shared_cli, "slips.cpp", bug)["freed_block"]
    assert freed["expression"] == name
    # A destructor that the compiler wrote has the line of its class.
    lines = [one["line"] for one in freed["freed"][:2]]
    assert find_marker("slips/slips.cpp", bug) in lines


@_GO
def test_goroutines_that_wait_for_each_others_locks_are_named(
    shared_cli: Callable[..., Any],
) -> None:
    line, locked = (find_marker("slips/slips.go", one) for one in ("crossed", "locked"))
    has = f"and has locked from.mu since line {locked}"
    wait = f"waits for to.mu in main.transfer slips.go:{line}, {has}"
    assert sum(wait in one for one in _ask(shared_cli, "slips.go", "crossed")["notes"]) == 2
    command = ("hang", "--json", "--", build_debuggee("slips/slips.go"), "crossed")
    cause = shared_cli(*command, timeout=60).data["data"]["cause"]
    assert cause.startswith("deadlock: ")
    assert cause.count(wait) == 2


@_GO
def test_goroutines_that_write_one_map_are_both_named(shared_cli: Callable[..., Any]) -> None:
    answer = _ask(shared_cli, "slips.go", "maps")
    lines = [find_marker("slips/slips.go", one) for one in ("first", "second")]
    assert answer["frame"]["line"] in lines
    (other,) = {*lines} - {answer["frame"]["line"]}
    noted = [one for one in answer["notes"] if one.startswith("another goroutine is in ")]
    assert any(f"slips.go:{other}: counts[" in one for one in noted)
