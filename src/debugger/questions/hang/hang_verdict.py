"""Explains a hang from samples of the program's threads and their loops. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from debugger.sources.condition_text import closing_bracket

_HEADER = re.compile(r"^[\s}]*(?:'\w+:\s*|async\s+)?(for|while|until|loop|do|repeat)\b")
# Ruby's loops that name their condition behind the body.
_BEGIN = re.compile(r"^\s*begin\b")
_TRAILING = re.compile(r"""^[^#"']*[^#"'\s]\s+(?:while|until)\s""")
_LOOP_END = re.compile(r"\s*(?:end\b|\}|(?=until\b)).*\b(?:while|until)\b[^{]*$")
_NO_CONDITION = frozenset({"", "do", "do {", "repeat", "repeat {", "begin", "{", "}"})
_CLAUSE = re.compile(r"\s*(?:rescue|else|ensure)\b")
_IN_LINE = re.compile(r"\{.*\b(?:for|while|loop)\b.*\{")
_WITHIN = re.compile(r"\b(?:for|while|until|loop)\b[^{]*")
_FUNCTION = re.compile(r"^\s*(?:async\s+)?(?:def|func|fn|function|class|impl)\b")
_BRACKETED = re.compile(r"(?:for|while)\s*\(")
_WORD = re.compile(r"""(?:"[^"]*"|'[^']*')|[$@]*[A-Za-z_]\w*""")
_KEYWORDS = re.compile(
    r"(?:for|while|until|loop|do|in|of|if|not|and|or|is|True|False|None|true|false|null|nil|range|len|let"
    r"|var|const|int|auto|mut|self|this|enumerate|size_t|unsigned|long|sizeof|await|async|\$this)\Z"
)
# A loop over what there is comes to its end by itself.
_EACH = re.compile(r"\bfor\b.*(?:\b(?:of|in|range)\b|\(\s*(?:const\s+)?\w[^;:]*[^:]:[^:])")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?\Z")
_TELLING = 3  # samples: of fewer, a direction is chance


class LoopSample(Struct, frozen=True):
    """One sample of a loop's frame: its line, and its variables."""

    line: int
    values: Mapping[str, str] = {}


class ChangedVariable(Struct, frozen=True):
    """A variable that changed between samples: its first and last values."""

    name: str
    first: str
    last: str


class Loop(Struct, frozen=True):
    """A loop of a busy thread."""

    # The line of the header.
    line: int
    text: str
    # The sampled lines.
    lines: tuple[int, ...]
    # The names in the header.
    names: tuple[str, ...] = ()
    changed: tuple[ChangedVariable, ...] = ()
    same: tuple[tuple[str, str], ...] = ()
    # The values that the header reads change in one direction.
    is_moving: bool = False

    @property
    def has_fixed_range(self) -> bool:
        """Whether the loop iterates over something fixed: then an outer loop is the endless one."""
        grows = any(one.name in self.names for one in self.changed)
        return not self.is_moving and not grows and _EACH.search(self.text) is not None


def find_loop(source: Sequence[str], rounds: Sequence[LoopSample]) -> Loop | None:
    """Return the loop around all samples of a frame; None if there is none."""
    lines = tuple(sorted({one.line for one in rounds}))
    headers = _loop_headers(source, lines)
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
        lines=lines,
        names=names,
        changed=tuple(sorted(changed, key=lambda one: one.name not in names)),
        same=tuple(sorted(same, key=lambda one: one[0] not in names)),
        is_moving=bool(moving & set(names)),
    )


def _loop_headers(source: Sequence[str], lines: Sequence[int]) -> list[int]:
    """Return the header lines of the loops around all sampled lines, innermost first."""
    if not lines or not 1 <= lines[0] <= lines[-1] <= len(source):
        return []
    bodies = [_body_indent(source[number - 1]) for number in lines]
    found = []
    least = min(bodies)
    # A loop within one line, as of minified code.
    text = source[lines[0] - 1]
    if len(lines) == 1 and (_IN_LINE.search(text) or _TRAILING.match(text)):
        return [lines[0]]
    if _is_header(source, lines[0]) and all(
        one > bodies[0] or number == lines[0] for one, number in zip(bodies, lines, strict=True)
    ):
        found.append(lines[0])
    for number in range(lines[0] - 1, 0, -1):
        text = source[number - 1]
        if text.strip() in {"", "{"}:  # a bracket on a line of its own hides no header
            continue
        indent = _indent_width(text)
        # Indentation stands for nesting, in any language: nothing is parsed.
        if indent >= least:
            continue
        least = indent
        if _is_header(source, number):
            found.append(number)
        if _FUNCTION.match(text) or not indent:
            break
    return found


