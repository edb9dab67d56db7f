"""Reads a request in free words, `show me where total changes in foo.py`, as commands.

A request is only ever answered with commands to choose from, never taken for one of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Final

from debugger.cli.translation.argument_order import Correction
from debugger.cli.translation.debugger_invocations import is_core_file, start_words
from debugger.cli.translation.location_spelling import is_file_line
from debugger.cli.translation.program_words import begins_program
from debugger.cli.translation.request_words import (
    CONCEPTS,
    FILLERS,
    MEANINGS,
    SENTENCE_WORDS,
)

Words = tuple[str, ...]
_REASON: Final = "the commands for this request"
_LEAST_WORDS: Final = 3  # of a sentence
_LEAST_JOINED: Final = 4  # letters of a word that is joined to another
_INTERROGATIVES: Final = frozenset({"who", "which", "what", "how", "when", "whose"})
_PREPOSITIONS: Final = frozenset({"in", "of", "with", "through", "against", "and"})
# What is said of a program; its arguments are hardly called so.
_OF_PROGRAM: Final = frozenset(
    {"never", "works", "hangs", "crashes", "fails", "segfaults", "freezes", "dies", "deadlocks",
     "exits", "leaks", "aborts", "stops", "blocks", "panics", "throws", "doesn't", "doesnt"}
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
    r"writes?(?: to)?|sets?|changes?|called|into) (?:the |of |variable |function )?([A-Za-z_][^\s?]*)"
)
_PROGRAM_PART: Final = re.compile(r"\{(?:cmd|start|program|test)\}")
_PREFIXES: Final = frozenset({"d", "db", "ps"})  # of TotalView, Octave and PowerShell
_NAME: Final = re.compile(r"[A-Za-z_$@&*][\w.$\[\]()>:*&+-]*\Z")


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


def is_sentence(words: Sequence[str]) -> bool:
    """Tell whether the words are a sentence, not a command with its arguments."""
    plain = [re.sub(r"[?!,]+\Z", "", one) for one in _spread_words(words)]
    if len(plain) < _LEAST_WORDS or any(re.match(r"--?\w", one) for one in words):
        return False
    if plain[0].lower() in _INTERROGATIVES or _names_program(plain):
        return True
    if begins_program(plain) and not _OF_PROGRAM.isdisjoint(plain[1:]):
        return True
    return plain[0] != "me" and not SENTENCE_WORDS.isdisjoint(one.lower() for one in plain)


def has_known_words(words: Sequence[str]) -> bool:
    """Tell whether all the words are of the table or of plain English, and none names a value."""
    return bool(words) and all(one.lower() in FILLERS or _concepts_of(one) for one in words)


def _names_program(words: Sequence[str]) -> bool:
    """Tell whether a program, or a line to run to, is named as in a sentence: `x in foo.py`."""
    for word, after in pairwise(words[1:]):
        if word in _PREPOSITIONS and begins_program([after]) and not is_file_line(after):
            return True
    return re.search(r" until line \d+\Z", " ".join(words)) is not None


def read_request(words: Sequence[str], rest: Sequence[str] | None) -> Correction | None:
    """Return the commands for a request; None where it is not understood.

    Args:
        words: The words before `--`.
        rest: The program behind it.
    """
    request = _find_objects(words, rest)
    commands = _choose_meaning(request)
    if any(one.startswith("-") for one in words[1:]):
        commands = _pass_arguments(_choose_templates(_find_objects(words[:1], None)), words[1:])
    return Correction(_REASON, commands) if commands else None


def _pass_arguments(templates: Sequence[str], arguments: Sequence[str]) -> tuple[Words, ...]:
    """Give the arguments of a joined name, with its options, to our command."""
    names = [re.split(r" -- | ?[-{'@]", one)[0] for one in templates]
    return tuple((*name.split(), *arguments) for name in names if name)


def _choose_meaning(request: Request) -> tuple[Words, ...]:
    """Return the commands of the meaning of which most is in the request."""
    parts = request.parts()
    commands = [_fill_template(one, parts) for one in _choose_templates(request)]
    if len({"--" in one for one in commands}) > 1:
        commands.sort(key=lambda one: ("--" in one) != (parts["cmd"] != ("CMD",)))
    return tuple(commands)


def _choose_templates(request: Request) -> list[str]:
    given = request.concepts | request.objects()
    best: tuple[str, str] | None = None
    most = 0
    for meaning in MEANINGS:
        wanted = meaning[0].split()
        # What leaves the program out is less likely.
        weight = len(wanted) - bool(request.programs and not _PROGRAM_PART.search(meaning[1]))
        if weight > most and given.issuperset(wanted):
            best, most = meaning, weight
    return best[1].split("|") if best else []


def _fill_template(template: str, parts: Mapping[str, Words]) -> Words:
    filled: list[str] = []
    for word in template.split():
        if (name := re.fullmatch(r"\{(\w+)\}", word)) is not None:
            filled += parts[name[1]]
        else:
            joined = {name: " ".join(words) for name, words in parts.items()}
            filled.append(word.strip("'").format(**joined) if "{" in word else word.strip("'"))
    return tuple(filled)


def _spread_words(words: Sequence[str]) -> list[str]:
    """Split a sentence that was given as one quoted word."""
    if words and " " in words[0].strip() and len(words) <= 2:  # noqa: PLR2004 - with one object
        return [*words[0].split(), *words[1:]]
    return list(words)


def _find_objects(words: Sequence[str], rest: Sequence[str] | None) -> Request:
    """Separate the objects of a request from the words about them."""
    plain = [re.sub(r"[?!,]+\Z", "", one) for one in _spread_words(words)]
    head = _split_name(plain[0]) if plain else []
    text, place = _take_placed_line(" ".join([*head, *plain[1:]]))
    good_and_bad = _WORKS.search(text)
    condition, is_turn = _find_condition(text)
    remaining = text.split(" ")
    programs: list[Words] = [tuple(rest)] if rest else []
    pid = core = number = None
    others: list[str] = []
    while remaining:
        word = remaining.pop(0)
        if word == "--pid" and remaining:
            pid = remaining.pop(0)
        elif is_core_file(word) and word != "core":
            core = word
        elif is_file_line(word):
            place = place or word
            others.append("@place")
        elif re.fullmatch(r"\S+\.py::\S+", word):
            programs.append((word,))
            others.append("test")
        elif begins_program([word, *remaining]) and word not in FILLERS:
            program, remaining = _take_program([word, *remaining])
            programs.append(program)
            others.append("@file")
        elif word.isdecimal() and others[-1:] and others[-1] in {"process", "pid", "to", "attach"}:
            pid = word
        elif word.isdecimal() and others[-1:] == ["line"]:
            place = place or word
        elif word.isdecimal():
            number = word
        else:
            others.append(word)
    if place is None and (within := re.search(r" (?:in|at|inside) ([A-Za-z_][\w.:]*)\Z", text)):
        is_plain = within[1].lower() in FILLERS or _concepts_of(within[1])
        place = None if is_plain or begins_program([within[1]]) else within[1]
    if pid is None and number and not {"attach", "process"}.isdisjoint(others):
        pid, number = number, None
    file = place.rpartition(":")[0] if place is not None else ""
    if good_and_bad and (programs or rest is None):
        base = programs[0] if programs else ("CMD",)
        programs = [(*base, good_and_bad["bad"]), (*base, good_and_bad["good"])]
    concepts = _find_concepts(others)
    if others[:1] == ["set"] and not concepts.isdisjoint({"breakpoint", "stop", "watchpoint"}):
        concepts -= {"write", "assign"}
    if any(re.search(r"(?:\A|/)test_|_test\.|\.test\.|\.spec\.", p) for one in programs for p in one):
        concepts |= {"test"}
    name = condition[0] if condition else _find_name(text, others)
    if name is None and len(head) > 1 and others[len(head) :]:
        name = " ".join(others[len(head) :])  # `evaluate_script '1 + 1'`
        name = None if name in FILLERS or _concepts_of(name) else name
    return Request(
        concepts,
        tuple(programs),
        file if file and begins_program([file]) else None,
        place,
        pid,
        core,
        name,
        condition,
        is_turn,
        number,
    )


def _split_name(name: str) -> list[str]:
    """Split a joined name, `smart-step-into` or `runToCursor`, into its words."""
    if begins_program([name]) or is_file_line(name):
        return [name]
    if re.fullmatch(r"\w+(?:Error|Exception):?", name):
        return ["exception", "crash"]
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    parts = [one.lower() for one in re.split(r"[^A-Za-z0-9]+", spaced) if one]
    return [word for one in parts for word in _split_joined(one)] or [name]


def _split_joined(word: str) -> tuple[str, ...]:
    """Split two words that are joined, `stopdebug`, or drop a prefix: `dbstep`, `psbreakpoint`."""
    if _concepts_of(word) or word in FILLERS:
        return (word,)
    for at in range(1, len(word) - 1):
        first, second = word[:at], word[at:]
        if (first in _PREFIXES or _is_word(first)) and _is_word(second):
            return (second,) if first in _PREFIXES else (first, second)
    return (word,)


def _is_word(word: str) -> bool:
    is_long = len(word) >= _LEAST_JOINED or word in {"up", "bp", "go", "bt"}
    return is_long and bool(_concepts_of(word) or word in {"debug", "debugger", "program"})


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
    found = _ASKED.search(text) or _TURNED.search(text)
    if found is None or found[1].lower() in FILLERS:
        return None, False
    sign, value = _TURNS.get(found[2].lower(), ("==", found[2]))
    return (found[1], sign, value), True


def _take_program(words: list[str]) -> tuple[Words, list[str]]:
    """Separate a program with its arguments from the words behind it."""
    program = [words.pop(0)]
    is_runner = not re.search(r"[./]", program[0])
    while words and (is_runner or words[0].lower() not in _PROGRAM_ENDS):
        if begins_program(words) and not is_runner:
            break
        is_runner = is_runner and not re.search(r"[./]", words[0])
        if not is_runner and len(program) > 1 and _concepts_of(words[0]):
            break
        if len(program) == 1 and _concepts_of(words[0]) and not re.search(r"[./]", words[0]):
            break
        program.append(words.pop(0))
    return tuple(program), words


def _find_concepts(words: Sequence[str]) -> frozenset[str]:
    found: set[str] = set()
    for word in words:
        found |= _concepts_of(word.lower())
    return frozenset(found)


def _find_name(text: str, words: Sequence[str]) -> str | None:
    """Return the value or function that is named: the word behind its kind, else the first."""
    for found in _NAMED.finditer(text):
        if found[1].lower() not in FILLERS and not _concepts_of(found[1].lower()):
            return found[1]
    for word in words[1:]:
        is_plain = word.lower() not in FILLERS and not word.startswith("@")
        if is_plain and _NAME.match(word) and not _concepts_of(word.lower()):
            return word
    return None


@cache
def _stems() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for concept, listed in CONCEPTS.items():
        for word in listed.split():
            found.setdefault(_stem(word), set()).add(concept)
    return {stem: frozenset(concepts) for stem, concepts in found.items()}


def _concepts_of(word: str) -> frozenset[str]:
    return _stems().get(_stem(word.lower()), frozenset())


def _stem(word: str) -> str:
    """Return a word without its ending."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) > len(ending) + 2 and not word.endswith("ss"):
            word = word[: -len(ending)]
            break
    word = f"{word[:-1]}y" if word.endswith("i") and len(word) > 3 else word  # noqa: PLR2004
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "sl":  # noqa: PLR2004
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 3 else word  # noqa: PLR2004
