"""Reads phrases among a question's words: `when n > 3`, `every 10`, `return of parse`.

Only words that are hardly expressions are read so, and only where the program is apart.
"""

from __future__ import annotations

import re
from typing import Final

from debugger.cli.reference import option_parameters
from debugger.cli.translation.argument_order import ArrangedWords, Correction
from debugger.cli.translation.program_words import SCRIPT_SUFFIX

Result = ArrangedWords | Correction
_CONDITION_WORDS: Final = frozenset({"if", "when", "where", "unless"})
_COMPARES: Final = re.compile(r"[<>=!]|\b(?:in|is|not|and|or)\b")
# What no expression begins with, and what stands there for a person.
_PHRASE_WORDS: Final = frozenset({"every", "each", "once", "only", "for", "times", "always", "and"})
_INVARIANT_WORDS: Final = frozenset({"always", "that", "ensure", "assert", "verify", "check"})
_DEFINES: Final = re.compile(r"(?:def|func|fn|function|method) +(?P<name>[\w.:]+)(?:\(.*)?\Z")
_SOURCE: Final = re.compile(rf"\.{SCRIPT_SUFFIX}\Z|\.ipynb\Z|\A-m\Z|\Apytest\Z")
_RETURNS: Final = frozenset({"return", "returns", "result", "exit"})
_RETURN_FLAGS: Final = frozenset({"--returns", "--return", "--returned", "--exit", "--on-return"})


def read_phrases(arranged: ArrangedWords) -> Result:
    """Take the phrases of a question for its options, or correct what only a person understands."""
    name = arranged.command.name
    if arranged.rest is None:
        return arranged
    if name == "calls":
        arranged = _name_function(arranged)
    if name == "holds" and len(arranged.positionals) > 1:
        stated = [one for one in arranged.positionals if one not in _INVARIANT_WORDS]
        if stated and len(stated) < len(arranged.positionals):
            return arranged.change(positionals=stated)
    if name == "probe" and (calls := _ask_for_return(arranged)) is not None:
        return calls
    taken = _take_condition_phrase(arranged)
    if isinstance(taken, Correction) or name != "probe":
        return taken
    return _drop_phrase(taken)


def correct_bare_line(arranged: ArrangedWords) -> Correction | None:
    """Ask for the file of `--line 21`, where no word of the program's command is a source file."""
    lines = [values for flag, values in arranged.options if flag in {"--at", "--around"}]
    bare = [values for values in lines if values and values[0].isdecimal()]
    if not bare or not arranged.rest or any(_SOURCE.search(one) for one in arranged.rest):
        return None
    options = [
        (flag, (f"FILE:{values[0]}", *values[1:]) if values in bare else values)
        for flag, values in arranged.options
    ]
    named = arranged.change(without=[flag for flag, _ in options], add=options)
    return Correction(f"line {bare[0][0]} of which file?", (named.to_words(),))


def correct_return_flag(arranged: ArrangedWords) -> Correction | None:
    """Suggest `calls` for `probe F --returns`: what a function returned is not known before."""
    unknown = [word for _, word in arranged.unknown]
    places = [value for value in arranged.role_values("--at") if "," not in value]
    names = [one for one in (*places, *arranged.positionals) if re.fullmatch(r"[\w.:]+", one)]
    is_return = len(unknown) == 1 and unknown[0] in _RETURN_FLAGS
    if arranged.command.name != "probe" or not is_return or not names:
        return None
    return Correction("calls shows what a function returned", (_calls(names[0], arranged),))


def _calls(function: str, arranged: ArrangedWords) -> tuple[str, ...]:
    return ("calls", function, "--", *(arranged.rest or ("CMD",)))


def _name_function(arranged: ArrangedWords) -> ArrangedWords:
    """Read the function's name out of a line that defines it: `def parse(x):`."""
    match = _DEFINES.match(" ".join(arranged.positionals))
    return arranged.change(positionals=(match["name"],)) if match is not None else arranged


def _ask_for_return(arranged: ArrangedWords) -> Correction | None:
    words = list(arranged.positionals)
    if len(words) == len(("return", "of", "f")) and words[0] in _RETURNS and words[1] == "of":
        return Correction("calls shows what a function returned", (_calls(words[2], arranged),))
    return None


def _take_condition_phrase(arranged: ArrangedWords) -> Result:
    """Take `when n > 3` behind the other words for `--when 'n > 3'`."""
    words = list(arranged.positionals)
    flags = {flag for one in option_parameters(arranged.command) for flag in one.about.flags}  # type: ignore[union-attr] # an option's
    at = next((index for index, one in enumerate(words) if one in _CONDITION_WORDS), 0)
    has_place = bool(at) or bool(arranged.role_values("--at"))
    condition = " ".join(words[at + 1 :])
    if (
        "--when" not in flags
        or not words
        or not has_place
        or words[at] not in _CONDITION_WORDS
        or (len(words) == at + 2 and words[at] == "if")
        or not (_COMPARES.search(condition) or words[at] == "unless" or len(words) == at + 2)
    ):
        return arranged
    if words[at] != "unless":
        return arranged.change(positionals=words[:at], add=[("--when", (condition,))])
    is_python = any(".py" in one for one in (*words, *arranged.role_values("--at")))
    opposite = f"not ({condition})" if is_python else f"!({condition})"
    fixed = arranged.change(positionals=words[:at], add=[("--when", (opposite,))])
    return Correction("there is --when only", (fixed.to_words(),))


def _drop_phrase(arranged: ArrangedWords) -> Result:
    """Correct `x every 10` to `x`: there is no option for it."""
    words = list(arranged.positionals)
    if words[-1:] == ["times"] and len(words) > len(("10", "times")) and words[-2].isdecimal():
        return arranged.change(positionals=words[:-2], add=[("--first", (words[-2],))])
    at = next((index for index, one in enumerate(words) if one in _PHRASE_WORDS), 0)
    if not at or at == len(words) - 1:
        return arranged
    fixed = arranged.change(positionals=words[:at])
    return Correction(f"{words[at]!r} is no expression", (fixed.to_words(),))
