"""Puts the words of a question, and of `start`, into the order that the parser takes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from debugger.cli.translation import question_phrases
from debugger.cli.translation.argument_order import (
    ArrangedWords,
    Correction,
    arrange_words,
    drop_needless,
    find_own_option,
    resolve_flag,
    runs_program,
    takes_command,
    value_counts,
)
from debugger.cli.translation.compared_commands import correct_two_commands, separate_repeated
from debugger.cli.translation.location_spelling import (
    find_location,
    is_file_function,
    is_file_line,
    spell_location,
    split_condition,
    split_expressions,
)
from debugger.cli.translation.misplaced_options import correct_options_of_program
from debugger.cli.translation.program_words import (
    begins_program,
    correct_separator,
    separate_program,
    split_command,
)
from debugger.cli.translation.run_order import TEST_FILE, order_run, order_test, order_try
from debugger.cli.translation.start_order import order_start
from debugger.cli.translation.value_question import order_value

Result = ArrangedWords | Correction
_FILLERS: Final = frozenset({"of", "to", "for", "the", "function", "on", "in", "call", "report",
                              "every", "each", "all"})  # fmt: skip
_CONDITIONS: Final = frozenset({"--when", "--condition"})
_LONGEST_LOCATION: Final = 4  # words
# A call with values, as opposed to the types of a C++ overload.
_CALLED_WITH: Final = re.compile(r"(?P<name>[\w.:]+)\((?=.*[\d\"'=]).*\)\Z")
# Words that begin a command, as opposed to a function's name.
_COMMAND_START: Final = re.compile(
    r"(?:\.{0,2}/|(?:python|node|go|cargo|npx|uv|ruby|php|java)\d*\Z)"
)
_NAME: Final = re.compile(r"[A-Za-z_][\w.:]*\Z")
_OPERATORS: Final = frozenset(
    {">", "<", ">=", "<=", "==", "!=", "+", "-", "*", "/", "%", "and", "or"}
)


def order_question(arranged: ArrangedWords) -> Result:
    """Put a question's words into order, or say how they should be typed."""
    if arranged.lacking is not None and arranged.rest is not None:
        return _drop_option(arranged)
    separated = (
        correct_separator(arranged)
        or _separate_args(arranged)
        or _refuse_unquoted_object(arranged)
        or separate_repeated(arranged)
    )
    phrased = separated or question_phrases.read_phrases(separate_program(arranged))
    if isinstance(phrased, Correction):
        return phrased
    arranged = phrased
    if (compared := correct_two_commands(arranged)) is not None:
        return compared
    arranged = _split_number(_take_placed_condition(arranged))
    order = QUESTION_ORDERS.get(arranged.command.name)
    ordered = arranged if order is None else order(arranged)
    if isinstance(ordered, Correction) or not takes_command(ordered.command):
        return ordered
    return _drop_words(ordered) or question_phrases.correct_bare_line(ordered) or ordered


def _separate_args(arranged: ArrangedWords) -> Correction | None:
    """Tell the program's arguments behind `--args` from the question's own options."""
    args = arranged.role_values("+args")
    if not args or not takes_command(arranged.command):
        return None
    at = find_own_option(arranged)
    if at:
        behind = (*arranged.given[: len(arranged.given) - len(args) - 1], *args[at:])
        own = arrange_words(arranged.name, arranged.command, behind, arranged.rest)
        apart = drop_needless(own).change(add=[("+args", tuple(args[:at]))])
        is_quoted = at == 1 and " " in args[0]
        readings = (apart,) if is_quoted else (apart, arranged.change(add=[("+arg", ())]))
        return Correction("where do the program's arguments end?", _order_each(readings))
    if len(args) > 1 or " " not in args[0]:
        return None
    as_one = arranged.change(without=("+args",), add=[("+arg", tuple(args))])
    if arranged.command.name == "probe" and arranged.rest and not _has_expressions(arranged):
        expressions = arranged.change(without=("+args",), add=[("+expression", tuple(args))])
        return Correction("expressions, or arguments?", _order_each((expressions, as_one)))
    words = arranged.change(without=("+args",), add=[("+arg", split_command(args[0]))])
    return Correction("one argument, or several?", _order_each((words, as_one)))


