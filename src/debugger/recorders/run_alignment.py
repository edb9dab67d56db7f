"""Aligns two runs of one program, also of two source trees, and finds their divergence. Pure."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct, structs

from debugger.model.text_filters import clip_text
from debugger.recorders.model import (
    CallEntered,
    CallRaised,
    CallReturned,
    LinePassed,
    LinesSkipped,
    RecordedFunction,
    RecordedValue,
    Recording,
    ValuesChanged,
)
from debugger.recorders.suspect_ranking import CodePlace, RunSpectrum

_COST_MAX = (
    400  # differences that are looked for before it is said that the runs have little in common
)
# Where mapped memory and the heap are on 64-bit systems, as code writes it and as id() gives it.
_ADDRESS = re.compile(r"\b(?:0x[0-9a-f]{6,16}|1[34]\d{13}|9[345]\d{12})\b")
_CONTEXT = 3  # common events before the divergence
_NEXT = 5  # events after it
_VALUES_MAX = 20  # differing values
_HUNKS_MAX = 20
_CHANGES_MAX = 4  # lines that differ between the sources of the runs
_CHANGE = 60  # characters of one


class RunPoint(Struct, frozen=True):
    """One event of a run: `call`, `line`, `return` or `raise`, with its values."""

    kind: str
    function: RecordedFunction
    line: int = 0
    call: int = 0
    values: tuple[RecordedValue, ...] = ()
    # File and line in the other run's source, if the two runs have different sources.
    at: tuple[str, int] | None = None
    # The changes of a line are known this many events into the run: after the calls it made.
    due: int = 0

    @property
    def identity(self) -> tuple[str, str, str, int]:
        """The key by which two events count as the same."""
        file, number = self.at or (self.function.file, self.line)
        return (self.kind, file, self.function.name, number if self.kind == "line" else 0)


class ValueDifference(Struct, frozen=True):
    """A value that differs at an event of both runs."""

    point: RunPoint
    name: str
    left: str | None
    right: str | None


class RunDivergence(Struct, frozen=True):
    """The last common events, the next ones of each run, and the values that differ there."""

    before: tuple[RunPoint, ...]
    left: tuple[RunPoint, ...]
    right: tuple[RunPoint, ...]
    values: tuple[ValueDifference, ...]


class RunHunk(Struct, frozen=True):
    """Events of one run without a counterpart in the other, between two common events."""

    left: int
    right: int
    first_left: RunPoint | None = None
    first_right: RunPoint | None = None


class RunAlignment(Struct, frozen=True):
    """Two aligned runs; `differences` are at events before the first divergence.

    Without `is_whole` the runs have too little in common to be compared to their ends.
    """

    common: int
    left_only: int
    right_only: int
    divergence: RunDivergence | None
    differences: tuple[ValueDifference, ...]
    more_differences: int = 0
    hunks: tuple[RunHunk, ...] = ()
    is_whole: bool = True


def run_points(recording: Recording, *, thread: int = 1) -> list[RunPoint]:
    """List the events of one thread of a recording, in order."""
    found: list[RunPoint] = []
    owners: dict[int, RecordedFunction] = {}
    last: dict[int, int] = {}  # each call's last line among the points
    for event in recording.events:
        if isinstance(event, CallEntered):
            if event.thread == thread:
                function = owners[event.call] = recording.find_function(event.function)
                found.append(RunPoint("call", function, 0, event.call, event.arguments))
            continue
        owner = owners.get(getattr(event, "call", 0))
        if owner is None:
            continue
        if isinstance(event, LinePassed):
            last[event.call] = len(found)
            found.append(RunPoint("line", owner, event.line, event.call))
        elif isinstance(
            event, LinesSkipped
        ):  # what changes from now on is of no line that is known
            last.pop(event.call, None)
        elif isinstance(event, ValuesChanged) and event.call in last:
            at = last[event.call]
            values = (*found[at].values, *event.values)
            found[at] = structs.replace(found[at], values=values, due=len(found))
        elif isinstance(event, CallReturned | CallRaised):
            found.append(_end_point(owner, event))
    return found


def common_calls(
    sides: Sequence[Recording], files: Mapping[str, str]
) -> tuple[Recording, Recording]:
    """Keep of each function as many of the first calls as both recordings have of it.

    A recording follows a part of a function's calls, and which part depends on what ran before: a
    call that only one of them follows is no difference.

    Args:
        sides: Both recordings.
        files: The second one's files, and those of the first that they stand for.
    """
    numbers = [
        {
            one.number: (files.get(one.file, one.file) if at else one.file, one.name)
            for one in side.functions.values()
        }
        for at, side in enumerate(sides)
    ]
    most: dict[tuple[str, str], int] = {}
    for side, keys in zip(sides, numbers, strict=True):
        recorded = Counter(one.function for one in side.events if isinstance(one, CallEntered))
        for function in side.stopped & keys.keys():
            key = keys[function]
            most[key] = min(most.get(key, recorded[function]), recorded[function])
    a, b = (
        _limit_calls(side, {number: most[key] for number, key in keys.items() if key in most})
        for side, keys in zip(sides, numbers, strict=True)
    )
    return a, b


def _limit_calls(recording: Recording, most: Mapping[int, int]) -> Recording:
    """Drop the calls of functions beyond a number for each."""
    taken: Counter[int] = Counter()
    dropped: set[int] = set()
    for event in recording.events:
        if isinstance(event, CallEntered) and event.function in most:
            taken[event.function] += 1
            if taken[event.function] > most[event.function]:
                dropped.add(event.call)
    if not dropped:
        return recording
    events = (one for one in recording.events if getattr(one, "call", 0) not in dropped)
    return structs.replace(recording, events=tuple(events))


def _end_point(owner: RecordedFunction, event: CallReturned | CallRaised) -> RunPoint:
    if isinstance(event, CallReturned):
        return RunPoint("return", owner, 0, event.call, (RecordedValue("returned", event.value),))
    return RunPoint(
        "raise", owner, event.line, event.call, (RecordedValue("raised", event.exception_text),)
    )


def align_runs(left: Sequence[RunPoint], right: Sequence[RunPoint]) -> RunAlignment:
    """Align two runs; the cost is bounded by the size of their difference."""
    # 1. `common_subsequence` pairs equal events; an event's identity has no values, so that runs
    #    with other data on the same path still align.
    # 2. The pairs from the start on without a gap are the common prefix; the runs diverge at its
    #    end.
    # 3. Values are compared in the prefix only. The changes of a line are recorded after the calls
    #    that it made (`due`), so a line counts only if its changes belong to the prefix in both
    #    runs.
    # 4. Differences are sorted by `due`, not by line: if a callee computed the wrong value, the
    #    callee's difference comes before that of its caller's line.
    # 5. The gaps between pairs are the hunks.
    pairs, is_whole = common_subsequence(
        [one.identity for one in left], [one.identity for one in right]
    )
    prefix = 0
    while prefix < len(pairs) and pairs[prefix] == (prefix, prefix):
        prefix += 1
    known = [
        at
        for at in range(prefix)
        if max(left[at].due, right[at].due) <= prefix or prefix == len(left) == len(right)
    ]
    # What a line changed is known only after what its calls returned.
    known.sort(key=lambda at: max((at + 1, 0), (max(left[at].due, right[at].due), at + 1)))
    differences = [
        difference for at in known for difference in _compare_values(left[at], right[at])
    ]
    return RunAlignment(
        common=len(pairs),
        left_only=len(left) - len(pairs),
        right_only=len(right) - len(pairs),
        divergence=_first_divergence(left, right, prefix),
        differences=tuple(differences[:_VALUES_MAX]),
        more_differences=max(len(differences) - _VALUES_MAX, 0),
        hunks=_find_hunks(left, right, pairs),
        is_whole=is_whole,
    )


def _is_same(a: str | None, b: str | None) -> bool:
    """Return whether two values are equal apart from addresses, such as that of id()."""
    if a == b or a is None or b is None:
        return a == b
    return _ADDRESS.sub("0x…", a) == _ADDRESS.sub("0x…", b)


def _compare_values(left: RunPoint, right: RunPoint) -> list[ValueDifference]:
    a = {value.name: value.text for value in left.values}
    b = {value.name: value.text for value in right.values}
    return [
        ValueDifference(left, name, a.get(name), b.get(name))
        for name in dict.fromkeys([*a, *b])
        if not _is_same(a.get(name), b.get(name))
    ]


def _first_divergence(
    left: Sequence[RunPoint], right: Sequence[RunPoint], prefix: int
) -> RunDivergence | None:
    if prefix == len(left) == len(right):
        return None
    return RunDivergence(
        before=tuple(left[max(prefix - _CONTEXT, 0) : prefix]),
        left=tuple(left[prefix : prefix + _NEXT]),
        right=tuple(right[prefix : prefix + _NEXT]),
        values=tuple(_state_differences(left, right, prefix))[:_VALUES_MAX],
    )


def _state_differences(
    left: Sequence[RunPoint], right: Sequence[RunPoint], prefix: int
) -> list[ValueDifference]:
    """Compare the known variables of the call in which the runs diverge."""
    if not prefix:
        return []
    at = left[prefix - 1]
    a, b = (_values_at(side, prefix, side[prefix - 1].call) for side in (left, right))
    return [
        ValueDifference(at, name, a.get(name), b.get(name))
        for name in dict.fromkeys([*a, *b])
        if not _is_same(a.get(name), b.get(name))
    ]


def _values_at(side: Sequence[RunPoint], end: int, call: int) -> dict[str, str | None]:
    known: dict[str, str | None] = {}
    for point in side[:end]:
        if point.call == call and point.due <= end:
            known.update({value.name: value.text for value in point.values})
    return known


def _find_hunks(
    left: Sequence[RunPoint], right: Sequence[RunPoint], pairs: Sequence[tuple[int, int]]
) -> tuple[RunHunk, ...]:
    found = []
    a = b = 0
    for next_a, next_b in (*pairs, (len(left), len(right))):
        if (next_a, next_b) != (a, b):
            found.append(
                RunHunk(
                    next_a - a,
                    next_b - b,
                    left[a] if next_a > a else None,
                    right[b] if next_b > b else None,
                )
            )
            if len(found) == _HUNKS_MAX:
                break
        a, b = next_a + 1, next_b + 1
    return tuple(found)


def common_subsequence(
    left: Sequence[object], right: Sequence[object], *, cost_max: int = _COST_MAX
) -> tuple[list[tuple[int, int]], bool]:
    """Find a longest common subsequence; a shorter one if the runs differ by more than `cost_max`.

    The greedy algorithm of Myers, "An O(ND) Difference Algorithm and Its Variations", 1986.
    """
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    end = 0
    while end < min(len(left), len(right)) - start and left[-1 - end] == right[-1 - end]:
        end += 1
    a, b = left[start : len(left) - end], right[start : len(right) - end]
    middle, is_whole = _match_middle(a, b, cost_max)
    pairs = [(at, at) for at in range(start)]
    pairs += [(start + x, start + y) for x, y in middle]
    pairs += [(len(left) - at, len(right) - at) for at in range(end, 0, -1)]
    return pairs, is_whole


def _match_middle(
    a: Sequence[object], b: Sequence[object], cost_max: int
) -> tuple[list[tuple[int, int]], bool]:
    if not a or not b:
        return [], True
    # The furthest x on each diagonal, as in Myers's paper; the entry at 1 starts the first step.
    reach = {1: 0}
    trace: list[dict[int, int]] = []
    for cost in range(min(len(a) + len(b), cost_max) + 1):
        # A copy for each cost, from which the path is traced back.
        trace.append(dict(reach))
        for diagonal in range(-cost, cost + 1, 2):
            x = _step_forward(reach, diagonal, cost)
            y = x - diagonal
            while x < len(a) and y < len(b) and a[x] == b[y]:
                x, y = x + 1, y + 1
            reach[diagonal] = x
            if x >= len(a) and y >= len(b):
                return _trace_back(trace, x, y), True
    last = len(trace) - 1
    diagonals = [
        diagonal
        for diagonal, x in reach.items()
        if not (diagonal - last) % 2 and x <= len(a) and 0 <= x - diagonal <= len(b)
    ]
    if not diagonals:
        return [], False
    best = max(diagonals, key=lambda diagonal: 2 * reach[diagonal] - diagonal)
    return _trace_back(trace, reach[best], reach[best] - best), False


def _is_down(reach: dict[int, int], diagonal: int, cost: int) -> bool:
    """Choose the neighbour from which a diagonal is reached: by a step down, or to the right."""
    if diagonal in {-cost, cost}:
        return diagonal == -cost
    return reach[diagonal - 1] < reach[diagonal + 1]


def _step_forward(reach: dict[int, int], diagonal: int, cost: int) -> int:
    is_down = _is_down(reach, diagonal, cost)
    return reach[diagonal + 1] if is_down else reach[diagonal - 1] + 1


def _trace_back(trace: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    for cost in range(len(trace) - 1, -1, -1):
        reach, diagonal = trace[cost], x - y
        came = _step_forward(reach, diagonal, cost)
        came_y = came - diagonal
        while x > came and y > came_y:
            x, y = x - 1, y - 1
            pairs.append((x, y))
        x, y = (came, came_y - 1) if _is_down(reach, diagonal, cost) else (came - 1, came_y)
    pairs.reverse()
    return pairs


_ELSEWHERE = 1 << 24  # added to the numbers of lines that the other source does not have


def find_counterparts(
    files: Sequence[str],
    roots: Sequence[str],
    others: Sequence[str],
    other_roots: Sequence[str],
    lines_of: Callable[[str], Sequence[str]] | None = None,
) -> dict[str, str]:
    """Map each file to the one at the same relative path below the other's roots.

    With `lines_of`, two versions of a package below the same root are matched, too: `old/a/x.py`
    and `new/a/x.py`, if at least half of their lines are the same.
    """
    known = {relative: one for one in others if (relative := _path_below(one, other_roots))}
    found = {}
    for one in files:
        relative = _path_below(one, roots)
        if one not in others and relative in known:
            found[one] = known[relative]
    if lines_of is not None:
        matched = {*found.values(), *files}
        own = [one for one in files if one not in found and one not in others]
        found |= _find_versions(own, [one for one in others if one not in matched], lines_of)
    return found


def describe_changes(
    same: Mapping[str, str], lines_of: Callable[[str], Sequence[str]]
) -> list[str]:
    """Return a note with the lines of the first sources that differ from their counterparts."""
    changes: list[str] = []
    for other, own in same.items():
        texts = lines_of(own), lines_of(other)
        for is_equal, begin, end, there, there_end in _align_lines(*texts):
            if not is_equal:
                parts = (" ".join(texts[0][begin:end]), " ".join(texts[1][there:there_end]))
                shown = (clip_text(" ".join(one.split()), _CHANGE) or "nothing" for one in parts)
                changes.append(f"{own.rpartition('/')[2]}:{begin + 1} {' / '.join(shown)}")
    more = f" … {len(changes) - _CHANGES_MAX} more" if len(changes) > _CHANGES_MAX else ""
    return [f"the sources differ at {' · '.join(changes[:_CHANGES_MAX])}{more}"] if changes else []


def _find_versions(
    files: Sequence[str], others: Sequence[str], lines_of: Callable[[str], Sequence[str]]
) -> dict[str, str]:
    """Match files of two folders by their paths within them; the folders with most pairs first."""
    pairs: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for one in files:
        for other in others:
            if one.rpartition("/")[2] == other.rpartition("/")[2]:
                pairs.setdefault(_differing_folders(one, other), []).append((one, other))
    found: dict[str, str] = {}
    for some in sorted(pairs.values(), key=len, reverse=True):
        for one, other in some:
            is_free = one not in found and other not in found.values()
            if is_free and _is_version(lines_of(one), lines_of(other)):
                found[one] = other
    return found


def _differing_folders(path: str, other: str) -> tuple[str, str]:
    """Return two paths without what they have in common at their ends."""
    own, theirs = path.split("/"), other.split("/")
    while own and theirs and own[-1] == theirs[-1]:
        own.pop()
        theirs.pop()
    return "/".join(own), "/".join(theirs)


def _is_version(text: Sequence[str], other: Sequence[str]) -> bool:
    own, theirs = set(text), set(other)
    return bool(own) and 2 * len(own & theirs) >= max(len(own), len(theirs))


def _path_below(path: str, roots: Sequence[str]) -> str:
    fitting = [root for root in roots if path.startswith(root.rstrip("/") + "/")]
    return path[len(max(fitting, key=len).rstrip("/")) + 1 :] if fitting else ""


def match_lines(text: Sequence[str], other: Sequence[str]) -> dict[int, int]:
    """Return the other text's line for each line of a text, from 1.

    Changed lines match by position, if both texts have equally many of them.
    """
    return {
        begin + step + 1: there + step + 1
        for _, begin, end, there, last in _align_lines(text, other)
        if end - begin == last - there
        for step in range(end - begin)
    }


def _align_lines(
    text: Sequence[str], other: Sequence[str]
) -> Iterator[tuple[bool, int, int, int, int]]:
    """Yield blocks of lines of two texts, from 0: whether they are equal, and where each stands.

    What they have in common at their beginnings and ends is not searched through: difflib takes
    minutes for sources of 100,000 lines.
    """
    most = min(len(text), len(other))
    head = next((at for at in range(most) if text[at] != other[at]), most)
    rest = most - head
    tail = next((at for at in range(rest) if text[-1 - at] != other[-1 - at]), rest)
    end, last = len(text) - tail, len(other) - tail
    yield True, 0, head, 0, head
    matcher = difflib.SequenceMatcher(None, text[head:end], other[head:last], autojunk=False)
    for tag, *block in matcher.get_opcodes():
        begin, until, there, there_end = (one + head for one in block)
        yield tag == "equal", begin, until, there, there_end
    yield True, end, len(text), last, len(other)


def move_points(
    points: Sequence[RunPoint], files: Mapping[str, str], read: Callable[[str], Sequence[str]]
) -> list[RunPoint]:
    """Set the locations in the other source under which events are compared."""
    known: dict[str, dict[int, int]] = {}
    found = []
    for one in points:
        other = files.get(one.function.file)
        if other is None:
            found.append(one)
            continue
        if other not in known:
            known[other] = match_lines(read(one.function.file), read(other))
        line = known[other].get(one.line, one.line + _ELSEWHERE)
        found.append(structs.replace(one, at=(other, line)))
    return found


def at_home(
    one: RunSpectrum, files: Mapping[str, str], read: Callable[[str], Sequence[str]]
) -> RunSpectrum:
    """Set the locations in the other source under which a run's code is compared.

    Lines that the other source lacks keep their own locations.
    """
    known = {file: match_lines(read(file), read(other)) for file, other in files.items()}

    def function(place: CodePlace) -> CodePlace:
        return structs.replace(place, file=files.get(place.file, place.file))

    def line(place: CodePlace) -> CodePlace:
        there = known.get(place.file, {}).get(place.line)
        return place if there is None else structs.replace(function(place), line=there)

    return structs.replace(
        one,
        functions=frozenset(map(function, one.functions)),
        lines=frozenset(map(line, one.lines)),
        entries={function(place): names for place, names in one.entries.items()},
        order={function(place): number for place, number in one.order.items()},
        firsts={line(place): number for place, number in one.firsts.items()},
    )
