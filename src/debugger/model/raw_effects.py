"""What a raw command does to the program: which commands of LLDB and gdb let it run or end it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum


class RawEffect(Enum):
    """What a raw command does to the debugged program."""

    NONE = "none"
    STEP = "step"
    INTERRUPT = "interrupt"
    DETACH = "detach"
    KILL = "kill"


# The shortest spelling of each word that LLDB takes; one word stands for a command or an alias.
_LLDB: Mapping[RawEffect, str] = {
    RawEffect.STEP: r"t(h(r(e(ad?)?)?)?)?\s+(step-\S+|u(n(t(il?)?)?)?)\b"
    r"|(n|next|s|step|si|stepi|ni|nexti|finish|sif)(\s|\Z)",
    RawEffect.INTERRUPT: r"pro(c(e(ss?)?)?)?\s+i\w*",
    RawEffect.DETACH: r"pro(c(e(ss?)?)?)?\s+d\w*|det\w*",
    RawEffect.KILL: r"pro(c(e(ss?)?)?)?\s+k\w*|k(i(ll?)?)?(\s|\Z)",
}
_GDB: Mapping[RawEffect, str] = {
    RawEffect.STEP: r"(n|next|s|step|si|stepi|ni|nexti|fin|finish|u|until|advance)(\s|\Z)",
    RawEffect.INTERRUPT: r"interr\w*(\s|\Z)",
    RawEffect.DETACH: r"det\w*|disconn\w*",
    RawEffect.KILL: r"k(i(ll?)?)?(\s|\Z)",
}


def _find_effect(command: str, effects: Mapping[RawEffect, str]) -> RawEffect:
    plain = re.sub(r"[\"'\\]", "", command).strip().lstrip("`").strip()
    return next((one for one, words in effects.items() if re.match(words, plain)), RawEffect.NONE)


def lldb_effect(command: str) -> RawEffect:
    """Return what a command of LLDB does to the program."""
    return _find_effect(command, _LLDB)


def gdb_effect(command: str) -> RawEffect:
    """Return what a command of gdb does to the program."""
    return _find_effect(command, _GDB)


def no_effect(command: str) -> RawEffect:
    """Know of no command that lets the program run."""
    del command
    return RawEffect.NONE
