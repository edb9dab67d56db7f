"""Translates the first words of a command line from other debuggers' commands into ours."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

from debugger.cli.translation.argument_order import Correction
from debugger.cli.translation.breakpoint_translation import (
    break_at,
    catch_event,
    change_breakpoint,
    change_condition,
    change_hits,
    change_watchpoint,
    clear_breakpoints,
    enable_counted,
    ignore_hits,
    log_at_breakpoint,
    log_formatted,
    next_until,
    remove_node_breakpoint,
    run_until,
    set_breakpoint,
    set_formatted,
    set_node_breakpoint,
    trace_all,
    trace_pattern,
    watch_value,
)
from debugger.cli.translation.debugger_abbreviations import (
    INFO_SHORT,
    INFO_TOPICS,
    LLDB_COMMANDS,
    LLDB_SHORTEST,
)
from debugger.cli.translation.foreign_commands import (
    ALONE_COMMANDS,
    CORRECTED_COMMANDS,
    EXACT_COMMANDS,
)
from debugger.cli.translation.frame_translation import translate_frame, write_register
from debugger.cli.translation.process_translation import (
    attach_script,
    connect_server,
    save_core,
    start_redirected,
    translate_process,
    translate_target,
)
from debugger.cli.translation.program_words import SCRIPT_SUFFIX, begins_program
from debugger.cli.translation.question_names import QUESTION_NAMES
from debugger.cli.translation.request_reading import read_request
from debugger.cli.translation.verb_and_noun import compose_command

Words = tuple[str, ...]
Result = Words | Correction
_LONGEST_KEY: Final = 4  # words
_INFO_WORDS: Final = frozenset({"info", "inf", "i"})
# `p/x`, `x/16xb`, `disas/s`, with the format joined to the command.
_JOINED_FORMAT: Final = re.compile(
    r"(p|print|x|disas|disass|disassemble|output|display|call)(/\w+)\Z"
)
_JAVASCRIPT_CALL: Final = re.compile(r"((?:console\.)?\w+!?)\((.*)\)\Z")
_PROGRAM: Final = re.compile(rf"(?:\.{{0,2}}/.+|[^-/]\S*\.{SCRIPT_SUFFIX})\Z")
# Words before a command that say nothing, and parts of a name that say nothing.
_TOPICS: Final = frozenset({"session", "debug", "debugger", "dbg", "dap", "request", "execution"})
_NAME_FILLERS: Final = frozenset(
    {
        "debug", "debugger", "debugging", "dbg", "dap", "ide", "execution", "program", "session",
        "expression", "current", "values", "mcp", "active", "full", "command",
    }
)  # fmt: skip
_PROGRAM_NOUNS: Final = frozenset(
    {"debugging", "debugger", "debug", "program", "execution", "run", "session", "process"}
)
_NAME_VERBS: Final = frozenset({"run", "do", "why", "explain", "find", "check", "detect"})
# Questions whose only arguments are a program, which is hardly called `help`.
_WITHOUT_OWN_WORDS: Final = frozenset({"probe", "crash", "hang", "test", "path", "diff"})
_GROUPS: Final = frozenset({"breakpoint", "watch", "catch", "memory", "trace", "evidence", "runs"})


def translate_command(words: Sequence[str], own: Collection[str]) -> Result | None:
    """Translate a foreign command into ours; None where the words are no such command.

    Args:
        words: The words before `--`, without options of every command.
        own: The first words of our commands.
    """
    if not words:
        return None
    if words[1:] == ("help",) and words[0] in _WITHOUT_OWN_WORDS:
        return Correction("help is an option", ((words[0], "--help"),))
    plain = _drop_topic(tuple(words), own)
    if plain is not None:
        return plain if isinstance(plain, Correction) else translate_command(plain, own) or plain
    found = _split_joined_words(tuple(words), own)
    first = _spell_name(found[0]) if found[0] not in own else found[0]
    if (named := _name_command((first, *found[1:]), own)) is not None:
        return named
    return _translate_known((first, *found[1:]), tuple(words), own)


def _translate_known(found: Words, words: Words, own: Collection[str]) -> Result | None:
    """Translate words whose first is spelled as the tables spell it."""
    found = _expand_prefixes(found, own)
    if found[0] in _INFO_WORDS and len(found) > 1:
        found = _expand_info(found)
    handler = _HANDLERS.get(found[0])
    result = handler(found[1:]) if handler else None
    result = _compose_words(found, own) if result is None else result
    result = _look_up_words(found) if result is None else result
    if result is None and found[0] in _INFO_WORDS and len(found) > 1:
        raw = ("raw", " ".join(("info", *found[1:])))
        likely = read_request(("show", *found[1:]), None)
        commands = (*(likely.commands if likely else ()), raw)
        if found[1] in INFO_TOPICS:  # gdb's own, of which only a part is meant
            commands = commands[::-1]
        return Correction(f"no {' '.join(found)}", commands)
    if result is None and found != tuple(words):
        return found
    return result


def _spell_name(name: str) -> str:
    """Return a name in small letters with dashes, however it joins its words."""
    if not {name, f"{name} *"}.isdisjoint(CORRECTED_COMMANDS):
        return name  # perl's `V` is not gdb's `v`
    camel = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name) if name[:1].islower() else name
    joined = name.lower()
    is_listed = joined in EXACT_COMMANDS or joined in CORRECTED_COMMANDS
    return joined if is_listed else camel.lower().replace("_", "-")


def _drop_topic(words: Words, own: Collection[str]) -> Result | None:
    """Take `session eval x` and `debug step` for the command behind the topic."""
    if words[0].lower() not in _TOPICS or len(words) == 1 or words[0] in own:
        return None
    key = " ".join(words[:2])
    if {key, f"{key} *"} & (EXACT_COMMANDS.keys() | CORRECTED_COMMANDS.keys()):
        return None
    second = _spell_name(words[1])
    if second in own or second in EXACT_COMMANDS:
        return (second, *words[2:])
    return None


def _name_command(words: Words, own: Collection[str]) -> Result | None:
    """Take the name of a tool, `debug_who_wrote` or `stop_debugging`, for a command of ours."""
    name = re.sub(r"\A(?:mcp--[a-z]+--|(?:gdb|lldb|rr|dlv|pdb|ide|debugpy)-)", "", words[0])
    if name != words[0]:
        return _translate_tool(name, words[1:], own)
    parts = name.split("-")
    known = EXACT_COMMANDS.keys() | CORRECTED_COMMANDS.keys()
    if len(parts) == 1 or name in own or not known.isdisjoint((name, f"{name} *")):
        return None
    remaining = [one for one in parts if one not in _NAME_FILLERS] or parts
    is_filler = parts[0] in _NAME_FILLERS | _NAME_VERBS
    behind = "-".join(parts[1:] if is_filler else remaining)
    for spelled in (behind, "-".join(remaining)):
        if spelled in own:
            return (spelled, *words[1:])
        if spelled != name and spelled in EXACT_COMMANDS:
            return translate_command((spelled, *words[1:]), own)
    if remaining[0] in _GROUPS and compose_command(("-".join(remaining),)) is None:
        return (*remaining, *words[1:])
    return None if remaining == parts else translate_command(("-".join(remaining), *words[1:]), own)


def _translate_tool(name: str, rest: Words, own: Collection[str]) -> Result | None:
    """Translate the name of another debugger's tool, `gdb_info_threads`, without its prefix."""
    if name in own:
        return (name, *rest)
    spaced = tuple(name.split("-"))
    for words in ((name, *rest), (*spaced, *rest)):
        if (found := translate_command(words, own)) is not None:
            return found
    return None


