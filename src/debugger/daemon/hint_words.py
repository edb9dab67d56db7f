"""Puts the user's own program, value, location and options into a hint, ready to paste."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Final

from debugger.daemon.protocol import GLOBAL_VALUES
from debugger.errors import DebuggerError
from debugger.output.location_text import escape_command

_LONGEST_PROGRAM: Final = 200  # characters
# At the end of a command, perhaps with what the command shows: words behind it would be taken for
# the program's, so they come to stand in brackets.
_PROGRAM_PLACE: Final = re.compile(r"-- CMD(?:(?=;|,| \(|\Z)|:? (?P<note>[a-z][^;]*?)(?=;|\Z))")
# The hint for a program that is at fault, and for a value that cannot be watched.
_QUESTION_TEMPLATE: Final = re.compile(
    r"debugger (?:(?:why|holds) EXPR --at LOC|who-wrote EXPR --at FILE:LINE|calls FUNCTION) -- "
    r"|debugger who-wrote EXPR (?=names )"
)


def complete_hint(
    error: DebuggerError, name: str, arguments: Mapping[str, object], argv: Sequence[str]
) -> DebuggerError:
    """Return the failure with a hint that has the words of the command that failed.

    Args:
        error: The failure.
        name: The command's name.
        arguments: Its arguments.
        argv: The words as typed.
    """
    if error.hint is None:
        return error
    hint = _with_more_time(_with_path(error, name, argv), name, argv)
    words = arguments.get("words")
    hint = _with_program(_name_arguments(hint, arguments), name, argv, words)
    if isinstance(words, tuple) and words and not words[0].startswith("run:"):
        # A hint with CMD leaves the options out on purpose: one of them is at fault.
        is_same = "CMD" not in hint
        hint = _keep_options(hint, name, argv, words) if is_same else _name_program(hint, words)
    return error if hint == error.hint else DebuggerError(error.code, error.message, hint=hint)


_MORE_TIME: Final = re.compile(r"debugger (?P<name>[a-z-]+) --timeout (?P<seconds>\d+) …")


def _with_more_time(hint: str, name: str, argv: Sequence[str]) -> str:
    """Return the hint; of `debugger why --timeout 300 …` the user's whole command with it."""
    found = _MORE_TIME.match(hint)
    own = _own_words(name, argv)
    if found is None or found["name"] != name or own[:1] != [name]:
        return hint
    end = own.index("--") if "--" in own else len(own)
    if "--timeout" in own[:end]:
        at = own.index("--timeout")
        del own[at : at + 2]
    longer = (name, "--timeout", found["seconds"], *own[1:])
    return f"debugger {escape_command(shlex.join(longer))}{hint[found.end() :]}"


_WITH_VALUE: Final = frozenset({*GLOBAL_VALUES, "-s"})
_SEVERAL_FILES: Final = re.compile(r"\d+ files are called (?P<file>.+):\n")
_ONE_FILE: Final = re.compile(r"debugger break (?P<path>.+):LINE")


def _with_path(error: DebuggerError, name: str, argv: Sequence[str]) -> str:
    """Return the hint; of a file's name that several have, the same command with one's path."""
    hint = error.hint or ""
    several, one = _SEVERAL_FILES.match(error.message), _ONE_FILE.fullmatch(hint)
    if several is None or one is None:
        return hint
    file, own = several["file"], _own_words(name, argv)
    is_named = [word == file or word.startswith(f"{file}:") for word in own]
    words = [
        one["path"] + word.removeprefix(file) if named else word
        for word, named in zip(own, is_named, strict=True)
    ]
    return f"debugger {escape_command(shlex.join(words))}" if any(is_named) else hint


def _name_arguments(hint: str, arguments: Mapping[str, object]) -> str:
    """Return the hint with the user's own value and location, where the program is at fault."""
    template = _QUESTION_TEMPLATE.match(hint)
    if template is None:
        return hint
    at = arguments.get("at")
    place = at[0] if isinstance(at, tuple) and len(at) == 1 else at
    given = {
        "EXPR": arguments.get("expression"),
        "FUNCTION": arguments.get("function"),
        **dict.fromkeys(("LOC", "FILE:LINE"), place),
    }
    head = " ".join(
        shlex.quote(found) if isinstance(found := given.get(word), str) and found else word
        for word in template[0].split(" ")
    )
    return head + hint[template.end() :]


_OTHER_PROGRAM: Final = " -- ./program ARGUMENTS"
_FLAG: Final = re.compile(r" (--[a-z-]+)")


def _with_program(hint: str, name: str, argv: Sequence[str], words: object) -> str:
    """Return the hint of another program with all that the user typed before the program."""
    head, mark, rest = hint.partition(_OTHER_PROGRAM)
    own = _words_before_program(name, argv, words)
    is_same = head.split()[1:2] == [name] == own[:1] and set(_FLAG.findall(head)) <= set(own)
    return f"debugger {escape_command(shlex.join(own))}{mark}{rest}" if mark and is_same else hint


def _words_before_program(name: str, argv: Sequence[str], words: object) -> list[str]:
    """Return what the user typed before the program, without options of every command."""
    own = list(argv)
    if "--" in own:
        own = own[: own.index("--")]
    elif isinstance(words, tuple) and words and tuple(own[-len(words) :]) == words:
        own = own[: -len(words)]
    return _own_words(name, own)


def _name_program(hint: str, words: tuple[str, ...]) -> str:
    """Return the hint with the user's own program."""
    program = escape_command(shlex.join(words))
    if len(program) > _LONGEST_PROGRAM:
        return hint

    def place(found: re.Match[str]) -> str:
        note = found["note"]
        if note and "--vs" in words:
            return found[0]  # it is of one of the two
        return f"-- {program} ({note})" if note else f"-- {program}"

    return _PROGRAM_PLACE.sub(place, hint)


def _own_words(name: str, argv: Sequence[str]) -> list[str]:
    """Return a command's words without options of every command before them, as `--json`."""
    first = name.split(maxsplit=1)[0]
    if first in argv:
        return list(argv[argv.index(first) :])
    own = list(argv)  # it was called by another name, as `break`
    while own and own[0].startswith("-"):
        del own[: 2 if own[0] in _WITH_VALUE else 1]
    return own


def _keep_options(hint: str, name: str, argv: Sequence[str], words: tuple[str, ...]) -> str:
    """Return the hint of the same command with the options that the user gave it."""
    bare = f"debugger {name} -- "
    own = _words_before_program(name, argv, words)
    if not hint.startswith(bare) or own[: len(name.split())] != name.split() or len(own) == 1:
        return hint
    return f"debugger {escape_command(shlex.join(own))} -- {hint[len(bare) :]}"
