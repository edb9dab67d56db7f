"""Finds the statements of a source by line, and the expressions that each of them reads.

A source is parsed once, when its first function is called.
"""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType
    from typing import Any

_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_STORING = (
    *(ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.AsyncFor, ast.With),
    *(ast.AsyncWith, ast.Import, ast.ImportFrom, ast.Delete, *_DEFINITIONS),
)
_HEADS = (b"def ", b"async ")
_OPTIMIZED = 0x1
_BODIES = ("body", "orelse", "finalbody")
_SOURCE_MAX = 4 << 20  # bytes
_BUFFERED = frozenset({"write", "getvalue", "getbuffer"})
READS = frozenset(
    {"read", "readline", "readlines", "read1", "readinto", "readinto1", "load", "recv", "reader"}
    | {"pread", "mmap"}
)
_REMOVING = frozenset(
    {"clear", "pop", "popitem", "popleft", "remove", "discard", "difference_update"}
    | {"intersection_update", "symmetric_difference_update"}
)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LEAVES = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, *_COMPREHENSIONS)


class StatementPlan:
    """A statement, and the parts of it that run with its line.

    `loads` are the names and the longest chains (`a.b[0].c`) that it reads, `calls` its calls.
    """

    __slots__ = (
        *("bound", "calls", "end", "exprs", "files", "line", "loads", "node", "stores", "targets"),
        *("removing", "_by_position", "_written"),
    )

    def __init__(self, node: Any) -> None:
        self.node = node
        self.line: int = node.lineno
        self.end: int = _last_line(node)
        self.exprs = list(_expressions(node))
        self.loads: list[Any] = []
        self.calls: list[Any] = []
        self.files: list[Any] = []
        self.targets: list[Any] = []  # fields and items that it assigns
        for one in self.exprs:
            self._add_parts(one)
        # The assignments within its expressions, `name := value`.
        self.bound = [
            one for each in self.exprs for one in ast.walk(each) if isinstance(one, ast.NamedExpr)
        ]
        self.removing = _find_removing(self.calls, self.targets)
        self.stores = isinstance(node, _STORING) or bool(self.bound)
        self._written: frozenset[str] | None = None
        self._by_position: dict[Any, Any] | None = None

    def _add_parts(self, node: Any) -> None:  # noqa: C901 - one for each kind
        if isinstance(node, _SCOPES):
            self._add_free_names(node)
            return
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            if isinstance(node, ast.Subscript):
                self._add_parts(node.slice)
            # The parts of the chain, too, and first: the object may be all that is known.
            self._add_parts(node.value)
            if not isinstance(node.ctx, ast.Load):
                self.targets.append(node)
            else:
                self.loads.append(node)
            return
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                self.loads.append(node)
            return
        if isinstance(node, ast.Call):
            # A method is no value that is followed; its object is.
            function = node.func
            is_method = isinstance(function, ast.Attribute)
            self._add_parts(function.value if is_method else function)  # type: ignore[attr-defined]
            for one in (*node.args, *node.keywords):
                self._add_parts(one)
            self.calls.append(node)
            if call_name(node) in READS or call_name(node) in _BUFFERED:
                self.files.append(node)
            return
        for one in ast.iter_child_nodes(node):
            self._add_parts(one)

    @property
    def written(self) -> frozenset[str]:
        """The last names of what the statement assigns, or calls a method of."""
        if self._written is None:
            self._written = frozenset(self._written_names())
        return self._written

    def call_at(self, position: Any) -> Any:
        """Return the first call at a position (see `position_of`); None if there is none."""
        if self._by_position is None:
            self._by_position = {position_of(one): one for one in reversed(self.calls)}
        return self._by_position.get(position)

    def _written_names(self) -> Iterator[str]:
        """Yield the last names of what the statement assigns, or calls a method of."""
        changed = [one.func.value for one in self.calls if isinstance(one.func, ast.Attribute)]
        changed += [one.args[0] for one in self.calls if one.args]  # heappush(queue, item)
        assigned = [one for each in self.exprs for one in ast.walk(each)
                    if isinstance(getattr(one, "ctx", None), ast.Store)]  # fmt: skip
        for holder in map(_holder_of, (*assigned, *changed)):
            if isinstance(holder, ast.Attribute):
                yield holder.attr
            elif isinstance(holder, ast.Name):
                yield holder.id

    def _add_free_names(self, node: Any) -> None:
        """Add the names that a comprehension reads from its function."""
        inner = {
            one.id
            for one in ast.walk(node)
            if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)
        }
        if isinstance(node, ast.Lambda):
            return
        for one in ast.walk(node):
            if isinstance(one, ast.Call):
                self.calls.append(one)
            elif isinstance(one, ast.Name) and one.id not in inner:
                self.loads.append(one)


