"""Formats JavaScript's values, scopes and exceptions for an answer."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from contextlib import suppress

import msgspec

from debugger.backends.adapters.js_debug.js_steps import RETURNED
from debugger.backends.dap import dap_convert
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.debug_adapter import AdapterConnection
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.program import (
    EvaluationPurpose,
    ExceptionDetails,
    Frame,
    Scope,
    ScopeKind,
    Stopped,
    StopReason,
    Variable,
)
from debugger.model.statement import LOCALS
from debugger.sources import javascript_declarations as declarations
from debugger.sources import javascript_outline as source
from debugger.sources.expression_names import variables_of

# Characters of a field's value: a longer one would fill the object's whole preview.
_SHORT = 100
_KIND_ALONE = re.compile(r"[\w$]+\Z")
_ABBREVIATED = re.compile(
    r"\{…\}|\bArray\(\d+\)|\b(?:Map|Set)\([1-9]\d*\)(?! [{\[])|"
    r"(?<=[\[ ])(?!NaN|Infinity)[A-Z_$][\w$]*(?=[,\]}])"
)
_LENGTH = re.compile(r"\((\d+)\) \[")
_HEAD = re.compile(r"([\w$]*\((\d+)\)) ?")
# js-debug writes a line break as it is, or as `\n` where an expression was evaluated.
FRAME = re.compile(r"(?:\n|\\n)\s+at ")
# A frame of a stack, up to its position, or to where V8 cut the text: at its end or in its middle.
_FRAME_TEXT = re.compile(
    FRAME.pattern + r"(?:(?!\n|\\n).)*?(?:\d+:\d+|…[\d:]*|<anonymous>|native|index \d+)\)*"
    r"(?=\n|\\n|, (?!<anonymous>:)| \{|[\]}']|\Z)"
)
_ERROR = re.compile(r"[\w$.]+(?:: |\n|\\n)")
# What V8 lists of an error that its first line says already.
_STACK_FIELDS = re.compile(r"(?<=[{ ])(?:stack|message): '.*?'(?:, |(?=\}))", re.DOTALL)
_BYTES = re.compile(
    r"(?:, |(?<=\[))buffer: (?:Shared)?ArrayBuffer\(\d+\), byteLength: \d+, byteOffset: \d+, "
    r"length: \d+(?:, Symbol\(Symbol\.toStringTag\): '\w+')?(?=[,\]])"
)
_ASYNC_ID_NOISE = re.compile(r", Symbol\((?:trigger_)?async_id_symbol\): \d+")
_SIZE = re.compile(r"\A((?:[\w$]+)\(\d+\) \{)size: \d+(?:, )?")


def plain_preview(value: str) -> str:
    """Remove an Error's stack, and fields that every typed array, promise or collection has."""
    if FRAME.search(value):
        value = _FRAME_TEXT.sub("", value)
        if _ERROR.match(value):
            value = _STACK_FIELDS.sub("", value).replace(", }", "}").removesuffix(" {}")
        # A frame that V8 cut in its middle: all from there on is a part of the stack.
        first, *cut = FRAME.split(value, maxsplit=1)
        value = f"{first}…" if cut else first
    for noise in (_BYTES, _ASYNC_ID_NOISE):
        value = noise.sub("", value)
    return _SIZE.sub(r"\1", value)


def is_abbreviated(value: str) -> bool:
    """Return whether a preview names only the kind of a value that it contains."""
    return bool(_ABBREVIATED.search(value))


def array_preview(value: str, elements: Sequence[Variable], count: int) -> str:
    """Write the first elements of an array; missing ones are holes."""
    length = _LENGTH.match(value)
    if length is None or not elements:
        return value
    size = int(length[1])
    found = {int(one.name): one.value for one in elements}
    # A hole is no `undefined`: js-debug leaves its index out.
    shown = [found.get(at, "<empty>") for at in range(min(size, count))]
    more = ", …" if size > count else ""
    return f"({size}) [{', '.join(shown)}{more}]"


def entry_count(value: str) -> int | None:
    """Parse the number of entries of a Map or a Set."""
    head = _HEAD.match(value)
    return int(head[2]) if head is not None else None


