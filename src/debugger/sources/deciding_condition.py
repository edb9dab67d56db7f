"""Finds the conditions that decide whether a source line runs, and their operands. Pure.

Python is parsed. Of other languages the indentation and the keywords of C decide, which a minified
source does not have.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from msgspec import Struct

from debugger.sources.condition_text import blank_texts

_PARSED = 8  # sources that are kept
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
# The line before a function's own opening bracket, in the style that gives this a line.
_FUNCTION_HEAD = re.compile(
    r"(?!(?:if|for|while|switch|do|else|try|catch|return)\b)[\w:~<>,*&\s]+\(.*\)[\w\s]*"
)
# A place that a `goto` leads to: what stands before it decides nothing.
_LABEL = re.compile(r"(?!(?:default|public|private|protected)\b)[A-Za-z_]\w*:")
# A statement that leaves its block: at the beginning of a line, or behind a condition.
_LEAVES = re.compile(r"(?:return|continue|break|throw|raise|goto|panic)\b")
_LEAVES_AT_ONCE = re.compile(r"[{)]\s*(?:return|continue|break|throw|goto|panic)\b")
_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_NEAR = 40  # lines before a line, in which a way out of its block is looked for
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
    tree = _parse(source)
    return {line: _find_in_python(tree, line)[::-1][:_LEVELS] for line in lines}


def find_reaching(path: str, source: str, line: int) -> list[DecidingCondition]:
    """Return the conditions by which a line is reached, the innermost first.

    These are the conditions around it, and last the nearest one before it in its block that would
    have left the block. A loop and a switch are none.
    """
    if path.endswith((".py", ".pyw")):
        tree = _parse(source)
        around, passed = _find_in_python(tree, line)[::-1], _find_exit_in_python(tree, line)
    else:
        text = source.splitlines()
        around = list(_find_by_indentation(text, line))
        passed = _find_exit_by_indentation(text, line)
    every = [*(one for one in around[:_LEVELS] if one.written), *filter(None, [passed])]
    return list({one.line: one for one in every if one.line < line}.values())


def find_skipped(path: str, source: str, name: str, span: range) -> list[DecidingCondition]:
    """Return the conditions by which other assignments to a name were left out, the last first.

    A condition counts whose block leads on to the reading line, so that it was evaluated.

    Args:
        path: The source's file; only Python is understood.
        source: Its text.
        name: A variable.
        span: From the line that assigned it to the line that then read it.
    """
    if not path.endswith((".py", ".pyw")):
        return []
    found = [
        _python_condition(node.test, is_met=not _assigns(node.body, name))
        for block in _enclosing_blocks(_parse(source), span.stop)
        for node in block
        if isinstance(node, ast.If)
        and span.start < node.lineno
        and (node.end_lineno or node.lineno) < span.stop
        and _assigns(node.body, name) is not _assigns(node.orelse, name)
    ]
    return sorted(found, key=lambda one: -one.line)


def _enclosing_blocks(tree: ast.Module, line: int) -> Iterator[list[ast.stmt]]:
    """Yield the lists of statements of which one contains a line."""
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and any(_contains(one, line) for one in block):
                yield block


def _contains(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _assigns(body: Iterable[ast.stmt], name: str) -> bool:
    """Return whether statements surely assign to a name: what is in an inner block may not run."""
    return any(
        isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Store)
        for statement in body
        if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign)
        for one in ast.walk(statement)
    )


# -- Python ----------------------------------------------------------------------------------------


@lru_cache(maxsize=_PARSED)
def _parse(source: str) -> ast.Module:
    """Parse a source; one that is no Python has no statements.

    The links of a chain, and the lines of a test, are often of a few files.
    """
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])


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


def _find_exit_in_python(tree: ast.AST, line: int) -> DecidingCondition | None:
    """Return the nearest condition before a line that would have left its block."""
    found: DecidingCondition | None = None
    node: ast.AST | None = tree
    while node is not None:
        inner: ast.AST | None = None
        if isinstance(node, _FUNCTIONS):
            found = None
        for one in ast.iter_child_nodes(node):
            if _has_line(one, line):
                inner = one
                break
            if isinstance(one, ast.If) and not one.orelse and isinstance(one.body[-1], _LEAVING):
                found = _python_condition(one.test, is_met=False)
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
        in_body = any(_has_line(one, line) for one in node.body)
        if in_body or any(_has_line(one, line) for one in node.orelse):
            yield _python_condition(node.test, is_met=in_body)
    elif isinstance(node, ast.For | ast.AsyncFor) and any(
        _has_line(one, line) for one in node.body
    ):
        yield DecidingCondition(node.iter.lineno, "", _operands(node.iter))
    elif isinstance(node, ast.Match) and line > node.subject.lineno:
        yield DecidingCondition(node.subject.lineno, "", _operands(node.subject))


def _python_condition(test: ast.expr, *, is_met: bool) -> DecidingCondition:
    text = ast.unparse(test)
    plain = text[:_LENGTH] if _is_pure(test) else ""
    return DecidingCondition(test.lineno, plain, _operands(test), is_met=is_met, written=text)


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
        if plain == "{" and _opens_function(text, number):
            return
        if (
            plain in {"", "{"}
            or indent_width(words) > depth
            or (is_met and indent_width(words) == depth)
        ):
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


def _find_exit_by_indentation(text: Sequence[str], line: int) -> DecidingCondition | None:
    """Return the nearest condition before a line that would have left its block."""
    if not 1 <= line <= len(text):
        return None
    depth, inner = indent_width(text[line - 1]), ""
    for number in range(line - 1, max(line - 1 - _NEAR, 0), -1):
        plain = _NO_CODE.sub('""', text[number - 1]).strip()
        width = indent_width(text[number - 1])
        if _LABEL.fullmatch(plain) or (plain == "{" and _opens_function(text, number)):
            return None
        if not plain.strip("{}"):
            continue
        if width > depth:
            inner = inner or plain
            continue
        head = _HEAD.match(plain)
        if width == depth and head is not None and head[0].startswith("if"):
            if _LEAVES.match(inner) or (not inner and _LEAVES_AT_ONCE.search(plain)):
                # With its texts: `kind == "a"` is another condition than `kind == ""`.
                full_head = _HEAD.match(text[number - 1].strip())
                return _braced_condition(number, full_head or head, is_met=False)
        elif width < depth and head is None and _OWNER.search(plain):
            return None
        depth, inner = width, ""
    return None


def _opens_function(text: Sequence[str], number: int) -> bool:
    """Return whether a bracket on a line of its own is that of a function."""
    if not indent_width(text[number - 1]):
        return True
    head = next((one for one in reversed(text[: number - 1]) if one.strip()), "")
    is_beside = indent_width(head) == indent_width(text[number - 1])
    return is_beside and _FUNCTION_HEAD.fullmatch(head.strip()) is not None


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
    plain = blank_texts(rest)
    if not rest.startswith("("):
        end = plain.rfind("{")
        return rest[plain.rfind(";", 0, max(end, 0)) + 1 : end].strip() if end >= 0 else ""
    depth = 0
    for at, letter in enumerate(plain):
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
