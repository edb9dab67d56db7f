"""At which of its stops has a program crashed, and what was seen there?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
from msgspec import Struct

from debugger.backends.base import Launch
from debugger.core import answers
from debugger.core.breakpoints import Spec
from debugger.core.causes import Cause, cause
from debugger.core.model import Reason
from debugger.core.origin import is_library
from debugger.core.thrown import panic_message, uncaught
from debugger.core.tracebacks import is_cut
from debugger.errors import Code, DebuggerError
from debugger.questions.asking import Run
from debugger.questions.scene import Scene, look
from debugger.session import family
from debugger.session.session import Session

_PANIC = "rust_panic"
_SIGNALS_MAX = 5
_RAISED_MAX = 40  # stops for what is thrown: 50 ms each
_GUESSES = "js-debug"  # that a promise is rejected, where it will be caught
_RAISED_KEPT = 10
RAISED = {"python": "raised", "javascript": "throw"}  # stops at all exceptions
_UNCAUGHT = re.compile(r"Node\.js v\d|\s+triggerUncaughtException|Uncaught ")
CRASHES = frozenset(
    {"SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGSYS", "SIGTRAP", "SIGSTKFLT"}
)
_REPORTS = ("asan", "ubsan", "sanitizer", "tsan", "msan", "lsan")


class Seen(Struct, frozen=True):
    """A stop at which it may have crashed; `is_fatal` ones cannot be survived unasked."""

    scene: Scene
    cause: Cause
    is_fatal: bool
    is_panic: bool
    is_caught: bool = False


def breakpoints(language: str, *, keep: bool) -> tuple[Spec, ...]:
    """Return what has to be stopped at to see the crashes of a language.

    To `keep` a session it has to be known at the stop that it is the crash.
    """
    if language == "javascript" and not keep:
        # Behind an await V8 cannot tell what nobody will catch; the end of the program tells.
        return (Spec(catch="throw"),)
    return (Spec(function=_PANIC),) if language == "rust" else ()


def raised_breakpoints(languages: Sequence[str]) -> tuple[Spec, ...]:
    """Return what stops at every exception of a language, whoever catches it.

    Raises:
        DebuggerError: NOT_SUPPORTED.
    """
    word = next((RAISED[one] for one in languages if one in RAISED), None)
    if word is None:
        raise DebuggerError(
            Code.NOT_SUPPORTED,
            "--raised is for programs in Python and JavaScript",
            hint="debugger start PROGRAM, then debugger catch throw, stops at what is thrown",
        )
    return (Spec(catch=word),)


@dataclass
class Found:
    """What a run has stopped for: faults, other signals, and what was thrown and may be caught.

    With `takes_raised` the first exception in the program's own code is what is looked for.
    """

    takes_raised: bool = False
    seen: list[Seen] = field(default_factory=list)
    signalled: list[Seen] = field(default_factory=list)
    raised: list[Seen] = field(default_factory=list)
    count: int = 0

    async def take(self, run: Run, stop: answers.Stop) -> bool:
        """Look at a stop; tell whether it may be a crash."""
        session = run.at(stop)
        if stop.reason == Reason.EXCEPTION.value and _catches(session):
            if self.takes_raised:
                return await self._take_raised(run, stop)
            self.count += 1
            if self.count > _RAISED_MAX:
                await _catch_no_more(session)
                return False
            raised = await _looked_at(run, stop)
            if raised.cause.kind == "out_of_memory":
                self.seen.append(raised)
                return True
            self.raised = [*self.raised[1 - _RAISED_KEPT :], raised]
            return False
        if may_be_a_crash(stop):
            self.seen.append(await _looked_at(run, stop))
            return True
        if stop.signal is not None and len(self.signalled) < _SIGNALS_MAX:
            self.signalled.append(await _looked_at(run, stop))
        return False

    async def _take_raised(self, run: Run, stop: answers.Stop) -> bool:
        """Take the first exception that comes to a frame of the program's own."""
        cwd = run.session.target.cwd if isinstance(run.session.target, Launch) else ""
        if stop.frame is None or is_library(stop.frame.file, cwd):
            return False
        self.seen.append(await _looked_at(run, stop))
        return True

    def at_the_end(self, last: answers.Stop, said: Sequence[str], adapter: str) -> list[Seen]:
        """Return what it has crashed by, knowing how it ended."""
        is_guess = adapter == _GUESSES and last.exit_code == 0
        if self.seen and not is_guess:
            return self.seen
        if last.signal is not None:
            return [one for one in self.signalled if one.scene.stop.signal == last.signal][-1:]
        text = "\n".join(said)
        told = [one for one in self.raised if _first_line(one.scene.facts.message) in text]
        if last.exit_code in {0, None}:
            return []
        if not told:  # of a report that was cut the error's own words are lost
            return self.raised[-1:] if is_cut(said) else []
        was_caught = not any(_UNCAUGHT.match(line) for line in said)
        return [msgspec.structs.replace(told[-1], is_caught=was_caught)]

    @property
    def last_raised(self) -> str | None:
        """The last exception that was raised, which somebody may have caught, in a line."""
        return self.raised[-1].cause.text if self.raised else None


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def _catches(session: Session) -> bool:
    """Tell whether it stops at all that is thrown, which somebody may catch."""
    return any(one.spec.catch is not None for one in session.breakpoints.listed())


async def _catch_no_more(session: Session) -> None:
    """Stop no more at what is thrown: this program throws all the time."""
    for known in session.breakpoints.listed():
        if known.spec.catch is not None:
            await family.drop_breakpoint(session, known)


async def _looked_at(run: Run, stop: answers.Stop) -> Seen:
    at = run.at(stop)
    return _judged(await at.do(lambda: look(at, stop, run.said())))


def may_be_a_crash(stop: answers.Stop) -> bool:
    """Tell whether a stop is for a fault, an exception, a panic or a sanitizer's report."""
    if stop.signal is not None:
        return stop.signal in CRASHES
    if stop.reason == Reason.EXCEPTION.value:
        return True
    names = [one.function for one in stop.stack[:4]]
    return any(_PANIC in name or name.lstrip("_").startswith(_REPORTS) for name in names)


def _judged(scene: Scene) -> Seen:
    names = scene.facts.runtime[:4]
    is_panic = any(_PANIC in name for name in names)
    facts = scene.facts
    if is_panic:
        message = panic_message(facts.said)
        facts = msgspec.structs.replace(
            facts, exception="panic", message=message[1] if message else "", is_panic=True
        )
    elif facts.signal == "SIGABRT" and scene.stop.exception and scene.stop.exception.causes:
        # An exception of C++ that nobody catches is told as the cause of the signal.
        kind, _, message_ = scene.stop.exception.causes[0].partition(": ")
        facts = msgspec.structs.replace(facts, exception=kind, message=message_)
    elif facts.signal == "SIGABRT":
        thrown = uncaught(facts.said)
        kind_, message_ = thrown or (facts.exception, facts.message)
        facts = msgspec.structs.replace(facts, exception=kind_, message=message_)
    scene = msgspec.structs.replace(scene, facts=facts)
    is_report = any("ubsan" in name for name in names)
    return Seen(scene, cause(facts), not is_panic and not is_report, is_panic)
