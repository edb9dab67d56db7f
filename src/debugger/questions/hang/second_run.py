"""Probes a second run of a hanging program: who linked a loop's objects, what returns below it.

The run ends after some seconds, or once the loop is known to go round for ever. What cannot be run
a second time leaves the answer as it is.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

import msgspec

from debugger.backends import backend_names
from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError
from debugger.model.hit_filter import HitFilter
from debugger.questions.hang.answer import Hang
from debugger.questions.hang.endless_cycle import EndlessCycle, ends_at_nothing
from debugger.questions.hang.link_writers import find_writing_lines, rank_writers
from debugger.questions.hang.repeated_returns import rank_returns
from debugger.questions.hang.turn_findings import add_returns
from debugger.questions.hang.turn_values import identity_expression
from debugger.questions.probe.answer import Probe
from debugger.questions.probe.logpoint_probe import find_entry
from debugger.questions.probe.probe_arguments import parse_probe_points, take_probes
from debugger.questions.probe.probe_points import HitRange
from debugger.questions.probe.probe_table import ProbeCell
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_arguments import QuestionOptions
from debugger.questions.runner.question_build import build_question
from debugger.questions.runner.question_run import QuestionRun
from debugger.session import source_files

IsEnough = Callable[[int, Sequence[ProbeCell]], bool]
ProbePlaces = Callable[[Sequence[tuple[str, str]], IsEnough | None], Awaitable[Probe]]
_ROWS = 30_000
_LEAST_S, _MOST_S = 3.0, 30.0  # seconds of the run


async def add_second_run(
    call: CommandCall, options: QuestionOptions, shown: Hang, *, after_s: float
) -> Hang:
    """Add what a second run of the command shows of a busy loop to the answer."""
    loop = shown.loop
    if loop is None or not options.words or not (loop.cycle or loop.returns):
        return shown
    # On a machine with much to do the second run comes to the loop later, as the first one did.
    timeout = min(max(after_s, (shown.took_s or 0.0) / 2, _LEAST_S), _MOST_S)
    limited = msgspec.structs.replace(options, timeout=timeout)
    try:
        question = replace(await build_question(call, limited), name="probe")
        if not isinstance(question.target, LaunchTarget):
            return shown
        add = add_writers if loop.cycle is not None else _add_returns
        return await add(shown, question, partial(_probe_places, call, limited, question))
    except DebuggerError:
        # The places that were only candidates are not shown.
        bare = msgspec.structs.replace(loop, returns=())
        return msgspec.structs.replace(shown, loop=bare)


async def _probe_places(
    call: CommandCall,
    options: QuestionOptions,
    question: QuestionRun,
    places: Sequence[tuple[str, str]],
    is_enough: IsEnough | None,
) -> Probe:
    async def build_frida() -> QuestionRun:
        chosen = msgspec.structs.replace(options, backend=backend_names.FRIDA)
        return await build_question(call, chosen)

    return await take_probes(
        call,
        question,
        parse_probe_points(call, question, places, HitFilter()),
        HitRange(),
        by=None,
        rows=_ROWS,
        is_free=options.adapter is None and options.backend is None,
        ask_free=build_frida,
        is_enough=is_enough,
    )


async def add_writers(shown: Hang, question: QuestionRun, probe: ProbePlaces) -> Hang:
    """Add the lines that linked the objects of a loop's cycle."""
    loop, frame = shown.loop, shown.frame
    if loop is None or loop.cycle is None or frame is None or frame.file is None:
        return shown
    # A stop at the header of `for` may come before the first turn alone.
    in_body = [one for one in loop.lines if one > loop.line]
    step = in_body[0] if in_body and loop.cycle.line == loop.line else loop.cycle.line
    here = f"{frame.file}:{step}"
    lines = find_writing_lines(loop.cycle.link, frame.file, question.target.cwd)
    lines = [one for one in lines if f"{one.file}:{one.line}" != here]
    if not lines:
        return shown
    runtime = question.traits.runtime
    places = [(f"{one.file}:{one.line}", identity_expression(one.owner, runtime)) for one in lines]
    watched = (loop.cycle.name, loop.cycle.link)
    places.append((here, ", ".join(identity_expression(one, runtime) for one in watched)))
    # Turns of another call of the function are none of this one's.
    source = source_files.read_source(frame.file) or ()
    entry = find_entry(source, loop.cycle.line)
    if entry is not None and entry.line not in {one.line for one in lines}:
        places.append((f"{frame.file}:{entry.line}", "1"))
    exits = [(one.text, one.is_header) for one in loop.exits]
    # A ring that something else ends may be walked for long before the write that breaks it.
    is_sure = ends_at_nothing(loop.cycle.name, exits)
    is_enough = EndlessCycle(len(lines), runtime).take_hit if is_sure else None
    writers = rank_writers(lines, await probe(places, is_enough), runtime)
    return msgspec.structs.replace(shown, loop=msgspec.structs.replace(loop, writers=writers))


async def _add_returns(shown: Hang, question: QuestionRun, probe: ProbePlaces) -> Hang:  # noqa: ARG001 - as the other
    """Add what the functions below a loop return over and over."""
    if shown.loop is None:
        return shown
    sites = shown.loop.returns
    found = await probe([(f"{one.file}:{one.line}", one.value) for one in sites], None)
    passed: list[list[str]] = [[] for _ in sites]
    for row in found.rows:
        # Of a place that is passed too often, a part is taken: only whole beginnings are compared.
        if row.place < len(sites) and row.hit == len(passed[row.place]) + 1 and row.values:
            passed[row.place].append(row.values[0])
    times = [one.hits for one in found.places[: len(sites)]]
    return add_returns(shown, rank_returns(sites, passed, times))
