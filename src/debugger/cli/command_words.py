"""Prepares a command line for the parser: other spellings, other orders, other debuggers' words."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import lru_cache
from typing import Final

from debugger.cli.reference import (
    GLOBAL_OPTIONS,
    HELP_FLAGS,
    PROGRAM,
    Paths,
    command_paths,
    is_switch,
    option_flags,
    subcommands,
)
from debugger.cli.translation.argument_order import (
    ArrangedWords,
    Correction,
    arrange_words,
    drop_needless,
    runs_program,
    takes_command,
)
from debugger.cli.translation.command_arguments import arrange_arguments
from debugger.cli.translation.command_translation import translate_command
from debugger.cli.translation.debugger_invocations import start_words, translate_invocation
from debugger.cli.translation.foreign_commands import CORRECTED_COMMANDS, EXACT_COMMANDS
from debugger.cli.translation.location_spelling import is_file_line, spell_locations
from debugger.cli.translation.loose_arguments import (
    convert_seconds,
    correct_extra_arguments,
    correct_option_words,
    correct_selection,
    take_argument_roles,
)
from debugger.cli.translation.misplaced_options import (
    correct_alias_behind_program,
    move_leading_options,
    take_options_behind,
)
from debugger.cli.translation.named_arguments import expand_named_arguments, read_request_object
from debugger.cli.translation.plain_sentences import correct_sentence
from debugger.cli.translation.program_words import begins_program
from debugger.cli.translation.question_order import is_question, order_question
from debugger.cli.translation.request_concepts import has_known_words
from debugger.cli.translation.request_reading import (
    is_sentence,
    read_request,
    suggest_for_program,
)
from debugger.cli.translation.session_programs import correct_session_program
from debugger.cli.translation.tool_invocations import correct_tool
from debugger.cli.translation.unknown_options import (
    correct_lacking,
    correct_spelling,
    drop_roles,
)
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.command_registry import Command, Registry

_NEAR: Final = 0.7
_LONGEST_NAME: Final = 3  # words of a command's name
_LEAST_LOST: Final = 4  # words of which a correction takes only the first
_LEAST_REQUEST: Final = 3  # words of a request
# A value of a program with a member, an element or a call: `order.price`.
_VALUE: Final = re.compile(r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_]\w*|->\w+|\[[^\]]+\]|\(.*\))+\Z")
_NAME: Final = re.compile(r"[A-Za-z_$][\w$.]*(?:->\w+|\[[^\]]+\])*\Z")
_ADDRESS: Final = re.compile(r"(?!ssh://)[\w.-]+:\d+\Z")
_SWITCH: Final = re.compile(r"-[A-Z][a-z]{3,}\Z")  # PowerShell's
_DEPTH: Final = 2  # how often a correction is itself put into order
_GLOBAL_VALUES: Final = frozenset(
    flag for each in GLOBAL_OPTIONS if not is_switch(each) for flag in option_flags(each)
)
_GLOBAL_SWITCHES: Final = frozenset(
    flag for each in GLOBAL_OPTIONS if is_switch(each) for flag in option_flags(each)
)


@dataclass(frozen=True)
class SplitArgv:
    """A command line: options of every command, the command's words, and those behind `--`."""

    common: tuple[str, ...]
    words: tuple[str, ...]
    rest: tuple[str, ...] | None

    def join_words(self) -> tuple[str, ...]:
        """Return the whole command line."""
        behind = () if self.rest is None else ("--", *self.rest)
        return (*self.common, *self.words, *behind)


def split_argv(argv: Sequence[str]) -> SplitArgv:
    """Separate the options of every command, and what stands behind `--`, from the words."""
    words: list[str] = []
    common: list[str] = []
    remaining = deque(argv)
    while remaining and remaining[0] != "--":
        word = remaining.popleft()
        if word in _GLOBAL_VALUES and remaining:
            common += [word, remaining.popleft()]
        elif word in _GLOBAL_SWITCHES or word.partition("=")[0] in _GLOBAL_VALUES:
            common.append(word)
        else:
            words.append(word)
    rest = tuple(remaining)[1:] if remaining else None
    return SplitArgv(tuple(common), tuple(words), rest)


