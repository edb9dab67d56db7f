"""How are JavaScript's values, scopes and exceptions shown as a reader wants them?

Facts are of js-debug 1.112 with Node 20.20.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from contextlib import suppress

import msgspec

from debugger.backends.dap import convert
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.adapters.js_debug.finish import RETURNED
from debugger.backends.dap.profile import Inside
from debugger.core.model import (
    ExceptionDetails,
    Frame,
    Purpose,
    Scope,
    ScopeKind,
    Stopped,
    Variable,
)
from debugger.errors import DebuggerError
from debugger.targets import javascript as source

_CLOSURE = "Closure"
_EVERYWHERE = {"[[Prototype]]", "[[Scopes]]"}
_NOBODY = {"undefined", "global"}
_WRAPPER = {"__dirname", "__filename", "exports", "module", "require"}
_SHORT = 100
_COLLECTION = re.compile(r"(?:Map|Set)\((\d+)\)")
_PAGED = 100  # of a Map or Set so many are shown as they are
_LEVEL_WITH_WORDS = re.compile(r"Uncaught (?:\(in promise\) ?)?")
_ABBREVIATED = re.compile(r"\((\d+)\) \[(?=.*\{…\})")
_ELEMENTS = 4  # of an array so many are shown with what they hold
_ARRAYS = 8
_IDENTIFIER = re.compile(r"[^\W\d][\w$]*\Z|\$[\w$]*\Z")
_PATH = re.compile(r"[\w$.\[\]'\"# ]*\Z")
_TITLE = re.compile(r"([\w$.]+)(?:: (.*))?\Z", re.DOTALL)
_INTERNAL = re.compile(r"[( ]node:")
# js-debug writes a line break as it is, or as `\n` where it writes an Error with its fields.
_FRAME = re.compile(r"(?:\n|\\n)\s+at ")


def scopes(bodies: Sequence[dap.Scope]) -> list[Scope]:
    """Convert scopes: what a function sees of the functions around it is local to it.

    js-debug calls a closure `arguments`. The outermost is the module's, where it has no function's
    name: it holds what the file declares for all its functions.
    """
    outermost = max((at for at, one in enumerate(bodies) if _is_closure(one)), default=-1)
    found: list[Scope] = []
    for at, body in enumerate(bodies):
        one = convert.scope(body)
        if _is_closure(body):
            is_module = (at == outermost and body.name == _CLOSURE) or _is_bundled(body.name)
            kind = ScopeKind.GLOBALS if is_module else ScopeKind.LOCALS
            one = msgspec.structs.replace(one, kind=kind)
        found.append(one)
    return found


def _is_closure(body: dap.Scope) -> bool:
    return body.name.startswith(_CLOSURE)


def _is_bundled(name: str) -> bool:
    """Tell a bundler's function around a module, which is named after its file."""
    function = name.removeprefix(f"{_CLOSURE} (").removesuffix(")")
    return "/" in function and "<" not in function


async def complete(inside: Inside, variables: Sequence[Variable]) -> list[Variable]:
    """Leave out what every object has, name the elements and what is returned."""
    found = [one for one in variables if not _is_noise(one)]
    if {one.name for one in found} >= _WRAPPER:
        # What Node gives every module: it says nothing of this one.
        found = [one for one in found if one.name not in _WRAPPER and one.name != "this"]
    if inside.lines is not None and inside.lines.is_changed:
        found = await _read_again(inside, found)
    found = [one for one in found if not is_native_accessor(one)]
    return [_named(inside, one) for one in await _with_elements(inside, found)]


def is_native_accessor(one: Variable) -> bool:
    """Tell what a prototype of V8's own computes, such as the length of a typed array."""
    return one.type == convert.LAZY and "{" not in one.value


async def _with_elements(inside: Inside, variables: list[Variable]) -> list[Variable]:
    """Show what the first elements of arrays hold, which V8 abbreviates to `{…}`."""
    arrays = [one for one in variables if one.handle and _ABBREVIATED.match(one.value)]
    shown: dict[int, Variable] = {}

    async def read(one: Variable) -> None:
        with suppress(DebuggerError):
            found = await _elements(inside, one.handle, 0, _ELEMENTS)
            texts = [each.value for each in found if each.name.isdecimal()][:_ELEMENTS]
            whole = _ABBREVIATED.match(one.value)
            if texts and whole is not None:
                more = ", …" if int(whole[1] or 1) > len(texts) else ""
                value = f"({whole[1]}) [{', '.join(texts)}{more}]"
                shown[one.handle] = msgspec.structs.replace(one, value=value)

    async with asyncio.TaskGroup() as reading:
        for one in arrays[:_ARRAYS]:
            reading.create_task(read(one))
    return [shown.get(one.handle, one) if one.handle else one for one in variables]


def shown(one: Variable) -> Variable:
    """Leave the stack out of the text of an Error that was evaluated: it is among its fields."""
    if one.handle and _FRAME.search(one.value):
        return msgspec.structs.replace(one, value=_FRAME.split(one.value)[0])
    return one


async def _read_again(inside: Inside, variables: list[Variable]) -> list[Variable]:
    """Evaluate the names of a scope: V8 shows a scope as it was when the program stopped."""
    names = [one.name for one in variables if one.expression == one.name != "this"]
    names = [one for one in names if _IDENTIFIER.match(one)]
    if not names:
        return variables
    # A name that is declared further down cannot be read yet.
    parts = ",".join(f"(()=>{{try{{return {one}}}catch{{}}}})()" for one in names)
    try:
        whole = await inside.request(
            "evaluate",
            ask.Evaluate(f"[{parts}]", "watch", inside.looked_at.handle if inside.looked_at else 0),
            dap.EvaluateBody,
        )
        values = await _elements(inside, whole.variables_reference or 0, 0, len(names))
    except DebuggerError:
        return variables
    fresh = {
        name: msgspec.structs.replace(value, name=name, expression=name)
        for name, value in zip(names, values, strict=False)
    }
    return [fresh.get(one.name, one) for one in variables]


