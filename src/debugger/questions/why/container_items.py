"""Finds by the source where the item of a container was put in. Pure.

The names are those of the standard libraries of Rust and C++. Which of the lines put an item in is
told by its value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from debugger.model.statement import join_statement
from debugger.questions.why import statement_origin
from debugger.questions.why.statement_origin import OriginKind, StatementOrigin

_TAKING = frozenset(
    {"pop", "pop_front", "pop_back", "pop_first", "pop_last", "peek", "front", "back", "top"}
    | {"first", "last", "get", "get_mut", "remove", "swap_remove", "take", "at", "entry"}
)
_STORING = (
    "push|push_front|push_back|emplace|emplace_front|emplace_back|insert|insert_or_assign"
    "|try_emplace|append|enqueue"
)
_CONTAINER = re.compile(r"[A-Za-z_][\w.>-]*")
_STORE = r"(?<!\w){}\s*(?:\.|->)\s*(?P<method>{})\s*(?:<[^<>()]*>)?\("
_ELEMENT = r"(?<!\w){}\s*\[[^\]]*\]\s*=(?!=)"
# A cell and an atomic value hold one item.
_STORED = re.compile(rf"(?:\.|->)\s*(?:{_STORING}|set|replace|store)\s*\(")
_MADE = re.compile(r"([A-Za-z_][\w:]*)?\s*\(")
_STORES_MAX = 8
_STATEMENT_LINES = 6


class TakenItem(Struct, frozen=True):
    """The call that takes an item out of a container, or reads it there."""

    container: str
    method: str

    @property
    def name(self) -> str:
        """The container's own name, without the object that it is a field of."""
        return re.split(r"\.|->", self.container)[-1]


class ItemStore(Struct, frozen=True):
    """A line that puts an item into a container, and the names that the item is made of."""

    line: int
    method: str
    statement: str
    names: tuple[str, ...]


def taken_item(origin: StatementOrigin) -> TakenItem | None:
    """Return what an expression takes out of which container; None for another expression."""
    text = re.sub(r"^[*&\s]+(?:mut\s+)?", "", origin.text)
    call = statement_origin.classify_expression(text)
    is_taken = call.kind is OriginKind.CALL and call.function in _TAKING
    if not is_taken or not _CONTAINER.fullmatch(call.receiver):
        return None
    return TakenItem(call.receiver, call.function)


def find_stores(lines: Sequence[str], item: TakenItem, near: int) -> tuple[ItemStore, ...]:
    """Return the lines of a source that put items into a container, the nearest to a line first."""
    name = re.escape(item.name)
    pattern = re.compile(f"{_STORE.format(name, _STORING)}|{_ELEMENT.format(name)}")
    found = []
    for number, line in enumerate(lines, 1):
        match = pattern.search(line) if item.name in line else None
        if match is None:
            continue
        text = join_statement(lines[number - 1 : number - 1 + _STATEMENT_LINES], most=6)
        again = pattern.search(text)
        stored = text[again.end() :] if again is not None else ""
        names = statement_origin.operand_paths(stored)
        found.append(ItemStore(number, match["method"] or "[]", text, tuple(names)))
    return tuple(sorted(found, key=lambda one: abs(one.line - near))[:_STORES_MAX])


def stored_value(statement: str) -> StatementOrigin | None:
    """Return what a statement puts into a container as its last argument; None if it does not."""
    match = _STORED.search(statement)
    arguments = _parts_of(statement, match.end()) if match is not None else ()
    return statement_origin.classify_expression(arguments[-1]) if arguments else None


def choose_name(taking: str, store: ItemStore, expression: str, equal: Sequence[str]) -> str | None:
    """Return which of the equal values that were put in is the one that was taken out.

    `Some(Scored(cost, node)) = heap.pop()` takes as `node` the second part of what
    `heap.push(Scored(sum, next))` has put in.
    """
    for match in _MADE.finditer(taking.partition("=")[0]):
        parts = _parts_of(taking, match.end())
        if expression in parts:
            at = parts.index(expression)
            made = re.escape(match[1] or "")
            for other in re.finditer(rf"(?<!\w){made}\s*\(", store.statement):
                given = _parts_of(store.statement, other.end())
                if len(given) == len(parts) and given[at] in equal:
                    return given[at]
    return equal[0] if equal else None


def _parts_of(text: str, begin: int) -> tuple[str, ...]:
    end = statement_origin.closing_bracket(text, begin - 1)
    return statement_origin.split_arguments(text[begin : end if end > 0 else len(text)])
