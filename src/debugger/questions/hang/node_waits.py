"""Explains the waits of an idle Node: promises and resources."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from debugger.model.location import is_library
from debugger.model.program import EvaluationPurpose
from debugger.questions.hang.hang_verdict import ThreadWait
from debugger.questions.hang.thread_sampling import SampledFrame, SampledThread
from debugger.questions.runner.question_run import RunningQuestion
from debugger.session import source_files

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
_TEXT = 80  # characters of a source line
_EMPTY = "nothing is left that could settle it: no timer, no socket, no file"


def with_hook(env: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which Node records the origins of promises."""
    before = env.get("NODE_OPTIONS", "")
    return {**env, "NODE_OPTIONS": f'{before} --require "{PENDING}"'.strip()}


async def pending_awaits(run: RunningQuestion) -> tuple[list[SampledThread], list[str]]:
    """Return the pending awaits, and notes.

    Raises:
        DebuggerError: TIMEOUT if the program does not return to its event loop.
    """
    # What keeps the event loop alive: timers, sockets, files.
    resources = json.loads(await _evaluate_text(run, _RESOURCES) or "{}")
    report = await _promise_report(run)
    pending = json.loads(report) if report else None
    notes = []
    if resources:
        retained = ", ".join(f"{count} {name}" for name, count in resources.items())
        notes.append(f"its event loop is kept by: {retained}")
    if pending is None:
        return [_main_sample(())], [*notes, _NOT_SEEN]
    if not resources:
        notes.append(_EMPTY)
    cwd = run.session.target.cwd
    # Calls of one function in one line are told together.
    made: dict[str, tuple[int, tuple[SampledFrame, ...], str]] = {}
    for count, found_at in pending:
        places = _await_frames(found_at, cwd)
        text = _awaited_text(places, int(found_at[0][-1]))
        key = repr([text, *((one.file, one.line) for one in places)])
        made[key] = (count + (made[key][0] if key in made else 0), places, text)
    awaits = list(made.values())
    found = []
    for at, (count, places, text) in enumerate(awaits):
        name = _plain_function(places[0].function) + (f" ({count} times)" if count > 1 else "")
        owner = _awaiting_call(places, text, [one for _, one, _ in awaits])
        wait = (
            ThreadWait("future", f"`{text}`, which has not settled")
            if owner is None
            else ThreadWait("task", text, (str(owner),))
        )
        found.append(SampledThread(str(at), name, "await", (places,), wait))
    found.sort(key=_dependence_rank)
    return [_main_sample(tuple(one.key for one in found)), *found], notes


def _dependence_rank(one: SampledThread) -> int:
    """Rank awaits: those of other awaits, or of several promises at once, come last."""
    if one.wait is None:
        return 0
    return 2 if one.wait.kind != "future" else int(one.wait.text.startswith(_SEVERAL))


def _main_sample(owners: tuple[str, ...]) -> SampledThread:
    return SampledThread("main", "the main thread", wait=ThreadWait("loop", "", owners))


async def _promise_report(run: RunningQuestion) -> str:
    """Return the program's report of its promises; "" if it was not started for it."""
    parts: list[str] = []
    # A shorter part is the last one.
    while len(parts) < _PARTS_MAX and all(len(one) == _PART for one in parts):
        parts.append(await _evaluate_text(run, _ASK.format(len(parts) * _PART, _PART)))
    return "".join(parts)


async def _evaluate_text(run: RunningQuestion, expression: str) -> str:
    session = run.session
    value = await session.run_job(
        lambda: session.backend.evaluate(expression, None, EvaluationPurpose.EVALUATE)
    )
    try:
        found = ast.literal_eval(value.value)
    except (ValueError, SyntaxError):
        return ""
    return found if isinstance(found, str) else ""


def _await_frames(places: list[list[object]], cwd: str) -> tuple[SampledFrame, ...]:
    return tuple(
        SampledFrame(str(name), str(file), int(str(line)), not is_library(str(file), cwd))
        for name, file, line, _ in places
    )


def _awaited_text(places: tuple[SampledFrame, ...], column: int) -> str:
    """Return the awaited expression of the innermost location, else its line."""
    first = places[0]
    lines = source_files.read_source(first.file) if first.file else None
    if lines is None or not first.line or first.line > len(lines):
        return "a promise"
    line = lines[first.line - 1]
    found = _AWAIT.match(line, column - 1) or _EACH.search(line) or _AWAIT.search(line)
    return _expression_before(found[1]) if found else line.strip()[:_TEXT]


def _awaiting_call(
    places: tuple[SampledFrame, ...], text: str, awaits: Sequence[tuple[SampledFrame, ...]]
) -> int | None:
    """Return the await inside the call that is awaited here.

    The name alone could also match another call of the same function, as in a recursion.
    """
    names = set(_CALLED.findall(text))
    for at, (first, *callers) in enumerate(awaits):
        if _plain_function(first.function) not in names or awaits[at] == places:
            continue
        if all(_is_at(one, other) for one, other in zip(callers, places, strict=False)):
            return at
    return None


def _is_at(one: SampledFrame, other: SampledFrame) -> bool:
    return (one.file, one.line) == (other.file, other.line)


def _expression_before(text: str) -> str:
    """Return the text before the bracket, comma or semicolon that ends an expression."""
    depth = 0
    for at, letter in enumerate(text):
        if depth == 0 and letter in ")]},;":
            return text[:at].strip()
        depth += (letter in "([{") - (letter in ")]}")
    return text[:_TEXT].strip()


def _plain_function(function: str) -> str:
    return function.rpartition(".")[2]
