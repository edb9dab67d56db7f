"""Finds the statements of PHP sources that name a variable, and the code that records it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

_EXPRESSION = re.compile(
    r"(?:(?P<owner>.+?)(?P<operator>\?->|->|::\$)|\$)(?P<name>\w+)(?P<keys>(?:\[[^\[\]]*\])*)",
    re.DOTALL,
)
# What can be evaluated before the statement without doing anything: no calls.
_OWNER = r"(?:\$\w+|[\w\\]+)(?:(?:\??->|::\$)\w+|\[[^\[\]()]*\])*"
_ASSIGNED = re.compile(
    r"(?:\[[^\[\]]*\]|->\w+)*\s*(?:=(?![=>])|(?:[-+/.%&|^]|\*\*?|<<|>>|\?\?)=|\+\+|--)"
)
_BEFORE = re.compile(
    r"(?:\+\+|--|&\s*|\bas\s+(?:&?\s*[$\w]+\s*=>\s*)?&?\s*|\bas\s+&?|\b(?:global|static|unset|catch)\b[^;{]*)\Z"
)
_DESTRUCTURED = re.compile(r"(?:\blist\s*\(|\[)(?:[^=]|=>)*\Z")
_DESTRUCTURING = re.compile(r"(?:[^=]|=>)*[\])]\s*=(?![=>])")
_PASSED = re.compile(
    r"\b(?!(?:if|elseif|while|for|foreach|switch|match|isset|empty|fn|function|array)\b)\w+"
    r"\s*\([^()]*\Z"
)
_LOOP = re.compile(r"\b(?:foreach|for|while)\b")
_FUNCTION = re.compile(r"\bfunction\b")
_SIGNATURE = re.compile(r"\bfunction\b[^{]*\Z|\bfunction\b[^{]*\{\s*\Z")
_COMMENT = re.compile(r"^\s*(?://|#(?!\[)|\*|/\*)")
_LINE_END = re.compile(r"[;{}:]\s*(?:(?://|#).*)?\Z|<\?php\s*\Z")
_STATEMENT_LINES = 12  # of one statement, at most


class PhpVariable(Struct, frozen=True):
    """What an expression names: a local or global, a property, a static property, or a part of it.

    `owner` is the object or the class, `keys` the subscripts behind the name.
    """

    name: str
    operator: str = ""
    owner: str = ""
    keys: str = ""


class NamingLine(Struct, frozen=True):
    """A statement that names the variable: where it begins, and how to read the value there."""

    file: str
    line: int
    owner: str  # the object's expression; nothing for a local, or a static property
    value: str
    may_write: bool
    in_global_scope: bool = False  # its function names the global variable
    is_loop: bool = False


class PhpReference(Struct, frozen=True):
    """Another name that a function gave the variable by `&`, and how to read the variable there."""

    name: str
    value: str
    owner: str

    def find_names(self, line: str) -> list[re.Match[str]]:
        """Return where a line has the name."""
        return list(re.finditer(rf"(?<![\w$>:])\${re.escape(self.name)}\b", line))


def parse_variable(expression: str) -> PhpVariable | None:
    """Parse an expression that can be written; None for any other."""
    match = _EXPRESSION.fullmatch(expression.strip())
    if match is None:
        return None
    return PhpVariable(match["name"], match["operator"] or "", match["owner"] or "", match["keys"])


def find_naming_lines(file: str, text: str, variable: PhpVariable) -> Iterator[NamingLine]:
    """Yield the statements of a source that name a variable."""
    name = re.escape(variable.name)
    if variable.operator == "::$":
        pattern = re.compile(rf"(?P<owner>[\w\\]+)::\${name}\b(?!\s*\()")
    elif variable.operator:
        pattern = re.compile(rf"(?P<owner>{_OWNER})\??->{name}\b(?!\s*\()")
    else:
        pattern = re.compile(rf"(?<![\w$>:])\${name}\b|\$GLOBALS\[['\"]{name}['\"]\]")
    global_name = re.compile(rf"\bglobal\b[^;]*\${name}\b|\$GLOBALS\[['\"]{name}['\"]\]")
    bound = _reference_pattern(pattern)
    lines = text.splitlines()
    is_global = is_in_signature = False
    reference: PhpReference | None = None
    for number, line in enumerate(lines, 1):
        if _FUNCTION.search(line):
            is_global, reference = False, None
            is_in_signature = _SIGNATURE.search(line) is not None
        if not variable.operator and global_name.search(line):
            is_global = True
        was_in_signature = is_in_signature
        is_in_signature = is_in_signature and not re.search(r"[{;]", line)
        if was_in_signature or _COMMENT.match(line):
            continue
        found, owner, value = _find_on_line(line, pattern, variable, reference)
        binding = bound.search(line) if found else None
        if binding is not None:
            reference = PhpReference(binding["item"] or binding["name"], value, owner)
        if not found:
            continue
        yield NamingLine(
            file=file,
            line=_statement_start(lines, number),
            owner=owner if variable.operator != "::$" else "",
            value=f"{value}{variable.keys}",
            may_write=any(_may_write(line, one) for one in found),
            in_global_scope=is_global,
            is_loop=_LOOP.search(line) is not None,
        )


def _reference_pattern(pattern: re.Pattern[str]) -> re.Pattern[str]:
    """Return a pattern of what makes another name a reference to a variable, or to a part of it."""
    named = pattern.pattern.replace("?P<owner>", "")
    return re.compile(
        rf"\bforeach\s*\(\s*(?:{named})\S*\s+as\s+(?:\$\w+\s*=>\s*)?&\s*\$(?P<item>\w+)"
        rf"|\$(?P<name>\w+)\s*=\s*&\s*(?:{named})"
    )


def _find_on_line(
    line: str, pattern: re.Pattern[str], variable: PhpVariable, reference: PhpReference | None
) -> tuple[list[re.Match[str]], str, str]:
    """Return where a line names a variable, the object there, and how to read the value."""
    found = list(pattern.finditer(line))
    if not found and reference is not None:
        return reference.find_names(line), reference.owner, reference.value
    if not found:
        return [], "", ""
    match = next((one for one in found if _may_write(line, one)), found[0])
    value = match[0] if variable.operator else f"${variable.name}"
    return found, match.groupdict().get("owner") or "", value


def _may_write(line: str, match: re.Match[str]) -> bool:
    before, after = line[: match.start()], line[match.end() :]
    if _ASSIGNED.match(after) or _BEFORE.search(before) or _PASSED.search(before):
        return True
    return bool(_DESTRUCTURED.search(before) and _DESTRUCTURING.match(after))


def _statement_start(lines: list[str], number: int) -> int:
    """Return the line at which the statement of a line begins."""
    first = max(1, number - _STATEMENT_LINES)
    for at in range(number, first, -1):
        above = lines[at - 2]
        if not above.strip() or _LINE_END.search(above) or _COMMENT.match(above):
            return at
    return number


# A variable of each call, which tells it from the others.
_CALL = "$debugger_call ??= $GLOBALS['debugger_calls'] = ($GLOBALS['debugger_calls'] ?? 0) + 1"
RECORDER = Path(__file__).with_name("php_recorder.php")


def _quote_text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def recording_code(number: int, variable: PhpVariable, line: NamingLine, path: str) -> str:
    """Return an expression that records the value before a statement, in a file; it is false.

    A number below zero marks the place that is asked about.
    """
    define = f"(function_exists('debugger_write') || require {_quote_text(str(RECORDER))})"
    outer = ""
    if not variable.operator:
        owner = _CALL
        outer = f", fn() => $GLOBALS['{variable.name}']{variable.keys} ?? null"
    else:
        owner = f"{line.owner} ?? null" if line.owner else "0"
    value = f"fn() => {line.value} ?? null"
    if line.owner:
        value = f"fn() => debugger_part({line.owner}, '{variable.name}'){variable.keys} ?? null"
    return f"{define} && debugger_write({_quote_text(path)}, {number}, {owner}, {value}{outer})"
