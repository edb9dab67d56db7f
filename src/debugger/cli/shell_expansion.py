"""Finds what the shell took out of a command line before it came here: `print a->b`, `eval a * 2`.

The shell writes the answer of `print a->b` to the file `b`, and passes on `a-`. The answer would be
of another expression, and nobody would read it.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Sequence
from typing import Final

from debugger.cli.client import EXPRESSION_COMMANDS
from debugger.errors import DebuggerError, ErrorCode

_COMPARED: Final = re.compile(r"=?-?\d+(?:\.\d+)?\Z")
_CUT_MEMBER: Final = re.compile(r"\*?[A-Za-z_$].*[\w)\]]-\Z|[A-Za-z_$]-\Z")
_CONDITIONS: Final = frozenset({"--when", "--if", "--condition", "--expect", "if", "when", "-c"})
_BREAKS: Final = frozenset({"break", "b", "breakpoint", "tbreak", "condition"})
_LEAST_FILES: Final = 2  # that stand for a `*`


def refuse_shell_words(argv: Sequence[str], output: int = 1) -> None:
    """Refuse a command line of which the shell took `>` for a redirection, or `*` for file names.

    Args:
        argv: The words that came.
        output: The descriptor of standard output.

    Raises:
        DebuggerError: USAGE; the hint is the line with the quotes that it needs.
    """
    name = _redirection_target(output)
    fixed = None if name is None else restore_redirection(argv, name)
    if fixed is not None and _has_other_target():  # how often it was named is not known
        fixed = [argv[0], "EXPR"]
    if fixed is not None:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"the shell took > for a redirection, to the file {name!r}",
            hint=f"debugger {shlex.join(fixed)}",
        )
    if argv[:1] and argv[0] in EXPRESSION_COMMANDS:
        starred = restore_star(argv, _list_files())
        if starred is not None:
            raise DebuggerError(
                ErrorCode.USAGE,
                "the shell took * for the names of files",
                hint=f"debugger {shlex.join(starred)}",
            )


def _list_files() -> list[str]:
    """Return the names that `*` stands for; none in a directory that was removed."""
    try:
        return [one for one in os.listdir() if not one.startswith(".")]
    except OSError:
        return []


def _redirection_target(output: int) -> str | None:
    """Return the name of the file of this directory that standard output was just created as."""
    try:
        status = os.fstat(output)
        path = os.readlink(f"/proc/self/fd/{output}")
        directory = os.getcwd()
    except OSError:  # another system, or a directory that was removed
        return None
    is_new = stat.S_ISREG(status.st_mode) and not status.st_size
    return os.path.basename(path) if is_new and os.path.dirname(path) == directory else None


def _has_other_target() -> bool:
    """Return whether `a->next->name` made `next-` before `name`; twice is no other file."""
    with os.scandir() as entries:
        return any(
            one.name.endswith("-") and not one.stat(follow_symlinks=False).st_size
            for one in entries
        )


def restore_redirection(argv: Sequence[str], name: str) -> list[str] | None:
    """Return the words with `>` and the file's name put back; None if it may be a redirection."""
    words = list(argv)
    for at, word in enumerate(words):
        if _CUT_MEMBER.match(word) and not word.startswith("--"):
            words[at] = f"{word}>{name}"
            return words
    if not _COMPARED.match(name):
        return None
    sign = "" if name.startswith("=") else " "
    flags = [at for at, one in enumerate(words[:-1]) if one in _CONDITIONS]
    if flags and flags[-1]:
        at = flags[-1] + 1
        if words[flags[-1]].isalpha():  # the condition is all that follows
            words[at:] = [" ".join(words[at:])]
    elif len(words) > 1 and words[0] in EXPRESSION_COMMANDS:
        words[1:] = [" ".join(words[1:])]
        at = 1
    elif len(words) > len(("b", "f.c:3")) and words[0] in _BREAKS:
        at = len(words) - 1
    else:
        return None
    words[at] = f"{words[at]} >{sign}{name}"
    return words


def restore_star(argv: Sequence[str], files: Sequence[str]) -> list[str] | None:
    """Return the words with `*` in place of the names of all files; None without them."""
    count, listed = len(files), sorted(files)
    if count < _LEAST_FILES:
        return None
    for at in range(2, len(argv) - count + 1):
        if sorted(argv[at : at + count]) == listed:
            text = " ".join((*argv[1:at], "*", *argv[at + count :]))
            return [argv[0], text]
    return None