def _compose_words(words: Words, own: Collection[str]) -> Result | None:
    """Take `show threads` for `threads`; `set breakpoint …` may also set a variable."""
    keys = {" ".join(words[:2]), f"{' '.join(words[:2])} *"}
    keys |= {f"{words[0]} *"} if "-" in words[0] else set()
    if keys & (EXACT_COMMANDS.keys() | CORRECTED_COMMANDS.keys()):
        return None
    composed = compose_command(words)
    if composed is None or composed[: len(words)] == words:
        return None
    if words[0] not in own or len(words) == 1 or words[0] in {"breakpoint", "trace"}:
        return composed
    if words[0] == "set":
        return _compose_set(words, composed)
    if words[0] == "print":
        return None
    return Correction(f"{words[0]} takes no {words[1]}", (composed,))


def _compose_set(words: Words, composed: Words) -> Result | None:
    """Refuse `set breakpoint f.c:3`, which would set a variable."""
    is_value = len(words) == len(("set", "x")) or "=" in words[2:] or words[-1] in {"on", "off"}
    if is_value or composed[0] == "set":
        return None
    return Correction("a breakpoint, or a variable?", (composed, ("set", "--", *words[1:])))


def _look_up_words(words: Words) -> Result | None:
    """Look the first words up in the tables, the longest key first."""
    if " ".join(words) in ALONE_COMMANDS:
        correction = _correct_words(words, ALONE_COMMANDS[" ".join(words)], ())
        return Correction(f"{' '.join(words)} alone is no command here", correction.commands)
    for size in range(min(_LONGEST_KEY, len(words)), 0, -1):
        key, rest = " ".join(words[:size]), words[size:]
        has_argument = bool(rest) and re.match(r"-(?!\.?\d)", rest[0]) is None
        keys = (f"{key} *", key) if has_argument or rest[:1] == ("-",) else (key,)
        if f"{key} *" in QUESTION_NAMES and _is_options(rest):  # `observe --at f.c:3 x`
            keys = (f"{key} *",)
        for each in keys:
            if each in EXACT_COMMANDS:
                return _fill_template(EXACT_COMMANDS[each], rest)
            if each in CORRECTED_COMMANDS:
                return _correct_words(words[:size], CORRECTED_COMMANDS[each], rest)
    return None


