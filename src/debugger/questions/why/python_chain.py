"""Builds the chain of links behind a Python value. Pure, but for reading source."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from debugger.model.answers.frames import FrameView
from debugger.questions.why import shared_objects
from debugger.questions.why.answer import (
    ChainEnd,
    LinkCertainty,
    LinkKind,
    ValueOperand,
    Why,
    WhyLink,
    chain_cause,
)
from debugger.questions.why.followed_part import CONSTANT, FollowedPart
from debugger.questions.why.origin_records import (
    OpenEnd,
    OriginLinkRecord,
    OriginRecord,
    statement_at,
)

_GUILTY = frozenset({"nan", "inf", "-inf", "None", "''", "b''"})
_OPERANDS_SHOWN = frozenset(
    {"computed", "library", "drawn", "copied", "new", "unrecorded", "selected"}
)
# Of these the first value that was read is followed.
_FOLLOWING = frozenset({"copy", "part", "selected", "missed", "drawn"})
_OF_CONTAINERS = frozenset({"library", "drawn"})  # they may take the items of a container
# With these an item stays one: names, arguments, and containers made of others.
_KEEPING = frozenset({"copy", "new", "copied"})
_PLACES_ALL, _DEPTH_ALL = 8, 4  # the same with --all, and the links behind each
_CONTENTS = 3  # writes into a container
_PLACES = 5  # operands whose own writes are named
_DISPLAY = re.compile(r"[\[{(]|\w+\(")
_OBJECT = re.compile(r" #\d+$")
_BUFFER = re.compile(r"(?:BytesIO|StringIO) #")
_PLAIN = re.compile(r"-?\d|True|False|nan|b?['\"]")
_TEXT = re.compile(r"b?['\"]")
_CHAIN = re.compile(r"[A-Za-z_][\w.\[\]'\"]*")
_UNSEEN = "nothing of the program's own code was seen to set it"
_STALE = "code that ran after it was not recorded: it may have set the same value again"
_NOT_OWN = "it came from code that is not the program's own"


class _ChainBuilder:
    """Walks from the value back, one link at a time."""

    def __init__(
        self, record: OriginRecord, threads: Mapping[int, str], most: int, *, shows_all: bool
    ) -> None:
        self._record = record
        self._shows_all = shows_all
        self._threads = threads
        self._most = most
        self._part = FollowedPart(record)
        self._stacks: set[tuple[tuple[str, str, int], ...]] = set()
        self.links: list[WhyLink] = []
        self.ended = ChainEnd.NOT_FOLLOWED
        self.ending: str | None = None
        self.open_end: OpenEnd | None = None
        self._is_guessed = False  # the operand that is followed only has the same value
        self._is_of_part = False  # the whole was followed, because a part's writing was not seen
        self._is_in_items = False  # an item of a container is followed
        self._rounds = 0  # of a loop, folded into the last link
        self.last: OriginLinkRecord | None = None
        self._readers: dict[tuple[str, str], OriginLinkRecord] = {}  # by file and function

    def build(self) -> None:
        """Follow the value up to an end, or to the most links."""
        record = self._record
        root = OriginLinkRecord(
            kind="value", how=record.how, value=record.value, note=record.note,
            sources=record.sources, frame=record.frame_number, through=record.through,
        )  # fmt: skip
        before, number = root, self._next(root)
        visited: set[int] = set()
        while number is not None:
            if len(self.links) >= self._most or number in visited:
                self.ended = ChainEnd.BOUND
                self.ending = f"after {len(self.links)} links"
                return
            visited.add(number)
            link = self.last = record.links[number]
            self._part.note_link(link)
            following = self._next(link, before if before.kind == "part" else None)
            view = self._view(link, following)
            shared = (*self._alias_text(before, link), *self._cache_text(link))
            self._add_view(msgspec.structs.replace(view, details=(*shared, *view.details)))
            if link.kind in {"name", "returned"} and link.place is not None:
                self._readers[link.place[:2]] = link
            before, number = link, following
            self._is_in_items = link.kind == "part" or (self._is_in_items and link.how in _KEEPING)
            self._is_of_part |= link.kind == "part" and link.inferred
        is_plain = _PLAIN.match(record.value or "") is not None
        if self._is_of_part and is_plain and self.ended is ChainEnd.ALLOCATION:
            self._end(ChainEnd.NOT_FOLLOWED, "what gave the part its value was not seen")

    def describe_contents(self) -> str:
        """Say where items were put into the value, a container; empty where links say so."""
        known = {(one.frame.file, one.frame.line) for one in self.links if one.frame is not None}
        places = {
            link.place: None
            for link in (self._record.links[number] for number in self._record.contents)
            if link.place is not None and (link.place[0], link.place[2]) not in known
        }
        shown = [
            f"{Path(one[0]).name}:{one[2]} `{statement_at(one)}`"
            for one in list(places)[-_CONTENTS:]
        ]
        return f"items were put in at {', '.join(shown)}" if shown else ""

    def _next(self, link: OriginLinkRecord, part: OriginLinkRecord | None = None) -> int | None:
        """Return the number of the link behind one, or end the chain.

        Where a part of a new container is followed, it goes on with what that was made of.
        """
        self._is_guessed = False
        if link.note == "cut":
            return self._end(ChainEnd.BOUND, "older links of this chain were dropped")
        piece = self._part.enter_piece(link)
        if piece is not None:
            is_constant = piece == CONSTANT
            return self._end(ChainEnd.CONSTANT, "a text of the source") if is_constant else piece
        is_part = part is not None or self._is_in_items
        is_made = is_part and link.how == "new" and bool(link.sources)
        end = self._find_end(link) if not is_made and self._used_up(link) is None else None
        if end is not None:
            return self._end(*end)
        item = self._part_of(link)
        if item is not None:
            return item
        is_read = link.how in _FOLLOWING
        return self._read_value(link) if is_read else self._guilty_operand(link, part)

    def _read_value(self, link: OriginLinkRecord) -> int | None:
        """Return the link of the value that a link read; end the chain without one."""
        text, number, value = link.sources[0]
        if link.how == "drawn" and _BUFFER.match(value or ""):
            self.open_end = OpenEnd(link, (text,), reads_buffer=True)
        if link.kind == "part":
            self._note_open(link, text)
        if number >= 0:
            return number
        self._note_open(link, text)
        return self._end(ChainEnd.NOT_FOLLOWED, f"{text or 'it'}: {_UNSEEN}")

    def _part_of(self, link: OriginLinkRecord) -> int | None:
        """Return the operand that has the followed part or item; None if none is known to."""
        for find in (self._item_of, self._used_up):
            found = find(link)
            if found is not None:
                return found
        return None

    def _item_of(self, link: OriginLinkRecord) -> int | None:
        """Return the item with the followed value, of the container that a function took.

        A result that is this value itself, as a sum or a length, was made of all items.
        """
        if link.how not in _OF_CONTAINERS or link.value == self._record.value:
            return None
        for text, number, value in link.sources:
            if not text and number >= 0 and value == self._record.value:
                self._is_guessed = True
                return number
        return None

    def _used_up(self, link: OriginLinkRecord) -> int | None:
        """Return the statement that had used up an iterator before an empty container was made."""
        if link.how not in {"new", "copied", "library", "drawn", "computed"}:
            return None
        numbers = [number for _, number, _ in link.sources if number >= 0]
        return next((one for one in numbers if self._record.links[one].kind == "used up"), None)

    def _note_open(self, link: OriginLinkRecord, *unseen: str) -> None:
        """Keep the first place that a recording of more of the run may explain."""
        if self.open_end is None:
            self.open_end = OpenEnd(link, unseen)

    def _end(self, end: ChainEnd, text: str | None) -> int | None:
        """End the chain; None is the number of no link."""
        self.ended, self.ending = end, text
        return None

    def _find_end(self, link: OriginLinkRecord) -> tuple[ChainEnd, str | None] | None:
        """Return the end that a link is; None if there are links behind it."""
        if link.how == "default":
            if _DISPLAY.match(link.note):
                text = f"the default {link.note} is one object, made with the function"
                return ChainEnd.ALLOCATION, f"{text}, and shared by all calls without the argument"
            return ChainEnd.CONSTANT, f"the call does not give it: the default {link.note}"
        known = {
            "constant": (ChainEnd.CONSTANT, link.note or None),
            "new": (ChainEnd.ALLOCATION, None),
            "input": (ChainEnd.INPUT, self._part.describe_input(link.note)),
            "removed": (ChainEnd.NOT_FOLLOWED, "what was in it before is gone"),
        }
        is_item = link.how == "new" and not link.sources and _PLAIN.match(link.value or "")
        if link.how in known:  # an item of a display of constants is one
            return known["constant" if is_item else link.how]
        if link.how == "unrecorded":
            self._note_open(link)
            return ChainEnd.BOUND, f"the call of {link.note} was not recorded"
        if link.sources and link.how:
            return None
        self._note_open(link)
        is_library = link.how == "library"
        text = f"{link.note}() of a library made it, of constants" if is_library else _NOT_OWN
        return ChainEnd.NOT_FOLLOWED, text

    def _guilty_operand(
        self, link: OriginLinkRecord, part: OriginLinkRecord | None = None
    ) -> int | None:
        """Return the operand that explains the value: it alone, the same value, NaN or None.

        Of a container whose part is followed it is the one with the part's value.
        """
        known = [one for one in link.sources if one[1] >= 0 and not self._is_definition(one[1])]
        if link.how in _OF_CONTAINERS:
            known = [one for one in known if one[0]]  # a sum or a length is none of the items
        unseen = [one for one in link.sources if one[1] < 0 and one[2] == link.value]
        if len(known) == 1 and unseen and known[0][2] != link.value:
            self._note_open(link, unseen[0][0])
            return self._end(ChainEnd.NOT_FOLLOWED, f"{unseen[0][0]}: {_UNSEEN}")
        if len(known) == 1:
            return known[0][1]
        wholes = {self._record.links[number].sources[0][1] if self._is_part(number) else -1
                 for _, number, _ in known}  # fmt: skip
        if len(wholes) == 1 and min(wholes) >= 0:
            return known[0][1]  # all are parts of one value
        same = [one for one in known if one[2] == link.value]
        if not same and link.how == "computed":
            same = self._largest_text(link, known)
            self._is_guessed = bool(same)
        if part is not None and not same:
            same = [one for one in known if one[2] == part.value]
            self._is_guessed = bool(same)
        guilty = [one for one in known if one[2] in _GUILTY]
        chosen = guilty if guilty and link.value in _GUILTY else same or guilty
        is_clear = len({one[1] for one in chosen}) == 1
        found = chosen[0][1] if is_clear else self._iterated(link)
        if found is not None:
            return found
        if not known:
            self._note_open(link, *(one[0] for one in link.sources))
            return self._end(ChainEnd.NOT_FOLLOWED, _NOT_OWN)
        names = dict.fromkeys(one[0] for one in known if _CHAIN.fullmatch(one[0]))
        place = f"{Path(link.place[0]).name}:{link.place[2]}" if link.place else ""
        hint = f": debugger why {next(iter(names))} --at {place} -- CMD" if names and place else ""
        return self._end(ChainEnd.NOT_FOLLOWED, f"none of its operands stands out{hint}")

    def _is_part(self, number: int) -> bool:
        link = self._record.links[number]
        return link.kind == "part" and bool(link.sources)

    def _largest_text(
        self, link: OriginLinkRecord, known: Sequence[tuple[str, int, str | None]]
    ) -> list[tuple[str, int, str | None]]:
        """Return the operand that most of a joined text or of joined bytes is.

        Only where a part of them is followed, and not the value that was asked for.
        """
        value = link.value or ""
        if value == self._record.value or not _TEXT.match(value):
            return []
        return [
            one
            for one in known
            if _TEXT.match(one[2] or "")
            and (one[2] or "")[:-1].lstrip("b")[1:] in value
            and 2 * len(one[2] or "") > len(value)
        ]

    def _is_definition(self, number: int) -> bool:
        return self._record.links[number].kind == "definition"

    def _iterated(self, link: OriginLinkRecord) -> int | None:
        """Return what a comprehension went through, of which a part is followed; else None."""
        if link.how != "new" or len(link.sources) < 2:  # noqa: PLR2004 - there is no choice
            return None
        text = statement_at(link.place)
        for name, number, _ in link.sources:
            if number >= 0 and re.search(rf" in {re.escape(name)}(?![\w.(\[])", text):
                self._is_guessed = True
                return number
        return None

    def _add_view(self, view: WhyLink) -> None:
        """Add a link; the rounds of a loop that leave a value as it is are one link."""
        before = self.links[-1] if self.links else None
        if before is None or not _is_round_before(view, before):
            self._rounds = 0
            self.links.append(view)
            return
        self._rounds += 1
        rounds = f"{self._rounds:,} later round{'s' * (self._rounds > 1)}"
        is_object = _OBJECT.search(view.new or "") is not None  # which may have been changed
        rounds += " gave the same object" if is_object else " left the value as it is"
        self.links[-1] = msgspec.structs.replace(
            before, operands=view.operands, old=view.old, details=(rounds, *view.details)
        )

    # -- views -------------------------------------------------------------------------------------

    def _view(self, link: OriginLinkRecord, following: int | None) -> WhyLink:
        frame = FrameView(0, link.place[1], link.place[0], link.place[2]) if link.place else None
        before = self.links[-1].frame if self.links else None
        is_same_line = before is not None and frame is not None and before == frame
        kind = _link_kind(link)
        has_change = kind is LinkKind.WRITTEN
        is_inferred = self._is_guessed or _is_inferred(link)
        return WhyLink(
            kind=kind,
            certainty=LinkCertainty.INFERRED if is_inferred else LinkCertainty.SEEN,
            text=_link_text(link),
            frame=frame,
            statement="" if is_same_line else statement_at(link.place),
            thread=self._thread_text(link.thread),
            stack=self._new_stack(link),
            old=link.old if has_change else None,
            new=link.value if has_change else None,
            details=tuple(self._details(link, following)),
            operands=self._operands(link, following),
        )

    def _new_stack(self, link: OriginLinkRecord) -> tuple[FrameView, ...]:
        """Return the callers, unless a link before has them."""
        if link.stack in self._stacks or link.kind == "part":
            return ()
        self._stacks.add(link.stack)
        return tuple(
            FrameView(at, function, file, line)
            # Code without a file calls what it was sent, as in a worker of pytest-xdist.
            for at, (file, function, line) in enumerate(link.stack, 1)
            if file and not Path(file).name.startswith("<")
        )

    def _thread_text(self, number: int) -> str | None:
        if len(self._threads) < 2 or not number:  # noqa: PLR2004 - one thread needs no name
            return None
        name = self._threads.get(number, "")
        return f'{number} "{name}"' if name else str(number)

    def _operands(self, link: OriginLinkRecord, following: int | None) -> tuple[ValueOperand, ...]:
        if link.how not in _OPERANDS_SHOWN:
            return ()
        return tuple(
            ValueOperand(text or "an item", value, is_followed=number == following and number >= 0)
            for text, number, value in link.sources
            if number < 0 or not self._is_definition(number)
        )

    def _details(self, link: OriginLinkRecord, following: int | None) -> list[str]:
        found = []
        if link.stale:
            found.append(_STALE)
        if link.kind == "part" and link.inferred:
            found.append(f"{link.name or 'it'}: {_UNSEEN}; the whole is followed")
        if link.kind == "value" and link.note == "equal":
            found.append("by its content, which was written there: how it came here was not seen")
        if self._shows_all or (following is None and link.how != "new"):
            found += self._operand_origins(link, following)
        return found

    def _alias_text(self, reader: OriginLinkRecord, write: OriginLinkRecord) -> tuple[str, ...]:
        """Say how the object that a write changed is also the one that a link read from."""
        if reader.through < 0 or write.owner < 0 or reader.through == write.owner:
            return ()
        first, second = (self._handed_on(one) for one in (write.owner, reader.through))
        names = [self._record.links[one].name for one in (write.owner, reader.through)]
        what = (
            f"{names[0]} is the same object as {names[1]}"
            if names[0] != names[1]
            else (f"two {names[0]} are one object")
        )
        if reader.through in first:
            steps = first[: first.index(reader.through)]
        elif write.owner in second:
            steps = second[: second.index(write.owner)]
        else:
            common = next((one for one in first if one in second), None)
            steps = first[: first.index(common)] if common is not None else first
        texts = [self._step_text(one) for one in steps]
        return (f"{what}: {' < '.join(one for one in texts if one)}",)

    def _cache_text(self, write: OriginLinkRecord) -> tuple[str, ...]:
        """Say that another call of a function stored what a later one read."""
        if write.kind not in {"item", "stored"}:
            return ()
        for place in shared_objects.places_of(write):
            read = self._readers.get(place[:2])
            if read is not None and write.calls[1] < read.frame:
                return (shared_objects.describe_cache(self._record.links, read, place),)
        return ()

    def _handed_on(self, number: int) -> list[int]:
        """Return the links that handed one object on, from a link back."""
        found = []
        value = self._record.links[number].value
        while number >= 0 and number not in found and self._record.links[number].value == value:
            found.append(number)
            link = self._record.links[number]
            number = link.sources[0][1] if link.how == "copy" and link.sources else -1
        return found

    def _step_text(self, number: int) -> str:
        """Return a link in a few words, with its statement."""
        link = self._record.links[number]
        if link.place is None or link.kind == "argument":
            return ""
        place = f"{Path(link.place[0]).name}:{link.place[2]}"
        mark = " [inferred]" if _is_inferred(link) else ""
        if link.kind != "returned":
            return f"set at {place}{mark}"
        return f"{_link_text(link)}, {place} `{statement_at(link.place)}`{mark}"

    def _operand_origins(self, link: OriginLinkRecord, following: int | None) -> list[str]:
        """Return where each operand comes from, but for the one that is followed."""
        found: list[str] = []
        most, depth = (_PLACES, 1) if not self._shows_all else (_PLACES_ALL, _DEPTH_ALL)
        for text, number, value in link.sources[:most] if link.how in _OPERANDS_SHOWN else ():
            if number >= 0 and number != following and not self._is_definition(number):
                steps = self._operand_steps(number, depth)
                shown = text if value is None else f"{text}={value}"
                found += [f"{shown}: {' < '.join(steps)}"] if steps else []
        return found

    def _operand_steps(self, number: int, depth: int) -> list[str]:
        """Return the first links behind an operand, each in a few words."""
        steps: list[str] = []
        while number >= 0 and len(steps) < depth:
            link = self._record.links[number]
            if link.place is not None:
                mark = "" if not _is_inferred(link) else " [inferred]"
                place = f"{Path(link.place[0]).name}:{link.place[2]}"
                steps.append(f"{_link_text(link)}, {place}{mark}")
            number = link.sources[0][1] if len(link.sources) == 1 else -1
        return steps


def _is_round_before(link: WhyLink, later: WhyLink) -> bool:
    """Return whether a link is the same statement, in an earlier round, with the same value."""
    return (
        link.kind is LinkKind.WRITTEN
        and link.frame == later.frame
        and (link.text, link.new, link.certainty) == (later.text, later.new, later.certainty)
    )


_KINDS: Mapping[str, LinkKind] = {
    "argument": LinkKind.PASSED,
    "returned": LinkKind.RETURNED,
    "yielded": LinkKind.RETURNED,
    "part": LinkKind.LOADED,
    "made": LinkKind.ALLOCATED,
    "input": LinkKind.INPUT,
    "definition": LinkKind.OTHER,
    "emptied": LinkKind.EMPTIED,
    "taken out": LinkKind.EMPTIED,
    "used up": LinkKind.EMPTIED,
    "cached": LinkKind.LOADED,
    "called": LinkKind.OTHER,
    "value": LinkKind.COMPUTED,
}
_TEXTS: Mapping[str, str] = {
    "name": "assigned to {name}",
    "global": "assigned to the global {name}",
    "field": "set as {name}",
    "item": "set as item {name}",
    "stored": "stored by {name}",
    "emptied": "the last item taken out of {name}",
    "taken out": "{note} taken out of {name}",
    "used up": "{name} used up: later uses of it get nothing",
    "class attribute": "class attribute {name}, shared by all instances",
    "loop": "{name}: the element of this round",
    "part": "{name} of the value before",
    "made": "made by {callee}",
    "cached": "the cache of {callee} gave the result of an earlier call again",
    "called": "{name} called on it",
    "value": "{name}",
    "definition": "{name} is defined",
}


# What outlives the call that wrote it.
_STORED = frozenset({"field", "item", "stored", "class attribute", "global"})


def _is_inferred(link: OriginLinkRecord) -> bool:
    return link.inferred or link.stale or link.how == "drawn"


def _link_kind(link: OriginLinkRecord) -> LinkKind:
    if link.how == "input":
        return LinkKind.INPUT
    if link.how in {"missed", "selected"}:  # the key is another value
        return LinkKind.COMPUTED
    return _KINDS.get(link.kind, LinkKind.WRITTEN)


def _missed_text(link: OriginLinkRecord) -> str:
    """Say which key a lookup did not find, so that it gave its default."""
    if link.how != "missed" or not link.sources:
        return ""
    key, _, value = link.sources[0]
    return f": {link.note} has no key {value if key == value else f'{key}={value}'}"


def _merged_text(link: OriginLinkRecord) -> str:
    """Say which operand of a merged container gave an item, and which other one has the key."""
    operand, _, other = link.note.partition("\0")
    return f"item {link.name} taken from {operand}{f', overriding {other}' if other else ''}"


def _link_text(link: OriginLinkRecord) -> str:
    call = f" (call {link.call:,})" if link.call > 1 else ""
    if link.kind == "argument":
        if link.how == "default":
            return f"default of {link.name} of {link.callee}{call}"
        is_library = link.note == "library" or (link.inferred and link.note != "unpacked")
        by = " by a library's code" if is_library else ""
        return f"passed as {link.name} to {link.callee}{by}"
    if link.kind in {"returned", "yielded"}:
        return f"{link.kind} by {link.callee}{call}{_missed_text(link)}"
    if link.kind == "input":
        return f"read from {link.note}"
    text = _TEXTS.get(link.kind, "{name}").format(
        name=link.name, callee=link.callee, note=link.note
    )
    text = _merged_text(link) if link.kind == "merged" else text
    text += _missed_text(link)
    if link.kind in _STORED and link.runs > 1 and link.place is not None:
        text += f" in call {link.call:,} of {link.runs:,}"
    if link.how == "drawn" and link.kind != "called":
        return f"{text}, made by {link.note} of {link.sources[0][0]}"
    return f"{text}, read from {link.note}" if link.how == "input" else text


def build_chain(
    expression: str,
    place: str,
    record: OriginRecord,
    threads: Mapping[int, str],
    most: int,
    *,
    shows_all: bool = False,
) -> tuple[Why, OpenEnd | None]:
    """Build the answer from the recorder's graph, without the facts of the run."""
    builder = _ChainBuilder(record, threads, most, shows_all=shows_all)
    builder.build()
    contents = builder.describe_contents()
    ending = "; ".join(one for one in (builder.ending, contents) if one) or None
    file, function, line = record.frame
    part, value, other = record.departs or ("", record.value, None)
    answer = Why(
        expression=f"{expression}{part}",
        place=place,
        cause=_cause(f"{expression}{part}={value}", builder.links, ending),
        value=value,
        other=other,
        frame=FrameView(0, function, file, line),
        event=record.error,
        links=tuple(builder.links),
        ended=builder.ended,
        ending=ending,
    )
    end = builder.open_end
    if end is not None and builder.last is not None:
        end = msgspec.structs.replace(end, oldest=builder.last.calls[0])
    return answer, end


def _cause(value: str, links: Sequence[WhyLink], ending: str | None) -> str:
    otherwise = f"{value}: {ending or 'it is a constant of the expression'}"
    return chain_cause(value, links, otherwise)
