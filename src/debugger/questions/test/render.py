"""Formats a test run: the failed test, and the origin of its wrong value."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from debugger.model.answers import VariableView
from debugger.model.text_filters import clip_text
from debugger.output.list_text import (
    format_output_line,
    indent_tree,
    inline_section,
    leading_to,
    list_section,
    source_of,
)
from debugger.output.location_text import (
    IN_A_LIST,
    format_count,
    function_of,
    in_sentence,
    line_of,
    short_name,
    shorten_value,
)
from debugger.output.structured import RenderPage, TextSection, fixed_section
from debugger.questions.recordings import run_text
from debugger.questions.runner.answer import CallerView
from debugger.questions.test.answer import (
    DroppedPromiseView,
    FailedTest,
    MadeView,
    SpectrumRow,
    SpectrumView,
    SuiteAnswer,
)

# What is cut last has the lowest number.
_HEAD, _NOTES, _FACTS, _SOURCE, _SPECTRUM, _MADE, _VALUES, _CALLERS, _OTHERS, _OUTPUT = range(10)
_CAUSE = 500  # characters
_VALUE = 110  # characters
_OF_A_CALLER = 70
_TEXT = 100
_MADE_LINE = 180  # characters of a line's values
_MADE_SHARE = 600  # characters of the page for one of many lines
_MADE_LINES = 10  # beyond them the rounds of loops are folded
_SHARED = 2  # rows of lines that passing tests ran, too
_PARTS = 2  # of a qualified name
_NAMES = 3  # passing tests that are named
_TESTS = 10  # failed tests after the first
_SETTLED = {
    "pending": "never settled",
    "fulfilled": "settled only later",
    "rejected": "rejected",
}
_HEADS = {
    "failed": "failed",
    "broken": "could not run",
    "passed": "passed",
    "nothing": "no test was run",
    "crashed": "ended without a result",
    "running": "still running",
}


def format_tested(answer: SuiteAnswer, page: RenderPage) -> list[TextSection]:
    """Build the sections about a test run."""
    return [
        fixed_section(_format_head(answer), _HEAD),
        fixed_section(_format_about(answer), _HEAD),
        *_format_facts(answer),
        *_format_source(answer, page),
        *run_text.format_origin(answer.why, rank=_FACTS),
        _format_promises(answer.dropped_promises),
        *_format_spectrum(answer.spectrum),
        *_format_left_out(answer.spectrum),
        _format_made(answer, page),
        *_format_values(answer),
        *_format_callers(answer),
        *_format_others(answer),
        *_format_output(answer, page),
        *run_text.format_notes(answer.notes, answer.evidence, answer.session, rank=_NOTES),
    ]


def _format_head(answer: SuiteAnswer) -> str:
    head = _HEADS.get(answer.outcome, answer.outcome)
    if answer.cause is not None:
        return f"{head}: {shorten_value(' '.join(answer.cause.split()), _CAUSE)}"
    if answer.outcome == "running":
        within = f" after {answer.took_s:g} s" if answer.took_s is not None else ""
        at = f", in {shorten_value(answer.test, IN_A_LIST)}" if answer.test is not None else ""
        return f"{head}{within}{at}"
    ended = run_text.format_end(answer.exit_signal, answer.exit_code)
    if answer.outcome == "crashed" and answer.test is not None:
        return f"{head}: {ended}, in {shorten_value(answer.test, IN_A_LIST)}"
    return f"{head}: {shorten_value(answer.summary, IN_A_LIST) or ended}"


def _format_about(answer: SuiteAnswer) -> str:
    """Format which test failed, of how many, and the runner."""
    runner = short_name(answer.runner)
    method = f", {short_name(answer.method)}" if answer.method else ""
    took = f", {answer.took_s:g} s" if answer.took_s is not None else ""
    if answer.test is None or answer.outcome in {"running", "crashed"}:
        return f"{runner}{method}{took}"
    phase = f" ({short_name(answer.phase)})" if answer.phase is not None else ""
    summary = f": {shorten_value(answer.summary, IN_A_LIST)}" if answer.summary else ""
    return f"test: {shorten_value(answer.test, IN_A_LIST)}{phase} · {runner}{summary}{method}{took}"


def _format_facts(answer: SuiteAnswer) -> list[TextSection]:
    parts = [shorten_value(one, IN_A_LIST) for one in answer.errors]
    exception = answer.exception
    if exception is not None:
        lines = [line for line in exception.message.splitlines() if line.strip()]
        new = [line for line in lines[1:5] if not _is_repeated(line, answer.cause or "")]
        parts += [f"  {shorten_value(line.strip(), IN_A_LIST)}" for line in new]
        parts += [f"caused by: {shorten_value(one, IN_A_LIST)}" for one in exception.causes]
    if answer.inside is not None:
        parts.append(f"inside: {in_sentence(answer.inside)}")
    return [list_section(parts, lambda cut: f"… {format_count(cut, 'more line')}", rank=_FACTS)]


def _is_repeated(line: str, cause: str) -> bool:
    """Return whether the first line has what a line of the message says: `left: 3`."""
    plain = " ".join(line.split())
    name, colon, value = plain.partition(": ")
    pair = f"|{re.escape(name)}={re.escape(value)}" if colon else ""
    words = rf"(?<![\w.])(?:{re.escape(plain)}{pair})(?!\w)"
    return re.search(words, " ".join(cause.split())) is not None


def _format_source(answer: SuiteAnswer, page: RenderPage) -> list[TextSection]:
    where = run_text.format_location(answer.frame, page, text=answer.cause, rank=_FACTS)
    return [*where, source_of(leading_to(answer.source), page, rank=_SOURCE, more=lambda _: "")]


def _format_promises(some: tuple[DroppedPromiseView, ...]) -> TextSection:
    """Format the statements that dropped a promise: what depends on it came too late."""
    lines = [_promise_line(one) for one in some]
    return list_section(lines, lambda cut: f"… {format_count(cut, 'more promise')}", rank=_FACTS)


def _promise_line(one: DroppedPromiseView) -> str:
    text = shorten_value(one.text, _TEXT)
    made = f", made in {in_sentence(one.made)}" if one.made is not None else ""
    count = f", {one.count} times" if one.count > 1 else ""
    state = _SETTLED.get(one.state, one.state)
    return (
        f"a promise that nobody awaited: {text} at {line_of(one.frame)} in "
        f"{function_of(one.frame)}{count}{made}, {state} [rerun]"
    )


def _format_spectrum(spectrum: SpectrumView | None) -> list[TextSection]:
    """Format the lines that the fewest passing tests ran."""
    if spectrum is None:
        return []
    if not spectrum.rows:
        beside = format_count(spectrum.passing, "passing test")
        names = ", ".join(short_name(one) for one in spectrum.names[:_NAMES])
        text = f"compared with {beside} ({names}): no line that the failing test alone ran"
        return [fixed_section(text, _SPECTRUM)]
    # What passing tests ran, too, says less, and is none of what the failing test alone ran.
    alone = tuple(one for one in spectrum.rows if not one.passing)
    shown = alone or spectrum.rows[:_SHARED]
    lines = [_spectrum_line(one, spectrum) for one in shown]
    lines.insert(0, _spectrum_head(spectrum))
    missing = spectrum.more + len(alone or spectrum.rows) - len(shown)
    more = f"  … {format_count(missing, 'more line')} that as few ran"
    return [
        list_section(lines, lambda cut: f"  … {cut} more", rank=_SPECTRUM, floor=4),
        *([fixed_section(more, _SPECTRUM)] if missing else []),
    ]


def _spectrum_head(spectrum: SpectrumView) -> str:
    beside = format_count(spectrum.passing, "passing test")
    if spectrum.rows[0].passing == 0:
        return f"only the failing test ran (of it and {beside} beside it, {spectrum.took_s:.1f} s):"
    return f"the fewest of {beside} beside it ran ({spectrum.took_s:.1f} s):"


def _spectrum_line(one: SpectrumRow, spectrum: SpectrumView) -> str:
    last = f"-{one.last}" if one.last != one.frame.line else ""
    ran = f" ({one.passing} of {spectrum.passing} passing ran it)" if one.passing else ""
    function = one.frame.function or "?"
    if "<" not in function:
        function = "::".join(function.split("::")[-_PARTS:])
    text = shorten_value(one.text, _TEXT)
    parting = _format_parting(one)
    return f"  {line_of(one.frame)}{last} in {short_name(function)}{parting}  {text}{ran}"


def _format_parting(row: SpectrumRow) -> str:
    """Format the condition before a row: its line alone, in the row's own file."""
    texts = [
        f", as `{shorten_value(one.text, _TEXT)}` was "
        f"{'true' if one.is_true else 'false'} :{one.frame.line}"
        for one in row.reached
    ]
    return "".join(texts)


