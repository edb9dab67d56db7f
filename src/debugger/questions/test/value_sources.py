"""Finds the lines that made the values of a failed assertion. Pure, but for reading source."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec import Struct

from debugger.model import answers
from debugger.model.statement import join_statement, parse_reads
from debugger.model.text_filters import clip_text
from debugger.questions.runner.answer import ValueOrigin
from debugger.questions.test.answer import MadeView
from debugger.questions.why.answer import LinkCertainty
from debugger.recorders.test_failures import (
    ChangedInPlace,
    FailedFrame,
    FailureLine,
    LineCall,
    NameBinding,
)
from debugger.session import source_files

_LINES_MAX = 200  # lines above that are searched
_MADE_MAX = 8  # lines that made a value
_MADE_BY = "made by "
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
# What stands left of an `=` that assigns; Go has `:=`, and all have `+=` and its like.
_ASSIGNED = re.compile(
    r"^(?P<left>[^=!<>\"'`]*?)(?P<how>:=|(?:<<|>>|[-+*/%&|^])?=)(?![=>])(?P<right>.*)$"
)
_LOOP = re.compile(r"^(?:async )?for\s*\(?(?P<left>.*?)\s(?:in|of)\s(?P<right>.*)$")
_DECLARING = frozenset(
    re.findall(
        r"\w+",
        "let const var mut auto int long short char bool float double unsigned signed static "
        "size_t std string struct final constexpr ref",
    )
)


class SourceStatement(Struct, frozen=True):
    """A line, its statement, and the wanted names that it assigns."""

    line: int
    text: str
    names: tuple[str, ...]


def root_names(text: str, *, hash_comments: bool = False) -> list[str]:
    """Return the names that a statement reads, without fields and attributes."""
    read = parse_reads(text, hash_comments=hash_comments)
    found = [*read.operands, *(one.base for one in read.accesses)]
    names = [match[0] for one in found if (match := _NAME.match(one))]
    return [one for one in dict.fromkeys(names) if one not in _DECLARING]


def assigned_from(text: str, *, hash_comments: bool = False) -> list[str]:
    """Return the names that an assignment reads; `x += y` reads both."""
    assigned = _LOOP.match(text.strip()) or _ASSIGNED.match(text.strip())
    if assigned is None:
        return root_names(text, hash_comments=hash_comments)
    is_plain = assigned.re is _LOOP or assigned["how"] in {"=", ":="}
    operands = assigned["right"] if is_plain else f"{assigned['left']} , {assigned['right']}"
    return root_names(operands, hash_comments=hash_comments)


def assigned_names(text: str) -> list[str]:
    """Return the names that a line assigns, by its text; `a.b = c` assigns a."""
    assigned = _LOOP.match(text.strip()) or _ASSIGNED.match(text.strip())
    if assigned is None or "(" in re.sub(r"\([^()]*\)", "", assigned["left"]):
        return []
    target = re.sub(r"\[[^\]]*\]|<[^<>]*>|::\w+|[.][\w$]+|->\w+", "", assigned["left"])
    names = _NAME.findall(target.partition(":")[0] or target)
    # Of a declaration `T name` the last word is the name; without a comma only that one is.
    chosen = names if "," in target else names[-1:]
    return [one for one in chosen if one not in _DECLARING]


def find_value_sources(
    lines: Sequence[str], at: int, requested: Collection[str], *, hash_comments: bool = False
) -> list[SourceStatement]:
    """Return the lines above line `at` that make the wanted names, and the names those read.

    The search ends at a line with less indentation than the function's body.
    """
    missing = set(requested)
    found: list[SourceStatement] = []
    if not 1 <= at <= len(lines):
        return found
    indent = _indent_width(lines[at - 1])
    for number in range(at - 1, max(at - _LINES_MAX, 0), -1):
        line = lines[number - 1]
        if not line.strip():
            continue
        if _indent_width(line) == 0 and indent > 0 and not line.strip().startswith((")", "#")):
            break
        names = [one for one in assigned_names(line) if one in missing]
        if not names:
            continue
        text = join_statement(lines[number - 1 : number + 4], hash_comments=hash_comments)
        found.append(SourceStatement(number, text, tuple(dict.fromkeys(names))))
        missing -= set(names)
        missing |= set(assigned_from(text, hash_comments=hash_comments))
        if len(found) == _MADE_MAX or not missing:
            break
    return found[::-1]


def choose_origin(
    name: str, value: str | None, made: Sequence[MadeView], certainty: LinkCertainty
) -> ValueOrigin | None:
    """Return which of the lines that made values was the last to make this one.

    Args:
        name: The expression of the assertion; "" if none is known.
        value: Its value.
        made: The lines, in their order.
        certainty: Whether the lines were recorded, or found in the source.
    """
    if not name:
        return None
    root = match[0] if (match := _NAME.match(name)) else name
    own = [one for one in made if one.depth == 0 and _makes(one, root)]
    if not own or name.endswith(")"):  # no assignment makes what a call returned
        return ValueOrigin(name, value)
    return ValueOrigin(
        name,
        value,
        text=f"{_MADE_BY}{own[-1].call}" if own[-1].call is not None else f"assigned to {root}",
        certainty=certainty.value,
        frame=own[-1].frame,
        statement=own[-1].text,
        links=1,
    )


def is_open(origin: ValueOrigin | None) -> bool:
    """Return whether an origin ends without a line, or at a call whose own lines are not known."""
    if origin is None or not origin.text:
        return True
    assigned = _ASSIGNED.match(origin.statement)
    is_call = assigned is not None and "(" in assigned["right"]
    return is_call and not origin.text.startswith(_MADE_BY)


def _makes(view: MadeView, name: str) -> bool:
    named = any(match[0] == name for one in view.values if (match := _NAME.match(one.name)))
    return named or name in assigned_names(view.text)


def _indent_width(line: str) -> int:
    return len(line) - len(line.lstrip())


_OPENS = ("for ", "if ", "while ", "with ", "async for ", "async with ", "elif ")
Paths = Mapping[str, frozenset[str]]


def read_paths(text: str, *, is_assigned: bool = False) -> dict[str, frozenset[str]]:
    """Return by name the paths that a statement reads: "" is the value as a whole.

    With `is_assigned` only the assigned expression of an assignment counts: both of `x += y`.
    """
    tree = _parse_statement(text)
    if tree is None:
        found = (assigned_from if is_assigned else root_names)(text, hash_comments=True)
        return {name: frozenset({""}) for name in found}
    read: dict[str, set[str]] = {}
    for name, path in _read_paths(tree, is_assigned=is_assigned):
        read.setdefault(name, set()).add(path)
    return {name: frozenset(paths) for name, paths in read.items()}


def paths_overlap(one: str, other: str) -> bool:
    """Return whether one path is, or contains, the other."""
    short, long = sorted((one, other), key=len)
    return long.startswith(short) and long[len(short) :][:1] in {"", ".", "["}


def _parse_statement(text: str) -> ast.stmt | None:
    text = text.strip()
    if text.startswith("elif "):
        text = text[2:]
    if text.startswith(("@", "def ", "class ", "async def ")):
        return None
    if text.startswith(_OPENS) and text.endswith(":"):
        text += " pass"
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError):
        return None
    return body[0] if len(body) == 1 else None


def _read_paths(tree: ast.stmt, *, is_assigned: bool) -> Iterator[tuple[str, str]]:
    match tree:
        case ast.Assign() | ast.AnnAssign() if is_assigned:
            targets = tree.targets if isinstance(tree, ast.Assign) else [tree.target]
            yield from (one for target in targets for one in _target_reads(target))
            if tree.value is not None:
                yield from _name_chains(tree.value, frozenset())
        case ast.AugAssign():
            target = ast.parse(ast.unparse(tree.target), mode="eval").body
            yield from _name_chains(target, frozenset())
            yield from _name_chains(tree.value, frozenset())
        case ast.For() | ast.AsyncFor():
            yield from _name_chains(tree.iter, frozenset())
        case ast.If() | ast.While():
            yield from _name_chains(tree.test, frozenset())
        case ast.With() | ast.AsyncWith():
            for item in tree.items:
                yield from _name_chains(item.context_expr, frozenset())
        case ast.Assert():
            yield from _name_chains(tree.test, frozenset())
        case _:
            yield from _name_chains(tree, frozenset())


def _target_reads(target: ast.expr) -> Iterator[tuple[str, str]]:
    """Yield the names read to evaluate an assignment's target, such as an item's key."""
    for node in ast.walk(target):
        if isinstance(node, ast.Subscript):
            yield from _name_chains(node.slice, frozenset())


def _name_chains(node: ast.AST, bound: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield the read names, each with its longest constant path."""
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            if name not in bound:
                yield name, ""
        case ast.Attribute() | ast.Subscript():
            yield from _longest_path(node, bound)
        case ast.Call(func=ast.Attribute(value=owner, attr=method)):
            if not method.startswith("assert"):  # those of unittest read nothing of the test
                yield from _name_chains(owner, bound)
            for one in (*node.args, *node.keywords):
                yield from _name_chains(one, bound)
        case _:
            inner = bound | _bound_within(node)
            for one in ast.iter_child_nodes(node):
                yield from _name_chains(one, inner)