def prepare_argv(
    argv: tuple[str, ...], registry: Registry, *, parses: Callable[[tuple[str, ...]], bool]
) -> tuple[str, ...]:
    """Return a command line in the words and the order that the parser takes.

    Args:
        argv: The words as typed, which are returned where nothing is to be changed.
        registry: All commands.
        parses: Tells whether the parser takes a command line.

    Raises:
        DebuggerError: USAGE; the hint is the command line, corrected and complete.
    """
    split = split_argv(_spell_switches(argv))
    moved = move_leading_options(split.words, _known_paths(registry))
    taken = _take_debug_server(replace(split, words=moved))
    if taken != split:
        argv = taken.join_words()
        split = split_argv(argv)
    if not HELP_FLAGS_SET.isdisjoint(split.words):
        return argv
    found = _prepare_words(split, _known_paths(registry))
    if isinstance(found, SplitArgv):
        return argv if found == split else found.join_words()
    is_session = split.words == ("use",)
    # Of the options of every command only those that choose what is done.
    common = () if is_session else _without_switches(split.common)
    correction = _complete_correction(found, common, registry, parses)
    if correction is None:
        return argv
    raise DebuggerError(ErrorCode.USAGE, correction.reason, hint=correction.hint)


def _take_debug_server(split: SplitArgv) -> SplitArgv:
    """Take `attach --host H --port P`, where no process is named, for `attach --connect H:P`."""
    common, others = [*split.common], [*split.words[1:]]
    is_named = any(not one.startswith("-") for one in others if not one.isdecimal())
    if split.words[:1] != ("attach",) or "--host" not in common[:-1] or is_named:
        return split
    at = common.index("--host")
    host = common[at + 1]
    if others[:1] == ["--port"] and ":" not in host:
        host = ":".join((host, *others[1:2]))
        others = others[2:]
    if not _ADDRESS.match(host) or any(one.isdecimal() for one in others):
        return split  # a process of that host
    del common[at : at + 2]
    return SplitArgv(tuple(common), ("attach", "--connect", host, *others), split.rest)


def _spell_switches(argv: tuple[str, ...]) -> tuple[str, ...]:
    """Spell PowerShell's `-Script app.py` with two dashes, before the program."""
    end = argv.index("--") if "--" in argv else len(argv)
    end = min(end, next((at for at in range(1, end) if begins_program(argv[at:])), end))
    own = (f"-{one.lower()}" if _SWITCH.match(one) else one for one in argv[:end])
    return (*own, *argv[end:])


def suggest_commands(
    argv: tuple[str, ...], registry: Registry, *, parses: Callable[[tuple[str, ...]], bool]
) -> Correction | None:
    """Return commands for a line of plain words that the parser refused: `step through add`."""
    split = split_argv(argv)
    if len(split.words) < _LEAST_REQUEST or any(one.startswith("-") for one in split.words):
        return None
    request = read_request(split.words, split.rest)
    if request is None:
        return None
    return _complete_correction(request, _without_switches(split.common), registry, parses)


HELP_FLAGS_SET: Final = frozenset(HELP_FLAGS)