def _format_left_out(spectrum: SpectrumView | None) -> list[TextSection]:
    """Format what the failing test alone did not run."""
    if spectrum is None or not spectrum.left_out:
        return []
    lines = [
        f"  {line_of(one.frame)} in {short_name(one.frame.function or '?')}"
        f"{_format_parting(one)}  {shorten_value(one.text, _TEXT)} ({one.passing} passing)"
        for one in spectrum.left_out
    ]
    lines.insert(0, "only the failing test did not run:")
    return [list_section(lines, lambda cut: f"  … {cut} more", rank=_SPECTRUM, floor=2)]


def _format_made(answer: SuiteAnswer, page: RenderPage) -> TextSection:
    lines = [_made_line(one) for one in answer.made]
    if len(lines) > _MADE_LINES:
        lines = _fold_rounds(answer.made)
    # Of a long way the last lines say least beside what the failing test alone did.
    is_long = len(lines) > _MADE_LINES and answer.spectrum is not None and answer.spectrum.rows
    most = page.limit // _MADE_SHARE if is_long else len(lines)
    missing = max(len(lines) - most, 0)
    lines = lines[missing:]
    if lines and not missing:
        lines.insert(0, "its values come from:")
    return list_section(
        lines,
        lambda cut: f"  … {format_count(cut, 'line')} before: --budget 2000",
        missing=missing,
        rank=_MADE,
        floor=4,
        from_end=True,
    )


