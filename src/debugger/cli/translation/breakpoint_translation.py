"""Translates what other debuggers do with breakpoints: `condition 1 x > 3`, `sb('f.js', 3)`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from debugger.cli.translation.argument_order import ArrangedWords, Correction
from debugger.cli.translation.location_spelling import is_file_line

Words = tuple[str, ...]
Result = Words | Correction
_EXCEPTION_WORDS: Final = frozenset({"exception", "exceptions", "throw", "raise", "raised"})
_HIT_COUNT: Final = re.compile(r"(?P<number>\d+)\s*(?P<sign>>=|>|==|=)\s*(?P<count>\d+)\Z")


def change_condition(rest: Words) -> Result | None:
    """Translate `condition 1 x > 3`, and delve's `condition -hitcount 1 > 5`."""
    if rest[:1] in (("-hitcount",), ("-per-g-hitcount",)):
        return _change_hit_count(" ".join(rest[1:]))
    if rest[:1] == ("-clear",) and len(rest) > 1:
        return ("breakpoint", "change", rest[1], "--condition", "")
    if not rest or not rest[0].isdecimal():
        return None
    return ("breakpoint", "change", rest[0], "--condition", " ".join(rest[1:]))


def _change_hit_count(text: str) -> Result | None:
    match = _HIT_COUNT.match(text)
    if match is None:
        return None
    count = int(match["count"])
    if match["sign"] in {"==", "="}:
        anew = ("break", "LOC", "--nth", str(count))
        remove = ("breakpoint", "remove", match["number"])
        return Correction("a hit of this number is of a new breakpoint", (remove, anew))
    first = count + (match["sign"] == ">")
    return ("breakpoint", "change", match["number"], "--hit-count", str(first))


def ignore_hits(rest: Words) -> Result | None:
    """Translate `ignore 1 5`: the breakpoint stops from the sixth hit on."""
    if not rest or len(rest) > len(("1", "5")) or not all(one.isdecimal() for one in rest):
        return None
    skipped = int(rest[1]) if rest[1:] else 0
    return ("breakpoint", "change", rest[0], "--hit-count", str(skipped + 1 if skipped else 0))


def log_at_breakpoint(rest: Words) -> Result | None:
    """Suggest a message for delve's `on 1 print x`, and for gdb's `commands 1`."""
    if not rest or not rest[0].isdecimal():
        return None
    values = " ".join(rest[2:]) if rest[1:2] in (("print",), ("p",)) else "EXPR"
    commands = (("breakpoint", "change", rest[0], "--log", f"{{{values or 'EXPR'}}}"),)
    return Correction("a breakpoint has no commands, but a message", commands)


def _set_by_protocol(rest: Words) -> Result | None:
    """Translate DBGp's `breakpoint_set -t line -f cart.php -n 12`, whose kind stands behind -t."""
    given = dict(zip(rest[::2], rest[1::2], strict=False))
    kind, file, line = (given.get(flag, "") for flag in ("-t", "-f", "-n"))
    if kind == "exception":
        return Correction("an exception is a catch", (("catch", "raised", given.get("-x", "")),))
    if kind in {"call", "return"}:
        return Correction("a function is named", (("break", given.get("-m", "FUNCTION")),))
    if kind == "watch":
        return Correction("a watchpoint is of an expression", (("watch", rest[-1]),))
    if kind not in {"line", "conditional"}:
        return None
    condition = ("--when", rest[-1]) if "--" in rest else ()
    return Correction("where it stops", (("break", f"{file or 'FILE'}:{line}", *condition),))


def change_breakpoint(rest: Words) -> Result | None:  # noqa: PLR0911 - one for each form
    """Translate LLDB's `breakpoint modify`, `set -r` and `set -E`, and DBGp's `breakpoint_set`."""
    if rest[:1] == ("set",) and "-t" in rest and (found := _set_by_protocol(rest[1:])) is not None:
        return found
    if rest[:1] in (("condition",), ("cond",)):
        return change_condition(rest[1:])
    if rest[:1] in (("edit",), ("update",), ("alter",)) and rest[1:2]:
        return ("breakpoint", "change", *rest[1:])
    if rest[:1] == ("ignore",):
        return ignore_hits(rest[1:])
    if rest[:1] == ("modify",):
        return _modify_breakpoint(rest[1:])
    if rest[:2] in (("set", "-r"), ("set", "--func-regex")) and len(rest) > len(("set", "-r")):
        return trace_pattern(rest[2:])
    if rest[:2] in (("set", "-E"), ("set", "--language-exception")):
        return Correction("an exception is a catch", (("catch", "throw"),))
    return None


def _modify_breakpoint(rest: Words) -> Result | None:
    """Translate the options of `breakpoint modify 1 -c 'x > 3' -i 2`."""
    numbers, options = _split_modification(rest)
    if len(numbers) != 1:
        return None
    number = numbers[0]
    for flags, command in (({"-d", "--disable"}, "disable"), ({"-e", "--enable"}, "enable")):
        if flags & set(rest) and not options:
            return ("breakpoint", command, number)
    if not options:
        return Correction(
            "what is changed?", (("breakpoint", "change", number, "--condition", "COND"),)
        )
    return ("breakpoint", "change", number, *options)


