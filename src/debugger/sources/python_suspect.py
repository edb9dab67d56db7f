"""Finds the value that an exception of Python is about, by the syntax of what failed. Pure.

Of `row["size"]` and "'coroutine' object is not subscriptable" it is `row`; of `sum(p.values())` and
"unsupported operand type(s) for +: 'int' and 'NoneType'" an item of `p` that is None.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

# What begins a whole statement, and no part of it.
_STATEMENT = re.compile(
    r"(?:raise|assert|return|with|import|from|del|for|while|if|async|try|match|class|def)\b"
)
_QUOTED = re.compile(r"'([^'\"\\]*)'")
_TEXT_MAX = 2_000  # characters that are parsed
_NOTHING, _IS_NONE = "NoneType", "{} is None"
_CHAINS = (ast.Name, ast.Attribute, ast.Subscript)
_NO_ATTRIBUTE = re.compile(r"'\w+' object has no attribute '(?P<name>\w+)'")
_NO_SUBSCRIPT = re.compile(
    r"'\w+' object (?:is not subscriptable|does(?:n't| not) support item (?:assignment|deletion))"
)
_INDICES = re.compile(r"(?:^\w+ indices must be|^byte indices must be|^string index indices must)")
_ITERATED = re.compile(
    r"object is not (?:an iterable|iterable|an iterator)|\bvalues to unpack\b"
    r"|cannot unpack non-iterable|changed size during iteration|mutated during iteration"
)
# What stands behind one or two stars.
_SPREAD = re.compile(
    r"argument after \*\*? must be|^Value after \* must be|^'\w+' object is not a mapping$"
)
# Methods whose result is wrong because their object is.
_OF_OBJECT = frozenset({"items", "keys", "values", "split", "rsplit", "splitlines", "strip"})
_CONVERTED = re.compile(r"argument must be .* not '?NoneType'?$|expected .*, (?:got )?NoneType")
# The types of both operands, or of the one that is wrong.
_OPERANDS = re.compile(
    r"unsupported operand type\(s\) for [^:]+: '(?P<left>[\w.]+)' and '(?P<right>[\w.]+)'"
    r"|'[<>]=?' not supported between instances of '(?P<one>[\w.]+)' and '(?P<other>[\w.]+)'"
)
_JOINED = re.compile(
    r"can only concatenate \w+ \(not \"(?P<type>[\w.]+)\"\)"
    r"|sequence item (?P<index>\d+): expected \w+ instance, [\w.]+ found"
)
_UNHASHABLE = re.compile(r"unhashable type: '(?P<type>[\w.]+)'")
# Types of what is no data: its call, or an `await`, was left out.
_NO_DATA = frozenset(
    {"method", "function", "builtin_function_or_method", "coroutine", "generator", "type"}
    | {"async_generator", "property", "classmethod", "staticmethod", "ellipsis"}
)
_ADDING = frozenset({"sum", "fsum", "mean", "fmean"})
_ORDERING = frozenset({"sorted", "min", "max", "sort", "heapify", "nlargest", "nsmallest"})
_HASHING = frozenset({"set", "frozenset", "Counter", "fromkeys"})
# CPython's text of what items can be taken from once.
_ITERATOR = re.compile(
    r"<(?:\w+iterator|generator|zip|map|filter|enumerate|reversed|itertools\.\w+) object\b"
)
_OF_EMPTY = re.compile(r"division by zero|\bis an empty sequence|\biterable argument is empty")


class PythonSuspect(Struct, frozen=True):
    """What an exception is about: an expression, or an element that a search gives.

    `search` is an expression of Python whose value is the index or the key, or None; the suspect
    is `template` with it put in the place of `{}`.
    """

    expression: str = ""
    search: str = ""
    template: str = ""
    # It is a call whose result was None.
    is_nothing: bool = False


def failed_text(statement: str, part: str) -> str:
    """Return the source of what failed: the marked part of a statement, else the statement.

    What a value is assigned to did not fail itself: of `a, b = pair` it is all of it, as of a loop.
    """
    text = part.strip()
    at = statement.find(text.partition("\n")[0]) if text else -1
    if at < 0 or _STATEMENT.match(text):
        return statement
    behind = statement[at + len(text) :] if "\n" not in text else ""
    is_target = re.match(r"\s*(?:=(?!=)|[-+*/%|&^@]+=)", behind) is not None
    is_looped = re.search(r"\bfor\s+(?:.*\bin\s+)?\Z", statement[:at]) is not None
    return statement if is_target or is_looped else join_part(part)


def join_part(part: str) -> str:
    """Return a part that the interpreter marks in one line."""
    return " ".join(part.strip().split("\n"))


def is_iterator(value: str) -> bool:
    """Return whether a value of CPython is one that items can be taken from once, by its text."""
    return _ITERATOR.match(value) is not None


def find_suspect(
    text: str,
    exception: str,
    message: str,
    values: Mapping[str, str],
    *,
    is_marked: bool = False,
) -> PythonSuspect | None:
    """Return what an exception is about, by the syntax of what failed; None if that is not known.

    Args:
        text: The source of what failed.
        exception: The short name of the exception's type.
        message: CPython's message.
        values: The values of expressions.
        is_marked: Whether the interpreter marks the text as what failed.
    """
    tree = _parse(text)
    if tree is None:
        return None
    owner = _find_owner(tree, exception, message, is_marked=is_marked)
    if owner is not None:
        return owner
    spread = _find_spread(tree, message, values)
    if spread is not None:
        return spread
    for find in (_find_converted, _find_iterated, _find_element, _find_operand):
        found = find(tree, exception, message)
        if found is not None:
            return found
    return _find_used_up(tree, message, values)


def _parse(text: str) -> ast.AST | None:
    body = text.strip()[:_TEXT_MAX]
    for one in (body, f"{body} pass", f"{body}:\n pass"):
        try:
            return ast.parse(one)
        except (SyntaxError, ValueError, RecursionError):
            continue
    return None


def _find_owner(
    tree: ast.AST, exception: str, message: str, *, is_marked: bool
) -> PythonSuspect | None:
    """Return the object that has no such attribute, or no items, of the only such access."""
    attribute = _NO_ATTRIBUTE.match(message) if exception == "AttributeError" else None
    if attribute is not None:
        owners = (
            one.value
            for one in ast.walk(tree)
            if isinstance(one, ast.Attribute) and one.attr == attribute["name"]
        )
        return _only_chain(owners)
    if exception != "TypeError":
        return None
    items = [one for one in ast.walk(tree) if isinstance(one, ast.Subscript)]
    root = getattr(next(iter(getattr(tree, "body", ())), None), "value", None)
    if len(items) > 1 and isinstance(root, ast.Subscript) and items[0] is root and is_marked:
        items = items[:1]  # what failed is all of it
    if _NO_SUBSCRIPT.search(message):
        return _only_chain(one.value for one in items)
    if _INDICES.search(message):
        # A constant index is right, and what is indexed is not.
        wrong = (one.value if isinstance(one.slice, ast.Constant) else one.slice for one in items)
        return _only_chain(wrong)
    return None


def _find_spread(tree: ast.AST, message: str, values: Mapping[str, str]) -> PythonSuspect | None:
    """Return the only value behind a star that may be wrong: that of a call is None."""
    if not _SPREAD.search(message):
        return None
    nodes = list(ast.walk(tree))
    spread = [one.value for one in nodes if isinstance(one, ast.Starred)]
    spread += [one.value for one in nodes if isinstance(one, ast.keyword) and one.arg is None]
    for one in nodes:
        pairs = zip(one.keys, one.values, strict=True) if isinstance(one, ast.Dict) else ()
        spread += [value for key, value in pairs if key is None]
    if _NOTHING in message:
        spread = [one for one in spread if values.get(_write(one), "None") == "None"]
    return _only_value(spread, message)


def _only_value(nodes: Sequence[ast.expr], message: str) -> PythonSuspect | None:
    """Return the only one of some expressions: a chain, or a call that gave None."""
    if len(nodes) == 1 and isinstance(nodes[0], ast.Call) and _NOTHING in message:
        return PythonSuspect(_write(nodes[0]), is_nothing=True)
    return _only_chain(nodes)


def _find_iterated(tree: ast.AST, _exception: str, message: str) -> PythonSuspect | None:
    """Return what was gone through or unpacked: an expression, or the object of its method."""
    if not _ITERATED.search(message):
        return None
    nodes = list(ast.walk(tree))
    loops = [one.iter for one in nodes if isinstance(one, (ast.For, ast.comprehension))]
    unpacked = [
        one.value
        for one in nodes
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], (ast.Tuple, ast.List))
    ]
    starred = [one.value for one in nodes if isinstance(one, ast.Starred)]
    given = [one for one in nodes if isinstance(one, ast.Call) and len(one.args) == 1]
    calls = [one.args[0] for one in given if isinstance(one.func, ast.Name)]
    for group in (loops, unpacked, starred, calls):
        if group:
            return _only_chain(_object_of(one) for one in group)
    return None


def _object_of(node: ast.expr) -> ast.expr:
    """Return the object of a method's call, as `line` of `line.split("=")`; else the node."""
    function = node.func if isinstance(node, ast.Call) else None
    is_it = isinstance(function, ast.Attribute) and function.attr in _OF_OBJECT
    return function.value if is_it else node  # type: ignore[union-attr]


