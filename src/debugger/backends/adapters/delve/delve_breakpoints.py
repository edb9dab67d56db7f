"""Explains why a breakpoint does not bind in a Go program, by the functions of its source."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.debug_adapter import AdapterConnection
from debugger.errors import DebuggerError
from debugger.model.breakpoints import BoundBreakpoint, BreakpointKind, BreakpointSpec
from debugger.model.location import NO_FUNCTION, near_names, nearest_lines
from debugger.model.program import EvaluationPurpose, Frame

# Bytes of a source: generated files may be larger, and are not the user's.
_LISTED_MAX = 4  # searched files that are named
_READ_MAX = 4 << 20
_PACKAGE = re.compile(r"^package\s+(\w+)", re.MULTILINE)
# gofmt puts `func` of a declaration at a line's beginning, and its closing brace alone at one
# (`_END`): the outline is as exact as the formatting is.
_FUNCTION = re.compile(
    r"^func\s+(?:\((?P<receiver>[^)]*)\)\s*)?(?P<name>\w+)\s*(?:\[[^\]]*\])?\s*\(", re.MULTILINE
)
_BODY = re.compile(r"(?:^|\s)\{")
_NAMED = re.compile(r"\w+\s+\S")
# Characters of a function's result list.
_RESULTS_MAX = 2000
_END = re.compile(r"^\}", re.MULTILINE)
_NOT_OWN = re.compile(r"/pkg/mod/|/vendor/|\A_cgo|\A<")


class GoFunction(Struct, frozen=True):
    """Describes a function of a file, from its first line to its last.

    `names` are the names of receiver, parameters and results, `result_names` those of the results
    alone, `results` the types of the results.
    """

    name: str
    first: int
    last: int
    names: tuple[str, ...]
    results: tuple[str, ...] = ()
    result_names: tuple[str, ...] = ()


class GoOutline(Struct, frozen=True):
    """Holds a file's package, functions and length."""

    package: str
    functions: tuple[GoFunction, ...]
    length: int


def outline_file(path: str) -> GoOutline | None:
    """Parse a file; None if it cannot be read."""
    try:
        stat = Path(path).stat()
    except OSError:
        return None
    return _cached_outline(path, stat.st_mtime_ns, stat.st_size)


@functools.lru_cache(maxsize=256)
def _cached_outline(path: str, time_ns: int, size: int) -> GoOutline | None:
    # They are a part of the cache's key only.
    del time_ns, size  # another file by the same name
    try:
        with Path(path).open("rb") as file:
            text = file.read(_READ_MAX).decode(errors="replace")
    except OSError:
        return None
    package = _PACKAGE.search(text)
    functions = tuple(_parse_function(text, match) for match in _FUNCTION.finditer(text))
    return GoOutline(package[1] if package else "", functions, text.count("\n") + 1)


def _parse_function(text: str, match: re.Match[str]) -> GoFunction:
    receiver = match["receiver"] or ""
    inner, after = _parenthesized_text(text, match.end() - 1)
    rest = text[after : after + _RESULTS_MAX].lstrip(" \t")
    if rest.startswith("("):
        results, _ = _parenthesized_text(rest, 0)
    else:
        results = _BODY.split(rest.partition("\n")[0])[0].strip()
    # Without this the end would be the next function's.
    is_short = rest.partition("\n")[0].rstrip().endswith("}")  # all on one line
    end = None if is_short else _END.search(text, match.end())
    first = text.count("\n", 0, match.start()) + 1
    last = text.count("\n", 0, end.start()) + 1 if end else first
    result_names = tuple(_parameter_names(results))
    names = (*_parameter_names(receiver), *_parameter_names(inner), *result_names)
    name = _full_name(match["name"], receiver)
    return GoFunction(name, first, last, names, _parameter_types(results), result_names)


def _full_name(name: str, receiver: str) -> str:
    words = receiver.split()
    kind = words[-1].partition("[")[0] if words else ""
    return f"({kind}).{name}" if kind.startswith("*") else f"{kind}.{name}" if kind else name


