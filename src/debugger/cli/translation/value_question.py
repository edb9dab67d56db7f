"""Puts the words of `why`, `who-wrote` and `holds` into order: one value, a location, a program."""

from __future__ import annotations

import re
from typing import Final

from debugger.cli.translation.argument_order import ArrangedWords, Correction
from debugger.cli.translation.location_spelling import (
    find_location,
    is_file_line,
    spell_location,
    split_expressions,
)

Result = ArrangedWords | Correction
_PLACE_WORDS: Final = frozenset({"at", "in", "on", "@", "every", "each", "before", "near"})
_EVENTS: Final = frozenset({"crash", "fail", "exit", "hang"})
# English around the value: "why is x 5", "where does the value of x come from".
_LEADING: Final = frozenset(
    {"is", "are", "was", "were", "does", "did", "do", "has", "the", "a", "my", "value", "values",
     "of", "it", "variable", "expression", "that", "wrote", "changed", "set", "sets", "to"}
)  # fmt: skip
_SUBJECTS: Final = frozenset({"test", "tests", "program", "process", "app"})
_TRAILING: Final = frozenset(
    {"is", "are", "was", "wrong", "bad", "come", "comes", "from", "null", "None", "nil", "empty",
     "written", "changed", "set", "so", "here", "there", "get", "gets"}
)  # fmt: skip
_EQUALS: Final = frozenset({"==", "=", "is", "equals", "was", "!=", "not"})
_SITUATIONS: Final = {
    **dict.fromkeys(("crash", "crashes", "crashed", "crashing", "segfault", "segfaults"), "crash"),
    **dict.fromkeys(("hang", "hangs", "hung", "stuck", "freeze", "freezes"), "hang"),
    **dict.fromkeys(("fail", "fails", "failed", "failing"), "test"),
}
_LITERAL: Final = re.compile(r"-?\d[\w.]*\Z|'.*'\Z|\".*\"\Z|(?:None|null|nil|undefined|True|False|"
                             r"true|false|NULL|nullptr|NaN)\Z")  # fmt: skip


def order_value(arranged: ArrangedWords) -> Result:
    """Take the location, and what is no expression, out of the words before the program."""
    if situation := _find_situation(arranged):
        return situation
    arranged = _gather_words(arranged)
    places = [values[0] for flag, values in arranged.options if flag == "--at" and values]
    if not places:
        place, words = _take_place([*arranged.positionals])
        if place is not None:
            places = [place]
            arranged = arranged.change(positionals=words, add=[("--at", (place,))])
    if not arranged.rest:
        return _refuse_program(arranged) or arranged
    given = arranged.positionals
    if len(given) == 1 and is_file_line(given[0]) and not places:
        fixed = arranged.change(positionals=("EXPR",), add=[("--at", (spell_location(given[0]),))])
        return Correction("which value? It goes before --", (fixed.to_typed_order(),))
    if given and re.fullmatch(r"&\w+", given[0]) and arranged.command.name == "who-wrote":
        # Of a variable's address nothing is written.
        arranged = arranged.change(positionals=(given[0][1:], *given[1:]))
    if not arranged.positionals:
        fixed = arranged.change(positionals=("EXPR",))
        return Correction("which value? It goes before --", (fixed.to_typed_order(),))
    if arranged.command.name == "holds":
        return _order_invariant(arranged)
    return _choose_place(arranged, places) or _choose_value(arranged)


def _gather_words(arranged: ArrangedWords) -> ArrangedWords:
    """Put expressions of options among the arguments; `holds --condition X` has no other."""
    conditions = arranged.role_values("--when")
    if arranged.command.name == "holds" and not arranged.positionals and len(conditions) == 1:
        arranged = arranged.change(without=("--when",), positionals=conditions)
    expressions = arranged.role_values("+expression")
    if not expressions:
        return arranged
    words = (*expressions, *arranged.positionals)
    return arranged.change(without=("+expression",), positionals=words)


def _choose_place(arranged: ArrangedWords, places: list[str]) -> Correction | None:
    """Suggest a location for a value without one, or for `--at last`."""
    fixed = arranged.change(positionals=_strip_english([*arranged.positionals])[:1])
    if places[:1] in (["last"], ["end"]):
        last = fixed.change(without=("--at",), add=[("--at", ("LOC",)), ("--nth", ("last",))])
        return Correction("the last hit of which location?", (last.to_typed_order(),))
    words = arranged.positionals
    if not places and len(words) == len(("x", "in", "parse")) and words[1] in {"in", "inside"}:
        changed = arranged.change(positionals=words[:1], add=[("--at", (words[2],))])
        return Correction("a location is --at", (changed.to_typed_order(),))
    if places or arranged.command.name != "why":
        return None
    commands = [
        fixed.change(add=[("--at", (one,))]).to_typed_order() for one in ("LOC", "crash", "fail")
    ]
    return Correction("--at LOC is missing: where is the value seen?", tuple(commands))


