"""Puts the arguments of session commands into our form: `break f.c:3 if x`, `bt full`, `p/x v`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from debugger.cli.translation.argument_order import ArrangedWords, Correction
from debugger.cli.translation.breakpoint_translation import show_values
from debugger.cli.translation.debugger_abbreviations import (
    GDB_SETTINGS,
)
from debugger.cli.translation.expression_arguments import (
    arrange_eval,
    arrange_print,
    arrange_watch,
    drop_flags,
)
from debugger.cli.translation.location_spelling import (
    find_location,
    is_file_function,
    is_file_line,
    spell_location,
    split_condition,
)
from debugger.cli.translation.machine_arguments import (
    arrange_disassemble,
    arrange_memory,
    arrange_registers,
    correct,
)

Result = ArrangedWords | Correction
_BREAK_IF: Final = re.compile(
    r"(?P<place>.*?)(?:\s+thread\s+(?P<thread>\d+))?(?:\s+if\b:?\s*(?P<condition>.+))?\Z"
)
_PDB_CONDITION: Final = re.compile(r"(?P<place>[^\s,(]+:\d+|\d+)\s*,\s*(?P<condition>.+)\Z")
_FUNCTION: Final = re.compile(r"[A-Za-z_][\w.:~]*\Z")
_FILE: Final = re.compile(r"[^\s:{}()=]+\Z")
_FILE_LINE: Final = re.compile(r"[^\s:]+\.\w+:\d+\Z")
_LINE_RANGE: Final = re.compile(
    r"(?:(?P<file>[^\s:]+):)?(?P<first>\d+)\s*(?:,|-|\s)\s*(?P<last>\d+)?\Z"
)
_LINES_SHOWN: Final = 10  # of gdb's `list 10,`
_ASSIGNMENT: Final = re.compile(r"[-+*/%|&^<>=!]?=(?!=)")
_ANY_EXCEPTION: Final = re.compile(r"(?:all|any|every|exceptions?|errors?|\*)\Z", re.IGNORECASE)
_ID_FILLERS: Final = frozenset(
    {
        "bp",
        "breakpoint",
        "breakpoints",
        "watchpoint",
        "watchpoints",
        "the",
        "number",
        "id",
        "once",
        "delete",  # gdb's `enable once 4`
    }
)
_PLACE_NOUNS: Final = frozenset(
    {"at", "on", "in", "line", "function", "fn", "func", "method", "address", "def"}
)
_PLACE_ROLES: Final = frozenset({"+file", "+line", "+location", "+function", "+expression"})
_RUNNING_NOUNS: Final = frozenset(
    {"the", "all", "program", "execution", "running", "process", "app", "debugging", "threads"}
)
_ON_OFF: Final = frozenset({"on", "off"})


def arrange_arguments(arranged: ArrangedWords) -> Result:
    """Put a session command's arguments into our form, or say how they should be typed."""
    arrange = ARGUMENT_FORMS.get(arranged.command.name)
    return arranged if arrange is None else arrange(arranged)


def _arrange_break(arranged: ArrangedWords) -> Result:
    arranged = _take_break_roles(arranged)
    words = arranged.positionals
    functions = arranged.role_values("--function")
    if functions or not words:
        return _choose_function(arranged, functions)
    text = " ".join(words)
    joined = split_condition(text)
    if joined is not None and is_file_line(joined[0]):
        added = [("--condition", (joined[1],))]
        return arranged.change(positionals=[joined[0]], add=added)
    pdb = _PDB_CONDITION.match(text)
    if pdb and _FILE_LINE.match(pdb["condition"]):
        return _correct_location(arranged.change(positionals=[pdb["place"], pdb["condition"]]))
    match = pdb or _BREAK_IF.match(text)
    if match is None:
        return arranged
    thread = None if pdb else match["thread"]
    added = [
        (flag, (value,))
        for flag, value in (("--thread", thread), ("--condition", match["condition"]))
        if value
    ]
    place = match["place"].strip()
    if " " not in place:
        is_same = not added and words == (place,)
        return (
            arranged if is_same else arranged.change(positionals=[place][: len(place)], add=added)
        )
    return _correct_location(arranged.change(positionals=place.split(), add=added))


