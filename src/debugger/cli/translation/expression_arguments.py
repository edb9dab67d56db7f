"""Puts the arguments of `print`, `watch` and `eval` into our form: `%x n`, `-pretty -- p`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from debugger.cli.translation.argument_order import ArrangedWords, Correction, value_counts
from debugger.cli.translation.debugger_abbreviations import FORMAT_NAMES, VALUE_FORMATS
from debugger.cli.translation.machine_arguments import SIMPLE_FORMAT, correct

Result = ArrangedWords | Correction
# A name with its members and elements: two of them are no expression of any language.
_MEMBER: Final = re.compile(r"(?!-)[A-Za-z_$][\w$]*(?:(?:\.|->)\w+|\[\w+\])*\Z")
_WIDTH: Final = re.compile(r"(?P<access>[rw])[1248]\Z")
# Words of which an expression of several names has one.
_OPERATOR_WORDS: Final = frozenset(
    {
        "sizeof", "alignof", "not", "await", "new", "typeof", "struct", "union", "enum", "class",
        "and", "or", "in", "is", "if", "for", "as", "unsigned", "signed", "delete", "void",
        "yield", "lambda", "co_await", "throw", "type", "instanceof",
    }
)  # fmt: skip
_ACCESSES: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("access", "all", "rw", "readwrite"), ("--access",)),
    **dict.fromkeys(("read", "r"), ("--read",)),
    **dict.fromkeys(("write", "w", "modification"), ()),
}
_VALUED_EXPRESSION_FLAGS: Final = frozenset(
    {"-l", "--language", "-i", "-u", "-t", "--timeout", "-a", "-j", "-d", "-X", "-D", "-Y", "-Z"}
)
# gdb's options of `print`, before `--`; LLDB's of `expression` have one letter or two dashes.
_PRINT_FLAG: Final = re.compile(r"-[a-z]{3,}[a-z-]*\Z")
_VALUED_PRINT_FLAGS: Final = frozenset({"-elements", "-repeats", "-max-depth"})
# What a flag before an expression is called, and before a kind of access.
_NAME_FLAGS: Final = frozenset(
    {
        "--var",
        "--variable",
        "--name",
        "--expr",
        "--expression",
        "--value",
        "--symbol",
        "--of",
        "--code",
        "--cmd",
        "--statement",
        "-e",
    }
)
_ACCESS_FLAGS: Final = frozenset({"--type", "--mode", "--kind", "--on", "--access-type"})
_ON_OFF: Final = frozenset({"on", "off"})
_FORMAT_NAMES: Final = frozenset({"hex", "binary", "octal", "decimal", "address", "char"})
_FORM_FLAGS: Final = frozenset({"-f", "--as", "-format", "--fmt", "--base"})
_OPERAND: Final = re.compile(r"[A-Za-z_$\d\"'@]")
_VALUE_NOUNS: Final = frozenset(
    {"local", "variable", "var", "-e", "-v", "value", "expression", "expr"}
)


def _begins_operand(words: Sequence[str]) -> bool:
    """Return whether words begin with a name or a literal: behind another one, no operator."""
    return bool(words) and words[0] not in _OPERATOR_WORDS and bool(_OPERAND.match(words[0]))


def drop_flags(arranged: ArrangedWords) -> ArrangedWords:
    """Drop what no language has before an expression: `--name x`, gdb's `-pretty -- x`."""
    words, rest = arranged.positionals, arranged.rest
    if words[:1] and words[0] in _NAME_FLAGS and _begins_operand(words[1:]):
        return arranged.change(positionals=words[1:])
    if words and rest and all(_PRINT_FLAG.match(one) for one in _without_values(words)):
        return replace(arranged, positionals=rest, rest=None, is_changed=True)
    return arranged


def _without_values(words: Sequence[str]) -> list[str]:
    """Return gdb's options without their values: `-elements 4 -pretty on`."""
    values = {at + 1 for at, one in enumerate(words) if one in _VALUED_PRINT_FLAGS}
    return [
        one for at, one in enumerate(words) if at not in values and (one not in _ON_OFF or not at)
    ]