def _find_operand(tree: ast.AST, exception: str, message: str) -> PythonSuspect | None:
    """Return the operand of the only operation that is None, or is code instead of its result."""
    operations = [one for one in ast.walk(tree) if isinstance(one, (ast.BinOp, ast.Compare))]
    if exception != "TypeError" or len(operations) != 1:
        return None
    (operation,) = operations
    if isinstance(operation, ast.BinOp):
        left, right = operation.left, operation.right
    elif isinstance(operation, ast.Compare) and len(operation.comparators) == 1:
        left, right = operation.left, operation.comparators[0]
    else:
        return None
    types = _OPERANDS.search(message)
    sides = [(types["left"] or types["one"], left)] if types is not None else []
    sides += [(types["right"] or types["other"], right)] if types is not None else []
    joined = _JOINED.search(message)
    sides += [(joined["type"], right)] if joined is not None and joined["type"] else []
    wrong = [node for name, node in sides if name in _NO_DATA]
    return _only_chain(wrong)


def _find_converted(tree: ast.AST, exception: str, message: str) -> PythonSuspect | None:
    """Return the call whose result, None, was given to the only call of what failed."""
    body = getattr(tree, "body", [])
    outer = body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr) else None
    is_converted = _CONVERTED.search(message) is not None and _JOINED.search(message) is None
    is_refused = is_converted or message == "'NoneType' object is not iterable"
    if exception != "TypeError" or not is_refused:
        return None
    if not isinstance(outer, ast.Call) or len(outer.args) != 1 or outer.keywords:
        return None
    given = outer.args[0]
    is_call = isinstance(given, ast.Call)
    return PythonSuspect(_write(given), is_nothing=True) if is_call else None


