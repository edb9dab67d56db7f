"""Translates what other debuggers do with breakpoints: `condition 1 x > 3`, `sb('f.js', 3)`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from debugger.cli.translation.argument_order import Correction
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


def remove_node_breakpoint(_rest: Words) -> Result | None:
    """Refuse node inspect's `cb('f.js', 3)`."""
    return Correction("a breakpoint is removed by its ID", (("breakpoint", "list"),))


def watch_value(rest: Words) -> Result | None:
    """Refuse a location."""
    if len(rest) > 1 and is_file_line(rest[0]):
        commands = (("who-wrote", rest[1], "--at", rest[0], "--", "CMD"), ("watch", *rest[1:]))
        return Correction("watch takes an expression", commands)
    if rest[:1] == ("-a",) and len(rest) > 1:
        return ("watch", "--access", *rest[1:])
    return None


def break_at(rest: Words) -> Result | None:
    """Refuse `break exception ValueError`, and correct what follows a location."""
    if rest[:1] and rest[0] in _EXCEPTION_WORDS and len(rest) == len(("exception", "ValueError")):
        kinds = [("catch", kind, rest[1]) for kind in ("raised", "throw")]
        return Correction("an exception is a catch", tuple(kinds))
    return _correct_location(rest)


def _correct_location(rest: Words) -> Result | None:
    """Correct `break f.c : 3`, `break total, n > 3`, and what follows gdb's location."""
    if rest[1:2] == (":",) and rest[2:3] and rest[2].isdecimal():
        return Correction("a line is FILE:LINE", (("break", f"{rest[0]}:{rest[2]}", *rest[3:]),))
    if rest[1:2] in (("if:",), ("unless:",)) and rest[2:]:  # rdbg's
        condition = " ".join(rest[2:])
        condition = f"!({condition})" if rest[1] == "unless:" else condition
        return ("break", rest[0], "--condition", condition)
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
    values = iter(parts[2:])
    text = re.sub(r"%[-\d.]*l*[a-z]", lambda _: f"{{{next(values, 'EXPR')}}}", parts[1].strip('"'))
    text = re.sub(r"\\+n\Z", "", text)
    text = text.removesuffix("n") if text.endswith("}n") else text
    return Correction("a dprintf is a logpoint", (("log", parts[0], text),))


def clear_breakpoints(rest: Words) -> Result | None:
    """Tell gdb's `clear` of a location from the removal of breakpoints by their numbers."""
    if rest[:1] in (("breakpoint",), ("breakpoints",), ("output",)) or not rest:
        return None
    if all(one.isdecimal() for one in rest):
        command = ("breakpoint", "remove", *rest)
        return Correction("no command 'clear' here", (command,))
    return Correction("a breakpoint is removed by its ID", (("breakpoint", "list"),))
