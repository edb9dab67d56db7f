"""Defines the readable resources of a session: its source, its output, its timeline."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from debugger.errors import DebuggerError, ErrorCode
from debugger.mcp.daemon_client import DaemonClient

SCHEME = "debugger"
_URI = re.compile(rf"{SCHEME}://session/(?P<session>[^/]+)/(?P<part>[a-z]+)")
_LINES = 500  # the timeline's page, and more source than a model wants


@dataclass(frozen=True)
class SessionResource:
    """One readable part of every session."""

    name: str
    title: str
    description: str


PARTS: Mapping[str, SessionResource] = {
    one.name: one
    for one in (
        SessionResource("source", "Source", "the source around where the program is"),
        SessionResource("output", "Output", "what the program wrote last"),
        SessionResource(
            "timeline", "Timeline", "stops, output, logpoints, failed conditions, the end"
        ),
    )
}


def resource_uri(session: str, part: str) -> str:
    """Return the URI of a session's part."""
    return f"{SCHEME}://session/{quote(session, safe='')}/{part}"


def resource_template(part: str) -> str:
    """Return the template of `resource_uri` (RFC 6570)."""
    return f"{SCHEME}://session/{{session}}/{part}"


async def list_resources(daemon: DaemonClient) -> list[tuple[str, SessionResource]]:
    """List the current resources: a session's name and each part of it."""
    return [(name, part) for name in await list_sessions(daemon) for part in PARTS.values()]


async def list_sessions(daemon: DaemonClient) -> list[str]:
    """List the names of the sessions."""
    reply = await daemon.run_command("sessions", {})
    return [str(one["session"]) for one in reply.data["sessions"]]


async def read_resource(daemon: DaemonClient, wanted: str) -> str:
    """Read a resource; unread `output` stays unread.

    Raises:
        DebuggerError: NOT_FOUND for an unknown URI, else the daemon's failure.
    """
    found = _URI.fullmatch(wanted)
    if found is None or found["part"] not in PARTS:
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"no resource {wanted}",
            hint=f"there is {resource_template('source')}",
        )
    session, part = unquote(found["session"]), found["part"]
    if part == "source":
        return (await daemon.run_command("source", {"lines": _LINES}, session=session)).text
    if part == "timeline":
        return (await daemon.run_command("events", {"limit": _LINES}, session=session)).text
    wanted_events: dict[str, Any] = {"kinds": ("output",), "limit": _LINES}
    reply = await daemon.run_command("events", wanted_events, session=session)
    return "".join(f"{one['text']}\n" for one in reply.data["events"])
