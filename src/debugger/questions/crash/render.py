"""Formats the answer about a crash, and the evidence commands' answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby

from debugger.model.answers import FrameView, OutputLine, VariableView
from debugger.model.exception_cause import short_type
from debugger.output.list_text import (
    format_output_line,
    inline_section,
    leading_to,
    list_section,
    source_of,
)
from debugger.output.location_text import (
    IN_A_LIST,
    escape_text,
    format_chain,
    format_count,
    in_sentence,
    in_stack,
    short_name,
    shorten_value,
)
from debugger.output.structured import RenderPage, TextSection, fixed_section
from debugger.output.variable_text import format_pointers
from debugger.questions.recordings import run_text
from debugger.questions.runner.answer import (
    CallerView,
    Crash,
    EvidenceDrawing,
    EvidenceList,
    EvidenceReport,
    EvidenceShown,
    EvidenceView,
    FreedBlock,
    ThreadGroup,
)

# What is cut last has the lowest number.
_DEPTH = 60  # of a call whose line is indented
_HEAD, _NOTES, _FACTS, _SOURCE, _VALUES, _CALLERS, _LOCALS, _OUTPUT, _THREADS = range(9)
_CAUSE = 400
_VALUE = 110
_OF_A_CALLER = 48
_CALL = 80
_LINE = 160
# Of these the cause says all that the exception's own words do.
_EXPLAINED = frozenset(
    {"index_out_of_range", "nothing", "null_pointer", "division_by_zero", "missing_key", "unwrap"}
)
# And of these its type says no more, either.
_EXPLAINED_KINDS = frozenset({"assertion", "nil_map", "out_of_memory"})
_THREAD_GROUPS = 4
_DEEP = 100  # frames
_PRINT = "debugger print {}"
_KEEP = "crash --keep, then debugger print {}"
_FREEING = 3  # frames of a free
_POINTER = re.compile(r"\A0x[0-9a-f]+ (?=\{)")
# Names that say nothing: a number, a goroutine with its function, the main thread.
_NUMBERED = re.compile(r"(?:main|MainThread|[Tt]hread[- ]?\d*|goroutine .*|#\d+ .*)\Z")
_HEADS = {
    "crashed": "crash",
    "survived": "survived",
    "raised": "raised",
    "exited": "no crash",
    "failed": "no crash seen",
    "running": "no crash",
}


def format_crash(answer: Crash, page: RenderPage) -> list[TextSection]:
    """Build the sections about a crash, or about a run without one."""
    return [
        fixed_section(_format_head(answer), _HEAD),
        *_format_details(answer),
        *_format_freed(answer.freed_block),
        *run_text.format_origin(answer.why, rank=_FACTS),
        *run_text.format_origin(answer.why_compared, rank=_FACTS),
        *_format_source(answer, page),
        *format_pointers(
            answer.pointers,
            answer.pointers_omitted,
            rank=_VALUES,
            command=_PRINT if isinstance(answer.session, str) else _KEEP,
        ),
        *_format_values(answer),
        *_format_callers(answer),
        *_format_earlier(answer),
        *_format_threads(answer),
        *_format_output(answer, page),
        *_format_end(answer),
        *run_text.format_notes(answer.notes, answer.evidence, answer.session, rank=_NOTES),
    ]


def _format_head(answer: Crash) -> str:
    head = _HEADS.get(answer.outcome, answer.outcome)
    if answer.cause is not None:
        return f"{head}: {shorten_value(answer.cause, _CAUSE)}"
    if answer.outcome == "running":
        within = f" after {answer.waited_s:g} s" if answer.waited_s is not None else ""
        where = f"; it was in {in_sentence(answer.frame)}" if answer.frame is not None else ""
        return f"{head} yet: still running{within}{where}"
    return f"{head}: {run_text.format_end(answer.exit_signal, answer.exit_code)}"


def _format_details(answer: Crash) -> list[TextSection]:
    parts = []
    if answer.signal is not None and answer.cause is not None:
        where = f" at {answer.address}" if answer.address is not None else ""
        is_new = answer.address_text and answer.address_text not in answer.cause
        words = f" ({answer.address_text})" if is_new else ""
        parts.append(f"{short_name(answer.signal)}{where}{words}")
    exception = answer.exception
    if exception is not None:
        message = shorten_value(" ".join(exception.message.split()), IN_A_LIST)
        short = short_type(exception.type)
        is_in_cause = message in (answer.cause or "") or answer.kind in _EXPLAINED
        is_named = short in (answer.cause or "") or short == "panic"
        if answer.kind not in _EXPLAINED_KINDS and not (is_in_cause and is_named):
            parts.append(
                f"{short_name(exception.type)}: {message}"
                if message
                else short_name(exception.type)
            )
        parts += [f"caused by: {shorten_value(cause, IN_A_LIST)}" for cause in exception.causes]
    if answer.inside is not None:
        parts.append(f"inside: {in_sentence(answer.inside)}")
    return [list_section(parts, lambda cut: f"… {format_count(cut, 'more cause')}", rank=_FACTS)]


def _format_freed(block: FreedBlock | None) -> list[TextSection]:
    """Format the life of a freed block: who freed it, by which reference, and who stored that."""
    if block is None:
        return []
    name = short_name(block.expression)
    where = in_sentence(block.frame)
    size = f"a heap block of {block.size:,} bytes, freed before"
    lines = [f"freed memory: {name}={block.value} of {where}: {size}"]
    if block.freed:
        # A reference's end leads to the free, and tells more.
        freed = block.freed[:_FREEING] if block.dropped else block.freed
        lines.append(f"  freed by {format_chain(freed)} [rerun]")
    if block.reused:
        again = f", and freed by {format_chain(block.freed_again)}" * bool(block.freed_again)
        lines.append(f"  allocated again by {format_chain(block.reused)}{again} [rerun]")
    if block.dropped:
        lines.append(f"  its last reference was dropped by {format_chain(block.dropped)} [rerun]")
    if block.stored:
        reference = "that reference" if block.dropped else "the freed pointer"
        lines.append(
            f"  {reference}, {shorten_value(block.holder, _OF_A_CALLER)}, was stored by "
            f"{format_chain(block.stored)}: "
            f"{shorten_value(block.statement, _CALL)} [rerun]"
        )
    return [fixed_section("\n".join(lines), _FACTS)]


def _format_source(answer: Crash, page: RenderPage) -> list[TextSection]:
    where = run_text.format_location(answer.frame, page, text=answer.cause, rank=_FACTS)
    return [*where, source_of(leading_to(answer.source), page, rank=_SOURCE, more=lambda _: "")]


def _format_values(answer: Crash) -> list[TextSection]:
    cause = answer.cause or ""
    values = [one for one in answer.values if not _is_in(cause, one)]
    named = [one for one in answer.locals if not _is_in(cause, one)]
    remaining = answer.locals_total - len(answer.locals)
    return [
        *_format_assigned("values", values, len(values), rank=_VALUES),
        *_format_assigned("locals", named, len(named) + remaining, rank=_LOCALS),
    ]


def _is_in(cause: str, one: VariableView) -> bool:
    """Return whether the first line contains a value, or states that there is none."""
    name, value = re.escape(short_name(one.name)), re.escape(_format_short(one, _VALUE))
    words = rf"(?<![\w.>])(?:{value}(?!\w)|{name} is (?:nil|None|null|undefined)\b)"
    return re.search(words, cause) is not None


def _format_assigned(
    label: str, views: Sequence[VariableView], total: int, *, rank: int
) -> list[TextSection]:
    if not views:
        return []
    items = [_format_short(view, _VALUE) for view in views]
    more = max(total, len(items))
    return [inline_section(label, items, more, lambda cut: f"… {cut} more", rank=rank, floor=4)]


def _format_short(view: VariableView, limit: int) -> str:
    return f"{short_name(view.name)}={shorten_value(view.value, limit)}"


def _format_callers(answer: Crash) -> list[TextSection]:
    shown = {_known_value(view) for view in (*answer.values, *answer.locals)}
    lines = []
    last = None
    for one in answer.callers:
        line = (one.frame.file, one.frame.line)
        lines.append(
            _format_caller(one, shown, has_text=line != last)
        )  # a closure's is its function's
        shown |= {_known_value(view) for view in one.values}
        last = line
    deep = answer.frames_total or 0
    is_deep = deep > _DEEP and f"{deep:,} frames" not in (answer.cause or "")
    note = [fixed_section(f"the stack is {deep:,} frames deep", _CALLERS)] if is_deep else []
    return [run_text.format_callers(lines, rank=_CALLERS), *note]


def _known_value(view: VariableView) -> str:
    """Return a value's distinctive part: a pointer's target, without the address."""
    return f"{view.name}={_POINTER.sub('', view.value)}"


def _format_caller(one: CallerView, shown: AbstractSet[str], *, has_text: bool) -> str:
    """Format a caller's line, without the values that a frame below it has, too."""
    new = [view for view in one.values if _known_value(view) not in shown]
    values = " ".join(_format_short(view, _OF_A_CALLER) for view in new)
    return run_text.format_caller(
        one.frame, shorten_value(one.text, _CALL) if has_text else "", values
    )


