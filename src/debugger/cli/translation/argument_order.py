"""Separates a command's words into options and arguments, whatever their order and spelling."""

from __future__ import annotations

import re
import shlex
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from debugger.cli.reference import (
    GLOBAL_OPTIONS,
    HELP_FLAGS,
    PROGRAM,
    is_switch,
    option_parameters,
    understood_flags,
)
from debugger.model.command_registry import Command

# Spellings of an option that other debuggers and other commands use: the first of these flags
# that the command has is meant. A value that begins with `+` is a role: no option of ours, but
# what `question_order` and `location_order` put in its place.
_CONDITION: Final = ("--condition", "--when", "+condition")
# Options whose value is a command where it has several words.
_OF_COMMAND: Final = frozenset({("crash", "-c"), ("diff", "--first")})
# Options of `start` that interpreters have, too, and what the value of ours looks like.
_OF_PROGRAM: Final = {"-c": re.compile(r"[<>]|[=!]="), "-e": re.compile(r"^\w+=")}
_COUNT: Final = ("--hit-count", "--hit", "--nth", "--limit", "--tail", "--count", "+count")
_FUNCTION: Final = ("--function", "--around", "+function")
_PLACE: Final = ("--break", "--at", "--around", "+location")
OPTION_SPELLINGS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("--if", "--condition", "--cond", "--when", "--where", "-c"), _CONDITION),
    **dict.fromkeys(("--only-if", "--filter", "--predicate"), _CONDITION),
    "--count": ("--hit-count", "--limit", "--tail", "+count"),
    "--num": ("--count", "--limit", "--tail", "+count"),
    **dict.fromkeys(("--within", "--inside"), ("--in",)),
    **dict.fromkeys(("--times", "--steps"), ("--limit", "+count")),
    **dict.fromkeys(("--first", "--frames"), ("--limit",)),
    "--all-threads": ("--all",),
    **dict.fromkeys(("--cmd", "--command", "--run", "--exec"), ("+command",)),
    **dict.fromkeys(("--hits", "--hit", "--hit-count", "--nth"), _COUNT[:3]),
    **dict.fromkeys(("--call", "--n", "--occurrence", "--iteration"), ("--nth",)),
    **dict.fromkeys(("--only-changes", "--on-change", "--changed", "--diffs"), ("--changes",)),
    **dict.fromkeys(("--unique", "--distinct"), ("--changes",)),
    # What every debugger's configuration has, and this one finds out by itself.
    **dict.fromkeys(("--lang", "--language", "--request", "--console"), ("+ignored",)),
    "--just-my-code": ("+nothing",),
    **dict.fromkeys(("--verbose", "--quiet", "--debug", "--no-pager", "--batch"), ("+verbosity",)),
    **dict.fromkeys(("--interactive", "--non-interactive", "--silent"), ("+verbosity",)),
    **dict.fromkeys(("--crash", "--fail", "--at-crash", "--at-fail"), ("+event",)),
    **dict.fromkeys(("--every", "--always", "--for-each", "--functions", "--methods"), ("--each",)),
    **dict.fromkeys(("--invariant", "--assert", "--check"), ("--expect", "+expression")),
    **dict.fromkeys(("--memory-reference", "--start"), ("+address",)),
    "--core-path": ("--core",),
    **dict.fromkeys(("--ignore", "--ignore-count", "--skip"), ("+ignore",)),
    **dict.fromkeys(("--max", "--max-hits", "--max-count", "--last"), ("--tail", "--limit")),
    "-n": ("--tail", "--limit", "--count", "+count"),
    "--stop-after": ("--limit",),
    "--tail": ("--last",),
    **dict.fromkeys(("--lines", "-C"), ("--tail", "--context", "--limit")),
    **dict.fromkeys(("--levels", "--max-depth"), ("--depth",)),
    **dict.fromkeys(("--once", "--one-shot", "--temp"), ("--temporary",)),
    **dict.fromkeys(("--message", "--log-message", "--logpoint", "--text"), ("--log", "+text")),
    **dict.fromkeys(("--tid", "--thread-id", "--goroutine"), ("--thread",)),
    **dict.fromkeys(("--member", "--rank", "--ranks"), ("--members",)),
    **dict.fromkeys(("--func", "--fn", "--function", "--method"), _FUNCTION),
    "--name": (*_FUNCTION[:2], "--session", "+function"),
    **dict.fromkeys(("--session-id", "--session-name", "--sid"), ("--session",)),
    **dict.fromkeys(("--breakpoint", "--bp", "--breakpoints", "--break", "-b"), _PLACE),
    **dict.fromkeys(("--stop-at", "--break-at", "--pause-at"), _PLACE),
    **dict.fromkeys(("--location", "--loc", "--at", "--place", "--address", "--addr"), _PLACE[1:]),
    **dict.fromkeys(("--locations", "--where-at", "--point", "--site"), _PLACE[1:]),
    **dict.fromkeys(("--probe", "--probe-at", "--probe-location"), _PLACE[1:]),
    **dict.fromkeys(("--line", "-l", "--lineno", "--line-number"), ("+line",)),
    **dict.fromkeys(("--file", "--source-file", "--source", "--file-path"), ("+file",)),
    **dict.fromkeys(("--path", "--filename", "--file-name", "--filepath"), ("+file",)),
    **dict.fromkeys(("--level", "--id", "--number", "--index", "--ref"), ("+argument",)),
    **dict.fromkeys(("--expr", "--expression", "--print", "--eval", "-e"), ("+expression",)),
    **dict.fromkeys(("--exprs", "--expressions", "--values", "--variables"), ("+expression",)),
    **dict.fromkeys(("--var", "--variable", "--vars", "--value", "--show"), ("+expression",)),
    **dict.fromkeys(("--inspect", "--watch", "--field"), ("+expression",)),
    **dict.fromkeys(("--capture", "--record", "--collect", "--symbol"), ("+expression",)),
    **dict.fromkeys(("--set", "--assign"), ("+expression",)),
    **dict.fromkeys(("--args", "--argv", "--arguments", "--program-args"), ("+args",)),
    **dict.fromkeys(("--entrypoint", "--entry-point", "--main", "--app", "--prog"), ("+program",)),
    **dict.fromkeys(
        ("--program", "--script", "--exe", "--executable", "--target", "--binary"), ("+program",)
    ),
    **dict.fromkeys(
        ("--workdir", "--working-directory", "--working-dir", "--wd", "--directory"), ("--cwd",)
    ),
    "--environment": ("--env",),
    "--input": ("--stdin",),
    **dict.fromkeys(("--time-limit", "--max-time", "--seconds"), ("--timeout",)),
    **dict.fromkeys(("--duration", "--sample-time"), ("--after", "--timeout")),
    **dict.fromkeys(("--wait", "--for"), ("--after", "--timeout")),
    **dict.fromkeys(("-p", "--process", "--attach", "--process-id"), ("--pid", "+pid")),
    "-s": ("--session",),
    "--process-name": ("--name",),
    "--pid": ("+pid",),
    **dict.fromkeys(("--stop-at-entry", "--break-on-entry"), ("--stop-on-entry",)),
    **dict.fromkeys(("--stop-at-start", "--pause-at-start", "--stop"), ("--stop-on-entry",)),
    **dict.fromkeys(("--stop-at-main", "--entry", "--pause-on-entry"), ("--stop-on-entry",)),
    **dict.fromkeys(("--pause-on-start", "--stop-on-start", "--pause"), ("--stop-on-entry",)),
    **dict.fromkeys(("--wait-for-entry", "--break-at-entry", "--paused"), ("--stop-on-entry",)),
    "--debugger": ("--adapter",),
    **dict.fromkeys(("--runtime", "--interpreter", "--python-path"), ("--python",)),
    "--after-cursor": ("--since",),
    **dict.fromkeys(("--length", "--len", "--bytes"), ("--count",)),
    **dict.fromkeys(("--nowait", "--background", "--async", "--detach"), ("--no-wait",)),
    **dict.fromkeys(("--against", "--versus", "--compare", "--compare-with", "--diff"), ("--vs",)),
    **dict.fromkeys(("--good", "--baseline", "--passing"), ("--vs",)),
    **dict.fromkeys(("--bad", "--failing"), ("+command",)),
    **dict.fromkeys(("--full", "--with-locals"), ("--locals",)),
    "-a": ("--all",),
    "--fmt": ("--format",),
    "--type": ("--kind",),
    "--host": ("--connect",),
    "--remote": ("--connect",),
}
# Where a spelling means something else for one command.
COMMAND_SPELLINGS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "breakpoint add": {"-n": ("--function",), "-o": ("+once",), "-i": ("+ignore",),
                       "--script": ("+file",), "-t": ("--thread",), "-a": ("+address",),
                       "--address": ("+address",), "--addr": ("+address",),
                       **dict.fromkeys(("-M", "-S", "-F"), ("--function",))},
    "probe": {**dict.fromkeys(("--arg", "--param"), ("+expression",)),
              "-f": ("+file",), "--entry": ("--at",), "--on": ("--at",), "--before": ("--at",),
              "--func": ("--at",), "--function": ("--at",), "--fn": ("--at",),
              "--name": ("--at",)},
    "crash": {"-c": ("--core",), "--command": ("+command",)},
    "holds": dict.fromkeys(("--function", "--func", "--fn", "--name"), ("--each",)),
    "test": {"--runner": ("+command",), "--framework": ("+command",),
             "-k": ("+pattern",), "--filter": ("+pattern",),
             **dict.fromkeys(("--file", "--test", "--tests", "--name", "--path", "--test-name"),
                             ("+program",))},
    "print": {"--context": ("+ignored",)}, "eval": {"--context": ("+ignored",)},
    "diff": {"--on": ("--at",), "--before": ("--vs",), "--a": ("+command",), "--b": ("--vs",),
             **dict.fromkeys(("--cmd1", "--command1", "--run1", "--new", "--left"), ("+command",)),
             **dict.fromkeys(("--cmd2", "--command2", "--run2", "--old", "--right"), ("--vs",)),
             "--second": ("--vs",)},
    "stop": dict.fromkeys(("-f", "--force"), ("--kill",)),
    "restart": {"--wait": ("+nothing",)},
    "continue": {"--wait": ("+nothing",), "--until": ("+location",), "--to": ("+location",)},
    "start": {"--wait": ("+nothing",), "-e": ("--env",), "--core": ("+core",), "--line": ("+line",),
              "--name": ("--session",), "--type": ("+ignored",), "--file": ("+file",),
              "--inspect-brk": ("--stop-on-entry",), "--inspect": ("+nothing",),
              "--catch": ("+exceptions",), "--break-on-exception": ("+exceptions",),
              "--break-on-exceptions": ("+exceptions",), "--run": ("+nothing",),
              "--arg": ("+args",), "--until": ("--break",), "--stop-at-main": ("+main",)},
    "attach": {"--all": ("--group",), "--docker": ("--container",),
               "--stop": ("--pause",), "-n": ("--name",), "-c": ("--core",), "--port": ("+port",),
               "--host": ("+host",), "--type": ("+ignored",),
               **dict.fromkeys(("--listen", "--url", "--address", "--server"), ("--connect",))},
    "setup": {"--install": ("--yes",)},
    "path": {"--near": ("--around",),
             "--at": ("--around",), "--break": ("--around",), "--from": ("+from",),
             "--to": ("+to",)},
    **{name: dict.fromkeys(("--name", "--target", "--of"), ("+expression",))
       | {"--before": ("--at",)} for name in ("why", "who-wrote")},
    "calls": {"--at": ("+function",), "--name": ("+function",), "--invocation": ("--nth",)},
    "backtrace": {"-t": ("--thread",),
                  "-c": ("--limit",), "--depth": ("--limit",), "--count": ("--limit",),
                  "-f": ("--locals",), "--frame": ("+ignored",)},
    "disassemble": {"-n": ("+address",), "--name": ("+address",), "-c": ("--count",),
                    "-f": ("+nothing",), "--frame": ("+nothing",)},
    "step": {"-i": ("--instruction",), "-c": ("+count",)},
    "next": {"-i": ("--instruction",), "-c": ("+count",)},
    "memory read": {"-c": ("--count",), "-s": ("+size",), "--size": ("+size",),
                    "-f": ("--format",), "-count": ("--count",), "-size": ("+size",),
                    "-fmt": ("--format",), "-len": ("--count",)},
    "source": {"--around": ("+location",), "-n": ("+function",), "-f": ("+file",),
               "--function": ("--function",),
               "--name": ("+function",)},
    "mcp": {"--port": ("+port",)}, "dap": {"--port": ("+port",)},
    "locals": {"-f": ("--frame",)}, "breakpoint remove": {"-f": ("+file",)},
    "catch": {"--type": ("+type",)},
    "registers": {"--all": ("+all",), "-a": ("+all",)},
    "events": {"--last": ("--limit",), "--tail": ("--limit",), "--name": ()},
    "breakpoint list": {"--name": ("--session",)},
    "evidence export": dict.fromkeys(("--output", "-o", "--out"), ("+argument",)),
    "runs remove": {"--name": ("+argument",)},
    "skill": {"--question": ("+argument",)},
    "try": {**dict.fromkeys(("--at", "--location", "--to"), ("--until",)),
            "--return": ("+return",)},
    "output": {"-f": ("--follow",), "--since-last": ("+nothing",), "--new": ("+nothing",)},
}  # fmt: skip
# Spellings that may mean two things: they are corrected, not understood.
AMBIGUOUS_FLAGS: Final[Mapping[tuple[str, str], str]] = {
    ("calls", "-n"): "--nth",
    ("hang", "-t"): "--after",
    ("events", "--name"): "--session",
    ("path", "--name"): "--around",
    ("setup", "--all"): "--list",
}
_SWITCH_ROLES: Final = frozenset({"+all", "+nothing", "+exceptions", "+event", "+main"})
_ROLE_FLAGS: Final[Mapping[str, str]] = {"+event": "--at", "+output": "--json"}
# Without a number these mean one.
_OUTPUT_FORMS: Final = frozenset(
    {"--format", "--output-format", "--fmt", "-o", "--output", "--output-type", "--as", "--style"}
)
_CONDITION_FLAGS: Final = frozenset({*_CONDITION, "--if", "-c"})
_CONNECTIVES: Final = frozenset({"and", "or", "&&", "||", ">", "<", ">=", "<=", "==", "!=", "is"})
_COUNTS_OF_ONE: Final = frozenset({"--first", "--last"})
_OF_EXPRESSIONS: Final = frozenset({"print", "eval", "watch"})
_LONG_OPTION: Final = re.compile(r"--[a-z][a-z-]{2,}\Z")
_NUMBER: Final = re.compile(r"-\.?\d")
_SHORTEST_PREFIX: Final = len("--abc")


