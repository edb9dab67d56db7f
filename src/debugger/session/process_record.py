"""Records what is known of a session's process beside what its debugger reports.

Debuggers report no exit status of forked Python processes, and none at all once they are lost.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from contextlib import suppress

from debugger.backends.base import AttachTarget, LaunchTarget
from debugger.model import group_labels
from debugger.model.program import ExitedProgram, Stopped
from debugger.model.signals import signal_name
from debugger.system import entry_hold, process_info
from debugger.system.exit_watch import ExitWatch

_LOADAVG_MAX = 200  # bytes
_OVER = frozenset("ZX")  # states of a thread that has ended
# Open MPI sends SIGCONT first, at which gdb would stop, so that one that is stopped ends, too.
_ENDING = frozenset({"SIGTERM", "SIGHUP", "SIGINT", "SIGCONT"})


class ProcessRecord:
    """A process that its launcher started, or its parent: how it begins, and how it ended."""

    def __init__(self, target: LaunchTarget | AttachTarget) -> None:
        # Of a program that a launcher has started; "" of any other.
        self.rank = ""
        # The variables that name a group's member, as it was started with: one that has ended, or
        # does not answer, cannot be asked.
        self.variables: Mapping[str, str] = {}
        # The words by which the program connects to the debugger, once that waits for it.
        self.connect_words: tuple[str, ...] = ()
        self.is_awaited = asyncio.Event()
        self._pid = target.pid if isinstance(target, AttachTarget) else None
        # Whether the kernel knew the process when the debugger reported it.
        self._was_there = False
        self._is_local = not (isinstance(target, AttachTarget) and target.connect is not None)
        self._entry = target.held_entry if isinstance(target, AttachTarget) else None
        # Its launcher ends it by signals, as it ends a program without a debugger.
        self._has_launcher = self._entry is not None
        self._watch: ExitWatch | None = None
        # A process without children, and the newest process of the system by then.
        self._childless = (0, 0)

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
        """Return whether a stop is for a signal by which a launcher ends its programs."""
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

    def list_children(self, pid: int) -> dict[int, tuple[str, ...]]:
        """Return the command lines of the program's children, by pid.

        A process that had none is asked again once a process has begun anywhere: to ask costs a
        step two files for each of its threads.
        """
        newest = _newest_process()  # before the children: one that begins meanwhile is a later one
        if newest >= pid and self._childless == (pid, newest):
            return {}
        found = process_info.child_commands(pid)
        self._childless = (0, 0) if found else (pid, newest)
        return found

    def read_exit_status(self) -> int | None:
        """Return the process's exit status, or minus a signal's number; None if not known."""
        return self._watch.read_status() if self._watch is not None else None

    def find_death(self, pid: int | None) -> ExitedProgram | None:
        """Return how a process ended that its debugger has stopped; None while it lives.

        gdb 16.3 does not notice that such a process is killed: its stack and its values are those
        of the stop, and whatever resumes it fails. One that no debugger traces any more has ended
        with its debugger, whose loss is reported by itself.
        """
        status = process_info.read_exit_status(pid) if pid is not None and self._is_local else None
        if pid is None or status is None or not _is_traced(pid):
            return None
        if not self.is_gone(pid):
            return None
        return ExitedProgram(signal=signal_name(-status)) if status < 0 else ExitedProgram(status)

    def note_started(self, pid: int | None) -> None:
        """Record the process that the debugger reports, if it is one of this machine."""
        self._was_there = pid is not None and process_info.look_at(pid) is not None
        if pid is not None and not self.variables:
            self.variables = process_info.read_environment(pid, group_labels.RANK_VARIABLES)

    def is_over_unreported(self, pid: int | None) -> bool:
        """Return whether a live session's process, which was there, has ended."""
        return self._was_there and self.is_gone(pid)

    def is_gone(self, pid: int | None) -> bool:
        """Return whether a process of this machine has ended."""
        if pid is None or not self._is_local:
            return False
        process = process_info.look_at(pid)
        if process is not None and process.state not in _OVER:
            return False
        # The first thread may have ended alone.
        return all(one.state in _OVER for one in process_info.read_threads(pid).values())

    def close(self) -> None:
        """Let go of the process."""
        if self._watch is not None:
            self._watch.close()


def _is_traced(pid: int) -> bool:
    process = process_info.look_at(pid)
    tracer = process_info.look_at(process.tracer) if process is not None else None
    return tracer is not None and tracer.state not in _OVER


def _newest_process() -> int:
    """Return the number of the newest process or thread of the system; 0 if it is not known."""
    # proc_loadavg(5): its last field; gVisor writes 0 there.
    try:
        file = os.open("/proc/loadavg", os.O_RDONLY)
    except OSError:
        return 0
    try:
        return int(os.read(file, _LOADAVG_MAX).split()[-1])
    except (OSError, ValueError, IndexError):
        return 0
    finally:
        os.close(file)