def _format_earlier(answer: Crash) -> list[TextSection]:
    lines = [f"before it: {shorten_value(one, IN_A_LIST)}" for one in answer.earlier]
    return [list_section(lines, lambda cut: f"… {format_count(cut, 'more report')}", rank=_FACTS)]


def _format_threads(answer: Crash) -> list[TextSection]:
    if answer.threads_total <= 1 or not answer.threads:
        return []
    texts = [_format_group(one) for one in answer.threads[:_THREAD_GROUPS]]
    shown = sum(one.count for one in answer.threads[:_THREAD_GROUPS])
    remaining = answer.threads_total - 1 - shown
    more = [f"{remaining} elsewhere"] if remaining > 0 else []
    # Names that the program gave: debuggers number the others.
    is_given = answer.thread_name and not _NUMBERED.match(answer.thread_name)
    own = f"thread {short_name(answer.thread_name)}; " if is_given else ""
    return [fixed_section(f"{own}other threads: {' · '.join([*texts, *more])}", _THREADS)]


def _format_group(one: ThreadGroup) -> str:
    where = _format_place(one.frame)
    return f"{one.count} in {where}" if one.count > 1 else where


def _format_place(frame: FrameView | None) -> str:
    return in_stack(frame) if frame is not None else "somewhere"