@dataclass(frozen=True)
class Correction:
    """A refusal whose hint is the user's command as it should be typed, ready to paste."""

    reason: str
    # The likeliest first; each without the program's name.
    commands: tuple[tuple[str, ...], ...]

    @property
    def hint(self) -> str:
        """The commands as typed in a shell."""
        return "; ".join(f"{PROGRAM} {shlex.join(words)}" for words in self.commands)


@dataclass(frozen=True)
class ArrangedWords:
    """A command's words by kind."""

    name: tuple[str, ...]  # of the command, as typed
    command: Command
    options: tuple[tuple[str, tuple[str, ...]], ...] = ()
    positionals: tuple[str, ...] = ()
    # What stands behind `--`; None without one.
    rest: tuple[str, ...] | None = None
    # Options that the command does not have, with their index in `given`.
    unknown: tuple[tuple[int, str], ...] = ()
    # The option that lacks its value, before `--`.
    lacking: str | None = None
    given: tuple[str, ...] = ()
    # Whether a word was spelled or placed otherwise than the parser takes it.
    is_changed: bool = False

    def role_values(self, role: str) -> list[str]:
        """Return the values of an option or a role, in order."""
        return [value for flag, values in self.options if flag == role for value in values]

    def change(
        self,
        *,
        without: Iterable[str] = (),
        add: Iterable[tuple[str, tuple[str, ...]]] = (),
        positionals: Iterable[str] | None = None,
    ) -> ArrangedWords:
        """Return the words without some options and roles, with others, or other arguments."""
        dropped = set(without)
        return replace(
            self,
            options=(*(one for one in self.options if one[0] not in dropped), *add),
            positionals=self.positionals if positionals is None else tuple(positionals),
            is_changed=True,
        )

    def to_words(self) -> tuple[str, ...]:
        """Return the words in the order that the parser takes: name, options, arguments."""
        words = [*self.name]
        for flag, values in self.options:
            words += [flag, *values]
        if self.positionals[:1] and self.positionals[0].startswith("-") and self.rest is None:
            words.append("--")
        words += self.positionals
        if self.rest is not None:
            words += ["--", *self.rest]
        return tuple(words)

    def to_typed_order(self) -> tuple[str, ...]:
        """Return the words with the arguments first, as a person types them."""
        is_text = self.command.dashes_are_words
        if is_text or any(one.startswith("-") for one in self.positionals):
            return self.to_words()
        words = [*self.name, *self.positionals]
        for flag, values in self.options:
            words += [flag, *values]
        return (*words, *(() if self.rest is None else ("--", *self.rest)))


