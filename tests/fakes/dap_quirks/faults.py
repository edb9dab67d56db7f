"""Faults of adapters: silence, death, and bytes that are no message."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from dap_messages import Complaint, End, Raw
from dap_requests import REQUESTS

from dap_quirks.table import Turn, edit, instead

if TYPE_CHECKING:
    from dap_messages import Item

ABORT = End(-signal.SIGABRT)


@instead("never-answers:REQUEST")
def never_answers(turn: Turn, command: str) -> list[Item] | None:
    """In lldb-dap 19 gotoTargets never answers; later requests work."""
    return [] if turn.asks(command) else None


@instead("initialize-never-answered")
def initialize_never_answered(turn: Turn) -> list[Item] | None:
    """A wrong program as adapter reads everything and says nothing."""
    return [] if turn.asks("initialize") else None


@instead("wedges-on:REQUEST")
def wedges_on(turn: Turn, command: str) -> list[Item] | None:
    """Debugpy wedges for good on loadedSources: not even disconnect is answered."""
    turn.session.is_wedged |= turn.asks(command)
    return [] if turn.session.is_wedged else None


@instead("dies-on:REQUEST")
def dies_on(turn: Turn, command: str) -> list[Item] | None:
    """Lldb-dap 19 aborts on readMemory, without an answer."""
    complaint = Complaint("terminate called without an active exception\n")
    return [complaint, ABORT] if turn.asks(command) else None


@instead("unknown-requests-kill")
def unknown_requests_kill(turn: Turn) -> list[Item] | None:
    """Lldb-dap 19 aborts on requests that it did not advertise and on unknown names."""
    return None if turn.asks(*REQUESTS) else [ABORT]


@edit("garbage-header:[REQUEST]")
def garbage_header(turn: Turn, items: list[Item], command: str = "configurationDone") -> list[Item]:
    """Something prints to the adapter's stdout between two messages."""
    return [Raw(b"warning: this is no header\r\n\r\n"), *items] if turn.asks(command) else items


@edit("invalid-json:[REQUEST]")
def invalid_json(turn: Turn, items: list[Item], command: str = "configurationDone") -> list[Item]:
    """A message of the announced length is no JSON."""
    raw = Raw(b'Content-Length: 20\r\n\r\n{"type": "response",')
    return [raw, *items] if turn.asks(command) else items


@edit("oversize-message:[REQUEST]")
def oversize_message(
    turn: Turn, items: list[Item], command: str = "configurationDone"
) -> list[Item]:
    """A message announces more bytes than there will ever be."""
    raw = Raw(b"Content-Length: 99999999999\r\n\r\n{")
    return [raw, *items] if turn.asks(command) else items


@instead("stderr-then-exit:[REQUEST]")
def stderr_then_exit(turn: Turn, command: str = "initialize") -> list[Item] | None:
    """An adapter that cannot work complains on stderr and exits with status 1."""
    complaint = Complaint("error: cannot load libpython\n")
    return [complaint, End(1)] if turn.asks(command) else None
