"""Explains what an idle Node waits for: promises and resources."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from debugger.core.hangs import Wait
from debugger.core.model import Purpose
from debugger.core.origin import is_library
from debugger.core.samples import Place, Sampled
from debugger.questions.asking import Run
from debugger.session import source

PENDING = str(Path(__file__).parent / "inside" / "pending.cjs")
_ASK = "(globalThis[Symbol.for('debugger.pending')] || (() => ''))({}, {})"
_PART = 500  # characters, of which js-debug 1.112 cuts none
_PARTS_MAX = 100
_RESOURCES = (
    "JSON.stringify(process.getActiveResourcesInfo().reduce("
    "(all, one) => ({...all, [one]: (all[one] || 0) + 1}), {}))"
)
_AWAIT = re.compile(r"\bawait\b\s*(.+)")
_EACH = re.compile(r"\bfor\s+await\s*\([^()]*?\bof\s+(.+)")
_CALLED = re.compile(r"([\w$]+)\s*\(")
_NOT_SEEN = (
    "which promises are pending is only known of a program that was started for it: "
    "debugger hang -- node SCRIPT"
)
_SEVERAL = "`Promise."  # all, race, any, allSettled
_TEXT = 80
_EMPTY = "nothing is left that could settle it: no timer, no socket, no file"


def with_hook(env: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which Node notes where promises are made."""
    before = env.get("NODE_OPTIONS", "")
    return {**env, "NODE_OPTIONS": f'{before} --require "{PENDING}"'.strip()}


async def waiting(run: Run) -> tuple[list[Sampled], list[str]]:
    """Return the awaits that are pending, and what is to be said beside them.

    Raises:
        DebuggerError: TIMEOUT where the program does not get to its event loop.
    """
    resources = json.loads(await _asked(run, _RESOURCES) or "{}")
    told = await _told(run)
    pending = json.loads(told) if told else None
    notes = []
    if resources:
        kept = ", ".join(f"{count} {name}" for name, count in resources.items())
        notes.append(f"its event loop is kept by: {kept}")
    if pending is None:
        return [_main(())], [*notes, _NOT_SEEN]
    if not resources:
        notes.append(_EMPTY)
    cwd = run.session.target.cwd
    # Calls of one function in one line are told together.
    made: dict[str, tuple[int, tuple[Place, ...], str]] = {}
    for count, found_at in pending:
        places = _places(found_at, cwd)
        text = _awaited(places, int(found_at[0][-1]))
        key = repr([text, *((one.file, one.line) for one in places)])
        made[key] = (count + (made[key][0] if key in made else 0), places, text)
    awaits = list(made.values())
    found = []
    for at, (count, places, text) in enumerate(awaits):
        name = _plain(places[0].function) + (f" ({count} times)" if count > 1 else "")
        owner = _called(places, text, [one for _, one, _ in awaits])
        wait = (
            Wait("future", f"`{text}`, which has not settled")
            if owner is None
            else Wait("task", text, (str(owner),))
        )
        found.append(Sampled(str(at), name, "await", (places,), wait))
    found.sort(key=_depends)
    return [_main(tuple(one.key for one in found)), *found], notes


def _depends(one: Sampled) -> int:
    """Order awaits: those of other awaits, or of several promises at once, come last."""
    if one.wait is None:
        return 0
    return 2 if one.wait.kind != "future" else int(one.wait.text.startswith(_SEVERAL))


def _main(owners: tuple[str, ...]) -> Sampled:
    return Sampled("main", "the main thread", wait=Wait("loop", "", owners))


async def _told(run: Run) -> str:
    """Return what the program tells of its promises; "" where it was not started for it."""
    parts: list[str] = []
    while len(parts) < _PARTS_MAX and all(len(one) == _PART for one in parts):
        parts.append(await _asked(run, _ASK.format(len(parts) * _PART, _PART)))
    return "".join(parts)


async def _asked(run: Run, expression: str) -> str:
    session = run.session
    value = await session.do(lambda: session.backend.evaluate(expression, None, Purpose.EVALUATE))
    try:
        found = ast.literal_eval(value.value)
    except (ValueError, SyntaxError):
        return ""
    return found if isinstance(found, str) else ""


def _places(places: list[list[object]], cwd: str) -> tuple[Place, ...]:
    return tuple(
        Place(str(name), str(file), int(str(line)), not is_library(str(file), cwd))
        for name, file, line, _ in places
    )


def _awaited(places: tuple[Place, ...], column: int) -> str:
    """Return what the innermost place awaits, as the source has it, else its line."""
    first = places[0]
    lines = source.lines(first.file) if first.file else None
    if lines is None or not first.line or first.line > len(lines):
        return "a promise"
    line = lines[first.line - 1]
    found = _AWAIT.match(line, column - 1) or _EACH.search(line) or _AWAIT.search(line)
    return _expression(found[1]) if found else line.strip()[:_TEXT]


def _called(
    places: tuple[Place, ...], text: str, awaits: Sequence[tuple[Place, ...]]
) -> int | None:
    """Return which of the awaits is in the call that is awaited here.

    By its name alone it may be another call of the same function, as in a recursion.
    """
    names = set(_CALLED.findall(text))
    for at, (first, *callers) in enumerate(awaits):
        if _plain(first.function) not in names or awaits[at] == places:
            continue
        if all(_is_at(one, other) for one, other in zip(callers, places, strict=False)):
            return at
    return None


def _is_at(one: Place, other: Place) -> bool:
    return (one.file, one.line) == (other.file, other.line)


def _expression(text: str) -> str:
    """Return what stands before the bracket, comma or semicolon that ends an expression."""
    depth = 0
    for at, letter in enumerate(text):
        if depth == 0 and letter in ")]},;":
            return text[:at].strip()
        depth += (letter in "([{") - (letter in ")]}")
    return text[:_TEXT].strip()


def _plain(function: str) -> str:
    return function.rpartition(".")[2]
