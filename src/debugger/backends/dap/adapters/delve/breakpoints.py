"""Explains why a breakpoint does not bind in a Go program, and what would (delve 1.27.2)."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.adapters.delve import source
from debugger.backends.dap.profile import Inside
from debugger.core.breakpoints import Bound, Kind, Spec
from debugger.core.locate import near_names, nearest_lines
from debugger.core.model import Frame, Purpose
from debugger.errors import DebuggerError

_EXPLAINED = re.compile(r"could not find (?:statement at|file) |location .* not found\Z", re.DOTALL)
_TAKEN = re.compile(r"Breakpoint exists at (?P<file>.+):(?P<line>\d+) at [0-9a-f]+")
_AMBIGUOUS = re.compile(r"Location \".*\" ambiguous: (?P<names>.*)")
_SYNTAX = re.compile(r"\A\d+:\d+: ")
_PROBE = "/debugger-cli/probe.go"
_NEVER = "1 == 2"
_AROUND = 40
_SOURCES_MAX = 500


def taken(text: str) -> tuple[str, int] | None:
    """Return the location of the breakpoint that another one is refused for."""
    found = _TAKEN.match(text)
    return (found["file"], int(found["line"])) if found else None


def choose_function(name: str, refusal: str) -> str | None:
    """Choose `main.Item.Less` of `Item.Less`, not the pointer's method that the compiler makes."""
    found = _AMBIGUOUS.match(refusal)
    names = found["names"].removesuffix("…").split(", ") if found else []
    exact = [one for one in names if one.endswith(f".{name}")]
    return exact[0] if len(exact) == 1 and not name.startswith("(") else None


def refusal(text: str) -> str | None:
    """Leave to `explain` what can be said better."""
    if _EXPLAINED.search(text):
        return None
    if _SYNTAX.match(text):
        return f"the condition is no expression of Go's: {text}"
    return text


async def explain(inside: Inside, spec: Spec) -> Bound:
    """Name the lines with statements near by, the files or the functions of like names."""
    if spec.kind is Kind.FUNCTION:
        return await _explain_function(inside, spec)
    if spec.file is None or spec.line is None:
        return Bound(verified=False, why="no code at this address")
    name = Path(spec.file).name
    unbound = Bound(verified=False, file=spec.file, line=spec.line)
    try:
        known = await _sources(inside, f"/{re.escape(name)}$")
        if spec.file not in known:
            why = f"no such file in the program: {name}"
            near = tuple(known) or near_names(name, [Path(one).name for one in await _own(inside)])
            return msgspec.structs.replace(unbound, why=why, near_names=near[:4])
        lines = await _lines(inside, spec.file, spec.line)
    except DebuggerError:  # the program runs: delve evaluates nothing then
        lines = []
    near_lines = nearest_lines(spec.line, lines)
    return msgspec.structs.replace(
        unbound, why=f"no statement at {name}:{spec.line}", nearest_lines=near_lines
    )


async def _lines(inside: Inside, file: str, line: int) -> list[int]:
    """Find the lines near by that have statements: those where a breakpoint would bind.

    The breakpoints are set by another name of the file, so that the user's stay, with a condition
    that never holds, and taken away again.
    """
    last = source.length(file) or line
    middle = min(line, last)
    tried = range(max(1, middle - _AROUND), min(last, middle + _AROUND) + 1)
    await _config(inside, f"{_quoted(_PROBE)} {_quoted(file)}")
    try:
        body = await _set(inside, [ask.SourceBreakpoint(one, condition=_NEVER) for one in tried])
        await _set(inside, [])
    finally:
        await _config(inside, _quoted(_PROBE))
    # One of the user's is where no other can be.
    return [
        one
        for one, answer in zip(tried, body.breakpoints, strict=False)
        if answer.verified or (answer.message or "").startswith("Breakpoint exists")
    ]


async def _config(inside: Inside, words: str) -> None:
    await inside.raw(f"config substitutePath {words}", None)


async def _set(inside: Inside, wanted: list[ask.SourceBreakpoint]) -> dap.BreakpointsBody:
    arguments = ask.SetBreakpoints(ask.SourceArgument(path=_PROBE), tuple(wanted))
    body: dap.BreakpointsBody = await inside.request(
        "setBreakpoints", arguments, dap.BreakpointsBody
    )
    return body


def _quoted(word: str) -> str:
    """Quote a path for delve's command line, whose words have quotes around and no escapes."""
    return f'"{word}"' if '"' not in word else word


async def _explain_function(inside: Inside, spec: Spec) -> Bound:
    assert spec.function is not None
    names: list[str] = []
    try:
        for file in (await _own(inside))[:_SOURCES_MAX]:
            names += source.names(file)
    except DebuggerError:
        names = []
    return Bound(
        verified=False,
        why=f"no function {spec.function} in the program",
        near_names=near_names(spec.function, names),
    )


async def _own(inside: Inside) -> list[str]:
    """Return the sources that are neither the standard library's nor another module's."""
    return [one for one in await _sources(inside, "[.]go$") if source.is_own(one)]


async def _sources(inside: Inside, pattern: str) -> list[str]:
    text = await inside.evaluate(f"dlv sources {pattern}", None, Purpose.RAW)
    return [line for line in text.value.splitlines() if line]


async def arguments(inside: Inside, frame: Frame) -> list[str] | None:
    """Return the names of a function's receiver, parameters and results."""
    del inside
    if frame.file is None or frame.line is None:
        return None
    return source.parameters(frame.file, frame.function, frame.line)
