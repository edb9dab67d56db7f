"""Finds where a loop can be left, and how its variables go on from turn to turn. Pure.

Exits are the loop's header and the conditions in front of `break`, `return` and what raises. A step
assigns to a variable what it finds by that variable: `node = node.next`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from debugger.sources.deciding_condition import find_conditions

_EXITS_MAX = 4
_STEPS_MAX = 4
_LINES_MAX = 400  # of a loop's body
_LEAVING = re.compile(r"(?:^|[\s{)])(break|return|raise|throw|panic|goto)\b")
_INNER = re.compile(r"^[\s}]*(?:'\w+:\s*|async\s+)?(?:for|while|loop|do|switch|select)\b")
_FUNCTION = re.compile(r"^\s*(?:async\s+)?(?:def|func|fn|function|class|lambda)\b")
_QUOTED = re.compile(r"^[\s}]*(?:el|else\s+)?if\b")
_COMMENT = re.compile(r"^\s*(?:#|//|/\*|\*)")
_STEP = re.compile(
    r"^\s*(?:let\s+|const\s+|auto\s+|mut\s+)?(?:[A-Za-z_][\w:<>]*[\s*&]+)?"
    r"(?P<name>[A-Za-z_$][\w$]*)\s*=(?![=>])\s*(?P<value>.+?);?\s*$"
)
_HEADER_STEP = re.compile(r"^[\s}]*for\b[^;]*;[^;]*;\s*(?P<rest>.*?)\)?\s*\{?\s*$")


class LoopExit(Struct, frozen=True):
    """A condition that leaves a loop; one that calls something is as it is in the source."""

    line: int
    text: str
    operands: tuple[str, ...] = ()
    # The loop goes on while it is true: its header's.
    is_header: bool = False


class LoopStep(Struct, frozen=True):
    """An assignment that goes on from a variable to what it refers to: `node = node.next`."""

    line: int
    name: str
    # What is read of the variable: `node.next`, `node["/Next"]`.
    link: str
    statement: str


class LoopOutline(Struct, frozen=True):
    """A loop: the first line of its body, the ways out, and the steps of its variables."""

    first_line: int
    exits: tuple[LoopExit, ...] = ()
    steps: tuple[LoopStep, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The variables and values that decide whether the loop ends."""
        read = [name for one in self.exits for name in one.operands]
        return tuple(dict.fromkeys([*(one.name for one in self.steps), *read]))


def outline_loop(path: str, lines: Sequence[str], header: int) -> LoopOutline | None:
    """Return the outline of the loop whose header is at a line; None without a body of its own."""
    body = _body_lines(lines, header)
    if not body:
        return None
    exits = list(_header_exit(path, lines, header, body[0]))
    known = {one.line for one in exits}
    for number in body:
        found = _leaving_condition(path, lines, header, number)
        if found is not None and found.line not in known:
            known.add(found.line)
            exits.append(found)
    steps = tuple(_find_steps(lines, (header, *body)))[:_STEPS_MAX]
    return LoopOutline(body[0], tuple(exits[:_EXITS_MAX]), steps)


def _body_lines(lines: Sequence[str], header: int) -> list[int]:
    """Return the lines with code of a loop's body, by their indentation."""
    own = _indent_width(lines[header - 1])
    found = []
    for number in range(header + 1, min(header + _LINES_MAX, len(lines)) + 1):
        text = lines[number - 1]
        if not text.strip() or _COMMENT.match(text):
            continue
        if _indent_width(text) <= own:
            if text.strip() in {"{", "):", ") {"}:
                continue  # a header of several lines, or a brace below it
            break
        found.append(number)
    return [one for one in found if lines[one - 1].strip() not in {"{", "}"}]


def _indent_width(text: str) -> int:
    wide = text.expandtabs(8)
    return len(wide) - len(wide.lstrip())


def _header_exit(path: str, lines: Sequence[str], header: int, first: int) -> Iterator[LoopExit]:
    text = lines[header - 1]
    around = find_conditions(path, "\n".join(lines), first)
    own = next((one for one in around if one.line == header), None)
    condition = own.text if own is not None else ""
    operands = own.operands if own is not None else ()
    parts = text.split(";")
    if re.match(r"^[\s}]*for\b", text) and len(parts) == 3:  # noqa: PLR2004 - of a header of C
        condition = parts[1].strip()
    if condition in {"", "True", "true", "1"} and not operands:
        return
    yield LoopExit(header, condition, operands, is_header=True)


def _leaving_condition(
    path: str, lines: Sequence[str], header: int, number: int
) -> LoopExit | None:
    """Return the condition of a line that leaves the loop; None for any other line."""
    text = _without_strings(lines[number - 1])
    leaving = _LEAVING.search(text)
    if leaving is None or (leaving[1] == "break" and _is_in_inner(lines, header, number)):
        return None
    around = find_conditions(path, "\n".join(lines), number)
    own = next((one for one in around if header < one.line <= number), None)
    if own is None:
        return None
    # Without a text of its own it calls something, and is only quoted.
    condition = own.text or _QUOTED.sub("", lines[own.line - 1]).strip().rstrip("{:").strip()
    condition = condition if own.is_met else f"not ({condition})"
    return LoopExit(own.line, condition, own.operands)


def _without_strings(text: str) -> str:
    return re.sub(r"\"[^\"]*\"|'[^']*'", '""', text)


def _is_in_inner(lines: Sequence[str], header: int, number: int) -> bool:
    """Return whether a `break` leaves another loop, or a switch, within this one."""
    least = _indent_width(lines[number - 1])
    for at in range(number - 1, header, -1):
        text = lines[at - 1]
        if not text.strip() or _indent_width(text) >= least:
            continue
        least = _indent_width(text)
        if _INNER.match(text) or _FUNCTION.match(text):
            return True
    return False


def _find_steps(lines: Sequence[str], numbers: Sequence[int]) -> Iterator[LoopStep]:
    """Return the steps of a loop, also by another name: `after = node.next`, `node = after`."""
    assigned: list[tuple[int, str, str, str]] = []  # line, name, value, statement
    for number in numbers:
        text = lines[number - 1]
        head = _HEADER_STEP.match(text)
        found = _STEP.match(head["rest"] if head is not None else text)
        if found is not None:
            plain = text.strip().rstrip(";")
            statement = plain if head is None else f"{found['name']} = {found['value']}"
            assigned.append((number, found["name"], found["value"], statement))
    aliases = {(name, value) for _, name, value, _ in assigned}
    for number, name, value, statement in assigned:
        owners = [name, *(one for one, other in sorted(aliases) if other == name and one != name)]
        for owner in owners:
            link = re.search(
                rf"(?<![\w.$>]){re.escape(owner)}(?:(?:\??\.|->)[A-Za-z_$][\w$]*(?![\w$(])"
                r"|\[[^\[\]]+\])+",
                value,
            )
            if link is not None:
                yield LoopStep(number, owner, link[0], statement)
                break
