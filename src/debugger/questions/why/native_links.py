"""Builds the links of a native value's chain from events, positions and statements."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from debugger.model.answers.frames import FrameView
from debugger.questions.why import native_values, statement_origin
from debugger.questions.why.answer import ChainEnd, LinkCertainty, LinkKind, ValueOperand, WhyLink
from debugger.questions.why.native_steps import ReachedEnd, ValuePosition
from debugger.questions.why.statement_origin import OriginKind, StatementOrigin
from debugger.questions.why.traced_run import TraceEvent, TraceFrame, TraceValue

LINE_ASK = "debugger why '{}' --at {}:{} -- CMD"
_OPERANDS = 4
_NESTED_MAX = 8  # brackets within brackets
# One call, or a chain of them, without its brackets.
_HANDED_ON = re.compile(r"[*&\s]*[A-Za-z_][\w.:?]*(?:->[\w.:?]+)*")
# The last items in brackets of a statement, and one that is a constant.
_LAST_ITEMS = re.compile(r"[{\[]([^{}\[\]]+)[}\]][\s)}\]]*;?\s*$")
_ITEM = re.compile(r"-?[\d.][\w.']*|\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)+'|nullptr|NULL|true|false")
_CONDITIONAL = re.compile(r"(?:\}\s*)?(?:if|else|case|default|while|switch)\b")


class NativeLinks:
    """The links of a chain so far."""

    def __init__(self) -> None:
        self.links: list[WhyLink] = []
        # The event of the last link; None for the location of the question.
        self.moment: TraceEvent | None = None

    def add_write(  # noqa: PLR0917 - the parts of a link
        self,
        event: TraceEvent,
        target: ValuePosition,
        text: str,
        index: int | None,
        details: Sequence[str],
        threads: int,
        *,
        kind: LinkKind = LinkKind.WRITTEN,
        operands: tuple[ValueOperand, ...] = (),
    ) -> None:
        """Add the link of a write that a watchpoint has seen."""
        self.moment = event
        frame = event.frames[index] if index is not None else event.frames[0]
        name = target.value.kind
        thread = f'{event.thread} "{event.thread_name}"' if threads > 1 else None
        self.links.append(
            WhyLink(
                kind,
                observed(target),
                text,
                frame=native_values.frame_view(frame),
                statement=frame.statement,
                thread=thread,
                stack=native_values.callers_of(event.frames, index or 0),
                old=native_values.format_bytes(event.old, name),
                new=native_values.format_bytes(event.new, name),
                details=tuple(details),
                operands=operands,
            )
        )

    def add(
        self,
        kind: LinkKind,
        position: ValuePosition,
        text: str,
        frame: TraceFrame,
        *,
        statement: str = "",
        new: str | None = None,
        stack: tuple[FrameView, ...] = (),
        operands: tuple[ValueOperand, ...] = (),
    ) -> None:
        """Add the link of a position, by its certainty."""
        self.moment = position.event
        self.links.append(
            WhyLink(
                kind,
                position.certainty,
                text,
                frame=native_values.frame_view(frame),
                statement=statement,
                new=new,
                stack=stack,
                operands=operands,
            )
        )

    def explain_read(self, event: TraceEvent, position: ValuePosition) -> ReachedEnd:
        """Add the link of a system call that read into the memory, which is the chain's end."""
        own = event.own
        source = native_values.describe_source(event) or f"descriptor {event.descriptor}"
        self.links.append(
            WhyLink(
                LinkKind.INPUT,
                LinkCertainty.RERUN,
                f"read in by the system call {event.call}",
                frame=native_values.frame_view(own) if own is not None else None,
                statement=own.statement if own is not None else "",
                new=position.value.text,
                details=(f"from {source} ({event.bytes:,} bytes read)",),
            )
        )
        return ReachedEnd(ChainEnd.INPUT, source)