def _holder_of(node: Any) -> Any:
    """Return the container of an item, however deep: `a.b` of `a.b[0][1]`."""
    while isinstance(node, (ast.Subscript, ast.Starred)):
        node = node.value
    return node


def _find_removing(calls: Any, targets: Any) -> tuple[tuple[Any, Any], ...]:
    """Return the parts of a statement that may take items out of a container, each with that."""
    found = []
    for call in calls:
        function = call.func
        if isinstance(function, ast.Attribute) and function.attr in _REMOVING:
            found.append((call, function.value))
        elif call.args and call_name(call) == "heappop":
            found.append((call, call.args[0]))
    for node in targets:
        is_slice = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)
        if is_slice or (isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Del)):
            found.append((node, node.value))
    return tuple(found)


def call_name(node: ast.Call) -> str:
    """Return the last part of a called function's name; "" for a computed one."""
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def position_of(node: Any) -> tuple[int, int | None, int, int | None]:
    """Return the position of a node, as code objects have it of their instructions."""
    return (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset)


def _expressions(node: Any) -> Iterator[Any]:
    """Yield the expressions that run at the lines of a statement itself, and not of its body."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield from node.args.defaults
        yield from (one for one in node.args.kw_defaults if one is not None)
        yield from node.decorator_list
        return
    if isinstance(node, ast.ClassDef):
        yield from node.bases
        yield from node.decorator_list
        return
    for name, value in ast.iter_fields(node):
        if name in ("body", "orelse", "finalbody", "handlers", "cases"):
            continue
        for one in value if type(value) is list else [value]:
            if isinstance(one, ast.withitem):
                yield one.context_expr
                if one.optional_vars is not None:
                    yield one.optional_vars
            elif isinstance(one, ast.expr):
                yield one


class CaseBinding(ast.Assign):
    """What a case of a `match` gives a name, as an assignment: `y = command[1]`."""

    body_lines: range


def _case_bindings(node: Any) -> Iterator[CaseBinding]:
    """Yield what the cases of a statement bind, if it is a `match` (since Python 3.10)."""
    for case in getattr(node, "cases", ()):
        lines = range(case.body[0].lineno, int(case.body[-1].end_lineno) + 1)
        for name, value in _captures(case.pattern, node.subject):
            found = CaseBinding([ast.Name(name, ast.Store())], value)
            ast.copy_location(found, case.pattern)
            ast.fix_missing_locations(found)
            found.body_lines = lines
            yield found


def _captures(pattern: Any, subject: Any) -> Iterator[tuple[str, Any]]:
    """Yield the names that a pattern binds, each with the expression of its value."""
    # By their names, as Pythons before 3.10 have no such types.
    kind = type(pattern).__name__
    if kind in ("MatchAs", "MatchStar") and pattern.name is not None:
        yield pattern.name, subject
    parts: Iterator[tuple[Any, Any]] = iter(())
    if kind == "MatchAs" and pattern.pattern is not None:
        parts = iter([(pattern.pattern, subject)])
    elif kind == "MatchSequence":
        parts = zip(pattern.patterns, _item_parts(pattern.patterns, subject))  # noqa: B905
    elif kind == "MatchMapping":
        items = [ast.Subscript(subject, one, ast.Load()) for one in pattern.keys]
        parts = zip(pattern.patterns, items)  # noqa: B905 - of Python 3.8, too
    elif kind == "MatchClass":
        fields = [ast.Attribute(subject, one, ast.Load()) for one in pattern.kwd_attrs]
        parts = zip(pattern.kwd_patterns, fields)  # noqa: B905
    for one, part in parts:
        yield from _captures(one, part)


def _item_parts(items: Any, subject: Any) -> Iterator[Any]:
    """Yield the expression of what each pattern of a sequence is matched with."""
    kinds = [type(one).__name__ for one in items]
    star = kinds.index("MatchStar") if "MatchStar" in kinds else len(items)
    for at in range(len(items)):
        index: Any = ast.Constant(at if at < star else at - len(items))
        if at == star:
            behind = len(items) - at - 1
            index = ast.Slice(ast.Constant(at), ast.Constant(-behind) if behind else None)
        yield ast.Subscript(subject, index, ast.Load())


def _last_line(node: Any) -> int:
    """Return the last line of a statement without its body."""
    body = getattr(node, "body", None)
    if type(body) is list and body:
        first = body[0]
        decorated = getattr(first, "decorator_list", None)
        line = decorated[0].lineno if decorated else first.lineno
        return max(int(node.lineno), int(line) - 1)
    return int(node.end_lineno or node.lineno)


class FilePlans:
    """The plans of one source, each made when its line first runs."""

    def __init__(self) -> None:
        self._nodes: dict[int, list[Any]] = {}
        self._plans: dict[int, tuple[StatementPlan, ...]] = {}
        self._made: dict[int, StatementPlan] = {}
        self.functions: dict[tuple[str, int], Any] = {}

    def add_body(self, body: list[Any]) -> None:
        """Note the statements of a body by line, the outer ones before those within them."""
        for node in body:
            first = node.lineno
            if isinstance(node, _DEFINITIONS):
                if node.decorator_list:
                    first = node.decorator_list[0].lineno
                self.functions[node.name, first] = node
            for line in range(first, _last_line(node) + 1):
                self._nodes.setdefault(line, []).append(node)
            for name in _BODIES:
                self.add_body(getattr(node, name, None) or [])
            for one in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
                self.add_body(one.body)
            for binding in _case_bindings(node):
                self._nodes.setdefault(binding.lineno, []).append(binding)

    def nodes_at(self, line: int) -> list[Any]:
        """Return the statements at a line, the outer ones before those within them."""
        return self._nodes.get(line, [])

    def get(self, line: int, default: tuple[StatementPlan, ...] = ()) -> Any:
        """Return the plans of the statements at a line."""
        found = self._plans.get(line)
        if found is None:
            nodes = self._nodes.get(line)
            if nodes is None:
                return default
            found = self._plans[line] = tuple(self._plan_of(one) for one in nodes)
        return found

    def _plan_of(self, node: Any) -> StatementPlan:
        found = self._made.get(id(node))
        if found is None:
            found = self._made[id(node)] = StatementPlan(node)
        return found


class WatchedPlans:
    """Those of a source's plans that write one of some attributes or globals, or change it."""

    def __init__(self, plans: FilePlans, names: frozenset[str]) -> None:
        self._plans = plans
        self._names = names

    def get(self, line: int, default: tuple[StatementPlan, ...] = ()) -> Any:
        """Return the plans of the statements at a line that write such a name."""
        found = self._plans.get(line, default)
        return tuple(one for one in found if not self._names.isdisjoint(one.written))


