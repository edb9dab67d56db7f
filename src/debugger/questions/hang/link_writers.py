"""Finds which line made the link by which a loop goes round, in a second run of the program.

The sources show the lines that set a field or an item of the link's name. A second run is probed at
those lines and at the loop: which of them ran, and of which objects. It ends after some seconds.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec
from msgspec import Struct

from debugger.backends import select_backend
from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError
from debugger.model.debugger_words import Runtime
from debugger.model.hit_filter import HitFilter
from debugger.questions.hang.answer import Hang, LinkWriterView
from debugger.questions.hang.turn_values import identity_expression, parse_value
from debugger.questions.probe.answer import Probe
from debugger.questions.probe.probe_arguments import parse_probe_points, take_probes
from debugger.questions.probe.probe_points import HitRange
from debugger.questions.recordings.function_lookup import lines_of
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_arguments import QuestionOptions, build_question
from debugger.questions.runner.question_run import QuestionRun

_PLACES_MAX = 15  # lines that are probed
_SHOWN_MAX = 3
_FILES_MAX = 2_000
_BYTES_MAX = 2 << 20
_ROWS = 4_000
_LEAST_S, _MOST_S = 2.0, 6.0  # seconds of the second run
_LEFT_OUT = frozenset({"node_modules", ".git", "__pycache__", "target", "dist", "site-packages"})
_FAMILIES = (
    (".py",),
    (".js", ".cjs", ".mjs", ".ts", ".cts", ".mts"),
    (".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh"),
    (".go",),
    (".rs",),
)
_LAST_PART = re.compile(r"(?:\??\.|->)(?P<field>[\w$]+)$|\[(?P<key>[^\[\]]+)\]$")
_TEXT_KEY = re.compile(r"[\"']([^\"']+)[\"']")
_OWNER = r"(?P<owner>[A-Za-z_$][\w$]*(?:(?:\.|->)[\w$]+|\[[^\[\]=]*\])*?)"
_SETS = r"\s*=(?![=>])"


class LinkingLine(Struct, frozen=True):
    """A line that may set the link: its object as an expression there, and its text."""

    file: str
    line: int
    owner: str
    text: str


async def add_link_writers(
    call: CommandCall, options: QuestionOptions, shown: Hang, *, after_s: float
) -> Hang:
    """Add the lines that made a cycle to the answer, by a second run of the command.

    What cannot be run or seen a second time leaves the answer as it is.
    """
    loop = shown.loop
    file = shown.frame.file if shown.frame is not None else None
    if loop is None or loop.cycle is None or file is None or not options.words:
        return shown
    seconds = min(max(after_s, _LEAST_S), _MOST_S)
    limited = msgspec.structs.replace(options, timeout=seconds)
    try:
        question = replace(await build_question(call, limited), name="probe")
    except DebuggerError:
        return shown
    if not isinstance(question.target, LaunchTarget):
        return shown
    lines = find_writing_lines(loop.cycle.link, file, question.target.cwd)
    lines = [one for one in lines if (one.file, one.line) != (file, loop.cycle.line)]
    if not lines:
        return shown
    runtime = question.traits.runtime
    places = [(f"{one.file}:{one.line}", identity_expression(one.owner, runtime)) for one in lines]
    places.append((f"{file}:{loop.cycle.line}", identity_expression(loop.cycle.name, runtime)))
    try:
        probe = await take_probes(
            call,
            question,
            parse_probe_points(call, question, places, HitFilter()),
            HitRange(),
            by=None,
            rows=_ROWS,
            is_free=options.adapter is None and options.backend is None,
            ask_free=partial(_build_frida, call, limited),
        )
    except DebuggerError:
        return shown
    writers = _rank_writers(lines, probe, runtime)
    changed = msgspec.structs.replace(loop, writers=writers)
    return msgspec.structs.replace(shown, loop=changed)


async def _build_frida(call: CommandCall, options: QuestionOptions) -> QuestionRun:
    return await build_question(
        call, msgspec.structs.replace(options, backend=select_backend.FRIDA)
    )


def find_writing_lines(link: str, file: str, cwd: str) -> list[LinkingLine]:
    """Return the lines that set a field or item of a link, those of the loop's file first."""
    pattern = _writing_pattern(link)
    family = next((one for one in _FAMILIES if file.endswith(one)), ())
    if pattern is None or not family:
        return []
    found: list[LinkingLine] = []
    for path in _source_paths(file, cwd, family):
        for number, text in enumerate(lines_of(path), 1):
            match = pattern.search(text)
            if match is not None and not text.lstrip().startswith(("#", "//", "*", "/*")):
                found.append(LinkingLine(path, number, match["owner"], text.strip()))
        if len(found) >= _PLACES_MAX:
            break
    return found[:_PLACES_MAX]


def _writing_pattern(link: str) -> re.Pattern[str] | None:
    last = _LAST_PART.search(link)
    if last is None:
        return None
    if last["field"]:
        return re.compile(rf"{_OWNER}(?:\.|->){re.escape(last['field'])}{_SETS}")
    key = _TEXT_KEY.search(last["key"])
    if key is None:
        return None  # an index may be any: its writes have no name
    return re.compile(rf"{_OWNER}\[[^\[\]=]*[\"']{re.escape(key[1])}[\"'][^\[\]=]*\]{_SETS}")


def _source_paths(file: str, cwd: str, family: Sequence[str]) -> Iterator[str]:
    """Return the loop's file, then the sources of its package and below the working directory."""
    yield file
    package = Path(file).parent
    while (package / "__init__.py").is_file() and package != package.parent:
        package = package.parent
    remaining = _FILES_MAX
    known = {file}
    for root in dict.fromkeys([str(Path(file).parent), str(package), cwd]):
        for folder, inner, names in os.walk(root):
            inner[:] = [one for one in sorted(inner) if one not in _LEFT_OUT and one[0] != "."]
            for name in sorted(names):
                path = os.path.join(folder, name)  # noqa: PTH118 - of many files
                if not name.endswith(tuple(family)) or path in known:
                    continue
                known.add(path)
                remaining -= 1
                if remaining < 0:
                    return
                if os.path.getsize(path) <= _BYTES_MAX:  # noqa: PTH202
                    yield path


def _rank_writers(
    lines: Sequence[LinkingLine], probe: Probe, runtime: Runtime
) -> tuple[LinkWriterView, ...]:
    """Return the lines that ran, those of the loop's own objects first, then the latest."""
    own: set[str] = set()
    last: dict[int, tuple[float, str]] = {}
    for row in probe.rows:
        observed = parse_value(row.values[0], "*", runtime) if row.values else None
        identity = observed.identity if observed is not None else ""
        if row.place == len(lines):
            own.add(identity)
        elif row.place < len(lines):
            last[row.place] = (row.at_s, identity)
    own.discard("")
    found = []
    for place, (at_s, identity) in last.items():
        one = lines[place]
        times = probe.places[place].hits
        view = LinkWriterView(one.file, one.line, one.text, times, is_seen=identity in own)
        found.append((not view.is_seen, -at_s, view))
    found.sort(key=lambda one: one[:2])
    views = [view for _, _, view in found]
    seen = [one for one in views if one.is_seen]
    return tuple((seen or views)[:_SHOWN_MAX])