def _take_access(arranged: ArrangedWords) -> ArrangedWords:
    """Take `--type read` and `--write` beside what is watched for our options."""
    words = list(arranged.positionals)
    access: tuple[str, ...] | None = None
    if arranged.name == ("watch",) and len(words) > 1 and (of := _WIDTH.match(words[0])):
        words, access = words[1:], _ACCESSES[of["access"]]  # WinDbg's `ba w4 ADDR`
    for at, word in enumerate(words[:-1]):
        if word in _ACCESS_FLAGS and words[at + 1] in _ACCESSES:
            access = _ACCESSES[words[at + 1]]
            del words[at : at + 2]
            break
    if len(words) > 1 and words[0] in {"--rw", "--readwrite", "--read-write"}:
        return arranged.change(positionals=words[1:], add=[("--access", ())])
    if len(words) > 1 and "--write" in {words[0], words[-1]}:
        words.remove("--write")
        access = access or ()
    if access is None:
        return arranged
    return arranged.change(positionals=words, add=[(flag, ()) for flag in access])


def arrange_watch(arranged: ArrangedWords) -> Result:  # noqa: PLR0911 - one for each form
    """Take the kind of access and the condition from the words, and `&total` for `total`."""
    arranged = drop_flags(_take_access(arranged))
    words = [*arranged.role_values("+expression"), *arranged.positionals]
    if len(words) > len(arranged.positionals):
        return arranged.change(without=("+expression",), positionals=words)
    alone = words or arranged.rest or ()
    if len(alone) == 1 and re.fullmatch(r"&\w+", alone[0]):  # an address never changes
        return replace(arranged, positionals=(alone[0][1:],), rest=None, is_changed=True)
    if len(words) == len(("variable", "x")) and words[0] in {"variable", "var"}:
        return correct("watch takes an expression", arranged.change(positionals=words[1:]))
    if words[:1] in (["-w"], ["--watch"]) and len(words) > 1:
        access = _ACCESSES.get(words[1].replace("_", "")) if words[2:] else None
        added = [(flag, ()) for flag in access or ()]
        return arranged.change(positionals=words[1 if access is None else 2 :], add=added)
    if words[:1] == ["-rw"] and len(words) > 1:
        return arranged.change(positionals=words[1:], add=[("--access", ())])
    if words[:1] == ["-r"] and len(words) > 1:
        return arranged.change(positionals=words[1:], add=[("--read", ())])
    if words[:1] in (["-l"], ["-location"]) and len(words) > 1:
        return correct("watch needs no -l", arranged.change(positionals=words[1:]))
    if len(words) == len(("read", "x")) and words[0] in _ACCESSES:
        added = [(flag, ()) for flag in _ACCESSES[words[0]]]
        return correct("an option", arranged.change(positionals=words[1:], add=added))
    match = re.match(r"(?P<what>.+?)\s+if\s+(?P<condition>.+)\Z", " ".join(words))
    # Python's `a if b else c` is one expression.
    if match is None or re.search(r"\belse\b", match["condition"]):
        return arranged
    return arranged.change(
        positionals=[match["what"]], add=[("--condition", (match["condition"],))]
    )


def arrange_print(arranged: ArrangedWords) -> Result:
    """Take a format, `/x n` or `%x n`, for our option, and correct what is no expression."""
    arranged = _take_print_options(drop_flags(arranged))
    words = list(arranged.positionals)
    for index, (flag, values) in enumerate(arranged.options):
        if flag == "--format" and values and values[0] in VALUE_FORMATS:
            options = list(arranged.options)
            options[index] = (flag, (VALUE_FORMATS[values[0]],))
            everything = [one for one, _ in arranged.options]
            return arrange_print(arranged.change(without=everything, add=options))
    if len(words) < len(("/x", "v")):
        return arranged
    match = SIMPLE_FORMAT.match(re.sub(r"\A%(?=[a-z]\Z)", "/", words[0]))
    if match is None or match[1]:
        return _correct_print(arranged, words) or arranged
    body = arranged.change(positionals=words[1:])
    named = next((VALUE_FORMATS[one] for one in match[2] if one in VALUE_FORMATS), None)
    if named is None:
        return correct(f"no format {words[0]}", body)
    return body.change(add=[("--format", (named,))])


