"""Finds where a recorded failure comes from: the first call with the wrong value. Pure.

The exception that ended the run left some calls, the innermost of which made a check. If the check
compared a wrong value with the right one, the parts in which their texts differ are looked for in
what calls were given and what they returned, in the order of time.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from debugger.recorders.call_tree import CallNode, walk_calls
from debugger.recorders.model import CallRaised, Recording

_WORD = re.compile(r"\w+")
_ATOM = re.compile(r"\w+|[^\w\s]")
_BLOCKS = 4  # differing parts that are looked for
_LEVELS = 8  # times that a part is extended
_PART_MIN = 3  # characters of a part of the wrong value that count
_ATOMS_MAX = 2_000
_CALLEES_MAX = 12  # functions
_CHAIN_MAX = 3
_WORDS_MIN = 3
_TELLING = 4  # letters and digits that a looked-for part has at least
# What a recording shows of a call whose values are not in its result: None also of a generator.
_UNSEEN = frozenset({None, "None"})


class TextOrigin(Struct, frozen=True):
    """The call in which a wrong value appears first: returned, or given to it by its caller.

    `callees` are what the call used, the last first: a value that no call returned was made by its
    own lines, or by these.
    """

    call: CallNode
    # The argument that has the value; empty: the returned value.
    argument: str
    text: str
    callees: tuple[CallNode, ...] = ()
    # Generators that were under way: they may have yielded what it was given.
    generators: tuple[CallNode, ...] = ()


class TextFragment(Struct, frozen=True):
    """A part of the wrong value's text that the right one lacks, and longer ones around it."""

    levels: tuple[str, ...]


def find_origin(roots: Sequence[CallNode], wrong: str, right: str) -> TextOrigin | None:
    """Return the call in which the wrong value appears first; None if no call shows it."""
    # 1. `differing_fragments` gives the parts of the wrong text that the right one lacks, each with
    #    longer versions of it.
    # 2. The shortest version that a call returned without having been given it shows where the
    #    value was made. A short version may be part of the input; then a longer one decides.
    #    First the text itself is looked for, then its words, as another container has them.
    # 3. A callee that returned a piece of the wrong value made that piece.
    # 4. If every version appears first among arguments, the caller's own lines made the value.
    events = list(_value_events(roots))
    fragments = list(differing_fragments(wrong, right))
    given: TextOrigin | None = None
    for has_words in (False, True):
        for fragment in fragments:
            for text in fragment.levels:
                found = _first_appearance(events, text, has_words=has_words)
                if found is not None and not found.argument:
                    return _innermost_part(found, wrong, right)
                given = given if found is None or has_words else found
    return given


def differing_fragments(wrong: str, right: str) -> Iterator[TextFragment]:
    """Return the parts of a text that another lacks, the first first."""
    spans = [one.span() for one in _ATOM.finditer(wrong)][:_ATOMS_MAX]
    atoms = [wrong[begin:end] for begin, end in spans]
    others = _ATOM.findall(right)[:_ATOMS_MAX]
    matcher = difflib.SequenceMatcher(None, atoms, others, autojunk=False)
    blocks = [one for one in matcher.get_opcodes() if one[0] != "equal"]
    for _, begin, end, _, _ in blocks[:_BLOCKS]:
        levels: list[str] = []
        first, last = begin, end
        for step in range(_LEVELS + len(atoms)):
            text = wrong[spans[first][0] : spans[last - 1][1]] if last > first else ""
            if text and text not in right and text not in levels and _is_telling(text):
                levels.append(text)
            if len(levels) == _LEVELS or (first == 0 and last == len(atoms)):
                break
            # By turns to each side, because a removed part leaves nothing of its own.
            if (step % 2 and first > 0) or last == len(atoms):
                first -= 1
            else:
                last += 1
        if levels or _is_telling(wrong):
            yield TextFragment(tuple(dict.fromkeys([*levels, wrong])))


def _is_telling(text: str) -> bool:
    return sum(map(len, _WORD.findall(text))) >= _TELLING


def _value_events(roots: Sequence[CallNode]) -> Iterator[tuple[CallNode, str, str]]:
    """Return what calls were given, and what they returned, in the order of time."""
    stack: list[tuple[CallNode, bool]] = [(one, False) for one in reversed(roots)]
    while stack:
        call, has_ended = stack.pop()
        if has_ended:
            if call.value is not None:
                yield call, "", call.value
            continue
        for one in call.arguments:
            if one.text is not None:
                yield call, one.name, one.text
        stack.append((call, True))
        stack += [(one, False) for one in reversed(call.children)]


