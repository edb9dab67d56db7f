"""Lists the running processes that a user may attach to, for an `attach` that names none."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from debugger.system import process_info as processes
from debugger.system.process_info import ProcessInfo
from debugger.targets.process_target import list_candidates, shorten_command

_LISTED_MAX = 15
# Compiled programs there are the system's own more often than somebody's work.
_SYSTEM = ("/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/lib/", "/usr/libexec/")


def list_attachable(everything: Sequence[ProcessInfo], user: int) -> list[ProcessInfo]:
    """Return the processes that a user may debug: the user's own first, the newest of them first.

    Tools of the system come after programs. Root may debug those of others, too. Shells are left
    out, and forks that run what their parent does: those are found by it.
    """
    by_pid = {one.pid: one for one in everything}
    found = [
        one
        for one in list_candidates(everything)
        if one.words
        and one.pid != 1
        and one.interpreter != "shell"
        and user in {one.owner, 0}
        and not _is_fork(one, by_pid)
    ]
    return sorted(found, key=lambda one: (one.owner != user, _is_tool(one), -one.pid))


def _is_tool(process: ProcessInfo) -> bool:
    return not process.interpreter and process.exe.startswith(_SYSTEM)


def _is_fork(process: ProcessInfo, by_pid: Mapping[int, ProcessInfo]) -> bool:
    parent = by_pid.get(process.parent)
    return parent is not None and parent.words == process.words


def describe_attachable(
    question: str,
    everything: Sequence[ProcessInfo],
    sessions: Mapping[int, str],
    *,
    user: int | None = None,
    language_of: Callable[[ProcessInfo], str] = processes.process_language,
) -> str:
    """Return a question with the processes that answer it: pid, language, command line.

    Args:
        question: What is to be chosen.
        everything: All processes of the machine.
        sessions: The names of the sessions that hold a process, by pid.
        user: Whose processes come first; None: the user of this process.
        language_of: Finds the language of a process.
    """
    found = list_attachable(everything, os.geteuid() if user is None else user)
    if not found:
        return question
    shown = found[:_LISTED_MAX]
    width = max(len(str(one.pid)) for one in shown)
    rows = []
    for one in shown:
        session = sessions.get(one.pid)
        note = f"  (session {session})" if session else "  (has a debugger)" if one.tracer else ""
        workers = sum(each.parent == one.pid and each.words == one.words for each in everything)
        forks = f"  (and {workers} forks of it)" if workers else ""
        language = language_of(one) or "unknown"
        rows.append(f"  {one.pid:>{width}}  {language:<10}  {shorten_command(one)}{forks}{note}")
    if len(found) > len(shown):
        rows.append(f"  and {len(found) - len(shown)} more, which ps -e lists")
    return "\n".join([question, *rows])
