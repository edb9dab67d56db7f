"""Lists commands of further debuggers whose names do not say what they do, one table for each.

The form is that of `foreign_commands`. All are corrected, none is taken silently, since other
debuggers use the same letters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

WINDBG_COMMANDS: Final[Mapping[str, str]] = {
    **dict.fromkeys((".reload", "lm", "lmv", "lmf", "ld *", "lm *"), "modules"),
    **dict.fromkeys(("uf *", "ub *"), "disassemble {}"),
    **dict.fromkeys(("sxe *", "sxn *"), "catch raised; catch throw"),
    **dict.fromkeys(("sx", "sxr"), "catch list"),
    **dict.fromkeys(("sxd *", "sxi *"), "catch list"),
    **dict.fromkeys(("dps *", "dqs *", "dds *", "dp *"), "memory read {} --format pointer"),
    **dict.fromkeys(("dw *", "dc *"), "memory read {}"),
    **dict.fromkeys(("da *", "du *"), "memory read {} --format string"),
    **dict.fromkeys(("eb *", "ed *", "ew *", "eq *"), "memory write {}"),
    **dict.fromkeys(("pa *", "ta *"), "until {}"),
    **dict.fromkeys(("gh", "gn", "gc"), "continue"),
    "ln *": "source {}",
    "bs *": "breakpoint list",
    "|": "sessions",
    "~": "threads",
    "~*": "backtrace --all",
    "qd": "detach",
    **dict.fromkeys((".exr *", ".ecxr", ".lastevent", ".exr", ".cxr"), "exception; context"),
    ".attach *": "attach {}",
    ".detach": "detach",
    ".kill": "stop --kill",
    ".restart": "restart",
    ".opendump *": "attach --core {} PROGRAM",
    **dict.fromkeys((".dump", ".dump *"), "backtrace --all --locals; memory read ADDR"),
    "vertarget": "status",
    ".cls": "context",
}
# Extensions of WinDbg, and dotnet-dump, which has the same without `!`.
EXTENSION_COMMANDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("threads", "clrthreads", "teb", "threadpool"), "threads"),
    **dict.fromkeys(("runaway", "locks", "syncblk", "deadlock", "cs"), "hang -- CMD"),
    **dict.fromkeys(("clrstack", "dumpstack", "k"), "backtrace"),
    **dict.fromkeys(("eestack", "uniqstack", "parallelstacks", "pstacks"), "backtrace --all"),
    **dict.fromkeys(("pe", "printexception", "analyze", "error"), "exception; crash -- CMD"),
    **dict.fromkeys(("dso", "dumpstackobjects"), "locals"),
    **dict.fromkeys(("do *", "dumpobj *", "dumpvc *", "dumparray *"), "print {}"),
    **dict.fromkeys(
        ("heap", "dumpheap", "gcroot *", "eeheap", "address", "vprot", "heap *", "dumpheap *"),
        "memory read ADDR; who-wrote EXPR --at LOC -- CMD",
    ),
    **dict.fromkeys(("peb", "process", "handle"), "status"),
    **dict.fromkeys(("dlls", "lmi *", "eeversion"), "modules"),
}
PERL_COMMANDS: Final[Mapping[str, str]] = {
    "T": "backtrace",
    **dict.fromkeys(("V", "V *", "X", "y"), "locals --all"),
    **dict.fromkeys(("L", "L *"), "breakpoint list"),
    "B": "breakpoint list",
    "B *": "break {}; breakpoint list",
    "W *": "watch list",
    "M": "modules",
    "E": "threads",
    "R": "restart",
    "H": "events",
    "S": "locals",
    "m *": "print --type {}",
}
# jdb, dbx, and the commands of DBGp
JDB_COMMANDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("wherei", "wherei *"), "backtrace"),
    **dict.fromkeys(("classes", "classpath"), "modules"),
    **dict.fromkeys(("class *", "methods *", "fields *"), "print --type {}"),
    **dict.fromkeys(("threadlocks", "lock *"), "threads; hang -- CMD"),
    **dict.fromkeys(("pop", "reenter"), "back-finish"),
    "unmonitor *": "context",
    "redefine *": "restart",
    "whereis *": "source {}",
    **dict.fromkeys(("lwps", "lwp"), "threads"),
    **dict.fromkeys(("intercept *", "unintercept *"), "catch list"),
    "cont at *": "jump {}",
    "cont to *": "until {}",
    "fix": "restart",
    "stack-get": "backtrace",
    "stack-depth": "backtrace",
    "context-get": "locals",
    "context-names": "locals --all",
    "property-value -n *": "print {}",
    "typemap-get": "print --type EXPR",
}
# IPython's magics
MAGIC_COMMANDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("%debug", "debug!", "%pdb"), "crash -- CMD; exception"),
    **dict.fromkeys(("%tb", "%xmode"), "exception"),
    **dict.fromkeys(("%run *", "%run -d *", "%run -i *"), "start {}"),
    **dict.fromkeys(("%prun *", "%lprun *", "%timeit *"), "path -- {}"),
    **dict.fromkeys(("%who", "%whos", "%who_ls"), "locals --all"),
    "%pinfo *": "print --type {}",
}
OCTAVE_COMMANDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("dbstop *", "dbstop in *", "dbstop at *"), "break {}"),
    **dict.fromkeys(("dbstop if error", "dbstop if caught error"), "catch raised; catch throw"),
    "dbclear": "breakpoint list",
    "dbclear *": "breakpoint list",
    "dbclear all": "breakpoint remove --all",
    "dbstatus": "breakpoint list",
    "dbstep": "next; step",
    "dbstep in": "step",
    "dbstep out": "finish",
    "dbtype *": "source {}",
    "dbquit": "stop",
    "dbquit all": "stop --all",
    "keyboard": "start PROGRAM --break LOC",
    "dbstack": "backtrace",
}
# GHCi, pry, and gdb's machine interface
GHCI_COMMANDS: Final[Mapping[str, str]] = {
    **dict.fromkeys((":steplocal", ":stepmodule"), "next"),
    ":abandon": "stop",
    **dict.fromkeys((":force *", ":sprint *"), "print {}"),
    **dict.fromkeys(("wtf?", "wtf", "!!!", "cat --ex"), "exception"),
    **dict.fromkeys(("var-create *", "-var-create *"), "print EXPR"),
}
# pwndbg and GEF
GDB_EXTENSION_COMMANDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("vmmap", "libs", "piebase", "xfiles"), "modules"),
    **dict.fromkeys(("xinfo *", "probeleak *"), "disassemble {} --count 1"),
    **dict.fromkeys(("nearpc", "pdisass", "context code", "context disasm"), "disassemble"),
    **dict.fromkeys(("telescope *", "dereference *", "dt *", "hexdump byte *"), "memory read {}"),
    **dict.fromkeys(("telescope", "stack-dump", "context stack"), "backtrace; memory read '$sp'"),
    **dict.fromkeys(("context backtrace", "context trace"), "backtrace"),
    **dict.fromkeys(("context regs", "context registers"), "registers"),
    "context args": "args",
    "context threads": "threads",
    "context source": "source",
    "nextcall": "next",
    "nextret": "finish",
    "stepret": "finish",
    **dict.fromkeys(("entry", "sstart"), "start PROGRAM --stop-on-entry"),
    "distance *": "print {}",
}
PHPDBG_COMMANDS: Final[Mapping[str, str]] = {
    "ev *": "eval {}",
    **dict.fromkeys(("info vars", "info globals", "info literal"), "locals"),
    "info error": "exception",
    "register *": "call {}",
}
# Of these the name without `!` means more.
_COMMON_WORDS: Final = frozenset(
    {"analyze", "do", "address", "process", "handle", "error", "k", "threads", "heap"}
)
FOREIGN_HEADS: Final[Mapping[str, str]] = {
    **WINDBG_COMMANDS,
    **PERL_COMMANDS,
    **JDB_COMMANDS,
    **MAGIC_COMMANDS,
    **OCTAVE_COMMANDS,
    **GHCI_COMMANDS,
    **GDB_EXTENSION_COMMANDS,
    **PHPDBG_COMMANDS,
    **{name: template for name, template in EXTENSION_COMMANDS.items() if name.isalpha()
       and name not in _COMMON_WORDS},
    **{f"!{name}": template for name, template in EXTENSION_COMMANDS.items()},
}  # fmt: skip