def _without_switches(common: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(one for one in common if one not in _GLOBAL_SWITCHES)


def translate_help_words(words: Sequence[str], known: Paths) -> tuple[str, ...]:
    """Return our command for the words behind `help`; the words where there is none."""
    own = {path[0] for path in known}
    found = translate_command(words, own) if words and words[0] not in own else None
    if isinstance(found, Correction):
        found = found.commands[0]
    return tuple(words) if found is None or found[0].startswith("-") else found


@lru_cache(maxsize=2)
def _known_paths(registry: Registry) -> Paths:
    return command_paths(registry)


def _prepare_words(split: SplitArgv, known: Paths) -> SplitArgv | Correction:
    own = frozenset(path[0] for path in known)
    if (requested := read_request_object(split.words)) is not None:
        return requested
    foreign = _read_sentence(split, own) or _correct_tool_line(split, own)
    if foreign is not None or not split.words:
        return foreign or split
    typed = split.words
    translated = _translate_words(split, known, own)
    if split.words[0] not in own and _omits_program(translated, typed):
        translated = read_request(typed, split.rest) or translated
    if isinstance(translated, Correction):
        return translated
    split = replace(split, words=_add_subcommand(translated, split.rest, known))
    name = _find_name(split.words, known)
    if name is None:
        return _correct_unknown(split, typed, known) or split
    found = _correct_program_words(split, known[name]) or _arrange_command(split, name, known)
    is_dropped = isinstance(found, Correction) and found.commands[0] == name
    if is_dropped and (has_known_words(typed[1:]) or len(typed) >= _LEAST_LOST):
        return read_request(typed, split.rest) or found  # `go back one step`
    return found


def _read_sentence(split: SplitArgv, own: frozenset[str]) -> Correction | None:
    """Correct a sentence: `why does foo.py crash`."""
    words = split.words
    if (
        words[:1] == ("dap",) and words[1:] and not words[1].startswith("-")
    ):  # another command line of this name
        others = SplitArgv(split.common, words[1:], split.rest)
        return Correction("dap serves an editor", (others.join_words(),))
    is_free = bool(words) and words[0] not in _TAKE_WORDS
    request = None
    if is_free and is_sentence(words) and not _is_understood(words, own):
        request = read_request(words, split.rest)
    return request or correct_sentence(words, split.rest)


def _correct_tool_line(split: SplitArgv, own: frozenset[str]) -> Correction | None:
    """Correct the command line of another debugger or tool, and a program alone."""
    if split.words and split.words[0] in own:
        return None
    tool = correct_tool(split.words, split.rest or ()) if split.words else None
    return tool or translate_invocation(split.words, split.rest)


def _correct_unknown(split: SplitArgv, typed: tuple[str, ...], known: Paths) -> Correction | None:
    """Correct words of which the first is no command: the surest reading first."""
    return (
        _move_question(split, known)
        or _correct_prefix(split, known)
        or (None if _is_for_a_command(typed, known) else read_request(typed, split.rest))
        or _correct_value(split)
        or _correct_name(split, known)
        or suggest_for_program(typed, split.rest)
    )


def _correct_value(split: SplitArgv) -> Correction | None:
    """Suggest `print order.price` for the value alone, as pdb takes it, and `set` for `x = 3`."""
    name, *value = split.words
    if value[:1] == ["="] and value[1:] and split.rest is None and _NAME.match(name):
        return Correction("an assignment is set", (("set", name, " ".join(value[1:])),))
    is_alone = len(split.words) == 1 and split.rest is None
    if not is_alone or not _VALUE.match(split.words[0]) or begins_program(split.words):
        return None
    return Correction("a value is printed", (("print", *split.words),))


def _is_for_a_command(typed: tuple[str, ...], known: Paths) -> bool:
    """Return whether words begin with an option, or are `breakpoint`, which needs a word more."""
    is_alone = len(typed) == 1 and any(path[0] == typed[0] for path in known)
    return is_alone or typed[0].startswith("-")


def _correct_program_words(split: SplitArgv, command: Command) -> Correction | None:
    """Correct `why crash ./app`, `trace app.py f`, and a program in place of a value."""
    own = split.words[1:]
    if command.name == "why" and own and own[0] in _EVENTS:
        program = (*own[1:], *(split.rest or ()))
        if begins_program(program):
            return Correction("the question of it", ((_EVENTS[own[0]], "--", *program),))
    named = own[1:] if own[:1] == ("add",) else own
    if command.name == "trace add" and len(named) == len(("app.py", "f")) and split.rest is None:
        script = next((one for one in named if begins_program([one])), None)
        if script is not None and not is_file_line(script):
            function = named[1 if named[0] == script else 0]
            commands = (("calls", function, "--", script), ("trace", "add", function))
            return Correction("trace add takes functions", commands)
    return _correct_program_alone(split, command)


def _correct_program_alone(split: SplitArgv, command: Command) -> Correction | None:
    """Correct `why app.py` and `calls app.py`, which name a program instead of a value."""
    words = split.words[1:]
    is_trace = command.name == "trace add"
    if is_trace:
        words = words[1:] if words[:1] == ("add",) else words
    elif command.name not in {"why", "who-wrote", "calls", "holds"}:
        return None
    is_program = len(words) == 1 and begins_program(words) and not is_file_line(words[0])
    if not is_program or split.rest is not None:
        return None
    program = ("--", *words)
    if is_trace:
        in_file = ("trace", "add", f"@file:{words[0]}")
        return Correction("trace add takes functions", (("path", *program), in_file))
    if command.name == "calls":
        return Correction(
            "calls of which function?", (("path", *program), ("calls", "FUNCTION", *program))
        )
    question = (command.name, "EXPR", "--at", "LOC", *program)
    return Correction("a program has no value", (("crash", *program), question))


_EVENTS: Final = {"crash": "crash", "hang": "hang", "fail": "test"}
# These take words of any kind, in which a sentence is not to be looked for.
_TAKE_WORDS: Final = frozenset(
    {"print", "eval", "raw", "input", "holds", "try", "probe", "call", "read", "write", "start",
     "crash", "path", "hang", "calls", "member", "who-wrote", "p", "memory", "catch"}
)  # fmt: skip
# Commands that may be given a file or a path.
_TAKE_FILES: Final = _TAKE_WORDS | {
    "test", "diff", "source", "list", "break", "b", "breakpoint", "until", "attach", "start",
    "why", "evidence", "runs", "log", "trace", "jump", "watch", "dap", "config", "disassemble",
    "back-continue", "set", "mcp", "setup", "doctor", "ui", "tui", "skill",
}  # fmt: skip


def _omits_program(translated: tuple[str, ...] | Correction, typed: tuple[str, ...]) -> bool:
    """Check whether a translation has no place for the program that is typed: `timeline app.py`."""
    if not any(begins_program([one]) and not is_file_line(one) for one in typed[1:]):
        return False
    commands = translated.commands if isinstance(translated, Correction) else (translated,)
    return all(one[0] not in _TAKE_FILES for one in commands) and translated != typed


_UNDERSTOOD_MOST: Final = 2  # words of a command that a whole sentence stands for


def _is_understood(words: tuple[str, ...], own: frozenset[str]) -> bool:
    """Return whether a whole sentence is in the tables: `show me the stack`, `what is x`."""
    translated = translate_command(words, own)
    return isinstance(translated, tuple) and len(translated) <= _UNDERSTOOD_MOST


def _translate_words(
    split: SplitArgv, known: Paths, own: frozenset[str]
) -> tuple[str, ...] | Correction:
    """Translate the first words, where they are no command of ours with its subcommand."""
    words = split.words
    if words == ("use",) and split.common[:1] == ("--session",):
        return Correction("use takes the name itself", (("use", split.common[1]),))
    near = _correct_subcommand(words, known)
    if near is not None or (words[:2] in known and len(words) > 1):
        return near or words
    translated = translate_command(words, own)
    if isinstance(translated, Correction):
        return _add_rest(translated, split.rest)
    if translated == ("restart",) and split.rest and begins_program(split.rest):
        return Correction("a program is started", (start_words(split.rest),))
    if translated == ("restart",) and split.rest:
        return _add_rest(Correction("which program?", (("start", "PROGRAM"),)), split.rest)
    return translated or words


def _add_rest(correction: Correction, rest: tuple[str, ...] | None) -> Correction:
    """Put what stands behind `--` behind the first suggested command."""
    first, *others = correction.commands
    if not rest or "--" in first:
        return correction
    return replace(correction, commands=((*first, "--", *rest), first, *others))


def _arrange_command(
    split: SplitArgv, name: tuple[str, ...], known: Paths
) -> SplitArgv | Correction:
    """Put a known command's words into order."""
    words = expand_named_arguments(known[name], split.words[len(name) :])
    split = replace(split, words=(*name, *words))
    typed = take_options_behind(arrange_words(name, known[name], words, split.rest))
    of_program = correct_session_program(typed) or correct_alias_behind_program(typed)
    if of_program is not None:
        return of_program
    arranged = spell_locations(drop_needless(typed))
    found: ArrangedWords | Correction = arranged
    if not arranged.unknown or arranged.command.name == "backtrace":
        order = order_question if is_question(arranged) else arrange_arguments
        found = correct_selection(arranged) or correct_option_words(arranged) or order(arranged)
    if found is arranged:
        found = _correct_options(arranged)
    if isinstance(found, ArrangedWords) and not arranged.unknown:
        found = _take_loose_arguments(found)
    if isinstance(found, Correction):
        return found
    if found.unknown and found is arranged:
        if typed.is_changed:  # else the parser would name an option that is understood
            path = known[name].name
            message = f"{path}: no option {found.unknown[0][1]}"
            raise DebuggerError(ErrorCode.USAGE, message, hint=f"{PROGRAM} {path} --help")
        return split
    if (without := drop_roles(found)) is not None:
        return without
    if not found.is_changed:
        return split
    return SplitArgv(split.common, *_split_rest(found))


def _correct_options(arranged: ArrangedWords) -> ArrangedWords | Correction:
    """Correct options that a command does not have, or that lack their value."""
    found: ArrangedWords | Correction = arranged
    if arranged.unknown:
        found = correct_selection(arranged) or correct_spelling(arranged) or arranged
    if found is arranged and arranged.lacking is not None and arranged.rest is None:
        found = correct_lacking(arranged) or arranged
    return found


def _take_loose_arguments(arranged: ArrangedWords) -> ArrangedWords | Correction:
    """Take options that stand for arguments, and correct words that the command does not take."""
    if not is_question(arranged):
        arranged = take_argument_roles(arranged)
    arranged = convert_seconds(arranged)
    if arranged.name[0] not in {"disassemble", "until", "backtrace", "print"}:
        return correct_extra_arguments(arranged) or arranged
    return arranged


def _split_rest(found: ArrangedWords) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    words = found.to_words()
    if "--" not in words:
        return words, None
    at = words.index("--")
    return words[:at], words[at + 1 :]


def _find_name(words: Sequence[str], known: Paths) -> tuple[str, ...] | None:
    """Return the command's name at the beginning of the words; a group takes its subcommand."""
    for size in range(min(_LONGEST_NAME, len(words)), 0, -1):
        if tuple(words[:size]) in known:
            return tuple(words[:size])
    return None


def _add_subcommand(
    words: tuple[str, ...], rest: tuple[str, ...] | None, known: Paths
) -> tuple[str, ...]:
    """Take `breakpoint LOC` for `breakpoint add LOC`, and `memory --count 4` for its `read`."""
    if words[0] == "trace" and words[:2] not in known and (rest or len(words) > 1):
        return ("trace", "add", *words[1:])
    if words[0] == "memory" and words[1:] and words[1].startswith("--"):
        return ("memory", "read", *words[1:])
    if words[:2] == ("evidence", "--id"):
        return ("evidence", "show", *words[1:])
    if words[0] != "breakpoint" or len(words) == 1:
        return words
    is_named = words[:2] in known or words[1] == HELP_FLAGS[0]
    return words if is_named else ("breakpoint", "add", *words[1:])


def _correct_subcommand(words: tuple[str, ...], known: Paths) -> Correction | None:
    """Correct the misspelt second word of a group: `breakpoint lst`."""
    if len(words) == 1 or words[:1] in known or words[:2] in known:
        return None
    below = subcommands(known, words[:1])
    if not below or f"{words[0]} {words[1]}" in EXACT_COMMANDS:
        return None
    near = get_close_matches(words[1], below, n=1, cutoff=_NEAR)
    if not near:
        return None
    commands = [(words[0], near[0], *words[2:])]
    if words[0] in {"breakpoint", "trace"}:
        commands.append((words[0], "add", *words[1:]))
    return Correction(f"no command {words[0]} {words[1]}", tuple(commands))


_ENDS: Final = frozenset({"stop", "stop --kill"})


def _move_question(split: SplitArgv, known: Paths) -> Correction | None:
    """Suggest `why total` for `total why`, where a program stands behind `--`."""
    at = next(
        (
            index
            for index, one in enumerate(split.words[:_LONGEST_NAME])
            if index and (one,) in known and takes_command(known[one,])
        ),
        None,
    )
    if at is None or split.rest is None:
        return None
    own = [each.name for each in known[split.words[at],].parameters].index("words")
    behind = (*split.words[:at], *split.words[at + 1 :])
    is_filler = own == 0 and split.words[at] != "probe"  # `analyse crash`: it takes no words
    words = (split.words[at], *(split.words[at + 1 :] if is_filler else behind))
    return Correction("the question comes first", ((*words, "--", *split.rest),))


_PREFIX: Final = re.compile(r"(?:-exec-|-gdb-|gud-|db|ps|d|:|,|/|\.|%|!)-?(?=\w\w)")


def _correct_prefix(split: SplitArgv, known: Paths) -> Correction | None:
    """Suggest `step` for TotalView's `dstep`, Octave's `dbstep` and Guile's `,step`."""
    first, *others = split.words
    if first == "-exec" and others:  # an editor's console: `-exec info threads`
        return Correction(
            "the command alone", ((*others, *(("--", *split.rest) if split.rest else ())),)
        )
    name = _PREFIX.sub("", first, count=1)
    own = {path[0] for path in known}
    joined = {one.replace("-", ""): one for one in own}  # ocamldebug's `backstep`
    name = joined.get(first.lower(), name)
    listed = own | EXACT_COMMANDS.keys() | CORRECTED_COMMANDS.keys()
    if name == first or listed.isdisjoint({name, f"{name} *"}):
        return None
    behind = () if split.rest is None else ("--", *split.rest)
    return Correction(f"no command {first!r}", ((name, *others, *behind),))


def _correct_name(split: SplitArgv, known: Paths) -> Correction | None:
    """Correct a misspelt command: `backtrce --limit 3`."""
    first, *others = split.words
    single = {path[0] for path in known} | {one for one in EXACT_COMMANDS if one.isalpha()}
    if first.startswith("-") or (first in single and subcommands(known, (first,))):
        return None
    behind = () if split.rest is None else ("--", *split.rest)
    if split.rest is not None:  # a program is run by a question, or started
        single = {one for one in single if (one,) in known and runs_program(known[one,])}
    near = get_close_matches(first.lower(), sorted(single), n=3, cutoff=_NEAR)
    # What ends a session has no arguments that another command would have.
    near = [one for one in near if EXACT_COMMANDS.get(one, one) not in _ENDS or (
        not others and _is_slip(first.lower(), one)
    )]  # fmt: skip
    near.sort(key=lambda one: (one,) not in known and not subcommands(known, (one,)))
    commands = tuple((one, *others, *behind) for one in near)
    return Correction(f"no command {first!r}", commands) if commands else None


def _is_slip(typed: str, name: str) -> bool:
    """Return whether a word is a name with letters swapped or doubled, not another word: `edit`."""
    return sorted(set(typed)) == sorted(set(name))


def _complete_correction(
    correction: Correction,
    common: tuple[str, ...],
    registry: Registry,
    parses: Callable[[tuple[str, ...]], bool],
) -> Correction | None:
    """Put each suggested command into our order, and keep those that the parser takes."""
    lines: list[tuple[str, ...]] = []
    for command in correction.commands:
        words = command
        for _ in range(_DEPTH):
            found = _prepare_words(split_argv(words), _known_paths(registry))
            if isinstance(found, SplitArgv):
                words = words if found == split_argv(words) else _typed_order(found, registry)
                break
            words = found.commands[0]
        is_help = words[-1:] == (HELP_FLAGS[0],) or words == ("--version",)
        if is_help or parses(words):
            lines.append((*common, *words))
    unique = tuple(dict.fromkeys(lines))
    return Correction(correction.reason, unique) if unique else None


def _typed_order(split: SplitArgv, registry: Registry) -> tuple[str, ...]:
    """Return the words with the arguments first, as a person types them."""
    known = _known_paths(registry)
    name = _find_name(split.words, known)
    if name is None:
        return split.join_words()
    words = split.words[len(name) :]
    return arrange_words(name, known[name], words, split.rest).to_typed_order()
