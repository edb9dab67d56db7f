"""Puts the words of a question, and of `start`, into the order that the parser takes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from debugger.cli.translation.argument_order import (
    OPTION_SPELLINGS,
    ArrangedWords,
    Correction,
    runs_program,
)

Result = ArrangedWords | Correction
_LOCATION: Final = re.compile(r"[^\s:]+\.\w+:\d+\Z")
_LOCATION_THEN_TEXT: Final = re.compile(r"([^\s:]+\.\w+:\d+)[\s,]+(.+)\Z")
_MODULE: Final = ("-m", "--module")
_INTERPRETER: Final = re.compile(r"(?:.*/)?(?:python[\d.]*|pypy3?|node|nodejs)\Z")
# Words that begin a command, as opposed to a function's name.
_COMMAND_START: Final = re.compile(r"(?:\.{0,2}/|(?:python|node|go|cargo|npx|uv|ruby|java)\d*\Z)")


def order_question(arranged: ArrangedWords) -> Result:
    """Put a question's words into order, or say how they should be typed."""
    if arranged.lacking is not None and arranged.rest is not None:
        return _drop_option(arranged)
    order = QUESTION_ORDERS.get(arranged.command.name)
    return arranged if order is None else order(arranged)


def _drop_option(arranged: ArrangedWords) -> Correction:
    """Suggest the command without an option whose value is missing."""
    flag = arranged.lacking or ""
    fixed = order_question(
        ArrangedWords(
            arranged.name,
            arranged.command,
            tuple(one for one in arranged.options if one[0] != flag),
            arranged.positionals,
            arranged.rest,
        )
    )
    commands = fixed.commands if isinstance(fixed, Correction) else (fixed.to_words(),)
    return Correction(f"{arranged.command.name}: {flag} needs a value", commands)


def _take_condition(arranged: ArrangedWords) -> Result:
    """Take `if COND` among the arguments for the option."""
    if "if" not in arranged.positionals:
        return arranged
    at = arranged.positionals.index("if")
    before, after = arranged.positionals[:at], arranged.positionals[at + 1 :]
    if not after:
        return arranged
    added = (("--when", after[:1]),)
    fixed = arranged.change(add=added, positionals=(*before, *after[1:]))
    ordered = order_question(fixed)
    if len(after) == 1 or isinstance(ordered, Correction):
        return ordered
    return Correction("where does the condition end?", (ordered.to_words(),))


def _order_probe(arranged: ArrangedWords) -> Result:
    """Pair each location of `probe` and `diff` with its expressions, wherever they stand."""
    separated = _separate_two_commands(arranged)
    if separated is not None:
        return separated
    several = _separate_places(arranged)
    if several is not None:
        return several
    arranged = _join_file_and_line(arranged, "--at")
    places, texts = _collect_places(arranged)
    # Otherwise the arguments are the command.
    is_apart = arranged.rest is not None or bool(arranged.role_values("--pid"))
    if not places:
        return _find_place(arranged, is_apart=is_apart)
    is_moved = (is_apart and arranged.positionals) or arranged.role_values("+expression")
    if all(texts) and not is_moved:
        is_joined = any(_LOCATION_THEN_TEXT.match(one) for one in arranged.role_values("--at"))
        return _with_places(arranged, places, texts) if is_joined else arranged
    return _pair_words(arranged, places, texts, is_apart=is_apart)


def _separate_two_commands(arranged: ArrangedWords) -> Correction | None:
    """Suggest `diff -- A --vs B` for `diff A B`."""
    commands = arranged.positionals
    is_alone = not arranged.options and arranged.rest is None
    if arranged.command.name != "diff" or not is_alone or len(commands) != len(("a", "b")):
        return None
    fixed = (*arranged.name, "--", commands[0], "--vs", commands[1])
    return Correction("two commands are separated by --vs", (fixed,))


