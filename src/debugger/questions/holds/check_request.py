"""Parses the request of `holds`: invariants, the places of their checks, a known good value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.debugger_words import one_line
from debugger.model.hit_filter import EVERY_HIT, HitFilter, require_one_condition
from debugger.questions.holds.invariant_text import (
    check_invariant,
    parse_known_value,
    split_operands,
)
from debugger.questions.holds.known_values import bind_known
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_run import QuestionRun

PLACES_MAX = 20
INVARIANTS_MAX = 8
_EXPRESSION_MAX = 400  # characters
_KNOWN_MAX = 1 << 20  # bytes of a known good value
_EXAMPLE = "debugger holds EXPR --at FILE:LINE -- CMD checks at a line"
_WITH_KNOWN = frozenset({"python", "javascript"})


class CheckedPlace(Struct, frozen=True):
    """One requested place: a location, functions by a pattern, or a scope of lines."""

    # at, each (entry and exit of each matching function), in (each line and exit).
    kind: str
    asked: str
    # The location; None for a pattern.
    spec: BreakpointSpec | None = None
    # A glob over function names.
    pattern: str = ""
    file: str = ""
    # `after` or `until`: an event of the filter, of which nothing is checked.
    event: str = ""


class CheckRequest(Struct, frozen=True):
    """The invariants, and where and when they are checked."""

    expressions: tuple[str, ...]
    operands: tuple[tuple[str, ...], ...]
    places: tuple[CheckedPlace, ...]
    hits: HitFilter = EVERY_HIT
    # The events of the filter.
    events: tuple[CheckedPlace, ...] = ()
    # The value that the invariants read as `known`; only if `has_known`.
    known: object = None
    has_known: bool = False

    @property
    def when(self) -> str:
        """The condition of a check; "" for none."""
        return self.hits.when or ""


def parse_expressions(words: Sequence[str]) -> tuple[str, ...]:
    """Check the texts of invariants, without the language's own rules.

    Raises:
        DebuggerError: USAGE.
    """
    if not words:
        raise DebuggerError(
            ErrorCode.USAGE, "no invariant: an expression that should be true", hint=_EXAMPLE
        )
    if len(words) > INVARIANTS_MAX or max(map(len, words)) > _EXPRESSION_MAX:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"at most {INVARIANTS_MAX} invariants of {_EXPRESSION_MAX} characters",
            hint=_EXAMPLE,
        )
    for one in words:
        one_line(one)
    return tuple(one.strip() for one in words)


def build_request(
    call: CommandCall,
    question: QuestionRun,
    expressions: tuple[str, ...],
    *,
    at: Sequence[str],
    each: Sequence[str],
    scopes: Sequence[str],
    hits: HitFilter,
    against: str | None,
) -> CheckRequest:
    """Build the request for a program.

    Raises:
        DebuggerError: USAGE; NOT_FOUND for a file; NOT_SUPPORTED for a known good value of another
        language.
    """
    known = _read_known(call, against) if against is not None else None
    is_bound = against is not None and question.language in _WITH_KNOWN
    if against is not None and not is_bound:
        expressions = tuple(bind_known(one, known, question.language) for one in expressions)
    is_python = question.language == "python"
    for one in (*expressions, *filter(None, [require_one_condition("holds", hits)])):
        check_invariant(one, is_python=is_python)
    places = [
        *(CheckedPlace("at", one, _location(call, question, one)) for one in at),
        *(_pattern_place("each", one, "") for one in each),
        *(_scope_place(call, question, one) for one in scopes),
    ]
    if not 1 <= len(places) <= PLACES_MAX:
        text = "where is it checked?" if not places else f"{len(places)} places:"
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{text} 1 to {PLACES_MAX} of --at LOC, --each FUNCTION_PATTERN, --in FILE|FUNCTION",
            hint=_EXAMPLE,
        )
    return CheckRequest(
        expressions=expressions,
        operands=tuple(split_operands(one) for one in expressions),
        places=tuple(places),
        hits=hits,
        events=tuple(_event_places(call, question, hits)),
        known=known if is_bound else None,
        has_known=is_bound,
    )


def _event_places(
    call: CommandCall, question: QuestionRun, hits: HitFilter
) -> Iterator[CheckedPlace]:
    for kind, event in (("until", hits.until), ("after", hits.after)):
        if event is not None:
            spec = _location(call, question, event.place)
            spec = msgspec.structs.replace(spec, condition=event.when)
            yield CheckedPlace("at", f"--{kind} {event.text}", spec, event=kind)


def _location(call: CommandCall, question: QuestionRun, words: str) -> BreakpointSpec:
    target = question.target
    near = [target.cwd]
    if target.program is not None:
        near.append(str(Path(target.program).parent))
    current = target.program
    return call.breakpoint_spec(words, near=near, current=current, program=current)


def _pattern_place(kind: str, words: str, file: str) -> CheckedPlace:
    one_line(words)
    return CheckedPlace(kind, words, None, words.strip(), file)


def _scope_place(call: CommandCall, question: QuestionRun, words: str) -> CheckedPlace:
    """Return the lines of a file, or those of functions by name."""
    near = [Path(call.cwd, words), Path(question.target.cwd, words)]
    found = next((one for one in near if one.is_file()), None)
    if found is not None:
        return CheckedPlace("in", words, None, "", str(found.resolve()))
    if "/" in words or Path(words).suffix in {".py", ".c", ".cc", ".cpp", ".go", ".rs", ".js"}:
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"there is no file {words}",
            hint=_EXAMPLE,
        )
    return _pattern_place("in", words, "")


def _read_known(call: CommandCall, against: str) -> object:
    path = Path(call.cwd, against)
    try:
        with path.open("rb") as file:
            text = file.read(_KNOWN_MAX + 1)
    except OSError as error:
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"cannot read {path}: {error.strerror}",
            hint="--against FILE: JSON, or one literal",
        ) from error
    if len(text) > _KNOWN_MAX:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{against} is longer than 1 MiB",
            hint="--against FILE: a shorter known good value",
        )
    return parse_known_value(text.decode("utf-8", "replace"), against)
