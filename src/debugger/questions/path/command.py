"""Defines the command that reports one run as a tree, or the difference of failing runs."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.command_registry import Option, register_command
from debugger.model.hit_filter import EVERY_HIT, HitFilter, Refusal, refuse_options
from debugger.questions.group.group_options import ALONE, JOB_PART, JobPart
from debugger.questions.runner.question_arguments import (
    DEFAULT_RUN,
    GROUP,
    RECORDED_RUN,
    Force,
    QuestionOptions,
    Save,
    Versus,
    Words,
    options_of,
)

if TYPE_CHECKING:
    from debugger.model import answers
    from debugger.questions.path import call_page
    from debugger.questions.path.answer import PathAnswer
    from debugger.questions.recordings.recorded_run import RecordedProgram, RecordedRun
    from debugger.questions.recordings.saved_runs import StoredRun
    from debugger.questions.runner.command_call import CommandCall

_PAGE_TOKENS = 4000  # of the text on a page
_CALLS = "debugger calls FUNC {} -- CMD shows single calls, line by line"
_PROBE = "debugger probe --at FUNC EXPR {} -- CMD shows the values of such hits"
_PATH_HITS = refuse_options(
    {
        "when": Refusal("a tree has all calls", _CALLS.format("--when COND")),
        "nth": Refusal("a tree has all calls", _CALLS.format("--nth K")),
        "first": Refusal("a tree has all calls", _CALLS.format("--first N")),
        "last": Refusal("a tree has all calls", _CALLS.format("--last N")),
        "changes": Refusal("a tree folds equal calls anyway", _PROBE.format("--changes")),
        "thread": Refusal("a tree has the calls of all threads", _PROBE.format("--thread N")),
    },
    # Other words for --around and --between.
    unlisted=frozenset({"inside", "after", "until"}),
)


@register_command("path", group=GROUP)
async def path(
    call: CommandCall,
    words: Words = (),
    *,
    around: Annotated[
        str | None,
        Option("--around", help="how a function is reached, and what it does", metavar="LOC"),
    ] = None,
    between: Annotated[
        tuple[str, str] | None,
        Option(
            "--between", help="from the first call of one to the next of another", metavar="LOC"
        ),
    ] = None,
    hits: Annotated[HitFilter, _PATH_HITS] = EVERY_HIT,
    process: Annotated[
        str | None,
        Option("--process", help="report this process: failing, or by number", metavar="N|failing"),
    ] = None,
    versus: Versus = (),
    save: Save = None,
    html: Annotated[
        str | None,
        Option("--html", help="write a page with the tree to unfold: FILE.html", metavar="FILE"),
    ] = None,
    force: Force = False,
    is_group: Annotated[
        bool, Option("--group", help="compare CMD's processes: which took another branch first")
    ] = False,
    part: Annotated[JobPart, JOB_PART] = ALONE,
    options: Annotated[QuestionOptions, RECORDED_RUN] = DEFAULT_RUN,
) -> answers.Answer:
    """Run a command, and show which of its own functions ran, as a tree in the order of time.

    With arguments, results, times and exceptions; calls of one function in a row, loops and
    recursions are one line; libraries are omitted. With --vs, repeatable, only what failing runs
    (by their exit status) did and passing ones did not, the most suspicious first, with the values
    that differ. LOC is a function or FILE:LINE. For JavaScript and Go it shows only how often each
    function and line ran. With --group the processes of one command are compared.
    """
    from debugger.questions.group import member_paths
    from debugger.questions.path import call_page, path_comparison
    from debugger.questions.path import path_question as questions
    from debugger.questions.recordings.recorded_run import check_choice
    from debugger.questions.recordings.saved_runs import (
        StoredRun,
        compared_runs,
        roots_of,
        saved_runs,
    )
    from debugger.questions.runner.picture_file import choose_file
    from debugger.questions.runner.question_build import keep_evidence

    if is_group:
        given: dict[str, object] = {"--around": around, "--between": between, "--save": save}
        given |= {"--process": process, "--vs": versus, "--html": html}
        refused = [*(flag for flag, value in given.items() if value), *hits.options()[:1]]
        group_run = msgspec.structs.replace(options, words=words)
        return await member_paths.answer_branches(call, group_run, refused, verb="path", part=part)
    page = None
    if html is not None:
        page = choose_file(call, "path", "--html", html, ("html",), force=force)
    requested = msgspec.structs.replace(options, words=words)
    around, between = _place_of_filter(hits, around, between)
    check_choice(process, is_single=not versus and save is None)
    every = await compared_runs(call, requested, versus, save=save)
    _check_scope(around, between, save=save, is_one=len(every) == 1)
    first = every[0]
    if len(every) > 1:
        recorded = [await path_comparison.record_or_load(one) for one in every]
        answer = path_comparison.compare_paths(recorded, [roots_of(one) for one in every])
        answer = await _add_origin(call, every, recorded, answer)
    elif save is not None:
        assert not isinstance(first, StoredRun)
        recorded = [await path_comparison.record_or_load(first)]
        answer = questions.report_path(
            first, recorded[0], around_=around, rows=call_page.ROWS if page else questions.ROWS
        )
    else:
        assert not isinstance(first, StoredRun)
        recorded = []
        answer = await questions.record_path(
            first,
            around=around,
            between=between,
            process=process,
            rows=call_page.ROWS if page else questions.ROWS,
        )
    started = [one.note for one in every if not isinstance(one, StoredRun) and one.note]
    answer = msgspec.structs.replace(answer, notes=(*started, *answer.notes))
    if save is not None and not isinstance(first, StoredRun):
        saved = saved_runs(call).save_run(save, first, recorded[0], verb="path", scope="")
        answer = msgspec.structs.replace(answer, notes=(*answer.notes, saved))
    again = [
        *options_of(("--around", around), ("--process", process), ("--save", save)),
        *(["--between", *between] if between is not None else []),
        *(word for one in versus for word in ("--vs", one)),
    ]
    trees = _trees_of(answer, recorded, every, call_page.ROWS if page else questions.ROWS)
    # A page has more lines than an answer.
    shown = tuple(one for one in answer.rows if one.order < questions.ROWS)
    command = requested.repeat_command(again)
    answer = keep_evidence(
        call,
        command,
        msgspec.structs.replace(answer, rows=shown),
        summary=_evidence_summary(answer),
        files=[*(one.file for one in answer.suspects), *(one.file for one in answer.rows)],
        trees=call_page.describe_calls(
            [_shorten_tree(one) for one in trees] if any(one.rows for one in trees) else []
        ),
    )
    if page is None:
        return answer
    text = call_page.build_call_page(
        trees,
        text=call.as_text(msgspec.structs.replace(answer, rows=(), rows_total=0), _PAGE_TOKENS),
        notes=answer.notes,
        command=shlex.join(command),
        cwd=call.cwd,
    )
    return msgspec.structs.replace(answer, picture=await page.write_text(text))


def _trees_of(
    answer: PathAnswer,
    recorded: Sequence[RecordedRun],
    every: Sequence[RecordedProgram | StoredRun],
    most: int,
) -> list[call_page.DrawnCalls]:
    """Return the calls of the only run, or of a failing and a passing one: so many lines."""
    from debugger.questions.path import call_page, path_comparison
    from debugger.questions.path import path_question as questions

    if len(every) == 1:
        run = answer.runs[0]
        return [call_page.DrawnCalls(run.command, run, answer.rows, answer.rows_total)]
    bad, good = path_comparison.choose_pair(recorded)
    trees = []
    for at in (bad, good):
        view = recorded[at].view
        rows, total = questions.list_calls(recorded[at], most)
        trees.append(call_page.DrawnCalls(view.command, view, rows, total))
    return trees


def _shorten_tree(tree: call_page.DrawnCalls) -> call_page.DrawnCalls:
    """Return a tree with as many lines as an answer keeps, and without the run's output."""
    from debugger.questions.path import call_page
    from debugger.questions.path import path_question as questions

    rows = tuple(one for one in tree.rows if one.order < questions.ROWS)
    run = msgspec.structs.replace(tree.run, output=())
    return call_page.DrawnCalls(tree.title, run, rows, tree.total)


