"""Quirks of how an adapter reports a program's end, or does not."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from dap_messages import End, Raw, event, is_event
from program_model import SIGSEGV

from dap_quirks.table import Turn, edit, instead

if TYPE_CHECKING:
    from dap_messages import Item


@edit("no-exited-event-status-in-output")
def no_exited_event(_turn: Turn, items: list[Item]) -> list[Item]:
    """Delve has no `exited` event: an output says "has exited with status N"."""
    out: list[Item] = []
    for item in items:
        if is_event(item, "exited"):
            text = f"Process 4711 has exited with status {item['body']['exitCode']}\n"
            out.append(event("output", category="console", output=text))
        else:
            out.append(item)
    return out


@edit("exit-code-is-signal")
def exit_code_is_signal(_turn: Turn, items: list[Item]) -> list[Item]:
    """In lldb a death by signal gives exitCode = signo."""
    return _replace_crash_code(items, SIGSEGV)


@edit("signal-exit-zero")
def signal_exit_zero(_turn: Turn, items: list[Item]) -> list[Item]:
    """In gdb 16 SIGSEGV gives exitCode 0."""
    return _replace_crash_code(items, 0)


def _replace_crash_code(items: list[Item], code: int) -> list[Item]:
    for item in items:
        if is_event(item, "exited"):
            body = item["body"]
            body["exitCode"] = code if body["exitCode"] == 128 + SIGSEGV else body["exitCode"]
    return items


@edit("terminated-twice")
def terminated_twice(_turn: Turn, items: list[Item]) -> list[Item]:
    """In delve `terminated` comes twice."""
    return [copy for item in items for copy in [item] * (1 + is_event(item, "terminated"))]


@edit("output-after-terminated")
def output_after_terminated(_turn: Turn, items: list[Item]) -> list[Item]:
    """Output may follow `terminated`."""
    if not any(is_event(item, "terminated") for item in items):
        return items
    return [*items, event("output", category="stdout", output="last words\n")]


@edit("terminated-before-exited")
def terminated_before_exited(_turn: Turn, items: list[Item]) -> list[Item]:
    """A kill may be `terminated`, then `exited`."""
    at = [index for index, item in enumerate(items) if is_event(item, "exited", "terminated")]
    out = list(items)
    for index, other in zip(at, reversed(at), strict=True):
        out[index] = items[other]
    return out


@edit("closes-without-terminated")
def closes_without_terminated(_turn: Turn, items: list[Item]) -> list[Item]:
    """The socket of rdbg closes at the program's end, with no `terminated`."""
    out = [item for item in items if not is_event(item, "exited", "terminated")]
    return [*out, End()] if len(out) < len(items) else items


@edit("crash-after-disconnect")
def crash_after_disconnect(turn: Turn, items: list[Item]) -> list[Item]:
    """Lldb-dap 19 nearly always crashes after disconnect: backtrace as output, garbage, abort."""
    if not turn.asks("disconnect"):
        return items
    trace = [
        event("output", category="stderr", output=f" #{n} 0x00007f lldb::Crash\n") for n in (0, 1)
    ]
    return [*items, *trace, Raw(b"free(): invalid pointer\n"), End(-signal.SIGABRT)]


@instead("ignores-disconnect")
def ignores_disconnect(turn: Turn) -> list[Item] | None:
    """Neither disconnect nor SIGTERM nor a closed stdin ends it (gdb ignores SIGTERM)."""
    if turn.asks("initialize"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        # Even a fake that ignores all must not outlive a failed test for long.
        signal.alarm(60)
        turn.session.is_deaf = True
    return [] if turn.asks("disconnect", "terminate") else None