def _parenthesized_text(text: str, start: int) -> tuple[str, int]:
    """Return the text within a parenthesis, and the index behind its end."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if not depth:
            return text[start + 1 : at], at + 1
    return "", len(text)


def _parameter_names(parameters: str) -> list[str]:
    """Return the names in `a, b int, c ...string`; types alone, as in `int, error`, have none."""
    parts = _split_parameters(parameters)
    if not _are_named(parts):
        return []
    return [one.split()[0] for one in parts if one.split()[0] != "_"]


def _parameter_types(parameters: str) -> tuple[str, ...]:
    """Return the types in `a, b int` or `int, error`."""
    parts = _split_parameters(parameters)
    if not _are_named(parts):
        return tuple(parts)
    found: list[str] = []
    # In `a, b int` only the last name of a group has the type.
    for one in reversed(parts):
        _, blank, kind = one.partition(" ")
        found.append(kind.strip() if blank or not found else found[-1])
    return tuple(reversed(found))


def _are_named(parts: Sequence[str]) -> bool:
    # Go has names for all or for none (Go specification: Function types).
    return any(_NAMED.match(one) and not one.startswith(("chan ", "func(")) for one in parts)


def _split_parameters(parameters: str) -> list[str]:
    parts, depth, part = [], 0, ""
    for letter in parameters:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    parts.append(part.strip())
    return [one for one in parts if one]


def function_names(path: str) -> list[str]:
    """Return the functions of a file as delve names them: main.work, main.(*Tree).Add."""
    found = outline_file(path)
    return [f"{found.package}.{one.name}" for one in found.functions] if found else []


def parameter_names(path: str, function: str, line: int) -> list[str] | None:
    """Return the names of a function's receiver, parameters and results; None for a closure."""
    found = outline_file(path)
    for one in found.functions if found else ():
        if one.first <= line <= one.last and function.endswith(f".{one.name}"):
            return list(one.names)
    return None


def unset_results(path: str, function: str, line: int) -> tuple[str, ...]:
    """Return the named results without a value yet: all, at the function's first line."""
    found = outline_file(path)
    for one in found.functions if found else ():
        if one.first == line and function.endswith(f".{one.name}"):
            return one.result_names
    return ()


def result_types(path: str, function: str) -> tuple[str, ...] | None:
    """Return the result types of a function of a file; None if the file does not have it."""
    found = outline_file(path)
    for one in found.functions if found else ():
        if one.name == function:
            return one.results
    return None


def count_lines(path: str) -> int | None:
    """Return how many lines a file has; None if it cannot be read."""
    found = outline_file(path)
    return found.length if found is not None else None


def choose_own(paths: Iterable[str]) -> list[str]:
    """Return the sources that are neither Go's own nor another module's."""
    # The hundreds of Go's own lie in few folders: each is looked at once.
    is_installed = {"": False}

    def is_in_go(folder: str) -> bool:
        known = is_installed.get(folder)
        if known is None:
            # A Go installation is wherever these two are: GOROOT need not be set.
            known = (Path(folder) / "VERSION").is_file() and (Path(folder) / "src/runtime").is_dir()
            known = is_installed[folder] = known or is_in_go(folder.rpartition("/")[0])
        return known

    return [
        one for one in paths if not _NOT_OWN.search(one) and not is_in_go(one.rpartition("/")[0])
    ]


_EXPLAINED = re.compile(r"could not find (?:statement at|file) |location .* not found\Z", re.DOTALL)
_TAKEN = re.compile(r"Breakpoint exists at (?P<file>.+):(?P<line>\d+) at [0-9a-f]+")
_AMBIGUOUS = re.compile(r"Location \".*\" ambiguous: (?P<names>.*)")
_SYNTAX = re.compile(r"\A\d+:\d+: ")
_PROBE = "/debugger-cli/probe.go"
_NEVER = "1 == 2"
_NEARBY_LINES = 40
_SOURCES_MAX = 500


def parse_taken(text: str) -> tuple[str, int] | None:
    """Return the location of the breakpoint that another one is refused for."""
    found = _TAKEN.match(text)
    return (found["file"], int(found["line"])) if found else None


def choose_function(name: str, refusal: str) -> str | None:
    """Choose `main.Item.Less` for `Item.Less`, not the pointer method that the compiler makes.

    Of several functions the program's own `main` comes before the runtime's: `main.main.func1`.
    """
    found = _AMBIGUOUS.match(refusal)
    names = found["names"].removesuffix("…").split(", ") if found else []
    # The compiler makes a method of the pointer type for each method of the value type.
    exact = [one for one in names if one.endswith(f".{name}")]
    if len(exact) > 1:
        exact = [one for one in exact if one.startswith("main.")]
    return exact[0] if len(exact) == 1 and not name.startswith("(") else None


def parse_refusal(text: str) -> str | None:
    """Shorten a refusal; None leaves the reason to `explain_unbound`."""
    if _EXPLAINED.search(text):
        return None
    if _SYNTAX.match(text):
        return f"the condition is not a Go expression: {text}"
    return text


