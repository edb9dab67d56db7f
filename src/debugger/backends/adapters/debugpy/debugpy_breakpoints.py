"""Checks breakpoints in Python sources before debugpy gets them, and writes logpoint texts."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
import types
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from debugger.backends.base import AttachTarget, LaunchTarget
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointSpec
from debugger.model.location import near_names, short_paths
from debugger.sources.function_names import choose_matches
from debugger.sources.project_files import imported_python_files, project_files, with_text
from debugger.system.process_info import look_at

# Bytes of a source: a larger one is generated, and takes seconds to parse.
_SIZE_MAX = 4 << 20
_Function = ast.FunctionDef | ast.AsyncFunctionDef
# MemoryError: the parser's word for brackets and signs nested too deep.
_UNREADABLE = (OSError, SyntaxError, ValueError, RecursionError, MemoryError)


class PythonOutline(Struct, frozen=True):
    """Holds the lines of a file that have code, by function, and its functions' first lines.

    `functions` maps a qualified name (`Class.method`) to the first line of its body, `definitions`
    the line of a `def` to the name. `shared` names the functions whose first line also has code of
    another function, or is the head of a loop.
    """

    blocks: tuple[tuple[int, int, frozenset[int]], ...]
    functions: dict[str, int]
    definitions: dict[int, str]
    shared: frozenset[str]

    @property
    def code_lines(self) -> list[int]:
        """Every line with code, in order."""
        return sorted({line for _, _, lines in self.blocks for line in lines})

    def function_entered(self, line: int) -> str | None:
        """Return the function that begins at a line, if the line has code of others, too."""
        return next((name for name in self.shared if self.functions[name] == line), None)

    def next_code_line(self, line: int) -> int | None:
        """Return the line or the next one with code in the same function; None if none is."""
        # Never beyond the function: debugpy would stop in the one before.
        enclosing = [block for block in self.blocks if block[0] <= line <= block[1]]
        # The innermost function: one that starts last.
        for _, _, lines in sorted(enclosing, key=lambda block: -block[0]):
            later = [other for other in lines if other >= line]
            if later:
                return min(later)
        return None


def outline_file(path: str) -> PythonOutline | None:
    """Parse a file; None if it cannot be read or is not Python that we can parse."""
    try:
        file = Path(path)
        if file.stat().st_size > _SIZE_MAX:
            return None
        source = file.read_bytes()
        tree = ast.parse(source, path)
        # The lines come from the compiled code, as pydevd gets them: not every statement has a line
        # event. `dont_inherit` keeps the `from __future__` of this module out.
        code = compile(source, path, "exec", dont_inherit=True)
        nodes = dict(_find_functions(tree, ""))
        functions = {name: _first_statement(node).lineno for name, node in nodes.items()}
        return PythonOutline(
            blocks=tuple(_code_blocks(code)),
            functions=functions,
            definitions={node.lineno: name for name, node in nodes.items()},
            shared=frozenset(name for name, node in nodes.items() if _is_shared(node)),
        )
    except _UNREADABLE:
        return None


def _code_blocks(code: types.CodeType) -> Iterator[tuple[int, int, frozenset[int]]]:
    lines = {line for _, _, line in code.co_lines() if line}
    inner = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    if lines:
        # The def line belongs to the outer block: stopping there is stopping at the definition.
        # A function's code names its `def` line, too, which is executed by the block around it.
        own = lines - ({code.co_firstlineno} if code.co_name != "<module>" else set())
        last = max(lines)
        for block in inner:
            last = max([last, *(line for _, _, line in block.co_lines() if line)])
        # A function of one line has the same line for its definition and its body.
        yield code.co_firstlineno, last, frozenset(own or lines)
    for block in inner:
        yield from _code_blocks(block)


def _find_functions(tree: ast.AST, prefix: str) -> Iterator[tuple[str, _Function]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield prefix + node.name, node
            yield from _find_functions(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.ClassDef):
            yield from _find_functions(node, f"{prefix}{node.name}.")
        else:
            yield from _find_functions(node, prefix)


def _first_statement(node: _Function) -> ast.stmt:
    body = node.body
    # A docstring has no code. A function of a docstring alone has to stop there all the same.
    is_docstring = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    return body[1] if is_docstring and len(body) > 1 else body[0]


def _is_shared(node: _Function) -> bool:
    """Return whether a function's first line may be passed without a call of the function.

    The definition, another function or the head of a loop may be on the same line.
    """
    first = _first_statement(node)
    if isinstance(first, ast.For | ast.AsyncFor | ast.While):
        return True
    arguments = node.args
    defaults = [one for one in (*arguments.defaults, *arguments.kw_defaults) if one is not None]
    # Default values are evaluated by the definition: a body on their last line is passed by that.
    end = max([node.lineno, *(one.end_lineno or one.lineno for one in defaults)])
    inner = ast.Lambda | ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp | ast.ClassDef
    return first.lineno <= end or any(isinstance(one, inner) for one in ast.walk(first))


def parameter_names(path: str, function: str, line: int) -> list[str] | None:
    """Return the parameters' names of the function of this name around a line."""
    try:
        tree = ast.parse(Path(path).read_bytes(), path)
    except _UNREADABLE:
        return None
    best: ast.FunctionDef | ast.AsyncFunctionDef | None = None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == function:
            is_inside = node.lineno <= line <= (node.end_lineno or node.lineno)
            if is_inside and (best is None or node.lineno > best.lineno):
                best = node
    if best is None:
        return None
    every = best.args
    named = [*every.posonlyargs, *every.args, *every.kwonlyargs]
    starred = [one for one in (every.vararg, every.kwarg) if one is not None]
    return [argument.arg for argument in [*named, *starred]]