def _format_output(answer: Crash, page: RenderPage) -> list[TextSection]:
    if not answer.output_total and not answer.output_dropped:
        return []
    shown = _distinct_lines(answer.output, page)
    if not shown and answer.traces_left_out and not answer.output_dropped:
        return []  # all of it was the report
    lost = f", {answer.output_dropped:,} not kept" if answer.output_dropped else ""
    traces = answer.traces_left_out
    lost += f", {traces:,} of the report left out" if traces else ""
    label = f"output: {format_count(answer.output_total, 'line')}{lost}"
    return [run_text.end_of(label, shown, rank=_OUTPUT, floor=3)]


def _distinct_lines(lines: Sequence[OutputLine], page: RenderPage) -> list[str]:
    """Drop empty lines, and repetitions of consecutive lines."""
    texts = [format_output_line(one, page) for one in lines if one.text.strip()]
    shown = []
    for text, same in groupby(texts):
        count = len(list(same))
        shown.append(f"  {shorten_value(text, _LINE)}" + (f" ({count} times)" if count > 1 else ""))
    return shown


def _format_end(answer: Crash) -> list[TextSection]:
    if answer.cause is None or isinstance(answer.session, str):
        return []
    is_known = answer.exit_code is not None or answer.exit_signal is not None
    if not is_known or (answer.exit_signal is not None and answer.exit_signal == answer.signal):
        return []
    if answer.exit_code is not None and answer.exit_code == answer.usual_exit:
        return []
    return [
        fixed_section(
            f"in the end: {run_text.format_end(answer.exit_signal, answer.exit_code)}", _NOTES
        )
    ]