def _first_appearance(
    events: Sequence[tuple[CallNode, str, str]], fragment: str, *, has_words: bool
) -> TextOrigin | None:
    """Return the first event with a text; with `has_words`, with at least its words in order.

    A list and a dictionary of the same values have the same words.
    """
    words = _WORD.findall(fragment)
    if has_words and len(words) < _WORDS_MIN:
        return None
    pattern = re.compile(rf"(?<!\w){re.escape(fragment)}(?!\w)" if fragment[0].isalnum() else "")
    plain = f" {' '.join(words)} "
    for call, argument, text in events:
        if has_words:
            fits = words[0] in text and plain in f" {' '.join(_WORD.findall(text))} "
        else:
            fits = fragment in text and pattern.search(text) is not None
        if fits:
            return _origin_of(call, argument, text)
    return None


def _origin_of(call: CallNode, argument: str, text: str) -> TextOrigin:
    callees = _last_callees(call, is_given=bool(argument))
    return TextOrigin(call, argument, text, callees, tuple(_open_generators(call)))


def _last_callees(call: CallNode, *, is_given: bool) -> tuple[CallNode, ...]:
    """Return what a call used, or what the caller used before it gave the value to a call."""
    if is_given:
        siblings = call.parent.children if call.parent is not None else []
        used = [one for one in siblings if one.at < call.at]
    else:
        used = call.children
    found: list[CallNode] = []
    visited: set[int] = set()
    for one in reversed(used):
        if one.function not in visited and len(visited) < _CALLEES_MAX:
            visited.add(one.function)
            found += _generators_of(one)
    return tuple(found)


def _generators_of(call: CallNode, depth: int = 0) -> list[CallNode]:
    """Return a call, after those whose values it may only have handed on, the innermost first."""
    if call.value not in _UNSEEN or depth == _CHAIN_MAX:
        return [call]
    inner = {one.function: one for one in call.children if one.value in _UNSEEN}
    found = [each for one in inner.values() for each in _generators_of(one, depth + 1)]
    return [*found[:_CALLEES_MAX], call]


def _open_generators(call: CallNode) -> Iterator[CallNode]:
    """Return the calls that had begun before a call, ended after it, and did not call it."""
    outer = call.parent
    while outer is not None:
        for one in outer.children:
            is_open = one.at < call.at < one.at + one.total_ns
            if is_open and not one.is_merged and not _is_above(one, call):
                yield from _generators_of(one)
        outer = outer.parent


def _is_above(one: CallNode, call: CallNode) -> bool:
    above: CallNode | None = call
    while above is not None and above is not one:
        above = above.parent
    return above is one


def _innermost_part(found: TextOrigin, wrong: str, right: str) -> TextOrigin:
    """Return the first callee that returned a piece of the wrong value alone."""
    for call in walk_calls(found.call.children):
        piece = (call.value or "").strip("'\"")
        is_given = any(piece in (one.text or "") for one in call.arguments)
        if (
            len(piece) >= _PART_MIN
            and re.search(r"\w", piece)
            and piece in wrong
            and piece not in right
            and not is_given
        ):
            return _innermost_part(_origin_of(call, "", call.value or ""), wrong, right)
    return found


# -- the exception ---------------------------------------------------------------------------------


class LeftCall(Struct, frozen=True):
    """A call that the exception left, and the line that it left from."""

    call: CallNode
    line: int


class FailingStack(Struct, frozen=True):
    """The last exception of a run that no function of the program caught."""

    error: str
    # The calls that it left, the innermost first.
    calls: tuple[LeftCall, ...]


def find_failing_stack(recording: Recording, roots: Sequence[CallNode]) -> FailingStack | None:
    """Return the exception that left the outermost call last; None if none did."""
    raised = [one for one in recording.events if isinstance(one, CallRaised)]
    nodes = {one.id: one for one in walk_calls(roots)}
    ended = [one for one in raised if one.call in nodes and nodes[one.call].parent is None]
    if not ended:
        return None
    last = ended[-1]
    found: list[LeftCall] = []
    call: CallNode | None = nodes[last.call]
    lines = {one.call: one.line for one in raised if one.type == last.type}
    while call is not None:
        found.append(LeftCall(call, lines[call.id]))
        # The exception left the last callee that it left at all; earlier ones were caught.
        call = next(
            (
                one
                for one in reversed(call.children)
                if one.id in lines
                and one.errors
                and one.errors[-1].exception_text == last.exception_text
            ),
            None,
        )
    return FailingStack(last.exception_text, tuple(reversed(found)))