def collection_preview(value: str, entries: Sequence[str]) -> str:
    """Write the first entries of a Map or a Set.

    V8's own preview has strings without quotes, as if they were numbers, so without entries only
    the size is written.
    """
    head = _HEAD.match(value)
    if head is None:
        return value
    if not entries:
        return head[1] if int(head[2]) else f"{head[1]} {{}}"
    # The size in the head is the real one: entries may be cut.
    more = ", …" if int(head[2]) > len(entries) else ""
    return f"{head[1]} {{{', '.join(entries)}{more}}}"


def object_preview(value: str, fields: Sequence[Variable]) -> str:
    """Put the fields' values into an object's preview."""
    for one in fields:
        if not one.handle or len(one.value) > _SHORT or _KIND_ALONE.match(one.value):
            continue
        # Only an abbreviated field is replaced: V8's own text of the others is complete.
        field = re.compile(rf"(?<=[{{ ]){re.escape(one.name)}: (?:{_ABBREVIATED.pattern})")
        found = field.search(value)
        if found is not None:
            value = f"{value[: found.start()]}{one.name}: {one.value}{value[found.end() :]}"
    return value


_LOCAL = "Local"
_CLOSURE = "Closure"
_EVERYWHERE = {"[[Prototype]]", "[[Scopes]]"}
_NOBODY = {"undefined", "global"}
_WRAPPER = {"__dirname", "__filename", "exports", "module", "require"}
_COLLECTIONS = {"Map": "entries", "Set": "values"}
_LEVEL_WITH_WORDS = re.compile(r"Uncaught (?:\(in promise\) ?)?")
_ELEMENTS = 4  # of an array, a Map or a Set so many are shown with what they hold
_LISTED_MAX = 100  # of a Map or a Set js-debug lists all
_ABBREVIATED_MAX = 8  # so many values of one list are completed
_IDENTIFIER = re.compile(r"[^\W\d][\w$]*\Z|\$[\w$]*\Z")
_PATH = re.compile(r"[\w$.\[\]'\"# ]*\Z")
_TITLE = re.compile(r"([\w$.]+)(?: \[\w+\])?(?:: (.*))?\Z", re.DOTALL)
# Below the place, the statement and a row of carets: both are empty behind the file's last line.
_UNREADABLE = re.compile(r"\n *(\^+|(?<=:\d\n)\n*)\n+(?=\w*Error: )")
_RETHROWN = "internal/event_target"  # where Node throws what nobody has taken care of
_INTERNAL = re.compile(r"[( ]node:")
_ASYNC_IDS = {"Symbol(async_id_symbol)", "Symbol(trigger_async_id_symbol)"}


def convert_scopes(bodies: Sequence[dap.DapScope]) -> list[Scope]:
    """Convert scopes; variables of enclosing functions count as local to a function.

    js-debug calls a closure `argument_names`. The module's closure is no such scope: it holds what
    the file declares for all its functions. It is the outermost one without a function's name, and
    so are all that the source has no function for, or that begin in another file, as a bundler's
    do.
    """
    # js-debug lists the scopes from the inside out.
    closures = [at for at, one in enumerate(bodies) if one.name.startswith(_CLOSURE)]
    local = next((one for one in bodies if one.name.startswith(_LOCAL)), None)
    depth = _scope_depth(local) if local is not None else None
    # So many functions are around the frame's own; closures beyond them are the module's.
    most = len(closures) if depth is None else max(depth - 1, 0)
    found: list[Scope] = []
    for at, body in enumerate(bodies):
        one = dap_convert.to_scope(body)
        if at in closures:
            is_last = at == closures[-1] and body.name == _CLOSURE
            own = _scope_depth(body)
            is_own = own > 0 if own is not None else closures.index(at) < most and not is_last
            # A bundler's functions are around the program's, in the bundle, but not in the source.
            is_own = is_own and _is_of_file(body, local)
            kind = ScopeKind.LOCALS if is_own and most else ScopeKind.GLOBALS
            one = msgspec.structs.replace(one, kind=kind)
        found.append(one)
    return found


