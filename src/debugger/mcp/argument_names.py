"""Takes a tool's arguments under other names and in other forms, where only one can be meant."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Final

from debugger.cli.translation.location_spelling import split_condition, split_expressions
from debugger.mcp.argument_shapes import reduce_name

# What clients call an argument, by its letters alone: the first of these that the tool has is
# meant. A time-out has no other name: it may be in seconds or in milliseconds.
_MEANINGS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(
        ("cmd", "cmdline", "commandline", "run", "program", "script", "argv"), ("command",)
    ),
    **dict.fromkeys(("executable", "binary", "exe", "app"), ("command", "program")),
    **dict.fromkeys(("test", "tests"), ("command",)),
    "command": ("action", "expression"),
    **dict.fromkeys(("bad", "failing", "failingcommand", "badcommand", "command1"), ("command",)),
    **dict.fromkeys(("new", "after", "commanda", "left"), ("command",)),
    **dict.fromkeys(("goodcommand", "passing", "passingcommand", "command2"), ("versus",)),
    **dict.fromkeys(("old", "before", "commandb", "right"), ("versus",)),
    "runner": ("command",),
    "processname": ("name",),
    **dict.fromkeys(("expr", "variable", "var", "value", "code", "what"), ("expression",)),
    **dict.fromkeys(("query", "predicate", "assert"), ("expression",)),
    **dict.fromkeys(("variables", "question"), ("expression",)),
    **dict.fromkeys(("in", "file", "files"), ("within", "inside", "command")),
    "path": ("command",),
    "framework": ("command",),
    "arguments": ("args",),
    "symbol": ("expression", "function"),
    **dict.fromkeys(
        ("location", "locations", "loc", "where", "place", "breakpoint", "points", "probes"),
        ("at", "around", "function", "breakpoints"),
    ),
    **dict.fromkeys(("condition", "if", "cond", "filter"), ("when",)),
    **dict.fromkeys(("vs", "good", "compare", "against", "other", "baseline"), ("versus",)),
    **dict.fromkeys(("func", "fn", "method", "functionname"), ("function", "each")),
    "function": ("each", "add", "around"),
    "within": ("inside",),
    "name": ("function", "expression"),
    **dict.fromkeys(("corefile", "coredump", "corepath"), ("core",)),
    **dict.fromkeys(("full", "locals", "showlocals"), ("withLocals",)),
    **dict.fromkeys(("first", "max", "maxhits", "count"), ("limit", "maxFrames")),
    "limit": ("maxFrames",),
    **dict.fromkeys(("hit", "nth", "call", "occurrence", "invocation"), ("nth", "hit")),
    **dict.fromkeys(("frame", "frameid", "framenumber"), ("frameIndex",)),
    **dict.fromkeys(("variablesreference", "reference"), ("ref",)),
    **dict.fromkeys(("threadid", "thread"), ("thread", "threadIndex")),
    **dict.fromkeys(("processid", "process"), ("pid",)),
    **dict.fromkeys(("workingdirectory", "workingdir", "workdir", "directory", "dir"), ("cwd",)),
    "debugger": ("adapter",),
    **dict.fromkeys(("address", "url"), ("connect",)),
    "number": ("answer",),
    **dict.fromkeys(("vsstdin", "stdin2", "goodstdin"), ("versusStdin",)),
    "from": ("start",),
    "last": ("limit",),
    **dict.fromkeys(("environment", "envvars"), ("env",)),
    **dict.fromkeys(("invariant", "assertion", "check"), ("expression",)),
    **dict.fromkeys(("depth", "levels", "maxdepth", "frames"), ("maxFrames", "depth")),
    **dict.fromkeys(("set", "change", "assignments"), ("changes",)),
    **dict.fromkeys(("breaks", "stopat"), ("breakpoints",)),
    "breakpoints": ("at",),
    **dict.fromkeys(("id", "evidence", "evidenceid", "answerid"), ("answer",)),
    **dict.fromkeys(("kind", "type", "types", "kinds"), ("eventType", "action")),
    **dict.fromkeys(("step", "direction", "operation"), ("action",)),
    **dict.fromkeys(("functions", "pattern", "patterns"), ("add", "each", "function")),
    "target": ("expression", "function", "program", "command"),
    **dict.fromkeys(("stop", "stoponattach"), ("pause",)),
    **dict.fromkeys(("maxcalls", "maxrows", "maxcount", "maxresults"), ("limit",)),
    **dict.fromkeys(("rununtil", "stopuntil"), ("until",)),
    **dict.fromkeys(("input", "stdinfile"), ("stdin",)),
    **dict.fromkeys(("stoponentry", "pauseonstart", "stopatentry"), ("stopOnEntry",)),
}
# Words of a name that say nothing: `program_path`, `include_locals`, `only_changes`.
_NEEDLESS_WORDS: Final = frozenset(
    {"path", "name", "number", "id", "text", "include", "show", "with", "the", "use", "is", "only",
     "to", "of", "my", "string", "list", "debug", "target"}
)  # fmt: skip
_ARGUMENTS: Final = frozenset(
    {"args", "arguments", "argv", "programargs", "scriptargs", "cmdargs", "test", "tests"}
)
_FILE_ARGUMENTS: Final = frozenset({"file", "path"})  # of a runner of tests
_EXPRESSIONS: Final = (
    "expression", "what", "expressions", "expr", "exprs", "variables", "values", "vars", "watch",
    "watches",
)  # fmt: skip
_SESSIONS: Final = frozenset({"sessionid", "session", "sessionname", "debugsession"})
_LANGUAGES: Final = (
    "python", "node", "javascript", "typescript", "go", "c", "cpp", "c++", "rust",
    "java", "ruby", "php", "cppdbg",
)  # fmt: skip
_NEEDLESS: Final[Mapping[str, tuple[str, ...]]] = {
    "context": ("repl", "watch", "hover", "clipboard", "variables"),
    "scope": ("locals", "local", "all"),
    "format": ("json", "text"),
    "request": ("launch", "attach"),
    "mode": ("debug", "exec", "launch", "auto"),
    "language": _LANGUAGES,
    "lang": _LANGUAGES,
    "type": _LANGUAGES,
}
_FILES: Final = ("file", "filePath", "path", "filename")
_LINES: Final = ("line", "lineNumber", "lineno")
_NEAR: Final = 0.85
_UNIT: Final = "Ms"
_TIMES: Final = frozenset({"seconds", "secs", "ms", "milliseconds", "timeout", "wait", "duration"})
_LEAST_MILLISECONDS: Final = 1000


def rename_arguments(
    given: Mapping[str, Any], known: Sequence[str], pairs: Collection[str]
) -> dict[str, Any]:
    """Return the arguments under the tool's own names, as far as they are clear.

    Args:
        given: The arguments as the client names them.
        known: The names of the tool's arguments.
        pairs: Those that map a location to its expressions.
    """
    given = _split_commands(given, known)
    gathered = _gather_location(_drop_needless(given, known), known, pairs)
    if "connect" in known and "port" in gathered and "port" not in known:
        host = gathered.pop("host", "localhost")
        gathered["connect"] = f"{host}:{gathered.pop('port')}"
    several = next((one for one in ("invariants", "expressions", "expression")
                    if isinstance(gathered.get(one), list)), None)  # fmt: skip
    if "also" in known and several is not None:
        first, *others = gathered.pop(several)
        gathered |= {"expression": first, **({"also": others} if others else {})}
    if "args" in known and isinstance(gathered.get("args"), str):
        gathered["args"] = shlex.split(gathered["args"])
    if "expression" in known and "each" in known and "expression" not in gathered:
        conditions = [one for one in gathered if find_name(one, ("when",)) == "when"]
        if len(conditions) == 1 and find_named(gathered, "expression", known) is None:
            gathered["expression"] = gathered.pop(conditions[0])  # an invariant
    _join_pairs(gathered, known)
    if "args" not in known:
        gathered = _join_program(gathered, known)
    renamed: dict[str, Any] = {}
    for name, value in gathered.items():
        own = name if name in known else find_name(name, known)
        is_free = own is not None and own not in gathered and own not in renamed
        renamed[own if own is not None and (is_free or own == name) else name] = value
    return renamed


def _join_pairs(given: dict[str, Any], known: Sequence[str]) -> None:
    """Join two arguments that are one of the tool's, and turn `why: false` into `noWhy: true`."""
    for name in [*given]:
        if name == "all" and {"allThreads", "withLocals"} <= {*known}:
            given["allThreads"] = given.pop(name)
            continue
        opposite = f"no{name[:1].upper()}{name[1:]}"
        if opposite in known and name not in known and isinstance(given[name], bool):
            given[opposite] = not given.pop(name)
    if "between" in known and {"from", "to"} <= given.keys():
        given["between"] = [given.pop("from"), given.pop("to")]
    if {"changes", "until"} <= {*known} and {"variable", "value"} <= given.keys():
        given["changes"] = [f"{given.pop('variable')}={given.pop('value')}"]
    if {"function", "depth"} <= {*known} and {"file", "function"} <= given.keys():
        given["function"] = f"{given.pop('file')}:{given['function']}"


