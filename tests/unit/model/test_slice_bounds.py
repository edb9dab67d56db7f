"""A panic about the bounds of a slice names the bound, and what it was computed from."""

from __future__ import annotations

import pytest

from debugger.model.exception_cause import explain_exception
from debugger.model.slice_bounds import SliceBounds, explain_bounds
from debugger.model.statement import parse_reads

GO = "runtime error: slice bounds out of range "


@pytest.mark.parametrize(
    ("statement", "message", "expected"),
    [
        (
            "return v[from : from+n]",
            f"{GO}[:7] with capacity 5",
            SliceBounds("slice bound from+n=7 out of range, v has capacity 5", ("from", "n"), "n"),
        ),
        (
            "return v[:n]",
            f"{GO}[:4] with length 2",
            SliceBounds("slice bound n=4 out of range, v has 2", (), "n"),
        ),
        (
            "return v[from:n]",
            f"{GO}[5:4]",
            SliceBounds("slice of v begins at from=5, after its end 4", (), "from"),
        ),
        (
            "return v[n-from:]",
            f"{GO}[-1:]",
            SliceBounds("slice bound n-from=-1 out of range", ("n", "from"), ""),
        ),
        (
            "return v[:9]",
            f"{GO}[:9] with capacity 5",
            SliceBounds("slice bound 9 out of range, v has capacity 5"),
        ),
        (
            "let part = &v[from..from + n];",
            "range end index 7 out of range for slice of length 5",
            SliceBounds("slice bound from+n=7 out of range, v has 5", ("from", "n"), "n"),
        ),
        (
            "let part = &v[from..];",
            "range start index 7 out of range for slice of length 5",
            SliceBounds("slice bound from=7 out of range, v has 5", (), "from"),
        ),
        (
            "let part = &v[from..=p.end];",
            "slice index starts at 3 but ends at 2",
            SliceBounds("slice of v begins at from=3, after its end 2", (), "from"),
        ),
    ],
)
def test_the_bound_is_named_with_the_greatest_of_what_was_added(
    statement: str, message: str, expected: SliceBounds
) -> None:
    read = parse_reads(statement)
    values = {"from": "3", "n": "4"}
    assert explain_bounds(message, read.accesses, read.operands, values) == expected
    cause = explain_exception("panic", message, read.accesses, read.operands, values)
    assert (cause.kind, cause.text) == ("index_out_of_range", expected.text)


def test_of_two_slices_none_is_chosen() -> None:
    read = parse_reads("copy(v[:n], w[:from])")
    assert explain_bounds(f"{GO}[:4] with length 2", read.accesses, read.operands, {}) is None


def test_an_index_is_no_bound() -> None:
    read = parse_reads("return v[n]")
    assert explain_bounds(f"{GO}[:4] with length 2", read.accesses, read.operands, {}) is None
