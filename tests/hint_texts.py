"""Collects the hints of the source, and takes the commands out of one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import debugger
from debugger.cli import command_help, commands
from debugger.cli.reference import GLOBAL_OPTIONS, command_paths, option_flags, option_parameters
from debugger.model.command_registry import COMMANDS, Argument
from source_trees import parse_text

ROOT = Path(debugger.__file__).parent
PLACEHOLDER = "X"
# Where the name of a command may follow.
COMMAND = re.compile(r"\bdebugger (?=[a-z-])([^;,:()`'\"]*)")
_WITH_QUOTES = re.compile(r"\bdebugger (?=[a-z-])((?:'[^']*'|\"[^\"]*\"|\w:\w|[^;,:()`'\"])*)")
_WORD = re.compile(r"(?:'[^']*'|\"[^\"]*\"|[^\s'\"])+")
_IS_ARGUMENT = re.compile(r"--?\w|--\Z|[A-Z]|['\"\d*/…]|\./\w|[\w/]+[:.+]\w")
# Commands whose first argument is a word: `go run`, `cargo test`.
_WITH_VERBS = {"go", "cargo", "uv", "npx"}
_KEYWORDS = {"hint", "remedy", "fix"}


def asks_help(words: Sequence[str]) -> bool:
    """Return whether a command asks for a help page, which there must be.

    A client of its own for each would take most of a second.

    Raises:
        DebuggerError: USAGE for a command that there is not.
    """
    if "--help" not in words:
        return False
    commands.register_all()
    assert command_help.help_text(words, COMMANDS)
    return True


def literal_texts(node: ast.expr, names: Mapping[str, ast.expr] | None = None) -> Iterator[str]:
    """Yield the texts of an expression, a placeholder for each value that is put into one.

    `names` are constants that the expression may name.
    """
    names = names or {}
    parts: list[ast.expr] = []
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=values):
            yield "".join(
                str(one.value) if isinstance(one, ast.Constant) else PLACEHOLDER for one in values
            )
        case ast.IfExp(body=body, orelse=other):
            parts = [body, other]
        case ast.BinOp(left=left, right=right):
            parts = [left, right]
        case ast.BoolOp(values=values) | ast.Dict(values=values) | ast.Tuple(elts=values):
            parts = list(values)
        case ast.Subscript(value=ast.Name(id=name)) | ast.Name(id=name) if name in names:
            parts = [names[name]]
    for one in parts:
        yield from literal_texts(one, names)


@cache
def collect_hints() -> Sequence[tuple[str, int, str]]:
    """Return each text of the source that is a hint: its file, its line and itself."""
    return tuple(_find_hints())


def _find_hints() -> Iterator[tuple[str, int, str]]:
    for path in sorted(ROOT.rglob("*.py")):
        module = parse_text(path.read_text("utf-8"))
        names = dict(module_constants(module))
        for node in ast.walk(module):
            if isinstance(node, ast.keyword) and node.arg in _KEYWORDS:
                for text in literal_texts(node.value, names):
                    yield str(path.relative_to(ROOT)), node.value.lineno, text


def module_constants(module: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in module.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value


def commands_in(hint: str) -> Iterator[str]:
    """Yield the commands that a hint names, without the prose that follows them."""
    commands.register_all()
    known = command_paths(COMMANDS)
    for named in _WITH_QUOTES.findall(hint):
        words = _WORD.findall(named)
        sizes = [size for size in (3, 2, 1) if tuple(words[:size]) in known]
        if not sizes:
            continue
        kept, rest = words[: sizes[0]], words[sizes[0] :]
        every = (*option_parameters(known[tuple(kept)]), *GLOBAL_OPTIONS)
        switches = {flag for one in every if one.type is bool for flag in option_flags(one)} | {
            "--help"
        }
        needed = sum(
            isinstance(one.about, Argument) and one.is_required
            for one in known[tuple(kept)].parameters
        )
        for word in rest:
            is_value = re.match(r"--?\w[^=]*\Z", kept[-1]) and kept[-1] not in switches
            is_needed = len(kept) < sizes[0] + needed
            is_program = kept[-1] == "--" or ("--" in kept and kept[-1] in _WITH_VERBS)
            if not (_IS_ARGUMENT.match(word) or is_value or is_needed or is_program):
                break
            kept.append(word)
        yield " ".join(kept)
