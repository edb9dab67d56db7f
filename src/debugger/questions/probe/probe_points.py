"""Defines a probe's request: expressions, locations, and the range of hits. Pure."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct, structs

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.hit_filter import HitFilter
from debugger.questions.probe.answer import ProbePlace
from debugger.questions.recordings import function_lookup
from debugger.recorders import run_alignment

EXPRESSIONS_MAX = 12  # of one location
PLACES_MAX = 20
_TEXT_MAX = 400  # characters of an expression
_OPENING, _CLOSING = "([{", ")]}"
_SECONDS = re.compile(r"(\d+(?:\.\d+)?)(ms|s)\Z")
_HINT = "debugger probe --at FILE:LINE 'total, count' -- CMD"


class ProbePoint(Struct, frozen=True):
    """One location as requested and as a breakpoint, with its expressions and condition."""

    asked: str
    spec: BreakpointSpec
    expressions: tuple[str, ...]
    when: str | None = None
    # `after` or `until`: its hits begin, or end, those of the other locations that count.
    event: str = ""
    # The end of each process; `spec` is nothing.
    is_exit: bool = False


class HitRange(Struct, frozen=True):
    """The hits that count: by number at each location, or by seconds of the run; 0: no end.

    With `ends_run` a started program is ended at the last hit that counts.
    """

    first: int = 1
    last: int = 0
    from_s: float = 0.0
    to_s: float = 0.0
    ends_run: bool = False

    def contains(self, hit: int, at_s: float) -> bool:
        """Return whether a hit counts."""
        return (
            hit >= self.first
            and (not self.last or hit <= self.last)
            and at_s >= self.from_s
            and (not self.to_s or at_s <= self.to_s)
        )

    def is_over(self, hit: int, at_s: float) -> bool:
        """Return whether no later hit counts."""
        return bool((self.last and hit >= self.last) or (self.to_s and at_s > self.to_s))


def split_expressions(text: str, *, hint: str = _HINT) -> tuple[str, ...]:
    """Split expressions at commas outside of brackets and quotes.

    Raises:
        DebuggerError: USAGE for an empty one, and for too many or too long ones.
    """
    if not text.strip():
        return ()
    found = [part.strip() for part in _split_commas(text)]
    if not all(found):
        raise DebuggerError(ErrorCode.USAGE, f"an expression is empty in {text!r}", hint=hint)
    if len(found) > EXPRESSIONS_MAX or max(map(len, found)) > _TEXT_MAX:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"at most {EXPRESSIONS_MAX} expressions of {_TEXT_MAX} characters at a place",
            hint=hint,
        )
    if any(ord(letter) < ord(" ") for letter in text):
        raise DebuggerError(ErrorCode.USAGE, "expressions are one line each", hint=hint)
    return tuple(found)


def _split_commas(text: str) -> Iterator[str]:
    depth, quote, start = 0, "", 0
    for at, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote and not _is_escaped(text, at) else quote
        elif letter in "\"'`" and not (letter == "'" and _is_in_a_word(text, at)):
            quote = letter
        elif letter in _OPENING:
            depth += 1
        elif letter in _CLOSING:
            depth = max(depth - 1, 0)
        elif letter == "," and not depth:
            yield text[start:at]
            start = at + 1
    yield text[start:]


def _is_escaped(text: str, at: int) -> bool:
    before = text[:at]
    return bool((len(before) - len(before.rstrip("\\"))) % 2)


def _is_in_a_word(text: str, at: int) -> bool:
    """Distinguish a digit separator in C++, and a Rust lifetime, from a quote."""
    return at > 0 and text[at - 1].isdigit() and text[at + 1 : at + 2].isdigit()


def range_of(start: str | None, end: str | None, hits: HitFilter) -> HitRange:
    """Return the range of hits that count, of `--from`, `--to` and the numbers of a filter.

    Raises:
        DebuggerError: USAGE for a range besides a hit's number.
    """
    if hits.nth is None and hits.last is None:
        return parse_range(start, end, hits.first)
    if start is not None or end is not None:
        flag = "--nth" if hits.nth is not None else "--last"
        raise DebuggerError(
            ErrorCode.USAGE,
            f"--from and --to are a range of hits, and {flag} chooses other ones",
            hint="--from 100 --to 104 is hits 100 to 104; --nth 100 is one of them",
        )
    if hits.nth is not None and hits.nth > 0:
        return HitRange(hits.nth, hits.nth, ends_run=True)
    return HitRange()


def parse_range(start: str | None, end: str | None, limit: int | None) -> HitRange:
    """Parse a range of hits: `100` is each location's hundredth, `2.5s` a time of the run.

    Raises:
        DebuggerError: USAGE.
    """
    first, from_s = _parse_bound(start, "--from")
    last, to_s = _parse_bound(end, "--to")
    if limit is not None:
        if limit < 1:
            raise DebuggerError(ErrorCode.USAGE, f"--limit counts from 1, not {limit}", hint=_HINT)
        if from_s:
            raise DebuggerError(
                ErrorCode.USAGE,
                "--limit counts hits by their number, and --from is a time here",
                hint=f"debugger probe --from {start} --to {from_s + 1:g}s --at FILE:LINE … -- CMD",
            )
        last = min(filter(None, (last, (first or 1) + limit - 1)))
    if (last and first > last) or (to_s and from_s > to_s):
        raise DebuggerError(ErrorCode.USAGE, "--to is before --from", hint=_HINT)
    return HitRange(first or 1, last, from_s, to_s, ends_run=limit is not None)


def _parse_bound(text: str | None, option: str) -> tuple[int, float]:
    if text is None:
        return 0, 0.0
    words = text.strip()
    timed = _SECONDS.match(words)
    if timed:
        return 0, float(timed[1]) / (1000 if timed[2] == "ms" else 1)
    if words.isdecimal() and 0 < int(words) < 2**53:
        return int(words), 0.0
    raise DebuggerError(
        ErrorCode.USAGE,
        f"{option} is the number of a hit, or a time of the run: 100, 2.5s, 300ms; not {text!r}",
        hint=_HINT,
    )


def assign_conditions(
    given: Sequence[str], places: int, *, hint: str = _HINT
) -> tuple[str | None, ...]:
    """Return the condition of each location: one for all, or one each, in order.

    Raises:
        DebuggerError: USAGE for another number of conditions.
    """
    if len(given) in {0, 1}:
        return (*given,) * places if given else (None,) * places
    if len(given) != places:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"--when once, for all places, or once for each: {len(given)} for {places}",
            hint=hint,
        )
    return tuple(given)


def counterpart_file(file: str, roots: Sequence[str], others: Sequence[str]) -> str:
    """Return the file below the other run's roots at the same relative path."""
    fitting = [root for root in roots if file.startswith(root.rstrip("/") + "/")]
    if not fitting:
        return file
    root = max(fitting, key=len)
    if root in others:
        return file
    relative = os.path.relpath(file, root)
    found = (str(Path(one, relative)) for one in others if one not in roots)
    return next((one for one in found if Path(one).is_file()), file)


