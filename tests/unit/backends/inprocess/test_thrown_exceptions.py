"""Exceptions are caught by their types' names as the compiler writes them."""

from __future__ import annotations

import json
import re

import pytest

from debugger.backends.inprocess import thrown_exceptions
from debugger.model.breakpoints import BoundBreakpoint, BreakpointSpec


def _chosen(kind: str, names: list[str]) -> list[str]:
    script = thrown_exceptions.type_condition(BreakpointSpec(catch="throw", type=kind))
    assert script is not None
    ends = json.loads(re.search(r"\[.*?\]", script)[0])
    return [name for name in names if name.endswith(tuple(ends))]


@pytest.mark.parametrize(
    ("kind", "fits"),
    [
        ("OrderError", ["10OrderError", "N4shop10OrderErrorE"]),
        ("shop::OrderError", ["N4shop10OrderErrorE"]),
        ("std::runtime_error", ["St13runtime_error"]),
        ("NoSuchError", []),
    ],
)
def test_a_type_is_chosen_by_its_name_or_its_last_part(kind: str, fits: list[str]):
    names = ["10OrderError", "N4shop10OrderErrorE", "St13runtime_error", "15MyruntimeFailed"]
    assert _chosen(kind, names) == fits


def test_without_a_type_there_is_no_condition():
    assert thrown_exceptions.type_condition(BreakpointSpec(catch="throw")) is None


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        (BreakpointSpec(catch="nope"), "nope"),
        (BreakpointSpec(catch="panic", type="Error"), "panic"),
    ],
)
def test_what_cannot_be_caught_says_why(spec: BreakpointSpec, says: str):
    found = thrown_exceptions.locate_catch(spec)
    assert isinstance(found, BoundBreakpoint)
    assert not found.verified
    assert says in (found.why or "")
