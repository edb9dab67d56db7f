"""Lists the abbreviations, formats and settings of gdb and LLDB."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# Topics of `info`, in the order in which gdb resolves their prefixes; others go to `raw`.
INFO_TOPICS: Final = (
    "args", "breakpoints", "frame", "line", "registers", "stack", "source", "sharedlibrary",
    "symbol", "threads", "locals", "watchpoints", "display", "inferiors", "program", "files",
    "target", "address", "all-registers", "all-locals", "proc", "signals", "goroutines",
    "catch", "functions", "variables", "types",
)  # fmt: skip
INFO_SHORT: Final[Mapping[str, str]] = {
    "arguments": "args",
    "b": "breakpoints",
    "bp": "breakpoints",
    "dll": "sharedlibrary",
    "r": "registers",
    "f": "frame",
    "s": "stack",
    "sh": "sharedlibrary",
    "local": "locals",
    "l": "locals",
    **dict.fromkeys(("ivars", "consts", "gvars", "globals"), "all-locals"),
    "thread": "threads",
    "variables": "variables",
}

# LLDB takes any unique prefix of a command and of its subcommand.
LLDB_COMMANDS: Final[Mapping[str, tuple[str, ...]]] = {
    "breakpoint": ("set", "list", "delete", "disable", "enable", "modify", "command", "clear"),
    "watchpoint": ("set", "list", "delete", "modify"),
    "frame": ("variable", "select", "info"),
    "thread": (
        "list", "select", "backtrace", "info", "until", "return", "jump", "continue",
        "step-over", "step-in", "step-out", "step-inst", "step-inst-over",
    ),
    "process": (
        "launch", "attach", "continue", "kill", "detach", "interrupt", "status", "connect",
        "handle",
    ),
    "register": ("read", "write"),
    "memory": ("read", "write", "find"),
    "image": ("list", "lookup"),
    "target": ("create", "modules", "variable", "core"),
    "disassemble": (),
    "expression": (),
    "settings": ("set", "show"),
}  # fmt: skip
LLDB_SHORTEST: Final[Mapping[str, int]] = {
    "breakpoint": 2,
    "watchpoint": 2,
    "frame": 2,
    "thread": 2,
    "process": 2,
    "register": 2,
    "memory": 2,
    "image": 2,
    "target": 2,
    "disassemble": 2,
    "expression": 4,
    "settings": 3,
}
# gdb's own settings, which no variable is called: `set pagination off`.
GDB_SETTINGS: Final = frozenset(
    {
        "pagination", "confirm", "print", "breakpoint", "logging", "follow-fork-mode",
        "detach-on-fork", "scheduler-locking", "disassembly-flavor", "substitute-path",
        "disable-randomization", "startup-with-shell", "step-mode", "non-stop", "sysroot",
        "solib-search-path", "debuginfod", "auto-load", "python", "verbose",
    }
)  # fmt: skip
# The letters of gdb's and LLDB's formats, for integers and for memory.
VALUE_FORMATS: Final[Mapping[str, str]] = {
    "x": "hex",
    "z": "hex",
    "d": "decimal",
    "u": "decimal",
    "t": "binary",
    "o": "octal",
    "a": "address",
    "c": "char",
}
FORMAT_NAMES: Final = frozenset({*VALUE_FORMATS.values(), "oct", "bin", "dec"})