def _bound_within(node: ast.AST) -> frozenset[str]:
    """Return the names that a comprehension or a lambda binds."""
    match node:
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            targets = [name for one in node.generators for name in ast.walk(one.target)]
            return frozenset(one.id for one in targets if isinstance(one, ast.Name))
        case ast.Lambda(args=arguments):
            return frozenset(one.arg for one in (*arguments.args, *arguments.kwonlyargs))
    return frozenset()


def _longest_path(node: ast.expr, bound: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Return the path of fields and constant keys; anything beyond another key is unknown."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute):
            parts.insert(0, f".{node.attr}")
        elif isinstance(node.slice, ast.Constant):
            parts.insert(0, f"[{node.slice.value!r}]")
        else:
            parts.clear()
            yield from _name_chains(node.slice, bound)
        node = node.value
    if isinstance(node, ast.Name):
        if node.id not in bound and isinstance(node.ctx, ast.Load):
            yield node.id, "".join(parts)
    else:
        yield from _name_chains(node, bound)


_OF_A_CALL = 7  # lines of one call
_IN_ALL = 30  # lines of one answer
_SHOWN = 5  # lines of a statement that are shown
_STATEMENT = 40  # lines of a statement that are read
# What a runner's explanation of an assertion calls, after it has failed.
_WRITTEN = re.compile(r"\.__(?:repr|str|format)__$")
_WRITES = re.compile(r"""\b(?:repr|str|format|print|ascii)\(|\bf["']|\.format\(|%""")
_VALUE = 100  # characters
_CALL = 160  # characters
_ARGUMENT = 40  # characters
_NOTHING = "None"
_KEY = re.compile(r"\.\w+|\[[^\]]*\]")
Key = tuple[int, str]


def text_at(file: str, line: int, *, most: int = _SHOWN) -> str:
    """Return the statement that begins at a line, of at most this many lines."""
    known = source_files.read_source(file)
    if known is None or not 1 <= line <= len(known):
        return ""
    return join_statement(known[line - 1 : line - 1 + most], hash_comments=True, most=most)


class ValueLines(Struct, frozen=True):
    """The lines that made the values of a statement, in order."""

    views: tuple[MadeView, ...] = ()
    # The number of earlier lines that are not included.
    omitted: int = 0
    # Calls whose lines were not recorded.
    without_lines: tuple[LineCall, ...] = ()
    # Paths that the statement reads and that no recorded line made.
    unexplained: tuple[str, ...] = ()


def find_value_lines(frame: FailedFrame, setup: Sequence[LineCall] = ()) -> ValueLines:
    """Return the lines that made the values of a frame's last statement."""
    cut: list[LineCall] = []
    read = read_paths(text_at(frame.file, frame.line, most=_STATEMENT))
    flow = _DataFlow(frame.function, frame.file, 0, cut)
    flow.add_reads(read)
    views = flow.follow_steps(frame.steps, frame.line)
    views = [*_setup_views(setup, flow.unresolved(), frame.idents, cut), *views]
    known = {name for name, _ in frame.locals}
    return ValueLines(
        tuple(views[-_IN_ALL:]),
        max(len(views) - _IN_ALL, 0),
        tuple(cut),
        () if views else tuple(_read_expressions(read, known)),
    )


def _read_expressions(read: Paths, known: set[str]) -> Iterator[str]:
    return (f"{name}{path}" for name in read if name in known for path in sorted(read[name]))


def _setup_views(
    setup: Sequence[LineCall],
    paths: Mapping[str, Iterable[str]],
    idents: Sequence[tuple[str, int]],
    cut: list[LineCall],
) -> list[MadeView]:
    """Return the lines of fixtures and setup methods that made the test's values."""
    found: list[list[MadeView]] = []
    objects = {ident: name for name, ident in idents if name in paths}
    for gave in reversed(setup):
        name = objects.get(gave.ident)
        if name is None and gave.value != _NOTHING:  # a number, or the like: by the fixture's name
            function = gave.function.rpartition(".")[2]
            name = function if function in paths else None
        given = {one: paths[objects[ident]] for one, ident in gave.idents if ident in objects}
        part = _callee_lines(gave, 1, set(), cut, needs_value=name is not None, given=given)
        if part:
            found.append(part)
    return [view for part in reversed(found) for view in part]


class _DataFlow:
    """The unresolved part of one call's data flow: paths of names, and object changes by key."""

    def __init__(
        self, function: str, file: str, depth: int, cut: list[LineCall], keys: Iterable[Key] = ()
    ) -> None:
        self._function = function
        self._file = file
        self._depth = depth
        self._cut = cut
        self._paths: dict[str, set[str]] = {}
        self._keys = set(keys)

    def unresolved(self) -> dict[str, set[str]]:
        """Return the paths without a known line."""
        return self._paths

    def add_reads(self, paths: Mapping[str, Iterable[str]], *, without: Iterable[str] = ()) -> None:
        """Add paths to resolve."""
        for name, some in paths.items():
            if name not in without:
                self._paths.setdefault(name, set()).update(some)

    def follow_steps(
        self, steps: Sequence[FailureLine], last: int, *, needs_value: bool = True
    ) -> list[MadeView]:
        """Search the lines of the call backwards; return the found ones in their order.

        `last` is the returning line, if its value is to be resolved.
        """
        found: list[list[MadeView]] = []
        # Backwards: a line's own reads become the paths to resolve in the lines before it.
        for at, one in enumerate(reversed(steps)):
            is_last = at == 0 and one.line == last
            part = self._follow_line(one, is_last=is_last, needs_value=is_last and needs_value)
            if part:
                found.append(part)
            if len(found) == _OF_A_CALL:
                break
        return [view for part in reversed(found) for view in part]

    def _follow_line(
        self, step: FailureLine, *, is_last: bool, needs_value: bool
    ) -> list[MadeView]:
        bound = [one for one in step.bound if one.name in self._paths]
        changed = [one for one in step.changed if self._is_read(one)]
        if not bound and not changed and not is_last:
            return []
        text = text_at(self._file, step.line)
        keys = {(one.holder, one.key) for one in changed}
        # What a new object got as it was made is a change of that object.
        keys |= {
            (one.ident, match[0])
            for one in bound
            for path in self._paths[one.name]
            if (match := _KEY.match(path))
        }
        needs_value = needs_value or bool(bound)
        views = [
            view
            for gave in step.gave
            if not (is_last and _WRITTEN.search(gave.function)) or _WRITES.search(text)
            for view in _callee_lines(
                gave, self._depth + 1, keys, self._cut, needs_value=needs_value
            )
        ]
        if bound or changed:
            values = [answers.VariableView(one.name, clip_text(one.value, _VALUE)) for one in bound]
            values += [_change_view(one) for one in changed]
            # What a call gave stands before what was made of it.
            views.append(MadeView(self._frame_view(step.line), text, tuple(values), self._depth))
            read = text_at(self._file, step.line, most=_STATEMENT)
            self._follow_sources(read, bound, changed)
        return views

    def _is_read(self, change: ChangedInPlace) -> bool:
        if (change.holder, change.key) in self._keys:
            return True
        paths = self._paths.get(change.name)
        return paths is not None and any(paths_overlap(change.path, one) for one in paths)

    def _follow_sources(
        self, text: str, bound: list[NameBinding], changed: list[ChangedInPlace]
    ) -> None:
        rebound = {one.name for one in bound} | {one.name for one in changed if not one.path}
        for name in rebound:
            # Earlier lines cannot have made the value that was bound here.
            self._paths.pop(name, None)
        # The object that a change is made in is looked for by its paths already.
        self.add_reads(
            read_paths(text, is_assigned=True),
            without={one.name for one in changed if one.path},
        )

    def _frame_view(self, line: int) -> answers.FrameView:
        return answers.FrameView(self._depth, self._function, self._file, line)


def _change_view(one: ChangedInPlace) -> answers.VariableView:
    new = "deleted" if one.new is None else clip_text(one.new, _VALUE)
    old = f"{clip_text(one.old, _ARGUMENT)} → " if one.old is not None else ""
    return answers.VariableView(f"{one.name}{one.path}", f"{old}{new}")


def _cut_value(value: str) -> str:
    return value if len(value) <= _ARGUMENT else value[: _ARGUMENT - 1] + "…"


def _callee_lines(
    gave: LineCall,
    depth: int,
    keys: set[Key],
    cut: list[LineCall],
    *,
    needs_value: bool,
    given: Mapping[str, Iterable[str]] | None = None,
) -> list[MadeView]:
    """Return the lines of a call that made its value, or changed one of the keys.

    `given` are the paths to resolve in its arguments.
    """
    text = text_at(gave.file, gave.line)
    flow = _DataFlow(gave.function, gave.file, depth, cut, keys)
    if needs_value:
        flow.add_reads(read_paths(text, is_assigned=True))
    flow.add_reads(given or {})
    inner = flow.follow_steps(gave.steps, gave.line, needs_value=needs_value)
    # Reported to the user, because the origin may lie in the dropped lines.
    if gave.is_cut and needs_value:
        cut.append(gave)
    has_value = gave.value != _NOTHING
    call = _call_of(gave)
    if inner and not has_value:
        # The change is what it was called for: it is said with the call that made it.
        return [*inner[:-1], msgspec.structs.replace(inner[-1], call=inner[-1].call or call)]
    if not (needs_value or (has_value and given is None)) or gave.function.endswith(".__init__"):
        return inner if given is not None else []
    frame = answers.FrameView(depth, gave.function, gave.file, gave.line)
    return [
        *inner,
        MadeView(frame, text, (), depth, f"{call} → {clip_text(gave.value, _VALUE)}"),
    ]


def _call_of(gave: LineCall) -> str:
    given = ", ".join(f"{name}={_cut_value(value)}" for name, value in gave.arguments)
    return clip_text(f"{gave.function}({given})", _CALL)