@cache
def value_counts(command: Command) -> Mapping[str, int]:
    """Return the number of words that each option takes; 0 for a switch."""
    return {
        flag: 0 if is_switch(each) else each.word_count
        for each in (*option_parameters(command), *GLOBAL_OPTIONS)
        for flag in understood_flags(each)
    } | dict.fromkeys(HELP_FLAGS, 0)


def resolve_flag(command: Command, flag: str) -> str | None:
    """Return the command's own flag, or the role, that a spelling means; None if unknown."""
    known = value_counts(command)
    if flag in known:
        return flag
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", flag).lower().replace("_", "-")
    plain = plain if flag.startswith("--") else flag
    if plain in known:
        return plain
    if (command.name, plain) in AMBIGUOUS_FLAGS:
        return None
    own = COMMAND_SPELLINGS.get(command.name, {})
    for other in (*own.get(plain, ()), *OPTION_SPELLINGS.get(plain, ())):
        if other.startswith("+") or other in known:
            return other
    if plain.startswith("--") and len(plain) >= _SHORTEST_PREFIX:
        fitting = [one for one in known if one.startswith(plain)]
        if len(fitting) == 1:
            return fitting[0]
    return None


def arrange_words(
    name: Sequence[str], command: Command, words: Sequence[str], rest: Sequence[str] | None
) -> ArrangedWords:
    """Separate a command's words before `--` into options with their values, and arguments."""
    options: list[tuple[str, tuple[str, ...]]] = []
    positionals: list[str] = []
    unknown: list[tuple[int, str]] = []
    lacking, is_changed = None, False
    remaining = deque(enumerate(words))
    while remaining:
        index, word = remaining.popleft()
        is_only = not positionals and not remaining
        if not _is_option(command, word, is_first=not positionals, is_only=is_only):
            positionals.append(word)
            continue
        typed, is_joined, joined = word.partition("=")
        given = joined if is_joined else None
        flag = _resolve_typed(command, typed, given, remaining)
        if flag == "+verbosity":  # of the program, where it may stand before this
            flag = "+nothing" if rest is not None or not runs_program(command) else None
        if flag is None:
            unknown.append((index, word))
            positionals.append(word)
            continue
        if flag == "+args":  # everything behind it belongs to the program
            options.append((flag, tuple(text for _, text in remaining)))
            is_changed = True
            break
        count = _count_values(command, flag)
        truth = None if count else _take_truth(given, remaining, is_alias=flag != typed)
        if truth is False:
            is_changed = True
            continue
        if truth is None and not count:
            unknown.append((index, word))
            continue
        is_count = typed in _COUNTS_OF_ONE and count == 1 and not flag.startswith("+")
        is_one = is_count and given is None and _lacks_number(remaining)
        is_changed |= flag != typed or is_one or bool(is_joined and count != 1)
        before = len(remaining)
        values = _take_values(command, flag, "1" if is_one else given, remaining)
        is_changed |= before - len(remaining) > count  # `--if x > 3`
        if len(values) < count and not (count > 1 and values and _is_place_option(command, flag)):
            lacking = flag
        options.append((_ROLE_FLAGS.get(flag, flag), _role_values(flag, typed, values)))
    return ArrangedWords(
        tuple(name), command, tuple(options), tuple(positionals),
        None if rest is None else tuple(rest), tuple(unknown), lacking, tuple(words), is_changed,
    )  # fmt: skip


