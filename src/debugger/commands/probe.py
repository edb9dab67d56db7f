"""Values of expressions at places of a whole run: one command runs it, answers, and cleans up."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated

import msgspec

from debugger.backends import choose
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
from debugger.commands.probing import Means, are_named, probed, wanted
from debugger.core import answers
from debugger.core.command import Opt, command
from debugger.errors import Code, DebuggerError
from debugger.questions.asking import Question
from debugger.questions.probing import answering
from debugger.questions.probing.wanted import Range, Wanted, ranged

_ROWS = 300
_CSV_ROWS = 30_000


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
        int | None, Opt("--limit", help="end the run after so many hits of each place", metavar="N")
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
        Means | None, Opt("--by", help="how the values are taken; chosen without it")
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
    line runs. Of a compiled loop on one line that is once, where it begins. The program is not
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
    _check(at, rows)
    found = await question(call, asked)
    places = wanted(call, found, at, when)
    kept_rows = max(_CSV_ROWS if csv else _ROWS, min(rows or 0, _CSV_ROWS))
    answer = await _answered(call, asked, found, places, within, by=by, rows=kept_rows)
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


def _check(at: Sequence[tuple[str, str]], rows: int | None) -> None:
    if rows is not None and rows < 1:
        raise DebuggerError(
            Code.USAGE, f"--rows counts from 1, not {rows}", hint="debugger probe --rows 40 …"
        )
    are_named(at)


async def _answered(
    call: Call,
    asked: Asked,
    found: Question,
    places: Sequence[Wanted],
    within: Range,
    *,
    by: Means | None,
    rows: int,
) -> answers.Probe:
    return await probed(
        call,
        found,
        places,
        within,
        by=by,
        rows=rows,
        is_free=asked.adapter is None and asked.backend is None,
        inside=partial(question, call, msgspec.structs.replace(asked, backend=choose.FRIDA)),
    )


def _summary(answer: answers.Probe) -> str:
    hits: dict[str, int] = {}
    for place in answer.places:
        hits[place.asked] = hits.get(place.asked, 0) + place.hits
    return ", ".join(f"{count:,} hits of {asked}" for asked, count in hits.items())
