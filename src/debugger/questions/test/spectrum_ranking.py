"""Ranks the lines of a failing test by how few passing tests ran them. Reads source, runs nothing.

The measure is Ochiai's, as in `path --vs`; among equals the lines that came first in time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from msgspec import Struct

from debugger.model.answers.frames import FrameView
from debugger.questions.recordings.function_lookup import line_text
from debugger.questions.test.answer import SpectrumRow, SpectrumView
from debugger.recorders.counted_recording import unify_parts
from debugger.recorders.line_effect import LineEffect, classify_line
from debugger.recorders.model import Recording
from debugger.recorders.suspect_ranking import CodePlace, RankedSuspect, rank_suspects, run_spectrum

_ROWS = 6
_SPAN = 8  # lines of one row
_GAP = 2  # lines between two of one row that have no code, or are a part of a statement
_FUNCTION_ROWS = 2  # rows of one function, while others have none
_RANKS = {LineEffect.FOLLOWS: 1, LineEffect.REPORTS: 2}
_TEST_FOLDERS = frozenset({"test", "tests", "__tests__", "spec", "testing"})
_TEST_FILE = re.compile(r"(?:^|[._-])(?:test|tests|spec)(?:[._-]|$)|^conftest\.py$", re.IGNORECASE)


class CountedTest(Struct, frozen=True):
    """A test that ran alone, with its lines counted."""

    name: str
    is_passed: bool
    recordings: tuple[Recording, ...]


class _LineGroup(Struct):
    """Neighbouring lines of one function that equally many tests ran."""

    first: RankedSuspect
    lines: list[CodePlace]
    order: int
    effect: int = 0


def compare_tests(
    failing: CountedTest, passing: Sequence[CountedTest], test_files: frozenset[str] = frozenset()
) -> SpectrumView | None:
    """Return the lines of a failing test that the fewest passing ones ran; None without any lines.

    Args:
        failing: The failing test.
        passing: The passing tests, each run alone.
        test_files: The files of the tests themselves, whose lines differ of course.
    """
    runs = [failing, *passing]
    recordings = unify_parts([one.recordings for one in runs])
    spectra = [
        run_spectrum(each, passed=one.is_passed) for one, each in zip(runs, recordings, strict=True)
    ]
    if not spectra[0].lines:
        return None
    ranked = [
        one
        for one in rank_suspects(spectra, most=len(spectra[0].lines)).lines
        if one.passing < len(passing) and not _is_test(one.place, test_files)
    ]
    others = frozenset[CodePlace]().union(*(one.lines for one in spectra[1:]))
    rows = _choose_rows(_group_lines(_without_parts(ranked), others), spectra[0].firsts, others)
    return SpectrumView(
        passing=len(passing),
        names=tuple(one.name for one in passing),
        rows=tuple(_row_view(one) for one in rows),
        total=len(ranked),
    )


def _is_test(place: CodePlace, test_files: frozenset[str]) -> bool:
    path = PurePath(place.file)
    is_named = bool(_TEST_FILE.search(path.name)) or bool(_TEST_FOLDERS & set(path.parts[:-1][-2:]))
    # A test of Rust stands in the file that it tests.
    is_inner = re.search(r"(?:^|::)tests?::", place.function) is not None
    return place.file in test_files or is_named or is_inner


def _without_parts(ranked: Sequence[RankedSuspect]) -> list[RankedSuspect]:
    """Drop parts of lines that stand out as a whole, and a line's second part."""
    known: dict[tuple[str, int], RankedSuspect] = {}
    for one in sorted(ranked, key=lambda each: (-each.score, each.place.column)):
        known.setdefault((one.place.file, one.place.line), one)
    chosen = {id(one) for one in known.values()}
    return [one for one in ranked if id(one) in chosen]


def _group_lines(ranked: Sequence[RankedSuspect], others: frozenset[CodePlace]) -> list[_LineGroup]:
    """Join neighbouring lines of a function, if no line in between was run by other tests."""
    order = {id(one): at for at, one in enumerate(ranked)}
    groups: list[_LineGroup] = []
    for one in sorted(
        ranked, key=lambda each: (each.place.file, each.place.function, each.place.line)
    ):
        place, last = one.place, groups[-1] if groups else None
        if last is not None and _is_next(last, one, others):
            last.lines.append(place)
            last.order = min(last.order, order[id(one)])
        else:
            groups.append(_LineGroup(one, [place], order[id(one)]))
    for group in groups:
        group.effect = min(_line_effect(one) for one in group.lines)
    return groups


def _is_next(group: _LineGroup, one: RankedSuspect, others: frozenset[CodePlace]) -> bool:
    before, place = group.lines[-1], one.place
    between = range(before.line + 1, place.line)
    return (
        (before.file, before.function) == (place.file, place.function)
        and one.passing == group.first.passing
        and not (before.column or place.column)
        and len(between) <= _GAP
        and place.line - group.lines[0].line < _SPAN
        and not any(CodePlace(place.file, place.function, line) in others for line in between)
    )


def _line_effect(place: CodePlace) -> int:
    return _RANKS.get(classify_line(line_text(place.file, place.line, place.column)), 0)


def _choose_rows(
    groups: Sequence[_LineGroup], firsts: Mapping[CodePlace, int], others: frozenset[CodePlace]
) -> list[_LineGroup]:
    """Choose the rows: few passing tests, an effect of their own, then the first in time.

    Without a known order, functions that passing tests ran too come first: there the failing test
    took its own way.
    """
    common = {(one.file, one.function) for one in others}

    def key(one: _LineGroup) -> tuple[float, int, bool, int]:
        place = one.lines[0]
        is_new = not firsts and (place.file, place.function) not in common
        return (-one.first.score, one.effect, is_new, one.order)

    ranked = sorted(groups, key=key)
    taken: dict[tuple[str, str], int] = {}
    chosen: list[_LineGroup] = []
    later: list[_LineGroup] = []
    for one in ranked:
        function = (one.lines[0].file, one.lines[0].function)
        taken[function] = taken.get(function, 0) + 1
        (chosen if taken[function] <= _FUNCTION_ROWS else later).append(one)
    return sorted([*chosen, *later][:_ROWS], key=key)


def _row_view(group: _LineGroup) -> SpectrumRow:
    """Describe a row by the texts of its lines, without those that only follow from others."""
    texts = [line_text(one.file, one.line, one.column) for one in group.lines]
    telling = [one for one in texts if _RANKS.get(classify_line(one), 0) == group.effect]
    first, last = group.lines[0], group.lines[-1]
    return SpectrumRow(
        frame=FrameView(0, first.function, first.file, first.line),
        last=last.line,
        text=" · ".join(telling),
        passing=group.first.passing,
    )
