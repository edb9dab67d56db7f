"""The fake adapter's state for one client and its program, and its events."""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dap_messages import Item, Json, event
from program_model import Breakpoint, Exited, Output, Program, Stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from program_model import Happening


class RequestError(Exception):
    """The request is refused; the text says why."""


@dataclass
class Session:
    """What the adapter knows of one client and its program."""

    first_thread: int = 1
    thread_count: int = 1
    stack_depth: int = 0
    text_length: int = 0
    has_self_reference: bool = False
    stops_on_condition_error: bool = False
    client: Json = field(default_factory=dict)
    source: str = ""
    program: Program | None = None
    # NEW, RUNNING, STOPPED, ENDED
    state: str = "NEW"
    is_configured: bool = False
    stops_on_entry: bool = False
    stop: Stopped | None = None
    epoch: int = 0
    pid: int = field(default_factory=os.getpid)
    filters: list[str] = field(default_factory=list)
    line_breakpoints: list[Breakpoint] = field(default_factory=list)
    function_breakpoints: list[Breakpoint] = field(default_factory=list)
    ids: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    references: dict[int, tuple[str, int]] = field(default_factory=dict)
    held: list[Item] = field(default_factory=list)
    # By command of a reverse request: what to do with the client's answer.
    awaited: dict[str, Callable[[Json], list[Item]]] = field(default_factory=dict)
    port: Callable[[], int] = lambda: 0
    kill_debuggee: Callable[[], None] = lambda: None
    is_child: bool = False
    is_wedged: bool = False
    is_deaf: bool = False

    @property
    def stopped_program(self) -> Program:
        """The program, which must stand still."""
        if self.program is None or self.state != "STOPPED":
            message = "notStopped" if self.state == "RUNNING" else "no program"
            raise RequestError(message)
        return self.program

    def arm(self) -> None:
        """Hand the breakpoints to the program."""
        if self.program:
            self.program.breakpoints = [*self.line_breakpoints, *self.function_breakpoints]
            self.program.stops_on_throw = "raised" in self.filters

    def reference(self, kind: str, index: int) -> int:
        """Give a number, valid until the program goes on, to something with children."""
        number = self.epoch * 1000 + len(self.references) + 1
        self.references[number] = (kind, index)
        return number

    def frame_index(self, arguments: Json) -> int:
        """Find the frame that the arguments name, by default the innermost one."""
        frame = arguments.get("frameId")
        if frame is None:
            return 0
        index = int(frame) - self.epoch * 1_000_000
        if not 0 <= index < max(self.stopped_program.depth, self.stack_depth):
            message = f"stale frame {frame}"
            raise RequestError(message)
        return index


def play(session: Session, happenings: Iterable[Happening]) -> list[Item]:
    """Let the program go on, and tell what happens as events."""
    session.state, session.stop = "RUNNING", None
    session.epoch += 1
    session.references.clear()
    out: list[Item] = []
    for happening in happenings:
        match happening:
            case Output(text, category):
                out.append(event("output", category=category, output=text))
            case Stopped():
                out.append(stop(session, happening))
            case Exited(code):
                session.state = "ENDED"
                out += [event("exited", exitCode=code), event("terminated")]
    return out


def stop(session: Session, why: Stopped) -> Json:
    """Note that the program stands still, and make the event."""
    session.state, session.stop = "STOPPED", why
    body: Json = {"reason": why.reason, "threadId": session.first_thread, "allThreadsStopped": True}
    if why.text:
        body |= {"text": why.text, "description": why.text}
    if why.hit:
        body["hitBreakpointIds"] = list(why.hit)
    return event("stopped", **body)


def begin(session: Session) -> list[Item]:
    """Let the program run if it is there and the client has said all."""
    if not session.program or not session.is_configured or session.state != "NEW":
        return []
    session.arm()
    if session.stops_on_entry:
        session.epoch += 1
        return [stop(session, Stopped("entry"))]
    return play(session, session.program.start())


def describe_source(session: Session) -> Json:
    """Describe the program's source; its text can be asked for if there is no such file."""
    path = session.source
    return {
        "name": Path(path).name,
        "path": path,
        "sourceReference": 0 if Path(path).is_file() else 1,
    }