def _find_element(tree: ast.AST, exception: str, message: str) -> PythonSuspect | None:
    """Return the element that a function which goes through a container complains about."""
    calls = [one for one in ast.walk(tree) if isinstance(one, ast.Call)]
    for call in calls if exception == "TypeError" else ():
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        is_own = name == "sort" and isinstance(call.func, ast.Attribute)
        given = call.func.value if is_own else call.args[0] if call.args else None  # type: ignore[attr-defined]
        index, condition = _wrong_element(name, message)
        if given is None or not (index or condition):
            continue
        found = _search_elements(given, _key_of(call), index, condition)
        if found is not None:
            return found
    return None


def _wrong_element(name: str, message: str) -> tuple[str, str]:
    """Return the index of the element that is wrong, or a condition with its value as `{}`."""
    joined = _JOINED.search(message)
    if name == "join" and joined is not None:
        return joined["index"] or "", ""
    unhashable = _UNHASHABLE.search(message)
    if name in _HASHING and unhashable is not None:
        return "", f"type({{}}).__name__ == {unhashable['type']!r}"
    types = _OPERANDS.search(message)
    if types is None or name not in _ADDING | _ORDERING:
        return "", ""
    both = {one for one in types.groupdict().values() if one}
    if _NOTHING in both:
        return "", _IS_NONE
    if name in _ADDING:
        return "", f"type({{}}).__name__ == {types['right']!r}"
    return "", f"type({{}}).__name__ == {types['one']!r}"


