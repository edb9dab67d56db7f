"""Which raw debugger commands reach beyond the debugged program."""

from __future__ import annotations

import re

# Each is a command and, where it has one, its subcommand; LLDB takes any prefix that is unique.
# The commands below that take another command run it later, where nobody looks at it.
_SHELLS = (
    ("platform", "shell"),
    ("script", ""),
    ("shell", ""),
    ("command", "script"),
    ("command", "source"),
    ("plugin", "load"),
    ("process", "plugin"),
)
_SHORTEST = {
    "platform": 2,
    "script": 2,
    "shell": 2,
    "command": 3,
    "plugin": 2,
    "process": 3,
}


def uses_shell(command: str) -> bool:
    """Tell whether a raw command of gdb or lldb runs a shell or a script of the debugger's own."""
    words = command.strip().lstrip("`").split()
    if not words:
        return False
    if words[0].startswith("!") or re.match(
        r"(python|pi|py|guile|source|pipe|make)\b", words[0]
    ):
        return True
    for first, second in _SHELLS:
        is_first = first.startswith(words[0]) and len(words[0]) >= _SHORTEST[first]
        is_second = not second or (len(words) > 1 and second.startswith(words[1]))
        if is_first and is_second:
            return True
    return False