_SUFFIXES = frozenset({".py", ".pyw"})
_NAMES_MAX = 400  # files that are read for names that are near
_CODE_NAME = re.compile(r"/ipykernel_\d+/\d+\.py\Z")
_DEFINED = re.compile(r"^[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)", re.MULTILINE)
_OTHERS_MAX = 3
_LISTED_MAX = 4  # searched files that are named
_ASK_S = 5.0
# What stands before the user's own condition in one that is true at the entry of a function only.
OWN_CONDITION = " or not 'entry' else "
# Instructions before a function's first own one, of CPython 3.8 to 3.14.
_PROLOGUE = (
    "RESUME",
    "COPY_FREE_VARS",
    "MAKE_CELL",
    "RETURN_GENERATOR",
    "GEN_START",
    "POP_TOP",
    "NOP",
)


def find_function(
    launched: LaunchTarget | None, attached: AttachTarget | None, spec: BreakpointSpec
) -> BreakpointSpec | BoundBreakpoint:
    """Return the line of a function's first statement; why not, where it is not found."""
    assert spec.function is not None
    folders = _program_folders(launched, attached)
    files = [Path(spec.file)] if spec.file is not None else _program_files(launched, folders)
    last = spec.function.rpartition(".")[2]
    # Files are searched as text first: parsing a large project takes seconds.
    matches = _matching_functions(
        with_text(files, f"def {last}", size_max=_SIZE_MAX), spec.function
    )
    if not matches and spec.file is None:
        # A name of a library, such as `json.decoder.JSONDecoder.decode`: only its module's file is
        # parsed.
        path = _module_file(spec.function, _search_path(launched, attached, folders))
        matches = _matching_functions([path], spec.function) if path is not None else []
    if not matches:
        return _not_found_bound(spec.function, files, folders)
    if len(matches) > 1 and launched is not None:
        # `pytest test_x.py`: what the named files import runs, others of the folder may not.
        order = {one: at for at, one in enumerate(_named_files(launched, files))}
        matches.sort(key=lambda one: order.get(one[0], len(order)))
    path, _, line = matches[0]
    names = short_paths(str(one) for one, _, _ in matches)
    others = [f"{names[str(one)]}:{at}" for one, _, at in matches[1 : 1 + _OTHERS_MAX]]
    note = f"others of this name: {', '.join(others)}" if others else None
    return msgspec.structs.replace(spec, file=str(path), line=line, function=None, note=note)


