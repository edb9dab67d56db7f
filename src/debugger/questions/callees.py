"""Finds what a call of a native program called, with what and with which result, in a second run.

Stepping through a call shows its lines. What these called is known of a run whose calls are all
traced; where both runs do the same, the calls of a function have the same numbers.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import structs

from debugger.core import answers
from debugger.errors import DebuggerError
from debugger.questions import native, places
from debugger.questions.recorded import Program, values
from debugger.questions.rows import row
from debugger.recording import tree
from debugger.recording.flat import flat
from debugger.recording.fold import fold
from debugger.recording.model import Recording
from debugger.recording.order import Place
from debugger.recording.passages import is_entry
from debugger.recording.tree import Call

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
    program: Program, wanted: Place, answer: answers.Calls, *, depth: int, when: str
) -> answers.Calls:
    """Add to calls that were stepped through what they called, where that can be traced."""
    name = answer.function
    if not program.is_native or program.traced is None:
        place = _place(answer)
        said = f"stepped through: debugger path --around {place} -- CMD tells how often lines ran"
        return _noted(answer, said)
    if when or not depth:
        return _noted(answer, "stepped through: what was called is not told with --when")
    try:
        traced, run = await native.run(await program.traced(), program.words)
    except DebuggerError as error:
        return _noted(answer, f"stepped through; its calls could not be traced: {error.message}")
    calls = _calls(traced, wanted)
    lives = [
        _with(one, traced, calls[one.number - 1], depth) if one.number <= len(calls) else one
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
    return _noted(structs.replace(found, seen=0) if run.timed_out else found, *notes)


def _place(answer: answers.Calls) -> str:
    """Return what `path` knows a function by: V8 counts in what TypeScript was compiled to."""
    first = next((one for one in answer.lives if one.file), None)
    if first is None:
        return answer.function
    if Path(first.file).suffix in _COMPILED:
        return first.function
    return f"{Path(first.file).name}:{first.line}"


def _noted(answer: answers.Calls, *said: str) -> answers.Calls:
    return structs.replace(answer, notes=(*answer.notes, *said))


def _calls(traced: Recording, wanted: Place) -> list[Call]:
    is_meant = places.chooser(wanted, traced)
    every = tree.walk(tree.grow(traced))
    some = [one for one in every if is_meant(traced.function(one.function))]
    return sorted(some, key=lambda one: (one.at, one.id))


def _with(one: answers.LifeView, traced: Recording, call: Call, depth: int) -> answers.LifeView:
    lines = flat(fold(traced, call.children), _ROWS)
    callees = tuple(row(each) for each in lines if each.depth < depth)
    given = one.arguments or values(call.arguments)
    return structs.replace(one, arguments=given, callees=callees, value=one.value or call.value)
