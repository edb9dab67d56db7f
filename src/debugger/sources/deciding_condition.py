"""Finds the conditions that decide whether a source line runs, and their operands. Pure.

Python is parsed. Of other languages the indentation and the keywords of C decide, which a minified
source does not have.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

_OPERANDS = 5
_LEVELS = 12  # of conditions in conditions
_LENGTH = 200  # characters of a condition
# Calls that change nothing, of the builtins themselves.
_PURE = frozenset({"len", "isinstance", "abs", "min", "max", "bool", "int", "ord", "type"})
_OPAQUE = (ast.Lambda, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)

_HEAD = re.compile(r"(?:\}\s*)?(?:else\s+)?(if|while|switch|for)\b\s*(.*)")
# A `for` of Go with a condition alone; those of other languages have brackets, `in` or `of`.
_GO_WHILE = re.compile(r"(?![({])(?!.*;|.*:=|.*\b(?:in|of|range)\b).*\{\s*")
_ELSE = re.compile(r"(?:\}\s*)?else\b(?!\s+if\b)")
_OWNER = re.compile(r"\bfunction\b|=>\s*\{?$|\bfunc\b|\bfn\b|\bclass\b|\)\s*(?:const\s*)?\{$")
_NO_CODE = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|`(?:\\.|[^`\\])*`|//.*$")
_CHAIN = re.compile(r"(?<![\w$.>])[A-Za-z_$][\w$]*(?:(?:\?\.|\.|->)[A-Za-z_$][\w$]*|\[\w+\])*")
# Before a part of a line: a choice between two values by one name.
_CHOICE = re.compile(
    r"(?:^|(?<![=!<>])=|=>|[(:,\[{]|\breturn\b)\s*"
    r"([A-Za-z_$][\w$]*(?:(?:\?\.|\.|->)[A-Za-z_$][\w$]*)*)\s*\?(?![?.])([^?:]*:)?\s*$"
)
_WORDS = frozenset(
    {"true", "false", "null", "undefined", "nil", "typeof", "instanceof", "in", "of", "new", "let"}
    | {"var", "const", "this", "void", "not", "and", "or", "nullptr", "NULL", "sizeof", "range"}
)
_EFFECTS = re.compile(r"[\w\])]\s*\(|\+\+|--|(?<![=!<>])=(?!=)")


class DecidingCondition(Struct, frozen=True):
    """A condition in front of a line, and the values that it compares."""

    line: int
    # The condition as an expression; empty if it cannot be evaluated again without effects.
    text: str
    operands: tuple[str, ...]
    # Whether the line runs if the condition is true; otherwise if it is false.
    is_met: bool = True
    # The condition as it is written, even if it cannot be evaluated again; "" of a loop or switch.
    written: str = ""


def find_conditions(path: str, source: str, line: int) -> list[DecidingCondition]:
    """Return the conditions around a line in its function, the innermost first."""
    return find_all_conditions(path, source, [line])[line]


def find_part_conditions(path: str, source: str, line: int, column: int) -> list[DecidingCondition]:
    """Return the conditions that decide whether a part of a line runs, which begins at a column.

    What is around the whole line decides nothing there.
    """
    text = source.splitlines()
    before = text[line - 1][: column - 1] if 1 <= line <= len(text) else ""
    choice = _CHOICE.search(before)
    if choice is not None:
        name = choice[1]
        return [DecidingCondition(line, name, (name,), is_met=not choice[2], written=name)]
    return [one for one in find_conditions(path, source, line) if one.line == line]


def find_all_conditions(
    path: str, source: str, lines: Iterable[int]
) -> dict[int, list[DecidingCondition]]:
    """Return the conditions around each of some lines, the innermost first."""
    if not path.endswith((".py", ".pyw")):
        text = source.splitlines()
        return {line: list(_find_by_indentation(text, line))[:_LEVELS] for line in lines}
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return {line: [] for line in lines}
    return {line: _find_in_python(tree, line)[::-1][:_LEVELS] for line in lines}


# -- Python ----------------------------------------------------------------------------------------


def _find_in_python(tree: ast.AST, line: int) -> list[DecidingCondition]:
    """Return the conditions around a line, the outermost first."""
    found: list[DecidingCondition] = []
    node: ast.AST | None = tree
    while node is not None:
        inner = next((one for one in ast.iter_child_nodes(node) if _has_line(one, line)), None)
        if isinstance(inner, _FUNCTIONS):
            found = []
        elif isinstance(inner, ast.stmt):
            found += _conditions_of(inner, line)
        node = inner
    return found


def _has_line(node: ast.AST, line: int) -> bool:
    first = getattr(node, "lineno", 0)
    for one in getattr(node, "decorator_list", []):
        first = min(first, one.lineno)
    children = getattr(node, "body", None) if not first else None
    if children and isinstance(children, list):  # a handler of a match has no line of its own
        return any(_has_line(one, line) for one in children)
    return bool(first <= line <= (getattr(node, "end_lineno", None) or first))


def _conditions_of(node: ast.stmt, line: int) -> Iterator[DecidingCondition]:
    if isinstance(node, ast.If | ast.While):
        text = ast.unparse(node.test) if _is_pure(node.test) else ""
        in_body = any(_has_line(one, line) for one in node.body)
        if in_body or any(_has_line(one, line) for one in node.orelse):
            yield DecidingCondition(
                node.test.lineno,
                text[:_LENGTH],
                _operands(node.test),
                is_met=in_body,
                written=ast.unparse(node.test),
            )
    elif isinstance(node, ast.For | ast.AsyncFor) and any(
        _has_line(one, line) for one in node.body
    ):
        yield DecidingCondition(node.iter.lineno, "", _operands(node.iter))
    elif isinstance(node, ast.Match) and line > node.subject.lineno:
        yield DecidingCondition(node.subject.lineno, "", _operands(node.subject))


def _operands(node: ast.expr) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_walk_operands(node)))[:_OPERANDS]


def _walk_operands(node: ast.AST) -> Iterator[str]:
    """Return the largest parts of an expression that can be read without running code."""
    if isinstance(node, _OPAQUE):
        return
    if isinstance(node, _COMPREHENSIONS):
        yield from _walk_operands(node.generators[0].iter)
    elif isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id == "len" and _is_pure(node):
            yield ast.unparse(node)
            return
        if isinstance(node.func, ast.Attribute):
            yield from _walk_operands(node.func.value)
        for one in (*node.args, *(word.value for word in node.keywords)):
            yield from _walk_operands(one)
    elif isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and _is_pure(node):
        yield ast.unparse(node)
    else:
        for child in ast.iter_child_nodes(node):
            yield from _walk_operands(child)


def _is_pure(node: ast.AST) -> bool:
    for one in ast.walk(node):
        if isinstance(one, (*_OPAQUE, *_COMPREHENSIONS)):
            return False
        if isinstance(one, ast.Call) and not (
            isinstance(one.func, ast.Name) and one.func.id in _PURE
        ):
            return False
    return True


# -- other languages -------------------------------------------------------------------------------


def _find_by_indentation(text: Sequence[str], line: int) -> Iterator[DecidingCondition]:
    if not 1 <= line <= len(text):
        return
    # A statement behind its condition in one line.
    own = _HEAD.match(text[line - 1].strip())
    if own is not None and own[1] != "for" and not text[line - 1].rstrip().endswith("{"):
        yield _braced_condition(line, own, is_met=True)
    depth, is_met = indent_width(text[line - 1]), True
    for number in range(line - 1, 0, -1):
        words = text[number - 1]
        plain = words.strip()
        if not plain or indent_width(words) > depth or (is_met and indent_width(words) == depth):
            continue
        head = _HEAD.match(plain)
        if head is not None:
            yield _braced_condition(number, head, is_met=is_met)
            # Behind an `else if`, the conditions before it were false.
            depth, is_met = indent_width(words), "else" not in plain.partition("if")[0]
        elif _ELSE.match(plain):
            depth, is_met = indent_width(words), False
        elif _OWNER.search(_NO_CODE.sub("", plain).strip()):
            return
        elif indent_width(words) < depth:
            depth, is_met = indent_width(words), True


def indent_width(words: str) -> int:
    """Return the columns of a line's indentation."""
    wide = words.expandtabs(4)
    return len(wide) - len(wide.lstrip())


