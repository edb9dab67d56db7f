"""Finds the two values that a failed check of a compiled language compares, by its source. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

from msgspec import Struct

from debugger.model.statement import join_statement
from debugger.sources.condition_text import (
    closing_bracket,
    first_argument,
    list_condition_parts,
    split_arguments,
    split_equality,
    without_brackets,
)
from debugger.sources.guilty_operand import find_failed_condition

_STATEMENT = 20  # lines
_DIFFERENCE_LINES = 3  # between `diff := cmp.Diff(a, b)` and `if diff != ""`
_COMPILED = re.compile(r"\.(?:c|cc|cpp|cxx|c\+\+|C|h|hh|hpp|hxx|inl|rs|go)\Z")
# Macros and functions whose first two values must be equal: Rust's own, googletest, glog, Unity,
# Check, cmocka and testify. Those with STR or a text's name compare characters.
_ASSERTS = re.compile(
    r"\b(?P<name>(?:debug_)?assert_eq!|(?:EXPECT|ASSERT|CHECK|REQUIRE)_(?:STR|FLOAT_|DOUBLE_)?EQ"
    r"|TEST_ASSERT_EQUAL(?:_(?:U?INT|HEX)(?:8|16|32|64)?|_STRING|_MEMORY|_CHAR|_size_t)?"
    r"|ck_assert_(?:int|uint|str|mem)_eq|assert_(?:int|string|memory)_equal"
    r"|(?:assert|require)\.(?:Equal|EqualValues|Exactly)f?)\s*[(\[{]"
)
_CALL = re.compile(r"(?:[A-Za-z_]\w*(?:\.|::))?(?P<name>[A-Za-z_]\w*)\(")
_UNEQUAL_CALLS = {"strcmp": "text", "strncmp": "text", "memcmp": "memory"}
_EQUAL_CALLS = re.compile(r"(?:reflect\.DeepEqual|(?:bytes|slices|maps|cmp|proto)\.Equal)\(")
_DIFFERENCE = re.compile(r"\b(?P<name>\w+)\s*:?=\s*(?:\w+\.)?Diff\(")
_EXPECTED = re.compile(r"want|expect|exp\b|golden|correct|reference", re.IGNORECASE)
# What only hands a value on: `&got[..]`, `got.as_str()`, `err.Error()`.
_HANDING = re.compile(
    r"\A(?:&(?:mut\s+)?|\*(?=&))|\.(?:c_str|data|as_str|as_slice|as_ref|iter|clone|to_string"
    r"|to_vec|to_owned|into|Error|String)\(\)\Z|\[(?:\.\.|:)\]\Z"
)
_CONSTANT = re.compile(r"(?:[A-Z][A-Z0-9_]*|nil|true|false|None|nullptr)\Z")
_PATH = re.compile(r"[A-Za-z_]\w*(?:(?:\.|->|::)\w+|\[[\w.]+\])*\Z")


class ComparisonKind(Enum):
    """How a check compares two values."""

    VALUE = "value"
    TEXT = "text"  # characters up to the first NUL
    MEMORY = "memory"  # bytes


class ComparedSides(Struct, frozen=True):
    """Two values that a failed check compared, as the source writes them."""

    left: str
    right: str
    how: ComparisonKind = ComparisonKind.VALUE
    # The number of bytes or characters that were compared; "" for all.
    size: str = ""
    # The right one is what the check expects.
    is_right_expected: bool = True

    def other_of(self, expression: str) -> str | None:
        """Return the side that a value was compared with; None if it is no side of it."""
        plain = plain_side(expression)
        for one, other in ((self.left, self.right), (self.right, self.left)):
            if plain in {plain_side(one), one.replace(" ", "")}:
                return other
        return None

    def suspects(self) -> list[str]:
        """Return the sides that can be followed, the one first that is not what is expected."""
        sides = [self.left, self.right] if self.is_right_expected else [self.right, self.left]
        plain = [one for side in sides if _PATH.match(one := plain_side(side))]
        plain = [one for one in plain if not _CONSTANT.match(one)]
        return sorted(plain, key=lambda one: _EXPECTED.search(one) is not None)


def plain_side(text: str) -> str:
    """Return the value of a side without what only refers to it or hands it on."""
    text, before = re.sub(r"\s+", "", without_brackets(text)), ""
    while text != before:
        text, before = _HANDING.sub("", text), text
    return text


def find_compared(file: str, lines: Sequence[str], line: int) -> list[ComparedSides]:
    """Return the values that the check at a line of a compiled language compares.

    That is the assertion's own comparison, or the condition under which the line was reached. Of a
    condition in several parts each comparison is one, in their order.
    """
    if _COMPILED.search(file) is None or not 1 <= line <= len(lines):
        return []
    text = join_statement(lines[line - 1 : line - 1 + _STATEMENT], most=_STATEMENT)
    asserted = _ASSERTS.search(text)
    if asserted is not None:
        found = _asserted_sides(asserted["name"], split_arguments(text[asserted.end() :]))
        return [found] if found is not None else []
    condition = find_failed_condition(file, "\n".join(lines), line, text)
    if condition is None:
        return []
    found_all = _condition_sides(condition.text, is_true=condition.is_true)
    differing = _difference_sides(lines, line, condition.text) if condition.is_around else None
    return [differing] if differing is not None else found_all


def _asserted_sides(name: str, arguments: Sequence[str]) -> ComparedSides | None:
    is_testify = name.startswith(("assert.", "require."))
    values = list(arguments[1:] if is_testify else arguments)
    if len(values) < 2:  # noqa: PLR2004 - two sides
        return None
    lower, how, size = name.lower(), ComparisonKind.VALUE, ""
    if "str" in lower:
        how = ComparisonKind.TEXT
    elif "mem" in lower and len(values) > 2:  # noqa: PLR2004
        how, size = ComparisonKind.MEMORY, values[2]
    # These take the expected value first.
    is_second = is_testify or name.startswith("TEST_ASSERT")
    return ComparedSides(values[0], values[1], how, size, is_right_expected=not is_second)


def _condition_sides(text: str, *, is_true: bool) -> list[ComparedSides]:
    """Return what the parts of a condition compare, if it was true, or false."""
    found: list[ComparedSides] = []
    for part, is_met in list_condition_parts(text, is_true=is_true):
        compared = split_equality(part)
        if compared is None:
            found += _called_sides(part, is_true=is_met)
        elif (compared[1] == "!=") is is_met:
            left, _, right = compared
            call = _compared_by_call(left if right == "0" else right if left == "0" else "")
            found.append(call or ComparedSides(left, right))
    return found


def _called_sides(text: str, *, is_true: bool) -> list[ComparedSides]:
    """Return what a call compares that is a condition by itself."""
    call = _compared_by_call(text)
    if call is not None and is_true:
        return [call]
    equal = _EQUAL_CALLS.match(text)
    if equal is None or is_true or closing_bracket(text, equal.end() - 1) != len(text) - 1:
        return []
    values = split_arguments(text[equal.end() :])
    return [ComparedSides(values[0], values[1])] if len(values) > 1 else []


def _compared_by_call(text: str) -> ComparedSides | None:
    """Return the sides of `strcmp(a, b)` and the like, which is zero if they are equal."""
    call = _CALL.match(text)
    how = _UNEQUAL_CALLS.get(call["name"]) if call is not None else None
    if call is None or how is None or closing_bracket(text, call.end() - 1) != len(text) - 1:
        return None
    values = [*split_arguments(text[call.end() :]), ""]
    return ComparedSides(values[0], values[1], ComparisonKind(how), values[2])


def _difference_sides(lines: Sequence[str], line: int, condition: str) -> ComparedSides | None:
    """Return the sides of `diff := cmp.Diff(want, got)`, if the condition is about `diff`."""
    name = first_argument(condition).partition("!")[0].strip()
    for number in range(line - 1, max(line - 2 - _DIFFERENCE_LINES, 0), -1):
        found = _DIFFERENCE.search(lines[number - 1])
        if found is not None and found["name"] == name:
            values = split_arguments(lines[number - 1][found.end() :])
            return ComparedSides(values[0], values[1]) if len(values) > 1 else None
    return None