def _is_of_file(body: dap.DapScope, local: dap.DapScope | None) -> bool:
    """Return whether a scope begins in the file of the frame; a bundler's scope does not."""
    places = [one.source.path for one in (body, local) if one is not None and one.source]
    return len(set(filter(None, places))) < 2  # noqa: PLR2004 - both, and they differ


def _scope_depth(body: dap.DapScope) -> int | None:
    """Count the functions around a scope's beginning, its own included; None if not known."""
    if body.source is None or body.source.path is None or body.source.source_reference:
        return None
    found = source.outline_file(body.source.path)
    if found is None or not (body.line and body.column):
        return None
    # What begins with the file is Node's function around it.
    is_whole = (body.line, body.column) == (1, 1)
    return 0 if is_whole else found.nesting_depth(body.line, body.column)


async def complete_variables(
    connection: AdapterConnection, variables: Sequence[Variable]
) -> list[Variable]:
    """Remove variables that every object has, and name the elements and the return value."""
    found = [one for one in variables if not _is_noise(one)]
    # All five together are CommonJS's wrapper; one of them alone may be the program's own.
    if {one.name for one in found} >= _WRAPPER:
        # What Node gives every module: it says nothing of this one.
        found = [one for one in found if one.name not in _WRAPPER and one.name != "this"]
    if connection.breakpoint_sender is not None and connection.breakpoint_sender.is_changed:
        found = await _read_again(connection, found)
    # Such an accessor costs an evaluation, and shows what the preview has already.
    found = [one for one in found if not is_native_accessor(one)]
    found = [_named_property(connection, one) for one in found]
    return await _complete_elements(connection, found)


def is_native_accessor(one: Variable) -> bool:
    """Return whether a prototype of V8's computes a property, as a typed array's length."""
    return one.type == dap_convert.LAZY and "{" not in one.value


async def _complete_elements(
    connection: AdapterConnection, variables: list[Variable]
) -> list[Variable]:
    """Show the members of the first elements and fields, which V8 abbreviates to `{…}`."""
    found: dict[int, str] = {}

    async def read(one: Variable) -> None:
        # The value stays as V8 wrote it.
        with suppress(DebuggerError):
            if _is_unwritten(one):
                body = await _evaluate_here(connection, "this")
                one = msgspec.structs.replace(one, value=plain_preview(body.result or one.value))
            if one.type in _COLLECTIONS:
                entries = await _read_entries(connection, one, 0, _ELEMENTS)
                shown = [text for text, _ in entries or await _listed_entries(connection, one)]
                found[one.handle] = collection_preview(one.value, shown)
            elif one.type == "Array":
                elements = await _read_elements(connection, one.handle, 0, _ELEMENTS)
                found[one.handle] = array_preview(
                    one.value, [_brief_value(each) for each in elements], _ELEMENTS
                )
            else:
                fields = await _read_fields(connection, one.handle)
                found[one.handle] = object_preview(
                    one.value, [_brief_value(each) for each in fields]
                )

    short = [
        one
        for one in variables
        if one.handle
        and (one.type in _COLLECTIONS or is_abbreviated(one.value) or _is_unwritten(one))
    ]
    # At once: js-debug takes up to 48 ms for a request.
    async with asyncio.TaskGroup() as reading:
        # A bound for a list of thousand objects: each costs a request or two.
        for one in short[:_ABBREVIATED_MAX]:
            reading.create_task(read(one))
    return [
        msgspec.structs.replace(one, value=found[one.handle]) if one.handle in found else one
        for one in variables
    ]


def _is_unwritten(one: Variable) -> bool:
    """Return whether V8 names only the class: it gives a frame's `this` without a preview."""
    return one.name == one.expression == "this" and bool(_IDENTIFIER.match(one.value))


def _plain_variable(one: Variable) -> Variable:
    return msgspec.structs.replace(one, value=plain_preview(one.value)) if one.handle else one


