"""Finds the running processes that become the members of a group."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.location import near_names
from debugger.system import process_info as processes
from debugger.system.process_info import ProcessInfo
from debugger.targets.attachable_processes import describe_attachable
from debugger.targets.process_target import PS, list_candidates, process_by_pid

ATTACHED_MAX = 128  # processes that one attach takes
# Names that every program of a language has.
_INTERPRETERS = ("python", "python3", "python3.11", "pypy3", "node", "ruby", "java", "php")
# Processes of multiprocessing itself, which run none of the program's code.
_HELPER_WORDS = ("multiprocessing.resource_tracker", "multiprocessing.forkserver")


class GroupSearch(Struct, frozen=True):
    """The ways to name the processes of a group; one of them is given."""

    name: str | None = None  # a pattern of process names
    tree: int | None = None  # the pid at the top of a process tree
    pids: str | None = None  # 1,2,3

    @property
    def is_of_group(self) -> bool:
        """Whether it names processes as only a group does."""
        return self.tree is not None or self.pids is not None

    @property
    def text(self) -> str:
        """The search as a user types it."""
        if self.name is not None:
            return f"--name {self.name}"
        return f"--tree {self.tree}" if self.tree is not None else f"--pids {self.pids}"


def complete_search(search: GroupSearch, what: str | None) -> GroupSearch:
    """Return a search with what was named without an option: the top of a tree, or a pattern.

    Raises:
        DebuggerError: USAGE if processes are named in two ways.
    """
    if what is None:
        return search
    if search != GroupSearch():
        text = f"the processes of a group are named twice: {what} and {search.text}"
        raise DebuggerError(ErrorCode.USAGE, text, hint=f"debugger attach --group {search.text}")
    return GroupSearch(tree=int(what)) if what.isdecimal() else GroupSearch(name=what)


def find_group_processes(
    search: GroupSearch, everything: Iterable[ProcessInfo], *, any_language: bool
) -> list[ProcessInfo]:
    """Return the processes of a search, the top of a tree first; only Python's without an adapter.

    Raises:
        DebuggerError: USAGE for no or several ways, or too many processes; NOT_FOUND.
    """
    ways = [one for one in (search.name, search.tree, search.pids) if one is not None]
    if len(ways) != 1:
        text = "a group is attached to by one of --name, --tree and --pids"
        raise DebuggerError(
            ErrorCode.USAGE,
            text if ways else describe_attachable(text, list(everything), {}),
            hint="debugger attach --group --tree PID",
        )
    if search.pids is not None:
        words = [one for one in search.pids.split(",") if one.strip()]
        found = [
            process_by_pid(one, hint="debugger attach --group --pids N,N")
            for one in dict.fromkeys(words)
        ]
    else:
        found = _find_by_search(search, list(everything), any_language=any_language)
    if not found:
        raise DebuggerError(ErrorCode.USAGE, "--pids names no process", hint=PS)
    if len(found) > ATTACHED_MAX:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{len(found)} processes match {search.text}; a group takes {ATTACHED_MAX}",
            hint="debugger attach --group --pids 1,2,3 takes those that you name",
        )
    return found


def _check_extent(search: GroupSearch, by_pid: Mapping[int, ProcessInfo]) -> None:
    """Refuse a search that would take in other people's programs, or the debugger's own callers.

    Raises:
        DebuggerError: DENIED.
    """
    above, pid = {1}, os.getpid()
    while pid in by_pid and pid not in above:
        above.add(pid)
        pid = by_pid[pid].parent
    if search.tree in above:
        raise DebuggerError(
            ErrorCode.DENIED,
            f"the tree of process {search.tree} holds this debugger and programs of others",
            hint="debugger attach --group --tree PID takes the program's own first process",
        )
    name = search.name
    is_open = name is not None and not re.search(r"\w", re.sub(r"\[[^]]*\]", "", name))
    if is_open or any(fnmatchcase(one, name or "") for one in _INTERPRETERS):
        raise DebuggerError(
            ErrorCode.DENIED,
            f"--name {search.name} would match the programs of others",
            hint="debugger attach --group --name 'train*' names a program",
        )


def _find_by_search(
    search: GroupSearch, everything: Sequence[ProcessInfo], *, any_language: bool
) -> list[ProcessInfo]:
    by_pid = {one.pid: one for one in everything}
    _check_extent(search, by_pid)
    candidates = list_candidates(everything)
    if search.tree is not None:
        if search.tree not in by_pid:
            process_by_pid(str(search.tree))  # it says what is wrong with the number
        matching = _tree_below(search.tree, candidates)
    else:
        matching = [
            one
            for one in candidates
            if any(fnmatchcase(name, search.name or "") for name in processes.process_names(one))
        ]
    found = [
        one
        for one in matching
        if any_language or (one.interpreter == "python" and not _is_helper(one))
    ]
    if not found:
        raise _nothing_found(search, matching, candidates)
    return found


def _tree_below(top: int, candidates: Sequence[ProcessInfo]) -> list[ProcessInfo]:
    """Return a process and all below it, parents first."""
    by_parent: dict[int, list[ProcessInfo]] = {}
    for one in candidates:
        by_parent.setdefault(one.parent, []).append(one)
    found = [one for one in candidates if one.pid == top]
    for one in found:  # it grows meanwhile
        found += by_parent.get(one.pid, [])
    return found


def _is_helper(process: ProcessInfo) -> bool:
    return any(helper in word for word in process.words for helper in _HELPER_WORDS)


def _nothing_found(
    search: GroupSearch, matching: Sequence[ProcessInfo], candidates: Sequence[ProcessInfo]
) -> DebuggerError:
    if matching:
        return DebuggerError(
            ErrorCode.NOT_FOUND,
            f"no Python process matches {search.text}; other programs: {len(matching)}",
            hint=f"debugger attach --group {search.text} --adapter gdb",
        )
    known = sorted({name for one in candidates for name in processes.process_names(one)})
    near = near_names(search.name or "", known)
    return DebuggerError(
        ErrorCode.NOT_FOUND,
        f"no process matches {search.text}",
        hint=f"debugger attach --group --name {near[0]}" if near else PS,
    )
