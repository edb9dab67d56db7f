"""Formats sessions, the daemon, the doctor's checks, the adapters and the settings."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator

from debugger.model.answers import (
    AdapterList,
    AdapterView,
    Check,
    ConfigurationView,
    DaemonStatus,
    Doctor,
    Ended,
    HostFailure,
    HostReplies,
    HostReply,
    Installation,
    LaunchConfigurations,
    Sessions,
    Setting,
    Settings,
    Status,
)
from debugger.model.group_labels import join_runs
from debugger.output.list_text import list_section, table_section
from debugger.output.location_text import (
    IN_A_LIST,
    base_name,
    escape_text,
    format_count,
    short_name,
    shorten_value,
)
from debugger.output.stop_text import format_crashed
from debugger.output.structured import RenderPage, TextSection, fixed_section, width_option

_LINE = 300  # characters
_STEPS_MAX = 20
_NAMES_MAX = 5


def format_adapters(answer: AdapterList, page: RenderPage) -> list[TextSection]:
    """Format the adapters, one a line."""
    if not answer.adapters:
        return [fixed_section("no adapters")]
    lines = [_format_line(one) for one in answer.adapters]

    def more(cut: int) -> str:
        return f"… {format_count(cut, 'more adapter')}: debugger setup --list {width_option(lines)}"

    if page.is_terminal:
        rows = [
            (short_name(one.status), _format_named(one), _format_languages(one), _format_where(one))
            for one in answer.adapters
        ]
        return [table_section(("Status", "Adapter", "Debugs", "Where, or how"), rows, more, page)]
    return [list_section(lines, more, rank=0)]


def _format_named(one: AdapterView) -> str:
    return " ".join(short_name(part) for part in (one.name, one.version) if part)


def _format_languages(one: AdapterView) -> str:
    return ", ".join(short_name(language) for language in one.languages)


def _format_where(one: AdapterView) -> str:
    problem = one.problem if one.status == "broken" else None  # a missing one has no more to say
    texts = [shorten_value(part, IN_A_LIST) for part in (one.path, problem) if part]
    if one.how:
        texts.append(f"install: {shorten_value(one.how, _LINE)}")
    return " · ".join(texts)


def _format_line(one: AdapterView) -> str:
    parts = [_format_named(one), _format_languages(one), _format_where(one)]
    return f"{short_name(one.status):<9}  " + " · ".join(part for part in parts if part)


def format_installation(answer: Installation, _page: RenderPage) -> list[TextSection]:
    """Format the executed steps, or the planned ones."""
    name = short_name(answer.name)
    if answer.status == "installed":
        return _format_installed(answer, name)
    steps = [f"  {shorten_value(step, _LINE)}" for step in answer.steps[:_STEPS_MAX]]
    sections = [
        fixed_section(f"{name} is not ready; it would be installed so:" if steps else f"{name}:")
    ]
    if steps:
        sections.append(
            list_section(steps, lambda cut: f"  … {format_count(cut, 'more step')}", rank=1)
        )
    if isinstance(answer.problem, str):
        sections.append(fixed_section(f"it would not work: {shorten_value(answer.problem, _LINE)}"))
    elif answer.works is True:
        sections.append(fixed_section("it would work"))
    if not isinstance(answer.problem, str):
        sections.append(fixed_section(f"run: debugger setup {name} --yes"))
    return sections


def _format_installed(answer: Installation, name: str) -> list[TextSection]:
    version = f" {short_name(answer.version)}" if answer.version else ""
    path = f": {escape_text(answer.path)}" if answer.path else ""
    how = "is installed" if answer.changed else "is here already"
    sections = [fixed_section(f"{name}{version} {how} and starts{path}")]
    if isinstance(answer.config, str):
        sections.append(fixed_section(f"config: {escape_text(answer.config)} says where it is", 1))
    return sections


_ARGUMENTS = 100
_THREADS = 8


def format_status(answer: Status, _page: RenderPage) -> list[TextSection]:
    """Format a session's state and its target."""
    lines = [_format_head(answer)]
    unread = format_count(answer.unread_output, "line")
    if isinstance(answer.error, str):
        lines.append(f"error: {shorten_value(answer.error, _LINE)}")
    if isinstance(answer.last_stop, str):
        lines.append(f"last stop: {shorten_value(answer.last_stop, _LINE)}")
    if answer.program is not None:
        # No more of a long list than is shown in the end.
        args = [shlex.quote(arg[:_LINE]) for arg in answer.args[:_ARGUMENTS]]
        lines.append(f"program: {shorten_value(' '.join([answer.program, *args]), _LINE)}")
    lines += [
        f"cwd: {shorten_value(answer.cwd, _LINE)}",
        f"adapter: {short_name(answer.adapter)} ({short_name(answer.backend)})",
        f"breakpoints: {answer.breakpoints}, unread output: {unread}",
    ]
    if isinstance(answer.paused_threads, tuple):
        lines.append(_format_paused(answer.paused_threads))
    if isinstance(answer.parent, str):
        lines.append(f"parent: {short_name(answer.parent)}")
    if isinstance(answer.simulator, str):
        lines.append(f"simulator: {short_name(answer.simulator)}")
    head, *rest = [fixed_section(line, rank) for rank, line in enumerate(lines)]
    return [head, *format_crashed(answer.crash), *rest]