def _fill_template(template: str, rest: Words) -> Words:
    """Put the arguments in place of `{}`, else behind the words."""
    words: list[str] = []
    is_placed = False
    for word in shlex.split(template):
        if word == "{}":
            words += rest
            is_placed = True
        elif "{}" in word:
            words.append(word.replace("{}", " ".join(rest)))
            is_placed = True
        else:
            words.append(word)
    return tuple(words) if is_placed else (*words, *rest)


def _correct_words(typed: Words, templates: str, rest: Words) -> Correction:
    commands = []
    reason = f"no command {' '.join(typed)!r} here"
    if typed == ("output",):  # ours has options only; gdb's takes an expression
        reason = "output shows what the program wrote, and takes no expression"
    for template in templates.split("; "):
        has_place = "{}" in template or _is_options(rest)
        filled = _fill_template(template, rest if has_place else ())
        commands.append(filled)
    return Correction(reason, tuple(commands))


def _is_options(rest: Words) -> bool:
    """Return whether only options follow a foreign command, which ours may have, too."""
    return bool(rest) and rest[0].startswith("--")


def _split_joined_words(words: Words, own: Collection[str]) -> Words:  # noqa: PLR0911 - of each form
    """Split `p/x v` and `b(3)` into words."""
    first = words[0]
    if first in own or not {first, f"{first} *"}.isdisjoint(CORRECTED_COMMANDS):
        return words
    if match := _JOINED_FORMAT.match(first):
        return (match[1], match[2], *words[1:])
    if first.endswith("!") and first[:-1] in {*own, *EXACT_COMMANDS}:  # rdbg's `kill!`
        return (first[:-1], *words[1:])
    if first.startswith("!") and len(first) > 1:
        return ("!", first[1:], *words[1:])
    if match := _JAVASCRIPT_CALL.match(" ".join(words)):
        called = f"{match[1].lower()}("
        if match[1] in own and (called not in _HANDLERS or not match[2]):
            return (match[1], *([f"({match[2]})"] if match[2] else []))
        if called not in _HANDLERS and (match[1] in EXACT_COMMANDS or not match[2]):
            return (match[1], *([match[2].strip("'\"")] if match[2] else []))
        return (called, match[2])
    return words


def _expand_prefixes(words: Words, own: Collection[str]) -> Words:
    """Expand LLDB's abbreviations: `br s` and `fr v`."""
    first = words[0]
    names = (
        [first]
        if first in LLDB_COMMANDS
        else [
            name
            for name, size in LLDB_SHORTEST.items()
            if len(first) >= size and name.startswith(first) and first not in own
        ]
    )
    is_named = len(names) == 1 and first not in {"t", "f"} and first not in EXACT_COMMANDS
    if first == "br" or (first == "re" and len(words) > 1):
        names, is_named = ["breakpoint" if first == "br" else "register"], len(words) > 1
    if first == "w" and words[1:2] in (("s",), ("set",)) and words[3:]:
        names, is_named = ["watchpoint"], True
    if not is_named:
        return words
    name, below = names[0], LLDB_COMMANDS[names[0]]
    if len(words) == 1 or not below:
        return (name, *words[1:])
    second = words[1]
    fitting = [one for one in below if one.startswith(second)]
    if (
        second in below
        or not fitting
        or (first in own and first not in {"frame", "thread"} and len(second) < len("abc"))
    ):
        return (name, *words[1:]) if fitting or first in LLDB_COMMANDS or first != "br" else words
    expanded = (name, fitting[0], *words[2:])
    if expanded[:2] == ("watchpoint", "set") and expanded[2:3] in (("v",), ("e",), ("var",)):
        return (*expanded[:2], "variable" if expanded[2] != "e" else "expression", *expanded[3:])
    return expanded


