"""The words of `go test`: the package, the build flags, and what the tests' program gets."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from debugger.model import go_test_words


@pytest.mark.parametrize(
    ("words", "sent"),
    [
        (["-run", "TestA", "-v"], ("-test.run", "TestA", "-test.v")),
        (["--run=TestA"], ("-test.run=TestA",)),
        (["-test.v"], ("-test.v",)),
        (["-own", "run"], ("-own", "run")),
        (["-v", "-args", "-v"], ("-test.v", "-v")),
        ([], ()),
    ],
)
def test_arguments_of_go_test_are_written_for_the_tests_program(
    words: Sequence[str], sent: tuple[str, ...]
) -> None:
    assert go_test_words.test_arguments(words) == sent


@pytest.mark.parametrize(
    ("typed", "package", "build", "others"),
    [
        ("./rules -run TestA", "./rules", "", "-run TestA"),
        ("-v -run=TestA", ".", "", "-v -run=TestA"),
        (
            "-race -tags fast ./a -v -args ./b -race",
            "./a",
            "-race -tags fast",
            "-v -args ./b -race",
        ),
        ("-count=1 . x", ".", "", "-count=1 x"),
    ],
)
def test_the_package_and_the_build_flags_are_set_apart(
    typed: str, package: str, build: str, others: str
) -> None:
    found = go_test_words.split_go_test(typed.split())
    assert found == (package, build.split(), others.split())
