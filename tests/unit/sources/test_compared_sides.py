"""The values that a failed check compares are found by its source."""

from __future__ import annotations

import pytest

from debugger.sources.compared_sides import ComparisonKind, find_compared

CHECKS = [
    ("a.c", "assert(strcmp(got, want) == 0);", [("got", "want", "text", "")]),
    ("a.c", "assert(!strcmp(got, want));", [("got", "want", "text", "")]),
    ("a.c", "assert(memcmp(&a, &b, sizeof a) == 0);", [("&a", "&b", "memory", "sizeof a")]),
    (
        "a.c",
        'assert(!strncmp(r->name, "a, b", 3) && r->n == want->n);',
        [("r->name", '"a, b"', "text", "3"), ("r->n", "want->n", "value", "")],
    ),
    ("a.c", "assert(got < want);", []),
    ("a.c", "assert(got != want);", []),
    ("a.cpp", "EXPECT_EQ(got, f(x, y)) << got;", [("got", "f(x, y)", "value", "")]),
    ("a.cpp", 'ASSERT_STREQ("x", got);', [('"x"', "got", "text", "")]),
    ("a.cpp", "REQUIRE(got == want);", [("got", "want", "value", "")]),
    ("a.cpp", "if (a->b != c->d)\n    throw Error();", [("a->b", "c->d", "value", "")]),
    ("a.cpp", "if (a->b == c->d)\n    throw Error();", []),
    ("a.rs", 'if x == 3 {\n    assert_eq!(got, want, "{}", x);', [("got", "want", "value", "")]),
    ("a.rs", "if x != 3 {\n    assert_ne!(got, want);", []),
    ("a.go", "if !reflect.DeepEqual(got, want) {\n\tt.Fatal()", [("got", "want", "value", "")]),
    ("a.go", "if got := f(); got != want {\n\tt.Fatal()", [("got", "want", "value", "")]),
    (
        "a.go",
        'if d := cmp.Diff(want, got); d != "" {\n\tt.Error(d)',
        [("want", "got", "value", "")],
    ),
    ("a.go", "require.Equal(t, want, got.Name)", [("want", "got.Name", "value", "")]),
    ("a.py", "assert got == want", []),
]


@pytest.mark.parametrize(("file", "source", "sides"), CHECKS)
def test_a_check_compares_two_values(
    file: str, source: str, sides: list[tuple[str, str, str, str]]
) -> None:
    lines = source.splitlines()
    found = find_compared(file, lines, len(lines))
    assert [(one.left, one.right, one.how.value, one.size) for one in found] == sides


@pytest.mark.parametrize(
    ("file", "check", "suspects"),
    [
        ("a.cpp", "EXPECT_EQ(expected_size, got.size);", ["got.size", "expected_size"]),
        ("a.c", "assert(got[i] == i * i);", ["got[i]"]),
        ("a.rs", "assert_eq!(&got[..], other.as_slice());", ["got", "other"]),
        ("a.go", "assert.Equal(t, first, second)", ["second", "first"]),
        ("a.go", "assert.Equal(t, tt.wantErr, err.Error())", ["err", "tt.wantErr"]),
        ("a.c", "assert(size == SIZE_MAX);", ["size"]),
    ],
)
def test_the_side_that_is_not_expected_is_the_suspect(
    file: str, check: str, suspects: list[str]
) -> None:
    assert find_compared(file, [check], 1)[0].suspects() == suspects


def test_the_other_side_of_a_value_is_found_behind_what_only_refers_to_it() -> None:
    (found,) = find_compared("a.c", ["assert(memcmp(&a, b.data, 4) == 0);"], 1)
    assert (found.how, found.other_of("a"), found.other_of("&a")) == (
        ComparisonKind.MEMORY,
        "b.data",
        "b.data",
    )
    assert (found.other_of("b.data"), found.other_of("b")) == ("&a", None)