def describe_origin(origin: StatementOrigin) -> tuple[LinkKind, str]:
    """Return the kind of a link by a statement's right side, and its words."""
    return {
        OriginKind.CONSTANT: (LinkKind.WRITTEN, "written: a literal"),
        OriginKind.OPERAND: (LinkKind.COPIED, f"copied from {origin.text}"),
        OriginKind.CALL: (LinkKind.RETURNED, f"the result of {origin.function}"),
        OriginKind.COMPUTED: (LinkKind.COMPUTED, "computed"),
    }.get(origin.kind, (LinkKind.WRITTEN, "written"))


def literal_end(position: ValuePosition) -> ReachedEnd | None:
    """Return the end at an item of a literal that has nothing but constants: `new Box{7, 100}`."""
    frame, value = position.frame, position.value
    inner = _LAST_ITEMS.search(frame.statement)
    items = statement_origin.split_arguments(inner[1]) if inner is not None else ()
    texts = [re.sub(r"^\.?[A-Za-z_]\w*\s*[:=](?!:)\s*", "", one.strip()) for one in items]
    if not value.number or not all(_ITEM.fullmatch(one) for one in texts):
        return None
    contents = {one: native_values.number_bytes(one, value.kind, value.size) for one in texts}
    equal = [one for one, content in contents.items() if content and content == value.bytes]
    if not equal:
        return None
    place = f"{Path(frame.file or '?').name}:{frame.line}"
    return ReachedEnd(ChainEnd.CONSTANT, f"{equal[0]} is a literal at {place}")


def describe_sum(
    origin: StatementOrigin, read: Mapping[str, TraceValue], position: ValuePosition
) -> ReachedEnd:
    """Return the end at a sum, with its operands' values and how to go on with one of them."""
    literal = None if read else literal_end(position)
    if literal is not None:
        return literal
    mine = position.value.address
    text = ", ".join(f"{name}={value.text}" for name, value in [*read.items()][:_OPERANDS])
    file, line = Path(position.frame.file or "?").name, position.frame.line
    others = [name for name, value in read.items() if not mine or value.address != mine]
    next_command = ""
    if others:
        # Of the line's hits the one with this value.
        value = read[others[0]]
        is_plain = value.kind in {"int", "unsigned"} and value.text.lstrip("-").isdecimal()
        when = f" --when '{others[0]} == {value.text}'" if is_plain else ""
        next_command = f"; go on with {LINE_ASK.format(others[0], file, f'{line}{when}')}"
    # What one call has handed on was not computed here.
    is_opaque = _HANDED_ON.fullmatch(_without_brackets(origin.text)) is not None
    reason = f"computed from {text or origin.text}{next_command}"
    return ReachedEnd(ChainEnd.NOT_FOLLOWED, reason, is_opaque)


def _without_brackets(text: str) -> str:
    for _ in range(_NESTED_MAX):
        shorter = re.sub(r"\([^()]*\)|\[[^\[\]]*\]", "", text)
        if shorter == text:
            break
        text = shorter
    return text


def observed(target: ValuePosition, event: TraceEvent | None = None) -> LinkCertainty:
    """Return the certainty of a write that a further run made of a value.

    `event` is an assignment whose line ran, and that may have changed nothing.
    """
    # Whether the condition before it let it assign was not seen.
    is_open = event is not None and not event.new
    if is_open and event is not None and _CONDITIONAL.match(event.frames[0].statement):
        return LinkCertainty.INFERRED
    if target.certainty is LinkCertainty.INFERRED:
        return LinkCertainty.INFERRED
    return LinkCertainty.RERUN


def summarize_chain(links: Sequence[WhyLink], ended: ReachedEnd) -> str:
    """Return the chain in one sentence: its first link and its end."""
    if not links:
        return ended.reason
    first = links[0]
    where = f" in {first.frame.function}" if first.frame is not None else ""
    return f"{first.text}{where}; {ended.end.value}: {ended.reason}"
