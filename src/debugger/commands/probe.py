"""Values of expressions at places of a whole run: one command runs it, answers, and cleans up."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec

from debugger.backends import choose
from debugger.backends.base import Launch
from debugger.commands.asking import (
    GROUP,
    Adapter,
    Asked,
    Backend,
    Cwd,
    Env,
    Pid,
    Stdin,
    Timeout,
    Words,
    kept,
    options_of,
    question,
)
from debugger.commands.call import Call
from debugger.core import answers
from debugger.core.command import Opt, command
from debugger.core.words import one_line
from debugger.errors import Code, DebuggerError
from debugger.questions.asking import Question
from debugger.questions.probing import answering
from debugger.questions.probing.logged import logged
from debugger.questions.probing.recorded import recorded
from debugger.questions.probing.stopping import stopping
from debugger.questions.probing.table import Table
from debugger.questions.probing.wanted import (
    PLACES_MAX,
    Range,
    Wanted,
    conditions,
    expressions,
    ranged,
)

_ROWS = 300
_CSV_ROWS = 30_000
_NATIVE = frozenset({"c", "c++", "rust", "native"})
# What the engine cannot do in a program, before anything of it has run.
_NOT_INSIDE = frozenset(
    {Code.NOT_SUPPORTED, Code.ADAPTER_NOT_FOUND, Code.ADAPTER_FAILED, Code.TIMEOUT}
)
_Means = Literal["recorder", "logpoints", "frida", "stops"]


@command("probe", group=GROUP)
async def probe(
    call: Call,
    words: Words = (),
    *,
    at: Annotated[
        tuple[tuple[str, str], ...],
        Opt("--at", help="a place, and expressions with commas", metavar="LOC 'EXPR, EXPR'"),
    ] = (),
    when: Annotated[
        tuple[str, ...],
        Opt("--when", help="only hits at which it holds; once, or for each", metavar="COND"),
    ] = (),
    limit: Annotated[
        int | None, Opt("--limit", help="at most so many hits of each place", metavar="N")
    ] = None,
    start: Annotated[
        str | None, Opt("--from", help="from this hit, or time: 100, 2.5s", metavar="N|T")
    ] = None,
    end: Annotated[str | None, Opt("--to", help="to this hit, or time", metavar="N|T")] = None,
    pid: Pid = None,
    rows: Annotated[
        int | None, Opt("--rows", help="show so many rows; else those that tell most", metavar="N")
    ] = None,
    csv: Annotated[bool, Opt("--csv", help="only the rows, as CSV")] = False,
    output: Annotated[bool, Opt("--output", help="show what the program wrote")] = False,
    by: Annotated[
        _Means | None, Opt("--by", help="how the values are taken; chosen without it")
    ] = None,
    timeout: Timeout = None,
    stdin: Stdin = None,
    cwd: Cwd = None,
    env: Env = (),
    adapter: Adapter = None,
    backend: Backend = None,
) -> answers.Answer:
    """Run a command, and show what expressions were each time that it came to a place.

    One run, one table: all rows, where they are few, else each column summed up, the first row, the
    last and those that stand out. A place is FILE:LINE or FUNCTION; values are those before the
    line runs. The program is not stopped where that can be avoided. A place that it never came to
    says how near it came.
    """
    asked = Asked(
        verb="probe",
        words=words,
        pid=pid,
        timeout=timeout,
        stdin=stdin,
        cwd=cwd,
        env=env,
        adapter=adapter,
        backend="frida" if by == "frida" and backend is None else backend,
    )
    within = ranged(start, end, limit)
    if rows is not None and rows < 1:
        raise DebuggerError(
            Code.USAGE, f"--rows counts from 1, not {rows}", hint="debugger probe --rows 40 …"
        )
    found = await question(call, asked)
    wanted = _wanted(call, found, at, when)
    kept_rows = max(_CSV_ROWS if csv else _ROWS, min(rows or 0, _CSV_ROWS))
    answer = await _answered(call, asked, found, wanted, within, by=by, rows=kept_rows)
    answer = msgspec.structs.replace(answer, shows_output=output, shows_rows=rows or 0)
    again = [
        *(word for place, text in at for word in ("--at", place, text)),
        *options_of(*(("--when", text) for text in when)),
        *options_of(("--from", start), ("--to", end), ("--limit", limit)),
    ]
    answer = kept(
        call,
        asked.command(again),
        answer,
        summary=_summary(answer),
        files=[place.file for place in answer.places if place.file is not None],
    )
    if csv and not call.is_json:
        text = answering.as_csv(answer)
        await call.stream(text)
        answer = msgspec.structs.replace(answer, csv=text)
    return answer


def _wanted(
    call: Call, found: Question, at: Sequence[tuple[str, str]], when: Sequence[str]
) -> list[Wanted]:
    if not 0 < len(at) <= PLACES_MAX:
        raise DebuggerError(
            Code.USAGE,
            f"where, and what? 1 to {PLACES_MAX} places, each with its expressions",
            hint="debugger probe --at FILE:LINE 'total, count' -- CMD",
        )
    for text in when:
        one_line(text)
    target = found.target
    near = [target.cwd]
    program = target.program
    if program is not None:
        near.append(os.path.dirname(program))
    made = []
    for (place, text), condition in zip(at, conditions(when, len(at)), strict=True):
        spec = call.spec(place, near=near, current=program, program=program)
        made.append(Wanted(place, spec, expressions(text), condition))
    places = [(one.spec.file, one.spec.line, one.spec.function) for one in made]
    twice = next((one.asked for one, key in zip(made, places, strict=True)
                  if places.count(key) > 1), None)  # fmt: skip
    if twice is not None:
        raise DebuggerError(
            Code.USAGE,
            f"{twice} is there twice",
            hint=f"debugger probe --at {twice} 'EXPR, EXPR' -- CMD",
        )
    return made


async def _answered(
    call: Call,
    asked: Asked,
    found: Question,
    wanted: Sequence[Wanted],
    within: Range,
    *,
    by: _Means | None,
    rows: int,
) -> answers.Probe:
    def table() -> Table:
        return Table([one.expressions for one in wanted], within, rows=rows)

    target = found.target
    is_free = asked.adapter is None and asked.backend is None
    is_python = isinstance(target, Launch) and found.language == "python"
    if by == "recorder" and not is_python:
        raise DebuggerError(
            Code.NOT_SUPPORTED,
            "the recorder is for Python programs that are started",
            hint="debugger probe --by logpoints …",
        )
    if isinstance(target, Launch) and is_python and (by == "recorder" or (by is None and is_free)):
        taken = table()
        seconds = found.patience.seconds
        ran = await recorded(
            target, wanted, within, taken, timeout_s=seconds, scratch_root=call.scratch_root
        )
        return answering.of_recording(ran, wanted, taken, waited_s=seconds)
    notes: tuple[str, ...] = ()
    if is_free and by is None and found.language in _NATIVE and _has_frida(call):
        try:
            inside = await question(call, msgspec.structs.replace(asked, backend=choose.FRIDA))
            return await _by_logpoints(inside, wanted, table())
        except DebuggerError as error:
            if error.code not in _NOT_INSIDE:
                raise
            notes = (f"the Frida engine cannot: {error.message}",)
    if by == "stops":
        taken = table()
        ending = await stopping(found, wanted, taken)
        answer = answering.of_ending(ending, wanted, taken, means="stops")
    else:
        answer = await _by_logpoints(found, wanted, table())
    return msgspec.structs.replace(answer, notes=(*notes, *answer.notes))


def _has_frida(call: Call) -> bool:
    own = choose.OWN[choose.FRIDA]
    try:
        choose.find(own, call.env, call.config.adapters)
    except DebuggerError:
        return False
    is_default = call.config.defaults.adapter is None and call.config.defaults.backend is None
    return is_default and not call.env.get("DEBUGGER_BACKEND")


async def _by_logpoints(found: Question, wanted: Sequence[Wanted], table: Table) -> answers.Probe:
    ending = await logged(found, wanted, table)
    means = "frida" if found.adapter == choose.FRIDA else "logpoints"
    return answering.of_ending(ending, wanted, table, means=means)


def _summary(answer: answers.Probe) -> str:
    return ", ".join(f"{place.hits:,} hits of {place.asked}" for place in answer.places)
