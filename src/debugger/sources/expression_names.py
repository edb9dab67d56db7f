"""Renames the variables in an expression of JavaScript."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

_TOKEN = re.compile(
    r"(?P<blank>\s+|//[^\n]*|/\*.*?\*/)|(?P<string>'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\")"
    r"|(?P<word>[A-Za-z_$][\w$]*)|(?P<other>\d[\w.]*|\?\.(?!\d)|\.\.\.|=>|.)",
    re.DOTALL,
)
_TEMPLATE = re.compile(r"(?:\\.|(?!\$\{)[^`\\])*", re.DOTALL)
_REGEX = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[a-z]*")
# An expression begins behind these: a slash is a regular expression's.
_OPENS = frozenset(["", "(", ",", "=", ":", "[", "!", "&", "|", "?", "{", ";", "+", "=>", "return"])
_PARAMETERS = re.compile(
    r"\((?P<list>[^()]*)\)\s*=>|(?P<one>[A-Za-z_$][\w$]*)\s*=>|\bcatch\s*\((?P<caught>[^()]*)\)"
    r"|(?P<head>[A-Za-z_$][\w$]*)\s*\((?P<parameters>[^()]*)\)\s*\{"
)
_CONTROLS = frozenset({"if", "for", "while", "switch", "with", "catch"})
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_GLOBALS = frozenset(
    (
        *("Array", "BigInt", "Boolean", "Buffer", "Date", "Error", "Infinity", "Intl", "JSON"),
        *("Map", "Math", "NaN", "Number", "Object", "Promise", "Proxy", "RangeError", "Reflect"),
        *("RegExp", "Set", "String", "Symbol", "TypeError", "URL", "WeakMap", "WeakRef", "WeakSet"),
        *("arguments", "console", "decodeURIComponent", "encodeURIComponent", "exports", "global"),
        *("globalThis", "isFinite", "isNaN", "module", "parseFloat", "parseInt", "process"),
        *("require", "structuredClone", "undefined"),
    )
)
KEYWORDS = frozenset(
    (
        *("async", "await", "break", "case", "catch", "class", "const", "continue", "debugger"),
        *("default", "delete", "do", "else", "enum", "export", "extends", "false", "finally"),
        *("for", "function", "if", "import", "in", "instanceof", "interface", "let", "new"),
        *("null", "of", "return", "static", "super", "switch", "this", "throw", "true", "try"),
        *("type", "typeof", "var", "void", "while", "with", "yield"),
    )
)
_OWN_SUFFIX = "$cli"
_READER = "debuggerCliRead"  # a function that reads one variable from outside of an expression


class _VariableUse(Struct, frozen=True):
    """A variable in an expression; a shorthand property has its name, too."""

    name: str
    start: int
    end: int
    is_shorthand: bool


def rename_variables(expression: str, names: Mapping[str, str]) -> str:
    """Replace variables by other expressions; properties, keys and own parameters stay."""
    words = set(_WORD.findall(expression))
    readers: dict[str, str] = {}
    parts, last = [], 0
    for one in _variables(expression):
        other = names.get(one.name, one.name)
        if other == one.name:
            continue
        if other.partition(".")[0] in words:
            # The expression may have a parameter of that name: the variable is read from outside.
            other = readers.setdefault(other, f"{_READER}{len(readers)}") + "()"
        key = f"{one.name}: " if one.is_shorthand else ""
        parts += [expression[last : one.start], key, other]
        last = one.end
    renamed = "".join([*parts, expression[last:]])
    if not readers:
        return renamed
    values = ",".join(f"()=>{other}" for other in readers)
    return f"(({','.join(readers.values())})=>(\n{renamed}\n))({values})"


def mark_own_names(code: str) -> str:
    """Return code whose own variables are called as no program's are.

    Code around an expression of the user's must not hide the variables that it reads.
    """
    own = _own_names(code)
    parts, last = [], 0
    for one in _words(code):
        if one.name in own:
            parts += [code[last : one.end], _OWN_SUFFIX]
            last = one.end
    return "".join([*parts, code[last:]])


def variables_of(expression: str) -> tuple[str, ...]:
    """Return the variables that an expression reads, without those that every program has."""
    every = dict.fromkeys(one.name for one in _variables(expression))
    return tuple(name for name in every if name not in _GLOBALS)


def _variables(text: str) -> Iterator[_VariableUse]:
    own = _own_names(text)
    for one in _words(text):
        if one.name not in own and one.name not in KEYWORDS:
            yield one


def _own_names(text: str) -> set[str]:
    """Return the parameters and variables that an expression declares itself."""
    own: set[str] = set()
    for found in _PARAMETERS.finditer(text):
        if found["head"] not in _CONTROLS:
            own.update(
                _WORD.findall(
                    " ".join(filter(None, found.group("list", "one", "caught", "parameters")))
                )
            )
    symbols = [one[0] for one in _TOKEN.finditer(text) if not one["blank"] and not one["string"]]
    for at, symbol in enumerate(symbols):
        if symbol in {"const", "let", "var"}:
            own.update(_declared_names(symbols[at + 1 :]))
    return own


def _declared_names(symbols: Sequence[str]) -> Iterator[str]:
    """Yield the names of one declaration: each is the first of its part, or within a pattern."""
    depth, is_value = 0, False
    for symbol in symbols:
        if (symbol in {";", "of", "in"} and not depth) or depth < 0:
            return
        depth += (symbol in {"(", "[", "{"}) - (symbol in {")", "]", "}"})
        if symbol in {"=", ","} and not depth:
            is_value = symbol == "="
        elif not is_value and _WORD.fullmatch(symbol):
            yield symbol


def _words(text: str) -> Iterator[_VariableUse]:
    """Yield the words that are no properties, keys or parts of strings."""
    at, before = 0, ""
    opened: list[str] = []  # "{" of an object, "`" of a template's expression, or another bracket
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            return
        symbol, at = found[0], found.end()
        if found["blank"]:
            continue
        if found["word"] and before not in {".", "?.", "#"}:
            is_in_object = opened[-1:] == ["{"] and before in {"{", ","}
            after = text[at:].lstrip()[:1]
            if not (is_in_object and after in {":", "("}):
                is_shorthand = is_in_object and after in {",", "}"}
                yield _VariableUse(symbol, found.start(), at, is_shorthand)
        elif symbol == "`" or (symbol == "}" and opened[-1:] == ["`"]):
            at = _skip_template(text, at, opened, is_begun=symbol == "}")
        elif symbol == "/" and before in _OPENS and (regex := _REGEX.match(text, found.start())):
            at = regex.end()
        elif symbol in {"(", "[", "{"}:
            opened.append("block" if symbol == "{" and before in {")", "=>"} else symbol)
        elif symbol in {")", "]", "}"} and opened:
            opened.pop()
        before = symbol


def _skip_template(text: str, at: int, opened: list[str], *, is_begun: bool) -> int:
    """Skip a template's text, up to its end or to its next expression."""
    if is_begun:
        opened.pop()
    found = _TEMPLATE.match(text, at)
    at = found.end() if found is not None else at
    if text.startswith("${", at):
        opened.append("`")
        return at + 2
    return at + 1