def drop_needless(arranged: ArrangedWords) -> ArrangedWords:
    """Drop options that every debugger's configuration has, and that this one does not need."""
    needless = ("+ignored", "+nothing")
    if not any(flag in needless for flag, _ in arranged.options):
        return arranged
    return arranged.change(without=needless)


def _resolve_typed(  # noqa: PLR0911 - one for each spelling
    command: Command, typed: str, given: str | None, left: deque[tuple[int, str]]
) -> str | None:
    """Return the flag or role of an option; None for one that the command does not have."""
    flag = resolve_flag(command, typed)
    # `diff --before "python old.py" --after "python new.py"`; an event is LOC, or `LOC if COND`.
    following = (given if given is not None else left[0][1] if left else "").split()
    if (command.name, flag) == ("diff", "--after") and len(following) > 1 and following[1] != "if":
        return "+command"
    if typed == "--wait" and following and following[0].isdecimal() and flag == "+nothing":
        return "--timeout"
    if typed == "--for" and following and not following[0][:1].isdecimal():
        return "+ignored"  # `wait --for stopped`
    if typed in _OUTPUT_FORMS and following == ["json"]:  # `--format json`
        return "+output"
    if typed in _OUTPUT_FORMS and following in (["text"], ["plain"]) and flag != "--log":
        return "+ignored"
    if (command.name, typed) in _OF_COMMAND and len(following) > 1:
        return "+command"
    if (command.name, typed) == ("start", "--name") and len(following) > 1:
        return "--config"  # the name of a configuration has words, that of a session has not
    if command.name == "start" and typed in _OF_PROGRAM:
        # `start python3 -c CODE`: an option of the program, unless its value is one of ours.
        return flag if _OF_PROGRAM[typed].search(" ".join(following)) else None
    if flag == "+command" and given is None and _is_unquoted(left):
        return "+args"
    return "+arg" if flag == "+args" and given is not None else flag


