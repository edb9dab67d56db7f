"""Corrects sentences of plain English: `who changed total`, `watch variable total for changes`.

A sentence is never taken for a command: the words between would become arguments.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from debugger.cli.translation.argument_order import Correction

_THE: Final = r"(?:(?:the|my|a) )?(?:(?:variable|value|field|function|method) )?(?:of )?"
_X: Final = r"(?P<x>\S+)"
_AT: Final = r"(?: (?:at|in|on) (?:line )?(?P<at>\S+))?"
_FILE: Final = r"(?P<file>\S+\.\w+)"
_SHOW: Final = r"(?:show|list|count|find|print|give|get|tell)(?: me)?"
_WRITES: Final = r"changed|changes|wrote|writes|modified|modifies|sets|updates|updated"
_RAN: Final = r"(?:called|run|runs|executed|hit|reached)"
_EACH: Final = r"(?:every|each) time"
_FOR: Final = r"for (?:any )?changes?"
# A sentence, and the commands for it; `{at}` is LOC where none is named. What runs a program has
# `--`, what is of a session has none: the first that fits is first.
_SENTENCES: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    (
        rf"(?:find )?(?:who|what|which line) (?:last )?(?:{_WRITES}) {_THE}{_X}{_AT}",
        ("who-wrote {x} --at {at} --", "watch {x}"),
    ),
    (
        rf"(?:find )?where (?:did|does|is) {_THE}{_X} (?:come|coming) from{_AT}",
        ("why {x} --at {at} --", "why {x}"),
    ),
    (
        (
            rf"(?P<question>why|who-wrote|probe|holds) (?:the )?(?P<x>.+?) (?:(?:at|in|on) )?"
            rf"(?:{_FILE},? (?:at |on )?line (?P<line>\d+)|"
            r"line (?P<below>\d+) (?:of|in) (?P<source>\S+))"
        ),
        ("{question} {x} --at {place} --",),
    ),
    (
        rf"why (?:is|was|does|has) {_THE}{_X} .*?(?: at (?P<at>\S+))?",
        ("why {x} --at {at} --", "why {x}"),
    ),
    (
        rf"{_SHOW}(?: all)?(?: the)? calls (?:of|to) {_THE}{_X}",
        ("calls {x} --", "trace add {x}"),
    ),
    (
        rf"{_SHOW}(?: all)?(?: the)? (?:functions|methods)(?: that)?(?: are| were)? {_RAN}",
        ("path --", "trace add '*'"),
    ),
    (
        rf"{_SHOW}(?: the)? (?:value|values|content|contents) of {_THE}{_X}{_AT}",
        ("probe --at {at} {x} --", "print {x}"),
    ),
    (
        rf"(?:log|trace|{_SHOW}) {_THE}{_X} {_EACH} {_THE}(?P<at>\S+)(?: is)?(?: {_RAN})?",
        ("probe --at {at} {x} --", "log {at} '{{{x}}}'"),
    ),
    (
        rf"(?:log|trace) {_THE}{_X} at (?P<at>\S+:\d+)",
        ("probe --at {at} {x} --", "log {at} '{{{x}}}'"),
    ),
    (
        rf"watch (?:the )?(?:variable |value of |changes (?:of|to|in ))?(?P<x>\S+) {_FOR}",
        ("watch {x}",),
    ),
    (r"watch (?:the )?(?:variable |value of |changes (?:of|to|in ))(?P<x>\S+)", ("watch {x}",)),
    (
        r"trace (?:(?:all|the|go|python|rust|c|javascript) )?(?:methods|functions|calls)",
        ("trace add 'PATTERN'", "path --"),
    ),
    (r"crash reports? (?P<program>.+)", ("crash -- {program}",)),
    (
        r"(?:break|stop|pause|halt) on (?:all |any |caught |raised )*(?:exceptions?|errors?)",
        ("catch raised", "catch throw"),
    ),
    (r"(?:break|stop|pause|halt) (?:on|at) uncaught (?:exceptions?|errors?)", ("catch uncaught",)),
    (
        r"(?:break|stop|pause|halt) (?:(?:at|in|on) )?(?P<at>\S+) (?:when|if) (?P<when>.+)",
        ("break {at} --condition {when}",),
    ),
    (
        r"(?:break|stop|pause|halt) (?:when|if) (?P<x>[\w.>-]*\w) (?P<sign>[<>=!]=?) (?P<value>.+)",
        ("watch {x} --condition {whole}",),
    ),
)
# What is no value of the program.
_PRONOUNS: Final = frozenset(
    {"it", "this", "that", "they", "my", "test", "tests", "program", "app", "process"}
)
_PATTERNS: Final = tuple((re.compile(rf"{text}\Z"), commands) for text, commands in _SENTENCES)
# Of these a condition is understood behind `if` without a correction.
_UNDERSTOOD: Final = re.compile(r"break \S+ if ")


def correct_sentence(words: Sequence[str], rest: Sequence[str] | None) -> Correction | None:
    """Return the commands that a sentence means; None where the words are no sentence.

    Args:
        words: The words before `--`.
        rest: The program behind it.
    """
    text = " ".join("at" if one == "--at" else one for one in words)
    has_options = any(one.startswith("--") and one != "--at" for one in words)
    if len(words) < len(("crash", "report", "x")) or _UNDERSTOOD.match(text) or has_options:
        return None
    for pattern, commands in _PATTERNS:
        found = pattern.match(text)
        if found is None or found.groupdict().get("x") in _PRONOUNS:
            continue
        parts = {name: value or "LOC" for name, value in found.groupdict().items()}
        parts.setdefault("at", "LOC")
        if "line" in parts:
            at_line = (parts["file"], parts["line"])
            of_file = (parts["source"], parts["below"])
            parts["place"] = ":".join(at_line if found["line"] else of_file)
        parts["whole"] = " ".join(parts.get(one, "") for one in ("x", "sign", "value"))
        if parts["at"].isdecimal():
            parts["at"] = f"FILE:{parts['at']}"
        filled = [_fill_words(one, parts, rest) for one in commands]
        # A program is given to what runs one.
        filled.sort(key=lambda one: ("--" in one) != (rest is not None))
        return Correction("a sentence is no command", tuple(filled))
    return None


def _fill_words(
    template: str, parts: dict[str, str], rest: Sequence[str] | None
) -> tuple[str, ...]:
    words: list[str] = []
    for word in template.split(" "):
        if word == "{program}":
            words += parts["program"].split(" ")
        elif word == "--" and template.endswith("--"):
            words += ["--", *(rest or ["CMD"])]
        else:
            words.append(word.strip("'").format(**parts))
    return tuple(words)
