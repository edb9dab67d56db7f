"""Defines the command that compares two runs of a program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.command_registry import Option, register_command
from debugger.model.hit_filter import EVERY_HIT, HitFilter, refuse_options
from debugger.questions.group.group_options import ALONE, JOB_PART, JobPart
from debugger.questions.runner.question_arguments import (
    DEFAULT_RUN,
    GROUP,
    RECORDED_RUN,
    QuestionOptions,
    Save,
    Versus,
    Words,
    options_of,
)

if TYPE_CHECKING:
    from debugger.model import answers
    from debugger.questions.diff.answer import Diff
    from debugger.questions.probe.probe_comparison import ProbedRun
    from debugger.questions.recordings.recorded_run import RecordedProgram, RecordedRun
    from debugger.questions.recordings.saved_runs import StoredRun
    from debugger.questions.runner.command_call import CommandCall

_EXAMPLE = "debugger diff -- CMD_A ARGS --vs CMD_B ARGS"
_AT_HITS = refuse_options(
    {}, help={"when": "only hits of --at at which it is true; also --if, --condition, -c"}
)


@register_command("diff", group=GROUP)
async def diff(
    call: CommandCall,
    words: Words = (),
    *,
    versus: Versus = (),
    save: Save = None,
    function: Annotated[
        str | None, Option("--function", help="compare its calls only", metavar="FUNC")
    ] = None,
    at: Annotated[
        tuple[tuple[str, str], ...],
        Option("--at", help="compare only values there, as probe", metavar="LOC 'EXPR, EXPR'"),
    ] = (),
    hits: Annotated[HitFilter, _AT_HITS] = EVERY_HIT,
    is_group: Annotated[
        bool, Option("--group", help="compare CMD's processes: their branches, or values at --at")
    ] = False,
    part: Annotated[JobPart, JOB_PART] = ALONE,
    options: Annotated[QuestionOptions, RECORDED_RUN] = DEFAULT_RUN,
    versus_stdin: Annotated[
        str | None, Option("--vs-stdin", help="standard input of the other run", metavar="FILE")
    ] = None,
) -> answers.Answer:
    """Run two commands, and show where they diverge: the first step and value that differ.

    Both are recorded line by line, aligned, and compared by the calls they made, the lines that
    ran, what these changed, and what was returned. With one command and --vs-stdin, it is run with
    two inputs. The same files in another folder, before and after a change, can be compared too.
    For JavaScript and Go it shows how often functions and lines ran; with --function, line by line.
    With --at, in every language, only the values of expressions, hit by hit. With --group the
    processes of one command are compared: their branches, or their values at --at.
    """
    from debugger.model import answers
    from debugger.questions.diff import diff_probes
    from debugger.questions.diff import diff_question as questions
    from debugger.questions.group import member_paths, member_probes
    from debugger.questions.probe import probe_comparison
    from debugger.questions.recordings.saved_runs import StoredRun, roots_of, saved_runs
    from debugger.questions.runner.question_build import keep_evidence

    diff_probes.check_options(at, hits, function)
    requested = msgspec.structs.replace(options, words=words)
    if is_group:
        others = {"--vs": versus, "--save": save, "--vs-stdin": versus_stdin}
        if not at:
            others |= {"--function": function}
            refused = [flag for flag, value in others.items() if value]
            return await member_paths.answer_branches(
                call, requested, refused, verb="diff", part=part
            )
        return await member_probes.answer_comparison(
            call,
            requested,
            at,
            hits,
            [flag for flag, value in others.items() if value],
            verb="diff",
            part=part,
        )
    scope = diff_probes.probe_scope(at, hits) or function or ""
    sides = await _compared_sides(
        call, requested, versus, scope=scope, save=save, versus_stdin=versus_stdin
    )
    again = requested.repeat_command(
        [
            *diff_probes.probe_options(at, hits),
            *options_of(("--function", function), ("--save", save), ("--vs-stdin", versus_stdin)),
            *(word for one in versus for word in ("--vs", one)),
        ]
    )

    def saved(ran: RecordedRun | ProbedRun) -> tuple[str, ...]:
        first = sides[0]
        if save is None or isinstance(first, StoredRun):
            return ()
        return (saved_runs(call).save_run(save, first, ran, verb="diff", scope=scope),)

    if at:
        one, *other = await diff_probes.compare_probes(call, sides, at, hits)
        if not other:
            probe_comparison.require_hits([one])
            return answers.Text(*saved(one))
        comparison = probe_comparison.compare_probed_runs(one, other[0])
        comparison = msgspec.structs.replace(comparison, notes=(*comparison.notes, *saved(one)))
        files = [place.file for place in comparison.places if place.file is not None]
        return keep_evidence(
            call, again, comparison, summary=diff_probes.evidence_summary(comparison), files=files
        )
    recorded = await questions.record_or_load(sides[0], function=function)
    if len(sides) == 1:
        return answers.Text(*saved(recorded))
    right = await questions.record_or_load(sides[1], function=function)
    answer = questions.compare_runs([recorded, right], [roots_of(one) for one in sides], function)
    answer = msgspec.structs.replace(answer, notes=(*answer.notes, *saved(recorded)))
    return keep_evidence(
        call, again, answer, summary=_evidence_summary(answer), files=_files_of(answer)
    )


def _files_of(answer: Diff) -> list[str]:
    steps = (*answer.before, *answer.left, *answer.right)
    return [
        *(one.file for one in steps),
        *(one.point.file for one in answer.differences),
        *(one.file for one in answer.counts),
    ]


async def _compared_sides(
    call: CommandCall,
    options: QuestionOptions,
    versus: Sequence[str],
    *,
    scope: str,
    save: str | None,
    versus_stdin: str | None,
) -> Sequence[RecordedProgram | StoredRun]:
    """Return the two that are compared; one alone where it is only to be saved.

    Raises:
        DebuggerError: USAGE for another number of them; as `compared_runs`.
    """
    from debugger.questions.recordings.saved_runs import StoredRun, compared_runs

    first, *others = await compared_runs(call, options, versus, scope=scope, save=save)
    if versus_stdin is not None:
        other = others[0] if others else first
        words = options.words if isinstance(other, StoredRun) else other.words
        one = msgspec.structs.replace(options, words=words, stdin=versus_stdin)
        others = await compared_runs(call, one, (), scope=scope)
    if len(others) == 1 or (save is not None and not others and not isinstance(first, StoredRun)):
        return [first, *others]
    raise DebuggerError(
        ErrorCode.USAGE, f"two commands are compared, not {len(others) + 1}", hint=_EXAMPLE
    )


def _evidence_summary(answer: Diff) -> str:
    if answer.counts:
        first = answer.counts[0]
        return f"counts differ first at {first.file}:{first.line}"
    if not answer.left and not answer.right:
        return f"the same {answer.common:,} steps"
    there = answer.before[-1] if answer.before else None
    return f"part at {there.file}:{there.line}" if there is not None else "part at once"
