"""Parses user locations, and maps and classifies source paths. Pure."""

from __future__ import annotations

import difflib
import os.path
import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode

# The events of a run that are locations: the crash, the assertion at which a test fails, the end of
# the program, and the moment at which it makes no progress.
CRASH, FAIL, EXIT, HANG = "crash", "fail", "exit", "hang"
EVENTS = (CRASH, FAIL, EXIT, HANG)
ENDS = frozenset({EXIT, HANG})
_LIBRARY = re.compile(
    r"/(?:site-packages|dist-packages|node_modules|rustlib|\.cargo/registry|go/pkg/mod)/"
    r"|^/usr/(?:include|lib|share|src)/|^/rustc/|^/rust/deps/|^library/(?:alloc|core|std|std_detect|test)/src/"
    r"|/lib/python\d[\d.]*/|/lib/ruby/(?:gems/)?\d|/gems/[^/]+-\d[^/]*/|^(?:/usr/local|/usr/lib)/go[^/]*/src/"
    r"|/go\d?[\d.]*/src/(?:runtime|fmt|os|sync|net|internal)/|^<|^node:|/sysdeps/|^\.\./|/libsanitizer/"
    r"|^\./(\w+)/\.{1,2}/\1/"  # glibc of Debian: ./nptl/./nptl/pthread_mutex_lock.c
)
# How the reason begins that a breakpoint on a function does not bind.
NO_FUNCTION: Final = "no function"
_SUGGESTED_MAX: Final = 120  # characters of a name that a person would type


def is_library(file: str | None, cwd: str) -> bool:
    """Return whether a file belongs to a library or a runtime; files below `cwd` are the user's.

    A package that is installed below `cwd` is still a library.
    """
    if file is None:
        return True
    relative = file.removeprefix(f"{cwd.rstrip('/')}/")
    return _LIBRARY.search(f"/{relative}" if relative != file else file) is not None


_TEST_FOLDERS: Final = frozenset({"test", "tests", "__tests__", "spec", "testing"})
_TEST_FILE: Final = re.compile(
    r"(?:^|[._-])(?:test|tests|spec)(?:[._-]|$)|^conftest\.py$", re.IGNORECASE
)


def is_test_file(file: str) -> bool:
    """Return whether a file has tests, by its name and those of its last two folders."""
    *folders, name = file.split("/")
    return bool(_TEST_FILE.search(name)) or not _TEST_FOLDERS.isdisjoint(folders[-2:])


class SourceMap(Struct, frozen=True):
    """Pairs of folders, at build time and on this machine, without a trailing slash."""

    pairs: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        """Return whether there are any pairs."""
        return bool(self.pairs)

    def to_local(self, path: str) -> str:
        """Return the local path of a program's file; an unmapped one is unchanged."""
        return _replace_folder(path, self.pairs)

    def to_built(self, path: str) -> str:
        """Return the build-time path of a local file."""
        return _replace_folder(path, tuple((here, built) for built, here in self.pairs))


def _replace_folder(path: str, pairs: tuple[tuple[str, str], ...]) -> str:
    """Replace the innermost folder that has a counterpart."""
    fitting = [(old, new) for old, new in pairs if path == old or path.startswith(f"{old}/")]
    if not fitting:
        return path
    old, new = max(fitting, key=lambda pair: len(pair[0]))
    return new + path[len(old) :]


def source_map(mapping: Mapping[str, str], home: str) -> SourceMap:
    """Parse the configuration's `[sources] map`; `~` stands for the home directory.

    Raises:
        DebuggerError: USAGE for a folder that is not absolute.
    """
    pairs = []
    for pair in mapping.items():
        folders = tuple(_clean_folder(path, home) for path in pair)
        bad = next((path for path in folders if not path.startswith("/")), None)
        if bad is not None:
            raise DebuggerError(
                ErrorCode.USAGE,
                f"[sources] map: not an absolute path: {bad!r}",
                hint='debugger config --path; [sources] map = { "/build/src" = "/home/me/src" }',
            )
        pairs.append((folders[0].rstrip("/"), folders[1].rstrip("/")))
    return SourceMap(tuple(pairs))


def _clean_folder(path: str, home: str) -> str:
    full = home + path[1:] if path == "~" or path.startswith("~/") else path
    return posixpath.normpath(full) if full else full


