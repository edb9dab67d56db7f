"""Splits the words of `go test`: its package, what it builds with, what the tests get. Pure."""

from __future__ import annotations

from collections.abc import Sequence

GO_FLAGS = "GOFLAGS"
# What `go test` hands on to the tests with this before it (go help testflag).
_TEST_PREFIX = "test."
_TEST_FLAGS = frozenset(
    {
        "bench", "benchmem", "benchtime", "count", "cpu", "failfast", "fullpath", "fuzz",
        "fuzztime", "list", "parallel", "run", "short", "shuffle", "skip", "timeout", "v",
    }
)  # fmt: skip
# What `go test` builds with: `go help build`.
_GO_BUILD = frozenset(
    {"tags", "race", "mod", "modfile", "overlay", "ldflags", "work", "msan", "asan"}
)
_GO_ALONE = frozenset({"race", "work", "msan", "asan"})


def test_arguments(words: Sequence[str]) -> tuple[str, ...]:
    """Convert arguments of `go test` to those of the tests' program: -run becomes -test.run.

    Arguments after `-args` are the program's own.
    """
    found: list[str] = []
    for at, word in enumerate(words):
        if word in {"-args", "--args"}:
            return (*found, *words[at + 1 :])
        name = word.lstrip("-").partition("=")[0]
        is_flag = word.startswith("-") and name in _TEST_FLAGS
        found.append(f"-{_TEST_PREFIX}{word.lstrip('-')}" if is_flag else word)
    return tuple(found)


def go_build_words(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the build flags of `go test`, and the arguments after -args."""
    before: list[str] = []
    remaining = list(words)
    while remaining:
        word = remaining.pop(0)
        if word in {"-args", "--args"}:
            return before, remaining
        name, equals, _ = word.lstrip("-").partition("=")
        if not word.startswith("-") or name not in _GO_BUILD:
            continue
        before.append(word)
        if not equals and name not in _GO_ALONE and remaining:
            before.append(remaining.pop(0))
    return before, []


def split_go_test(words: Sequence[str]) -> tuple[str, list[str], list[str]]:
    """Return the package, the build flags and the other arguments of `go test`.

    The package is the folder that comes first; the present folder if there is none.
    """
    build, _ = go_build_words(words)
    package = ""
    others: list[str] = []
    of_build = list(build)
    for at, word in enumerate(words):
        if word in {"-args", "--args"}:
            others += words[at:]
            break
        if of_build and word == of_build[0]:
            of_build.pop(0)
        elif not package and (word in {".", ".."} or word.startswith(("./", "../", "/"))):
            package = word
        else:
            others.append(word)
    return package or ".", build, others


def with_go_flags(env: Sequence[tuple[str, str]], before: str) -> list[tuple[str, str]]:
    """Add what a command puts into GOFLAGS to those that the user has set."""
    return [(key, f"{before} {value}".strip() if key == GO_FLAGS else value) for key, value in env]
