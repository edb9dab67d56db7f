"""Finds the loop that a thread runs in, and whether anything in it leads to its end. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

_HEADER = re.compile(r"^[\s}]*(?:'\w+:\s*|async\s+)?(for|while|loop|do)\b")
_IN_LINE = re.compile(r"\{.*\b(?:for|while|loop)\b.*\{")
_WITHIN = re.compile(r"\b(?:for|while|loop)\b[^{]*")
_FUNCTION = re.compile(r"^\s*(?:async\s+)?(?:def|func|fn|function|class|impl)\b")
_WORD = re.compile(r"""(?:"[^"]*"|'[^']*')|[A-Za-z_]\w*""")
_KEYWORDS = re.compile(
    r"(?:for|while|loop|do|in|of|if|not|and|or|is|True|False|None|true|false|null|nil|range|len|let"
    r"|var|const|int|auto|mut|self|this|enumerate|size_t|unsigned|long|sizeof|await|async)\Z"
)
# A loop over what there is comes to its end by itself.
_EACH = re.compile(r"\bfor\b.*(?:\b(?:of|in|range)\b|\(\s*(?:const\s+)?\w[^;:]*[^:]:[^:])")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?\Z")
_TELLING = 3  # samples: of fewer, a direction is chance


class LoopSample(Struct, frozen=True):
    """One sample of the frame that a loop is in: its line, and what its variables hold."""

    line: int
    values: Mapping[str, str] = {}


class ChangedVariable(Struct, frozen=True):
    """A variable that changed between samples: its first and last values."""

    name: str
    first: str
    last: str


class Loop(Struct, frozen=True):
    """A loop: where its header stands, the lines that were seen, what changed and what did not.

    `names` are those in its header. `is_moving`: what the header reads goes on in one direction.
    """

    line: int
    text: str
    lines: tuple[int, ...]
    names: tuple[str, ...] = ()
    changed: tuple[ChangedVariable, ...] = ()
    same: tuple[tuple[str, str], ...] = ()
    is_moving: bool = False

    @property
    def has_fixed_range(self) -> bool:
        """Whether it goes over what does not change: then another goes round it."""
        grows = any(one.name in self.names for one in self.changed)
        return not self.is_moving and not grows and _EACH.search(self.text) is not None


def find_loop(source: Sequence[str], rounds: Sequence[LoopSample]) -> Loop | None:
    """Return the loop that all samples of a frame are in; None where there is none."""
    seen = tuple(sorted({one.line for one in rounds}))
    headers = _loop_headers(source, seen)
    if not headers:
        return None
    changed, same = _compare_samples(rounds)
    moving = {one.name for one in changed if _is_moving(_sampled_values(rounds, one.name))}
    named = [_header_names(source, number) for number in headers]
    # The outermost that goes on tells of progress: of one within, a direction may be chance. Else
    # the innermost is what goes round.
    at = max((at for at, names in enumerate(named) if moving & set(names)), default=0)
    names = named[at]
    return Loop(
        line=headers[at],
        text=_header_text(source, headers[at]),
        lines=seen,
        names=names,
        changed=tuple(sorted(changed, key=lambda one: one.name not in names)),
        same=tuple(sorted(same, key=lambda one: one[0] not in names)),
        is_moving=bool(moving & set(names)),
    )


def _loop_headers(source: Sequence[str], seen: Sequence[int]) -> list[int]:
    """Return the lines of the headers of loops around all lines seen, innermost first."""
    if not seen or not 1 <= seen[0] <= seen[-1] <= len(source):
        return []
    bodies = [_indent_width(source[number - 1]) for number in seen]
    found = []
    least = min(bodies)
    if len(seen) == 1 and _IN_LINE.search(source[seen[0] - 1]):
        return [seen[0]]
    if _HEADER.match(source[seen[0] - 1]) and all(
        one > bodies[0] or number == seen[0] for one, number in zip(bodies, seen, strict=True)
    ):
        found.append(seen[0])
    for number in range(seen[0] - 1, 0, -1):
        text = source[number - 1]
        if not text.strip():
            continue
        indent = _indent_width(text)
        if indent >= least:
            continue
        least = indent
        if _HEADER.match(text):
            found.append(number)
        if _FUNCTION.match(text) or not indent:
            break
    return found


def _indent_width(text: str) -> int:
    return len(text) - len(text.lstrip())


def _header_text(source: Sequence[str], number: int) -> str:
    """Return a loop's header; of one in the midst of a line, up to its body."""
    text = source[number - 1].strip()
    found = None if _HEADER.match(text) else _WITHIN.search(text)
    return found[0].strip() if found else text


def _header_names(source: Sequence[str], number: int) -> tuple[str, ...]:
    words = [one for one in _WORD.findall(_header_text(source, number)) if one[0] not in "\"'"]
    return tuple(dict.fromkeys(one for one in words if not _KEYWORDS.match(one)))


def _sampled_values(rounds: Sequence[LoopSample], name: str) -> list[str]:
    return [one.values[name] for one in rounds if name in one.values]


def _compare_samples(
    rounds: Sequence[LoopSample],
) -> tuple[list[ChangedVariable], list[tuple[str, str]]]:
    """Return what changed, and what every sample has shown the same."""
    changed, same = [], []
    for name in dict.fromkeys(name for one in rounds for name in one.values):
        values = _sampled_values(rounds, name)
        if len(set(values)) > 1:
            changed.append(ChangedVariable(name, values[0], values[-1]))
        elif len(values) == len(rounds):
            same.append((name, values[0]))
    return changed, same


def _is_moving(values: Sequence[str]) -> bool:
    """Tell whether values go on in one direction, or are new each time."""
    distinct = [one for one, after in pairwise([*values, ""]) if one != after]
    if len(distinct) < _TELLING:
        return False
    if all(_NUMBER.match(one) for one in distinct):
        steps = {float(after) > float(one) for one, after in pairwise(distinct)}
        return len(steps) == 1
    return len(set(distinct)) == len(distinct)