# How the names of source files end, without the dot: a regular expression for use within another.
SOURCE_SUFFIX = (
    r"(?:pyw?|[cm]?[jt]sx?|c|cc|cpp|cxx|c\+\+|h|hh|hpp|hxx|inl|ipp|tcc|cu|m|mm|rs|go|swift|zig"
    r"|java|kts?|scala|groovy|rb|ru|rake|erb|php|phtml|cs|vb|fs"
    r"|f|for|f90|f95|f03|f08|ad[bs]|d|nim|pas|pp|sh|bash|lua|pl|pm|exs?|erl|dart)"
)
_FILE_LINE = re.compile(r"(?P<file>.+):(?P<line>\d+)\Z")
# `loop.c:`, `loop.c:x`, `:6`, `loop:-1`; but neither `app::main` nor `-[Account add:]`.
_BAD_LINE = re.compile(r"(?:[^:\s\[]*[./][^:\s]*|):[^:]*\Z|[^:\s]+:-\d+\Z")
# `shop.py:Cart.total`, `tree.go:(*Tree).Add`; after two colons it is a C++ or Rust name.
_FILE_FUNCTION = re.compile(
    rf"(?P<file>[^:\s\[]+\.{SOURCE_SUFFIX})"
    r":(?P<function>[^\W\d][^\s:]*(?:::[^\s:]+)*|[$#~(<*][^\s:]+(?:::[^\s:]+)*)\Z"
)
_ADDRESS = re.compile(r"\*?(0[xX][0-9a-fA-F]+)\Z")
# What may follow a scope or `operator` in brackets: a call operator, a namespace, a Go receiver.
_DECLTYPE = re.compile(r"decltype ?\(")
_NO_ARGUMENTS = ("()", "(anonymous", "(*")
_CLOSURE = "_$u7b$$u7b$closure$u7d$$u7d$"
_NEAR_FILE, _NEAR_OTHER_KIND = 0.6, 0.85
_HINT = "a place is FILE:LINE, LINE, a function's name, FILE:FUNCTION, or *0xADDRESS"


class Location(Struct, frozen=True):
    """A location as the user named it: a line of a file, a function, or an address.

    With a file and a function it is the function that this file defines.
    """

    file: str | None = None
    line: int | None = None
    function: str | None = None
    address: str | None = None


def parse_location(text: str) -> Location:
    """Parse `file:line`, `line`, `function`, `file:function` or `*0xADDR`.

    Raises:
        DebuggerError: USAGE.
    """
    words = text.strip()
    if not words or any(ord(letter) < ord(" ") for letter in words):
        raise DebuggerError(ErrorCode.USAGE, f"not a location: {text!r}", hint=_HINT)
    if words.isdecimal():
        return Location(line=_parse_line_number(words))
    match = _FILE_LINE.match(words)
    if match and not match["file"].endswith(":"):
        return Location(file=match["file"], line=_parse_line_number(match["line"]))
    named = _FILE_FUNCTION.match(words)
    if named:
        return Location(file=named["file"], function=named["function"])
    if _BAD_LINE.match(words):
        raise DebuggerError(
            ErrorCode.USAGE, f"no line in {text!r}: lines are numbers from 1", hint=_HINT
        )
    if words.startswith("*"):
        address = _ADDRESS.match(words)
        if address is None:
            raise DebuggerError(ErrorCode.USAGE, f"not an address: {text!r}", hint=_HINT)
        return Location(address=hex(int(address[1], 16)))
    return Location(function=words)


def _parse_line_number(digits: str) -> int:
    line = int(digits) if len(digits) < len("4294967296") else 0
    if line < 1:
        raise DebuggerError(ErrorCode.USAGE, f"no line {digits}: lines count from 1", hint=_HINT)
    return line


def absolute_path(file: str, cwd: str) -> str:
    """Return a file's path, relative to the caller's working directory."""
    return os.path.normpath(os.path.join(cwd, os.path.expanduser(file)))


def match_paths(file: str, candidates: Iterable[str]) -> list[str]:
    """Return the candidates whose path ends with the parts of `file`, best (shortest) first."""
    parts = _path_parts(file)
    found = {path for path in candidates if _path_parts(path)[-len(parts) :] == parts}
    return sorted(found, key=lambda path: (len(path), path))


def short_paths(files: Iterable[str]) -> dict[str, str]:
    """Return each file's name, with the folders that tell it from others of the same name."""
    parts = {file: _path_parts(file) for file in files}
    names = {}
    for file, own in parts.items():
        others = [one for other, one in parts.items() if other != file]
        counts = range(1, len(own) + 1)
        count = next((one for one in counts if all(own[-one:] != o[-one:] for o in others)), 0)
        names[file] = "/".join(own[-count:]) if count else file
    return names


def _path_parts(path: str) -> list[str]:
    return [part for part in path.replace("\\", "/").split("/") if part not in {"", "."}]


def nearest_lines(line: int, valid: Sequence[int], most: int = 4) -> tuple[int, ...]:
    """Return the valid lines nearest to `line`, in ascending order."""
    return tuple(sorted(sorted(set(valid), key=lambda other: (abs(other - line), other))[:most]))