def evidence_list(answer: EvidenceList, page: RenderPage) -> list[TextSection]:  # noqa: ARG001 - one signature
    """Build the sections of the evidence list."""
    if not answer.evidence:
        return [fixed_section("no evidence yet: debugger crash -- PROGRAM")]
    lines = [_format_line(one) for one in answer.evidence]
    gone = (
        [fixed_section(f"{answer.dropped} older ones are not kept", _NOTES)]
        if answer.dropped
        else []
    )
    return [
        list_section(
            lines,
            lambda cut: f"… {format_count(cut, 'older one')}: debugger evidence show ID",
            from_end=True,
        ),
        *gone,
    ]


def _format_line(one: EvidenceView) -> str:
    mark = " (stale)" if one.stale else ""
    text = f"{shorten_value(one.command, _CALL)}: {shorten_value(one.summary, _LINE)}"
    return f"{escape_text(one.id)}{mark} {escape_text(one.time[11:19])} {text}"


def evidence_drawing(answer: EvidenceDrawing, page: RenderPage) -> list[TextSection]:  # noqa: ARG001
    """Build the section of a drawing: the file, how to write it, or the lines of the calls."""
    name = escape_text(answer.id)
    if answer.picture:
        return [fixed_section(f"{name}: drawn in {escape_text(answer.picture)}", _HEAD)]
    if answer.text:
        # As wide as it is: its lines are no sentences.
        drawn = [escape_text(line) for line in answer.text.split("\n")]
        return [list_section(drawn, lambda cut: f"… {format_count(cut, 'more line')}", rank=1)]
    if answer.svg or not answer.trees:
        # A part of the SVG, which a text may be, would be no picture.
        size = format_count(len(answer.svg), "character")
        way = f"debugger evidence draw {name} FILE.svg writes it, --text shows it"
        return [fixed_section(f"{name}: {size} of SVG: {way}", _HEAD)]
    lines = []
    for tree in answer.trees:
        lines.append(escape_text(f"{tree.title}: {tree.end}"))
        lines += [
            escape_text(
                "  ".join(filter(None, (f"{'  ' * min(one.depth, _DEPTH)}  {one.name}", one.facts)))
            )
            for one in tree.rows
        ]
    return [
        list_section(
            lines, lambda cut: f"… {format_count(cut, 'more line')}: --budget 4000", rank=1
        )
    ]


def evidence_shown(answer: EvidenceShown, page: RenderPage) -> list[TextSection]:  # noqa: ARG001
    """Build the sections of one stored answer."""
    one = answer.evidence
    head = [
        escape_text(f"{one.id} of {one.time} in {one.cwd}"),
        f"$ {shorten_value(one.command, 2 * IN_A_LIST)}",
    ]
    if one.stale:
        head.append(escape_text(f"stale: changed since: {', '.join(one.stale)}; run it again"))
    lines = [escape_text(line, tabs=True) for line in answer.text.splitlines()]
    return [
        fixed_section("\n".join(head), _HEAD),
        list_section(
            lines, lambda cut: f"… {format_count(cut, 'more line')}: --budget 4000", rank=_FACTS
        ),
    ]


def evidence_report(answer: EvidenceReport, page: RenderPage) -> list[TextSection]:  # noqa: ARG001
    """Build the sections of the report: its text, or the file that holds it."""
    if answer.file is not None:
        stale = f" ({answer.stale} of them stale)" if answer.stale else ""
        return [
            fixed_section(
                f"wrote {format_count(answer.count, 'answer')}{stale} to {escape_text(answer.file)}"
            )
        ]
    lines = [escape_text(line, tabs=True) for line in answer.text.splitlines()]
    return [
        list_section(
            lines, lambda cut: f"… {format_count(cut, 'more line')}: debugger evidence export FILE"
        )
    ]