async def _add_origin(
    call: CommandCall,
    every: Sequence[RecordedProgram | StoredRun],
    recorded: Sequence[RecordedRun],
    answer: PathAnswer,
) -> PathAnswer:
    """Add the calls that the failure comes from, and the condition that decided differently."""
    from debugger.questions.path import path_comparison
    from debugger.questions.path.decision_values import take_decision
    from debugger.questions.path.failure_origin import trace_failure
    from debugger.questions.recordings.saved_runs import StoredRun

    bad, good = path_comparison.choose_pair(recorded)
    program = every[bad]
    answer = await trace_failure(
        call, None if isinstance(program, StoredRun) else program, recorded[bad], answer
    )
    decision, notes = await take_decision(
        call, (every[bad], every[good]), (recorded[bad], recorded[good]), answer
    )
    return msgspec.structs.replace(answer, decision=decision, notes=(*answer.notes, *notes))


def _place_of_filter(
    hits: HitFilter, around: str | None, between: tuple[str, str] | None
) -> tuple[str | None, tuple[str, str] | None]:
    """Return the function and the two places that a filter means: --in, --after with --until.

    Raises:
        DebuggerError: USAGE for one of the two alone, and for an event with a condition.
    """
    if hits.inside is not None:
        around = around or hits.inside
    if hits.after is None and hits.until is None:
        return around, between
    first, last = hits.after, hits.until
    if first is None or last is None or first.when is not None or last.when is not None:
        places = [shlex.quote(one.place) if one is not None else "LOC" for one in (first, last)]
        raise DebuggerError(
            ErrorCode.USAGE,
            "path takes --after and --until together, without conditions",
            hint=f"debugger path --between {places[0]} {places[1]} -- CMD",
        )
    return around, between or (first.place, last.place)


def _check_scope(
    around: str | None, between: tuple[str, str] | None, *, save: str | None, is_one: bool
) -> None:
    if between is not None and any(one.startswith("-") for one in between):
        raise DebuggerError(
            ErrorCode.USAGE,
            f"--between takes two places, not {shlex.join(between)}",
            hint="debugger path --between LOC LOC -- CMD",
        )
    if save is not None and between is not None:
        raise DebuggerError(
            ErrorCode.USAGE, "--save keeps a whole run", hint="debugger path --save NAME -- CMD"
        )
    if not is_one and (around, between) != (None, None):
        raise DebuggerError(
            ErrorCode.USAGE,
            "--vs compares whole runs",
            hint="debugger path --around LOC -- CMD looks at one",
        )


def _evidence_summary(answer: PathAnswer) -> str:
    if answer.suspects:
        first = answer.suspects[0]
        return f"most suspicious: {first.function} ({first.score:.2f})"
    return f"{answer.calls:,} calls of {answer.functions} functions"
