"""Completes values of a Python program that debugpy cuts, reads them in pages, and sets them.

Facts are of debugpy 1.8.22.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence

import msgspec

from debugger.backends.adapters.debugpy.debugpy_abilities import INSIDE
from debugger.backends.adapters.debugpy.object_texts import write_objects
from debugger.backends.dap.debug_adapter import AdapterConnection
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.location import near_names
from debugger.model.program import EvaluationPurpose, Frame, Variable
from debugger.model.text_filters import parse_clipped

_CUT = {"list", "tuple", "dict", "set", "frozenset", "str", "bytes", "bytearray", "deque"}
_TEXT_MAX = 1000
_LENGTH = "len()"  # pydevd's own child of every container
_RETURNED = "(return) "
# The value of a property that raises: its text, quoted, with pydevd's frame at its beginning.
_PYDEVDS_TRACE = re.compile(
    r"""['"]Traceback \(most recent call last\):\\n  File "[^"]*pydevd"""
    r"""[^"]*".*\\n([^\\]+)\\n['"]\Z"""
)
_RETURNS = "__pydevd_ret_val_dict"  # what pydevd keeps of the step, in the order of the returns
# Below this number the order does not matter, and the request for it is saved.
_MANY = 20  # locals of a frame, more than a stop shows at once
_METHODS = {"method", "function", "builtin_function_or_method", "method-wrapper"}
_TABLES = {"ndarray", "DataFrame", "Series", "Tensor"}
_INDEXER = "_iLocIndexer"  # the type of an attribute that pandas' tables have
_OF_EVERY_FRAME = {
    *("T", "array", "attrs", "axes", "empty", "flags", "hasnans", "nbytes", "ndim", "size"),
    *("style", "values", "dtypes", "plot"),
}
_SEQUENCES = {"list", "tuple", "deque"}


async def assign_value(
    connection: AdapterConnection, target: str, value: str, frame: Frame
) -> bool:
    """Set an existing name, an attribute or an item; setExpression would make a new name.

    The statement's own failure is reported; setExpression reports only that it failed.
    """
    name = _target_name(target)
    if name is not None:
        await _check_name(connection, name, frame)
    await connection.evaluate(f"{target} = ({value})", frame, EvaluationPurpose.EVALUATE)
    return True


def _target_name(text: str) -> str | None:
    """Return the name that is to be set; None for an attribute or an item.

    Raises:
        DebuggerError: EVALUATION_FAILED for what cannot be set.
    """
    try:
        parsed: ast.expr | None = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        parsed = None
    match parsed:
        case ast.Name(name):
            return name
        case ast.Attribute() | ast.Subscript():
            return None
    raise DebuggerError(
        ErrorCode.EVALUATION_FAILED,
        f"cannot set {text}: it is not a name, attribute or item",
        hint="debugger eval runs any statement",
    )


async def _check_name(connection: AdapterConnection, name: str, frame: Frame) -> None:
    answer = await connection.evaluate(
        f"{INSIDE}.near({name!r})", frame, EvaluationPurpose.EVALUATE
    )
    try:
        known = json.loads(ast.literal_eval(answer.value))
    except (ValueError, SyntaxError, TypeError):
        return
    if name in known:
        return
    near = ", ".join(near_names(name, known))
    raise DebuggerError(
        ErrorCode.EVALUATION_FAILED,
        f"no variable {name} here" + (f"; there is: {near}" * bool(near)),
        hint=f"debugger locals; debugger eval '{name} = …' makes a new one",
    )


async def complete_variables(
    connection: AdapterConnection, variables: Sequence[Variable]
) -> list[Variable]:
    """Add the length and the type of the elements to values that debugpy cut."""
    # One request for each kind of completion, whatever the number of variables: a request takes 0.9
    # ms at best.
    variables = [
        _raising_property(one)
        for one in variables
        if one.name != _LENGTH and not _is_no_return(one) and not _is_method(one)
    ]
    if any(one.type == _INDEXER for one in variables):
        variables = [one for one in variables if not _is_of_every_frame(one)]
    # Order matters: what is dropped first needs no request later.
    variables = await _own_first(connection, variables)
    if sum(one.name.startswith(_RETURNED) for one in variables) > 1:
        variables = await _latest_first(connection, variables)
    variables = await _add_shapes(connection, await _with_sizes(connection, variables))
    return await write_objects(connection, variables)


def _raising_property(one: Variable) -> Variable:
    """Show the exception of a property that raises: pydevd gives the traceback as the value."""
    found = _PYDEVDS_TRACE.match(one.value) if one.type == "str" else None
    if found is None:
        return one
    return msgspec.structs.replace(one, value=f"<raises {found[1]}>", type="", handle=0)


async def _latest_first(connection: AdapterConnection, variables: list[Variable]) -> list[Variable]:
    """Put the newest return value before the others: pydevd lists them by the functions' names."""
    try:
        answer = await connection.evaluate(
            f"list({_RETURNS})", connection.inspected_frame, EvaluationPurpose.PRINT
        )
        names = [f"{_RETURNED}{one}" for one in ast.literal_eval(answer.value)]
    except (DebuggerError, ValueError, SyntaxError):
        return variables
    # A dictionary keeps the order of insertion: pydevd inserts as functions return.
    order = {name: -at for at, name in enumerate(names, 1)}
    return sorted(variables, key=lambda one: order.get(one.name, 0))


async def _own_first(connection: AdapterConnection, variables: list[Variable]) -> list[Variable]:
    """Put a frame's own variables before those of enclosing functions, where there are many."""
    is_frame = all(one.expression == one.name for one in variables)
    if len(variables) <= _MANY or not is_frame or connection.inspected_frame is None:
        return variables
    try:
        answer = await connection.evaluate(
            f"{INSIDE}.enclosing_names()", connection.inspected_frame, EvaluationPurpose.PRINT
        )
        outer = set(ast.literal_eval(answer.value).split())
    except (DebuggerError, ValueError, SyntaxError, AttributeError):
        return variables
    return sorted(variables, key=lambda one: one.name in outer)