async def evaluate(
    inside: Inside, expression: str, frame: Frame | None, purpose: Purpose
) -> Variable | None:
    """Note that an expression may change variables; its evaluation is left to the protocol."""
    del frame
    is_harmless = purpose is Purpose.PRINT and _PATH.match(expression)
    if inside.lines is not None and not is_harmless:
        inside.lines.is_changed = True
    return None


async def returned(inside: Inside, stop: Stopped, frame: Frame) -> Variable | None:
    """Return what the function returned that was just left."""
    del stop, frame
    return inside.lines.returned if inside.lines is not None else None


async def assign(inside: Inside, target: str, value: str, frame: Frame) -> bool:
    """Refuse a name that is not there: an assignment would make a global variable of it."""
    del value
    if _IDENTIFIER.match(target):
        await inside.evaluate(target, frame, Purpose.PRINT)
    if inside.lines is not None:
        inside.lines.is_changed = True
    return False


def _is_noise(one: Variable) -> bool:
    is_this = one.name == "this" and (one.value in _NOBODY or one.type in _NOBODY)
    return one.name in _EVERYWHERE or is_this


def _named(inside: Inside, one: Variable) -> Variable:
    if one.name == RETURNED:
        function = inside.looked_at.function if inside.looked_at is not None else ""
        return msgspec.structs.replace(one, name=f"(return) {function}", expression=None)
    if one.name.isdecimal():
        one = msgspec.structs.replace(one, name=f"[{one.name}]")
    if one.type.endswith("Function") and ("\n" in one.value or len(one.value) > _SHORT):
        head = one.value.partition("{")[0].strip()[:_SHORT]
        return msgspec.structs.replace(one, value=f"{head} {{…}}")
    if one.type == convert.LAZY:
        return msgspec.structs.replace(one, value="<accessor>")
    one = shown(one)
    many = _COLLECTION.match(one.value) if one.type in {"Map", "Set"} else None
    if many is not None and int(many[1]) > _PAGED:
        return msgspec.structs.replace(one, indexed=int(many[1]))
    return one


async def page(inside: Inside, value: Variable, start: int, count: int) -> list[Variable] | None:
    """Read a part of an array, which js-debug gives only if its elements alone are asked for."""
    if value.indexed is None:
        return None
    if value.type in {"Map", "Set"}:
        return await _collected(inside, value, start, count)
    found = await _elements(inside, value.handle, start, count)
    return [_named(inside, one) for one in found if one.name.isdecimal()]


async def _elements(inside: Inside, handle: int, start: int, count: int) -> list[Variable]:
    arguments = {"variablesReference": handle, "filter": "indexed", "start": start, "count": count}
    body = await inside.request("variables", arguments, dap.VariablesBody)
    return [convert.variable(one) for one in body.variables]


async def _collected(
    inside: Inside, value: Variable, start: int, count: int
) -> list[Variable] | None:
    """Read a part of a Map or a Set; js-debug gives all of it."""
    if value.expression is None:
        return None
    part = f"Array.from({value.expression}).slice({start},{start + count})"
    whole = await inside.evaluate(part, inside.looked_at, Purpose.PRINT)
    found = await _elements(inside, whole.handle, 0, count)
    return [
        msgspec.structs.replace(one, name=f"[{start + at}]", expression=None)
        for at, one in enumerate(each for each in found if each.name.isdecimal())
    ]


async def arguments(inside: Inside, frame: Frame) -> list[str] | None:
    """Return the names of a function's arguments, as its text has them."""
    del inside
    found = source.outline(frame.file) if frame.file is not None else None
    if found is None or frame.line is None:
        return None
    function = found.around(frame.line, frame.column)
    return list(function.arguments) if function is not None else []


def details(told: ExceptionDetails) -> ExceptionDetails:
    """Split what js-debug says of an exception: its type and its message are one text."""
    text = _LEVEL_WITH_WORDS.sub("", told.type, count=1)
    found = _TITLE.match(text) if told.trace else None
    if found is None:
        # An Error knows where it was made; anything else can be thrown, too.
        return msgspec.structs.replace(told, type="thrown value", message=text)
    lines = [line.strip() for line in told.trace.splitlines()]
    while lines and _INTERNAL.search(lines[-1]):
        lines.pop()
    trace = "\n".join(f"  {line}" for line in lines)
    return msgspec.structs.replace(told, type=found[1], message=found[2] or "", trace=trace)


async def out_of_memory(inside: Inside, stop: Stopped) -> ExceptionDetails | None:
    """Return what V8 stops for when its heap is full, of which js-debug knows no exception."""
    del inside
    if "Out Of Memory" not in (stop.description or ""):
        return None
    return ExceptionDetails("OutOfMemory", "JavaScript heap out of memory")


def type_condition(types: Sequence[str]) -> str:
    """Write what holds of an error of one of these types."""
    return f"{json.dumps(list(types))}.some(n=>n===error?.name||n===error?.constructor?.name)"


def problem(text: str) -> str:
    """Leave out that it is uncaught, and where in the expression."""
    first = _FRAME.split(text.strip())[0]
    plain = _LEVEL_WITH_WORDS.sub("", first, count=1)
    # In a REPL js-debug says the type twice.
    kind, _, rest = plain.partition(" ")
    plain = rest if rest.startswith(f"{kind}:") else plain
    if "await can not be used" in plain or "await is only valid" in plain:
        return "await cannot be used while the program stands still: nothing would fulfil it"
    return plain
