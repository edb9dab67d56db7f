"""Defines the command that records the values of expressions at locations of a run."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import msgspec

from debugger.backends.backend_names import FRIDA
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.command_registry import Option, register_command
from debugger.model.hit_filter import EVERY_HIT, HitFilter, Hits
from debugger.questions.group.group_options import ALONE, JOB_PART, JobPart
from debugger.questions.runner.question_arguments import (
    DEBUGGED_RUN,
    DEFAULT_RUN,
    GROUP,
    Force,
    Means,
    Pid,
    QuestionOptions,
    Versus,
    Words,
    options_of,
)

if TYPE_CHECKING:
    from debugger.questions.probe.answer import Probe

if TYPE_CHECKING:
    from debugger.model import answers
    from debugger.questions.probe.probe_points import HitRange, ProbePoint
    from debugger.questions.runner.command_call import CommandCall
    from debugger.questions.runner.picture_file import PictureFile
    from debugger.questions.runner.question_run import QuestionRun

_LAST_HIT = "{}; these are the values at the last hit of its line, in a second run"
_ROWS = 300  # kept rows
_CSV_ROWS = 30_000  # kept rows for --csv


@register_command("probe", group=GROUP)
async def probe(
    call: CommandCall,
    words: Words = (),
    *,
    at: Annotated[
        tuple[tuple[str, str], ...],
        Option(
            "--at",
            help="a location, crash, fail, exit or hang, and expressions",
            metavar="LOC 'EXPR, EXPR'",
        ),
    ] = (),
    hits: Hits = EVERY_HIT,
    start: Annotated[
        str | None, Option("--from", help="from this hit, or time: 100, 2.5s", metavar="N|T")
    ] = None,
    end: Annotated[str | None, Option("--to", help="to this hit, or time", metavar="N|T")] = None,
    versus: Versus = (),
    pid: Pid = None,
    rows: Annotated[
        int | None,
        Option("--rows", help="show this many rows; default: the most informative", metavar="N"),
    ] = None,
    csv: Annotated[bool, Option("--csv", help="only the rows, as CSV")] = False,
    output: Annotated[bool, Option("--output", help="show the program's output")] = False,
    plot: Annotated[
        str | None,
        Option("--plot", help="draw the values over the hits: .svg, .png or .html", metavar="FILE"),
    ] = None,
    force: Force = False,
    is_group: Annotated[
        bool, Option("--group", help="compare CMD's processes: whose value differs first")
    ] = False,
    part: Annotated[JobPart, JOB_PART] = ALONE,
    by: Annotated[
        Means | None, Option("--by", help="how to collect the values; default: automatic")
    ] = None,
    options: Annotated[QuestionOptions, DEBUGGED_RUN] = DEFAULT_RUN,
) -> answers.Answer:
    """Run a command, and show the values of expressions each time it reaches a location.

    One run, one table: all rows if they are few, else a summary of each column, the first row, the
    last row and the outliers. A location is FILE:LINE or FUNCTION; values are those before the line
    runs. A compiled loop on one line counts once, at its start. The program is not stopped where
    that can be avoided. For a location that was never reached, the answer says how near it came.
    With --vs the hits of two commands are compared, as by diff --at; with --group those of the
    processes of one.
    """
    from debugger.backends.base import LaunchTarget
    from debugger.questions.group import member_probes
    from debugger.questions.locations import event_location
    from debugger.questions.probe import probe_plot
    from debugger.questions.probe.answer import Probe
    from debugger.questions.probe.change_narrowing import add_narrowing
    from debugger.questions.probe.false_conditions import add_operand_values
    from debugger.questions.probe.probe_arguments import parse_probe_points, split_functions
    from debugger.questions.probe.probe_points import HitRange, range_of, split_expressions
    from debugger.questions.runner.picture_file import choose_file
    from debugger.questions.runner.question_build import build_question
    from debugger.targets.compared_commands import BETWEEN

    picture = None
    if plot is not None:
        picture = choose_file(call, "probe", "--plot", plot, probe_plot.KINDS, force=force)
    backend = FRIDA if by == FRIDA and not options.backend else options.backend
    requested = msgspec.structs.replace(options, words=words, pid=pid, backend=backend)
    if is_group:
        given_by = {"--vs": versus, "--pid": pid, "--csv": csv, "--plot": plot, "--rows": rows}
        given_by |= {"--from": start, "--to": end, "--output": output, "--by": by}
        return await member_probes.answer_comparison(
            call,
            requested,
            at,
            hits,
            [flag for flag, value in given_by.items() if value],
            verb="probe",
            part=part,
        )
    if versus or BETWEEN in words:
        given = {
            "--pid": pid,
            "--rows": rows,
            "--csv": csv,
            "--output": output,
            "--from": start,
            "--to": end,
            "--by": by,
            "--adapter": options.adapter,
            "--backend": options.backend,
        }
        refused = [flag for flag, value in given.items() if value]
        return await _compare_runs(
            call, requested, versus, at=at, hits=hits, refused=refused, picture=picture
        )
    within = range_of(start, end, hits)
    _check_options(at, rows)
    event = event_location.find_event("probe", at, hits)
    notes: tuple[str, ...] = ()
    if event is not None:
        expressions = [one for _, text in at for one in split_expressions(text)]
        there = await event_location.probe_event(call, requested, event, expressions)
        if isinstance(there, Probe):
            shown = msgspec.structs.replace(there, shows_output=output)
            again = _again(at, hits, start, end)
            return await _keep_answer(call, requested, shown, again, csv=csv, picture=picture)
        # It is not stopped there: the last hit of its line, in a second run.
        notes = (_LAST_HIT.format(there.what),)
        at = tuple((there.place_from(call.cwd), text) for _, text in at[:1])
        hits = HitFilter(nth=-1)
        within = HitRange()
    found = await build_question(call, requested)
    points = parse_probe_points(call, found, at, hits)
    places, names = await split_functions(found, points)
    drawn_rows = _ROWS if picture is None else probe_plot.ROWS
    kept_rows = max(_CSV_ROWS if csv else drawn_rows, min(rows or 0, _CSV_ROWS))
    answer = await _probe_answer(
        call, requested, found, places, within, hits=hits, by=by, rows=kept_rows
    )
    if isinstance(found.target, LaunchTarget) and answer.outcome != "running":
        answer = await add_operand_values(
            answer,
            places,
            lambda points: _second_answer(call, requested, points, by=by),
            is_python=found.language == "python",
        )
    answer = await add_narrowing(call, answer, found, places, hits)
    answer = msgspec.structs.replace(
        answer, shows_output=output, shows_rows=rows or 0, notes=(*notes, *names, *answer.notes)
    )
    again = _again(at, hits, start, end)
    return await _keep_answer(call, requested, answer, again, csv=csv, picture=picture)


async def _compare_runs(
    call: CommandCall,
    requested: QuestionOptions,
    versus: Sequence[str],
    *,
    at: Sequence[tuple[str, str]],
    hits: HitFilter,
    refused: Sequence[str],
    picture: PictureFile | None,
) -> answers.Answer:
    from debugger.questions.diff import diff_probes
    from debugger.questions.probe import pair_plot
    from debugger.questions.runner.question_build import keep_evidence

    answer, runs = await diff_probes.probe_both_commands(
        call, requested, versus, at, hits=hits, refused=refused
    )
    again = [*_again(at, hits, None, None), *(word for one in versus for word in ("--vs", one))]
    command = requested.repeat_command(again)
    answer = keep_evidence(
        call,
        command,
        answer,
        summary=diff_probes.evidence_summary(answer),
        files=[place.file for place in answer.places if place.file is not None],
    )
    if picture is None:
        return answer
    text = pair_plot.draw_pair(answer, runs, picture.kind, shlex.join(command), call.cwd)
    return msgspec.structs.replace(answer, picture=await picture.write_text(text))


def _again(
    at: Sequence[tuple[str, str]], hits: HitFilter, start: str | None, end: str | None
) -> list[str]:
    return [
        *(word for place, text in at for word in ("--at", place, text)),
        *hits.options(),
        *options_of(("--from", start), ("--to", end)),
    ]


async def _keep_answer(
    call: CommandCall,
    options: QuestionOptions,
    answer: Probe,
    again: Sequence[str],
    *,
    csv: bool,
    picture: PictureFile | None,
) -> Probe:
    from debugger.questions.probe import probe_plot
    from debugger.questions.probe.probe_answer import as_csv
    from debugger.questions.runner.question_build import keep_evidence

    command, rows = options.repeat_command(again), answer.rows
    if picture is not None and not csv:
        # What is drawn is more than an answer shows.
        answer = msgspec.structs.replace(answer, rows=probe_plot.thin_rows(answer, _ROWS))
    answer = keep_evidence(
        call,
        command,
        answer,
        summary=_evidence_summary(answer),
        files=[place.file for place in answer.places if place.file is not None],
        draw=probe_plot.later_drawing(answer, shlex.join(command)),
    )
    if picture is not None:
        text = probe_plot.draw_probe(answer, rows, picture.kind, shlex.join(command), call.cwd)
        answer = msgspec.structs.replace(answer, picture=await picture.write_text(text))
    if csv and not call.is_json:
        text = as_csv(answer)
        await call.stream(text)
        answer = msgspec.structs.replace(answer, csv=text)
    return answer


def _check_options(at: Sequence[tuple[str, str]], rows: int | None) -> None:
    from debugger.questions.probe.probe_arguments import are_named

    if rows is not None and rows < 1:
        raise DebuggerError(
            ErrorCode.USAGE, f"--rows counts from 1, not {rows}", hint="debugger probe --rows 40 …"
        )
    are_named(at)


async def _probe_answer(
    call: CommandCall,
    options: QuestionOptions,
    found: QuestionRun,
    places: Sequence[ProbePoint],
    within: HitRange,
    *,
    hits: HitFilter,
    by: Means | None,
    rows: int,
) -> Probe:
    from debugger.questions.probe.probe_arguments import take_probes
    from debugger.questions.runner.question_build import build_question

    return await take_probes(
        call,
        found,
        places,
        within,
        hits=hits,
        by=by,
        rows=rows,
        is_free=options.adapter is None and options.backend is None,
        ask_free=partial(build_question, call, msgspec.structs.replace(options, backend=FRIDA)),
    )


async def _second_answer(
    call: CommandCall, options: QuestionOptions, points: Sequence[ProbePoint], *, by: Means | None
) -> Probe:
    """Record the values at other locations, in a run of their own without a filter."""
    from debugger.questions.probe.probe_points import HitRange
    from debugger.questions.runner.question_build import build_question

    found = await build_question(call, options)
    return await _probe_answer(
        call, options, found, points, HitRange(), hits=EVERY_HIT, by=by, rows=_ROWS
    )


def _evidence_summary(answer: Probe) -> str:
    hits: dict[str, int] = {}
    for place in answer.places:
        hits[place.asked] = hits.get(place.asked, 0) + place.hits
    return ", ".join(f"{count:,} hits of {label}" for label, count in hits.items())