def find_own_option(arranged: ArrangedWords) -> int:
    """Return where an option of the command is among the words behind `--args`; 0 without one."""
    args = arranged.role_values("+args")
    for index, word in enumerate(args):
        if word.startswith("--") and resolve_flag(arranged.command, word.partition("=")[0]):
            return index
    return 0


def _take_truth(given: str | None, left: deque[tuple[int, str]], *, is_alias: bool) -> bool | None:
    """Return whether a switch is on: `--stopAtEntry true`; None for another value."""
    if given is None and is_alias and left and left[0][1] in {"true", "false"}:
        given = left.popleft()[1]
    if given is None or given.lower() in {"", "true", "1", "yes"}:
        return True
    return False if given.lower() in {"false", "0", "no"} else None


def _take_values(
    command: Command, flag: str, given: str | None, left: deque[tuple[int, str]]
) -> list[str]:
    """Take the values of an option from the words behind it."""
    count = _count_values(command, flag)
    values = [given] if given is not None and count else []
    while len(values) < count and left:
        if len(values) == 1 and _lacks_expression(command, flag, left[0][1]):
            break
        values.append(left.popleft()[1])
    while flag in _CONDITION_FLAGS and len(left) > 1 and left[0][1] in _CONNECTIVES:
        values[-1] = f"{values[-1]} {left.popleft()[1]} {left.popleft()[1]}"
    return values


