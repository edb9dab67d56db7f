"""Records what happened in single calls of a function, line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from debugger.core import answers
from debugger.errors import Code, DebuggerError
from debugger.questions import places, recorded
from debugger.questions.callees import with_callees
from debugger.questions.recorded import Program, Recorded
from debugger.questions.rows import row
from debugger.questions.stepped import STEPPED, step_through
from debugger.recording import tree
from debugger.recording.flat import flat
from debugger.recording.fold import fold
from debugger.recording.lines import Branch, Change, Item, Lifetime, Loop, Shape, Step, lifetime
from debugger.recording.model import Recording
from debugger.recording.order import Limits, Lines, Order
from debugger.recording.python.branches import branches, loops
from debugger.recording.tree import Call

LIMIT = 3
LIMIT_MAX = 50
DEPTH_MAX = 20
# What a line changes in a long value is to be seen, too.
_LIMITS = Limits(text=400, items=12, depth=3)
_BRIEF = 20  # calls that are told at least by what went in and what came out
_ITEMS = 200  # of one call
_ROWS = 12  # of the calls that one line made
_LOOPS = ("for ", "while ", "async for ")
_REPEATS = re.compile(r"\b(?:for|while|loop|do|goto|repeat)\b")
_NS = 1_000_000


async def calls(
    program: Program, function: str, *, nth: int | None, when: str, depth: int, limit: int | None
) -> answers.Calls:
    """Run a program, and tell calls of a function: from the nth on, those for which `when` holds.

    Raises:
        DebuggerError: USAGE; NOT_FOUND where it was not called; LAUNCH_FAILED, NOT_SUPPORTED.
    """
    most = limit if limit is not None else 1 if nth is not None else LIMIT
    check(nth, depth, most)
    if program.is_python:
        _check_condition(when)
    wanted = places.place(function, program.launch.cwd)
    if not program.is_python:
        stepped = await step_through(program, wanted, nth=nth or 1, when=when, most=most)
        answer = told(stepped, function, first=nth or 1, depth=depth, most=most)
        return await with_callees(program, wanted, answer, depth=depth, when=when)
    recorded_most = max(most, _BRIEF) if nth is None else most

    def order(roots: tuple[str, ...]) -> Order:
        return Order(
            roots,
            functions=(wanted,),
            nth=nth or 1,
            most=recorded_most,
            when=when,
            depth=depth,
            lines=Lines.EACH,
            limits=_LIMITS,
        )

    ran = await recorded.run(program, order, tells_all=True)
    if not any(one.has_calls for one in ran.recordings):
        raise places.missed(function, wanted, ran.recording, program.roots, ran.view)
    first = 1 if when else nth or 1
    return told(ran, function, first=first, depth=depth, most=most)


def check(nth: int | None, depth: int, most: int) -> None:
    """Refuse what cannot be asked.

    Raises:
        DebuggerError: USAGE.
    """
    hint = "debugger calls --help"
    if nth is not None and nth < 1:
        raise DebuggerError(Code.USAGE, f"--nth counts from 1, not {nth}", hint=hint)
    if not 0 <= depth <= DEPTH_MAX:
        raise DebuggerError(Code.USAGE, f"--depth is 0 to {DEPTH_MAX}, not {depth}", hint=hint)
    if not 1 <= most <= LIMIT_MAX:
        raise DebuggerError(Code.USAGE, f"--limit is 1 to {LIMIT_MAX}, not {most}", hint=hint)


def _check_condition(when: str) -> None:
    hint = "debugger calls --help"
    try:
        if when:
            compile(when, "--when", "eval")
    except (SyntaxError, ValueError) as error:
        raise DebuggerError(
            Code.USAGE, f"--when {when!r} is no expression of Python: {error}", hint=hint
        ) from error


def told(ran: Recorded, function: str, *, first: int, depth: int, most: int) -> answers.Calls:
    """Tell the recorded calls: some line by line, the others by what went in and what came out."""
    run = ran.view
    running = [one for one in ran.recordings if one.has_calls]
    roots = [
        (recording, one)
        for recording in running
        for one in tree.grow(recording)
        if not one.is_merged
    ]
    shown = _shown([one for _, one in roots], most)
    known: dict[str, tuple[Mapping[int, Branch], frozenset[int] | None]] = {}
    lives: list[answers.LifeView] = []
    others: list[answers.LifeView] = []
    for number, (recording, call) in enumerate(roots, first):
        file = recording.function(call.function).file
        if file not in known:
            text = "\n".join(places.lines_of(file))
            known[file] = branches(text), loops(text)
        deciding, looping = known[file]
        life = lifetime(recording, call, branches=deciding, loops=looping)
        is_shown = id(call) in shown
        made = _life(recording, call, life, number, depth) if is_shown else _brief(life, number)
        if len(running) > 1:
            made = msgspec.structs.replace(made, process=recording.process.pid)
        (lives if is_shown else others).append(made)
    notes = list(run.notes)
    if ran.engine != STEPPED and any(one.skipped for one in lives):
        notes.append("of long calls only the first 5,000 lines are told")
    return answers.Calls(
        run=run,
        function=function,
        seen=sum(one.seen for one in running),
        processes=len(running),
        chosen=len(roots),
        lives=tuple(lives),
        others=tuple(others),
        timed_out=run.timed_out,
        engine=ran.engine,
        notes=tuple(notes),
    )


def _shown(roots: Sequence[Call], most: int) -> set[int]:
    """Choose the calls that are told line by line: the first, with one that raised if any did."""
    shown = list(roots[:most])
    raising = next((one for one in roots if one.raised), None)
    if raising is not None and not any(one.raised for one in shown):
        shown[-1] = raising
    return {id(one) for one in shown}


def _brief(life: Lifetime, number: int) -> answers.LifeView:
    return answers.LifeView(
        number=number,
        function=life.function.name,
        file=life.function.file,
        line=life.function.line,
        arguments=recorded.values(life.arguments),
        value=life.value,
        error=life.error,
        error_line=life.error_line,
        has_ended=life.has_ended,
        took_ms=round(life.took_ns / _NS, 3),
        passed=life.passed,
        skipped=life.skipped,
        thread=life.thread,
    )


def _life(
    recording: Recording, call: Call, life: Lifetime, number: int, depth: int
) -> answers.LifeView:
    text = places.lines_of(life.function.file)
    below = {id(one): one for one in call.children}
    by_number = {one.id: one for one in below.values()}

    def text_of(line: int) -> str:
        return text[line - 1].strip() if 0 < line <= len(text) else ""

    def rows(step: Step) -> tuple[answers.CallRow, ...]:
        made = [by_number[one.call] for one in step.callees if one.call in by_number]
        lines = flat(fold(recording, made), _ROWS)
        return tuple(row(one) for one in lines if one.depth < depth)

    def items(some: Sequence[Item], level: int) -> Iterator[answers.StepView | answers.RoundsView]:
        for one in some:
            if isinstance(one, Loop):
                yield from loop(one, level)
            else:
                yield answers.StepView(
                    one.line, text_of(one.line), _changes(one.changes), rows(one), level
                )

    def loop(one: Loop, level: int) -> Iterator[answers.StepView | answers.RoundsView]:
        for at, shape in enumerate(one.shapes):
            yield answers.RoundsView(
                one.line,
                one.rounds,
                shape.count,
                shape.first_round,
                depth=level,
                more_shapes=one.more_shapes if not at else 0,
                varies=tuple(recorded.vary(name) for name in one.varies) if not at else (),
                is_loop=_is_loop(shape, text),
            )
            yield from items(shape.first, level + 1)
            if shape.last and not at:
                yield answers.RoundsView(
                    one.line, one.rounds, shape.count, 0, is_last=True, depth=level
                )
                yield from items(shape.last, level + 1)

    made = tuple(one for one, _ in zip(items(life.items, 0), range(_ITEMS), strict=False))
    merged = [one for one in call.children if one.is_merged]
    return msgspec.structs.replace(
        _brief(life, number),
        items=made,
        decisions=tuple(
            answers.DecisionView(one.line, text_of(one.line), one.taken, one.never)
            for one in life.decisions
            if not text_of(one.line).startswith(_LOOPS)
        ),
        counted=tuple(row(one) for one in flat(fold(recording, merged), _ROWS) if not one.depth),
    )


def _is_loop(shape: Shape, text: Sequence[str]) -> bool:
    """Tell whether the source has a loop around what was passed several times.

    Without one a debugger goes back to where a statement begins, to end it: Rust's if, Go's return.
    """
    first, last = min(shape.lines), max(shape.lines)
    return any(map(_REPEATS.search, text[max(first - 2, 0) : last + 1]))


def _changes(some: Sequence[Change]) -> tuple[answers.ValueView, ...]:
    return tuple(answers.ValueView(one.name, one.new, one.old) for one in some)
