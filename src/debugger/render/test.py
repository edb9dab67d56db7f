"""Formats a run of tests: the one that failed, and where its wrong value came from."""

from __future__ import annotations

from debugger.core.answers import CallerView, FailedTest, MadeView, Tested, VariableView
from debugger.render import asked
from debugger.render.budget import Section, fixed
from debugger.render.lists import indent, inline, leading_to, listing, source_of, streamed
from debugger.render.page import Page
from debugger.render.places import in_sentence, line_of
from debugger.render.values import IN_A_LIST, counted, short_name, shorten

# What is cut last has the lowest number.
_HEAD, _NOTES, _FACTS, _SOURCE, _MADE, _VALUES, _CALLERS, _OTHERS, _OUTPUT = range(9)
_CAUSE = 500
_VALUE = 110
_OF_A_CALLER = 70
_TEXT = 100
_TESTS = 10
_HEADS = {
    "failed": "failed",
    "broken": "could not run",
    "passed": "passed",
    "nothing": "no test was run",
    "crashed": "ended without a result",
    "running": "still running",
}


def tested(answer: Tested, page: Page) -> list[Section]:
    """Return the parts of what is said of a run of tests."""
    return [
        fixed(_head(answer), _HEAD),
        fixed(_about(answer), _HEAD),
        *_facts(answer),
        *_source(answer, page),
        _made(answer),
        *_assigned("values", answer.values, len(answer.values)),
        *_assigned("locals", answer.locals, answer.locals_total),
        *_callers(answer),
        *_others(answer),
        *_output(answer, page),
        *asked.notes(answer.notes, answer.evidence, answer.session, rank=_NOTES),
    ]


def _head(answer: Tested) -> str:
    head = _HEADS.get(answer.outcome, answer.outcome)
    if answer.cause is not None:
        return f"{head}: {shorten(' '.join(answer.cause.split()), _CAUSE)}"
    if answer.outcome == "running":
        within = f" after {answer.took_s:g} s" if answer.took_s is not None else ""
        at = f", in {shorten(answer.test, IN_A_LIST)}" if answer.test is not None else ""
        return f"{head}{within}{at}"
    ended = asked.ended(answer.exit_signal, answer.exit_code)
    if answer.outcome == "crashed" and answer.test is not None:
        return f"{head}: {ended}, in {shorten(answer.test, IN_A_LIST)}"
    return f"{head}: {shorten(answer.summary, IN_A_LIST) or ended}"


def _about(answer: Tested) -> str:
    """Return which test it is, of how many, by which runner."""
    runner = short_name(answer.runner)
    method = f", {short_name(answer.method)}" if answer.method else ""
    took = f", {answer.took_s:g} s" if answer.took_s is not None else ""
    if answer.test is None or answer.outcome in {"running", "crashed"}:
        return f"{runner}{method}{took}"
    phase = f" ({short_name(answer.phase)})" if answer.phase is not None else ""
    summary = f": {shorten(answer.summary, IN_A_LIST)}" if answer.summary else ""
    return f"test: {shorten(answer.test, IN_A_LIST)}{phase} · {runner}{summary}{method}{took}"


def _facts(answer: Tested) -> list[Section]:
    parts = [shorten(one, IN_A_LIST) for one in answer.errors]
    told = answer.exception
    if told is not None:
        lines = [line for line in told.message.splitlines() if line.strip()]
        parts += [f"  {shorten(line.strip(), IN_A_LIST)}" for line in lines[1:5]]
        parts += [f"caused by: {shorten(one, IN_A_LIST)}" for one in told.causes]
    if answer.inside is not None:
        parts.append(f"inside: {in_sentence(answer.inside)}")
    return [listing(parts, lambda cut: f"… {counted(cut, 'more line')}", rank=_FACTS)]


def _source(answer: Tested, page: Page) -> list[Section]:
    where = asked.place(answer.frame, page, said=answer.cause, rank=_FACTS)
    return [*where, source_of(leading_to(answer.source), page, rank=_SOURCE, more=lambda _: "")]


def _made(answer: Tested) -> Section:
    lines = [_made_line(one) for one in answer.made]
    if lines:
        lines.insert(0, "its values come from:")
    return listing(
        lines,
        lambda cut: f"  … {counted(cut, 'line')} before: --budget 2000",
        rank=_MADE,
        floor=4,
        from_end=True,
    )


def _made_line(one: MadeView) -> str:
    blanks = indent(1 + one.depth)
    values = " ".join(
        f"{short_name(each.name)}={shorten(each.value, _VALUE)}" for each in one.values
    )
    call = shorten(one.call, 2 * _VALUE) if one.call is not None else ""
    said = ", in ".join(filter(None, (values, call)))
    text = shorten(one.text, _TEXT)
    return f"{blanks}{line_of(one.frame)} {text}" + (f"  [{said}]" if said else "")


def _assigned(label: str, views: tuple[VariableView, ...], total: int) -> list[Section]:
    if not views:
        return []
    items = [f"{short_name(view.name)}={shorten(view.value, _VALUE)}" for view in views]
    most = max(total, len(items))
    return [inline(label, items, most, lambda cut: f"… {cut} more", rank=_VALUES, floor=4)]


def _callers(answer: Tested) -> list[Section]:
    lines = [_caller(one) for one in answer.callers]
    return [asked.callers(lines, rank=_CALLERS)]


def _caller(one: CallerView) -> str:
    values = " ".join(
        f"{short_name(view.name)}={shorten(view.value, _OF_A_CALLER)}" for view in one.values
    )
    return asked.caller(one.frame, shorten(one.text, _TEXT), values)


def _others(answer: Tested) -> list[Section]:
    if not answer.others:
        return []
    lines = [f"{counted(answer.failed - 1, 'other test')} failed:"]
    lines += [f"  {_other(one)}" for one in answer.others[:_TESTS]]
    left = answer.failed - 1 - len(lines[1:])
    return [
        listing(
            lines,
            lambda cut: f"  … {cut} more: --json",
            missing=max(left, 0),
            rank=_OTHERS,
            floor=2,
        )
    ]


def _other(one: FailedTest) -> str:
    said = f": {shorten(one.message, _VALUE)}" if one.message else ""
    at = f" ({line_of(one.frame)})" if one.frame is not None else ""
    return f"{shorten(one.name, IN_A_LIST)}{at}{said}"


def _output(answer: Tested, page: Page) -> list[Section]:
    if not answer.output:
        return []
    label = f"output: {counted(answer.output_total, 'line')}"
    lines = [f"  {shorten(streamed(one, page), IN_A_LIST)}" for one in answer.output]
    return [asked.end_of(label, lines, rank=_OUTPUT, floor=3)]