def _role_values(flag: str, typed: str, values: list[str]) -> tuple[str, ...]:
    if flag == "+event":  # `--crash`
        return (typed.removeprefix("--").removeprefix("at-"),)
    return () if flag == "+output" else tuple(values)


def _is_unquoted(left: deque[tuple[int, str]]) -> bool:
    """Return whether a command is typed as several words: `--cmd python x.py`."""
    is_one = not left or " " in left[0][1] or len(left) == 1
    return not is_one and not left[1][1].startswith("--")


def _lacks_number(left: deque[tuple[int, str]]) -> bool:
    return not left or re.fullmatch(r"-?\d+", left[0][1]) is None


def _count_values(command: Command, flag: str) -> int:
    if flag.startswith("+"):
        return 0 if flag in _SWITCH_ROLES else 1
    return value_counts(command)[flag]


def _is_place_option(command: Command, flag: str) -> bool:
    """Return whether an option takes a location, and expressions which may be elsewhere."""
    return flag == "--at" and value_counts(command)[flag] > 1


def _lacks_expression(command: Command, flag: str, word: str) -> bool:
    """Return whether the word behind `--at LOC` is an option, not its expressions."""
    if not _is_place_option(command, flag):
        return False
    # `-x` may be an expression; `--x` would decrement a variable.
    is_option = _is_option(command, word, is_first=False)
    return is_option and (
        word.startswith("--") or resolve_flag(command, word.partition("=")[0]) is not None
    )