def near_names(name: str, names: Iterable[str], most: int = 4) -> tuple[str, ...]:
    """Return the names similar to `name`, likeliest first."""
    # LLDB names copies inside other functions by both, with an offset.
    pool = [one for one in dict.fromkeys(names) if len(one) <= _SUGGESTED_MAX and " + " not in one]
    by_fold: dict[str, str] = {}
    for other in pool:
        by_fold.setdefault(other.lower(), other)
        by_fold.setdefault(re.split(r"::|\.", other.lower())[-1], other)
    close = difflib.get_close_matches(name.lower(), list(by_fold), n=most * 2, cutoff=0.6)
    return tuple(dict.fromkeys(by_fold[key] for key in close))[:most]


# Of files that no command runs.
_DATA_ENDINGS: Final = frozenset(
    {".toml", ".ini", ".cfg", ".conf", ".json", ".yaml", ".yml", ".xml", ".lock", ".md", ".rst",
     ".txt", ".csv", ".log", ".html", ".o", ".a", ".pyc", ".class", ".h", ".hpp"}
)  # fmt: skip


def near_files(name: str, names: Iterable[str], most: int = 3) -> tuple[str, ...]:
    """Return the file names similar to `name`, likeliest first.

    They are compared without their extensions, which make any two scripts look alike; among equals
    the one with the same extension is first.
    """
    stem, ending = os.path.splitext(name.lower())
    rated = []
    for other in dict.fromkeys(names):
        other_stem, other_ending = os.path.splitext(other.lower())
        if other_ending in _DATA_ENDINGS and ending != other_ending:
            continue
        is_same_kind = ending in {other_ending, ""} or not other_ending
        score = difflib.SequenceMatcher(None, stem, other_stem).ratio()
        if score >= (_NEAR_FILE if is_same_kind else _NEAR_OTHER_KIND):
            rated.append((-score, other_ending != ending, other))
    return tuple(other for _, _, other in sorted(rated)[:most])


def is_pattern(name: str) -> bool:
    """Return whether a function's name is a pattern: `incr*`, `MyClass::*`.

    A pointer in brackets and an operator's name are no patterns: `main.(*Tree).Add`, `operator*`.
    """
    bare = re.sub(r"\([^()]*\)|<[^<>]*>|operator\S*", "", name)
    return "*" in bare or "?" in bare


def split_arguments(name: str) -> tuple[str, str | None]:
    """Split `a::f(int, char)` into the name and its arguments without blanks; None without any."""
    if not name.endswith(")") or not (plain := plain_function(name)) or plain == name:
        return name, None
    _, _, rest = name.partition(f"{plain}(")
    return plain, "".join(rest.removesuffix(")").split())


@lru_cache(maxsize=1024)  # each stop has the functions of the one before
def plain_function(name: str) -> str:
    """Strip the arguments' list, a trailing ` const` and a Rust hash from a function's name.

    `work(int, char**)` → `work`; `std::vector<f(int)>::push(x)` → `std::vector<f(int)>::push`;
    `app::main::h0123456789abcdef` → `app::main`; `main::_$u7b$$u7b$closure$u7d$$u7d$`, as LLDB 19
    leaves it, → `main::{closure}`; `operator()(int)` → `operator()`;
    `decltype(f(1)) g<int>(int)` → `g<int>`; `main.(*Tree).Add` stays.
    """
    original = name
    depth, name = 0, _without_decltype(name)
    for at, letter in enumerate(name):
        if letter in "<{" and not name.endswith(("operator", "operator<"), 0, at):
            depth += 1
        elif letter in ">}" and not name.endswith(("operator", "operator>", "-", "="), 0, at):
            depth -= 1
        elif letter == "(" and depth <= 0 and at:
            if name.startswith(_NO_ARGUMENTS, at) and name.endswith(("operator", "::", "."), 0, at):
                continue
            name = _without_result(name[:at])
            break
    name = re.sub(r"::h[0-9a-f]{16}\Z", "", name).replace(_CLOSURE, "{closure}")
    return name.strip().removeprefix("::") or original


def _without_decltype(name: str) -> str:
    """Cut off a result type that begins with `decltype(…)`, whose brackets are no arguments."""
    match = _DECLTYPE.match(name)
    depth = 0
    for at in range(match.end() - 1, len(name)) if match else ():
        depth += (name[at] == "(") - (name[at] == ")")
        if depth == 0:
            return name[at + 1 :].lstrip(" &*") or name
    return name


def _without_result(name: str) -> str:
    """Cut off a template's result type: up to the last blank outside of brackets."""
    depth, start = 0, 0
    before, _, _ = name.partition("operator")
    for at, letter in enumerate(before):
        if letter in "<{(":
            depth += 1
        elif letter in ">})":
            depth -= 1
        elif letter == " " and depth == 0:
            start = at + 1
    return name[start:]
