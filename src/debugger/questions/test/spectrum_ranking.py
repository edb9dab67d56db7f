"""Ranks the lines of a failing test by how few passing tests ran them. Reads source, runs nothing.

The measure is Ochiai's, as in `path --vs`; among equals the lines that came first in time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct, structs

from debugger.model.answers.frames import FrameView
from debugger.model.location import is_test_file
from debugger.questions.recordings.function_lookup import line_text
from debugger.questions.runner.answer import ReachingCondition
from debugger.questions.test.answer import SpectrumRow, SpectrumView
from debugger.recorders.counted_recording import unify_parts
from debugger.recorders.line_effect import LineEffect, classify_line
from debugger.recorders.model import Recording
from debugger.recorders.suspect_ranking import (
    CodePlace,
    RankedSuspect,
    RunSpectrum,
    rank_suspects,
    run_spectrum,
)
from debugger.session import source_files
from debugger.sources.deciding_condition import find_all_conditions, find_reaching

_ROWS = 6
_LEAST_ROWS = 3  # also of lines that more tests ran than those before
_SPAN = 8  # lines of one row
_GAP = 2  # lines between two of one row that have no code, or are a part of a statement
_LEAST_TESTS = 2  # that say what a function usually runs
_LEFT_OUT = 3
_FUNCTION_ROWS = 2  # rows of one function, while others have none
_RANKS = {LineEffect.FOLLOWS: 1, LineEffect.REPORTS: 2}


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
    alone = _without_parts(ranked)
    rows = _choose_rows(_group_lines(alone, others), spectra[0].firsts, others)
    views = tuple(_row_view(one, others) for one in rows)
    fewest = rows[0].first.passing if rows else 0
    shown = {place for row in rows for place in row.lines}
    return SpectrumView(
        passing=len(passing),
        names=tuple(one.name for one in passing),
        rows=views,
        more=sum(one.passing == fewest and one.place not in shown for one in alone),
        left_out=_find_left_out(spectra, test_files),
    )


def _is_test(place: CodePlace, test_files: frozenset[str]) -> bool:
    # A test of Rust stands in the file that it tests.
    is_inner = re.search(r"(?:^|::)tests?::", place.function) is not None
    return place.file in test_files or is_test_file(place.file) or is_inner


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
    rows = sorted([*chosen, *later][:_ROWS], key=key)
    # Lines that more tests passed tell little beside those that fewer did.
    best = sum(one.first.passing == rows[0].first.passing for one in rows)
    return rows[: max(best, _LEAST_ROWS)]


def _row_view(group: _LineGroup, others: frozenset[CodePlace]) -> SpectrumRow:
    """Describe a row by the texts of its lines, without those that only follow from others."""
    texts = [line_text(one.file, one.line, one.column) for one in group.lines]
    telling = [one for one in texts if _RANKS.get(classify_line(one), 0) == group.effect]
    first, last = group.lines[0], group.lines[-1]
    return SpectrumRow(
        frame=FrameView(0, first.function, first.file, first.line),
        last=last.line,
        text=" · ".join(telling),
        passing=group.first.passing,
        reached=_find_parting(first, others),
    )


def _find_parting(place: CodePlace, others: frozenset[CodePlace]) -> tuple[ReachingCondition, ...]:
    """Return the condition at which the failing test went its own way to a line, if there is one.

    Args:
        place: A line that few other tests ran.
        others: What other tests ran.
    """
    source = "\n".join(source_files.read_source(place.file) or ())
    before = sorted(find_reaching(place.file, source, place.line), key=lambda one: -one.line)
    found = next((one for one in before if structs.replace(place, line=one.line) in others), None)
    if found is None:
        return ()
    frame = FrameView(0, place.function, place.file, found.line)
    return (ReachingCondition(frame, found.written, found.is_met),)


def _find_left_out(
    spectra: Sequence[RunSpectrum], test_files: frozenset[str]
) -> tuple[SpectrumRow, ...]:
    """Return what the passing tests ran under a condition that the failing one came to, too.

    Only lines that all of them ran, at least two, which came to the function.
    """
    failing, passing = spectra[0], spectra[1:]
    own = {(one.file, one.function) for one in failing.lines}
    came = Counter(
        key for one in passing for key in {(each.file, each.function) for each in one.lines}
    )
    ran = Counter(place for one in passing for place in one.lines)
    missing: dict[str, list[CodePlace]] = {}
    for place, count in ran.items():
        key = (place.file, place.function)
        is_new = place not in failing.lines and key in own and not place.column
        if is_new and count == came[key] >= _LEAST_TESTS and not _is_test(place, test_files):
            missing.setdefault(place.file, []).append(place)
    rows: list[SpectrumRow] = []
    for file, places in missing.items():
        source = "\n".join(source_files.read_source(file) or ())
        around = find_all_conditions(file, source, {one.line for one in places})
        shown: set[int] = set()  # lines of conditions
        for place in sorted(places, key=lambda one: one.line):
            known = [one for one in around[place.line] if one.written]
            met = next(
                (one for one in known if structs.replace(place, line=one.line) in failing.lines),
                None,
            )
            if met is None or met.line in shown:
                continue
            shown.add(met.line)
            frame = FrameView(0, place.function, file, met.line)
            reached = (ReachingCondition(frame, met.written, not met.is_met),)
            text = line_text(file, place.line)
            rows.append(
                SpectrumRow(
                    FrameView(0, place.function, file, place.line),
                    place.line,
                    text,
                    ran[place],
                    reached,
                )
            )
    return tuple(sorted(rows, key=lambda one: -one.passing)[:_LEFT_OUT])
