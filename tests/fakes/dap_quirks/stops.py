"""Quirks of stops, threads and breakpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dap_messages import Wait, event, failure, is_event, is_response

from dap_quirks.table import Turn, edit, set_up

if TYPE_CHECKING:
    from dap_messages import Item, Json
    from dap_session import Session

SIGSTOP = {"reason": "exception", "description": "signal SIGSTOP", "text": "signal SIGSTOP"}


def _stops(items: list[Item]) -> list[Json]:
    """The bodies of the `stopped` events, to be changed in place."""
    return [item["body"] for item in items if is_event(item, "stopped")]


def _answered_breakpoints(turn: Turn, items: list[Item]) -> list[Json]:
    """The breakpoints in the response, to be changed in place."""
    if not turn.asks("setBreakpoints", "setFunctionBreakpoints"):
        return []
    answers = [item for item in items if is_response(item)]
    return [one for item in answers for one in item.get("body", {}).get("breakpoints", [])]


@edit("stopped-before-response")
def stopped_before_response(_turn: Turn, items: list[Item]) -> list[Item]:
    """`stopped` may come before the response to next, pause or attach."""
    return sorted(items, key=lambda item: not is_event(item, "stopped"))


_OPTIONS = {
    "condition": "supportsConditionalBreakpoints",
    "hitCondition": "supportsHitConditionalBreakpoints",
    "logMessage": "supportsLogPoints",
}


@edit("breakpoints-without-options")
def breakpoints_without_options(turn: Turn, items: list[Item]) -> list[Item]:
    """netcoredbg 3.1 claims no hit counts or log messages, and names no breakpoint of a stop."""
    # This one claims no conditions either, takes no option, and gives breakpoints no numbers.
    if turn.asks("initialize"):
        for item in items:
            if is_response(item):
                item["body"] = {**item["body"], **dict.fromkeys(_OPTIONS.values(), False)}
    for one in _answered_breakpoints(turn, items):
        one.pop("id", None)
    for body in _stops(items):
        body.pop("hitBreakpointIds", None)
    given = turn.request.get("arguments", {}).get("breakpoints", [])
    if any(one.get(option) is not None for one in given for option in _OPTIONS):
        refusal = failure("options of breakpoints are not known")
        return [one | refusal if is_response(one) else one for one in items]
    return items


@edit("spurious-continued-before-stop")
def spurious_continued_before_stop(turn: Turn, items: list[Item]) -> list[Item]:
    """`continued` may be spurious, before or after its response (lldb, codelldb)."""
    if not _stops(items):
        return items
    spurious = event("continued", threadId=turn.session.first_thread, allThreadsContinued=True)
    out: list[Item] = [spurious]
    for item in items:
        out += [spurious, item] if is_event(item, "stopped") else [item]
    return out


@edit("no-continued")
def no_continued(_turn: Turn, items: list[Item]) -> list[Item]:
    """`continued` may be absent: the response to the resume is all there is."""
    return [item for item in items if not is_event(item, "continued")]


@edit("one-stopped-per-thread")
def one_stopped_per_thread(turn: Turn, items: list[Item]) -> list[Item]:
    """Lldb sends one `stopped` per thread; all but one have `preserveFocusHint: true`."""
    turn.session.thread_count = 3
    first = turn.session.first_thread
    out: list[Item] = []
    for item in items:
        if is_event(item, "stopped"):
            hint = item["body"] | {"preserveFocusHint": True}
            others = [event("stopped", **hint | {"threadId": first + n}) for n in (1, 2)]
            out += [others[0], item, others[1]]
        else:
            out.append(item)
    return out


@edit("pause-as-exception-sigstop")
def pause_as_exception_sigstop(_turn: Turn, items: list[Item]) -> list[Item]:
    """Lldb reports a pause as `exception`, "signal SIGSTOP"."""
    for body in _stops(items):
        if body["reason"] == "pause":
            body.update(SIGSTOP)
    return items


@edit("pause-as-step")
def pause_as_step(_turn: Turn, items: list[Item]) -> list[Item]:
    """The pause of js-debug may be a `step`."""
    for body in _stops(items):
        if body["reason"] == "pause":
            body["reason"] = "step"
    return items


@edit("entry-as-exception-sigstop-without-source")
def entry_as_exception_sigstop(turn: Turn, items: list[Item]) -> list[Item]:
    """Lldb reports the entry as `exception`, "signal SIGSTOP", in `_start` without source."""
    for body in _stops(items):
        if body["reason"] == "entry":
            body.update(SIGSTOP)
    stop = turn.session.stop
    if not turn.asks("stackTrace") or stop is None or stop.reason != "entry":
        return items
    start = {"id": turn.session.epoch * 1_000_000, "name": "_start", "line": 0, "column": 0}
    for item in items:
        if isinstance(item, dict) and item.get("success"):
            item["body"] = {"stackFrames": [start], "totalFrames": 1}
    return items


@set_up("thread-id-zero")
def thread_id_zero(session: Session) -> None:
    """The threadId of js-debug can be 0."""
    session.first_thread = 0


@edit("no-thread-id-in-stopped")
def no_thread_id_in_stopped(_turn: Turn, items: list[Item]) -> list[Item]:
    """Delve may omit threadId."""
    for body in _stops(items):
        body.pop("threadId", None)
    return items


@set_up("500-threads")
def many_threads(session: Session) -> None:
    """The threads of delve are goroutines: there may be hundreds."""
    session.thread_count = 500


@set_up("deep-stack:N")
def deep_stack(session: Session, depth: str) -> None:
    """A runaway recursion has as many frames as the stack holds."""
    session.stack_depth = int(depth)


@edit("unverified-without-message")
def unverified_without_message(turn: Turn, items: list[Item]) -> list[Item]:
    """Unverified breakpoints of lldb carry no message."""
    for one in _answered_breakpoints(turn, items):
        one.pop("message", None)
    return items


@edit("breakpoint-changed-later")
def breakpoint_changed_later(turn: Turn, items: list[Item]) -> list[Item]:
    """Gdb answers `verified:false, reason:pending`, then sends `breakpoint changed`."""
    return _postpone(turn, items, {"reason": "pending"})


@edit("raw-key-as-message")
def raw_key_as_message(turn: Turn, items: list[Item]) -> list[Item]:
    """Breakpoints of js-debug start unverified with a raw key as message, then change."""
    return _postpone(turn, items, {"message": "breakpoint.provisionalBreakpoint"})


def _postpone(turn: Turn, items: list[Item], provisional: Json) -> list[Item]:
    changes: list[Item] = []
    for one in _answered_breakpoints(turn, items):
        if one["verified"]:
            changes.append(event("breakpoint", reason="changed", breakpoint=dict(one)))
            one.update({"verified": False} | provisional)
    return items[:1] + changes + items[1:]


@set_up("condition-error-stops-with-output")
def condition_error_stops(session: Session) -> None:
    """A condition that fails to evaluate stops in lldb, with the error only in an output."""
    session.stops_on_condition_error = True


@edit("late-stop:MS")
def late_stop(_turn: Turn, items: list[Item], milliseconds: str) -> list[Item]:
    """The program takes a while to reach its stop, long after the response to the resume."""
    out: list[Item] = []
    for item in items:
        is_late = is_event(item, "stopped", "exited")
        out += [Wait(int(milliseconds)), item] if is_late else [item]
    return out