def _split_commands(given: Mapping[str, Any], known: Sequence[str]) -> Mapping[str, Any]:
    """Take `commands: [A, B]` of a tool that compares two runs for both."""
    pair = given.get("commands")
    if not isinstance(pair, list) or len(pair) != 2:  # noqa: PLR2004 - both runs
        return given
    if "versus" not in known or {"command", "versus"} & given.keys():
        return given
    remaining = {name: one for name, one in given.items() if name != "commands"}
    return {**remaining, "command": pair[0], "versus": pair[1]}


def name_session(given: Mapping[str, Any], known: Sequence[str]) -> dict[str, Any]:
    """Return the arguments with `session_id` or `session` as `sessionId`."""
    return {
        "sessionId" if reduce_name(name) in _SESSIONS and name not in known else name: value
        for name, value in given.items()
    }


def _drop_needless(given: Mapping[str, Any], known: Sequence[str]) -> dict[str, Any]:
    """Return the arguments without those that say nothing here: `context: repl`."""
    return {
        name: value
        for name, value in given.items()
        if name in known or value not in _NEEDLESS.get(reduce_name(name), ())
    }


def find_named(given: Mapping[str, Any], own: str, known: Sequence[str]) -> str | None:
    """Return the argument that stands for one of the tool's; None without one."""
    return next((one for one in given if one == own or find_name(one, known) == own), None)