def _not_found_bound(
    function: str, files: Sequence[Path], folders: Sequence[str]
) -> BoundBreakpoint:
    names: list[str] = []
    last = function.rpartition(".")[2]
    lambdas = []
    assigned = re.compile(rf"(?<!\w){re.escape(last)}\s*=\s*lambda\b")
    for path in files[:_NAMES_MAX]:
        try:
            text = path.read_text(errors="replace")
        except OSError:
            continue
        names += _DEFINED.findall(text)
        lambdas += [f"{path.name}:{text.count(chr(10), 0, one.start()) + 1}"
                    for one in assigned.finditer(text)]  # fmt: skip
    where = f" below {' and '.join(folders)}" if folders and len(files) != 1 else ""
    listed = ", ".join(one.name for one in files[:_LISTED_MAX])
    some = f" ({listed}{', …' if len(files) > _LISTED_MAX else ''})" if files else ""
    count = f"{len(files):,} Python file{'s' if len(files) != 1 else ''}"
    why = f"no function {function} in {count}{where}{some}; FILE:LINE sets it anywhere"
    if last.startswith("__") and "." in function:
        # Of a dataclass, a namedtuple, attrs: made from a text, which debugpy has no lines of.
        why += "; one that is generated has none: debugger probe and calls take its name"
    if lambdas:
        way = f"it is a lambda in {lambdas[0]}, which sets it; calls and probe take the name"
        why = f"no function {function}: {way}"
    return BoundBreakpoint(
        verified=False,
        why=why,
        near_names=near_names(last, names),
    )


def _matching_functions(paths: Sequence[Path], function: str) -> list[tuple[Path, str, int]]:
    """Return where a function of this name is: the name alone, with its class, its module."""
    found = []
    for path in paths:
        outline = outline_file(str(path))
        if outline is not None:
            found += [(path, name, line) for name, line in outline.functions.items()]
    return choose_matches(function, found, lambda one: (one[1], str(one[0].with_suffix(""))))


def _program_folders(launched: LaunchTarget | None, attached: AttachTarget | None) -> list[str]:
    """Return the folders of a program's own files: its script's, and its current directory."""
    if launched is not None:
        program = Path(launched.program) if launched.program else None
        folder = str(program.parent) if program and program.suffix in _SUFFIXES else None
        return list(dict.fromkeys(one for one in (folder, launched.cwd) if one))
    # An attached program's folders are known from its command line and directory.
    process = look_at(attached.pid) if attached is not None and attached.pid else None
    if process is None:
        return []
    script = next((word for word in process.words[1:] if word.endswith(".py")), None)
    folder = str(Path(process.cwd, script).parent) if script else None
    cells = attached.cells if attached is not None else None
    return list(dict.fromkeys(one for one in (cells, folder, process.cwd) if one))


def _program_files(launched: LaunchTarget | None, folders: Sequence[str]) -> list[Path]:
    program = Path(launched.program) if launched is not None and launched.program else None
    own = [program] if program is not None and program.is_file() else []
    # A kernel's cell has a second file, with the name of its code.
    found = [one for one in project_files(folders, _SUFFIXES) if not _CODE_NAME.search(str(one))]
    return list(dict.fromkeys([*own, *found]))


def _named_files(launched: LaunchTarget, files: Sequence[Path]) -> list[Path]:
    """Return the sources that the command line names, and what they import."""
    words = [launched.program or "", *(one.partition("::")[0] for one in launched.args)]
    named = [Path(launched.cwd, one) for one in words if Path(one).suffix in _SUFFIXES]
    return imported_python_files(named, files)


def _search_path(
    launched: LaunchTarget | None, attached: AttachTarget | None, folders: Sequence[str]
) -> list[Path]:
    """Return where the program's interpreter may import modules from."""
    if launched is not None:
        environment = tuple(sorted(launched.env.items()))
        found = _path_of(launched.python or sys.executable, launched.cwd, environment)
        return [*map(Path, folders), *map(Path, found)]
    process = look_at(attached.pid) if attached is not None and attached.pid else None
    words = process.words[:1] if process is not None else ()
    # The word before the link: the `python` of a virtual environment is a link to the system's, and
    # its packages lie beside the link.
    links = [Path(one) for one in (*words, process.exe if process is not None else "") if one]
    roots = dict.fromkeys(link.parent.parent for link in links)
    installed = [
        folder
        for root in roots
        for pattern in ("lib/python3*/site-packages", "lib/python3*")
        for folder in sorted(root.glob(pattern))
    ]
    return [*map(Path, folders), *installed]


