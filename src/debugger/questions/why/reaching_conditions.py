"""Finds the conditions by which the last statement of a chain was reached, and what they compared.

The source shows the conditions. Their operands are those of the last time that the condition's line
ran before the statement, in the same call.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from debugger.model.answers.frames import FrameView
from debugger.questions.runner.answer import ReachingCondition
from debugger.questions.why import statement_origin
from debugger.questions.why.answer import ValueOperand, WhyLink
from debugger.questions.why.native_runs import NativeRuns
from debugger.questions.why.traced_run import LinePlan, TraceEvent, TraceFrame
from debugger.session import source_files
from debugger.sources.deciding_condition import DecidingCondition, find_reaching

_CONDITIONS = 2
_CALLERS = 2  # where the function itself has no conditions
_OPERANDS = 4
# What changes while the condition is evaluated.
_EFFECT = re.compile(r"(?<![=!<>])=(?!=)|\+\+|--")


def place_of(frame: FrameView | None) -> tuple[str, Sequence[str], int] | None:
    """Return the file of a frame, its lines, and the frame's line."""
    if frame is None or frame.file is None or frame.line is None:
        return None
    lines = source_files.read_source(frame.file)
    return (frame.file, lines, frame.line) if lines is not None else None


def find_conditions_of(frame: FrameView | None) -> list[DecidingCondition]:
    """Return the conditions by which a frame's line is reached, the innermost first."""
    place = place_of(frame)
    return find_reaching(place[0], "\n".join(place[1]), place[2]) if place is not None else []


def find_reached(link: WhyLink) -> tuple[ReachingCondition, ...]:
    """Return the conditions of a link's statement, or else of the nearest call that has some."""
    frames = (link.frame, *link.stack[:_CALLERS]) if link.frame is not None else ()
    every = (_conditions_at(one) for one in frames if one is not None)
    return next(filter(None, every), ())


def _conditions_at(frame: FrameView) -> tuple[ReachingCondition, ...]:
    return tuple(
        ReachingCondition(msgspec.structs.replace(frame, line=one.line), one.written, one.is_met)
        for one in find_conditions_of(frame)[:_CONDITIONS]
    )


class ReachedStep(Struct, frozen=True):
    """A condition in front of a statement that an event has seen in a frame."""

    event: TraceEvent
    frame: TraceFrame
    line: int
    text: str


async def read_operands(
    runs: NativeRuns, steps: Sequence[ReachedStep]
) -> list[tuple[ValueOperand, ...]]:
    """Return what each condition compared, by a further run; nothing where that is not seen."""
    plans = {
        runs.new_key("c"): (number, one)
        for number, one in enumerate(steps)
        if one.frame.file and one.line and _EFFECT.search(one.text) is None
    }
    found: list[tuple[ValueOperand, ...]] = [() for _ in steps]
    lines = [LinePlan(key, f"{one.frame.file}:{one.line}") for key, (_, one) in plans.items()]
    result = await runs.run(lines=lines, deep_frames=2) if lines else None
    if result is None or not result.reached:
        return found
    for event in sorted(result.events, key=lambda one: one.sequence):
        number, step = plans.get(event.key, (0, None))
        before = runs.sequence_of(step.event) if step is not None else None
        is_before = before is not None and event.sequence < before and bool(event.frames)
        if step is not None and is_before and event.frames[0].cfa == step.frame.cfa:
            found[number] = operands_of(step.text, event.frames[0])
    return found


def with_values(
    reached: Sequence[ReachingCondition], operands: Sequence[Sequence[ValueOperand]]
) -> tuple[ReachingCondition, ...]:
    """Return conditions with what they compared."""
    texts = (", ".join(f"{each.text}={each.value}" for each in one) for one in operands)
    pairs = zip(reached, texts, strict=True)
    return tuple(msgspec.structs.replace(one, values=text) for one, text in pairs)


def operands_of(text: str, frame: TraceFrame) -> tuple[ValueOperand, ...]:
    """Return the operands of a condition with their values in a frame, as far as they are known."""
    names = statement_origin.computed_origin(text).operands
    known = {name: frame.vars[name] for name in names if name in frame.vars}
    shown = [
        ValueOperand(name, one.text)
        for name, one in known.items()
        # A constant of an enumeration is its own name.
        if one.kind not in {"struct", "array"} and one.text != name
    ]
    return tuple(shown[:_OPERANDS])


def frame_of(
    moment: TraceEvent | None, link: WhyLink, reached: Sequence[ReachingCondition]
) -> TraceFrame | None:
    """Return the frame at an event whose function has the conditions; None without it."""
    at = (link.frame, *link.stack[:_CALLERS]) if link.frame is not None else ()
    function = reached[0].frame.function if reached else ""
    lines = {one.line for one in at if one is not None and one.function == function}
    frames = moment.frames if moment is not None else ()
    return next(
        (one for one in frames if one.function == function and one.line in lines and one.cfa), None
    )