def _choose_function(arranged: ArrangedWords, functions: list[str]) -> Result:
    """Correct a function beside a line, which may be the name of a session."""
    if arranged.positionals == ("true",):  # LLDB's `--one-shot true`
        return arranged.change(positionals=[])
    if not arranged.positionals or not is_file_line(arranged.positionals[0]):
        return arranged
    alone = arranged.change(without=("--function",))
    in_session = alone.change(add=[("--session", (functions[0],))])
    by_name = arranged.change(positionals=())
    return correct("a line, or a function?", alone, in_session, by_name)


def _correct_location(arranged: ArrangedWords) -> Result:  # noqa: PLR0911 - one for each form
    """Suggest what is meant by two words for a location."""
    words = arranged.positionals
    if len(words) == 1:
        return arranged
    if words[0] in _PLACE_NOUNS and len(words) == len(("at", "f.c:3")):
        return correct("where?", arranged.change(positionals=[words[1]]))
    if len(words) == len(("f.c", "3")) and words[1].isdecimal() and "." in words[0]:
        place = f"{words[0].rstrip(',:')}:{words[1]}"
        return correct("a line is FILE:LINE", arranged.change(positionals=[place]))
    if (found := find_location(words)) is not None and found[1] - found[0] > 1:
        condition = " ".join(words[found[1] :])
        is_condition = re.search(r"[<>=!]|\band\b|\bor\b", condition)
        added = [("--condition", (condition,))] if is_condition else []
        placed = arranged.change(positionals=[found[2]], add=added)
        return correct("a line is FILE:LINE", placed)
    if words[-1] in {"once", "temporary", "temp", "one-shot"}:
        return correct("an option", arranged.change(positionals=words[:-1],
                                                     add=[("--temporary", ())]))  # fmt: skip
    start = 2 if words[1] in {"when", "cond", "condition", "where", "unless"} else 1
    condition = " ".join(words[start:])
    if re.search(r"[<>=!]|\band\b|\bor\b", condition):
        fixed = arranged.change(positionals=words[:1], add=[("--condition", (condition,))])
        return correct("a condition is an option", fixed)
    if all(_FILE_LINE.match(one) for one in words):
        return correct("one location each", *(arranged.change(positionals=[one]) for one in words))
    if re.search(r":\d+\Z", words[1]):  # delve's `break NAME LOC`
        return correct("a breakpoint has no name", arranged.change(positionals=[words[1]]))
    return arranged


def _take_break_roles(arranged: ArrangedWords) -> ArrangedWords:
    """Join `--file F --line N`; `-f` is LLDB's option for a file where `-l` stands beside it."""
    lines, files = arranged.role_values("+line"), arranged.role_values("+file")
    short = [values[0] for flag, values in arranged.options if flag == "-f" and values]
    positionals = list(arranged.positionals)
    without: list[str] = []
    if lines:
        names = files or short or [one for one in positionals[:1] if _FILE.match(one)]
        others = positionals[1:] if names == positionals[:1] else positionals
        positionals = [f"{names[0]}:{lines[0]}" if names else lines[0], *others]
        without += ["+line", "+file", *(["-f"] if short else [])]
    if addresses := arranged.role_values("+address"):
        positionals.append(f"*{addresses[0].lstrip('*')}")
        without.append("+address")
    if places := arranged.role_values("+location"):
        positionals = [*places, *positionals]
        without.append("+location")
    added: list[tuple[str, tuple[str, ...]]] = []
    ignored = arranged.role_values("+ignore")
    if ignored and ignored[0].isdecimal():
        added.append(("--hit-count", (str(int(ignored[0]) + 1),)))
        without.append("+ignore")
    if once := arranged.role_values("+once"):
        added += [("--temporary", ())] if once[0].lower() in {"true", "1", "yes"} else []
        without.append("+once")
    if not without:
        return arranged
    return arranged.change(without=without, add=added, positionals=positionals)


