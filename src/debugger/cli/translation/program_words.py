"""Finds where the user's program begins among the words of a command line."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from debugger.cli.translation.argument_order import (
    ArrangedWords,
    Correction,
    arrange_words,
    takes_command,
)

_ASSIGNED: Final = re.compile(r"[A-Z_][A-Z0-9_]*=")
_INTERPRETER: Final = re.compile(
    r"(?:.*/)?(?:(?:python|pypy)[\d.]*t?|node|nodejs|deno|bun|ruby|php|java|bash|sh|env)\Z"
)
_MANAGER: Final = re.compile(
    r"(?:go|cargo|npx|npm|yarn|pnpm|uv|poetry|pipenv|pdm|rye|make|pytest|py\.test|jest|vitest"
    r"|mocha|ctest|tsx|ts-node|mpirun|mpiexec|orterun|prterun|srun|torchrun)\Z"
)
_PACKAGE_RUNNER: Final = re.compile(r"(?:npx|npm|yarn|pnpm|uv|poetry|pipenv|pdm|rye)\Z")
_MANAGER_VERBS: Final = frozenset({"run", "test", "exec", "start", "bench"})
_TEST_RUNNER: Final = re.compile(r"pytest|py\.test|jest|vitest|mocha|ctest|make")
_PATH: Final = re.compile(r"\.{0,2}/[^\s:]+\Z|[\w.-]+/[\w./-]+\Z")
# How the names of programs that are sources end, without the dot, for use within another.
SCRIPT_SUFFIX: Final = r"(?:py|js|mjs|cjs|ts|mts|cts|go|rb|php|java)"
_SCRIPT: Final = re.compile(rf"[^-\s:()\[\]]+\.(?:{SCRIPT_SUFFIX}|tsx|sh|out|exe)\Z")
_ROLES: Final = ("+program", "+arg", "+args", "+command")


def begins_program(words: Sequence[str]) -> bool:
    """Return whether words are surely a program with its arguments, not expressions."""
    remaining = list(words)
    while remaining and _ASSIGNED.match(remaining[0]):
        remaining.pop(0)
    if not remaining:
        return False
    first = remaining[0]
    is_runner = _INTERPRETER.match(first) or _MANAGER.match(first)
    if _PACKAGE_RUNNER.match(first) and len(remaining) > 1:
        return True
    if is_runner and len(remaining) > 1:
        return (
            _is_program_word(remaining[1])
            or remaining[1].startswith("-")
            or remaining[1] in _MANAGER_VERBS
        )
    return bool(is_runner and _TEST_RUNNER.match(first)) or _is_program_word(first)


def _is_program_word(word: str) -> bool:
    """Return whether a word is a path or a script, not an expression such as `a/b`."""
    is_path = _PATH.match(word) and not word.startswith("//")
    return word in {".", "./..."} or bool(is_path or _SCRIPT.match(word))


def find_program(words: Sequence[str], *, first: int) -> int | None:
    """Return the index at which a program begins, not before `first`; None without one."""
    # An interpreter is surer than a script's name, which may be the attribute of an object.
    forms = (_INTERPRETER, _MANAGER, _PATH, _SCRIPT)
    for form in forms:
        for index in range(first, len(words)):
            if form.match(words[index]) and begins_program(words[index:]):
                return index - _count_assignments(words[first:index])
    return None


def _count_assignments(words: Sequence[str]) -> int:
    """Count the `K=V` at the end of the words."""
    count = 0
    while count < len(words) and _ASSIGNED.match(words[-1 - count]):
        count += 1
    return count


def split_command(word: str) -> tuple[str, ...]:
    """Split a command in one quoted word; a word that is no command is left whole."""
    if " " not in word.strip():
        return (word,)
    try:
        words = tuple(shlex.split(word))
    except ValueError:
        return (word,)
    return words


def split_program(word: str) -> tuple[str, ...]:
    """Split `python x.py` in one word; a path with a space in it is left whole."""
    words = split_command(word)
    is_run = len(words) > 1 and (_INTERPRETER.match(words[0]) or _MANAGER.match(words[0]))
    return words if is_run and begins_program(words) else (word,)


def separate_program(arranged: ArrangedWords) -> ArrangedWords:  # noqa: PLR0911 - of each form
    """Put a question's program behind `--`: from `--cmd 'CMD'`, or without `--` typed."""
    if not takes_command(arranged.command):
        return arranged
    if any(flag in _ROLES for flag, _ in arranged.options):
        return _take_roles(arranged)
    own = [each.name for each in arranged.command.parameters].index("words")
    has_own = own > 0 or arranged.command.name == "probe"
    if arranged.rest is not None and len(arranged.rest) == 1:
        split = split_program(arranged.rest[0])
        return arranged if len(split) == 1 else replace(arranged, rest=split, is_changed=True)
    if arranged.rest is None and not has_own and len(arranged.positionals) == 1:
        split = split_program(arranged.positionals[0])
        is_pair = bool(arranged.role_values("--vs"))  # which is quoted, too
        split = split_command(arranged.positionals[0]) if is_pair else split
        split_up = replace(arranged, positionals=(), rest=split, is_changed=True)
        return arranged if len(split) == 1 else split_up
    if arranged.rest is not None or not has_own:
        return arranged
    quoted = split_command(arranged.positionals[-1]) if arranged.positionals else ()
    if len(quoted) > 1 and len(arranged.positionals) > own and begins_program(quoted):
        return replace(
            arranged, positionals=arranged.positionals[:-1], rest=quoted, is_changed=True
        )
    at = find_program(arranged.positionals, first=own)
    if at is None or (at == own and own):
        return arranged
    words = arranged.positionals
    return replace(arranged, positionals=words[:at], rest=words[at:], is_changed=True)


def _take_roles(arranged: ArrangedWords) -> ArrangedWords:
    """Take `--cmd 'python x.py'`, `--program ./x` and `--args 1 2` for the command."""
    command = [word for one in arranged.role_values("+command") for word in split_command(one)]
    program = [word for one in arranged.role_values("+program") for word in split_program(one)]
    args = [*arranged.role_values("+arg"), *arranged.role_values("+args")]
    changed = arranged.change(without=_ROLES)
    own = [each.name for each in arranged.command.parameters].index("words")
    remaining, others = arranged.positionals[:own], arranged.positionals[own:]
    if arranged.rest is not None or arranged.command.name == "probe":
        remaining, others = arranged.positionals, ()
    words = (*command, *program, *others, *(arranged.rest or ()), *args)
    return replace(changed, positionals=remaining, rest=words)


def correct_separator(arranged: ArrangedWords) -> Correction | None:
    """Suggest the question with its program apart, where `--` stands among its own words."""
    rest = arranged.rest or ()
    # `crash -- timeout 5 ./x` has no words of its own, nor has a probe with `--at LOC EXPR`.
    names = [each.name for each in arranged.command.parameters]
    has_own = takes_command(arranged.command) and names.index("words") > 0
    if not has_own or not rest or begins_program(rest):
        return None
    at = find_program(rest, first=1)
    if at is None or arranged.positionals:
        return None
    own = arrange_words(arranged.name, arranged.command, (*arranged.given, *rest[:at]), rest[at:])
    return Correction("-- stands before the program", (own.to_words(),))