def _split_modification(rest: Sequence[str]) -> tuple[list[str], list[str]]:
    numbers: list[str] = []
    options: list[str] = []
    remaining = list(rest)
    while remaining:
        word = remaining.pop(0)
        if word in {"-c", "--condition"} and remaining:
            options += ["--condition", remaining.pop(0)]
        elif word in {"-i", "--ignore-count"} and remaining and remaining[0].isdecimal():
            options += ["--hit-count", str(int(remaining.pop(0)) + 1)]
        elif word.isdecimal():
            numbers.append(word)
    return numbers, options


def trace_all(rest: Words) -> Result | None:
    """Refuse jdb's `trace go methods`: a trace has a pattern, and `methods` is none."""
    if rest in (("off",), ("stop",), ("none",), ("clear",)):
        return Correction("traces are removed", (("trace", "remove", "--all"), ("trace", "list")))
    if not rest or not {*rest} <= {"go", "methods", "method", "functions", "calls", "all"}:
        return None
    return Correction("which functions?", (("trace", "add", "*"), ("path", "--", "CMD")))


def trace_pattern(rest: Words) -> Result | None:
    """Suggest a trace for gdb's `rbreak ^parse_`."""
    if not rest:
        return None
    pattern = re.sub(r"\.?\*?\$?\Z", "", rest[0].lstrip("^")).replace(".*", "*")
    return Correction("functions by pattern are traced", (("trace", "add", f"{pattern}*"),))


def set_breakpoint(rest: Words) -> Result | None:
    """Translate `set-breakpoint f.c 3`."""
    if len(rest) > 1 and rest[1].isdecimal() and ":" not in rest[0]:
        return ("break", f"{rest[0]}:{rest[1]}", *rest[2:])
    return None


def set_node_breakpoint(rest: Words) -> Result | None:
    """Translate node inspect's `sb('f.js', 3)`."""
    parts = [one.strip().strip("'\"") for one in rest[0].split(",")] if rest else []
    if not parts or not parts[0]:
        return None
    place = ":".join(parts[:2]) if parts[1:] else parts[0].removesuffix("()")
    if len(parts) > len(("f.js", "3")):
        return ("break", place, "--condition", parts[2])
    return ("break", place)


def remove_node_breakpoint(rest: Words) -> Result | None:
    """Translate node inspect's `cb('f.js', 3)`."""
    found = set_breakpoint(rest) or set_node_breakpoint(rest)
    return ("breakpoint", "remove", found[1]) if isinstance(found, tuple) else None


def watch_value(rest: Words) -> Result | None:
    """Refuse a location."""
    if len(rest) > 1 and is_file_line(rest[0]):
        commands = (("who-wrote", rest[1], "--at", rest[0], "--", "CMD"), ("watch", *rest[1:]))
        return Correction("watch takes an expression", commands)
    if rest[:1] == ("-a",) and len(rest) > 1:
        return ("watch", "--access", *rest[1:])
    if len(rest) > 1 and rest[-1] in {"changes", "change", "changing", "writes"}:
        return ("watch", *(rest[:-2] if rest[-2] in {"for", "on"} else rest[:-1]))
    return None


def change_watchpoint(rest: Words) -> Result | None:
    """Refuse LLDB's `watchpoint modify -c 'x > 3' 1`: a watchpoint is set anew."""
    if rest[:1] != ("modify",):
        return None
    numbers, options = _split_modification(rest[1:])
    remove = ("watch", "remove", *(numbers or ["ID"]))
    return Correction("a watchpoint is set anew", (remove, ("watch", "EXPR", *options)))


# What gdb's `catch` stops at besides exceptions.
_PRINTF_VALUE: Final = re.compile(r"%[-\d.]*l*[a-z]")
_GDB_EVENTS: Final = frozenset({"syscall", "fork", "vfork", "exec", "load", "unload", "signal"})


def break_at(rest: Words) -> Result | None:
    """Refuse `break exception ValueError`, and correct what follows a location."""
    is_pair = len(rest) == len(("exception", "ValueError"))
    if is_pair and rest[0].removeprefix("--") in _EXCEPTION_WORDS:
        kinds = [("catch", kind, rest[1]) for kind in ("raised", "throw")]
        return Correction("an exception is a catch", tuple(kinds))
    if rest[:1] in (("if",), ("if:",)) and rest[1:]:
        return place_condition("break", rest[1:])
    return _correct_location(rest)


def place_condition(command: str, condition: Words) -> Correction:
    """Correct `break if n > 3` and `until n > 3`, which name no location."""
    text = " ".join(condition)
    name = re.match(r"[\w.]*", text)
    watched = (("watch", name[0], "--when", text),) if name is not None and name[0] else ()
    return Correction("at which location?", (*watched, (command, "LOC", "--when", text)))


def run_until(rest: Words) -> Result | None:
    """Correct `until total > 100`, a condition in place of a location."""
    is_condition = rest[1:2] and re.fullmatch(r"[<>!=]=?", rest[1]) is not None
    return place_condition("until", rest) if is_condition and rest[2:] else None