def _separate_places(arranged: ArrangedWords) -> Correction | None:
    """Suggest an option each for `--at f.c:3,g.c:4`."""
    for at, (flag, values) in enumerate(arranged.options):
        places = [one.strip() for one in values[0].split(",")] if values else []
        if flag != "--at" or len(places) == 1 or not all(map(_LOCATION.match, places)):
            continue
        options = [*arranged.options[:at], *((flag, (one, *values[1:])) for one in places)]
        every = [one for one, _ in arranged.options]
        fixed = arranged.change(without=every, add=[*options, *arranged.options[at + 1 :]])
        ordered = _order_probe(fixed)
        if isinstance(ordered, Correction):
            return ordered
        return Correction("one location for each --at", (ordered.to_words(),))
    return None


def _find_place(arranged: ArrangedWords, *, is_apart: bool) -> Result:
    """Take the one argument that is FILE:LINE for the location."""
    words = list(arranged.positionals)
    named = [one for one in (words if is_apart else words[:1]) if _LOCATION.match(one)]
    if len(named) == 1:
        words.remove(named[0])
        return _order_probe(arranged.change(positionals=words, add=[("--at", (named[0],))]))
    if words and is_apart:
        return _lack_location(arranged)
    return _find_options_of_program(arranged)


def _pair_words(
    arranged: ArrangedWords, places: list[str], texts: list[list[str]], *, is_apart: bool
) -> Result:
    """Pair the locations with the expressions beside them and among the arguments."""
    # Without `--` the first arguments are the missing expressions, the others the command.
    missing = len(arranged.positionals) if is_apart else sum(not one for one in texts)
    extra, command = arranged.positionals[:missing], arranged.positionals[missing:]
    if "if" in [*extra, *(one for text in texts for one in text)]:
        return _probe_with_if(arranged, places, texts, list(extra))
    given = [*(one for text in texts for one in text), *arranged.role_values("+expression"), *extra]
    paired = _pair_expressions(places, given)
    fixed = arranged.change(without=("+expression",), positionals=command)
    if paired is None:
        is_whole = is_apart or not arranged.positionals
        return arranged if given or not is_whole else _lack_expressions(fixed, places)
    fixed = _with_places(fixed, places, [[one] for one in paired])
    if len(given) < len(places):
        return Correction(f"{len(places)} locations, {len(given)} expressions", (fixed.to_words(),))
    return fixed


def _lack_location(arranged: ArrangedWords) -> Result:
    """Suggest a location for expressions without one."""
    if arranged.command.name != "probe" or "--at" in (arranged.rest or ()):
        return _find_options_of_program(arranged)
    text = ", ".join(arranged.positionals)
    fixed = arranged.change(positionals=(), add=[("--at", ("LOC", text))])
    return Correction("at which location?", (fixed.to_words(),))


def _lack_expressions(arranged: ArrangedWords, places: list[str]) -> Correction:
    fixed = _with_places(arranged, places, [["EXPR"] for _ in places])
    return Correction(f"which expressions at {places[0]}?", (fixed.to_words(),))


def _collect_places(arranged: ArrangedWords) -> tuple[list[str], list[list[str]]]:
    """Return the locations of `--at`, and the expressions that stand beside each."""
    places: list[str] = []
    texts: list[list[str]] = []
    for flag, values in arranged.options:
        if flag != "--at" or not values:
            continue
        match = _LOCATION_THEN_TEXT.match(values[0])
        if match is None:
            places.append(values[0])
            texts.append(list(values[1:]))
        else:
            places.append(match[1])
            texts.append([match[2], *values[1:]])
    return places, texts


def _probe_with_if(
    arranged: ArrangedWords, places: list[str], texts: list[list[str]], extra: list[str]
) -> Result:
    """Read `--at LOC EXPR if COND`."""
    words = [*(one for text in texts for one in text), *extra]
    lone = _with_places(arranged, places, [[] for _ in places])
    return _take_condition(lone.change(positionals=words))