def _brief_value(one: Variable) -> Variable:
    """Write a member's value, which is not completed itself."""
    one = _plain_variable(one)
    if one.type in _COLLECTIONS:
        # Without entries: reading these, too, would have no end.
        return msgspec.structs.replace(one, value=collection_preview(one.value, []))
    return one


async def shown_result(connection: AdapterConnection, one: Variable) -> Variable:
    """Write the result of an expression as variables are written."""
    return (await _complete_elements(connection, [_plain_variable(one)]))[0]


async def _read_again(connection: AdapterConnection, variables: list[Variable]) -> list[Variable]:
    """Evaluate the names of a scope: V8 shows a scope as it was when the program stopped."""
    names = [one.name for one in variables if one.expression == one.name != "this"]
    names = [one for one in names if _IDENTIFIER.match(one)]
    if not names:
        return variables
    # A name that is declared further down cannot be read yet.
    # In one expression, as an array: one request for its elements instead of one for each name.
    parts = ",".join(f"(()=>{{try{{return {one}}}catch{{}}}})()" for one in names)
    try:
        array = await _evaluate_handle(connection, f"[{parts}]")
        values = await _read_elements(connection, array, 0, len(names))
    except DebuggerError:
        return variables
    # A name without a value keeps what the scope showed.
    fresh = {
        name: msgspec.structs.replace(value, name=name, expression=name)
        for name, value in zip(names, values, strict=False)
    }
    return [fresh.get(one.name, one) for one in variables]


async def _evaluate_here(connection: AdapterConnection, expression: str) -> dap.EvaluateBody:
    """Evaluate an expression of ours in the selected frame."""
    frame = connection.inspected_frame.handle if connection.inspected_frame else 0
    body: dap.EvaluateBody = await connection.send_request(
        "evaluate", ask.EvaluateArguments(expression, "watch", frame), dap.EvaluateBody
    )
    return body


async def _evaluate_handle(connection: AdapterConnection, expression: str) -> int:
    """Evaluate an expression of ours in the selected frame; return the handle of its value."""
    return (await _evaluate_here(connection, expression)).variables_reference or 0


async def note_evaluation(
    connection: AdapterConnection, expression: str, frame: Frame | None, purpose: EvaluationPurpose
) -> Variable | None:
    """Note that an expression may change variables; its evaluation is left to the protocol.

    Raises:
        DebuggerError: EVALUATION_FAILED if it reads a variable whose declaration has not run.
    """
    await _check_declared(connection, expression, frame)
    # A path of names changes nothing, unless it has getters.
    is_harmless = purpose is EvaluationPurpose.PRINT and _PATH.match(expression)
    if connection.breakpoint_sender is not None and not is_harmless:
        connection.breakpoint_sender.is_changed = True
    return None


async def _check_declared(
    connection: AdapterConnection, expression: str, frame: Frame | None
) -> None:
    """Check that the variables which an expression reads have their declarations behind them."""
    if frame is None or frame.file is None or frame.line is None:
        return
    names = variables_of(expression)
    undeclared = declarations.find_undeclared(frame.file, frame.line, names, frame.column)
    tests = {name: f"typeof {name}==='undefined'" for name in undeclared}
    for name in declarations.linked_names(frame.file):
        tests[name] = declarations.linked_test(name)
    for name in [one for one in names if one in tests]:
        arguments = ask.EvaluateArguments(tests[name], "watch", frame.handle)
        try:
            body = await connection.send_request("evaluate", arguments, dap.EvaluateBody)
            is_missing = body.result == "true"
        except DebuggerError as error:
            if error.code is not ErrorCode.EVALUATION_FAILED:
                raise
            is_missing = True  # a variable that a closure has: V8 refuses it
        if is_missing:
            why = declarations.describe_undeclared(name, undeclared.get(name))
            raise DebuggerError(ErrorCode.EVALUATION_FAILED, why, hint=LOCALS)


async def returned_value(
    connection: AdapterConnection, stop: Stopped, frame: Frame
) -> Variable | None:
    """Return the value that the function that was just left has returned."""
    del stop, frame
    return (
        connection.breakpoint_sender.returned if connection.breakpoint_sender is not None else None
    )


