"""Which of the recorded lines made the values that a failed assertion reads? Pure, but for source.

From the last line backwards: what bound a name that is wanted is told, and then what it was bound
from is wanted. Of the calls that such a line made, the line that returned is gone into.
"""

from __future__ import annotations

from collections.abc import Sequence

from debugger.core import answers
from debugger.core.clip import clip
from debugger.core.feeding import roots, sources
from debugger.core.statement import statement
from debugger.recording.failed import FailedFrame, Gave, Step
from debugger.session import source

_OF_A_CALL = 7
_IN_ALL = 14
_DEPTH = 2
_VALUE = 100
_CALL = 160
_ARGUMENT = 40


def text_at(file: str, line: int) -> str:
    """Return the statement that begins at a line."""
    known = source.lines(file)
    if known is None or not 1 <= line <= len(known):
        return ""
    return statement(known[line - 1 : line + 4], hash_comments=True)


def made(frame: FailedFrame) -> tuple[answers.MadeView, ...]:
    """Return the lines that made what a frame's last statement reads, the first first."""
    wanted = set(roots(text_at(frame.file, frame.line), hash_comments=True))
    found = _fed(frame.function, frame.file, frame.steps, wanted, depth=0, last=frame.line)
    return tuple(found[-_IN_ALL:])


def _fed(
    function: str,
    file: str,
    steps: Sequence[Step],
    wanted: set[str],
    *,
    depth: int,
    last: int,
) -> list[answers.MadeView]:
    found: list[list[answers.MadeView]] = []
    for at, one in enumerate(reversed(steps)):
        is_last = at == 0 and one.line == last
        bound = [(name, text) for name, text in one.changed if name in wanted]
        if not bound and not is_last:
            continue
        text = text_at(file, one.line)
        inner = [view for gave in one.gave for view in _called(gave, depth=depth + 1)]
        if bound:
            frame = answers.FrameView(depth, function, file, one.line)
            views = tuple(answers.VariableView(name, clip(value, _VALUE)) for name, value in bound)
            # What a call gave stands before what was made of it.
            inner.append(answers.MadeView(frame, text, views, depth))
            wanted -= {name for name, _ in bound}
            wanted |= set(sources(text, hash_comments=True))
        found.append(inner)
        if len(found) == _OF_A_CALL:
            break
    return [view for part in reversed(found) for view in part]


def _cut(value: str) -> str:
    return value if len(value) <= _ARGUMENT else value[: _ARGUMENT - 1] + "…"


def _called(gave: Gave, *, depth: int) -> list[answers.MadeView]:
    text = text_at(gave.file, gave.line)
    wanted = set(roots(text.removeprefix("return"), hash_comments=True))
    inner = (
        _fed(gave.function, gave.file, gave.steps, wanted, depth=depth, last=gave.line)
        if depth <= _DEPTH
        else []
    )
    given = ", ".join(f"{name}={_cut(value)}" for name, value in gave.arguments)
    call = clip(f"{gave.function}({given})", _CALL)
    frame = answers.FrameView(depth, gave.function, gave.file, gave.line)
    said = f"{call} → {clip(gave.value, _VALUE)}"
    return [*inner, answers.MadeView(frame, text, (), depth, said)]
