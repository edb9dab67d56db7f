"""Finds the part of a condition that made a check fail, by the values of its operands. Pure.

Of `err != nil || found != want`, met, it is the part that is true; of `assert a and b`, which
failed, the one that is false. A part whose value is not known may be the one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from debugger.model.statement import parse_reads
from debugger.sources.condition_text import (
    blank_texts,
    closing_bracket,
    first_argument,
    split_condition,
    without_brackets,
)
from debugger.sources.deciding_condition import find_conditions, indent_width

# Calls and macros whose first argument must be true, and those where it must be false.
_HOLDS = re.compile(
    r"(?:\bassert(?:\.ok|_?[Tt]rue)?|\bdebug_assert|\b(?:EXPECT|ASSERT)_TRUE|\bXCTAssert(?:True)?"
    r"|\bok|\bREQUIRE|\bCHECK)!?\s*\("
)
_FAILS = re.compile(r"(?:\bassert_?[Ff]alse|\b(?:EXPECT|ASSERT)_FALSE|\bXCTAssertFalse)!?\s*\(")
# What compares two values: methods of unittest and of Node's assert; jest takes one at first.
_COMPARES = re.compile(
    r"\b(?:assert(?:\w*Equal|(?:Less|Greater)(?:Equal)?|Is(?:Not)?|(?:Not)?In)"
    r"|assert\.\w*[eE]qual|expect)\("
)
# Any other assertion: what stands around it decided that it ran, and not that it failed.
_ASSERTS_OTHERWISE = re.compile(
    r"\b(?:debug_)?assert\w*(?:\.\w+)?!?\s*\(|\brequire\.\w+\(|\b(?:EXPECT|ASSERT)_\w+\s*\("
    r"|\bexpect\("
)
_ASSERT = re.compile(r"assert\s+(?P<condition>.*)")
_COMPARISON = re.compile(
    r"(?P<left>[^=!<>]+?)\s*(?P<how>===|!==|==|!=|<=|>=|<|>|\bis not\b|\bis\b)\s*"
    r"(?P<right>[^=!<>]+)\Z"
)
_NOT = re.compile(r"(?:!(?!=)|not\b)\s*(?P<rest>.*)\Z", re.DOTALL)
_NOTHING = re.compile(r"(?:.*[\s)])?(?:nil|null|NULL|None|undefined|nullptr|0x0)\Z|<nil>\Z")
_NUMBER = re.compile(r"(?:.*[\s)])?(?P<number>-?\d+(?:\.\d+)?)\Z")
_TRUTH = re.compile(r"(?:.*[\s)])?(?P<truth>[Tt]rue|[Ff]alse)\Z")
_QUOTED = re.compile(r"(?:.*[\s)])?(?P<text>\"[^\"]*\"|'[^']*')\Z")
_WRITTEN = re.compile(r"[-\d\"'`]|(?:nil|null|NULL|None|[Tt]rue|[Ff]alse|undefined|nullptr)\Z")
_RAISES = re.compile(
    r"(?:^|[){;:]|\belse\b)\s*(?:(?:raise|throw)\b|(?:panic|unreachable)!?\s*\(|(?:std::)?abort\s*\()"
)
_HANDLER = re.compile(r"\s*\}?\s*(?:except|catch|finally)\b")
_ELSE = re.compile(r"\s*\}?\s*(?:else|elif)\b")
_CLOSES = re.compile(r"\s*[)\]}{]+[;:]?\s*\Z")
_CALL = re.compile(r"(?P<name>[A-Za-z_$][\w$]*(?:\[[^\[\]()]*\]|(?:\.|::|->)[A-Za-z_$][\w$]*)*)\(")
_METHOD = re.compile(r"(?:(?:\.|->)[A-Za-z_$][\w$]*)+\(")
# An element or a member: `rows[3]`, `order.total`, `got["a"]["b"]`.
_PART = re.compile(r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*|\[[^\[\]]+\])+")
_EXPECTED = re.compile(r"(?i)expect|want")
# A constructor, and functions that make a value of literals.
_MADE = re.compile(
    r"(?:new\s+)?(?:[A-Za-z_]\w*\.)*"
    r"(?:[A-Z]\w*|date|datetime|time|timedelta|set|frozenset|dict|list|tuple|bytes)\("
)
_WORD = re.compile(r"_*[A-Za-z]\w*")  # texts are blanked by `_`
_KEYWORD = re.compile(r"\b[A-Za-z_]\w*=(?!=)")  # of an argument
_LITERALS = frozenset({"True", "False", "None", "true", "false", "null", "undefined"})
# What these return is a fact about their argument.
_BUILT_IN = frozenset({"len", "isinstance", "issubclass", "callable", "hasattr", "type", "bool"})
_Value = tuple[str, float | str | bool | None]


class FailedCondition(Struct, frozen=True):
    """A condition, and whether it was true where the check failed."""

    text: str
    is_true: bool
    # It stands before the statement that reports the failure, and not in it.
    is_around: bool = False


def find_failed_condition(file: str, source: str, line: int, text: str) -> FailedCondition | None:
    """Return the condition of the check at a line, whose statement is `text`.

    It is that of the assertion itself, else that which the statement stands under.
    """
    python = _ASSERT.match(text.strip())
    if python is not None and file.endswith(".py"):
        return FailedCondition(first_argument(python["condition"]), is_true=False)
    for pattern, is_true in ((_HOLDS, False), (_FAILS, True)):
        found = pattern.search(text)
        if found is not None:
            return FailedCondition(first_argument(text[found.end() :]), is_true=is_true)
    around = next(iter(find_conditions(file, source, line)), None)
    if around is None or not around.written or _ASSERTS_OTHERWISE.search(text):
        return None
    return FailedCondition(around.written, is_true=around.is_met, is_around=True)


def raises(line: str) -> bool:
    """Return whether a line of source raises an exception, panics or aborts."""
    return _RAISES.search(line) is not None


def find_guard(file: str, source: str, line: int) -> FailedCondition | None:
    """Return the condition under which the statement of a line raises an exception or panics.

    There is none for a statement that handles another exception.
    """
    lines = source.splitlines()
    if not 1 <= line <= len(lines) or not raises(lines[line - 1]):
        return None
    for around in find_conditions(file, source, line):
        if not around.written or any(_HANDLER.match(one) for one in lines[around.line : line - 1]):
            return None
        if not _chooses_exception(lines, around.line, line):
            return FailedCondition(around.written, is_true=around.is_met, is_around=True)
    return None


def _chooses_exception(lines: Sequence[str], condition: int, line: int) -> bool:
    """Test whether a condition only chooses which exception is raised: its other branch raises one.

    Args:
        lines: The lines of the source.
        condition: The condition's line, from 1.
        line: The line of the statement that raises.
    """
    outer, inner = indent_width(lines[condition - 1]), indent_width(lines[line - 1])
    if inner <= outer:
        return False
    for number, text in enumerate(lines[condition:], condition + 1):
        # An else ends the one branch and begins the other.
        is_between = not text.strip() or _ELSE.match(text) or _CLOSES.match(text)
        if indent_width(text) <= outer and not is_between:
            return False
        if number != line and indent_width(text) == inner and raises(text):
            return True
    return False


def find_compared_calls(condition: FailedCondition, values: Mapping[str, str]) -> tuple[str, ...]:
    """Return the calls whose results the parts of a condition that decided compare."""
    found: list[str] = []
    for part in _guilty_parts(condition.text, values, is_true=condition.is_true):
        negated = _NOT.match(part)
        text = negated["rest"] if negated is not None else part
        compared = _match_comparison(text)
        sides = (compared[0], compared[2]) if compared is not None else (text,)
        found += [side for side in _variable_sides(*sides) if is_call(side)]
    return tuple(dict.fromkeys(found))


def find_compared_part(condition: FailedCondition, values: Mapping[str, str]) -> str:
    """Return the element or member that a part of a condition compared; "" if there is none.

    Of two it is the left one, unless the name of that says that it is expected.
    """
    for part in _guilty_parts(condition.text, values, is_true=condition.is_true):
        compared = _match_comparison(part)
        if compared is not None:
            found = _choose_part((compared[0], compared[2]))
            if found:
                return found
    return ""


def _choose_part(sides: Sequence[str]) -> str:
    parts = [one for one in _variable_sides(*sides) if _EXPECTED.search(one) is None]
    # A variable beside it is as likely the wrong one: its own value is known.
    return parts[0] if parts and all(map(_PART.fullmatch, parts)) else ""


def _variable_sides(*sides: str) -> list[str]:
    """Return what a comparison compares, without constants, unless nothing else is left."""
    texts = [one.strip() for one in sides]
    return [one for one in texts if not _is_constant(one)] or texts


def _is_constant(text: str) -> bool:
    """Return whether a text is a literal, or a value made of literals: `Decimal("7.00")`."""
    if _WRITTEN.match(text) is not None:
        return True
    made = _MADE.match(text)
    if made is None or closing_bracket(text, made.end() - 1) != len(text) - 1:
        return False
    names = _WORD.findall(_KEYWORD.sub("", blank_texts(text[made.end() : -1])))
    return all(one in _LITERALS for one in names)


def find_asserted_calls(text: str) -> tuple[str, ...]:
    """Return the calls among the values that `assertEqual` and the like compare."""
    found = _COMPARES.search(text)
    if found is None:
        return ()
    return tuple(
        one for one in _variable_sides(*_asserted_sides(text[found.end() :])) if is_call(one)
    )


def find_asserted_part(text: str) -> str:
    """Return the element or member among the values that `assertEqual` compares; "" if none is."""
    found = _COMPARES.search(text)
    return _choose_part(_asserted_sides(text[found.end() :])) if found is not None else ""


def _asserted_sides(arguments: str) -> tuple[str, ...]:
    first = first_argument(arguments)
    second = first_argument(arguments.strip()[len(first) :].lstrip(" ,"))
    return tuple(filter(None, (first, second)))


def is_call(text: str) -> bool:
    """Return whether a text is one call of a function that is not a built-in one.

    The function may be a method of what another call returned: `parse(a).name()`.
    """
    begin = _CALL.match(text)
    if begin is None or begin["name"] in _BUILT_IN or not text.endswith(")"):
        return False
    at = closing_bracket(text, begin.end() - 1)
    while at >= 0 and (method := _METHOD.match(text, at + 1)):
        at = closing_bracket(text, method.end() - 1)
    return at == len(text) - 1


def find_guilty_operands(condition: FailedCondition, values: Mapping[str, str]) -> tuple[str, ...]:
    """Return the operands of the parts that decided; nothing of an assertion in one part."""
    parts = _guilty_parts(condition.text, values, is_true=condition.is_true)
    if not condition.is_around and parts == [condition.text.strip()]:
        return ()
    reads = [parse_reads(one) for one in parts]
    names = [
        name
        for one in reads
        for name in (*one.operands, *(access.whole for access in one.accesses))
    ]
    names += [access.base for one in reads for access in one.accesses]
    return tuple(dict.fromkeys(names))


def _guilty_parts(text: str, values: Mapping[str, str], *, is_true: bool) -> list[str]:
    text = without_brackets(text.strip())
    negated = _NOT.match(text)
    kind, parts = split_condition(text)
    if kind is None:
        inner = without_brackets(negated["rest"]) if negated is not None else ""
        if inner and split_condition(inner)[0] is not None:
            return _guilty_parts(inner, values, is_true=not is_true)
        return [text]
    if (kind == "or") is not is_true:  # all parts together made it so
        return [one for each in parts for one in _guilty_parts(each, values, is_true=is_true)]
    known = [(each, _truth_of(each, values)) for each in parts]
    chosen = [each for each, truth in known if truth is is_true]
    chosen = chosen or [each for each, truth in known if truth is None]
    return [one for each in chosen for one in _guilty_parts(each, values, is_true=is_true)]


def _truth_of(text: str, values: Mapping[str, str]) -> bool | None:
    """Return whether a condition is true, None where that is not known."""
    text = without_brackets(text)
    kind, parts = split_condition(text)
    if kind is not None:
        truths = [_truth_of(one, values) for one in parts]
        decides = kind == "or"
        if decides in truths:
            return decides
        return None if None in truths else not decides
    negated = _NOT.match(text)
    if negated is not None:
        inner = _truth_of(negated["rest"], values)
        return None if inner is None else not inner
    compared = _match_comparison(text)
    if compared is None:
        return _truth_of_value(_value_of(text, values))
    left, how, right = compared
    return _compare(_value_of(left, values), how, _value_of(right, values))


def _match_comparison(text: str) -> tuple[str, str, str] | None:
    """Return the left side, the operator and the right side of one comparison.

    What stands in texts compares nothing.
    """
    found = _COMPARISON.match(blank_texts(text))
    if found is None:
        return None
    left, how, right = (text[slice(*found.span(one))] for one in ("left", "how", "right"))
    return left, how, right


def _truth_of_value(value: _Value | None) -> bool | None:
    if value is None:
        return None
    kind, content = value
    return bool(content) if kind != "nothing" else False


def _compare(left: _Value | None, how: str, right: _Value | None) -> bool | None:
    if left is None or right is None:
        return None
    if how in {"==", "===", "is", "!=", "!==", "is not"}:
        # A value of another kind than a nothing is something; other kinds may convert.
        if left[0] != right[0] and "nothing" not in {left[0], right[0]}:
            return None
        return (left == right) is not (how in {"!=", "!==", "is not"})
    a, b = left[1], right[1]
    if not (isinstance(a, float) and isinstance(b, float)):
        return None
    return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[how]


def _value_of(text: str, values: Mapping[str, str]) -> _Value | None:
    """Return a value that is written, or that a debugger shows: `error nil`, `int 3`, `'a'`."""
    text = text.strip()
    shown = values.get(text, text if _WRITTEN.match(text) else "").strip()
    if not shown:
        return None
    if _NOTHING.match(shown):
        return "nothing", None
    if truth := _TRUTH.match(shown):
        return "truth", truth["truth"].lower() == "true"
    if number := _NUMBER.match(shown):
        return "number", float(number["number"])
    if quoted := _QUOTED.match(shown):
        return "text", quoted["text"][1:-1]
    # Of anything else it is known only that it is something, if it is a name's value.
    return None if text not in values else ("something", shown)
