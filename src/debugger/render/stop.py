"""Formats a stop, an end, or a run that goes on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from debugger.core.answers import (
    AccessView,
    BreakpointView,
    Change,
    Stop,
    Waiting,
    WatchedView,
)
from debugger.render.breakpoints import why
from debugger.render.budget import Section, fixed
from debugger.render.crash import crashed
from debugger.render.lists import inline, listing, locals_of, output_of, source_of
from debugger.render.page import Page
from debugger.render.places import basename, function_of, in_sentence, in_stack, place_of
from debugger.render.values import IN_A_LIST, IN_A_STOP, counted, hint_for, short_name, shorten

# What is cut last has the lowest number.
_HEAD, _NOTES, _FACTS, _SOURCE, _LOCALS, _STACK, _OUTPUT = range(7)
_SIDE = 60
_FRAMES = 8
_NAMED_MAX = 5


def sections(stop: Stop, page: Page) -> list[Section]:
    """Return the parts of a stop, an end, or a run that goes on."""
    if stop.state == "running":
        return _running(stop, page)
    if stop.state == "terminated" or stop.reason == "exit":
        return _ended(stop, page)
    if stop.state != "stopped":
        return [fixed(short_name(stop.state or "unknown")), *_notes(stop)]
    return [
        fixed(_head(stop)),
        *_causes(stop),
        *_source(stop, page),
        *_returned(stop),
        *_values(stop, page),
        *_stack(stop),
        *output_of(stop.output, stop.output_total, stop.output_dropped, page, rank=_OUTPUT),
        *crashed(stop.crash, _FACTS),
        *_notes(stop),
    ]


def _head(stop: Stop) -> str:
    where = [_reason(stop)]
    if stop.frame is not None:
        where.append(in_sentence(stop.frame))
    return f"stopped: {', '.join(where)}{_thread(stop)}"


def _thread(stop: Stop) -> str:
    said = [f"thread {stop.thread}"] if stop.thread is not None else []
    if stop.frame is not None and stop.frame.index:
        said.append(f"frame #{stop.frame.index}")
    inside = ", ".join(said)
    innermost = stop.stack[0] if stop.stack else None
    if stop.frame is not None and stop.frame.index and innermost and not innermost.index:
        inside += f"; #0 is {function_of(innermost)}"
    return f" ({inside})" if inside else ""


def _reason(stop: Stop) -> str:
    hits = ", ".join(str(number) for number in stop.hit_breakpoints)
    match stop.reason:
        case "breakpoint" | "function_breakpoint":
            return f"breakpoint {hits}".rstrip()
        case "exception":
            return _exception(stop)
        case "signal":
            return _described(f"signal {stop.signal or ''}".rstrip(), stop)
        case "watchpoint":
            told = "; ".join(map(_watched, stop.watched)) + _accessed_by(stop)
            return told or _described(f"watchpoint {hits}".rstrip(), stop)
        case "step" if hits:
            return f"step to breakpoint {hits}"
    return short_name(stop.reason or stop.raw_reason or stop.description or "unknown reason")


def _accessed_by(stop: Stop) -> str:
    """Name the line that wrote, where the stop is in another one."""
    by, frame = stop.accessed_by, stop.frame
    if not isinstance(by, AccessView):
        return ""
    if frame is not None and (by.file, by.line) == (frame.file, frame.line):
        return ""
    return f" (by {basename(by.file)}:{by.line})"


def _watched(view: WatchedView) -> str:
    is_new = view.previous is not None and view.previous != view.value
    was = f"{shorten(view.previous or '', IN_A_STOP)} → " if is_new else ""
    what = f"watchpoint {view.id}: {shorten(view.expression, IN_A_STOP)}"
    return f"{what} {was}{shorten(view.value, IN_A_STOP)}"


def _described(what: str, stop: Stop) -> str:
    words = (stop.description or "").strip()
    for known in (what, stop.signal or what, stop.raw_reason or what, stop.reason or what):
        if words.lower().startswith(known.lower()):
            words = words[len(known) :].lstrip(" :,-")
    what = short_name(what)
    return f"{what}: {shorten(words, IN_A_LIST)}" if words else what


def _exception(stop: Stop) -> str:
    if stop.exception is None:
        return _described("exception", stop)
    what = f"exception {short_name(stop.exception.type)}".rstrip()
    message = shorten(stop.exception.message, IN_A_LIST, hint="debugger exception")
    return f"{what}: {message}" if message else what


def _causes(stop: Stop) -> list[Section]:
    causes = stop.exception.causes if stop.exception is not None else ()
    lines = [f"cause: {shorten(cause, IN_A_LIST, hint='debugger exception')}" for cause in causes]
    return [
        listing(
            lines, lambda cut: f"… {counted(cut, 'more cause')}: debugger exception", rank=_FACTS
        )
    ]


def _source(stop: Stop, page: Page) -> list[Section]:
    lines = stop.source
    if stop.is_repeat:
        lines = tuple(line for line in lines if line.current)
    return [
        source_of(
            lines,
            page,
            rank=_SOURCE,
            more=lambda cut: f"   … {counted(cut, 'more line')}: debugger context",
        )
    ]


def _returned(stop: Stop) -> list[Section]:
    if stop.returned is None:
        return []
    value = shorten(stop.returned.value, IN_A_LIST, hint=hint_for(stop.returned))
    return [fixed(f"returned: {value}", _FACTS)]


def _values(stop: Stop, page: Page) -> list[Section]:
    if not stop.is_repeat:
        return [locals_of(stop.locals, stop.locals_total, page, rank=_LOCALS)]
    return [
        inline(
            "changed",
            [_change(one) for one in stop.changed],
            len(stop.changed),
            lambda cut: f"… {cut:,} more changed: debugger locals",
            rank=_LOCALS,
        )
    ]


def _change(change: Change) -> str:
    after = shorten(change.value, _SIDE, hint="debugger locals")
    if change.previous is None:
        return f"{short_name(change.name)}={after}"
    return f"{short_name(change.name)}={shorten(change.previous, _SIDE)}→{after}"


def _stack(stop: Stop) -> list[Section]:
    if stop.is_repeat or not stop.stack:
        return []
    # Frames without source below the outermost one with source are the runtime's: only counted.
    own = len(stop.stack) if stop.stack_own is None else stop.stack_own
    frames = [f"#{frame.index} {in_stack(frame)}" for frame in stop.stack[:own]]
    total = max(stop.stack_total or 0, len(stop.stack))
    runtime = len(stop.stack) - own

    def lay(kept: int) -> str:
        cut = total - runtime - kept
        note = [f"… {counted(cut, 'more frame')}: debugger backtrace"] if cut else []
        note += [f"{runtime} without source"] if runtime else []
        return "stack: " + " · ".join([*frames[:kept], *note])

    return [Section(lay, count=min(len(frames), _FRAMES), rank=_STACK, floor=2)]


def _notes(stop: Stop) -> list[Section]:
    notes = [*stop.notes, *_left_running(stop.left_running)]
    return [fixed(f"note: {shorten(note, 2 * IN_A_LIST)}", _NOTES) for note in notes]


def _left_running(names: Sequence[str]) -> Iterator[str]:
    if names:
        more = f" and {len(names) - _NAMED_MAX} more" * (len(names) > _NAMED_MAX)
        yield (
            f"still running: {', '.join(names[:_NAMED_MAX])}{more}: "
            "debugger await waits for it, debugger stop ends it"
        )


def _running(stop: Stop, page: Page) -> list[Section]:
    head, last = "running", []
    if stop.timed_out:
        within = f" within {stop.waited_s:g} s" if stop.waited_s is not None else ""
        head, then = f"running: no stop{within}", "debugger await waits on; debugger pause stops it"
        if isinstance(stop.waiting, Waiting):
            head, then = (
                f"running: {shorten(stop.waiting.text, IN_A_LIST)}",
                _after_waiting(stop.waiting),
            )
        last = [fixed(then, _NOTES)]
    output = output_of(stop.output, stop.output_total, stop.output_dropped, page, rank=_OUTPUT)
    return [fixed(head), *output, *crashed(stop.crash, _FACTS), *_notes(stop), *last]


def _after_waiting(waiting: Waiting) -> str:
    if waiting.kind != "input":
        return "a request makes it run; debugger await waits for the stop; debugger pause stops it"
    if isinstance(waiting.source, str):
        return f"its stdin is {short_name(waiting.source)}: write there; then debugger await"
    return (
        "debugger input TEXT answers it, debugger input --eof ends its input; then debugger await"
    )


def _missed(view: BreakpointView) -> str:
    """Say how often a breakpoint was hit that never stopped the program."""
    if isinstance(view.hits_below, int):
        return f"hit fewer than {view.hits_below} times"
    return "never hit"


def _ended(stop: Stop, page: Page) -> list[Section]:
    head = "exited"
    if stop.signal is not None:
        head = f"exited: signal {short_name(stop.signal)}"
    elif stop.exit_code is not None:
        head = f"exited: status {stop.exit_code}"
    missed = [
        *(_unbound(view) for view in stop.unbound),
        *(f"breakpoint {view.id} was {_missed(view)}: {place_of(view)}" for view in stop.never_hit),
    ]
    return [
        fixed(head),
        *crashed(stop.crash, _FACTS),
        *_causes(stop),
        *output_of(stop.output, stop.output_total, stop.output_dropped, page, rank=_OUTPUT),
        listing(
            missed,
            lambda cut: f"… {counted(cut, 'more breakpoint')}: debugger breakpoint list",
            rank=_FACTS,
        ),
        *_notes(stop),
    ]


def _unbound(view: BreakpointView) -> str:
    return f"breakpoint {view.id} was never bound: {why(view) or place_of(view)}"
