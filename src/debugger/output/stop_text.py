"""Formats a stop, a program's end, a crash, or a program that still runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from debugger.model.answers import (
    AccessView,
    BreakpointView,
    ChangedValue,
    CrashNote,
    IdleReason,
    Stop,
    WatchedView,
)
from debugger.output.breakpoint_text import format_why_unbound
from debugger.output.list_text import inline_section, list_section, locals_of, output_of, source_of
from debugger.output.location_text import (
    IN_A_LIST,
    IN_A_STOP,
    base_name,
    format_count,
    function_of,
    hint_for,
    in_sentence,
    in_stack,
    place_of,
    short_name,
    shorten_value,
)
from debugger.output.structured import RenderPage, TextSection, fixed_section

_WHAT = 60  # characters of a crash's description
_FRAMES = 8  # frames of a stack
_REASON_MAX = 300  # characters of what a launcher wrote of its failure
_NOTE_LOCALS = 10


def format_details(data: Mapping[str, Any], most: int) -> list[str]:
    """Format the stack and the locals of a crash event, one a line."""
    stack, values = data.get("stack") or [], data.get("locals") or []
    frames = [
        f"#{one['index']} {short_name(one['function'])} "
        f"{_format_place(one['file'], one['line'])}".rstrip()
        for one in stack[:_FRAMES]
    ]
    if len(stack) > _FRAMES:
        frames.append(f"… {len(stack) - _FRAMES} more: --json")
    named = [
        f"{short_name(one['name'])}={shorten_value(one['value'], most)}"
        for one in values[:_NOTE_LOCALS]
    ]
    if len(values) > _NOTE_LOCALS:
        named.append(f"… {len(values) - _NOTE_LOCALS} more: --json")
    return [
        *([f"stack: {' · '.join(frames)}"] if frames else []),
        *([f"locals: {' '.join(named)}"] if named else []),
    ]


def _format_place(file: str | None, line: int | None) -> str:
    if file is None:
        return ""
    return base_name(file) + (f":{line}" if line is not None else "")


def format_crashed(crash: object, rank: int = 1) -> list[TextSection]:
    """Format `crashed: SIGSEGV at 0x0 in parse file.c:12`."""
    if not isinstance(crash, CrashNote):
        return []
    texts = [short_name(crash.signal) if crash.signal else shorten_value(crash.description, _WHAT)]
    if isinstance(crash.address, str):
        texts.append(f"at {short_name(crash.address)}")
    if isinstance(crash.function, str):
        texts.append(f"in {short_name(crash.function)}")
    if isinstance(crash.file, str):
        texts.append(_format_place(crash.file, crash.line if isinstance(crash.line, int) else None))
    return [fixed_section(f"crashed: {' '.join(texts)} (debugger events --kind crash)", rank)]


# What is cut last has the lowest number.
_HEAD, _NOTES, _FACTS, _SOURCE, _LOCALS, _STACK, _OUTPUT = range(7)
_ADDRESS = re.compile(r"0x[0-9a-f]+")
_SIDE = 60  # characters of an old or new value
_NAMED_MAX = 5


def stop_sections(stop: Stop, page: RenderPage) -> list[TextSection]:
    """Build the sections of a stop, an end, or a program that still runs."""
    if stop.state == "running":
        return _format_running(stop, page)
    if stop.state == "terminated" or stop.reason == "exit":
        return _format_ended(stop, page)
    if stop.state != "stopped":
        return [fixed_section(short_name(stop.state or "unknown")), *_format_notes(stop)]
    return [
        fixed_section(_format_head(stop)),
        *_format_causes(stop),
        *_format_source(stop, page),
        *_format_returned(stop),
        *_format_values(stop, page),
        *_format_stack(stop),
        *output_of(stop.output, stop.output_total, stop.output_dropped, page, rank=_OUTPUT),
        *format_crashed(stop.crash, _FACTS),
        *_format_notes(stop),
    ]


def _format_head(stop: Stop) -> str:
    where = [_format_reason(stop)]
    if stop.frame is not None:
        where.append(in_sentence(stop.frame))
    return f"stopped: {', '.join(where)}{_format_thread(stop)}"


def _format_thread(stop: Stop) -> str:
    texts = [f"thread {stop.thread}"] if stop.thread is not None else []
    if stop.frame is not None and stop.frame.index:
        texts.append(f"frame #{stop.frame.index}")
    text = ", ".join(texts)
    innermost = stop.stack[0] if stop.stack else None
    if stop.frame is not None and stop.frame.index and innermost and not innermost.index:
        text += f"; #0 is {function_of(innermost)}"
    return f" ({text})" if text else ""


def _format_reason(stop: Stop) -> str:
    hits = ", ".join(str(number) for number in stop.hit_breakpoints)
    match stop.reason:
        case "breakpoint" | "function_breakpoint":
            return f"breakpoint {hits}".rstrip()
        case "exception":
            return _format_exception(stop)
        case "signal":
            return _format_described(f"signal {stop.signal or ''}".rstrip(), stop)
        case "watchpoint":
            text = "; ".join(map(_format_watched, stop.watched)) + _accessed_by(stop)
            return text or _format_described(f"watchpoint {hits}".rstrip(), stop)
        case "step" if hits:
            return f"step to breakpoint {hits}"
    return short_name(stop.reason or stop.raw_reason or stop.description or "unknown reason")


def _accessed_by(stop: Stop) -> str:
    """Format the line that wrote, if the stop is in another one."""
    by, frame = stop.accessed_by, stop.frame
    if not isinstance(by, AccessView):
        return ""
    if frame is not None and (by.file, by.line) == (frame.file, frame.line):
        return ""
    return f" (by {base_name(by.file)}:{by.line})"


def _format_watched(view: WatchedView) -> str:
    is_new = view.previous is not None and view.previous != view.value
    was = f"{shorten_value(view.previous or '', IN_A_STOP)} → " if is_new else ""
    what = f"watchpoint {view.id}: {shorten_value(view.expression, IN_A_STOP)}"
    return f"{what} {was}{shorten_value(view.value, IN_A_STOP)}"


def _format_described(what: str, stop: Stop) -> str:
    words = (stop.description or "").strip()
    for known in (what, stop.signal or what, stop.raw_reason or what, stop.reason or what):
        if words.lower().startswith(known.lower()):
            words = words[len(known) :].lstrip(" :,-")
    what = short_name(what)
    return f"{what}: {shorten_value(words, IN_A_LIST)}" if words else what


def _format_exception(stop: Stop) -> str:
    if stop.exception is None:
        return _format_described("exception", stop)
    what = f"exception {short_name(stop.exception.type)}".rstrip()
    message = shorten_value(stop.exception.message, IN_A_LIST, hint="debugger exception")
    return f"{what}: {message}" if message else what


def _format_causes(stop: Stop) -> list[TextSection]:
    causes = stop.exception.causes if stop.exception is not None else ()
    lines = [
        f"cause: {shorten_value(cause, IN_A_LIST, hint='debugger exception')}" for cause in causes
    ]
    return [
        list_section(
            lines,
            lambda cut: f"… {format_count(cut, 'more cause')}: debugger exception",
            rank=_FACTS,
        )
    ]


def _format_source(stop: Stop, page: RenderPage) -> list[TextSection]:
    lines = stop.source
    if stop.is_repeat:
        lines = tuple(line for line in lines if line.current)
    return [
        source_of(
            lines,
            page,
            rank=_SOURCE,
            more=lambda cut: f"   … {format_count(cut, 'more line')}: debugger context",
        )
    ]


def _format_returned(stop: Stop) -> list[TextSection]:
    if stop.returned is None:
        return []
    value = shorten_value(stop.returned.value, IN_A_LIST, hint=hint_for(stop.returned))
    return [fixed_section(f"returned: {value}", _FACTS)]


def _format_values(stop: Stop, page: RenderPage) -> list[TextSection]:
    if not stop.is_repeat:
        return [locals_of(stop.locals, stop.locals_total, page, rank=_LOCALS)]
    return [
        inline_section(
            "changed",
            [_format_change(one, stop.changed) for one in stop.changed],
            len(stop.changed),
            lambda cut: f"… {cut:,} more changed: debugger locals",
            rank=_LOCALS,
        )
    ]


def _format_change(change: ChangedValue, every: Sequence[ChangedValue]) -> str:
    """Format a change; where it is that of a value within, as of an element, only name that."""
    name, before = short_name(change.name), change.previous
    if before is None:
        return f"{name}={shorten_value(change.value, _SIDE, hint='debugger locals')}"
    part = next((one for one in every if _is_within(one, before, change.value)), None)
    if part is not None:
        return f"{name}: that of {short_name(part.name)}"
    address = before.partition(" {")[0]
    # The stop before has shown what a pointer's former target holds.
    if _ADDRESS.fullmatch(address) and not change.value.startswith(f"{address} "):
        before = address
    before = shorten_value(before, _SIDE)
    after = shorten_value(change.value, 2 * _SIDE - len(before), hint="debugger locals")
    return f"{name}={before}→{after}"


def _is_within(part: ChangedValue, before: str, after: str) -> bool:
    """Return whether a change is that of a part alone; numbers are alike by chance."""
    was = part.previous or ""
    is_compound = was[-1:] in {")", "]", "}"} and len(was) > len("{1}")
    return is_compound and len(was) < len(before) and before.replace(was, part.value, 1) == after


def _format_stack(stop: Stop) -> list[TextSection]:
    if stop.is_repeat or not stop.stack:
        return []
    # Frames without source below the outermost one with source are the runtime's: only counted.
    own = len(stop.stack) if stop.stack_own is None else stop.stack_own
    frames = [f"#{frame.index} {in_stack(frame)}" for frame in stop.stack[:own]]
    total = max(stop.stack_total or 0, len(stop.stack))
    runtime = len(stop.stack) - own

    def fit_text(most: int) -> str:
        cut = total - runtime - most
        note = [f"… {format_count(cut, 'more frame')}: debugger backtrace"] if cut else []
        note += [f"{runtime} without source"] if runtime else []
        return "stack: " + " · ".join([*frames[:most], *note])

    return [TextSection(fit_text, count=min(len(frames), _FRAMES), rank=_STACK, floor=2)]


def _format_notes(stop: Stop) -> list[TextSection]:
    notes = [*stop.notes, *_left_running(stop.left_running)]
    return [fixed_section(f"note: {shorten_value(note, 2 * IN_A_LIST)}", _NOTES) for note in notes]


def _left_running(names: Sequence[str]) -> Iterator[str]:
    if names:
        more = f" and {len(names) - _NAMED_MAX} more" * (len(names) > _NAMED_MAX)
        yield (
            f"still running: {', '.join(names[:_NAMED_MAX])}{more}: "
            "debugger await waits for it, debugger stop ends it"
        )


def _format_running(stop: Stop, page: RenderPage) -> list[TextSection]:
    head, last = "running", []
    if stop.timed_out:
        within = f" within {stop.waited_s:g} s" if stop.waited_s is not None else ""
        head, then = f"running: no stop{within}", "debugger await waits on; debugger pause stops it"
        if isinstance(stop.waiting, IdleReason):
            head, then = (
                f"running: {shorten_value(stop.waiting.describe, IN_A_LIST)}",
                _after_waiting(stop.waiting),
            )
        last = [fixed_section(then, _NOTES)]
    output = output_of(stop.output, stop.output_total, stop.output_dropped, page, rank=_OUTPUT)
    return [
        fixed_section(head),
        *output,
        *format_crashed(stop.crash, _FACTS),
        *_format_notes(stop),
        *last,
    ]


def _after_waiting(waiting: IdleReason) -> str:
    if waiting.kind != "input":
        return "a request makes it run; debugger await waits for the stop; debugger pause stops it"
    if isinstance(waiting.source, str):
        return f"its stdin is {short_name(waiting.source)}: write there; then debugger await"
    return (
        "debugger input TEXT answers it, debugger input --eof ends its input; then debugger await"
    )


def _format_missed(view: BreakpointView) -> str:
    """Format the hits of a breakpoint that never stopped the program."""
    if isinstance(view.hits_below, int):
        return f"hit fewer than {view.hits_below} times"
    return "never hit"


def _format_ended(stop: Stop, page: RenderPage) -> list[TextSection]:
    head = "exited"
    if stop.signal is not None:
        head = f"exited: signal {short_name(stop.signal)}"
    elif stop.exit_code is not None:
        head = f"exited: status {stop.exit_code}"
    if isinstance(stop.exit_reason, str):
        head += f": {shorten_value(stop.exit_reason, _REASON_MAX)}"
    missed = [
        *(_format_unbound(view) for view in stop.unbound),
        *(
            f"breakpoint {view.id} was {_format_missed(view)}: {place_of(view)}"
            for view in stop.never_hit
        ),
    ]
    return [
        fixed_section(head),
        *format_crashed(stop.crash, _FACTS),
        *_format_causes(stop),
        *output_of(stop.output, stop.output_total, stop.output_dropped, page, rank=_OUTPUT),
        list_section(
            missed,
            lambda cut: f"… {format_count(cut, 'more breakpoint')}: debugger breakpoint list",
            rank=_FACTS,
        ),
        *_format_notes(stop),
    ]


def _format_unbound(view: BreakpointView) -> str:
    return f"breakpoint {view.id} was never bound: {format_why_unbound(view) or place_of(view)}"