async def explain_unbound(connection: AdapterConnection, spec: BreakpointSpec) -> BoundBreakpoint:
    """Explain why a breakpoint does not bind, with lines, files or functions that would."""
    if spec.kind is BreakpointKind.FUNCTION:
        return await _explain_function(connection, spec)
    if spec.file is None or spec.line is None:
        return BoundBreakpoint(verified=False, why="no code at this address")
    name = Path(spec.file).name
    unbound = BoundBreakpoint(verified=False, file=spec.file, line=spec.line)
    try:
        known = await _list_sources(connection, f"/{re.escape(name)}$")
        if spec.file not in known:
            why = f"no such file in the program: {name}"
            near = tuple(known) or near_names(
                name, [Path(one).name for one in await _own_sources(connection)]
            )
            return msgspec.structs.replace(unbound, why=why, near_names=near[:4])
        lines = await _lines_nearby(connection, spec.file, spec.line)
    except DebuggerError:  # the program runs: delve evaluates nothing then
        lines = []
    near_lines = nearest_lines(spec.line, lines)
    return msgspec.structs.replace(
        unbound, why=f"no statement at {name}:{spec.line}", nearest_lines=near_lines
    )


async def _lines_nearby(connection: AdapterConnection, file: str, line: int) -> list[int]:
    """Find the lines near by that have statements: those where a breakpoint would bind.

    The breakpoints are set by another name of the file, so that the user's stay, with a condition
    that never holds, and are removed again.
    """
    last = count_lines(file) or line
    middle = min(line, last)
    # delve has no request for the lines of a file that have code, and refuses breakpoints one by
    # one: a list of breakpoints, one on each line near by, is the question. They must not disturb
    # the user's:
    #
    # - The user's list of the same file would be replaced (DAP: SetBreakpointsRequest). So the list
    #   is sent for a file of another name, which delve's substitutePath maps to this one.
    # - The condition never holds: a program that runs meanwhile does not stop.
    # - The list is emptied at once, and the mapping removed, whatever happens.
    tried = range(max(1, middle - _NEARBY_LINES), min(last, middle + _NEARBY_LINES) + 1)
    await _set_config(connection, f"{_quote_path(_PROBE)} {_quote_path(file)}")
    try:
        body = await _set_breakpoints(
            connection, [ask.SourceBreakpointArgument(one, condition=_NEVER) for one in tried]
        )
        await _set_breakpoints(connection, [])
    finally:
        await _set_config(connection, _quote_path(_PROBE))
    # One of the user's is where no other can be.
    return [
        one
        for one, answer in zip(tried, body.breakpoints, strict=False)
        # delve has one breakpoint at an address: the user's own is no reason against the line.
        if answer.verified or (answer.message or "").startswith("Breakpoint exists")
    ]


async def _set_config(connection: AdapterConnection, words: str) -> None:
    await connection.run_raw(f"config substitutePath {words}", None)


async def _set_breakpoints(
    connection: AdapterConnection, requested: list[ask.SourceBreakpointArgument]
) -> dap.BreakpointsBody:
    arguments = ask.SetBreakpointsArguments(
        ask.SourceReferenceArgument(path=_PROBE), tuple(requested)
    )
    body: dap.BreakpointsBody = await connection.send_request(
        "setBreakpoints", arguments, dap.BreakpointsBody
    )
    return body


def _quote_path(word: str) -> str:
    """Quote a path for delve's command line, which has quotes but no escapes."""
    return f'"{word}"' if '"' not in word else word


async def _explain_function(connection: AdapterConnection, spec: BreakpointSpec) -> BoundBreakpoint:
    assert spec.function is not None
    names: list[str] = []
    files: list[str] = []
    try:
        # The program's own functions only: those of libraries are thousands.
        files = (await _own_sources(connection))[:_SOURCES_MAX]
        for file in files:
            names += function_names(file)
    except DebuggerError:
        names = []
    listed = ", ".join(Path(one).name for one in files[:_LISTED_MAX])
    more = ", …" if len(files) > _LISTED_MAX else ""
    searched = f" ({listed}{more}, and its libraries)" if files else ""
    return BoundBreakpoint(
        verified=False,
        why=f"{NO_FUNCTION} {spec.function} in the program{searched}",
        near_names=near_names(spec.function, names),
    )


async def _own_sources(connection: AdapterConnection) -> list[str]:
    """Return the sources that are neither the standard library's nor another module's."""
    return choose_own(await _list_sources(connection, "[.]go$"))


async def _list_sources(connection: AdapterConnection, pattern: str) -> list[str]:
    text = await connection.evaluate(f"dlv sources {pattern}", None, EvaluationPurpose.RAW)
    return [line for line in text.value.splitlines() if line]


async def argument_names(connection: AdapterConnection, frame: Frame) -> list[str] | None:
    """Return the names of a function's receiver, parameters and results."""
    del connection
    if frame.file is None or frame.line is None:
        return None
    return parameter_names(frame.file, frame.function, frame.line)


# A value of Go begins with its type or with a quote, and never with a brace.
_LOGGED_ERROR = re.compile(r"\{(?:eval err: )?(.*)\}\Z", re.DOTALL)


def read_logged_error(text: str) -> str | None:
    """Return the message of an error that a logpoint printed in place of a value, else None."""
    failed = _LOGGED_ERROR.match(text)
    return failed[1] if failed is not None else None
