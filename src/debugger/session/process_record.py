"""Records what is known of a session's process beside what its debugger reports.

Debuggers report no exit status of forked Python processes, and none at all once they are lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from debugger.backends.base import AttachTarget, LaunchTarget
from debugger.model import group_labels
from debugger.model.program import Stopped
from debugger.system import entry_hold, process_info
from debugger.system.exit_watch import ExitWatch

_ENDING = frozenset({"SIGTERM", "SIGHUP", "SIGINT"})


class ProcessRecord:
    """A process that its launcher started, or its parent: how it begins, and how it ended."""

    def __init__(self, target: LaunchTarget | AttachTarget) -> None:
        # Of a program that a launcher has started; "" of any other.
        self.rank = ""
        # The variables that name a group's member, as it was started with: once it has ended it
        # cannot be asked.
        self.variables: Mapping[str, str] = {}
        # The words by which the program connects to the debugger, once that waits for it.
        self.connect_words: tuple[str, ...] = ()
        self.is_awaited = asyncio.Event()
        self._pid = target.pid if isinstance(target, AttachTarget) else None
        self._entry = target.held_entry if isinstance(target, AttachTarget) else None
        # Its launcher ends it by signals, as it ends a program without a debugger.
        self._has_launcher = self._entry is not None
        self._watch: ExitWatch | None = None

    def write_rank(
        self, condition: str, pid: int | None, above: Mapping[str, str], *, is_python: bool
    ) -> str:
        """Write what stands for `_rank` in a condition; `above` is the whole job's environment."""
        if not group_labels.RANK_NAME.search(condition):
            return condition
        rank: str | None = None
        if not is_python:
            own = process_info.read_environment(pid or 0, group_labels.RANK_VARIABLES)
            own = {name: text for name, text in own.items() if above.get(name) != text}
            rank = self.rank or (group_labels.choose_label(own, "", None) if own else "")
        return group_labels.write_rank(condition, above, rank)

    @property
    def is_held(self) -> bool:
        """Whether the program still waits at its first instruction for its debugger."""
        return self._entry is not None

    def is_ended_by(self, stop: Stopped) -> bool:
        """Tell whether a stop is for a signal by which a launcher ends its programs."""
        return self._has_launcher and stop.signal in _ENDING

    def release_entry(self) -> None:
        """Put the program's first instruction back, while its debugger has stopped it."""
        entry, self._entry = self._entry, None
        if entry is not None:
            with suppress(OSError):  # it has ended, as its debugger reports
                entry_hold.release_entry(self._pid or 0, *entry)

    def note_connect_words(self, words: tuple[str, ...]) -> None:
        """Record that the debugger waits for the program."""
        self.connect_words = words
        self.is_awaited.set()

    def watch_process(self, pid: int | None) -> None:
        """Keep hold of a process, so that it can be named, and its status read, afterwards.

        Args:
            pid: Of a live process that is no child of ours; None: there is none to watch.
        """
        if self._watch is None and pid is not None:
            self._watch = ExitWatch(pid)
            self.variables = process_info.read_environment(pid, group_labels.RANK_VARIABLES)

    def read_exit_status(self) -> int | None:
        """Return the process's exit status, or minus a signal's number; None if not known."""
        return self._watch.read_status() if self._watch is not None else None

    def close(self) -> None:
        """Let go of the process."""
        if self._watch is not None:
            self._watch.close()