def _choose_value(arranged: ArrangedWords) -> Result:
    """Suggest the command with the expression alone, where other words stand around it."""
    words = [*arranged.positionals]
    remaining = _strip_english(words)
    if remaining == words and len(words) == 1:
        return arranged
    each = tuple(arranged.change(positionals=[one]).to_typed_order() for one in remaining)
    reason = "takes a value" if len(each) == 1 else "takes one value at a time"
    return Correction(f"{arranged.command.name} {reason}", each)


def _find_situation(arranged: ArrangedWords) -> Correction | None:
    """Suggest `crash` for `why did it crash`."""
    words = [*arranged.positionals]
    names = [_SITUATIONS[one] for one in words if one in _SITUATIONS]
    known = _SITUATIONS.keys() | _LEADING | _SUBJECTS
    others = [one for one in words if one not in known]
    if arranged.command.name != "why" or not names or others or not arranged.rest:
        return None
    if any(flag == "--at" for flag, _ in arranged.options):
        return None
    return Correction("that is a question of its own", ((names[0], "--", *arranged.rest),))


def _refuse_program(arranged: ArrangedWords) -> Correction | None:
    """Suggest the question of a situation for `why ./app crash`."""
    words = arranged.positionals
    if arranged.command.name != "why" or not words or not words[0].startswith(("./", "/")):
        return None
    situation = next((_SITUATIONS[one] for one in words if one in _SITUATIONS), None)
    program = tuple(one for one in words if one not in _SITUATIONS)
    if situation is not None:
        return Correction("that is a question of its own", ((situation, "--", *program),))
    return Correction("which value?", (("why", "EXPR", "--at", "LOC", "--", *program),))


def _take_place(words: list[str]) -> tuple[str | None, list[str]]:
    """Take `at LOC`, FILE:LINE, or `x @ f.py:5` out of the words."""
    for index, word in enumerate(words):
        behind = words[index + 1 : index + 2]
        if index and word in _PLACE_WORDS and behind:
            is_place = is_file_line(behind[0]) or behind[0] in _EVENTS or word in {"at", "@"}
            if is_place:
                return spell_location(behind[0]), [*words[:index], *words[index + 2 :]]
        if (split := split_expressions(word)) is not None:
            return split[0], [*words[:index], split[1], *words[index + 1 :]]
    found = find_location(words) if len(words) > 1 else None
    if found is None:
        return None, words
    first, last, place = found
    return place, [*words[:first], *words[last:]]


def _strip_english(words: list[str]) -> list[str]:
    """Return the expressions among the words: `x` of `is x 5`, of `x == 5`, of `x=5`."""
    remaining = list(words)
    stated = re.fullmatch(r"(\S+)\s+(?:is|equals|was|=)\s+(\S+)", remaining[0])
    if len(remaining) == 1 and stated and re.match(r"-?\d", stated[2]):
        return [stated[1]]
    while len(remaining) > 1 and remaining[0].lower() in _LEADING:
        remaining.pop(0)
    while len(remaining) > 1 and (remaining[-1] in _TRAILING or remaining[-1] in _EQUALS):
        remaining.pop()
    if len(remaining) > len(("x", "==")) and remaining[1] in _EQUALS:
        remaining = remaining[:1]
    if len(remaining) == len(("x", "5")) and _LITERAL.match(remaining[1]):
        remaining = remaining[:1]
    assigned = re.fullmatch(r"([\w.\[\]>-]+?)\s*(?<![<>=!-])=\s*([^=\s].*)", remaining[0])
    return [assigned[1], *remaining[1:]] if assigned else remaining


def _order_invariant(arranged: ArrangedWords) -> Result:
    """Join an invariant in several words; `x = 5` is a comparison there."""
    words = arranged.positionals
    if not any(flag in {"--at", "--each", "--in"} for flag, _ in arranged.options):
        placed = arranged.change(positionals=(" ".join(words),), add=[("--at", ("LOC",))])
        return Correction("at which places is it checked?", (placed.to_typed_order(),))
    text = " ".join(words)
    compared = re.sub(r"(?<![<>=!:+*/%|&^-])=(?!=)", "==", text) if "(" not in text else text
    if compared != text:
        fixed = arranged.change(positionals=[compared])
        return Correction("an invariant compares", (fixed.to_typed_order(),))
    # Several invariants, each quoted, are not one in several words.
    if len(words) == 1 or any(" " in one.strip() for one in words):
        return arranged
    return Correction(
        "an invariant is one word", (arranged.change(positionals=[text]).to_typed_order(),)
    )