def _pair_expressions(places: list[str], given: list[str]) -> list[str] | None:
    """Return the expressions of each location; one for all is repeated."""
    if not given:
        return None
    if len(places) == 1:
        return [", ".join(given)]
    if len(given) == len(places):
        return given
    return [given[0]] * len(places) if len(given) == 1 else None


def _with_places(
    arranged: ArrangedWords, places: list[str], texts: list[list[str]]
) -> ArrangedWords:
    pairs = [("--at", (place, *text)) for place, text in zip(places, texts, strict=True)]
    changed = arranged.change(without=("--at",))
    others = changed.options
    return changed.change(without=[flag for flag, _ in others], add=[*pairs, *others])


def _join_file_and_line(arranged: ArrangedWords, flag: str) -> ArrangedWords:
    """Join `--file F --line N` into one location of this option; no option means an argument."""
    files, lines = arranged.role_values("+file"), arranged.role_values("+line")
    if not lines:
        return arranged
    # `--at f.c --line 5`
    named = [one for one in arranged.role_values(flag)[:1] if ":" not in one and "." in one]
    files = files or named
    place = f"{files[0]}:{lines[0]}" if files and ":" not in lines[0] else lines[0]
    dropped = ("+file", "+line", *((flag,) if named else ()))
    texts = arranged.role_values(flag)[1:] if named else []
    return arranged.change(without=dropped, add=[(flag, (place, *texts))])


def _find_options_of_program(arranged: ArrangedWords) -> Result:
    """Suggest to put `--at LOC` before `--`, where it stands behind the program."""
    rest = list(arranged.rest or ())
    if "--at" not in rest:
        return arranged
    at = rest.index("--at")
    words = (*arranged.name, *arranged.given, *rest[at:], "--", *rest[:at])
    return Correction(f"{arranged.command.name}: its options go before --", (words,))


def _order_who_wrote(arranged: ArrangedWords) -> Result:
    arranged = _join_file_and_line(arranged, "--at")
    if expressions := arranged.role_values("+expression"):
        arranged = arranged.change(
            without=("+expression",), positionals=(*expressions, *arranged.positionals)
        )
    words = list(arranged.positionals)
    if not words and arranged.rest and "--at" not in arranged.rest:
        fixed = arranged.change(positionals=("EXPR",))
        return Correction("which value? It goes before --", (fixed.to_words(),))
    if arranged.role_values("--at"):
        return arranged
    if words[1:2] == ["at"] and len(words) > len(("x", "at")):
        return arranged.change(
            positionals=[words[0], *words[3:]], add=[("--at", (words[2],))]
        )  # fmt: skip
    first = words[:2]
    named = [one for one in first if _LOCATION.match(one)]
    if len(first) == len(("x", "f.c:5")) and len(named) == 1:
        words.remove(named[0])
        return arranged.change(positionals=words, add=[("--at", (named[0],))])
    return _find_options_of_program(arranged)


def _order_calls(arranged: ArrangedWords) -> Result:
    if functions := [*arranged.role_values("+function"), *arranged.role_values("+location")]:
        arranged = arranged.change(
            without=("+function", "+location"), positionals=(*functions, *arranged.positionals)
        )
    if not arranged.positionals and arranged.rest:
        fixed = arranged.change(positionals=("FUNCTION",))
        return Correction("which function? It goes before --", (fixed.to_words(),))
    return _take_condition(arranged)


def _order_path(arranged: ArrangedWords) -> Result:
    arranged = _join_file_and_line(arranged, "--around")
    words = arranged.positionals
    if arranged.rest and len(words) == 1 and not arranged.role_values("--around"):
        is_function = words[0].isidentifier() and _COMMAND_START.match(arranged.rest[0])
        if _LOCATION.match(words[0]) or is_function:
            return arranged.change(positionals=(), add=[("--around", words)])
    return arranged