def _braced_condition(line: int, head: re.Match[str], *, is_met: bool) -> DecidingCondition:
    text = _condition_text(head[2])
    written = text
    if head[1] == "switch" or (head[1] == "for" and not _GO_WHILE.fullmatch(head[2])):
        operands, text, written = _braced_operands(head[2] if head[1] == "for" else text), "", ""
    else:
        operands = _braced_operands(text)
    if _EFFECTS.search(_NO_CODE.sub('""', text)):
        text = ""
    return DecidingCondition(line, text[:_LENGTH], operands, is_met, written)


def _condition_text(rest: str) -> str:
    """Return what is between the first brackets, or before the brace, as Go and Rust have it."""
    rest = rest.strip()
    if not rest.startswith("("):
        return rest.rpartition("{")[0].rpartition(";")[2].strip()
    depth = 0
    for at, letter in enumerate(rest):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            # `(a) && (b) {` of Go is not all in the first brackets.
            after = rest[at + 1 :].strip()
            is_go = after.endswith("{") and after[:1] in {"&", "|", "=", "!", "<", ">"}
            return rest.rpartition("{")[0].strip() if is_go else rest[1:at].strip()
    return ""


def _braced_operands(text: str) -> tuple[str, ...]:
    plain = _NO_CODE.sub(" ", text)
    found = []
    for one in _CHAIN.finditer(plain):
        chain, after = one[0], plain[one.end() :].lstrip()
        if after.startswith("("):
            chain = re.sub(r"(?:^|(?:\?\.|\.|->))[\w$]+\Z", "", chain)
        if chain and chain not in _WORDS:
            found.append(chain)
    return tuple(dict.fromkeys(found))[:_OPERANDS]