def _format_paused(threads: tuple[int, ...]) -> str:
    named = ", ".join(map(str, threads[:_THREADS]))
    more = ", …" if len(threads) > _THREADS else ""
    which = f" ({named}{more})" if threads else ""
    return f"paused threads: {len(threads)}{which}"


def _format_head(one: Status) -> str:
    texts = [f"{short_name(one.session)}: {_format_state(one)}"]
    if one.pid is not None:
        texts.append(f"pid {one.pid}")
    return ", ".join(texts)


def _format_state(one: Status) -> str:
    if isinstance(one.signal, str):
        return f"{short_name(one.state)} by signal {short_name(one.signal)}"
    if isinstance(one.exit_code, int):
        return f"{short_name(one.state)} with status {one.exit_code}"
    return short_name(one.state)


def format_sessions(answer: Sessions, page: RenderPage) -> list[TextSection]:
    """Format the sessions, one a line, children below their parent, the current one marked."""
    if not answer.sessions:
        return [fixed_section("no sessions")]
    placed = list(_session_tree(answer.sessions))
    names = [_format_head(one) for one, _ in placed]

    def more(cut: int) -> str:
        return f"… {format_count(cut, 'more session')}: debugger sessions {width_option(names)}"

    def mark(one: Status) -> str:
        return "*" if one.session == answer.current else " "

    def program(one: Status) -> str:
        return base_name(one.program) if one.program else ""

    if page.is_terminal:
        rows = [
            (
                f"{mark(one)} {'  ' * depth}{short_name(one.session)}",
                _format_state(one),
                str(one.pid or ""),
                program(one),
                short_name(one.adapter),
            )
            for one, depth in placed
        ]
        return [table_section(("Session", "State", "PID", "Program", "Adapter"), rows, more, page)]
    lines = [
        f"{mark(one)} {'  ' * depth}{_format_head(one)}"
        + (f", {program(one)}" if one.program else "")
        for one, depth in placed
    ]
    return [list_section(lines, more, rank=0)]


def format_configurations(answer: LaunchConfigurations, _page: RenderPage) -> list[TextSection]:
    """Format the configurations of a launch.json, one a line, each with its command."""
    lines = [
        escape_text(f'"{one.name}"{_configuration_facts(one)}') for one in answer.configurations
    ]

    def more(cut: int) -> str:
        return f"… {format_count(cut, 'more configuration')}: {width_option(lines)}"

    head = f"{escape_text(answer.file)}: {format_count(len(lines), 'configuration')}"
    notes = [fixed_section(f"note: {shorten_value(one, _LINE)}", 2) for one in answer.notes]
    return [fixed_section(head), list_section(lines, more, rank=0), *notes]


def _configuration_facts(one: ConfigurationView) -> str:
    """Return what a configuration starts, or why its name does not."""
    parts = f" (one group: {', '.join(one.parts)})" if isinstance(one.parts, tuple) else ""
    if isinstance(one.problem, str):
        return f" (not by its name): {shorten_value(one.problem, _LINE)}"
    return f" → {shorten_value(one.command + parts, _LINE)}"


def _session_tree(all_: tuple[Status, ...]) -> Iterator[tuple[Status, int]]:
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
    for remaining in below.values():
        yield from ((one, 0) for one in remaining)


def format_ended(answer: Ended, _page: RenderPage) -> list[TextSection]:
    """Format the ended and detached sessions."""
    if not answer.ended:
        return [fixed_section("no sessions to end"), *_format_notes(answer)]
    verb = "detached" if answer.detached else "ended"
    goes_on = f" (pid {answer.pid} goes on)" if answer.detached and answer.pid is not None else ""
    names = [short_name(name) for name in answer.ended]
    if len(names) > _NAMES_MAX:  # a group's members: train.1-999
        names = join_runs(names)

    def fit_text(most: int) -> str:
        cut = len(names) - most
        note = [f"… {cut:,} more"] if cut else []
        return f"{verb}: {', '.join([*names[:most], *note])}{goes_on}"

    killed = [f"killed: {shorten_value(', '.join(answer.killed), _LINE)}"] if answer.killed else []
    return [
        TextSection(fit_text, count=len(names)),
        *(fixed_section(line, 1) for line in killed),
        *_format_notes(answer),
    ]