async def refuse_new_name(
    connection: AdapterConnection, target: str, value: str, frame: Frame
) -> bool:
    """Refuse to set a name that does not exist: the assignment would make a global variable."""
    del value
    # An attribute of an object may be new: that is an ordinary assignment.
    if _IDENTIFIER.match(target):
        await connection.evaluate(target, frame, EvaluationPurpose.PRINT)
    if connection.breakpoint_sender is not None:
        connection.breakpoint_sender.is_changed = True
    return False


def _is_noise(one: Variable) -> bool:
    is_this = one.name == "this" and (one.value in _NOBODY or one.type in _NOBODY)
    return one.name in _EVERYWHERE or one.name in _ASYNC_IDS or is_this


def _named_property(connection: AdapterConnection, one: Variable) -> Variable:
    if one.name == RETURNED:
        # The value belongs to the function whose frame is inspected, which is about to return.
        function = (
            connection.inspected_frame.function if connection.inspected_frame is not None else ""
        )
        return msgspec.structs.replace(one, name=f"(return) {function}", expression=None)
    if one.name.isdecimal():
        one = msgspec.structs.replace(one, name=f"[{one.name}]")
    if one.type.endswith("Function") and ("\n" in one.value or len(one.value) > _SHORT):
        head = one.value.partition("{")[0].strip()[:_SHORT]
        return msgspec.structs.replace(one, value=f"{head} {{…}}")
    # A getter is not run for a list of variables: it is the program's code.
    if one.type == dap_convert.LAZY:
        return msgspec.structs.replace(one, value="<accessor>")
    one = _plain_variable(one)
    if one.type in _COLLECTIONS and _PATH.match(one.expression or "("):
        return msgspec.structs.replace(one, indexed=entry_count(one.value))
    return one


async def read_page(
    connection: AdapterConnection, value: Variable, start: int, count: int
) -> list[Variable] | None:
    """Read a part of an array: js-debug gives one only for a request with the filter `indexed`."""
    if value.indexed is None:
        return None
    if value.type in _COLLECTIONS:
        entries = await _read_entries(connection, value, start, count)
        if entries is None:
            return None
        return [
            msgspec.structs.replace(one, name=f"[{start + at}]", value=text, expression=None)
            for at, (text, one) in enumerate(entries)
        ]
    found = await _read_elements(connection, value.handle, start, count)
    return await _complete_elements(connection, [_named_property(connection, one) for one in found])


async def _read_elements(
    connection: AdapterConnection, handle: int, start: int, count: int
) -> list[Variable]:
    """Read elements of an array; holes are omitted."""
    arguments = {"variablesReference": handle, "filter": "indexed", "start": start, "count": count}
    body = await connection.send_request("variables", arguments, dap.VariablesBody)
    found = [dap_convert.to_variable(one) for one in body.variables]
    return [one for one in found if one.name.isdecimal()]


async def _read_fields(connection: AdapterConnection, handle: int) -> list[Variable]:
    body = await connection.send_request(
        "variables", ask.VariablesArguments(handle), dap.VariablesBody
    )
    return [dap_convert.to_variable(one) for one in body.variables]


async def _read_entries(
    connection: AdapterConnection, value: Variable, start: int, count: int
) -> list[tuple[str, Variable]] | None:
    """Read entries of a Map or a Set, each with its text; js-debug itself gives all or none.

    An expression that may have side effects is not evaluated again for it.
    """
    if value.expression is None or not _PATH.match(value.expression):
        return None
    # By the prototype: the object may have a method of its own by this name.
    walk = f"{value.type}.prototype.{_COLLECTIONS[value.type]}.call({value.expression})"
    is_map = value.type == "Map"
    # Keys and values one after the other; of what they are nothing is flattened.
    flat = ".flatMap(e=>e)" if is_map else ""
    part = f"Array.from({walk}).slice({start},{start + count}){flat}"
    entries = await _evaluate_handle(connection, part)
    found = await _read_elements(connection, entries, 0, 2 * count if is_map else count)
    found = [_brief_value(one) for one in found]
    if not is_map:
        return [(one.value, one) for one in found]
    pairs = zip(found[::2], found[1::2], strict=False)
    return [(f"{key.value} => {item.value}", item if item.handle else key) for key, item in pairs]