def find_name(name: str, known: Sequence[str]) -> str | None:
    """Return the tool's own name for one of a client's; None where none or several are near."""
    word = reduce_name(name)
    same = [one for one in known if reduce_name(one) == word]
    meanings = [one for one in _MEANINGS.get(word, ()) if one in known]
    if same or meanings:
        return (*same, *meanings)[0]
    if (shorter := _find_shorter(name, known)) is not None:
        return shorter
    clear = [one for one in known if not one.endswith(_UNIT) or name.endswith(_UNIT)]
    near = [one for one in clear if SequenceMatcher(None, word, reduce_name(one)).ratio() >= _NEAR]
    return near[0] if len(near) == 1 else None


def _find_shorter(name: str, known: Sequence[str]) -> str | None:
    """Return the tool's name for `program_path` or `test_command`: of the words that count."""
    words = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+", name.replace("_", " ").replace("-", " "))
    left = [one.lower() for one in words if one.lower() not in _NEEDLESS_WORDS]
    if len(words) == 1 or not left or any(one in _TIMES for one in left):
        return None
    if len(left) < len(words) and (found := find_name("".join(left), known)) is not None:
        return found
    meanings = {one for word in left for one in known if _is_named(word, one, known)}
    return meanings.pop() if len(meanings) == 1 else None


def _is_named(word: str, own: str, known: Sequence[str]) -> bool:
    near = next((one for one in _MEANINGS.get(word, ()) if one in known), None)
    return reduce_name(own) == word or near == own


