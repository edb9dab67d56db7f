"""Describes the end of a chain at memory that nothing was seen to write."""

from __future__ import annotations

from debugger.questions.why import heap_history, native_values, run_planning
from debugger.questions.why.answer import ChainEnd
from debugger.questions.why.native_steps import ReachedEnd, ValuePosition
from debugger.questions.why.traced_run import TraceResult


def is_local(position: ValuePosition) -> bool:
    """Return whether a position is a variable of its frame."""
    return native_values.is_local(position.expression, position.value, position.frame)


def end_of_go(position: ValuePosition) -> ReachedEnd:
    """Return the end for a value of Go, whose addresses differ between runs."""
    name = position.expression
    return ReachedEnd(
        ChainEnd.NOT_FOLLOWED,
        f"nothing was seen to write {name}: Go moves its stacks and allocates elsewhere in "
        f"each run; debugger who-wrote {name} --at LOC -- CMD asks delve",
    )


def end_without_run(position: ValuePosition) -> ReachedEnd:
    """Return the end where no run is left that would see a store of the same value."""
    return ReachedEnd(
        ChainEnd.NOT_FOLLOWED,
        f"no change of {position.expression} was seen since; whether the value that its memory had "
        "already was stored there takes one more run: --timeout 60",
    )


def end_before_assignment(position: ValuePosition) -> ReachedEnd | None:
    """Return the end for a variable that is assigned only behind the place of the stop."""
    assigned = run_planning.assigning_line(position)
    if not assigned:
        return None
    return ReachedEnd(
        ChainEnd.UNINITIALISED,
        f"{position.expression} is not assigned yet: {assigned} does it after the place of the "
        "stop",
    )


def describe_unwritten(
    position: ValuePosition, result: TraceResult, key: str, *, is_allocated: bool
) -> ReachedEnd:
    """Return the end for memory that was watched with all stores; `is_allocated`: since then."""
    name, frame = position.expression, position.frame
    if is_local(position):
        unassigned = end_before_assignment(position)
        if unassigned is not None:
            return unassigned
        return ReachedEnd(
            ChainEnd.UNINITIALISED,
            f"{name} is read before it is written: nothing wrote its memory before",
        )
    if is_allocated:
        return ReachedEnd(
            ChainEnd.UNINITIALISED,
            f"nothing was seen to write {name} since its block was allocated",
        )
    initial = result.initial.get(key, "")
    if initial and initial == result.final.get(key, initial):
        zero = not initial.strip("0")
        text = "it is zero from the start" if zero else "it has its value from the start"
        declared = heap_history.find_declaration(name, frame.file)
        return ReachedEnd(ChainEnd.CONSTANT, f"{name} was not changed: {text}{declared}")
    return ReachedEnd(ChainEnd.NOT_FOLLOWED, f"nothing was seen to write {name}")