def next_until(rest: Words) -> Result | None:
    """Correct `next until total > 100`."""
    return run_until(rest[1:]) if rest[:1] == ("until",) else None


def change_hits(rest: Words) -> Result | None:
    """Correct `hit-condition 1 5`, a request of editors."""
    if len(rest) != len(("1", "5")):
        return None
    changed = ("breakpoint", "change", rest[0], "--hit", rest[1])
    return Correction("hits are of a breakpoint", (changed,))


def show_values(arranged: ArrangedWords) -> Correction | None:
    """Correct `break f.c:3 --print x`."""
    shown, words = arranged.role_values("+expression"), arranged.positionals
    if not shown or not words:
        return None
    logged = ("log", *words, ", ".join(f"{{{one}}}" for one in shown))
    probed = ("probe", "--at", *words, ", ".join(shown), "--", "CMD")
    return Correction("a value at a line is logged", (logged, probed))


def enable_counted(rest: Words) -> Result | None:
    """Correct gdb's `enable count 2 1` and `enable once 1`, of which the first is for two hits."""
    words = rest[2:] if rest[:1] == ("count",) else rest[1:]
    if rest[:1] not in (("count",), ("once",), ("delete",)) or not words:
        return None
    commands = tuple(("breakpoint", "enable", one) for one in words)
    return Correction("a breakpoint is enabled for all its hits", commands)


def catch_event(rest: Words) -> Result | None:
    """Correct gdb's `catch syscall write`: only exceptions are caught here."""
    if not rest or rest[0] not in _GDB_EVENTS:
        return None
    return Correction("catch is of exceptions", (("raw", " ".join(("catch", *rest))),))


def _take_key(rest: Words) -> Result | None:
    """Translate rdbg's `break f.rb:3 if: n > 3` and `break f.rb:3 do: p n`."""
    place, key, *words = rest
    if key in {"do:", "pre:"}:
        value = " ".join(words[1:] if words[0] in {"p", "pp", "puts"} and words[1:] else words)
        return Correction("a breakpoint has a message", (("log", place, f"{{{value}}}"),))
    condition = " ".join(words)
    if key not in {"if:", "unless:"}:
        return None
    condition = f"!({condition})" if key == "unless:" else condition
    return ("break", place, "--condition", condition)


def _correct_location(rest: Words) -> Result | None:
    """Correct `break f.c : 3`, `break total, n > 3`, and what follows gdb's location."""
    if rest[1:2] == (":",) and rest[2:3] and rest[2].isdecimal():
        return Correction("a line is FILE:LINE", (("break", f"{rest[0]}:{rest[2]}", *rest[3:]),))
    if rest[1:2] and rest[1].endswith(":") and rest[2:]:
        return _take_key(rest)
    condition = " ".join(rest[1:])
    is_name = bool(rest) and re.fullmatch(r"[A-Za-z_][\w.:]*,", rest[0]) is not None
    if is_name and re.search(r"[<>=!]", condition):
        return ("break", rest[0].rstrip(","), "--condition", condition)
    number = rest[-1] if len(rest) > len(("f.c:3", "-n")) and rest[-1].isdecimal() else ""
    if number and rest[-2] == "-n":
        return ("break", *rest[:-2], "--hit-count", number)
    if number and rest[-2] == "ignore":
        return ("break", *rest[:-2], "--hit-count", str(int(number) + 1))
    return None


def set_formatted(rest: Words) -> Result | None:
    """Translate `dprintf LOC,"FORMAT",EXPR` into a logpoint."""
    parts = [one.strip() for one in " ".join(rest).split(",")]
    if len(parts) < len(("loc", "format")):
        return None
    text = _with_values(parts[1].strip('"'), parts[2:])
    return Correction("a dprintf is a logpoint", (("log", parts[0], text),))


def log_formatted(rest: Words) -> Result | None:
    """Correct `log LOC "n is %d" n`: a value stands in the text."""
    if len(rest) < len(("loc", "format", "n")) or not _PRINTF_VALUE.search(rest[1]):
        return None
    values = [one for word in rest[2:] for one in word.split(",") if one]
    return Correction(
        "a value stands in braces", (("log", rest[0], _with_values(rest[1], values)),)
    )


def _with_values(form: str, values: Sequence[str]) -> str:
    """Put values into the text of a printf's format."""
    remaining = iter(values)
    text = _PRINTF_VALUE.sub(lambda _: f"{{{next(remaining, 'EXPR')}}}", form)
    text = re.sub(r"\\+n\Z", "", text)
    return text.removesuffix("n") if text.endswith("}n") else text


def clear_breakpoints(rest: Words) -> Result | None:
    """Take gdb's `clear f.c:3`, and pdb's `clear 1`, for the removal of breakpoints."""
    if rest[:1] in (("breakpoint",), ("breakpoints",), ("output",)) or not rest:
        return None
    if len(rest) > 1 and not is_file_line(rest[0]) and not all(map(str.isdecimal, rest)):
        return Correction("which breakpoint?", (("breakpoint", "list"),))
    return ("breakpoint", "remove", *rest)
