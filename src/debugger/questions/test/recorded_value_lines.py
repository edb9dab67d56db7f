"""The recorded lines that made the values which a failed assertion reads. Pure, but for source.

From the last line backwards: what bound a name that is read, or changed its value where it is read,
is reported, and then what that line read is followed. Of the calls that such a line made, the line
that returned is reported, and the lines that made the same changes. What no line of the test made
is looked for in the calls of fixtures and setup methods, by the objects that they share.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec import Struct

from debugger.model import answers
from debugger.model.statement import join_statement
from debugger.model.text_clip import clip_text
from debugger.questions.test.read_paths import Paths, paths_overlap, read_paths
from debugger.recorders.test_failures import (
    ChangedInPlace,
    FailedFrame,
    FailureLine,
    LineCall,
    NameBinding,
)
from debugger.session import source_files

_OF_A_CALL = 7
_IN_ALL = 30
_SHOWN = 5  # lines of a statement that are shown
_STATEMENT = 40  # lines of a statement that are read
# What a runner's explanation of an assertion calls, after it has failed.
_WRITTEN = re.compile(r"\.__(?:repr|str|format)__$")
_WRITES = re.compile(r"""\b(?:repr|str|format|print|ascii)\(|\bf["']|\.format\(|%""")
_VALUE = 100
_CALL = 160
_ARGUMENT = 40
_NOTHING = "None"
_KEY = re.compile(r"\.\w+|\[[^\]]*\]")
Key = tuple[int, str]


def text_at(file: str, line: int, *, most: int = _SHOWN) -> str:
    """Return the statement that begins at a line, of at most so many lines."""
    known = source_files.read_source(file)
    if known is None or not 1 <= line <= len(known):
        return ""
    return join_statement(known[line - 1 : line - 1 + most], hash_comments=True, most=most)


class ValueLines(Struct, frozen=True):
    """The lines that made what a statement reads, the first first.

    `omitted` lines are before them; of the calls `without_lines` the lines were not kept; where no
    line made it, `unexplained` are the paths that the statement reads.
    """

    views: tuple[answers.MadeView, ...] = ()
    omitted: int = 0
    without_lines: tuple[LineCall, ...] = ()
    unexplained: tuple[str, ...] = ()


def find_value_lines(frame: FailedFrame, setup: Sequence[LineCall] = ()) -> ValueLines:
    """Return the lines that made what a frame's last statement reads."""
    cut: list[LineCall] = []
    read = read_paths(text_at(frame.file, frame.line, most=_STATEMENT))
    flow = _DataFlow(frame.function, frame.file, 0, cut)
    flow.add_reads(read)
    views = flow.follow_steps(frame.steps, frame.line)
    views = [*_setup_views(setup, flow.unresolved(), frame.idents, cut), *views]
    known = {name for name, _ in frame.locals}
    return ValueLines(
        tuple(views[-_IN_ALL:]),
        max(len(views) - _IN_ALL, 0),
        tuple(cut),
        () if views else tuple(_read_expressions(read, known)),
    )


def _read_expressions(read: Paths, known: set[str]) -> Iterator[str]:
    return (f"{name}{path}" for name in read if name in known for path in sorted(read[name]))


def _setup_views(
    setup: Sequence[LineCall],
    paths: Mapping[str, Iterable[str]],
    idents: Sequence[tuple[str, int]],
    cut: list[LineCall],
) -> list[answers.MadeView]:
    """Return the lines of fixtures and setup methods that made what the test found there."""
    found: list[list[answers.MadeView]] = []
    objects = {ident: name for name, ident in idents if name in paths}
    for gave in reversed(setup):
        name = objects.get(gave.ident)
        if name is None and gave.value != _NOTHING:  # a number, or the like: by the fixture's name
            function = gave.function.rpartition(".")[2]
            name = function if function in paths else None
        given = {one: paths[objects[ident]] for one, ident in gave.idents if ident in objects}
        part = _callee_lines(gave, 1, set(), cut, needs_value=name is not None, given=given)
        if part:
            found.append(part)
    return [view for part in reversed(found) for view in part]


class _DataFlow:
    """What is still looked for in one call: paths of names, and changes of objects by key."""

    def __init__(
        self, function: str, file: str, depth: int, cut: list[LineCall], keys: Iterable[Key] = ()
    ) -> None:
        self._function = function
        self._file = file
        self._depth = depth
        self._cut = cut
        self._paths: dict[str, set[str]] = {}
        self._keys = set(keys)

    def unresolved(self) -> dict[str, set[str]]:
        """Return what is looked for and was not found."""
        return self._paths

    def add_reads(self, paths: Mapping[str, Iterable[str]], *, without: Iterable[str] = ()) -> None:
        """Look for what made these, too."""
        for name, some in paths.items():
            if name not in without:
                self._paths.setdefault(name, set()).update(some)

    def follow_steps(
        self, steps: Sequence[FailureLine], last: int, *, needs_value: bool = True
    ) -> list[answers.MadeView]:
        """Go through the lines of the call, the last first; return them in their order.

        `last` is the line that returned, whose value may be looked for.
        """
        found: list[list[answers.MadeView]] = []
        for at, one in enumerate(reversed(steps)):
            is_last = at == 0 and one.line == last
            part = self._follow_line(one, is_last=is_last, needs_value=is_last and needs_value)
            if part:
                found.append(part)
            if len(found) == _OF_A_CALL:
                break
        return [view for part in reversed(found) for view in part]

    def _follow_line(
        self, step: FailureLine, *, is_last: bool, needs_value: bool
    ) -> list[answers.MadeView]:
        bound = [one for one in step.bound if one.name in self._paths]
        changed = [one for one in step.changed if self._is_read(one)]
        if not bound and not changed and not is_last:
            return []
        text = text_at(self._file, step.line)
        keys = {(one.holder, one.key) for one in changed}
        # What a new object got as it was made is a change of that object.
        keys |= {
            (one.ident, match[0])
            for one in bound
            for path in self._paths[one.name]
            if (match := _KEY.match(path))
        }
        needs_value = needs_value or bool(bound)
        views = [
            view
            for gave in step.gave
            if not (is_last and _WRITTEN.search(gave.function)) or _WRITES.search(text)
            for view in _callee_lines(
                gave, self._depth + 1, keys, self._cut, needs_value=needs_value
            )
        ]
        if bound or changed:
            values = [answers.VariableView(one.name, clip_text(one.value, _VALUE)) for one in bound]
            values += [_change_view(one) for one in changed]
            # What a call gave stands before what was made of it.
            views.append(
                answers.MadeView(self._frame_view(step.line), text, tuple(values), self._depth)
            )
            read = text_at(self._file, step.line, most=_STATEMENT)
            self._follow_sources(read, bound, changed)
        return views

    def _is_read(self, change: ChangedInPlace) -> bool:
        if (change.holder, change.key) in self._keys:
            return True
        paths = self._paths.get(change.name)
        return paths is not None and any(paths_overlap(change.path, one) for one in paths)

    def _follow_sources(
        self, text: str, bound: list[NameBinding], changed: list[ChangedInPlace]
    ) -> None:
        rebound = {one.name for one in bound} | {one.name for one in changed if not one.path}
        for name in rebound:
            self._paths.pop(name, None)
        # The object that a change is made in is looked for by its paths already.
        self.add_reads(
            read_paths(text, is_assigned=True),
            without={one.name for one in changed if one.path},
        )

    def _frame_view(self, line: int) -> answers.FrameView:
        return answers.FrameView(self._depth, self._function, self._file, line)


def _change_view(one: ChangedInPlace) -> answers.VariableView:
    new = "deleted" if one.new is None else clip_text(one.new, _VALUE)
    old = f"{clip_text(one.old, _ARGUMENT)} → " if one.old is not None else ""
    return answers.VariableView(f"{one.name}{one.path}", f"{old}{new}")


def _cut_value(value: str) -> str:
    return value if len(value) <= _ARGUMENT else value[: _ARGUMENT - 1] + "…"


def _callee_lines(
    gave: LineCall,
    depth: int,
    keys: set[Key],
    cut: list[LineCall],
    *,
    needs_value: bool,
    given: Mapping[str, Iterable[str]] | None = None,
) -> list[answers.MadeView]:
    """Return the lines of a call that made what it returned, or changed one of the keys.

    `given` are the paths to follow in what it was given.
    """
    text = text_at(gave.file, gave.line)
    flow = _DataFlow(gave.function, gave.file, depth, cut, keys)
    if needs_value:
        flow.add_reads(read_paths(text, is_assigned=True))
    flow.add_reads(given or {})
    inner = flow.follow_steps(gave.steps, gave.line, needs_value=needs_value)
    if gave.is_cut and needs_value:
        cut.append(gave)
    has_value = gave.value != _NOTHING
    call = _call_of(gave)
    if inner and not has_value:
        # The change is what it was called for: it is said with the call that made it.
        return [*inner[:-1], msgspec.structs.replace(inner[-1], call=inner[-1].call or call)]
    if not (needs_value or (has_value and given is None)) or gave.function.endswith(".__init__"):
        return inner if given is not None else []
    frame = answers.FrameView(depth, gave.function, gave.file, gave.line)
    return [
        *inner,
        answers.MadeView(frame, text, (), depth, f"{call} → {clip_text(gave.value, _VALUE)}"),
    ]


def _call_of(gave: LineCall) -> str:
    given = ", ".join(f"{name}={_cut_value(value)}" for name, value in gave.arguments)
    return clip_text(f"{gave.function}({given})", _CALL)