def _refuse_unquoted_object(arranged: ArrangedWords) -> Correction | None:
    """Refuse `{at: …}`, of which a shell has taken the quotes: it would be the program."""
    is_object = any(re.match(r"\{\w+:", one) for one in arranged.positionals)
    if not is_object or arranged.rest is not None:
        return None
    has_place = "--at" in value_counts(arranged.command)
    options = ("--at", "LOC", "EXPR") if has_place else ()
    return Correction(
        "an object is quoted; or as options", ((*arranged.name, *options, "--", "CMD"),)
    )


def _has_expressions(arranged: ArrangedWords) -> bool:
    values = [values for flag, values in arranged.options if flag == "--at"]
    return bool(arranged.positionals or arranged.role_values("+expression")) or any(
        len(one) > 1 for one in values
    )


def _order_each(readings: Sequence[ArrangedWords]) -> tuple[tuple[str, ...], ...]:
    """Return the command lines of several readings, each in order."""
    lines: list[tuple[str, ...]] = []
    for one in readings:
        ordered = order_question(one)
        lines += ordered.commands if isinstance(ordered, Correction) else (ordered.to_words(),)
    return tuple(lines)


def _split_number(arranged: ArrangedWords) -> ArrangedWords:
    """Take `calls parse#3`, as answers number calls, for the third call."""
    named = re.fullmatch(r"(\w\S*)#(\d+)", next(iter(arranged.positionals), ""))
    if arranged.command.name != "calls" or named is None:
        return arranged
    words = [named[1], *arranged.positionals[1:]]
    return arranged.change(positionals=words, add=[("--nth", (named[2],))])


def _drop_words(arranged: ArrangedWords) -> Correction | None:
    """Refuse words before `--` that are no argument: they would become the program."""
    own = [each.name for each in arranged.command.parameters].index("words")
    words = arranged.positionals
    name = arranged.command.name
    if not arranged.rest or len(words) <= own or begins_program(words[own:]):
        return None
    if own == 0 and name != "path":
        return None  # `crash time -- ./app`
    if name == "holds" and any(" " in one.strip() for one in words):
        return None  # several invariants
    remaining = [one for one in words if one not in _FILLERS]
    numbers = [one for one in remaining[own:] if one.isdecimal()]
    added = [("--nth", (numbers[0],))] if numbers and name == "calls" else []
    if name == "path" and remaining:
        added = [("--around", (remaining[-1],))]
    fixed = arranged.change(positionals=remaining[:own], add=added)
    return Correction("what stands before -- is no program", (fixed.to_words(),))


def _drop_option(arranged: ArrangedWords) -> Correction:
    """Suggest the command without an option whose value is missing."""
    flag = arranged.lacking or ""
    typed = next(
        (one for one in arranged.given if resolve_flag(arranged.command, one) == flag), flag
    )
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
    return Correction(f"{arranged.command.name}: {typed} needs a value", commands)


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
    if (unquoted := _separate_unquoted(arranged)) is not None:
        return unquoted
    arranged = _take_place_condition(arranged)
    several = _separate_places(arranged)
    if several is not None:
        return several
    arranged = _join_place_words(_take_ranges(_join_file_and_line(arranged, "--at")))
    places, texts = _collect_places(arranged)
    # Otherwise the arguments are the command.
    is_apart = arranged.rest is not None or bool(arranged.role_values("--pid"))
    if not places:
        return _find_place(arranged, is_apart=is_apart)
    is_moved = (is_apart and arranged.positionals) or arranged.role_values("+expression")
    if all(texts) and not is_moved:
        is_joined = any(split_expressions(one) for one in arranged.role_values("--at"))
        listed = _correct_list(arranged, places, texts)
        return _with_places(arranged, places, texts) if is_joined else listed
    return _pair_words(arranged, places, texts, is_apart=is_apart)


def _separate_two_commands(arranged: ArrangedWords) -> Correction | None:
    """Suggest `diff -- A --vs B` for `diff A B`."""
    commands = arranged.positionals
    is_alone = not arranged.options and arranged.rest is None
    if arranged.command.name != "diff" or not is_alone or len(commands) != len(("a", "b")):
        return None
    first, second = (split_command(one) for one in commands)
    fixed = (*arranged.name, "--", *first, "--vs", *second)
    return Correction("two commands are separated by --vs", (fixed,))