def _fold_rounds(made: Sequence[MadeView]) -> list[str]:
    """Format each line once, as it was the last time, and how often it was come to."""
    times = Counter((one.frame, one.text) for one in made)
    last = {(one.frame, one.text): at for at, one in enumerate(made)}
    lines = []
    for at, one in enumerate(made):
        key = one.frame, one.text
        if last[key] == at:
            rounds = f" (the last of {times[key]})" if times[key] > 1 else ""
            lines.append(f"{_made_line(one)}{rounds}")
    return lines


def _made_line(one: MadeView) -> str:
    blanks = indent_tree(1 + one.depth)
    values = " ".join(
        f"{short_name(each.name)}={shorten_value(each.value, _VALUE)}" for each in one.values
    )
    call = shorten_value(one.call, 2 * _VALUE) if one.call is not None else ""
    message = clip_text(", in ".join(filter(None, (values, call))), _MADE_LINE)
    text = shorten_value(one.text, _TEXT)
    return f"{blanks}{line_of(one.frame)} {text}" + (f"  [{message}]" if message else "")


def _format_values(answer: SuiteAnswer) -> list[TextSection]:
    """Format the values and locals that the first line, or a line above, does not show."""
    is_short = len(answer.made) <= _MADE_LINES
    made = [each for one in answer.made for each in one.values] if is_short else []
    above = " ".join([answer.cause or "", *(f"{one.name}={one.value}" for one in made)])
    values = [one for one in answer.values if not _is_in(above, one)]
    named = [one for one in answer.locals if not _is_in(above, one)]
    remaining = answer.locals_total - len(answer.locals)
    return [
        *_format_assigned("values", values, len(values)),
        *_format_assigned("locals", named, len(named) + remaining),
    ]


def _is_in(text: str, one: VariableView) -> bool:
    pair = re.escape(f"{one.name}={one.value}")
    return re.search(rf"(?<![\w.>]){pair}(?!\w)", text) is not None


def _format_assigned(label: str, views: Sequence[VariableView], total: int) -> list[TextSection]:
    if not views:
        return []
    items = [f"{short_name(view.name)}={shorten_value(view.value, _VALUE)}" for view in views]
    most = max(total, len(items))
    return [inline_section(label, items, most, lambda cut: f"… {cut} more", rank=_VALUES, floor=4)]


def _format_callers(answer: SuiteAnswer) -> list[TextSection]:
    lines = [_format_caller(one) for one in answer.callers]
    return [run_text.format_callers(lines, rank=_CALLERS)]


def _format_caller(one: CallerView) -> str:
    values = " ".join(
        f"{short_name(view.name)}={shorten_value(view.value, _OF_A_CALLER)}" for view in one.values
    )
    return run_text.format_caller(one.frame, shorten_value(one.text, _TEXT), values)


def _format_others(answer: SuiteAnswer) -> list[TextSection]:
    if not answer.others:
        return []
    lines = [f"{format_count(answer.failed - 1, 'other test')} failed:"]
    lines += [f"  {_format_other(one)}" for one in answer.others[:_TESTS]]
    remaining = answer.failed - 1 - len(lines[1:])
    return [
        list_section(
            lines,
            lambda cut: f"  … {cut} more: --json",
            missing=max(remaining, 0),
            rank=_OTHERS,
            floor=2,
        )
    ]


def _format_other(one: FailedTest) -> str:
    text = f": {shorten_value(one.message, _VALUE)}" if one.message else ""
    at = f" ({line_of(one.frame)})" if one.frame is not None else ""
    return f"{shorten_value(one.name, IN_A_LIST)}{at}{text}"


def _format_output(answer: SuiteAnswer, page: RenderPage) -> list[TextSection]:
    if not answer.output:
        return []
    label = f"output: {format_count(answer.output_total, 'line')}"
    lines = [
        f"  {shorten_value(format_output_line(one, page), IN_A_LIST)}" for one in answer.output
    ]
    return [run_text.end_of(label, lines, rank=_OUTPUT, floor=3)]