def _key_of(call: ast.Call) -> Callable[[str], str] | None:
    """Return what a call's `key=lambda row: row.age` takes of an element; None for another key."""
    keys = [one.value for one in call.keywords if one.arg == "key"]
    if not keys:
        return str
    (key,) = keys
    if not isinstance(key, ast.Lambda) or len(key.args.args) != 1:
        return None
    return _part_of(key.body, key.args.args[0].arg)


def _part_of(node: ast.AST, variable: str) -> Callable[[str], str] | None:
    """Return how a part of a variable is written of another expression; None for other nodes."""
    names = [one.id for one in ast.walk(node) if isinstance(one, ast.Name)]
    inner: ast.AST = node
    while isinstance(inner, (ast.Attribute, ast.Subscript)):
        if isinstance(inner, ast.Subscript) and not isinstance(inner.slice, ast.Constant):
            return None
        inner = inner.value
    if names != [variable] or not isinstance(inner, ast.Name):
        return None
    path = _write(node).removeprefix(variable)
    return lambda element: f"{element}{path}"


class ComprehensionLoop(Struct, frozen=True):
    """A `for` of a comprehension: its variable, and the list or the mapping that has its values."""

    variable: str
    container: ast.expr
    is_mapping: bool = False


def find_loop(loop: ast.comprehension) -> ComprehensionLoop | None:
    """Return the loop of a comprehension that goes through elements or values one by one."""
    target, through = loop.target, loop.iter
    method = getattr(getattr(through, "func", None), "attr", "")
    is_view = method in {"values", "items"} and not getattr(through, "args", None)
    is_pair = isinstance(target, ast.Tuple) and len(target.elts) == 2  # noqa: PLR2004 - key, value
    if method == "items" and is_view and is_pair:
        target = target.elts[1]  # type: ignore[attr-defined]
    elif method == "items":
        return None
    if loop.is_async or not isinstance(target, ast.Name):
        return None
    container = through.func.value if is_view else through  # type: ignore[attr-defined]
    return ComprehensionLoop(target.id, container, is_view)


def _search_elements(
    given: ast.expr, key: Callable[[str], str] | None, index: str, condition: str
) -> PythonSuspect | None:
    """Return the suspect among the elements of a container, or of a generator over one."""
    is_view = isinstance(given, ast.Call) and getattr(given.func, "attr", "") == "values"
    loop = ComprehensionLoop("", _object_of(given) if is_view else given, is_view)
    if isinstance(given, (ast.GeneratorExp, ast.ListComp)):
        found = _only_loop(given)
        taken = _part_of(given.elt, found.variable) if found is not None else None
        if found is None or taken is None or key is not str:
            return None
        loop, key = found, taken
    if key is None:
        return None
    if not _is_chain(loop.container):
        # The recorder knows the items of what a call returned, and which of them is wrong.
        is_result = isinstance(given, ast.Call) and not is_view and key is str
        is_known = bool(index) or condition == _IS_NONE
        return PythonSuspect(_write(given)) if is_result and is_known else None
    return _search_container(loop, key, index, condition)


def _only_loop(node: ast.expr) -> ComprehensionLoop | None:
    """Return the loop of a comprehension that has no other, and takes all elements."""
    generators: list[ast.comprehension] = getattr(node, "generators", [])
    is_plain = len(generators) == 1 and not generators[0].ifs
    return find_loop(generators[0]) if is_plain else None


def _search_container(
    loop: ComprehensionLoop, key: Callable[[str], str], index: str, condition: str
) -> PythonSuspect | None:
    """Return the suspect among the elements of a list, or among the values of a dictionary."""
    name = _write(loop.container)
    template = key(f"{name}[{{}}]")
    if index and not loop.is_mapping:
        return PythonSuspect(template.replace("{}", index))
    test = condition.format(key("_one"))
    if loop.is_mapping:
        search = f"next((_at for _at, _one in {name}.items() if {test}), None)"
        return PythonSuspect(
            search=f"{search} if isinstance({name}, dict) else None", template=template
        )
    search = f"next((_at for _at, _one in enumerate({name}) if {test}), None)"
    search = f"{search} if type({name}) in (list, tuple) else None"
    return PythonSuspect(search=search, template=template) if condition else None


