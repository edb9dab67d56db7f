"""What a command has to work with: the caller's directory and environment, the sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from debugger.config import Config
from debugger.core.answers import Answer
from debugger.core.breakpoints import Spec
from debugger.core.locate import Place, parse
from debugger.core.source_map import SourceMap, source_map
from debugger.errors import Code, DebuggerError
from debugger.questions.evidence import Evidence
from debugger.session import source
from debugger.session.idle_watch import INPUT_LIMIT, SERVER_LIMIT
from debugger.session.session import Session
from debugger.session.sessions import Sessions
from debugger.session.stepping import Patience

_TIMEOUT_MAX = 24 * 3600.0


@dataclass(frozen=True)
class Call:
    """One command of one client."""

    sessions: Sessions
    config: Config
    cwd: str
    env: Mapping[str, str]
    scratch_root: Path
    session_name: str | None
    interrupted: asyncio.Event
    stream: Callable[[str], Awaitable[None]]
    stop_daemon: Callable[[], None]
    # Answers of questions are kept as text, which only the daemon's edge can make.
    evidence: Evidence
    as_text: Callable[[Answer, int], str]
    is_json: bool = False

    def session(self) -> Session:
        """Return the session that the command is for.

        Raises:
            DebuggerError: NO_SESSION.
        """
        return self.sessions.get(self.session_name)

    def patience(self, timeout: float | None, *, ends_idle: bool = True) -> Patience:
        """Return how long to wait: as asked, or as configured.

        With `ends_idle` a program that waits for input ends the wait, and unless the user said how
        long to wait, one that serves and has no request.

        Raises:
            DebuggerError: USAGE for a time that is none.
        """
        seconds = self.config.timeouts.await_default_secs if timeout is None else timeout
        if not 0 <= seconds <= _TIMEOUT_MAX:
            raise DebuggerError(
                Code.USAGE,
                f"--timeout is in seconds, from 0 to {_TIMEOUT_MAX:g}, not {seconds:g}",
                hint="--timeout 60 is a minute; without it, debugger config shows the default",
            )
        limits = INPUT_LIMIT if ends_idle else {}
        if ends_idle and timeout is None:
            limits = INPUT_LIMIT | SERVER_LIMIT
        return Patience(seconds, self.interrupted, limits)

    def source_map(self) -> SourceMap:
        """Return where the sources are of programs that were built elsewhere.

        Raises:
            DebuggerError: USAGE for a folder that is not absolute.
        """
        return source_map(self.config.sources.map, self.env.get("HOME", "/"))

    def spec(
        self, words: str, *, near: list[str], current: str | None, program: str | None = None
    ) -> Spec:
        """Return what a breakpoint at a place is, its file found from the caller's directory.

        `near` are further directories to look in; `current` is the file of a bare line number;
        `program` may know a file that is not there.

        Raises:
            DebuggerError: USAGE.
        """
        place = parse(words)
        if place.line is not None and place.file is None:
            if current is None:
                raise DebuggerError(
                    Code.USAGE,
                    f"line {place.line} of which file?",
                    hint=f"debugger break FILE:{place.line}",
                )
            return Spec(file=current, line=place.line)
        return Spec(
            file=self.file(place, near, program) if place.file is not None else None,
            line=place.line,
            function=place.function,
            address=place.address,
        )

    def file(self, place: Place, near: list[str], program: str | None = None) -> str:
        """Return the file of a place; one that is not found is left to the debugger to match.

        Raises:
            DebuggerError: USAGE if the words fit several of the program's files.
        """
        assert place.file is not None
        folders = list(dict.fromkeys([self.cwd, *filter(None, near)]))
        return source.meant(place.file, folders, program, self.source_map())