def _arrange_catch(arranged: ArrangedWords) -> Result:
    """Correct `catch ValueError`, `catch all` and `catch uncaught exceptions`."""
    if types := arranged.role_values("+type"):
        arranged = arranged.change(without=("+type",), positionals=(*arranged.positionals, *types))
    words = [one for one in arranged.positionals if not _ANY_EXCEPTION.match(one)]
    if words and (
        words[0][0].isupper() or re.match(r"[\w.:]+[.:]\w*(?:Error|Exception)", words[0])
    ):
        kinds = [arranged.change(positionals=(kind, *words)) for kind in ("raised", "throw")]
        return correct("at which exceptions?", *kinds)
    if not words and arranged.positionals:
        kinds = [arranged.change(positionals=(kind,)) for kind in ("raised", "throw")]
        return correct("at which exceptions?", *kinds)
    return arranged if len(words) == len(arranged.positionals) else arranged.change(
        positionals=words
    )  # fmt: skip


def _arrange_log(arranged: ArrangedWords) -> Result:
    arranged = _take_break_roles(arranged)
    if texts := arranged.role_values("+text"):
        arranged = arranged.change(without=("+text",), positionals=(*arranged.positionals, *texts))
    words = list(arranged.positionals)
    if words[1:2] == ["at"] and len(words) == len(("x", "at", "f.c:3")) and is_file_line(words[2]):
        return correct("log takes LOC TEXT", arranged.change(positionals=[words[2], words[0]]))
    at = next((at for at in range(2, len(words) - 1) if words[at] in {"if", "when"}), 0)
    if not at or arranged.role_values("--condition"):
        return arranged
    if not re.search(r"[<>=!]", " ".join(words[at + 1 :])):  # a text, with this word in it
        return arranged
    fixed = arranged.change(
        positionals=words[:at], add=[("--condition", (" ".join(words[at + 1 :]),))]
    )
    return correct(f"is the `{words[at]}` a condition?", fixed)


def _take_source_roles(arranged: ArrangedWords) -> ArrangedWords:
    """Join `--file F --line N` and `--name FUNCTION` into the location."""
    functions = [*arranged.role_values("+function"), *arranged.role_values("+location")]
    lines, files = arranged.role_values("+line"), arranged.role_values("+file")
    words = [*arranged.positionals, *functions]
    if lines:
        names = files or words[:1]
        words = [f"{names[0]}:{lines[0]}" if names else lines[0]]
    elif files:
        words = [*files, *words]
    if not (functions or lines or files):
        return arranged
    return arranged.change(without=("+function", "+location", "+line", "+file"), positionals=words)


