"""Finds the stop at which a test has failed, and inspects it."""

from __future__ import annotations

import dataclasses
import re

import msgspec
from msgspec import Struct

from debugger.core import answers
from debugger.core.causes import Cause, Facts, cause
from debugger.core.feeding import feeding, roots
from debugger.core.model import Reason
from debugger.core.state import State
from debugger.core.statement import statement
from debugger.questions import asking
from debugger.questions.asking import Question, Run
from debugger.questions.found import Found, may_be_a_crash
from debugger.questions.scene import Scene, look
from debugger.questions.testing import runners
from debugger.questions.testing.report import Named, thrown
from debugger.session import source

_STOPS_MAX = 500
_BREAKS = "SIGTRAP"  # googletest's way to stop at a failure
_JAVASCRIPT = frozenset({runners.NODE, *runners.SCRIPTS})
# tap's and tape's assertions, and vitest's soft ones.
_GOES_ON = re.compile(r"(?<![\w.])(?:t|tap|st|tt)\.(?!assert\b|test\b)\w+\(|\bexpect\.soft\(")
_SPAN = 40  # lines in which the condition is that an assertion stands under


class Seen(Struct, frozen=True):
    """A test at its failure; `session` is there while it is kept."""

    cause: Cause
    facts: Facts
    scene: Scene
    made: tuple[answers.MadeView, ...]
    adapter: str
    session: str | None = None
    passes: int = 1  # of the line, that fit what the runner says of the failure as well


async def see(
    question: Question, runner: str, named: Named, *, is_alone: bool = True
) -> tuple[Seen | None, answers.Stop]:
    """Run a test to its failure; return what was seen, or None, and the last stop.

    A test of JavaScript passes its assertion's line often where that is in a loop. It is the last
    time that failed: what is thrown there ends the test, where it runs alone. Among others it is
    the pass whose values the runner's words have.

    Raises:
        DebuggerError: What starting the program raises; ADAPTER_DIED.
    """
    if runner not in _JAVASCRIPT:
        return await _first_seen(question, runner, named)
    found, stop, hits = await _last_seen(question, runner, named, is_alone=is_alone)
    if found is None or not question.keep:
        return found, stop
    specs = [msgspec.structs.replace(one, hit_count=hits) for one in question.breakpoints]
    kept = dataclasses.replace(question, breakpoints=tuple(specs))
    return await _first_seen(kept, runner, named)


async def _last_seen(
    question: Question, runner: str, named: Named, *, is_alone: bool
) -> tuple[Seen | None, answers.Stop, int]:
    """Return what was seen the time that failed, the last stop, and which time it was."""
    async with asking.running(question) as run:
        stop = await run.first()
        best, hit, hits = None, 0, 0
        while hits < _STOPS_MAX and stop.state == State.STOPPED.value:
            found = await _seen(run, stop, runner, named)
            if found is not None:
                hits += 1
                is_as_good = best is not None and _fits(found, named) == _fits(best, named)
                passes = best.passes + 1 if best is not None and is_as_good else 1
                if best is None or _is_later(found, best, named, is_alone=is_alone):
                    best, hit = found, hits
                    if not is_alone:
                        best = msgspec.structs.replace(best, passes=passes)
            stop = await run.go_on(run.at(stop))
        return best, stop, hit


def _is_later(seen: Seen, best: Seen, named: Named, *, is_alone: bool) -> bool:
    """Tell whether a later pass of a line may be the one that failed.

    An assertion that does not throw lets its test go on: there the values tell.
    """
    line = next((one.text for one in seen.scene.source if one.current), "")
    ends_test = is_alone and not _GOES_ON.search(line)
    return ends_test or _fits(seen, named) >= _fits(best, named)


def _fits(seen: Seen, named: Named) -> int:
    """Count the values of what an assertion reads that the runner's words hold."""
    read = set(seen.facts.operands)
    held = [one.value for one in (*seen.scene.values, *seen.scene.locals) if one.name in read]
    return sum(one.strip("'\"") in named.message for one in held)