def convert_seconds(name: str, value: Any) -> Any:
    """Return the milliseconds of a small number, which a client means as seconds."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    is_seconds = name.endswith(_UNIT) and is_number and value < _LEAST_MILLISECONDS
    return round(value * 1000) if is_seconds else value


def _gather_location(
    given: dict[str, Any], known: Sequence[str], pairs: Collection[str]
) -> dict[str, Any]:
    """Join `file` and `line`, and a location with its expressions."""
    file = _take_first(given, _FILES, known)
    line = _take_first(given, _LINES, known) if file is not None else None
    if file is not None and line is None:
        given["file"] = file
    elif file is not None and "at" in known and "at" not in given:
        given["at"] = f"{file}:{line}"
    elif file is not None and "breakpoints" not in given and "add" not in given:
        given |= {"file": file, "line": line}
    name = next((one for one in given if find_name(one, ("at",)) == "at"), None)
    if name is None and "at" in pairs and "function" not in known:
        name = next((one for one in given if find_name(one, ("function",)) == "function"), None)
    if name is None or "at" not in pairs:
        return _split_place(given, name, known)
    if not isinstance(given[name], str):
        return _pair_places(given, name, known)
    place = given.pop(name)
    condition = split_condition(place)
    if condition is not None and "when" in known and "when" not in given:
        place, given["when"] = condition
    found = split_expressions(place)
    expressions = _take_first(given, _EXPRESSIONS, known)
    if isinstance(expressions, list):
        expressions = ", ".join(map(str, expressions))
    place, text = (place, expressions) if found is None else found
    return {**given, "at": place if text is None else {place: text}}


def _split_place(given: dict[str, Any], name: str | None, known: Sequence[str]) -> dict[str, Any]:
    """Take `at: "f.py:3 if n > 1"` for a location and its condition."""
    place = given.get(name or "")
    condition = split_condition(place) if isinstance(place, str) else None
    if name is None or condition is None or "when" not in known or "when" in given:
        return given
    return {**given, name: condition[0], "when": condition[1]}


def _pair_places(given: dict[str, Any], name: str, known: Sequence[str]) -> dict[str, Any]:
    """Pair several locations with their expressions: lists of both, or objects of each."""
    places = given[name] if isinstance(given[name], list) else [given[name]]
    if isinstance(given[name], dict) and not set(_FILES) & given[name].keys():
        pairs = {place: _join_texts(one) for place, one in given[name].items()}
        return {**{one: given[one] for one in given if one != name}, "at": pairs}
    remaining = {one: value for one, value in given.items() if one != name}
    texts = _take_first(remaining, _EXPRESSIONS, known)
    listed = texts if isinstance(texts, list) and len(texts) == len(places) else None
    pairs = {}
    for index, one in enumerate(places):
        text = listed[index] if listed and len(places) > 1 else _join_texts(texts)
        place = one
        if isinstance(one, list) and len(one) > 1:  # `["f.py:5", "x"]`
            place, text = one[0], _join_texts(one[1:])
        if isinstance(one, str) and (split := split_expressions(one)) is not None:
            place, text = split
        if isinstance(one, dict):
            text = _take_first({**one}, _EXPRESSIONS, ()) or text
            file, line = _take_first({**one}, _FILES, ()), _take_first({**one}, _LINES, ())
            place = f"{file}:{line}" if file else one.get("location") or one.get("at")
        if not isinstance(place, str) or text is None:
            return given
        pairs[place] = _join_texts(text)
    return {**remaining, "at": pairs}


def _join_texts(texts: Any) -> Any:
    return ", ".join(map(str, texts)) if isinstance(texts, list) else texts


def _take_first(given: dict[str, Any], names: Sequence[str], known: Sequence[str]) -> Any:
    """Take the first of these names that is given and that the tool does not have."""
    for name in names:
        if name in given and name not in known:
            return given.pop(name)
    return None


def _join_program(given: dict[str, Any], known: Sequence[str]) -> dict[str, Any]:
    """Join `program` or `command` with `args`, for a tool that takes one command line."""
    name = next((one for one in given if find_name(one, ("command",)) == "command"), None)
    is_test = {"at", "function", "around", "pid"}.isdisjoint(known)
    words = _ARGUMENTS | _FILE_ARGUMENTS if is_test else _ARGUMENTS
    named = next((one for one in given if reduce_name(one) in words and one != name), None)
    args = given[named] if named is not None else None
    if name is None or not isinstance(args, str | list) or not isinstance(given[name], str):
        return given
    remaining = {key: one for key, one in given.items() if key not in {name, named}}
    if isinstance(args, str):
        return {**remaining, "command": f"{given[name]} {args}"}
    return {**remaining, "command": [given[name], *map(str, args)]}
