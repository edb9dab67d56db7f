"""Defines the context of a command: the caller's directory and environment, the sessions."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from debugger.backends.base import LaunchTarget
from debugger.config import Config
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.answers import Answer
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.location import Location, SourceMap, parse_location, source_map
from debugger.questions.runner.evidence_store import EvidenceStore
from debugger.session import source_files
from debugger.session.idle_watch import INPUT_LIMIT, SERVER_LIMIT
from debugger.session.session import Session
from debugger.session.session_list import SessionList
from debugger.session.stepping import WaitLimit

_TIMEOUT_MAX = 24 * 3600.0


@dataclass(frozen=True)
class CommandCall:
    """The context of one command of one client."""

    sessions: SessionList
    config: Config
    cwd: str
    env: Mapping[str, str]
    scratch_root: Path
    session_name: str | None
    interrupted: asyncio.Event
    stream: Callable[[str], Awaitable[None]]
    stop_daemon: Callable[[], None]
    # Answers of questions are kept as text, which only the daemon's edge can make.
    evidence: EvidenceStore
    as_text: Callable[[Answer, int], str]
    is_json: bool = False

    def current_session(self) -> Session:
        """Return the session of the command.

        Raises:
            DebuggerError: NO_SESSION.
        """
        return self.sessions.get(self.session_name)

    def wait_limit(self, timeout: float | None, *, ends_idle: bool = True) -> WaitLimit:
        """Return the time limit of a wait: the requested or the configured one.

        With `ends_idle` a program that waits for input ends the wait, and, unless the user gave a
        time limit, so does a server without requests.

        Raises:
            DebuggerError: USAGE for an invalid time.
        """
        seconds = self.config.timeouts.await_default_secs if timeout is None else timeout
        if not 0 <= seconds <= _TIMEOUT_MAX:
            raise DebuggerError(
                ErrorCode.USAGE,
                f"--timeout is in seconds, from 0 to {_TIMEOUT_MAX:g}, not {seconds:g}",
                hint="--timeout 60 is a minute; without it, debugger config shows the default",
            )
        limits = INPUT_LIMIT if ends_idle else {}
        if ends_idle and timeout is None:
            limits = INPUT_LIMIT | SERVER_LIMIT
        return WaitLimit(seconds, self.interrupted, limits)

    def source_map(self) -> SourceMap:
        """Return the map of sources of programs that were built elsewhere.

        Raises:
            DebuggerError: USAGE for a folder that is not absolute.
        """
        return source_map(self.config.sources.map, self.env.get("HOME", "/"))

    def breakpoint_spec(
        self, words: str, *, near: list[str], current: str | None, program: str | None = None
    ) -> BreakpointSpec:
        """Return a breakpoint for a location, its file resolved from the caller's directory.

        `near` are further directories to search; `current` is the file of a bare line number;
        `program` may know a file that does not exist here.

        Raises:
            DebuggerError: USAGE.
        """
        place = parse_location(words)
        if place.line is not None and place.file is None:
            if current is None:
                raise DebuggerError(
                    ErrorCode.USAGE,
                    f"line {place.line} of which file?",
                    hint=f"debugger break FILE:{place.line}",
                )
            return BreakpointSpec(file=current, line=place.line)
        return BreakpointSpec(
            file=self.resolve_file(place, near, program) if place.file is not None else None,
            line=place.line,
            function=place.function,
            address=place.address,
        )

    def resolve_file(self, place: Location, near: list[str], program: str | None = None) -> str:
        """Return the file of a location; an unresolved one is left to the debugger to match.

        Raises:
            DebuggerError: USAGE if the text matches several of the program's files.
        """
        assert place.file is not None
        folders = list(dict.fromkeys([self.cwd, *filter(None, near)]))
        return source_files.resolve_source(place.file, folders, program, self.source_map())


def spec_in_session(call: CommandCall, session: Session, words: str) -> BreakpointSpec:
    """Return a breakpoint for a location in this session.

    Raises:
        DebuggerError: USAGE.
    """
    near = [session.target.cwd, os.path.dirname(session.target.program or "")]
    if session.selection.file is not None:
        near.append(os.path.dirname(session.selection.file))
    is_launch = isinstance(session.target, LaunchTarget)
    current = session.selection.file if is_launch or session.selection.file else None
    return call.breakpoint_spec(words, near=near, current=current, program=session.target.program)