def _separate_unquoted(arranged: ArrangedWords) -> Correction | None:
    """Suggest `diff -- A --vs B` for `diff python a.py --vs python b.py`."""
    others = arranged.role_values("--vs")
    is_whole = any(" " in one or one.startswith("run:") for one in others)
    if arranged.rest is not None or is_whole or not arranged.positionals:
        return None
    words = arranged.given
    spelled = [
        index
        for index, one in enumerate(words)
        if (not others and one == "vs") or resolve_flag(arranged.command, one) == "--vs"
    ]
    at = spelled[0] if spelled and (others or 0 < spelled[0] < len(words) - 1) else 0
    if not others and not at:
        return None
    if not others:
        fixed = (*arranged.name, "--", *words[:at], "--vs", *words[at + 1 :])
        return Correction("two commands are separated by --vs", (fixed,))
    before = arrange_words(arranged.name, arranged.command, arranged.given[:at], None)
    behind = arranged.given[at + 2 : at + 3]
    # `--vs ./app2` is a command; so is `--vs ./app2 ./app 1`, where the other one follows.
    if not before.positionals or not behind or behind[0].startswith("-"):
        return None
    fixed = (*arranged.name, "--", *words[:at], "--vs", *words[at + 1 :])
    return Correction("two commands stand behind --", (fixed,))


def _take_placed_condition(arranged: ArrangedWords) -> ArrangedWords:
    """Take `--where f.c:5` for the location, and spell other conditions `--when`."""
    known = value_counts(arranged.command)
    flag = next((one for one in ("--at", "--around") if one in known), None)
    named = "--when" if "--when" in known else "--condition"
    options = tuple(
        (flag, (spell_location(values[0]),))
        if flag and one in _CONDITIONS and values and is_file_line(values[0])
        else (named if one in _CONDITIONS else one, values)
        for one, values in arranged.options
    )
    if options == arranged.options:
        return arranged
    return arranged.change(without=[one for one, _ in arranged.options], add=options)


def _take_place_condition(arranged: ArrangedWords) -> ArrangedWords:
    """Take `--at 'f.c:5 if x'` for the location and `--when`."""
    options: list[tuple[str, tuple[str, ...]]] = []
    for flag, values in arranged.options:
        is_conditional = flag == "--at" and values and re.search(r"\s(?:if|when)\s", values[0])
        split = split_condition(values[0]) if is_conditional else None
        if split is None or not is_file_line(split[0]):
            options.append((flag, values))
        else:
            options += [(flag, (split[0], *values[1:])), ("--when", (split[1],))]
    if tuple(options) == arranged.options:
        return arranged
    return arranged.change(without=[one for one, _ in arranged.options], add=options)


def _separate_places(arranged: ArrangedWords) -> Correction | None:
    """Suggest an option each for `--at f.c:3,g.c:4`."""
    for at, (flag, values) in enumerate(arranged.options):
        places = _list_places(values[0]) if values else []
        lines = [one for one in places if is_file_line(one)]
        is_listed = lines == places or (not lines and all(map(_NAME.match, places)))
        if flag != "--at" or len(places) == 1 or not is_listed:
            continue
        options = [*arranged.options[:at], *((flag, (one, *values[1:])) for one in places)]
        every = [one for one, _ in arranged.options]
        fixed = arranged.change(without=every, add=[*options, *arranged.options[at + 1 :]])
        ordered = _order_probe(fixed)
        if isinstance(ordered, Correction):
            return ordered
        return Correction("one location for each --at", (ordered.to_words(),))
    return None


def _list_places(text: str) -> list[str]:
    """Split `f.c:3,g.c:4`, `f.c:3,4`, and `f.c:3-9` into its ends."""
    if lines := re.fullmatch(r"(\S+\.\w+):(\d+)-(\d+)", text):
        return [f"{lines[1]}:{lines[2]}", f"{lines[1]}:{lines[3]}"]
    places = [one.strip() for one in text.split(",")]
    file, _, line = places[0].rpartition(":")
    if file and line.isdecimal():
        places = [f"{file}:{one}" if one.isdecimal() else one for one in places]
    return places


def _find_place(arranged: ArrangedWords, *, is_apart: bool) -> Result:
    """Take the one argument that is FILE:LINE for the location."""
    words = list(arranged.positionals)
    found = find_location(words) if is_apart else None
    if found is not None and found[1] - found[0] > 1:  # `f.py 5`
        words[found[0] : found[1]] = [found[2]]
    named = [one for one in (words if is_apart else words[:1]) if _names_place(one)]
    if len(named) == 1:
        at = words.index(named[0])
        is_behind_word = at > 0 and words[at - 1] in {"at", "in", "on", "@"}
        del words[at - is_behind_word : at + 1]
        place = spell_location(named[0])
        return _order_probe(arranged.change(positionals=words, add=[("--at", (place,))]))
    if words and is_apart:
        return _lack_location(arranged)
    return correct_options_of_program(arranged) or arranged


