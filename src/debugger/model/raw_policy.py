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
    ("scripting", ""),
    ("command", "alias"),
    ("command", "regex"),
    ("breakpoint", "command"),
    ("watchpoint", "command"),
    ("target", "stop-hook"),
    ("frame", "recognizer"),
    ("thread", "step-scripted"),
)
_SHORTEST = {"platform": 2, "script": 2, "shell": 2, "command": 3, "plugin": 2, "process": 3}
_SHORTEST |= {"scripting": 2, "breakpoint": 2, "watchpoint": 1, "target": 2, "frame": 1}
_SHORTEST |= {"thread": 1}
# Options by which other commands take a command or a script: breakpoint set -C, type summary -P…
_OPTIONS = re.compile(
    r"\s--(com|she|py|scr)"
    r"|\A(b|br\w*|tb\w*|rb\w*)\s(.*\s)?-\w*[CP]"
    r"|\Aty\w*\s(.*\s)?-\w*[FPlo]"
    r"|\Apro\w*\s(.*\s)?-\w*[cX]"
)
_GDB = re.compile(
    r"!|\||(python|pi|py|guile|gu|source|pipe|make|define|document|alias|eval|with|dprintf"
    r"|interpreter-exec|compile|[tf]aas|taas|add-auto-load\S*)\b"
    r"|tar\w*\s+\S+\s*\|"
    r"|(thread|frame)\s+apply\b"
)


def uses_shell(command: str) -> bool:
    """Tell whether a raw command of gdb or lldb runs a shell or a script of the debugger's own."""
    # LLDB takes a command's words in quotes as well: "platform" 'shell'.
    plain = re.sub(r"[\"'\\]", "", command).strip().lstrip("`").strip()
    words = plain.split()
    if not words:
        return False
    if _GDB.match(plain) or _OPTIONS.search(plain):
        return True
    for first, second in _SHELLS:
        is_first = first.startswith(words[0]) and len(words[0]) >= _SHORTEST[first]
        is_second = not second or (len(words) > 1 and second.startswith(words[1]))
        if is_first and is_second:
            return True
    return False
