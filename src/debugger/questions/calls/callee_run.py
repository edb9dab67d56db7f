"""Finds what a call of a native program called, with what and with which result, in a second run.

Stepping through a call shows its lines. What these called is known of a run whose calls are all
traced; where both runs do the same, the calls of a function have the same numbers.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import structs

from debugger.errors import DebuggerError
from debugger.model import answers
from debugger.questions.recordings import function_lookup, traced_run
from debugger.questions.recordings.call_rows import call_row
from debugger.questions.recordings.recorded_run import RecordedProgram, value_views
from debugger.recorders import call_tree
from debugger.recorders.call_folding import fold_trees
from debugger.recorders.call_tree import CallNode
from debugger.recorders.model import Recording
from debugger.recorders.recording_order import FunctionPlace
from debugger.recorders.traced_recording import is_entry
from debugger.recorders.tree_lines import flatten_tree

_ROWS = 12
_COMPILED = frozenset({".ts", ".tsx", ".mts", ".cts"})
_NOTE = "what it called is of a second run, in which all calls were traced (frida)"
# A trace sees a function that has an entry; a debugger also stops where one was inlined, whose
# lines lie among its caller's, so that stepping leaves them early.
_INLINED = (
    "{0} was never entered in a second run: the compiler has inlined it, so lines of its calls may "
    "be missing, they may have ended later, and not by a return; -O0 shows them whole"
)


async def with_callees(
    program: RecordedProgram, wanted: FunctionPlace, answer: answers.Calls, *, depth: int, when: str
) -> answers.Calls:
    """Add to calls that were stepped through what they called, where that can be traced."""
    name = answer.function
    if not program.is_native or program.traced is None:
        place = _location_of(answer)
        said = f"stepped through: debugger path --around {place} -- CMD tells how often lines ran"
        return _calls_with_note(answer, said)
    if when or not depth:
        return _calls_with_note(answer, "stepped through: what was called is not told with --when")
    try:
        traced, run = await traced_run.run_traced(await program.traced(), program.words)
    except DebuggerError as error:
        return _calls_with_note(
            answer, f"stepped through; its calls could not be traced: {error.message}"
        )
    calls = _called_functions(traced, wanted)
    lives = [
        _call_with_callees(one, traced, calls[one.number - 1], depth)
        if one.number <= len(calls)
        else one
        for one in answer.lives
    ]
    notes = [_NOTE] if any(one.callees for one in lives) else []
    if is_entry(name) and not calls:
        notes = [f"what {name} called is told by debugger path -- CMD"]
    elif answer.lives and not calls:
        notes = [_INLINED.format(name)]
    elif len(calls) < max((one.number for one in answer.lives), default=0):
        notes = [f"in a second run, to see what it calls, {name} was called {len(calls)} times"]
    found = structs.replace(answer, lives=tuple(lives), seen=len(calls))
    # A run that was ended early has not made all its calls.
    return _calls_with_note(structs.replace(found, seen=0) if run.timed_out else found, *notes)


def _location_of(answer: answers.Calls) -> str:
    """Return what `path` knows a function by: V8 counts in what TypeScript was compiled to."""
    first = next((one for one in answer.lives if one.file), None)
    if first is None:
        return answer.function
    if Path(first.file).suffix in _COMPILED:
        return first.function
    return f"{Path(first.file).name}:{first.line}"


def _calls_with_note(answer: answers.Calls, *said: str) -> answers.Calls:
    return structs.replace(answer, notes=(*answer.notes, *said))


def _called_functions(traced: Recording, wanted: FunctionPlace) -> list[CallNode]:
    is_meant = function_lookup.function_matcher(wanted, traced)
    every = call_tree.walk_calls(call_tree.build_trees(traced))
    some = [one for one in every if is_meant(traced.find_function(one.function))]
    return sorted(some, key=lambda one: (one.at, one.id))


def _call_with_callees(
    one: answers.LifeView, traced: Recording, call: CallNode, depth: int
) -> answers.LifeView:
    lines = flatten_tree(fold_trees(traced, call.children), _ROWS)
    callees = tuple(call_row(each) for each in lines if each.depth < depth)
    given = one.arguments or value_views(call.arguments)
    return structs.replace(one, arguments=given, callees=callees, value=one.value or call.value)
