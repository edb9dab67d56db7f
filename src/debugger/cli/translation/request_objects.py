"""Finds what a request in free words names: programs, locations, processes, values, conditions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from debugger.cli.translation.debugger_invocations import is_core_file, start_words
from debugger.cli.translation.location_spelling import is_file_line
from debugger.cli.translation.program_words import begins_program
from debugger.cli.translation.request_concepts import (
    FILLERS,
    concepts_of,
    is_filler,
    split_name,
)

Words = tuple[str, ...]
# What is said of a program; its arguments are hardly called so.
OF_PROGRAM: Final = frozenset(
    {"never", "works", "hangs", "crashes", "fails", "segfaults", "freezes", "dies", "deadlocks",
     "exits", "leaks", "takes", "returns", "prints", "outputs", "aborts", "stops", "blocks",
     "panics", "throws", "doesn't", "doesnt"}
)  # fmt: skip
# What ends the arguments of a program in a sentence.
_PROGRAM_ENDS: Final = frozenset(
    {"in", "at", "on", "when", "if", "and", "with", "to", "vs", "versus", "against", "until",
     "from", "is", "line", "so", "but", "while", "after", "before", "or", "than", "that", "for",
     "by", "it", "between", "using", "stop", "break"}
)  # fmt: skip
_SOURCE: Final = r"[\w./-]+\.\w+"
_PLACED: Final = (
    re.compile(rf"({_SOURCE}),? (?:at |on )?line (\d+)"),
    re.compile(rf"line (\d+) (?:of|in) ({_SOURCE})"),
)
_COMPARED: Final = re.compile(r"([\w.\[\]>-]*[\w\]]) ?(==|!=|<=|>=|<|>|=) ?(-?[\w.'\"]+)")
_WORKS: Final = re.compile(
    r"(?:works?|worked|pass(?:es)?|succeeds?|ok|fine) (?:with|for|on) (?P<good>\S+),? (?:but|and) "
    r"(?:not|fails?|crash\w*|hangs?|breaks?|wrong) ?(?:with|for|on)? (?P<bad>\S+)"
)
_SET: Final = re.compile(r"(?:set|change|assign|make|modify) ([\w.\[\]]+) to (-?[\w.'\"]+)\Z")
_ASKED: Final = re.compile(
    r"(?:is|was|does|can) ([\w.\[\]]+) (?:ever )?(?:become |get |go |be |equal )?"
    r"(negative|positive|zero|none|null|nil|undefined|nan|empty|-?\d+)\b",
    re.IGNORECASE,
)
_TURNED: Final = re.compile(
    r"([\w.\[\]]+) (?:become|became|becomes|get|gets|goes?|turns?|is|be|to) "
    r"(negative|positive|zero|none|null|nil|undefined|nan|empty|true|false|-?\d+)\b",
    re.IGNORECASE,
)
_COUNTER: Final = re.compile(r"\b(?:when|if|until|once|where) i (?:is|gets|becomes)\b")
_EXCEEDED: Final = re.compile(r"([\w.\[\]]+) (exceeds?|drops? below|goes? (?:above|below)) (-?\w+)")
_TURNS: Final[Mapping[str, tuple[str, str]]] = {
    "negative": ("<", "0"),
    "positive": (">", "0"),
    "zero": ("==", "0"),
    "none": ("==", "None"),
    "nil": ("==", "nil"),
    "empty": ("==", "''"),
}
_OPPOSITES: Final[Mapping[str, str]] = {
    "==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">",
}  # fmt: skip
_NAMED: Final = re.compile(
    r"(?:variable|value of|field|attribute|function|method|calls? (?:to|of)|property|member|"
    r"writes?(?: to)?|sets?|changes?|called|into) "
    r"(?:the |of |variable |function )?([A-Za-z_][^\s?]*)"
)
_NAME: Final = re.compile(r"[A-Za-z_$@&*][\w.$\[\]()>:*&+-]*\Z")
_TEST: Final = re.compile(r"(?:\A|/)test_|_test\.|\.test\.|\.spec\.")
_PYTEST_ID: Final = re.compile(r"\S+\.py::\S+")
_WITHIN: Final = re.compile(r" (?:in|at|inside) ([A-Za-z_][\w.:]*)\Z")


@dataclass(frozen=True)
class Request:
    """The objects that a request names, and the concepts of its other words."""

    concepts: frozenset[str]
    programs: tuple[Words, ...] = ()
    file: str | None = None  # of the location, where it may be run
    location: str | None = None
    pid: str | None = None
    core: str | None = None
    name: str | None = None  # of a value or a function
    condition: tuple[str, str, str] | None = None
    is_turn: bool = False  # the condition is one that comes true
    number: str | None = None

    def objects(self) -> frozenset[str]:
        """Return what is named, as the table writes it."""
        given = {
            "@program": self.programs,
            "@two": self.programs[1:],
            "@location": self.location,
            "@pid": self.pid,
            "@core": self.core,
            "@x": self.name,
            "@condition": self.condition,
            "@turn": self.is_turn,
            "@n": self.number,
            "@file": self.file,
        }
        return frozenset(name for name, value in given.items() if value)

    def parts(self) -> dict[str, Words]:
        """Return the words for each `{name}` of a template."""
        program = self.programs[0] if self.programs else (self.file or "CMD",)
        source = next((one for one in program if re.fullmatch(r"\S+\.\w+", one)), None)
        line = self.location or "LOC"
        line = f"{source or 'FILE'}:{line}" if line.isdecimal() else line
        sign = self.condition or ("COND", "", "")
        opposite = (sign[0], _OPPOSITES.get(sign[1], ""), sign[2])
        is_test = re.search(r"\.py(?:::\S+)?\Z", program[-1]) is not None and len(program) == 1
        given = {
            "cmd": program,
            "cmd2": self.programs[1] if self.programs[1:] else ("CMD",),
            "program": program if self.programs else ("PROGRAM",),
            "start": ("PROGRAM",) if program == ("CMD",) else start_words(program)[1:],
            "test": ("pytest", *program) if is_test else program,
            "scope": (source or "FILE",),
            "at": (line,),
            "line": (self.location or "LOC",),  # a line of the file in which a session stands
            "pid": (self.pid or "PID",),
            "core": (self.core or "CORE",),
            "x": (self.name or "EXPR",),
            "when": (" ".join(sign).strip(),),
            "not": (" ".join(opposite).strip(),),
            "assigned": (sign[0], sign[2]),
            "assignment": (f"{sign[0]}={sign[2]}",),
            "n": (self.number or "1",),
        }
        return {name: tuple(words) for name, words in given.items()}


@dataclass
class _Parts:
    """The words of a request, separated one by one."""

    programs: list[Words] = field(default_factory=list)
    location: str | None = None
    pid: str | None = None
    core: str | None = None
    number: str | None = None
    others: list[str] = field(default_factory=list)

    def take(self, word: str, remaining: list[str]) -> list[str]:
        """Take one word, with what belongs to it, and return the words behind it."""
        if word == "--pid" and remaining:
            self.pid, remaining = remaining[0], remaining[1:]
        elif is_core_file(word) and word != "core":
            self.core = word
        elif is_file_line(word):
            self.location = self.location or word
            self.others.append("@place")
        elif _PYTEST_ID.fullmatch(word):
            self.programs.append((word,))
            self.others.append("test")
        elif begins_program([word, *remaining]) and word not in FILLERS:
            program, remaining = _take_program([word, *remaining])
            self.programs.append(program)
            self.others.append("@file")
        elif word.isdecimal():
            self._take_number(word)
        else:
            self.others.append(word)
        return remaining

    def _take_number(self, word: str) -> None:
        before = self.others[-1] if self.others else ""
        if before in {"process", "pid"} or not {"attach", "process"}.isdisjoint(self.others):
            self.pid = self.pid or word
        elif before == "line":
            self.location = self.location or word
        else:
            self.number = word


def spread_words(words: Sequence[str]) -> list[str]:
    """Split a sentence that was given as one quoted word, and drop the marks behind words."""
    if words and " " in words[0].strip() and len(words) <= 2:  # noqa: PLR2004 - with one object
        words = [*words[0].split(), *words[1:]]
    return [re.sub(r"[?!,]+\Z", "", one) for one in words]


def find_objects(words: Sequence[str], rest: Sequence[str] | None) -> Request:
    """Separate the objects of a request from the words about them."""
    plain = spread_words(words)
    head = split_name(plain[0]) if plain else []
    text, place = _take_placed_line(" ".join([*head, *plain[1:]]))
    parts = _Parts(programs=[tuple(rest)] if rest else [], location=place)
    remaining = text.split(" ")
    while remaining:
        remaining = parts.take(remaining[0], remaining[1:])
    if parts.location is None:
        parts.location = _find_function(text)
    _take_good_and_bad(text, parts, is_given=rest is not None)
    file = (parts.location or "").rpartition(":")[0]
    condition, is_turn = _find_condition(text)
    name = condition[0] if condition else _find_name(text, parts.others)
    return Request(
        _find_concepts(parts),
        tuple(parts.programs),
        file if file and begins_program([file]) else None,
        parts.location,
        parts.pid,
        parts.core,
        name or _find_argument(parts.others, len(head)),
        condition,
        is_turn,
        parts.number,
    )


def _find_function(text: str) -> str | None:
    """Return the function of `who sets total in parse`."""
    within = _WITHIN.search(text)
    if within is None or within[1].lower() in FILLERS or concepts_of(within[1]):
        return None
    return None if begins_program([within[1]]) else within[1]


def _take_good_and_bad(text: str, parts: _Parts, *, is_given: bool) -> None:
    """Make two commands of `./app works with a.txt but not with b.txt`."""
    found = _WORKS.search(text)
    if found is not None and (parts.programs or not is_given):
        base = parts.programs[0] if parts.programs else ("CMD",)
        parts.programs = [(*base, found["bad"]), (*base, found["good"])]


def _find_argument(words: Sequence[str], first: int) -> str | None:
    """Return the argument of a joined name: `evaluate_script '1 + 1'`."""
    behind = [one for one in words[first:] if not one.startswith("@")]
    text = " ".join(behind)
    is_plain = not text or text in FILLERS or bool(concepts_of(text))
    return None if is_plain or first == 1 else text


def _take_placed_line(text: str) -> tuple[str, str | None]:
    """Take `line 12 of foo.py` out of a text."""
    for order, pattern in enumerate(_PLACED):
        if (found := pattern.search(text)) is not None:
            file, line = found.groups()[:: -1 if order else 1]
            return text.replace(found[0], f"{file}:{line}"), f"{file}:{line}"
    return text, None


def _find_condition(text: str) -> tuple[tuple[str, str, str] | None, bool]:
    if (found := _COMPARED.search(text)) is not None:
        return (found[1], found[2], found[3]), False
    if (found := _EXCEEDED.search(text)) is not None:
        is_less = "below" in found[2]
        return (found[1], "<" if is_less else ">", found[3]), True
    if (found := _SET.search(text)) is not None:
        return (found[1], "=", found[2]), False
    found = _ASKED.search(text) or _TURNED.search(text)
    if found is None or (found[1].lower() in FILLERS and not _COUNTER.search(text)):
        return None, False
    sign, value = _TURNS.get(found[2].lower(), ("==", found[2]))
    return (found[1], sign, value), True


def _take_program(words: list[str]) -> tuple[Words, list[str]]:
    """Separate a program with its arguments from the words behind it."""
    program = [words.pop(0)]
    is_runner = not re.search(r"[./]", program[0])
    while words and (is_runner or words[0].lower() not in _PROGRAM_ENDS | OF_PROGRAM):
        if begins_program(words) and not is_runner:
            break
        is_runner = is_runner and not re.search(r"[./]", words[0])
        if not is_runner and len(program) > 1 and concepts_of(words[0]):
            break
        is_request = bool(concepts_of(words[0])) and not re.search(r"[./]", words[0])
        if len(program) == 1 and is_request and not words[0].isupper():  # as a placeholder is
            break
        program.append(words.pop(0))
    return tuple(program), words


def _find_concepts(parts: _Parts) -> frozenset[str]:
    found: set[str] = set()
    for word in parts.others:
        found |= concepts_of(word)
    if parts.others[:1] == ["set"] and not found.isdisjoint({"breakpoint", "stop", "watchpoint"}):
        found -= {"write", "assign"}
    if any(_TEST.search(word) for program in parts.programs for word in program):
        found.add("test")
    return frozenset(found)


def _find_name(text: str, words: Sequence[str]) -> str | None:
    """Return the value or function that is named: the word behind its kind, else the first."""
    for found in _NAMED.finditer(text):
        if not is_filler(found[1]) and not concepts_of(found[1]):
            return found[1]
    for word in words[1:]:
        is_plain = not word.startswith("@") and not is_filler(word) and not concepts_of(word)
        if is_plain and _NAME.match(word):
            return word
    return None