def _order_run(arranged: ArrangedWords) -> Result:
    """Put the program of `crash`, `hang` and `test` behind `--args` or nothing in its place."""
    words = arranged.role_values("+args")
    if words and arranged.rest is None:
        changed = arranged.change(without=("+args",), positionals=())
        return ArrangedWords(
            changed.name, changed.command, changed.options, (),
            (*arranged.positionals, *words), is_changed=True,
        )  # fmt: skip
    positionals = arranged.positionals
    is_process = arranged.command.name == "hang" and len(positionals) == 1
    if is_process and arranged.rest is None and positionals[0].isdecimal():
        fixed = arranged.change(positionals=(), add=[("--pid", positionals)])
        return Correction(f"is {positionals[0]} a process?", (fixed.to_words(),))
    return arranged


def _order_start(arranged: ArrangedWords) -> Result:
    programs, args = arranged.role_values("+program"), arranged.role_values("+args")
    if programs or "+args" in {flag for flag, _ in arranged.options}:
        words = [*programs, *arranged.positionals, *args]
        has_module = any(flag in _MODULE for flag, _ in arranged.options)
        first = 0 if has_module else 1
        rest = [*words[first:], *(arranged.rest or ())]
        changed = arranged.change(without=("+program", "+args"))
        arranged = ArrangedWords(
            changed.name, changed.command, changed.options, tuple(words[:first]),
            tuple(rest) if rest else None, is_changed=True,
        )  # fmt: skip
    return _without_interpreter(arranged)


def correct_start_condition(arranged: ArrangedWords) -> Correction | None:
    """Suggest to set a breakpoint with a condition after the start: `start --break` has none."""
    at, word = arranged.unknown[0]
    given = arranged.given
    is_condition = "--condition" in OPTION_SPELLINGS.get(word, ())
    places = arranged.role_values("--break")
    if not is_condition or len(places) != 1 or at + 1 >= len(given):
        return None
    place = places[0]
    words = [one for one in arranged.positionals if one not in {word, given[at + 1]}]
    fixed = ArrangedWords(arranged.name, arranged.command, (("--stop-on-entry", ()),),
                          tuple(words), arranged.rest)  # fmt: skip
    if place.isdecimal() and words:
        place = f"{words[0]}:{place}"
    stop = ("break", place, "--condition", given[at + 1])
    return Correction(
        "start --break takes no condition", (fixed.to_typed_order(), stop, ("continue",))
    )


def _without_interpreter(arranged: ArrangedWords) -> Result:
    """Suggest `start app.py` for `start python3 app.py`, which would debug the interpreter."""
    words = (*arranged.positionals, *(arranged.rest or ()))
    if len(words) < len(("python3", "app.py")) or not _INTERPRETER.match(words[0]):
        return arranged
    if words[1].startswith("-"):
        return arranged
    fixed = (*arranged.name, *_option_words(arranged), words[1])
    args = words[2:]
    return Correction(
        f"the program is {words[1]}: start finds the interpreter itself",
        ((*fixed, *(("--", *args) if args else ())),),
    )


def _option_words(arranged: ArrangedWords) -> list[str]:
    return [word for flag, values in arranged.options for word in (flag, *values)]


def _order_try(arranged: ArrangedWords) -> Result:
    changes = arranged.role_values("+expression")
    if not changes:
        return arranged
    return arranged.change(
        without=("+expression",), positionals=(*arranged.positionals, *changes)
    )  # fmt: skip


def is_question(arranged: ArrangedWords) -> bool:
    """Tell whether a command's words are ordered here."""
    return arranged.command.name in QUESTION_ORDERS or runs_program(arranged.command)


QUESTION_ORDERS: Final[Mapping[str, Callable[[ArrangedWords], Result]]] = {
    "probe": _order_probe,
    "diff": _order_probe,
    "who-wrote": _order_who_wrote,
    "calls": _order_calls,
    "path": _order_path,
    "crash": _order_run,
    "hang": _order_run,
    "test": _order_run,
    "start": _order_start,
    "try": _order_try,
}