def _body_indent(text: str) -> int:
    # The line that ends a loop with its condition belongs to the body.
    return _indent_width(text) + (1 if _LOOP_END.match(text) else 0)


def _is_header(source: Sequence[str], number: int) -> bool:
    text = source[number - 1]
    if _BEGIN.match(text):
        return bool(_end_condition(source, number))
    return _HEADER.match(text) is not None


def _indent_width(text: str) -> int:
    return len(text) - len(text.lstrip())


def _header_text(source: Sequence[str], number: int) -> str:
    """Return a loop's header; within a line up to its body, of `do` the condition behind it."""
    text = source[number - 1].strip()
    header = _HEADER.match(text)
    if _BEGIN.match(text) or (header is not None and header[1] in {"do", "repeat"}):
        return _end_condition(source, number) or text
    found = None if header else _WITHIN.search(text)
    return found[0].strip() if found else text


def _end_condition(source: Sequence[str], number: int) -> str:
    """Return the condition behind the body of `do`; empty where there is none, as in a shell."""
    indent = _indent_width(source[number - 1])
    for text in source[number - 1 :]:
        if _indent_width(text) > indent:
            continue
        found = _WITHIN.search(text)
        if found is not None:
            return found[0].strip(" ;\n")
        if text.strip() not in _NO_CONDITION and not _CLAUSE.match(text):
            break
    return ""


def _header_names(source: Sequence[str], number: int) -> tuple[str, ...]:
    text = _header_text(source, number)
    bracket = _BRACKETED.match(text)
    end = closing_bracket(text, bracket.end() - 1) if bracket is not None else -1
    # What a line does behind the condition is the body's.
    text = text[: end + 1] if end >= 0 else text
    words = [one for one in _WORD.findall(text) if one[0] not in "\"'"]
    return tuple(dict.fromkeys(one for one in words if not _KEYWORDS.match(one)))


def _sampled_values(rounds: Sequence[LoopSample], name: str) -> list[str]:
    return [one.values[name] for one in rounds if name in one.values]


def _compare_samples(
    rounds: Sequence[LoopSample],
) -> tuple[list[ChangedVariable], list[tuple[str, str]]]:
    """Return the changed variables, and those with the same value in every sample."""
    changed, same = [], []
    for name in dict.fromkeys(name for one in rounds for name in one.values):
        values = _sampled_values(rounds, name)
        if len(set(values)) > 1:
            # Of one that comes back to its first value, what it was between.
            last = next(one for one in reversed(values) if one != values[0])
            changed.append(ChangedVariable(name, values[0], last))
        # A variable that some samples lack says nothing.
        elif len(values) == len(rounds):
            same.append((name, values[0]))
    return changed, same


def _is_moving(values: Sequence[str]) -> bool:
    """Return whether values change in one direction, or are new each time."""
    distinct = [one for one, after in pairwise([*values, ""]) if one != after]
    # With so few values a direction may be chance.
    if len(distinct) < _TELLING:
        return False
    if all(_NUMBER.match(one) for one in distinct):
        steps = {float(after) > float(one) for one, after in pairwise(distinct)}
        return len(steps) == 1
    return len(set(distinct)) == len(distinct)


_EXPECTED = frozenset({"lock", "rwlock", "join", "task", "send", "receive"})
_LOCKS = frozenset({"lock", "rwlock", "file lock"})
# What is said before what is waited for, in its stead where it has no name, and behind it.
_WORDS: Mapping[str, tuple[str, str, str]] = {
    "lock": ("waits for", "a lock", ""),
    "futex": ("waits for", "something in its own memory", ""),
    "rwlock": ("waits for", "a lock of readers and writers", ""),
    "semaphore": ("waits for", "a semaphore", ""),
    "group": ("waits for", "a group", ""),
    "child": ("waits for", "a child process", ""),
    "tasks": ("waits for the tasks of", "a queue", "to be done"),
    "condition": ("waits for", "a condition", "to be signalled"),
    "event": ("waits for", "an event", "to be set"),
    "join": ("waits for", "a thread", "to end"),
    "signal": ("waits for", "a signal", ""),
    "future": ("awaits", "a future", ""),
    "task": ("awaits", "a task", ""),
    "receive": ("receives from", "a channel", ""),
    "send": ("sends to", "a channel", ""),
    "select": ("selects among", "channels", ""),
    "sleep": ("sleeps", "", ""),
    "loop": ("waits in", "its event loop", ""),
}
_CHAIN_MAX = 4  # threads of a cycle
_NAMED = 2  # owners of a wait


class ThreadWait(Struct, frozen=True):
    """The wait of a thread."""

    # The kind of wait, such as lock, join or io.
    kind: str
    # The awaited object as the source names it.
    text: str = ""
    # The keys of the threads that can end the wait, as far as known: the owner of the lock, the
    # joined thread.
    owners: tuple[str, ...] = ()


