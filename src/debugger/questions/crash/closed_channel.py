"""Names the channel of Go that was sent to or closed after it had been closed. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

_MESSAGE = re.compile(r"\b(?:send on|close of) (?P<state>closed|nil) channel\b")
_CHANNEL = re.compile(r"(?:<-)?chan(?:<-)? ")  # as delve shows one: `chan int 1/4`
_CLOSING = re.compile(r"(?<![\w.])close\((?P<channel>[A-Za-z_]\w*(?:\.\w+|\[[^\[\]]*\])*)\)")
# Lines that are named: of a channel with more, the source alone does not tell which.
_SHOWN_MAX = 3


def find_channel(message: str, operands: Sequence[str], values: Mapping[str, str]) -> str:
    """Return the only channel of a statement that panicked about one; "" if unknown.

    Args:
        message: That of the panic.
        operands: What the statement reads.
        values: The values of expressions.
    """
    if _MESSAGE.search(message) is None:
        return ""
    found = [one for one in operands if _CHANNEL.match(values.get(one, ""))]
    return found[0] if len(found) == 1 else ""


def describe_closing(message: str, channel: str, sources: Mapping[str, Sequence[str]]) -> str:
    """Say which lines close a channel by the source, those of its name first; "" for none.

    A channel has another name where it is passed on.

    Args:
        message: That of the panic.
        channel: The channel, as the statement names it.
        sources: The lines of the package's files.
    """
    stated = _MESSAGE.search(message)
    if stated is None or stated["state"] != "closed" or not channel:
        return ""
    found = [
        (_last_name(one["channel"]), f"{one[0]} at {Path(file).name}:{number}")
        for file, lines in sources.items()
        for number, line in enumerate(lines, 1)
        for one in _CLOSING.finditer(line.partition("//")[0])
    ]
    own = [text for name, text in found if name == _last_name(channel)]
    shown = own or [text for _, text in found]
    if not shown:
        return ""
    more = f" and {len(shown) - _SHOWN_MAX} more" if len(shown) > _SHOWN_MAX else ""
    whose = channel if own else "a channel"
    return f"closes {whose}, by the package's source: {', '.join(shown[:_SHOWN_MAX])}{more}"


def _last_name(channel: str) -> str:
    """Return the field or variable that a path ends with."""
    return re.sub(r"\[[^\[\]]*\]\Z", "", channel).rpartition(".")[2]