def _is_option(command: Command, word: str, *, is_first: bool, is_only: bool = False) -> bool:
    if len(word) == 1 or not word.startswith("-") or word == "--" or _NUMBER.match(word):
        return False
    if not command.dashes_are_words:
        return True
    typed = word.partition("=")[0]
    is_known = typed in value_counts(command) or resolve_flag(command, typed) is not None
    is_own_form = typed.startswith("--") or (is_first and typed in value_counts(command))
    is_expression = command.name in _OF_EXPRESSIONS and not is_only
    if is_expression and _LONG_OPTION.match(word) and not is_known:
        return True  # not the expression `x --full`
    if is_first and command.name == "watch" and typed == "-c":
        return True
    return is_known and is_own_form and _could_be_option(command, typed)


def _could_be_option(command: Command, typed: str) -> bool:
    """Tell `--if` from the expression `--count`, which decrements a variable."""
    if command.name == "raw" or typed in value_counts(command):
        return typed in value_counts(command)
    flag = resolve_flag(command, typed) or ""
    if flag == "+ignored" and typed != "--lang":
        return True
    if command.name == "watch" and typed in {"--var", "--variable"}:
        return True
    return flag in {"--condition", "--format", "--thread", "--depth"} or typed in {
        "--expr",
        "--expression",
    }


def runs_program(command: Command) -> bool:
    """Return whether a command takes a program with arguments of its own behind `--`."""
    return command.name == "start" or takes_command(command)


def takes_command(command: Command) -> bool:
    """Return whether everything behind `--` is a command, as for a question."""
    return any(each.name == "words" for each in command.parameters)