def counterpart_points(
    points: Sequence[ProbePoint],
    first: Sequence[ProbePlace],
    roots: Sequence[str],
    others: Sequence[str],
) -> tuple[list[ProbePoint], list[str]]:
    """Return the probes for the other run, and notes on lines that it lacks.

    `first` are those of the known run, below `roots`; the events of a filter are not among them.
    """
    found, notes = [], []
    events = [ProbePlace(one.asked, (), file=one.spec.file, line=one.spec.line)
              for one in points if one.event]  # fmt: skip
    for one, known in zip(points, (*first, *events), strict=True):
        file, line = one.spec.file, one.spec.line
        if file is None or line is None or known.file is None or known.line is None:
            found.append(one)
            continue
        file = counterpart_file(file, roots, others) if file == known.file else file
        there = _counterpart_line(known.file, known.line, file)
        if there is None:
            notes.append(f"{one.asked}: that line is not in the other source, whose line is taken")
        spec = structs.replace(one.spec, file=file, line=there or line)
        found.append(structs.replace(one, spec=spec))
    return found, notes


def _counterpart_line(file: str, line: int, other: str) -> int | None:
    text, there = function_lookup.lines_of(file), function_lookup.lines_of(other)
    if file == other or text == there or not text or not there:
        return line
    return run_alignment.match_lines(text, there).get(line)