def _take_print_options(arranged: ArrangedWords) -> ArrangedWords:
    """Take `-f hex`, `--as hex` and `-d 3` on either side of the expression for our options."""
    words = list(arranged.positionals)
    for at in {0, len(words) - 2} if len(words) > len(("-f", "hex")) else ():
        flag, value = words[at : at + 2]
        remaining = [*words[:at], *words[at + 2 :]]
        if flag in _FORM_FLAGS and (value in FORMAT_NAMES or value in VALUE_FORMATS):
            return arranged.change(positionals=remaining, add=[("--format", (value,))])
        if flag in {"-d", "-depth"} and value.isdecimal() and not at and _begins_operand(remaining):
            return arranged.change(positionals=remaining, add=[("--depth", (value,))])
    return arranged


def _correct_print_phrase(arranged: ArrangedWords, words: list[str]) -> Correction | None:
    """Correct `x as hex`, `x --hex` and `x in frame 2`."""
    *before, last = words
    name = last.removeprefix("--")
    if name in _FORMAT_NAMES and (name != last or before[-1] == "as"):
        value = before if name != last else before[:-1]
        fixed = arranged.change(positionals=value, add=[("--format", (name,))])
        return correct("the format is an option", fixed) if value else None
    if words[-2] == "-f" and last.isdecimal() and words[:-2]:
        return Correction("a frame is selected first", (("frame", last), ("print", *words[:-2])))
    if words[-2] == "frame" and last.isdecimal() and len(words) > len(("frame", "2")):
        value = words[:-3] if words[-3] in {"in", "of", "at", "from"} else words[:-2]
        commands = (("frame", last), ("print", *value))
        return Correction("a frame is selected first", commands) if value else None
    return None


def _correct_print(arranged: ArrangedWords, words: list[str]) -> Correction | None:
    """Correct words that are no expression: a format or a frame behind it, several names."""
    if (phrase := _correct_print_phrase(arranged, words)) is not None:
        return phrase
    is_named = len(words) == len(("local", "x"))
    if is_named and words[0] in _VALUE_NOUNS:
        return correct("print takes an expression", arranged.change(positionals=words[1:]))
    if all(map(_MEMBER.match, words)) and not _OPERATOR_WORDS & set(words):
        alone = tuple(("print", one) for one in words[:2])  # as the members of a group take it
        return Correction("print takes one expression", (("read", *words), *alone))
    long = f"-{words[0]}" if words[0].startswith("-") else ""
    if value_counts(arranged.command).get(long) == 0 and words[1][0].isidentifier():
        fixed = arranged.change(positionals=words[1:], add=[(long, ())])
        return correct("a long option has two dashes", fixed)
    form, behind = "", words[1:]
    if words[0][:1] == "-" and words[0][1:] in VALUE_FORMATS and _begins_operand(behind):
        form = VALUE_FORMATS[words[0][1:]]
    if words[0] in {"-f", "-format"}:
        form = VALUE_FORMATS.get(words[1], words[1])
        behind = words[3:] if words[2:3] == ["--"] else words[2:]
    elif words[0].startswith("--"):
        form = words[0][2:]
    if form not in FORMAT_NAMES:
        return None
    fixed = arranged.change(positionals=behind, add=[("--format", (form,))])
    return correct("a format is --format", fixed)


def arrange_eval(arranged: ArrangedWords) -> Result:
    """Drop LLDB's options of `expression`, or take its format for `print`."""
    arranged = drop_flags(arranged)
    words = [*arranged.positionals, *(arranged.rest or ())]
    if arranged.positionals[:1] == ("-f",) and len(words) > len(("-f", "x")):
        printed = ArrangedWords(("print",), arranged.command, (), tuple(words))
        return arrange_print(printed)
    if arranged.positionals[:1] and arranged.rest and _is_flags_alone(arranged.positionals):
        return replace(arranged, positionals=arranged.rest, rest=None, is_changed=True)
    return arranged


def _is_flags_alone(words: Sequence[str]) -> bool:
    """Check whether all words before `--` are options of LLDB's `expression`, with their values."""
    remaining = list(words)
    while remaining and re.fullmatch(r"-[A-Za-z]|--[a-z][a-z-]+", remaining[0]):
        flag = remaining.pop(0)
        if flag in _VALUED_EXPRESSION_FLAGS and remaining:
            remaining.pop(0)
    return not remaining