def _expand_info(words: Words) -> Words:
    """Expand gdb's abbreviations of what `info` shows."""
    typed = words[1]
    topic = INFO_SHORT.get(typed, typed)
    if topic not in INFO_TOPICS:
        topic = next((one for one in INFO_TOPICS if one.startswith(typed)), typed)
    return ("info", topic, *words[2:])


def _examine(rest: Words) -> Result | None:
    """Translate `x ADDR`, `x /16xb ADDR`; `x = 3` is an assignment."""
    if rest[:1] == ("=",) and len(rest) > 1:
        return Correction("an assignment is set", (("set", "x", " ".join(rest[1:])),))
    return ("memory", "read", *rest) if rest else None


def _run(rest: Words) -> Result | None:
    if rest[:1] in (("to",), ("until",)) or not rest:
        return run_until(rest[1:])
    if rest[1:3] in (("with", "args"), ("with", "arguments")):
        return Correction("arguments follow --", (("start", rest[0], "--", *rest[3:]),))
    if _PROGRAM.match(rest[0]) or rest[0].startswith("--"):
        return ("start", *rest)
    if rest[0] in {"test", "tests"} and len(rest) > 1:
        return Correction("tests are run by a question", (("test", "--", "pytest", *rest[1:]),))
    if begins_program(rest):  # `run python app.py`
        return ("start", *rest)
    return Correction("run which program?", start_redirected(rest))


def _toggle_down(rest: Words) -> Result | None:
    """Refuse `d 1`, which is `delete` in gdb, and `down` in pdb."""
    if not rest:
        return None
    return Correction("d: delete or down?", (("breakpoint", "remove", *rest), ("down", *rest[:1])))


def _threads(rest: Words) -> Result | None:
    """Translate `thread apply all bt` and `thread backtrace all`."""
    if rest[:2] == ("apply", "all") and rest[2:3] in (("bt",), ("backtrace",), ("where",)):
        return ("backtrace", "--all", *rest[3:])
    if rest[:1] == ("apply",) and len(rest) > len(("apply", "2")) and rest[1].isdecimal():
        if rest[2] in {"bt", "backtrace", "where"}:
            return ("backtrace", "--thread", rest[1], *rest[3:])
        command = translate_command(rest[2:], ())
        words = command if isinstance(command, tuple) else rest[2:]
        words = ("print", *words[1:]) if words[0] == "p" else words
        return Correction("two commands", (("thread", rest[1]), words))
    if rest[:2] == ("backtrace", "all"):
        return ("backtrace", "--all", *rest[2:])
    if rest[:1] == ("backtrace",) and rest[1:] and rest[1].isdecimal():
        return ("backtrace", "--thread", *rest[1:])
    return None


def _short_thread(rest: Words) -> Result | None:
    """Translate gdb's `t 2` and `t a a bt`."""
    if rest[:2] == ("a", "a"):
        return _threads(("apply", "all", *rest[2:]))
    return ("thread", *rest) if len(rest) == 1 and rest[0].isdecimal() else None


def _all_threads(rest: Words) -> Result | None:
    """Translate `taas bt` and `tfaas bt`."""
    return ("backtrace", "--all", *rest[1:]) if rest[:1] in (("bt",), ("backtrace",)) else None


def _memory(rest: Words) -> Result | None:
    """Take `memory ADDR` for `memory read ADDR`."""
    is_own = not rest or rest[0] in {"read", "write", "find", "dump"} or rest[0].startswith("-")
    return None if is_own else ("memory", "read", *rest)


