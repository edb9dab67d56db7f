"""Explains why a breakpoint does not bind in a Go program, and what would (delve 1.27.2)."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from debugger.backends.adapters.delve import go_outline
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.adapter_profile import AdapterAccess
from debugger.errors import DebuggerError
from debugger.model.breakpoints import BoundBreakpoint, BreakpointKind, BreakpointSpec
from debugger.model.location import near_names, nearest_lines
from debugger.model.program import EvaluationPurpose, Frame

_EXPLAINED = re.compile(r"could not find (?:statement at|file) |location .* not found\Z", re.DOTALL)
_TAKEN = re.compile(r"Breakpoint exists at (?P<file>.+):(?P<line>\d+) at [0-9a-f]+")
_AMBIGUOUS = re.compile(r"Location \".*\" ambiguous: (?P<names>.*)")
_SYNTAX = re.compile(r"\A\d+:\d+: ")
_PROBE = "/debugger-cli/probe.go"
_NEVER = "1 == 2"
_AROUND = 40
_SOURCES_MAX = 500


def parse_taken(text: str) -> tuple[str, int] | None:
    """Return the location of the breakpoint that another one is refused for."""
    found = _TAKEN.match(text)
    return (found["file"], int(found["line"])) if found else None


def choose_function(name: str, refusal: str) -> str | None:
    """Choose `main.Item.Less` of `Item.Less`, not the pointer's method that the compiler makes."""
    found = _AMBIGUOUS.match(refusal)
    names = found["names"].removesuffix("…").split(", ") if found else []
    exact = [one for one in names if one.endswith(f".{name}")]
    return exact[0] if len(exact) == 1 and not name.startswith("(") else None


def parse_refusal(text: str) -> str | None:
    """Leave to `explain_unbound` what can be said better."""
    if _EXPLAINED.search(text):
        return None
    if _SYNTAX.match(text):
        return f"the condition is no expression of Go's: {text}"
    return text


async def explain_unbound(inside: AdapterAccess, spec: BreakpointSpec) -> BoundBreakpoint:
    """Name the lines with statements near by, the files or the functions of like names."""
    if spec.kind is BreakpointKind.FUNCTION:
        return await _explain_function(inside, spec)
    if spec.file is None or spec.line is None:
        return BoundBreakpoint(verified=False, why="no code at this address")
    name = Path(spec.file).name
    unbound = BoundBreakpoint(verified=False, file=spec.file, line=spec.line)
    try:
        known = await _list_sources(inside, f"/{re.escape(name)}$")
        if spec.file not in known:
            why = f"no such file in the program: {name}"
            near = tuple(known) or near_names(
                name, [Path(one).name for one in await _own_sources(inside)]
            )
            return msgspec.structs.replace(unbound, why=why, near_names=near[:4])
        lines = await _lines_nearby(inside, spec.file, spec.line)
    except DebuggerError:  # the program runs: delve evaluates nothing then
        lines = []
    near_lines = nearest_lines(spec.line, lines)
    return msgspec.structs.replace(
        unbound, why=f"no statement at {name}:{spec.line}", nearest_lines=near_lines
    )


async def _lines_nearby(inside: AdapterAccess, file: str, line: int) -> list[int]:
    """Find the lines near by that have statements: those where a breakpoint would bind.

    The breakpoints are set by another name of the file, so that the user's stay, with a condition
    that never holds, and taken away again.
    """
    last = go_outline.count_lines(file) or line
    middle = min(line, last)
    tried = range(max(1, middle - _AROUND), min(last, middle + _AROUND) + 1)
    await _set_config(inside, f"{_quote_path(_PROBE)} {_quote_path(file)}")
    try:
        body = await _set_breakpoints(
            inside, [ask.SourceBreakpointArgument(one, condition=_NEVER) for one in tried]
        )
        await _set_breakpoints(inside, [])
    finally:
        await _set_config(inside, _quote_path(_PROBE))
    # One of the user's is where no other can be.
    return [
        one
        for one, answer in zip(tried, body.breakpoints, strict=False)
        if answer.verified or (answer.message or "").startswith("Breakpoint exists")
    ]


async def _set_config(inside: AdapterAccess, words: str) -> None:
    await inside.run_raw(f"config substitutePath {words}", None)


async def _set_breakpoints(
    inside: AdapterAccess, wanted: list[ask.SourceBreakpointArgument]
) -> dap.BreakpointsBody:
    arguments = ask.SetBreakpointsArguments(ask.SourceReferenceArgument(path=_PROBE), tuple(wanted))
    body: dap.BreakpointsBody = await inside.send_request(
        "setBreakpoints", arguments, dap.BreakpointsBody
    )
    return body


def _quote_path(word: str) -> str:
    """Quote a path for delve's command line, whose words have quotes around and no escapes."""
    return f'"{word}"' if '"' not in word else word


async def _explain_function(inside: AdapterAccess, spec: BreakpointSpec) -> BoundBreakpoint:
    assert spec.function is not None
    names: list[str] = []
    try:
        for file in (await _own_sources(inside))[:_SOURCES_MAX]:
            names += go_outline.function_names(file)
    except DebuggerError:
        names = []
    return BoundBreakpoint(
        verified=False,
        why=f"no function {spec.function} in the program",
        near_names=near_names(spec.function, names),
    )


async def _own_sources(inside: AdapterAccess) -> list[str]:
    """Return the sources that are neither the standard library's nor another module's."""
    return [one for one in await _list_sources(inside, "[.]go$") if go_outline.is_own(one)]


async def _list_sources(inside: AdapterAccess, pattern: str) -> list[str]:
    text = await inside.evaluate(f"dlv sources {pattern}", None, EvaluationPurpose.RAW)
    return [line for line in text.value.splitlines() if line]


async def argument_names(inside: AdapterAccess, frame: Frame) -> list[str] | None:
    """Return the names of a function's receiver, parameters and results."""
    del inside
    if frame.file is None or frame.line is None:
        return None
    return go_outline.parameter_names(frame.file, frame.function, frame.line)
