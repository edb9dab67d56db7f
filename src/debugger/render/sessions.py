"""Formats sessions, the daemon, the tools and the settings."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator

from debugger.core.answers import (
    Check,
    DaemonStatus,
    Doctor,
    Ended,
    Sessions,
    Setting,
    Settings,
    Status,
)
from debugger.render.budget import Section, fixed
from debugger.render.crash import crashed
from debugger.render.lists import listing, table
from debugger.render.page import Page, wider
from debugger.render.places import basename
from debugger.render.values import IN_A_LIST, counted, escape, short_name, shorten

_LINE = 300
_ARGUMENTS = 100
_THREADS = 8


def status(answer: Status, _page: Page) -> list[Section]:
    """Return what a session is doing, and with what."""
    lines = [_head(answer)]
    unread = counted(answer.unread_output, "line")
    if isinstance(answer.error, str):
        lines.append(f"error: {shorten(answer.error, _LINE)}")
    if isinstance(answer.last_stop, str):
        lines.append(f"last stop: {shorten(answer.last_stop, _LINE)}")
    if answer.program is not None:
        # No more of a long list than is shown in the end.
        args = [shlex.quote(arg[:_LINE]) for arg in answer.args[:_ARGUMENTS]]
        lines.append(f"program: {shorten(' '.join([answer.program, *args]), _LINE)}")
    lines += [
        f"cwd: {shorten(answer.cwd, _LINE)}",
        f"adapter: {short_name(answer.adapter)} ({short_name(answer.backend)})",
        f"breakpoints: {answer.breakpoints}, unread output: {unread}",
    ]
    if isinstance(answer.paused_threads, tuple):
        lines.append(_paused(answer.paused_threads))
    if isinstance(answer.parent, str):
        lines.append(f"parent: {short_name(answer.parent)}")
    if isinstance(answer.simulator, str):
        lines.append(f"simulator: {short_name(answer.simulator)}")
    head, *rest = [fixed(line, rank) for rank, line in enumerate(lines)]
    return [head, *crashed(answer.crash), *rest]


def _paused(threads: tuple[int, ...]) -> str:
    named = ", ".join(map(str, threads[:_THREADS]))
    more = ", …" if len(threads) > _THREADS else ""
    which = f" ({named}{more})" if threads else ""
    return f"paused threads: {len(threads)}{which}"


def _head(one: Status) -> str:
    said = [f"{short_name(one.session)}: {_state(one)}"]
    if one.pid is not None:
        said.append(f"pid {one.pid}")
    return ", ".join(said)


def _state(one: Status) -> str:
    if isinstance(one.signal, str):
        return f"{short_name(one.state)} by signal {short_name(one.signal)}"
    if isinstance(one.exit_code, int):
        return f"{short_name(one.state)} with status {one.exit_code}"
    return short_name(one.state)


def sessions(answer: Sessions, page: Page) -> list[Section]:
    """Return the sessions, one a line, children below their parent, the current one marked."""
    if not answer.sessions:
        return [fixed("no sessions")]
    placed = list(_tree(answer.sessions))
    names = [_head(one) for one, _ in placed]

    def more(cut: int) -> str:
        return f"… {counted(cut, 'more session')}: debugger sessions {wider(names)}"

    def mark(one: Status) -> str:
        return "*" if one.session == answer.current else " "

    def program(one: Status) -> str:
        return basename(one.program) if one.program else ""

    if page.is_terminal:
        rows = [
            (
                f"{mark(one)} {'  ' * depth}{short_name(one.session)}",
                _state(one),
                str(one.pid or ""),
                program(one),
                short_name(one.adapter),
            )
            for one, depth in placed
        ]
        return [table(("Session", "State", "PID", "Program", "Adapter"), rows, more, page)]
    lines = [
        f"{mark(one)} {'  ' * depth}{_head(one)}" + (f", {program(one)}" if one.program else "")
        for one, depth in placed
    ]
    return [listing(lines, more, rank=0)]


def _tree(all_: tuple[Status, ...]) -> Iterator[tuple[Status, int]]:
    names = {one.session for one in all_}
    below: dict[str, list[Status]] = {}
    roots = []
    for one in all_:
        if isinstance(one.parent, str) and one.parent in names and one.parent != one.session:
            below.setdefault(one.parent, []).append(one)
        else:
            roots.append(one)
    waiting = [(one, 0) for one in reversed(roots)]
    while waiting:
        one, depth = waiting.pop()
        yield one, depth
        waiting += [(child, depth + 1) for child in reversed(below.pop(one.session, []))]
    # Parents that name each other in a circle: nothing is lost.
    for left in below.values():
        yield from ((one, 0) for one in left)


def ended(answer: Ended, _page: Page) -> list[Section]:
    """Return which sessions were ended or let go."""
    if not answer.ended:
        return [fixed("no sessions to end"), *_notes(answer)]
    verb = "detached" if answer.detached else "ended"
    goes_on = f" (pid {answer.pid} goes on)" if answer.detached and answer.pid is not None else ""
    names = [short_name(name) for name in answer.ended]

    def lay(kept: int) -> str:
        cut = len(names) - kept
        note = [f"… {cut:,} more"] if cut else []
        return f"{verb}: {', '.join([*names[:kept], *note])}{goes_on}"

    killed = [f"killed: {shorten(', '.join(answer.killed), _LINE)}"] if answer.killed else []
    return [
        Section(lay, count=len(names)),
        *(fixed(line, 1) for line in killed),
        *_notes(answer),
    ]


def _notes(answer: Ended) -> Iterator[Section]:
    for note in answer.notes:
        yield fixed(f"note: {shorten(note, _LINE)}", 2)


def doctor(answer: Doctor, page: Page) -> list[Section]:
    """Return what there is to debug with; one thing a line."""
    if not answer.checks:
        return [fixed("nothing was checked")]
    lines = [_check_line(check) for check in answer.checks]

    def more(cut: int) -> str:
        return f"… {counted(cut, 'more check')}: debugger doctor {wider(lines)}"

    if page.is_terminal:
        rows = [
            (short_name(check.status), _checked(check), _told(check), escape(check.fix or ""))
            for check in answer.checks
        ]
        return [table(("Status", "What", "Found", "Fix"), rows, more, page)]
    return [listing(lines, more, rank=0)]


def _checked(check: Check) -> str:
    return " ".join(short_name(part) for part in (check.name, check.version) if part)


def _told(check: Check) -> str:
    path = shorten(check.path, IN_A_LIST) if check.path else ""
    message = shorten(check.message, IN_A_LIST)
    return " · ".join(part for part in (path, message) if part)


def _check_line(check: Check) -> str:
    head = _checked(check)
    if check.path:
        head += f" {shorten(check.path, IN_A_LIST)}"
    if check.message and check.path:
        head += f" · {shorten(check.message, IN_A_LIST)}"
    elif check.message:
        head += f": {shorten(check.message, IN_A_LIST)}"
    fix = f" · fix: {shorten(check.fix, IN_A_LIST)}" if check.fix else ""
    return f"{short_name(check.status):<7}  {head}{fix}"


def settings(answer: Settings, _page: Page) -> list[Section]:
    """Return the configuration; values that the file set are marked."""
    state = "" if answer.exists else " (does not exist: the defaults hold)"
    lines = [_setting(one) for one in answer.settings]
    return [
        fixed(f"config: {escape(answer.path)}{state}"),
        listing(
            lines, lambda cut: f"… {counted(cut, 'more setting')}: debugger config {wider(lines)}"
        ),
    ]


def _setting(one: Setting) -> str:
    value = json.dumps(one.value, ensure_ascii=False, default=str)
    origin = "" if one.origin == "default" else f" ({short_name(one.origin)})"
    return f"{short_name(one.name)} = {shorten(value, IN_A_LIST)}{origin}"


def daemon_status(answer: DaemonStatus, _page: Page) -> list[Section]:
    """Return whether the daemon runs, since when, and its sessions."""
    if not answer.running:
        return [fixed("daemon: not running")]
    said = ["daemon: running"]
    if answer.pid is not None:
        said.append(f"pid {answer.pid}")
    if answer.version is not None:
        said.append(f"version {short_name(answer.version)}")
    if answer.uptime_s is not None:
        said.append(f"up {answer.uptime_s:,.0f} s")
    names = ", ".join(short_name(name) for name in answer.sessions[:_ARGUMENTS])
    socket = [f"socket: {shorten(answer.socket, _LINE)}"] if answer.socket else []
    return [
        fixed(", ".join(said)),
        fixed(f"sessions: {shorten(names, _LINE, hint='debugger sessions') or 'none'}", 1),
        *(fixed(line, 2) for line in socket),
    ]