async def _first_seen(
    question: Question, runner: str, named: Named
) -> tuple[Seen | None, answers.Stop]:
    async with asking.running(question) as run:
        stop = await run.first()
        for _ in range(_STOPS_MAX):
            if stop.state != State.STOPPED.value:
                break
            found = await _seen(run, stop, runner, named)
            if found is not None:
                name = run.keep(stop) if question.keep else None
                return msgspec.structs.replace(found, session=name), stop
            stop = await run.go_on(run.at(stop))
        return None, stop


async def _seen(run: Run, stop: answers.Stop, runner: str, named: Named) -> Seen | None:
    at = run.at(stop)
    if _is_assertion(stop, runner):
        scene = await at.do(lambda: look(at, stop, run.said()))
        return _asserted(run, scene, runner, named)
    if runner in _JAVASCRIPT or not may_be_a_crash(stop):
        return None
    found = Found()
    await found.take(run, stop)
    if not found.seen:
        return None
    scene, told = found.seen[-1].scene, found.seen[-1].cause
    return Seen(told, scene.facts, scene, made(scene), run.session.adapter)


def _is_assertion(stop: answers.Stop, runner: str) -> bool:
    """Tell whether a stop is where the runner learns of a failure; what crashes is none."""
    if runner in {runners.CTEST, runners.PROGRAM}:
        return stop.signal == _BREAKS
    is_crash = stop.reason == Reason.EXCEPTION.value or stop.signal is not None
    return runner in {runners.GO, *_JAVASCRIPT} and not is_crash


def _asserted(run: Run, scene: Scene, runner: str, named: Named) -> Seen:
    """Tell of an assertion what the runner said of it, with the values that were seen."""
    exception, message = said_of(runner, named)
    facts = msgspec.structs.replace(
        scene.facts, signal=None, exception=exception, message=message, is_panic=False
    )
    return Seen(cause(facts), facts, scene, made(scene), run.session.adapter)


def said_of(runner: str, named: Named) -> tuple[str, str]:
    """Return the type of what failed a test, and in one line what its runner said of it."""
    message = " ".join(named.message.split())
    return thrown(message) if runner in _JAVASCRIPT else ("AssertionError", message)


def made(scene: Scene) -> tuple[answers.MadeView, ...]:
    """Return the lines above that made what the assertion reads, with the values of now."""
    frame = scene.frame
    if frame is None or frame.file is None or frame.line is None:
        return ()
    known = {one.name: one for one in (*scene.values, *scene.locals)}
    return made_above(frame, known)


def made_above(
    frame: answers.FrameView, known: dict[str, answers.VariableView]
) -> tuple[answers.MadeView, ...]:
    """Return the lines above a frame's place that made what it reads, and the values known."""
    lines = source.lines(frame.file) if frame.file is not None else None
    if lines is None or frame.line is None or not 1 <= frame.line <= len(lines):
        return ()
    wanted = set(roots(statement(lines[frame.line - 1 : frame.line + 4])))
    wanted |= set(roots(_condition(lines, frame.line)))
    return tuple(
        answers.MadeView(
            answers.FrameView(0, frame.function, frame.file, one.line),
            one.text,
            tuple(known[name] for name in one.names if name in known),
        )
        for one in feeding(lines, frame.line, wanted)
    )


def _condition(lines: tuple[str, ...], at: int) -> str:
    """Return the `if` that a line stands under: with Go it is the assertion."""
    depth = len(lines[at - 1]) - len(lines[at - 1].lstrip())
    for number in range(at - 1, max(at - _SPAN, 0), -1):
        line = lines[number - 1]
        if line.strip() and len(line) - len(line.lstrip()) < depth:
            text = line.strip().lstrip("} ")
            return text if text.startswith(("if ", "else if ", "for ", "if(")) else ""
    return ""