def _names_place(word: str) -> bool:
    """Return whether a word is FILE:LINE, alone or with its expressions, or FILE:FUNCTION."""
    return is_file_line(word) or is_file_function(word) or split_expressions(word) is not None


def _join_place_words(arranged: ArrangedWords) -> ArrangedWords:
    """Join `--at line 5 of f.py x` into a location."""
    values = arranged.role_values("--at")
    words = [*values, *arranged.positionals]
    found = find_location(words[:_LONGEST_LOCATION]) if arranged.rest is not None else None
    counts = [len(given) for flag, given in arranged.options if flag == "--at"]
    if found is None or len(counts) != 1 or found[0] or found[1] == 1:
        return arranged
    place = ("--at", (found[2],))
    return arranged.change(without=("--at",), add=[place], positionals=words[found[1] :])


def _take_ranges(arranged: ArrangedWords) -> ArrangedWords:
    """Take `--nth 1-5` for `--from 1 --to 5`."""
    for numbers in arranged.role_values("--nth"):
        if match := re.fullmatch(r"(\d+)(?:-|\.\.|:)(\d+)", numbers):
            added = [("--from", (match[1],)), ("--to", (match[2],))]
            return arranged.change(without=("--nth",), add=added)
    return arranged


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
    if len(given) > 1 and given[0] in {"print", "show", "value", "values"}:
        given = given[1:]
    if len(places) == 1 and not _OPERATORS.isdisjoint(given):
        fixed = _with_places(arranged.change(positionals=command), places, [[" ".join(given)]])
        return Correction("an expression is one word", (fixed.to_words(),))
    paired = _pair_expressions(places, given)
    fixed = arranged.change(without=("+expression",), positionals=command)
    if paired is None:
        is_whole = is_apart or not arranged.positionals
        return arranged if given or not is_whole else _lack_expressions(fixed, places)
    fixed = _with_places(fixed, places, [[one] for one in paired])
    listed = _correct_list(fixed, places, [[one] for one in paired])
    if isinstance(listed, Correction):
        return listed
    if len(given) < len(places):
        return Correction(f"{len(places)} locations, {len(given)} expressions", (fixed.to_words(),))
    return fixed


def _lack_location(arranged: ArrangedWords) -> Result:
    """Suggest a location for expressions without one."""
    if arranged.command.name != "probe" or "--at" in (arranged.rest or ()):
        return correct_options_of_program(arranged) or arranged
    words = arranged.positionals
    if words[0] in {"at", "in", "on", "@"} and len(words) > len(("on", "total")):
        fixed = arranged.change(positionals=(), add=[("--at", (words[1], ", ".join(words[2:])))])
        return Correction("a location is --at", (fixed.to_words(),))
    fixed = arranged.change(positionals=(), add=[("--at", ("LOC", ", ".join(words)))])
    commands = [fixed.to_words()]
    if len(words) > 1 and _NAME.match(words[0]) and not words[0].endswith(","):
        named = arranged.change(positionals=(), add=[("--at", (words[0], ", ".join(words[1:])))])
        commands.insert(0, named.to_words())
    return Correction("at which location?", tuple(commands))


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
        split = split_expressions(values[0])
        place, *text = (values[0],) if split is None else split
        places.append(place)
        texts.append([*text, *values[1:]])
    return places, texts


def _probe_with_if(
    arranged: ArrangedWords, places: list[str], texts: list[list[str]], extra: list[str]
) -> Result:
    """Read `--at LOC EXPR if COND`."""
    words = [*(one for text in texts for one in text), *extra]
    lone = _with_places(arranged, places, [[] for _ in places])
    return _take_condition(lone.change(positionals=words))


def _correct_list(arranged: ArrangedWords, places: list[str], texts: list[list[str]]) -> Result:
    """Suggest `x, y` for `["x", "y"]`, which is a list of two texts."""
    joined = [[_join_list(one) for one in text] for text in texts]
    valued = [[_drop_name(one) for one in text] for text in joined]
    if valued == texts:
        return arranged
    fixed = _with_places(arranged, places, valued)
    reason = "values are shown, not set" if valued != joined else "expressions have commas between"
    return Correction(reason, (fixed.to_words(),))