class ThreadActivity(Struct, frozen=True):
    """The activity of a thread, a goroutine or a task over all samples."""

    key: str
    name: str
    noun: str = "thread"
    # It wanted a processor at all times; None if this is unknown for a single thread.
    computes: bool | None = None
    wait: ThreadWait | None = None
    loop: Loop | None = None
    is_moving: bool = False  # its stacks differ, and no loop holds all of them
    is_own: bool = True  # some of its frames are of the program's own code


class HangVerdict(Struct, frozen=True):
    """The verdict on a hang: a kind, a sentence, its subject, and the participants in order."""

    kind: str
    text: str
    about: str | None = None
    chain: tuple[str, ...] = ()


def decide_verdict(activities: Sequence[ThreadActivity], *, computes: bool = False) -> HangVerdict:
    """Explain why a program hangs; the first activity is the main one.

    `computes`: some thread of the process wanted a processor at all times.
    """
    by_key = {one.key: one for one in activities}
    # First, because a deadlock is certain, whatever else computes beside it.
    cycle = _find_cycle(by_key)
    if cycle:
        return HangVerdict("deadlock", _cycle_text(cycle, by_key), cycle[0], cycle)
    busy = _find_busy(activities, computes=computes)
    if busy is not None:
        return _busy_verdict(busy)
    if not activities:
        return HangVerdict("unknown", "nothing of its threads can be seen")
    chain = _waiting_chain(_choose_subject(activities, by_key), by_key)
    last = by_key[chain[-1]]
    text = _chain_text(chain, by_key)
    if last.key in _find_stuck(by_key):
        return HangVerdict("deadlock", f"deadlock: {text}", last.key, chain)
    return HangVerdict(_verdict_word(last), text, last.key, chain)


def _find_cycle(by_key: Mapping[str, ThreadActivity]) -> tuple[str, ...]:
    """Return the threads that wait for each other in a cycle, from the first one on."""
    for first in by_key:
        path = [first]
        while True:
            wait = by_key[path[-1]].wait
            known = [one for one in wait.owners if one in by_key] if wait is not None else []
            # Where any of several may end a wait, one that can is enough.
            # An event loop waits for any of its tasks.
            if wait is None or wait.kind == "loop" or len(known) != 1:
                break
            if known[0] == first:
                return tuple(path)
            if known[0] in path:
                break
            path.append(known[0])
    return ()


def _find_stuck(by_key: Mapping[str, ThreadActivity]) -> set[str]:
    """Return the threads whose waits only other waiting threads can end.

    A wait with an unknown owner may end, so its thread is not among them.
    """
    # A fixed point: a thread is free if any thread that could end its wait is free. Of a semaphore
    # not all holders may be known.
    free = {one.key for one in by_key.values() if one.wait is None or not one.wait.owners}
    while True:
        more = {
            key
            for key, one in by_key.items()
            if key not in free
            and one.wait is not None
            and (free & set(one.wait.owners) or (free and one.wait.kind == "semaphore"))
        }
        if not more:
            return set(by_key) - free
        free |= more


def _find_busy(activities: Sequence[ThreadActivity], *, computes: bool) -> ThreadActivity | None:
    computing = [one for one in activities if one.computes]
    # A computing thread in a known loop explains more than one without.
    if computing:
        return next((one for one in computing if one.loop is not None), computing[0])
    running = [one for one in activities if one.wait is None and one.computes is None]
    return running[0] if computes and running else None


def _busy_verdict(one: ThreadActivity) -> HangVerdict:
    found = one.loop
    if found is None:
        word = "slow but moving" if one.is_moving else "busy"
        kind = "moving" if one.is_moving else "busy"
        # Where a stack is the same in each sample, a loop may be in one line, or in a library.
        same = "no loop of several lines is seen"
        text = "its stacks differ from sample to sample" if one.is_moving else same
        return HangVerdict(kind, f"{word}: {one.name} computes, and {text}", one.key, (one.key,))
    if found.is_moving:
        moved = [each for each in found.changed if each.name in found.names]
        text = ", ".join(f"{each.name} {each.first} → {each.last}" for each in moved[:3])
        return HangVerdict(
            "moving", f"slow but moving: {text} in {_shorten_text(found.text)}", one.key
        )
    return HangVerdict(
        "busy", f"busy loop: {_shorten_text(found.text)} {_describe_unchanged(found)}", one.key
    )


def _describe_unchanged(found: Loop) -> str:
    """Describe the parts of a loop's condition that do not approach its end."""
    if not found.names:
        return "has no condition"
    known = {name: value for name, value in found.same if name in found.names}
    changed = [each for each in found.changed if each.name in found.names]
    if known and not changed:
        text = " ".join(f"{name}={value}" for name, value in list(known.items())[:4])
        return f"never changes {text}"
    if changed:
        text = ", ".join(f"{each.name} {each.first} → {each.last}" for each in changed[:3])
        return f"goes back and forth: {text}"
    return "does not end"