@functools.lru_cache(maxsize=8)
def _path_of(python: str, cwd: str, environment: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """Run an interpreter to learn where it imports modules from.

    A shim's own folders do not tell that.
    """
    # Cached for each environment: PYTHONPATH changes the answer.
    words = [python, "-c", "import sys; print('\\n'.join(sys.path))"]
    try:
        done = subprocess.run(
            words,
            cwd=cwd,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_ASK_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(line for line in done.stdout.decode(errors="replace").splitlines() if line)


def _module_file(function: str, folders: Sequence[Path]) -> Path | None:
    """Return the file of the module that a qualified name begins with, wherever it is installed."""
    parts = function.split(".")
    # The longest module name first: `a.b.c` may be c of a/b.py, or a method c of a.py's class b.
    for count in range(len(parts) - 1, 0, -1):
        relative = Path(*parts[:count])
        for folder in folders:
            for path in (folder / relative.with_suffix(".py"), folder / relative / "__init__.py"):
                if path.is_file():
                    return path
    return None


def condition_of(one: Breakpoint) -> str | None:
    """Return a breakpoint's condition; that of a function is true at its entry only.

    The first line of a function may have code of others (a comprehension, a lambda, the class
    around it), or be the head of a loop, which is passed again and again.
    """
    # debugpy calls every name of a function verified, so functions are resolved here, to their
    # first line. Where that line is passed for other reasons as well, a condition tells the entry
    # of the function from them.
    at, own = one.at or one.spec, one.spec.condition
    if at.file is None or at.line is None:
        return own
    outline = outline_file(at.file)
    name = outline.function_entered(at.line) if outline is not None else None
    is_definition = outline is not None and one.spec.line in outline.definitions
    if name is None or not (one.spec.function is not None or is_definition):
        return own
    # The user's condition is evaluated only at an entry: elsewhere its names may not exist.
    entry = _at_entry(Path(at.file).name, name.rpartition(".")[2], at.line)
    return f"False if not {entry}{OWN_CONDITION}{own}" if own is not None else entry


def _at_entry(file: str, function: str, line: int) -> str:
    """Write an expression that is true where the innermost frame at a line enters a function.

    The frame is looked for on the stack: pydevd evaluates a condition above it.
    """
    # The condition walks up the stack to the frame at the line, and compares the offset of the last
    # instruction (f_lasti) with that of the first one of the line, or the first that is no part of
    # the prologue. At a later pass, as of a loop's head, the offset is larger.
    prologue = repr(_PROLOGUE)
    starts = f"next((o for o,l in d.findlinestarts(f.f_code) if l=={line}),0)"
    first = f"next(i.offset for i in d.get_instructions(f.f_code) if i.opname not in {prologue})"
    return (
        "(lambda w,d:w(w,d,__import__('sys')._getframe()))(lambda w,d,f:f is None or ("
        f"w(w,d,f.f_back) if f.f_lineno!={line} or not f.f_code.co_filename.endswith({file!r}) "
        f"else f.f_code.co_name=={function!r} and f.f_lasti<=max({starts},{first})),"
        "__import__('dis'))"
    )


def own_condition(text: str) -> str:
    """Return the user's part of a condition."""
    _, mark, own = text.partition(OWN_CONDITION)
    return own if mark else text


# The value as text, or the exception in angle brackets. An expression cannot catch, a statement
# can; the names are read where the whole is evaluated, which a lambda's body is not.
_SAFE = (
    "(lambda d:(exec('try:v=str(eval(e,g,l))\\nexcept Exception as x:"
    'v="<"+type(x).__name__+": "+str(x)+">"\',d),d["v"])[1])'
    "(dict(e=%r,g=globals(),l=locals()))"
)


def safe_log(text: str) -> str:
    """Return a logpoint's text in which an expression that fails is replaced by its failure."""
    parts, has_expression, rest = list[str](), False, text
    while rest:
        before, brace, after = rest.partition("{")
        # pydevd makes one % expression of the text: a percent sign of the user's own would be a
        # format.
        parts.append(before.replace("%", "%%"))
        end = _expression_end(after) if brace else None
        if end is None:
            parts.append(brace + after)
            break
        expression, rest = after[:end].strip(), after[end + 1 :]
        if expression:
            has_expression = True
            parts.append("{" + _SAFE % expression + "}")
    return "".join(parts) if has_expression else text


def _expression_end(text: str) -> int | None:
    """Find the brace that closes an expression, as pydevd does; None without one."""
    level = 1
    for index, one in enumerate(text):
        level += (one == "{") - (one == "}")
        if level == 0:
            return index
    return None
