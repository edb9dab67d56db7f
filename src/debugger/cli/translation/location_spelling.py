"""Spells a location as FILE:LINE or FUNCTION, whatever tool's output or habit it comes from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from debugger.cli.translation.argument_order import ArrangedWords
from debugger.model.location import SOURCE_SUFFIX

_FILE: Final = rf"(?P<file>[^\s:#,@\"'()\[\]]+\.{SOURCE_SUFFIX})"
_LINE: Final = r"L?(?P<line>\d+)"
# Each is the whole of a text. What follows a line number in them is a column, or a function.
_FORMS: Final = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"{_FILE}:{_LINE}(?::\d+)?:?\Z",  # as a compiler reports it
        rf"{_FILE}[#@]{_LINE}(?:C\d+)?\Z",  # an address of GitHub
        rf"{_FILE}\({_LINE}(?:,\s*\d+)?\)\S*\Z",  # pdb's prompt, TypeScript's errors
        rf"{_FILE}\[{_LINE}\]\Z",
        rf"{_FILE}[\s,:]+(?:at\s+|on\s+)?line[\s:=]*{_LINE}\Z",
        rf"(?:at\s+|on\s+)?line\s+{_LINE}\s+(?:of|in)\s+{_FILE}\Z",
        rf"{_FILE}[\s,]+{_LINE}\Z",
        rf"{_FILE}\s*:\s*{_LINE}\Z",
        rf"{_LINE}\s+{_FILE}\Z",
        rf"{_FILE}:[A-Za-z_]\w*:{_LINE}\Z",  # a function between
        rf"file\s+[\"']?{_FILE}[\"']?,\s*line\s+{_LINE}(?:,\s*in\s+\S+)?\Z",  # a traceback
        rf"[\"']{_FILE}[\"']:{_LINE}\Z",
    )
)
_FILE_FUNCTION: Final = re.compile(rf"{_FILE}::?(?P<name>[A-Za-z_][\w.:]*?)(?:\(\))?\Z")
_CALLED: Final = re.compile(
    r"(?P<name>(?:[\w.:~$]+::|[A-Za-z_$][\w.$]*\.)?(?!operator\b)[\w$]+)\(\)\Z"
)
_PLAIN: Final = re.compile(rf"{_FILE}:\d+\Z")
_TEXT_THEN_LOCATION: Final = re.compile(rf"(?P<text>\S.*?)\s*@\s*(?P<place>{_FILE}:\d+)\Z")
_LOCATION_THEN_TEXT: Final = re.compile(
    rf"(?P<place>{_FILE}:\d+)(?:\s*:\s*|[\s,;]+|\s*=>?\s*|\s*->\s*)(?P<text>[^\s:].*)\Z"
)
# `f.py:5:x > 3`, where a column would be.
_JOINED_CONDITION: Final = re.compile(rf"(?P<place>{_FILE}:\d+):\s*(?P<condition>[^\d\s:].*)\Z")
_LONGEST_LOCATION: Final = 4  # words: `line 5 of f.py`
_CONDITIONAL: Final = re.compile(r"(?P<place>\S.*?)\s+(?:if|when):?\s+(?P<condition>\S.*)\Z")
# The options and the roles whose first value is a location, and the commands whose first argument
# is one.
_OPTIONS: Final = frozenset(
    {"--at", "--around", "--between", "--until", "--after", "--to", "--break", "-b", "+location"}
)
_CODE_COMMANDS: Final = frozenset({"breakpoint add", "until", "log"})
_COMMANDS: Final = frozenset({"breakpoint add", "until", "jump", "log", "source", "calls"})


def spell_location(text: str) -> str:
    """Return a location as FILE:LINE, FILE:FUNCTION or FUNCTION; the text itself if unknown."""
    # WinDbg's and LLDB's name of a module comes first.
    plain = re.sub(r"\A[\w.-]+[!`](?=[A-Za-z_])|\Afile://(?=/)", "", text.strip())
    for form in _FORMS:
        if match := form.match(plain):
            return f"{match['file']}:{match['line']}"
    if match := _FILE_FUNCTION.match(plain):
        name = match["name"]
        is_python = match["file"].endswith((".py", ".pyw"))
        return f"{match['file']}:{name.replace('::', '.') if is_python else name}"
    if match := _CALLED.match(plain):
        return match["name"]
    return plain


def is_file_line(text: str) -> bool:
    """Return whether a text is a line of a file, in any spelling."""
    return _PLAIN.match(spell_location(text)) is not None


def is_file_function(text: str) -> bool:
    """Return whether a text is a function of a file, as `cart.py:total` and `cart.py::total()`."""
    return _FILE_FUNCTION.match(text.strip()) is not None


def find_location(words: Sequence[str]) -> tuple[int, int, str] | None:
    """Return where a location in a file is among words, from and to, and its spelling.

    A line is looked for first, then a function.
    """
    for first in range(len(words)):
        for last in range(min(len(words), first + _LONGEST_LOCATION), first, -1):
            text = " ".join(words[first:last])
            if is_file_line(text):
                return first, last, spell_location(text)
    for index, word in enumerate(words):
        if is_file_function(word):
            return index, index + 1, spell_location(word)
    return None


def split_expressions(text: str) -> tuple[str, str] | None:
    """Split `f.c:5 x, y`, `f.c:5: x, y` and `x, y @ f.c:5` into location and expressions."""
    for form in (_LOCATION_THEN_TEXT, _TEXT_THEN_LOCATION):
        if (match := form.match(text.strip())) and not is_file_line(text):
            return match["place"], match["text"]
    return None


def split_condition(text: str) -> tuple[str, str] | None:
    """Split `f.c:5 if x > 3` into location and condition."""
    match = _CONDITIONAL.match(text.strip()) or _JOINED_CONDITION.match(text.strip())
    return None if match is None else (spell_location(match["place"]), match["condition"])


def spell_locations(arranged: ArrangedWords) -> ArrangedWords:
    """Return the words with each location as the parser of locations takes it."""
    options = tuple(
        (flag, (_spell_value(flag, values[0]), *values[1:]))
        if flag in _OPTIONS and values
        else (flag, values)
        for flag, values in arranged.options
    )
    words = arranged.positionals
    if arranged.command.name in _COMMANDS and words:
        words = (spell_location(words[0]), *words[1:])
    if arranged.command.name in _CODE_COMMANDS and words:
        words = (_spell_address(words[0]), *words[1:])
    if options == arranged.options and words == arranged.positionals:
        return arranged
    return arranged.change(
        without=[flag for flag, _ in arranged.options], add=options, positionals=words
    )


def _spell_address(text: str) -> str:
    """Return `*0x10` for `0x10`, and `f` for `&f`, where code is located."""
    if re.fullmatch(r"0x[0-9a-fA-F]+", text):
        return f"*{text}"
    return text[1:] if re.fullmatch(r"&[A-Za-z_][\w:]*", text) else text


def _spell_value(flag: str, text: str) -> str:
    """Spell an option's location; an event may have a condition."""
    split = split_condition(text) if flag in {"--after", "--until", "--break", "-b"} else None
    return spell_location(text) if split is None else f"{split[0]} if {split[1]}"
