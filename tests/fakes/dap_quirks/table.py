"""The table of quirks, and what each changes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from dap_messages import is_response
from dap_requests import handle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dap_messages import Item, Json
    from dap_session import Session

Effect = TypeVar("Effect", bound=Callable[..., object])


@dataclass(frozen=True)
class Turn:
    """One request, the session it meets, and the way to answer it once more."""

    request: Json
    session: Session
    answer_again: Callable[[], list[Item]]

    def asks(self, *commands: str) -> bool:
        """Return whether the request is one of these."""
        return self.request["command"] in commands


@dataclass(frozen=True)
class Quirk:
    """One way to be awkward; `source` is the observation that it plays.

    `phase` says how `effect` works: `set_up` changes the session before the first request,
    `instead` may answer in place of the adapter, `edit` rewrites what the adapter answers.
    """

    spec: str
    phase: str
    source: str
    effect: Callable[..., Any]

    @property
    def name(self) -> str:
        """The part of the spec before its parameters."""
        return self.spec.partition(":")[0]


@dataclass(frozen=True)
class Active:
    """A quirk that was asked for, with its arguments."""

    quirk: Quirk
    arguments: tuple[str, ...]


class UnknownQuirkError(ValueError):
    """No quirk has this name, or not with so many parameters."""


QUIRKS: dict[str, Quirk] = {}


def set_up(spec: str) -> Callable[[Effect], Effect]:
    """Enter a quirk `(session, *arguments) -> None`; `NAME:A:[B]` has an optional B."""
    return _enter("set_up", spec)


def instead(spec: str) -> Callable[[Effect], Effect]:
    """Enter a quirk `(turn, *arguments) -> list[Item] | None`; None lets the adapter answer."""
    return _enter("instead", spec)


def edit(spec: str) -> Callable[[Effect], Effect]:
    """Enter a quirk `(turn, items, *arguments) -> list[Item]`."""
    return _enter("edit", spec)


def _enter(phase: str, spec: str) -> Callable[[Effect], Effect]:
    def enter(effect: Effect) -> Effect:
        quirk = Quirk(spec, phase, inspect.getdoc(effect) or "", effect)
        QUIRKS[quirk.name] = quirk
        return effect

    return enter


def activate(text: str) -> Active:
    """Parse `NAME` or `NAME:ARGUMENT…`.

    Raises: UnknownQuirkError.
    """
    name, *arguments = text.split(":")
    quirk = QUIRKS.get(name)
    if quirk is None:
        message = f"unknown quirk {name}"
        raise UnknownQuirkError(message)
    parameters = quirk.spec.split(":")[1:]
    needed = sum(not parameter.startswith("[") for parameter in parameters)
    if not needed <= len(arguments) <= len(parameters):
        message = f"use {quirk.spec}, not {text}"
        raise UnknownQuirkError(message)
    return Active(quirk, tuple(arguments))


def prepare(session: Session, quirks: Sequence[Active]) -> None:
    """Let the quirks that change the session do so."""
    for active in quirks:
        if active.quirk.phase == "set_up":
            active.quirk.effect(session, *active.arguments)


def answer(session: Session, request: Json, quirks: Sequence[Active]) -> list[Item]:
    """Answer a request as an adapter with these quirks does."""
    turn = Turn(request, session, lambda: answer(session, request, quirks))
    stamp = {"request_seq": request["seq"], "command": request["command"]}
    items = [stamp | item if is_response(item) else item for item in _first_answer(turn, quirks)]
    for active in quirks:
        if active.quirk.phase == "edit":
            items = active.quirk.effect(turn, items, *active.arguments)
    return items


def _first_answer(turn: Turn, quirks: Sequence[Active]) -> list[Item]:
    for active in quirks:
        if active.quirk.phase == "instead":
            items: list[Item] | None = active.quirk.effect(turn, *active.arguments)
            if items is not None:
                return items
    return handle(turn.session, turn.request)