async def _listed_entries(
    connection: AdapterConnection, value: Variable
) -> list[tuple[str, Variable]]:
    """Read the entries of a small Map or Set as js-debug lists them: `{"a" => Object}`."""
    size = entry_count(value.value)
    if size is None or size > _LISTED_MAX:
        return []
    found = [one for one in await _read_fields(connection, value.handle) if one.name.isdecimal()]
    is_map = value.type == "Map"
    return [(one.value[1:-1] if is_map else one.value, one) for one in found[:_ELEMENTS]]


async def argument_names(connection: AdapterConnection, frame: Frame) -> list[str] | None:
    """Return the names of a function's arguments, as its text has them."""
    del connection
    found = source.outline_file(frame.file) if frame.file is not None else None
    if found is None or frame.line is None:
        return None
    function = found.innermost_function(frame.line, frame.column)
    return list(function.arguments) if function is not None else []


def exception_details(details: ExceptionDetails) -> ExceptionDetails:
    """Split js-debug's description of an exception, whose type and message are one text."""
    text = _LEVEL_WITH_WORDS.sub("", details.type, count=1)
    # A file that cannot be compiled is said before the error's title, with its line.
    # A SyntaxError's text begins with the file, the line and a row of carets.
    place, marks, title = (*_UNREADABLE.split(text, maxsplit=1), "", "")[:3]
    if marks and _TITLE.match(title):
        text = f"{title} ({place.partition(chr(10))[0]})"
    found = _TITLE.match(text) if details.trace or marks else None
    if found is None:
        # An Error knows where it was made; anything else can be thrown, too.
        return msgspec.structs.replace(details, type="thrown value", message=text)
    lines = [line.strip() for line in details.trace.splitlines()]
    # Node's own frames at the end, as Node itself prints them, say nothing of the program.
    while lines and _INTERNAL.search(lines[-1]):
        lines.pop()
    trace = "\n".join(f"  {line}" for line in lines)
    return msgspec.structs.replace(details, type=found[1], message=found[2] or "", trace=trace)


async def own_exception(connection: AdapterConnection, stop: Stopped) -> ExceptionDetails | None:
    """Return an exception that js-debug does not know: a full heap, or a worker's exception.

    Node throws a copy of the worker's exception in its parent, with the worker's stack.
    """
    # js-debug reports a full heap by the stop's description alone.
    if "Out Of Memory" in (stop.description or ""):
        return ExceptionDetails("OutOfMemory", "JavaScript heap out of memory")
    if stop.reason is not StopReason.EXCEPTION or stop.thread is None:
        return None
    frames = (await connection.read_stack(stop.thread, levels=1)).frames
    if not frames or _RETHROWN not in (frames[0].file or ""):
        return None
    # `err` is the variable of Node's own function that rethrows.
    arguments = ask.EvaluateArguments("err.stack", "clipboard", frames[0].handle)
    try:
        body = await connection.send_request("evaluate", arguments, dap.EvaluateBody)
    except DebuggerError:
        return None
    stack = (body.result or "").strip("`'\"")
    return exception_details(ExceptionDetails(stack.partition("\n    at ")[0], "", trace=stack))


def type_condition(types: Sequence[str]) -> str:
    """Write a condition that is true of an error of one of these types."""
    return f"{json.dumps(list(types))}.some(n=>n===error?.name||n===error?.constructor?.name)"


def error_text(text: str) -> str:
    """Remove from an error that it is uncaught, and its position in the expression."""
    first = FRAME.split(text.strip())[0]
    plain = _LEVEL_WITH_WORDS.sub("", first, count=1)
    # In a REPL js-debug says the type twice.
    kind, _, rest = plain.partition(" ")
    plain = rest if rest.startswith(f"{kind}:") else plain
    if "await can not be used" in plain or "await is only valid" in plain:
        return "await cannot be used while the program stands still: nothing would fulfil it"
    return plain