def _arrange_source(arranged: ArrangedWords) -> Result:  # noqa: PLR0911 - one for each form
    arranged = _take_source_roles(arranged)
    words = list(arranged.positionals)
    text = " ".join(words)
    if text == ".":
        return arranged.change(positionals=[])
    if text in {"-", "+"}:
        return correct("name a line", arranged.change(positionals=[]))
    if count := re.fullmatch(r"\((\d+)\)", text):
        return arranged.change(positionals=[], add=[("--context", (count[1],))])
    match = _LINE_RANGE.match(text)
    if match is not None:
        return _source_range(arranged, match)
    if tail := re.fullmatch(r",\s*(\d+)", text):  # gdb: ten lines up to this one
        middle = max(1, int(tail[1]) - _LINES_SHOWN // 2)
        return arranged.change(positionals=[str(middle)], add=[("--context", ("5",))])
    if len(words) == len(("f.c", "10")) and words[1].isdecimal():
        return correct("a line is FILE:LINE", arranged.change(positionals=[":".join(words)]))
    return arranged


def _source_range(arranged: ArrangedWords, match: re.Match[str]) -> Result:
    """Turn `10,20` into the line in the middle with as many lines on both sides."""
    first = int(match["first"])
    last = int(match["last"]) if match["last"] else first + _LINES_SHOWN
    if last < first:  # pdb: a count
        last = first + last
    middle = (first + last) // 2
    place = f"{match['file']}:{middle}" if match["file"] else str(middle)
    if arranged.role_values("--context"):
        return arranged.change(positionals=[place])
    return arranged.change(positionals=[place], add=[("--context", (str(last - middle),))])


def _arrange_backtrace(arranged: ArrangedWords) -> Result:
    added: list[tuple[str, tuple[str, ...]]] = []
    words = arranged.positionals
    if arranged.unknown and all(word == "-full" for _, word in arranged.unknown):
        words = ("full", *(one for one in words if one != "-full"))
    if not words:
        return arranged
    if len(words) == len(("thread", "2")) and words[0] in {"thread", "t"} and words[1].isdecimal():
        return arranged.change(positionals=[], add=[("--thread", (words[1],))])
    for word in words:
        if word in {"full", "locals"}:
            added.append(("--locals", ()))
        elif word in {"all", "threads"}:
            added.append(("--all", ()))
        elif word.isdecimal():
            added.append(("--limit", (word,)))
        elif re.fullmatch(r"-\d+", word):
            return correct("the outermost frames: show all", arranged.change(positionals=[]))
        else:
            return arranged
    return arranged.change(positionals=[], add=added)


def _arrange_frame(arranged: ArrangedWords) -> Result:
    words = arranged.positionals
    if words and re.fullmatch(r"#\d+", words[0]):
        return correct("a number alone", arranged.change(positionals=[words[0][1:]]))
    if words in (("up",), ("down",)):
        return Correction("a command of its own", (words,))
    if len(words) == len(("2", "locals")) and words[0].isdecimal():
        if words[1] == "locals":
            return Correction("two commands", (("locals", "--frame", words[0]),))
        if words[1] == "args":
            return Correction("two commands", (("frame", words[0]), ("args",)))
    if len(words) > len(("2", "print")) and words[0].isdecimal():
        return Correction("two commands", (("frame", words[0]), tuple(words[1:])))
    return arranged


def _arrange_thread(arranged: ArrangedWords) -> Result:
    words = arranged.positionals
    if len(words) == len(("3", "bt")) and words[0].isdecimal() and words[1] in {"bt", "backtrace"}:
        return ArrangedWords(
            ("backtrace",), arranged.command, (("--thread", (words[0],)),), is_changed=True
        )
    return arranged


def _arrange_set(arranged: ArrangedWords) -> Result:  # noqa: C901, PLR0911 - one for each form
    if arranged.positionals[2:] and "--value" not in arranged.positionals:
        arranged = drop_flags(arranged)
    words = list(arranged.positionals)
    if not words:
        return arranged
    text = " ".join(words)
    if words[0] in GDB_SETTINGS and len(words) > 1 and "=" not in text:
        is_setting = words[-1] in _ON_OFF or len(words) > len(("name", "value"))
        if is_setting or "-" in words[0]:
            return Correction("a setting of another debugger", (("raw", f"set {text}"),))
    if len(words) == 1 and (flag := re.fullmatch(r"--(\w+)=(.+)", words[0])):
        return correct("set takes NAME VALUE", arranged.change(positionals=[flag[1], flag[2]]))
    if words[:1] in (["--var"], ["--name"], ["--variable"]) and "--value" in words:
        at = words.index("--value")
        fixed = arranged.change(positionals=[" ".join(words[1:at]), *words[at + 1 :]])
        return correct("set takes NAME VALUE", fixed)
    is_prefixed = words[0] in {"var", "variable", "let", "local", "global"} and len(words) > 1
    body = " ".join(words[1:]) if is_prefixed else text
    name, value = _split_assignment(body)
    if name and value and not (words[0].startswith("-") and arranged.rest is not None):
        return arranged.change(positionals=[name, value])
    if words[1:2] in (["to"], [":="]) and len(words) > len(("x", "to")):
        return correct("set takes NAME VALUE", arranged.change(positionals=[words[0], *words[2:]]))
    if is_prefixed and len(words) == len(("var", "x", "3")):
        return correct("set takes NAME VALUE", arranged.change(positionals=words[1:]))
    if words[0] == "value" and len(words) == len(("value", "x", "3")) and _is_name(words[1]):
        return correct("set takes NAME VALUE", arranged.change(positionals=words[1:]))
    return arranged


def _arrange_write(arranged: ArrangedWords) -> Result:
    """Take `write x=3` for `write x 3`."""
    name, value = _split_assignment(" ".join(arranged.positionals))
    return arranged.change(positionals=[name, value]) if name and value else arranged


def _arrange_step(arranged: ArrangedWords) -> Result:
    """Correct `step parse`, which names the call to step into."""
    words = arranged.positionals
    if len(words) == 1 and words[0].isidentifier() and not arranged.role_values("--into"):
        into = arranged.change(positionals=(), add=[("--into", words)])
        return correct("a function is --into", into)
    return _arrange_count(arranged)


def _arrange_change(arranged: ArrangedWords) -> Result:
    """Take `breakpoint change 1 x > 3` for the condition."""
    number, *condition = arranged.positionals or ("",)
    if not number.isdecimal() or not condition or arranged.role_values("--condition"):
        return arranged
    text = " ".join(condition[1:] if condition[0] == "if" else condition)
    fixed = arranged.change(positionals=[number], add=[("--condition", (text,))])
    return correct("a condition is an option", fixed)


def _arrange_answer(arranged: ArrangedWords) -> Result:
    """Take `evidence show 3` for `e3`."""
    words = arranged.positionals
    is_number = bool(words) and words[0].isdecimal()
    return arranged.change(positionals=(f"e{words[0]}", *words[1:])) if is_number else arranged


def _arrange_export(arranged: ArrangedWords) -> Result:
    """Correct `evidence export a.html`, which would be Markdown."""
    words = arranged.positionals
    if len(words) != 1 or not words[0].endswith((".html", ".htm")):
        return arranged
    fixed = arranged.change(positionals=(), add=[("--html", words)])
    return correct("a page is --html", fixed)


def _arrange_kinds(arranged: ArrangedWords) -> Result:
    """Take `--kind stop,exit` for an option each."""
    kinds = [part for one in arranged.role_values("--kind") for part in one.split(",")]
    if kinds == arranged.role_values("--kind"):
        return arranged
    return arranged.change(without=("--kind",), add=[("--kind", (one,)) for one in kinds if one])


def _arrange_port(arranged: ArrangedWords) -> Result:
    """Correct `--port 4711` to the local address that `mcp` and `dap` listen at."""
    flag = "--http" if arranged.command.name == "mcp" else "--listen"
    ports = [one for one in arranged.role_values("+port") if one.isdecimal()]
    if not ports or arranged.role_values(flag):
        return arranged
    fixed = arranged.change(without=("+port",), add=[(flag, (f"127.0.0.1:{ports[0]}",))])
    return correct("it listens at an address", fixed)


def _is_name(text: str) -> bool:
    return re.fullmatch(r"[A-Za-z_][\w.\[\]>-]*", text) is not None


def _split_assignment(text: str) -> tuple[str, str]:
    """Split `a[i==2] = 3` at the assignment; two empty texts without one."""
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter != "=" or depth or not at:
            continue
        is_comparison = text[at + 1 : at + 2] == "=" or text[at - 1] in "=!<>+-*/%&|^:"
        if is_comparison:
            return "", ""
        return text[:at].strip(), text[at + 1 :].strip()
    return "", ""


def _arrange_count(arranged: ArrangedWords) -> Result:
    counts = arranged.role_values("+count")
    if not counts or arranged.positionals:
        return arranged
    return arranged.change(without=("+count",), positionals=counts)


def _arrange_continue(arranged: ArrangedWords) -> Result:  # noqa: PLR0911 - one for each form
    words = [*arranged.positionals, *arranged.role_values("+count")]
    words += arranged.role_values("+location")
    if words and set(words) <= _RUNNING_NOUNS:  # `resume program`
        return arranged.change(without=("+count", "+location"), positionals=())
    if len(words) == len(("until", "30")) and words[0] in {"until", "to"}:
        return Correction("a command of its own", (("until", words[1]),))
    if len(words) == 1 and (seconds := re.fullmatch(r"(\d+)s", words[0])):
        fixed = arranged.change(positionals=[], add=[("--timeout", (seconds[1],))])
        return correct("a time is an option", fixed)
    if words == ["&"]:
        return arranged.change(positionals=[], add=[("--no-wait", ())])
    if len(words) != 1:
        return arranged
    if words[0].isdecimal():
        commands = (("continue",), ("until", words[0]))
        return Correction("continue takes no count; until takes a line", commands)
    return ArrangedWords(
        ("until",),
        arranged.command,
        tuple(one for one in arranged.options if one[0] != "+location"),
        (words[0],),
        is_changed=True,
    )


def _arrange_until(arranged: ArrangedWords) -> Result:
    words = arranged.positionals
    match = re.match(r"(\S+)\s+if\s+(.+)\Z", " ".join(words))
    if match is None and words[1:] and is_file_line(" ".join(words)):
        place = spell_location(" ".join(words))
        return correct("a line is FILE:LINE", arranged.change(positionals=[place]))
    if match is None:
        return _take_break_roles(arranged)
    condition = ("--when", (match[2],))
    return _take_break_roles(arranged.change(positionals=[match[1]], add=[condition]))


def _arrange_jump(arranged: ArrangedWords) -> Result:
    arranged = _take_break_roles(arranged)
    if arranged.positionals and re.fullmatch(r"[-+]\d+", arranged.positionals[0]):
        return correct("name the line", arranged.change(positionals=["LINE"]))
    return arranged


def _arrange_attach(arranged: ArrangedWords) -> Result:
    if programs := arranged.role_values("+program"):
        arranged = arranged.change(without=("+program",), positionals=programs)
    words = [*arranged.role_values("+pid"), *arranged.positionals]
    if len(pids := arranged.role_values("+pid")) > 1:
        group = arranged.change(without=("+pid",), add=[("--pids", (",".join(pids),))])
        return correct("several processes are a group", group)
    if pids:
        words = words[:1]  # the program is known by it
        arranged = arranged.change(without=("+pid",), positionals=words)
    if ports := arranged.role_values("+port"):
        host = next(iter([*arranged.role_values("+host"), *words]), "localhost")
        arranged = arranged.change(without=("+port", "+host"), positionals=())
        return arranged.change(add=[("--connect", (f"{host}:{ports[0]}",))])
    if hosts := arranged.role_values("+host"):
        arranged = arranged.change(without=("+host",), add=[("--connect", (hosts[0],))])
    targets = {"--connect", "--core", "--name", "--simulator"}
    is_free = targets.isdisjoint(flag for flag, _ in arranged.options)
    if len(words) == 1 and re.fullmatch(r"[\w.-]*:\d+", words[0]) and is_free:
        host = f"localhost{words[0]}" if words[0].startswith(":") else words[0]
        fixed = arranged.change(positionals=[], add=[("--connect", (host,))])
        return correct("an address is --connect", fixed)
    for index, (flag, values) in enumerate(arranged.options):
        if flag == "--connect" and values:
            plain = re.sub(r"\A(?:connect|tcp)://", "", values[0])
            plain = f"localhost{plain}" if plain.startswith(":") else plain
            plain = f"localhost:{plain}" if plain.isdecimal() else plain
            if plain != values[0]:
                options = list(arranged.options)
                options[index] = (flag, (plain,))
                return arranged.change(without=[one for one, _ in arranged.options], add=options)
    return arranged


def _arrange_removal(arranged: ArrangedWords) -> Result:
    """Spell several numbers apart, and refuse a value in place of one."""
    numbers = [one for word in arranged.positionals for one in _expand_ids(word)]
    if numbers and numbers != list(arranged.positionals) and all(map(str.isdecimal, numbers)):
        return arranged.change(positionals=numbers)
    words = [one for one in arranged.positionals if one not in _ID_FILLERS]
    unknown = [one for one in words if not re.fullmatch(r"#?\d+[-,\d]*", one)]
    places = [one for one, _ in arranged.options if one in _PLACE_ROLES]
    if arranged.name[0] == "breakpoint" and (of_place := _take_place(arranged, words, places)):
        return of_place
    if not (unknown or places) or "all" in unknown:
        return arranged
    listed = (*arranged.command.name.split()[:1], "list")
    return Correction(f"{arranged.command.name} takes an ID of the list", (listed,))


def _take_place(
    arranged: ArrangedWords, words: list[str], places: list[str]
) -> ArrangedWords | None:
    """Take the location of a breakpoint for its number, and drop words that say nothing."""
    if ("+file", ()) in arranged.options and not words:  # LLDB's `breakpoint delete -f`
        return arranged.change(without=places, add=[("--all", ())])
    if places:
        words = list(_take_break_roles(arranged).positionals)
        words += arranged.role_values("+function") if "+line" not in places else []
    is_name = len(words) == 1 and _FUNCTION.match(words[0]) is not None and words[0] != "all"
    is_known = is_name or all(
        one.isdecimal() or is_file_line(one) or is_file_function(one) for one in words
    )
    if not words or not (is_known or "+function" in places):
        return None
    words = [spell_location(one) for one in words]
    if not places and words == list(arranged.positionals):
        return arranged
    return arranged.change(without=places, positionals=words)


def _expand_ids(word: str) -> list[str]:
    """Return the numbers of `1,2`, `1-3`, `#1` and `b1`; the word itself where it has none."""
    if span := re.fullmatch(r"(\d{1,3})-(\d{1,3})", word):
        return [str(one) for one in range(int(span[1]), int(span[2]) + 1)]
    parts = [re.sub(r"\A(?:#|b|bp)(?=\d)", "", one) for one in word.split(",") if one]
    return parts if parts and all(map(str.isdecimal, parts)) else [word]


def _arrange_ids(arranged: ArrangedWords) -> Result:
    words = tuple(one for word in arranged.positionals for one in _expand_ids(word))
    if len(words) < len(("1", "2")) or not all(one.isdecimal() for one in words):
        return _arrange_removal(arranged)
    return Correction("one at a time", tuple((*arranged.name, one) for one in words))


ARGUMENT_FORMS: Final[Mapping[str, Callable[[ArrangedWords], Result]]] = {
    "breakpoint add": lambda arranged: show_values(arranged) or _arrange_break(arranged),
    **dict.fromkeys(("breakpoint enable", "breakpoint disable"), _arrange_ids),
    **dict.fromkeys(
        ("breakpoint remove", "watch remove", "catch remove", "trace remove"), _arrange_removal
    ),
    "catch": _arrange_catch,
    "log": _arrange_log,
    "watch": arrange_watch,
    "source": _arrange_source,
    "backtrace": _arrange_backtrace,
    "frame": _arrange_frame,
    "thread": _arrange_thread,
    "print": arrange_print,
    "eval": arrange_eval,
    "set": _arrange_set,
    "memory read": arrange_memory,
    "disassemble": arrange_disassemble,
    "next": _arrange_count,
    "step": _arrange_step,
    "write": _arrange_write,
    "events": _arrange_kinds,
    "breakpoint change": _arrange_change,
    **dict.fromkeys(("evidence show", "evidence draw"), _arrange_answer),
    "evidence export": _arrange_export,
    **dict.fromkeys(("mcp", "dap"), _arrange_port),
    "up": _arrange_count,
    "down": _arrange_count,
    "continue": _arrange_continue,
    "until": _arrange_until,
    "jump": _arrange_jump,
    "attach": _arrange_attach,
    "registers": arrange_registers,
}