class SourcePlans:
    """The plans of all sources: of single functions, and of whole files for other code."""

    def __init__(self) -> None:
        self._texts: dict[str, list[bytes]] = {}
        self._files: dict[str, FilePlans] = {}
        self._functions: dict[int, tuple[CodeType, FilePlans]] = {}
        self._lambdas: dict[int, tuple[CodeType, Any]] = {}

    def of_code(self, code: CodeType) -> FilePlans:
        """Return the plans of a code object by line; none for a source that cannot be read."""
        is_lambda = code.co_name == "<lambda>"
        if not code.co_flags & _OPTIMIZED or (code.co_name[:1] == "<" and not is_lambda):
            return self._of_file(code.co_filename)
        found = self._functions.get(id(code))
        if found is None:
            own = self._of_lambda(code) if is_lambda else self._of_function(code)
            plans = own or self._of_file(code.co_filename)
            # The code is kept, so that no other gets its identity.
            found = self._functions[id(code)] = (code, plans)
        return found[1]

    def _of_file(self, file: str) -> FilePlans:
        found = self._files.get(file)
        if found is None:
            found = self._files[file] = FilePlans()
            try:
                found.add_body(ast.parse(b"".join(self._lines_of(file))).body)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return found
        return found

    def _lines_of(self, file: str) -> list[bytes]:
        found = self._texts.get(file)
        if found is None:
            found = []
            try:
                with open(file, "rb") as source:  # noqa: PTH123 - the program's own pathlib
                    found = source.read(_SOURCE_MAX).splitlines(keepends=True)
            except (OSError, ValueError):
                found = []
            self._texts[file] = found
        return found

    def _of_function(self, code: CodeType) -> FilePlans | None:
        """Parse the lines of one function; None if they are no definition by themselves."""
        lines, first = self._lines_of(code.co_filename), code.co_firstlineno
        if len(lines) < first:
            return None
        indent = _indent_of(lines[first - 1])
        text = b"".join(lines[first - 1 : _find_end(lines, first - 1, indent)])
        try:
            # Below an `if` the lines may stay indented, so that columns are those of the file.
            tree: Any = ast.parse(b"if 1:\n" + text if indent else text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        node = tree.body[0].body[0] if indent else tree.body[0]
        if getattr(node, "name", "") != code.co_name:
            return None
        ast.increment_lineno(tree, first - 1 - bool(indent))
        found = FilePlans()
        found.add_body([node])
        return found

    def _of_lambda(self, code: CodeType) -> FilePlans | None:
        """Return the plan of a lambda, which returns its body; None if that is not found."""
        body = self._lambda_body(code)
        if body is None:
            return None
        found = FilePlans()
        found.add_body([ast.copy_location(ast.Return(body), body)])
        return found

    def result_node(self, code: CodeType, statements: Any, *, is_yield: bool) -> Any:
        """Return the expression whose value a call returns or yields; None if it is not known."""
        if code.co_name == "<lambda>":
            return self._lambda_body(code)
        for plan in statements:
            if isinstance(plan.node, ast.Return):
                return plan.node.value
            for one in plan.exprs if is_yield else ():
                for node in ast.walk(one):
                    if isinstance(node, ast.Yield):
                        return node.value
                    if isinstance(node, ast.YieldFrom):
                        return node
        return None

    def _lambda_body(self, code: CodeType) -> Any:
        """Return the body of a lambda, of which several may be in one line."""
        known = self._lambdas.get(id(code))
        if known is None:
            places = set(code.co_positions()) if hasattr(code, "co_positions") else set()
            bodies = [
                one.body
                for statement in self._of_file(code.co_filename).nodes_at(code.co_firstlineno)
                for one in ast.walk(statement)
                if isinstance(one, ast.Lambda) and position_of(one.body) in places
            ]
            # The code is kept, so that no other gets its identity.
            known = self._lambdas[id(code)] = (code, bodies[-1] if bodies else None)
        return known[1]

    def function_of(self, code: CodeType) -> Any:
        """Return the definition of a function; None if it is not known."""
        return self.of_code(code).functions.get((code.co_name, code.co_firstlineno))


def _indent_of(line: bytes) -> int:
    return len(line) - len(line.lstrip())


def _find_end(lines: list[bytes], at: int, indent: int) -> int:
    """Return the number of lines up to the end of a definition, which may begin with decorators."""
    while at < len(lines) and not lines[at].lstrip().startswith(_HEADS):
        at += 1
    at += 1
    while at < len(lines):
        text = lines[at].strip()
        if text and text[:1] not in b"#)]}" and _indent_of(lines[at]) <= indent:
            break
        at += 1
    return at


def bound_names(node: Any) -> set[str]:
    """Return the variables of a comprehension."""
    return {
        one.id
        for generator in node.generators
        for one in ast.walk(generator.target)
        if isinstance(one, ast.Name)
    }


def node_text(node: Any) -> str:
    """Return the source of an expression, which is formatted once."""
    found = getattr(node, "_text", None)
    if found is None:
        found = node._text = ast.unparse(node)  # noqa: SLF001 - a note of ours on the node
    return str(found)


def first_name(node: Any) -> str:
    """Return the name at the beginning of a chain: `a` of `a.b[0]`; "" for another beginning."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def parts_of_chain(node: Any) -> list[Any]:
    """Return the parts of a chain that cannot be read as a whole."""
    if isinstance(node, ast.Attribute):
        return [node.value]
    return [node.value, node.slice] if isinstance(node, ast.Subscript) else []


def leaf_nodes(node: Any) -> tuple[Any, ...]:
    """Return the chains, calls and comprehensions of an expression that are in no other of them."""
    found = getattr(node, "_leaves", None)
    if found is None:
        found = node._leaves = tuple(_find_leaves(node))  # noqa: SLF001 - a note of ours on the node
    return tuple(found)


def _find_leaves(node: Any) -> Iterator[Any]:
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, _LEAVES):
            yield one
        elif not isinstance(one, (ast.Lambda, ast.expr_context)):
            waiting += reversed(list(ast.iter_child_nodes(one)))


def is_comprehension(node: Any) -> bool:
    """Return whether a node makes a container from others' items."""
    return isinstance(node, _COMPREHENSIONS)