async def _with_sizes(connection: AdapterConnection, variables: list[Variable]) -> list[Variable]:
    cut = [one for one in variables if one.type in _CUT and one.expression and "..." in one.value]
    if not cut:
        return variables
    requested = ",".join(
        f"(len({one.expression}),type(next(iter({one.expression}),None)).__name__)" for one in cut
    )
    try:
        answer = (
            await connection.evaluate(
                f"[{requested}]", connection.inspected_frame, EvaluationPurpose.PRINT
            )
        ).value
    except DebuggerError:
        return variables
    sizes = re.findall(r"\((\d+), '([^']*)'\)", answer)
    if len(sizes) != len(cut):
        return variables
    improved: Mapping[int, Variable] = {
        id(one): _add_size(one, int(size), element)
        for one, (size, element) in zip(cut, sizes, strict=True)
    }
    return [improved.get(id(one), one) for one in variables]


async def _add_shapes(connection: AdapterConnection, variables: list[Variable]) -> list[Variable]:
    """Add the shape to arrays and tables that are written in several lines, or cut."""
    tables = [
        one
        for one in variables
        if one.type in _TABLES and one.expression and ("\n" in one.value or "..." in one.value)
    ]
    if not tables:
        return variables
    requested = ",".join(
        f"str(tuple({one.expression}.shape))+' '+str(getattr({one.expression},'dtype',''))"
        for one in tables
    )
    try:
        answer = await connection.evaluate(
            f"[{requested}]", connection.inspected_frame, EvaluationPurpose.PRINT
        )
        shapes = ast.literal_eval(answer.value)
    except (DebuggerError, ValueError, SyntaxError):
        return variables
    shaped = {
        id(one): msgspec.structs.replace(one, value=f"{one.type} {shape.strip()}\n{one.value}")
        for one, shape in zip(tables, shapes, strict=False)
    }
    return [shaped.get(id(one), one) for one in variables]


def _is_of_every_frame(one: Variable) -> bool:
    """Return whether an attribute is one that every DataFrame and Series of pandas has."""
    is_accessor = one.name.startswith("_") or one.value.startswith(("'<unable to get", "<pandas."))
    return is_accessor or one.name in _OF_EVERY_FRAME or one.name.startswith("is_")


async def forget_returned(connection: AdapterConnection, thread: int) -> None:
    """Forget the return values of the step that is over, before the next one begins.

    pydevd keeps them in the caller's frame for as long as the call lasts.
    """
    try:
        frame = next(iter((await connection.read_stack(thread, levels=1)).frames), None)
        if frame is not None:
            await connection.evaluate(f"{INSIDE}.forget_returned()", frame, EvaluationPurpose.PRINT)
    except DebuggerError as error:
        # Stale return values are no reason to refuse a step; a dead adapter is.
        if error.code not in {ErrorCode.EVALUATION_FAILED, ErrorCode.NOT_SUPPORTED}:
            raise


def _is_no_return(one: Variable) -> bool:
    """Return whether a return value is None, which pydevd shows of a function that raised, too."""
    return one.value == "None" and one.name.startswith(_RETURNED)


def _is_method(one: Variable) -> bool:
    """Return whether a variable is a private method: pydevd hides the others only."""
    is_attribute = "." in (one.expression or "")
    return is_attribute and one.name.startswith("_") and one.type in _METHODS


def _add_size(variable: Variable, size: int, element: str) -> Variable:
    if variable.type in {"str", "bytes", "bytearray"}:
        value = f"{variable.type}[{size}] {parse_clipped(variable.value).text[:_TEXT_MAX]}…"
        return msgspec.structs.replace(variable, value=value)
    # The default repr says nothing beyond the type.
    is_plain = " object at 0x" not in variable.value
    head = f" {variable.value}" if is_plain else ""
    value = f"{variable.type}[{size}] of {element}{head}"
    return msgspec.structs.replace(variable, value=value, indexed=size)


async def read_page(
    connection: AdapterConnection, value: Variable, start: int, count: int
) -> list[Variable] | None:
    """Read a slice of a large container: `variables` ignores start and count, and cuts."""
    if value.expression is None or value.type not in _CUT or value.indexed is None:
        return None
    name, stop = value.expression, start + count
    if value.type in _SEQUENCES:
        # islice and not a slice: it takes a deque, too, and copies only the page.
        part = f"list(__import__('itertools').islice({name},{start},{stop}))"
    # Keys and values are read by two requests in the same order, which a dict guarantees.
    elif value.type == "dict":
        part = f"list(__import__('itertools').islice({name}.values(),{start},{stop}))"
    else:
        return None
    found = await _read_elements(connection, part)
    if value.type == "dict":
        keys = await _read_elements(connection, part.replace(".values(),", ".keys(),"))
        return [
            msgspec.structs.replace(one, name=key.value, expression=None)
            for key, one in zip(keys, found, strict=False)
        ]
    return [
        msgspec.structs.replace(one, name=f"[{start + at}]", expression=f"{name}[{start + at}]")
        for at, one in enumerate(found)
    ]


async def _read_elements(connection: AdapterConnection, expression: str) -> list[Variable]:
    answer = await connection.evaluate(
        expression, connection.inspected_frame, EvaluationPurpose.PRINT
    )
    found = await connection.fetch_variables(answer.handle, start=None, count=None)
    # pydevd adds `len()` and the like to the elements.
    return [one for one in found if one.name.isdecimal()]