def _shorten_text(text: str) -> str:
    return f"`{text.rstrip(' {')[:80]}`"


def _choose_subject(
    activities: Sequence[ThreadActivity], by_key: Mapping[str, ThreadActivity]
) -> ThreadActivity:
    """Return the main activity; where only a library runs in it, the longest chain of waits."""
    own = [one for one in activities if one.is_own]
    if activities[0].is_own or not own:
        return activities[0]
    return max(own, key=lambda one: len(_waiting_chain(one, by_key)))


def _waiting_chain(first: ThreadActivity, by_key: Mapping[str, ThreadActivity]) -> tuple[str, ...]:
    """Follow the owners of waits from one thread on."""
    path = [first.key]
    while True:
        wait = by_key[path[-1]].wait
        owners = wait.owners if wait is not None else ()
        rest = [one for one in owners if one in by_key and one not in path]
        if not rest:
            return tuple(path)
        # Who waits for what need not end says more than who sleeps between two looks.
        path.append(min(rest, key=lambda one: _rank_activity(by_key[one])))


def _rank_activity(one: ThreadActivity) -> int:
    if one.wait is None:
        return 2
    return 0 if one.wait.kind in _EXPECTED or one.wait.kind == "future" else 1


def _verdict_word(last: ThreadActivity) -> str:
    """Return the verdict's kind for the activity of a chain's last thread."""
    if last.wait is None:
        return "running"
    kind = last.wait.kind
    return {"sleep": "sleeping"}.get(kind, kind if kind in {"io", "child"} else "waiting")


def _cycle_text(cycle: Sequence[str], by_key: Mapping[str, ThreadActivity]) -> str:
    first = by_key[cycle[0]]
    if len(cycle) == 1 and first.wait is not None and first.wait.kind == "future":
        return f"deadlock: {first.name} {describe_what_is_awaited(first.wait)}"
    if len(cycle) == 1:
        return (
            f"deadlock: {first.name} {describe_what_is_awaited(first.wait)}, which it holds itself"
        )
    text = "; ".join(_with_owner(by_key[key], by_key) for key in cycle[:_CHAIN_MAX])
    return f"deadlock of {len(cycle)} {first.noun}s: {text}"


def _chain_text(chain: Sequence[str], by_key: Mapping[str, ThreadActivity]) -> str:
    shown = chain if len(chain) <= _CHAIN_MAX else (*chain[:1], *chain[1 - _CHAIN_MAX :])
    links = [by_key[key] for key in shown]
    if len(links) > 1 and links[0].wait is not None and links[0].wait.kind == "loop":
        links = links[1:]
    return "; ".join(_with_owner(one, by_key) for one in links)


def _with_owner(one: ThreadActivity, by_key: Mapping[str, ThreadActivity]) -> str:
    names = {key: other.name for key, other in by_key.items()}
    return f"{one.name} {describe_wait(one.wait, names)}"


def describe_wait(wait: ThreadWait | None, names: Mapping[str, str]) -> str:
    """Describe a wait, and the threads that can end it, by their names."""
    if wait is None:
        return "runs"
    owners = [names[one] for one in wait.owners if one in names]
    # A future that has not begun waits for a place in its pool, which nobody need give.
    has_runner = wait.kind != "future" or wait.text.endswith("runs")
    if not owners or wait.kind == "loop" or not has_runner:
        return describe_what_is_awaited(wait)
    more = [f"{len(owners) - _NAMED} more"] if len(owners) > _NAMED else []
    word = " and " if wait.kind in {"task", "join", "semaphore"} else " or "
    some = word.join([*owners[:_NAMED], *more])
    if wait.kind in _LOCKS or wait.kind == "semaphore":
        return f"{describe_what_is_awaited(wait)}, held by {some}"
    if wait.kind == "join":
        return f"waits for {some} to end"
    if wait.kind == "task":
        return f"awaits {some}"
    return (
        f"{describe_what_is_awaited(wait)} in {some}"
        if wait.kind == "future"
        else _ended_by(wait, some)
    )


def _ended_by(wait: ThreadWait, some: str) -> str:
    return f"{describe_what_is_awaited(wait)}, which {some} could end"


def describe_what_is_awaited(wait: ThreadWait | None) -> str:
    """Describe the awaited object or event."""
    if wait is None:
        return "runs"
    if wait.kind not in _WORDS:
        return wait.text or f"waits ({wait.kind})"
    before, otherwise, after = _WORDS[wait.kind]
    return " ".join(filter(None, [before, wait.text or otherwise, after]))
