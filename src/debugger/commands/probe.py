"""Values of expressions at places of a whole run: one command runs it, answers, and cleans up."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec

from debugger.backends import choose
from debugger.backends.base import Launch
from debugger.commands.asking import Asked, question
from debugger.commands.call import Call
from debugger.core import answers
from debugger.core.breakpoints import Spec
from debugger.core.command import Arg, Opt, command
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
from debugger.targets.program import look

GROUP = "Questions"
_KEPT_TOKENS = 4000
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
    words: Annotated[tuple[str, ...], Arg("CMD", "what to run, after --")] = (),
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
    pid: Annotated[int | None, Opt("--pid", help="what runs already", metavar="N")] = None,
    csv: Annotated[bool, Opt("--csv", help="only the rows, as CSV")] = False,
    output: Annotated[bool, Opt("--output", help="show what the program wrote")] = False,
    by: Annotated[
        _Means | None, Opt("--by", help="how the values are taken; chosen without it")
    ] = None,
    timeout: Annotated[
        float | None, Opt("--timeout", help="seconds to run (60)", metavar="S")
    ] = None,
    stdin: Annotated[
        str | None, Opt("--stdin", help="file for its standard input, else empty", metavar="FILE")
    ] = None,
    cwd: Annotated[str | None, Opt("--cwd", help="directory to run in", metavar="D")] = None,
    env: Annotated[
        tuple[str, ...], Opt("--env", help="change the environment", metavar="K=V")
    ] = (),
    adapter: Annotated[str | None, Opt("--adapter", help="debug adapter to use")] = None,
    backend: Annotated[str | None, Opt("--backend", help=" or ".join(choose.BACKENDS))] = None,
) -> answers.Answer:
    """Run a command, and show what expressions were each time that it came to a place.

    One run, one table: the first rows, the last, and a part of those between; each column summed
    up. A place is FILE:LINE or FUNCTION; values are those before the line runs. The program is not
    stopped where that can be avoided. A place that it never came to says how near it came.
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
    found = await question(call, asked, _no_breakpoints)
    wanted = _wanted(call, found, at, when)
    answer = await _answered(call, asked, found, wanted, within, by=by, rows=_rows(csv=csv))
    answer = msgspec.structs.replace(answer, shows_output=output)
    number = call.evidence.keep(
        _again(asked, at, when, limit=limit, start=start, end=end),
        call.cwd,
        summary=_summary(answer),
        text=call.as_text(answer, _KEPT_TOKENS),
        files=[place.file for place in answer.places if place.file is not None],
    )
    if csv and not call.is_json:
        text = answering.as_csv(answer)
        await call.stream(text)
        answer = msgspec.structs.replace(answer, csv=text)
    return msgspec.structs.replace(answer, evidence=number)


def _no_breakpoints(language: str, *, keep: bool) -> tuple[Spec, ...]:
    del language, keep
    return ()


def _rows(*, csv: bool) -> int:
    return _CSV_ROWS if csv else _ROWS


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
    language = look(target.program).language if target.program is not None else ""
    is_python = isinstance(target, Launch) and (target.module or language == "python")
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
    if is_free and by is None and language in _NATIVE and _has_frida(call):
        try:
            inside = await question(
                call, msgspec.structs.replace(asked, backend=choose.FRIDA), _no_breakpoints
            )
            return await _by_logpoints(inside, wanted, table(), language)
        except DebuggerError as error:
            if error.code not in _NOT_INSIDE:
                raise
            notes = (f"the Frida engine cannot: {error.message}",)
    if by == "stops":
        taken = table()
        ending = await stopping(found, wanted, taken)
        answer = answering.of_ending(ending, wanted, taken, means="stops")
    else:
        answer = await _by_logpoints(found, wanted, table(), language)
    return msgspec.structs.replace(answer, notes=(*notes, *answer.notes))


def _has_frida(call: Call) -> bool:
    own = choose.OWN[choose.FRIDA]
    try:
        choose.find(own, call.env, call.config.adapters)
    except DebuggerError:
        return False
    is_default = call.config.defaults.adapter is None and call.config.defaults.backend is None
    return is_default and not call.env.get("DEBUGGER_BACKEND")


async def _by_logpoints(
    found: Question, wanted: Sequence[Wanted], table: Table, language: str
) -> answers.Probe:
    ending = await logged(found, wanted, table, adapter=found.adapter, language=language)
    means = "frida" if found.adapter == choose.FRIDA else "logpoints"
    return answering.of_ending(ending, wanted, table, means=means)


def _summary(answer: answers.Probe) -> str:
    return ", ".join(f"{place.hits:,} hits of {place.asked}" for place in answer.places)


def _again(
    asked: Asked,
    at: Sequence[tuple[str, str]],
    when: Sequence[str],
    *,
    limit: int | None,
    start: str | None,
    end: str | None,
) -> tuple[str, ...]:
    """Return the command line that asks it again."""
    first, verb, *rest = asked.command()
    said = [first, verb]
    for place, text in at:
        said += ["--at", place, text]
    for text in when:
        said += ["--when", text]
    for flag, value in (("--from", start), ("--to", end), ("--limit", limit)):
        said += [flag, str(value)] if value is not None else []
    return (*said, *rest)
