"""Removes LLDB's traps from a program for good, before the detach.

LLDB 19 forgets a breakpoint that is removed while a thread steps over it, but its server does not:
the trap stays in the code. So the server itself gets the request, after LLDB has removed all.
"""

from __future__ import annotations

import re

LIST = "breakpoint list"
MOST = 200  # places
TIMES = 4  # the server may have set one trap so often
_PLACE = re.compile(r"\baddress = (?:\S+\[)?(0x[0-9a-f]+)")


def trap_addresses(listed: str) -> list[int]:
    """Parse `breakpoint list`: the addresses of breakpoints in the program."""
    unique = dict.fromkeys(int(one, 16) for one in _PLACE.findall(listed))
    return list(unique)[:MOST]


def removal_command(address: int) -> str:
    """Return the command that makes the server remove a trap of one byte (gdb's `z0` packet)."""
    return f"process plugin packet send z0,{address:x},1"


def is_removed(said: str) -> bool:
    """Return whether the server had a trap there."""
    return bool(re.search(r"response: OK\b", said))
