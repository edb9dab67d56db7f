"""Converts DAP's bodies to the debugger's own values. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

import msgspec

from debugger.backends.dap import messages as dap
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint
from debugger.model.location import plain_function
from debugger.model.program import (
    ExceptionDetails,
    Frame,
    Instruction,
    LoadedModule,
    Scope,
    ScopeKind,
    Thread,
    Variable,
)
from debugger.model.text_filters import clip_text

# Characters of one value: a bound for the daemon's memory, far above what a report shows.
VALUE_MAX = 1 << 16
LAZY = "accessor"
# js-debug 1.112: V8's text for the receiver, up to its first brace, a dot, and the method's name.
_OF_OBJECT = re.compile(r"(?:async )?(?:function\*? |class )?([\w$]+)?[^{}]*\{\.([^{}]+)\Z")
_NOWHERE = "?"  # delve: the source of code that is in no function

_KINDS = {
    "locals": ScopeKind.LOCALS,
    "local": ScopeKind.LOCALS,
    "arguments": ScopeKind.ARGUMENTS,
    "args": ScopeKind.ARGUMENTS,
    "globals": ScopeKind.GLOBALS,
    "global": ScopeKind.GLOBALS,
    "registers": ScopeKind.REGISTERS,
}


def to_thread(body: dap.DapThread) -> Thread:
    """Convert a thread."""
    # js-debug numbers threads from 0: an id is never tested for truth.
    return Thread(body.id, body.name or f"thread {body.id}")


def to_frames(bodies: Sequence[dap.DapStackFrame], first: int) -> tuple[Frame, ...]:
    """Convert frames; `first` is the index of the first."""
    return tuple(_to_frame(body, first + offset) for offset, body in enumerate(bodies))


def _to_frame(body: dap.DapStackFrame, index: int) -> Frame:
    # A frame without a path may still have source text of the adapter's own (`source_reference`).
    source = body.source
    path = source.path if source is not None and source.path != _NOWHERE else None
    return Frame(
        index=index,
        function=_clean_function(body.name or "?"),
        handle=body.id,
        file=path,
        # Lines count from 1; 0 is none.
        line=(body.line or None) if path else None,
        column=(body.column or None) if path else None,
        address=to_address(body.instruction_pointer_reference),
        source_reference=(source.source_reference or 0) if source is not None else 0,
        module=_module_file_name(body.module_id),
        is_subtle=body.presentation_hint == "subtle",
    )


def _module_file_name(module_id: str | int | None) -> str | None:
    """Return the name of the file that a frame's code is in, where the id is its path: gdb's is."""
    # Other adapters number their modules.
    path = module_id if isinstance(module_id, str) else ""
    return PurePath(path).name if path.startswith("/") else None


def _clean_function(name: str) -> str:
    """Remove from a function's name the words that lldb-dap and debugpy add to it.

    js-debug puts the global object before a function that is called without one, and before others
    the first part of V8's text for the object: `Timeout {.tick`, `function router (req, res)
    {.handle`.
    """
    object_match = _OF_OBJECT.match(name)
    name = ".".join(filter(None, object_match.groups())) if object_match is not None else name
    plain = plain_function(name).removesuffix(" [inlined]").removesuffix(" (Current frame)")
    return plain.removeprefix("global.")


def to_address(text: str | None) -> str | None:
    """Write an address as `0x…` in lower case without leading zeros; None if it is none."""
    try:
        # Base 0: adapters write addresses in hexadecimal or decimal (DAP: memoryReference is
        # opaque).
        number = int(text, 0) if text else -1
    except ValueError:
        return None
    return hex(number) if number >= 0 else None


def to_scopes(bodies: Sequence[dap.DapScope]) -> list[Scope]:
    """Convert a frame's scopes; the first one of unknown names is the locals'.

    vscode-perl-debug 0.7 has `My`, `Our` and `Specials`, without hints; elixir-ls 0.17 `variables`,
    and `arguments` by their numbers.
    """
    scopes = [to_scope(one) for one in bodies]
    unnamed = {ScopeKind.OTHER, ScopeKind.ARGUMENTS}
    is_unnamed = all(one.kind in unnamed for one in scopes)
    if scopes and scopes[0].kind is ScopeKind.OTHER and is_unnamed:
        scopes[0] = msgspec.structs.replace(scopes[0], kind=ScopeKind.LOCALS)
    return scopes


def to_scope(body: dap.DapScope) -> Scope:
    """Convert a scope; its kind is that of its hint or its name."""
    # The hint is optional, and its values are open (DAP: Scope): the name decides without one.
    kind = _KINDS.get((body.presentation_hint or body.name).lower(), ScopeKind.OTHER)
    if kind is ScopeKind.OTHER:
        # delve: "Locals (warning: optimized function)".
        kind = _KINDS.get(body.name.partition(" (")[0].lower(), ScopeKind.OTHER)
    return Scope(body.name, kind, body.variables_reference)


def to_variable(body: dap.DapVariable) -> Variable:
    """Convert a variable; a value over 64 Ki characters is cut.

    The value of a lazy variable is a placeholder: it is read only when its children are.
    """
    is_lazy = body.presentation_hint is not None and body.presentation_hint.lazy
    return Variable(
        name=body.name,
        value=clip_value(body.value or ""),
        type=LAZY if is_lazy else body.type or "",
        handle=body.variables_reference or 0,
        indexed=body.indexed_variables,
        named=body.named_variables,
        expression=body.evaluate_name,
    )


def to_evaluated(name: str, body: dap.EvaluateBody) -> Variable:
    """Convert the result of evaluate, setVariable or setExpression."""
    result = body.result if body.result is not None else body.value
    return Variable(
        name=name,
        # A command's output ends with a newline (lldb-dap's `repl`).
        value=clip_value((result or "").rstrip("\n")),
        type=body.type or "",
        handle=body.variables_reference or 0,
        indexed=body.indexed_variables,
        named=body.named_variables,
        expression=name,
    )


def clip_value(text: str) -> str:
    """Cut out the middle of a long value, so that one value cannot fill the memory."""
    return clip_text(text, VALUE_MAX)


def to_bound(body: dap.DapBreakpoint, breakpoint_: Breakpoint | None) -> BoundBreakpoint:
    """Convert an adapter's answer for a breakpoint; raw message keys are dropped."""
    spec = breakpoint_.spec if breakpoint_ is not None else None
    source = body.source.path if body.source is not None else None
    # js-debug sends a key of its own here until the file is loaded; gdb says "pending".
    message = body.message if body.message and " " in body.message else None
    return BoundBreakpoint(
        verified=body.verified,
        backend_id=body.id,
        file=source or (spec.file if spec is not None else None),
        line=body.line or (spec.line if spec is not None else None),
        address=to_address(body.instruction_reference),
        why=None if body.verified else message,
    )


def to_instructions(bodies: Sequence[dap.DapInstruction]) -> list[Instruction]:
    """Convert instructions; an omitted line is that of the instruction before."""
    converted: list[Instruction] = []
    file: str | None = None
    line: int | None = None
    for one in bodies:
        # Filler for memory that is no code (DAP: DisassembledInstruction).
        if one.presentation_hint == "invalid":
            continue
        # The protocol omits a location that is equal to the one before (DAP:
        # DisassembledInstruction).
        if one.location is not None:
            file = one.location.path or one.location.name
        line = one.line or line
        converted.append(
            Instruction(
                address=int(one.address, 0),
                text=(one.instruction or "?").strip(),
                bytes=(one.instruction_bytes or "").strip(),
                function=plain_function(one.symbol) if one.symbol else None,
                file=file,
                line=line if file else None,
            )
        )
    return converted


def to_module(body: dap.DapModule) -> LoadedModule:
    """Convert a module."""
    return LoadedModule(
        name=body.name or "?",
        path=body.path,
        address=to_address((body.address_range or "").partition("-")[0].strip() or None),
        version=body.version,
        symbols=body.symbol_status,
    )


def to_exception(body: dap.ExceptionInfoBody) -> ExceptionDetails:
    """Convert an exception's details; the inner ones are its causes."""
    details = body.details or dap.DapExceptionDetails()
    causes: list[str] = []
    inner = details.inner_exception
    # Bounded: a chain of causes may be a ring.
    while inner and len(causes) < _CAUSES_MAX:
        causes.append(f"{inner[0].type_name or 'exception'}: {inner[0].message or ''}")
        inner = inner[0].inner_exception
    return ExceptionDetails(
        type=details.type_name or body.exception_id or "exception",
        message=details.message or body.description or "",
        causes=tuple(causes),
        trace=details.stack_trace or "",
        part=details.part,
    )


_CAUSES_MAX = 10