def _execute_words(rest: Words) -> Result | None:
    """Tell a statement of `exec` from a program."""
    text = " ".join(rest)
    is_name = re.fullmatch(r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+|[\w$.]+\[.*\]", text)
    if is_name and text != ".scope" and not _PROGRAM.match(text):
        return Correction("a value is eval", (("eval", text),))
    is_statement = bool(rest) and re.search(r"[=(]| [-+*/%] |^import ", text) is not None
    return _execute_statement(rest) if is_statement else None


def _node_value(rest: Words) -> Result | None:
    return ("eval", rest[0].strip("'\"")) if rest and rest[0] else None


def _node_watch(rest: Words) -> Result | None:
    """Refuse node inspect's `watch('x')`, which shows a value and stops nowhere."""
    return Correction("values are not shown at each stop", (("print", rest[0].strip("'\"")),))


def _node_list(rest: Words) -> Result | None:
    return ("source", "--context", rest[0]) if rest and rest[0].isdecimal() else None


def _execute_statement(rest: Words) -> Result | None:
    return Correction("a statement is eval", (("eval", " ".join(rest)),)) if rest else None


def _show_evidence(rest: Words) -> Result | None:
    if len(rest) == 1 and (number := re.fullmatch(r"e?(\d+)", rest[0])):
        return Correction("show it?", (("evidence", "show", f"e{number[1]}"),))
    return None


def _show_answer(rest: Words) -> Result | None:
    """Tell an answer of a question, `show e3`, from a value."""
    if len(rest) != 1 or not re.fullmatch(r"e\d+", rest[0]):
        return None
    return Correction("an answer, or a value?", (("evidence", "show", *rest), ("print", *rest)))


def _print_format(rest: Words) -> Result | None:
    """Take `print n /x` for `print /x n`."""
    is_format = len(rest) > 1 and re.fullmatch(r"/[xduotacfz]", rest[-1])
    return ("print", rest[-1], *rest[:-1]) if is_format else None


def _show_output(rest: Words) -> Result | None:
    """Tell gdb's `output n` from the last lines of the program's output."""
    is_number = len(rest) == 1 and rest[0].isdecimal()
    return Correction("lines or a value?", (("output", "--tail", *rest),)) if is_number else None


def _list_range(rest: Words) -> Result | None:
    """Suggest the middle of `source f.py 10 20`, and the lines around it."""
    if len(rest) != len(("f.py", "10", "20")) or not all(one.isdecimal() for one in rest[1:]):
        return None
    first, last = sorted(map(int, rest[1:]))
    around = str((last - first + 1) // 2)
    middle = f"{rest[0]}:{(first + last) // 2}"
    return Correction("source takes a location", (("source", middle, "--context", around),))


def _layout(rest: Words) -> Result | None:
    """Tell gdb's `tui enable` from the start of our own `tui`."""
    if not rest:
        return None
    is_start = rest[0] in {"start", "run", "open"}
    return Correction("tui takes no arguments", (("tui",) if is_start else ("context",),))


def _print_values(rest: Words) -> Result | None:
    """Suggest the values of `printf "%d", x`."""
    values = [one.strip() for one in " ".join(rest).split(",")][1:]
    return Correction("values are printed", (("print", ", ".join(values)),)) if values else None


def _restart(rest: Words) -> Result | None:
    """Refuse `restart a b` and `restart --args a b`: it keeps the arguments."""
    args = tuple(one for one in rest if one not in {"--args", "--", "with"})
    if not args or args[0].startswith("-") or args[0] in {*_PROGRAM_NOUNS, "frame"}:
        return None
    return Correction("restart keeps the arguments", (("start", "PROGRAM", "--", *args),))


def _change_value(rest: Words) -> Result | None:
    """Suggest `set` for `change total 7`, which is no change of a breakpoint."""
    is_pair = len(rest) == len(("total", "7")) and not rest[0].isdecimal()
    return Correction("a value is set", (("set", *rest),)) if is_pair else None


def _stop_in(rest: Words) -> Result | None:
    """Translate jdb's `stop in Cart.add(java.lang.String)`, with the types of an overload."""
    if rest and rest[0] in _PROGRAM_NOUNS:
        return Correction("stop takes no arguments", (("stop", *rest[1:]),))
    if rest[:1] != ("in",) or len(rest) == 1:
        return None
    name = re.sub(r"\([\w.,\[\] ]*\)\Z", "", " ".join(rest[1:]))
    return Correction("stop ends the session", (("break", name),))


def _toggle(rest: Words) -> Result | None:
    """Suggest `break LOC` for `toggle breakpoint LOC`: whether it is set, the list shows."""
    places = [one for one in rest if one not in {"breakpoint", "breakpoints", "at", "bp"}]
    if not places or len(places) == len(rest) or places[0].isdecimal():
        return None
    return Correction("set it, or remove it?", (("break", *places), ("breakpoint", "list")))


def _catch_exceptions(rest: Words) -> Result | None:
    """Translate an editor's `exception breakpoints --uncaught`."""
    if rest[:1] not in (("breakpoint",), ("breakpoints",)):
        return None
    kinds = [one.lstrip("-") for one in rest[1:]]
    return ("catch", *kinds) if kinds else ("catch", "list")


def _list_goroutines(rest: Words) -> Result | None:
    """Correct delve's `goroutines -with running`: threads lists all of them."""
    is_filter = rest[:1] and rest[0] in {"-with", "-without", "-group", "-chan", "-exec"}
    return Correction("threads lists all goroutines", (("threads",),)) if is_filter else None


def _go_on(rest: Words) -> Result | None:
    return None if rest else ("continue",)


def _choose_all(rest: Words) -> Result | None:
    """Translate WinDbg's `bc *`."""
    if rest != ("*",):
        return None
    every = (("breakpoint", "remove", "--all"), ("breakpoint", "list"))
    return Correction("* is --all, of the removal only", every)


_HANDLERS: Final[Mapping[str, Callable[[Words], Result | None]]] = {
    "x": _examine,
    **dict.fromkeys(("run", "r"), _run),
    "clear": clear_breakpoints,
    "d": _toggle_down,
    "condition": change_condition,
    "cond": change_condition,
    "ignore": ignore_hits,
    "on": log_at_breakpoint,
    "commands": log_at_breakpoint,
    "thread": _threads,
    "t": _short_thread,
    "taas": _all_threads,
    "tfaas": _all_threads,
    "frame": translate_frame,
    **dict.fromkeys(("next", "n"), next_until),
    **dict.fromkeys(("hit-condition", "hit-count"), change_hits),
    "goroutine": lambda rest: ("thread", *rest) if rest else None,
    "breakpoint": change_breakpoint,
    "breakpoint-set": lambda rest: change_breakpoint(("set", *rest)),
    "trace": trace_all,
    "rbreak": trace_pattern,
    "register": write_register,
    "gdb-remote": connect_server,
    "target": translate_target,
    "process": translate_process,
    "dprintf": set_formatted,
    "log": log_formatted,
    "memory": _memory,
    "set-breakpoint": set_breakpoint,
    "add-breakpoint": set_breakpoint,
    "examinemem": lambda rest: ("memory", "read", *rest),
    **dict.fromkeys(("gcore", "generate-core-file"), save_core),
    "sb": lambda rest: set_breakpoint(rest) or set_node_breakpoint(rest),
    "cb": remove_node_breakpoint,
    "sb(": set_node_breakpoint,
    "setbreakpoint(": set_node_breakpoint,
    "cb(": remove_node_breakpoint,
    "clearbreakpoint(": remove_node_breakpoint,
    "exec": _execute_words,
    "exec(": _node_value,
    **dict.fromkeys(("console.log(", "copy(", "dbg!("), _node_value),
    "console.dir(": _node_value,
    "console.trace(": lambda _rest: ("backtrace",),
    "debug(": set_node_breakpoint,
    "undebug(": remove_node_breakpoint,
    "monitor(": lambda rest: ("trace", "add", *rest),
    "watch(": _node_watch,
    "list(": _node_list,
    "!": _execute_statement,
    "evidence": _show_evidence,
    "watch": watch_value,
    "watchpoint": change_watchpoint,
    "break": break_at,
    "enable": enable_counted,
    "until": run_until,
    "catch": catch_event,
    **dict.fromkeys(("goroutines", "grs"), _list_goroutines),
    "b": break_at,
    "print": _print_format,
    "show": _show_answer,
    "output": _show_output,
    **dict.fromkeys(("source", "list", "l"), _list_range),
    "tui": _layout,
    "printf": _print_values,
    "attach": attach_script,
    "go": _go_on,
    "stop": _stop_in,
    **dict.fromkeys(("restart", "rerun"), _restart),
    "change": _change_value,
    **dict.fromkeys(("bc", "bd", "be"), _choose_all),
    "toggle": _toggle,
    "exception": _catch_exceptions,
}
