"""Removes LLDB's breakpoints from a program for good, before the detach.

LLDB 19 forgets a breakpoint that is removed while a thread steps over it, and its server does not:
the trap stays in the code. So the server itself is told, once LLDB has nothing there any more.
"""

from __future__ import annotations

import re

LIST = "breakpoint list"
MOST = 200  # places
TIMES = 4  # that the server may have been told to set one
_PLACE = re.compile(r"\baddress = (?:\S+\[)?(0x[0-9a-f]+)")


def addresses(listed: str) -> list[int]:
    """Return where breakpoints are in the program, as LLDB lists them."""
    found = dict.fromkeys(int(one, 16) for one in _PLACE.findall(listed))
    return list(found)[:MOST]


def removal(address: int) -> str:
    """Return the command that has the server take out a trap of one byte (gdb's `z0` packet)."""
    return f"process plugin packet send z0,{address:x},1"


def is_removed(said: str) -> bool:
    """Tell whether there was one."""
    return bool(re.search(r"response: OK\b", said))