def _format_notes(answer: Ended) -> Iterator[TextSection]:
    for note in answer.notes:
        yield fixed_section(f"note: {shorten_value(note, _LINE)}", 2)


def format_doctor(answer: Doctor, page: RenderPage) -> list[TextSection]:
    """Format the doctor's checks, one a line."""
    if not answer.checks:
        return [fixed_section("nothing was checked")]
    lines = [_check_line(check) for check in answer.checks]

    def more(cut: int) -> str:
        return f"… {format_count(cut, 'more check')}: debugger doctor {width_option(lines)}"

    if page.is_terminal:
        rows = [
            (
                short_name(check.status),
                _format_checked(check),
                _format_fix(check),
                escape_text(check.fix or ""),
            )
            for check in answer.checks
        ]
        return [table_section(("Status", "What", "Found", "Fix"), rows, more, page)]
    return [list_section(lines, more, rank=0)]


def _format_checked(check: Check) -> str:
    return " ".join(short_name(part) for part in (check.name, check.version) if part)


def _format_fix(check: Check) -> str:
    path = shorten_value(check.path, IN_A_LIST) if check.path else ""
    message = shorten_value(check.message, IN_A_LIST)
    return " · ".join(part for part in (path, message) if part)


def _check_line(check: Check) -> str:
    head = _format_checked(check)
    if check.path:
        head += f" {shorten_value(check.path, IN_A_LIST)}"
    if check.message and check.path:
        head += f" · {shorten_value(check.message, IN_A_LIST)}"
    elif check.message:
        head += f": {shorten_value(check.message, IN_A_LIST)}"
    fix = f" · fix: {shorten_value(check.fix, IN_A_LIST)}" if check.fix else ""
    return f"{short_name(check.status):<7}  {head}{fix}"


def format_settings(answer: Settings, _page: RenderPage) -> list[TextSection]:
    """Format the configuration; values from the file are marked."""
    state = "" if answer.exists else " (does not exist: the defaults hold)"
    lines = [_format_setting(one) for one in answer.settings]
    return [
        fixed_section(f"config: {escape_text(answer.path)}{state}"),
        list_section(
            lines,
            lambda cut: (
                f"… {format_count(cut, 'more setting')}: debugger config {width_option(lines)}"
            ),
        ),
    ]


def _format_setting(one: Setting) -> str:
    value = json.dumps(one.value, ensure_ascii=False, default=str)
    origin = "" if one.origin == "default" else f" ({short_name(one.origin)})"
    return f"{short_name(one.name)} = {shorten_value(value, IN_A_LIST)}{origin}"


def daemon_status(answer: DaemonStatus, _page: RenderPage) -> list[TextSection]:
    """Format the daemon's state, its start time, and its sessions."""
    if not answer.running:
        return [fixed_section("daemon: not running")]
    texts = ["daemon: running"]
    if answer.pid is not None:
        texts.append(f"pid {answer.pid}")
    if answer.version is not None:
        texts.append(f"version {short_name(answer.version)}")
    if answer.uptime_s is not None:
        texts.append(f"up {answer.uptime_s:,.0f} s")
    names = ", ".join(short_name(name) for name in answer.sessions[:_ARGUMENTS])
    socket = [f"socket: {shorten_value(answer.socket, _LINE)}"] if answer.socket else []
    return [
        fixed_section(", ".join(texts)),
        fixed_section(
            f"sessions: {shorten_value(names, _LINE, hint='debugger sessions') or 'none'}", 1
        ),
        *(fixed_section(line, 2) for line in socket),
    ]


_HOSTS_MAX = 200


def format_host_replies(answer: HostReplies, _page: RenderPage) -> list[TextSection]:
    """Format the answers of hosts; those that failed come first."""
    if not answer.replies:
        return [fixed_section("no host was asked")]
    ordered = sorted(answer.replies, key=lambda one: not isinstance(one.error, HostFailure))
    return [
        list_section(
            _format_reply(one),
            lambda cut: f"… {format_count(cut, 'more line')}: --host takes one, too",
            rank=at,
        )
        for at, one in enumerate(ordered)
    ]


def _format_reply(reply: HostReply) -> list[str]:
    names = ", ".join(map(short_name, reply.hosts))[:_HOSTS_MAX]
    if isinstance(reply.error, HostFailure):
        hint = [f"  hint: {reply.error.hint}"] if reply.error.hint else []
        return [f"{names}: error: {reply.error.message}", *hint]
    lines = reply.text.rstrip("\n").split("\n")
    if len(lines) == 1:
        return [f"{names}: {lines[0]}"]
    return [f"{names}:", *(f"  {one}" for one in lines)]