def _drop_name(text: str) -> str:
    """Return the value of `x=self.total`, which would be set."""
    match = re.fullmatch(r"[A-Za-z_]\w*\s*=\s*([^=\s].*)", text)
    return text if match is None else match[1]


def _join_list(text: str) -> str:
    if not re.fullmatch(r"\s*\[\s*\".*\"\s*\]\s*", text):
        return text
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return ", ".join(map(str, found)) if all(isinstance(one, str) for one in found) else text


def _pair_expressions(places: list[str], given: list[str]) -> list[str] | None:
    """Return the expressions of each location; one for all is repeated."""
    if not given:
        return None
    if len(places) == 1:
        return [", ".join(one.rstrip(",; ") or one for one in given)]
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
    if files and not lines and is_file_line(files[0]):
        place = spell_location(files[0])
        return arranged.change(without=("+file",), add=[(flag, (place,))])
    if not lines:
        return arranged
    # `--at f.c --line 5`
    named = [one for one in arranged.role_values(flag)[:1] if ":" not in one and "." in one]
    files = files or named
    place = f"{files[0]}:{lines[0]}" if files and ":" not in lines[0] else lines[0]
    dropped = ("+file", "+line", *((flag,) if named else ()))
    texts = arranged.role_values(flag)[1:] if named else []
    return arranged.change(without=dropped, add=[(flag, (place, *texts))])


def _order_value(arranged: ArrangedWords) -> Result:
    """Put the words of `why`, `who-wrote` and `holds` into order."""
    arranged = _join_file_and_line(arranged, "--at")
    return correct_options_of_program(arranged) or order_value(arranged)


def _order_calls(arranged: ArrangedWords) -> Result:
    if functions := [*arranged.role_values("+function"), *arranged.role_values("+location")]:
        arranged = arranged.change(
            without=("+function", "+location"), positionals=(*functions, *arranged.positionals)
        )
    words = arranged.positionals
    if not words and arranged.rest:
        fixed = arranged.change(positionals=("FUNCTION",))
        return Correction("which function? It goes before --", (fixed.to_words(),))
    if words and (match := _CALLED_WITH.match(words[0])):
        fixed = arranged.change(positionals=(match["name"], *words[1:]))
        return Correction("calls takes a function, --when its arguments", (fixed.to_words(),))
    is_pair = bool(arranged.rest) and len(words) == len(("Cart", "total"))
    if is_pair and all(map(str.isidentifier, words)) and words[0][:1].isupper():
        fixed = arranged.change(positionals=(".".join(words),))
        return Correction("a method is CLASS.METHOD", (fixed.to_words(),))
    if is_pair and TEST_FILE.match(words[0]):
        fixed = arranged.change(positionals=(":".join(words),))
        return Correction("a function of a file is FILE:FUNCTION", (fixed.to_words(),))
    return _take_condition(arranged)


def _order_path(arranged: ArrangedWords) -> Result:
    if (unquoted := _separate_unquoted(arranged)) is not None:
        return unquoted
    arranged = _join_file_and_line(arranged, "--around")
    ends = (*arranged.role_values("+from"), *arranged.role_values("+to"))
    if ends:
        added = [("--between", ends)] if len(ends) > 1 else [("--around", ends)]
        arranged = arranged.change(without=("+from", "+to"), add=added)
    words = arranged.positionals
    if arranged.rest and len(words) == 1 and not arranged.role_values("--around"):
        is_function = words[0].isidentifier() and _COMMAND_START.match(arranged.rest[0])
        if is_file_line(words[0]) or is_function:
            return arranged.change(positionals=(), add=[("--around", words)])
    return arranged


def is_question(arranged: ArrangedWords) -> bool:
    """Return whether a command's words are ordered here."""
    return arranged.command.name in QUESTION_ORDERS or runs_program(arranged.command)


QUESTION_ORDERS: Final[Mapping[str, Callable[[ArrangedWords], Result]]] = {
    "probe": _order_probe,
    "diff": _order_probe,
    "who-wrote": _order_value,
    "why": _order_value,
    "holds": _order_value,
    "calls": _order_calls,
    "path": _order_path,
    "crash": order_run,
    "hang": order_run,
    "test": order_test,
    "start": order_start,
    "try": order_try,
}