def find_comprehended(
    statement: str, part: str, exception: str, message: str
) -> PythonSuspect | None:
    """Return the element at which a comprehension failed, whose variable is gone by then.

    From CPython 3.12 on it is so of all but generators: they have no frame of their own.

    Args:
        statement: The source of the statement.
        part: What the interpreter marks of it as failed, as `one.weight / one.count`.
        exception: The short name of the exception's type.
        message: CPython's message.
    """
    tree, failed = _parse(statement), _parse(part)
    root = getattr(next(iter(getattr(failed, "body", ())), None), "value", None)
    if tree is None or root is None or not isinstance(root, ast.expr):
        return None
    text = ast.dump(root)
    kinds = (ast.ListComp, ast.SetComp, ast.DictComp)
    found = [
        one
        for one in ast.walk(tree)
        if isinstance(one, kinds) and any(ast.dump(each) == text for each in ast.walk(one))
    ]
    loop = _only_loop(found[0]) if len(found) == 1 else None
    if loop is None or not _is_chain(loop.container):
        return None
    operands, condition = _wrong_operands(root, exception, message)
    keys = {_write(one): _part_of(one, loop.variable) for one in operands}
    known = [one for one in keys.values() if one is not None]
    return _search_container(loop, known[0], "", condition) if len(known) == 1 else None


def _wrong_operands(root: ast.expr, exception: str, message: str) -> tuple[list[ast.expr], str]:
    """Return the operands of a failed expression of which one is wrong, and how it is."""
    is_divided = isinstance(root, ast.BinOp) and isinstance(
        root.op, (ast.Div, ast.FloorDiv, ast.Mod)
    )
    if exception == "ZeroDivisionError" and is_divided:
        return [root.right], "{} == 0"  # type: ignore[attr-defined]
    if _NOTHING not in message:
        return [], ""
    operands: list[ast.expr] = []
    if isinstance(root, (ast.Attribute, ast.Subscript)):
        operands = [root.value]
    elif isinstance(root, ast.Call):
        operands = [*root.args]
    elif isinstance(root, (ast.BinOp, ast.Compare)):
        operands = _sides_of_nothing(root, message)
    return operands, _IS_NONE


def _sides_of_nothing(root: ast.BinOp | ast.Compare, message: str) -> list[ast.expr]:
    """Return those operands that are None, by the types that the message names."""
    right = root.right if isinstance(root, ast.BinOp) else root.comparators[0]
    types = _OPERANDS.search(message)
    if types is None:
        return [root.left, right]
    named = (types["left"] or types["one"], types["right"] or types["other"])
    sides = zip(named, (root.left, right), strict=True)
    return [node for name, node in sides if name == _NOTHING][:1]


def place_found(suspect: PythonSuspect, found: str) -> str:
    """Return the element whose index or key a search gave, as Python shows it.

    "" where the search gave none, or a key that cannot be written.
    """
    try:
        index = ast.literal_eval(found)
    except (ValueError, SyntaxError, RecursionError):
        return ""
    return suspect.template.replace("{}", _quote_texts(found)) if index is not None else ""


def _find_used_up(tree: ast.AST, message: str, values: Mapping[str, str]) -> PythonSuspect | None:
    """Return the only iterator of what failed for having nothing more."""
    if not _OF_EMPTY.search(message):
        return None
    names = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name)}
    found = [one for one in sorted(names) if is_iterator(values.get(one, ""))]
    return PythonSuspect(found[0]) if len(found) == 1 else None


def _write(node: ast.AST) -> str:
    """Write an expression; its texts in double quotes, which a shell takes within single ones."""
    return _quote_texts(ast.unparse(node))


def _quote_texts(expression: str) -> str:
    """Return an expression with its plain texts in double quotes."""
    return _QUOTED.sub(r'"\1"', expression)


def _is_chain(node: ast.AST) -> bool:
    """Return whether a node is a name with fields and items, none of them of a call's result."""
    return isinstance(node, _CHAINS) and not any(
        isinstance(one, (ast.Call, ast.Await, ast.NamedExpr)) for one in ast.walk(node)
    )


def _only_chain(nodes: Iterable[ast.AST]) -> PythonSuspect | None:
    """Return the suspect of the only expression among some nodes; None for none, or for several."""
    texts = {_write(one): _is_chain(one) for one in nodes}
    return PythonSuspect(next(iter(texts))) if [*texts.values()] == [True] else None
