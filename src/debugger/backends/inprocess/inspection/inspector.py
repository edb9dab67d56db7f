"""Inspects and changes the frames of paused threads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from msgspec.structs import replace

from debugger.backends.inprocess.engine.engine_events import ThreadPaused
from debugger.backends.inprocess.inspection.assignment import ValueAssigner
from debugger.backends.inprocess.inspection.evaluation import EvaluationResult, ExpressionEvaluator
from debugger.backends.inprocess.inspection.memory_reading import run_reading
from debugger.backends.inprocess.inspection.thread_stacks import (
    FrameLevel,
    ThreadRegisters,
    ThreadStacks,
    general_group,
)
from debugger.backends.inprocess.inspection.watch_conditions import WatchedValues
from debugger.backends.inprocess.target_access import TargetAccess
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.program import (
    EvaluationPurpose,
    ExceptionDetails,
    Frame,
    Scope,
    ScopeKind,
    Stack,
    Stopped,
    Thread,
    Variable,
)
from debugger.model.signals import signal_name
from debugger.symbols.dwarf import container_shapes, less_common_shapes, unwinding, value_format
from debugger.symbols.dwarf.debug_types import TypeKind
from debugger.symbols.dwarf.location_evaluation import UnreadableMemory
from debugger.symbols.dwarf.scope_variables import DebugVariable as Declaration
from debugger.symbols.dwarf.scope_variables import VariableRole
from debugger.symbols.dwarf.typed_values import (
    TypedValue,
    ValueMemory,
    complete_object,
    read_pointee,
)
from debugger.symbols.dwarf.unwinding import LoadedBinaries

_NAME = re.compile(r"[A-Za-z_]\w*\Z")
_ELEMENT = re.compile(r"\[\d+\]\Z")
_PATH = re.compile(r"[\w.:\[\]]+\Z")
_TUPLE = re.compile(r"__(\d+)\Z")


@dataclass(frozen=True, slots=True)
class ScopeGroup:
    """Describes one of a frame's scopes."""

    level: FrameLevel
    kind: ScopeKind


@dataclass(frozen=True, slots=True)
class HandledValue:
    """Holds a reported value, and the expression that yields it again."""

    value: TypedValue
    path: str | None


class ValueHandles:
    """Keeps the scopes and values that were reported at one stop."""

    def __init__(self) -> None:
        self._known: dict[int, ScopeGroup | HandledValue] = {}
        # Handles are never reused, so that one of an earlier stop is refused.
        self._next = 1

    def forget_handles(self) -> None:
        """Forget all: handles of before are stale."""
        self._known.clear()

    def keep_value(self, one: ScopeGroup | HandledValue) -> int:
        """Return a new handle for a scope or a value."""
        handle, self._next = self._next, self._next + 1
        self._known[handle] = one
        return handle

    def find_value(self, handle: int) -> ScopeGroup | HandledValue:
        """Return the scope or value of a handle.

        Raises:
            DebuggerError: STALE_REF.
        """
        found = self._known.get(handle)
        if found is None:
            raise DebuggerError(
                ErrorCode.STALE_REF, "this value belongs to an earlier stop", hint="debugger locals"
            )
        return found

    def to_variable(
        self, name: str, value: TypedValue, memory: ValueMemory, path: str | None = None
    ) -> Variable:
        """Format a value in one line, with a handle where it has children."""
        text = value_format.format_value(value, memory)
        # A text, a null pointer and a problem in angle brackets have no children worth a
        # handle.
        is_leaf = text.startswith(('"', "0x0", "<")) or not value_format.has_children(value, memory)
        count = None if is_leaf else count_elements(value, memory)
        return Variable(
            name=name,
            value=text,
            type=value.type.name,
            handle=0 if is_leaf else self.keep_value(HandledValue(value, path)),
            indexed=count,
            expression=path,
        )

    def count_children(self, known: HandledValue, memory: ValueMemory) -> int:
        """Count the children of a value."""
        count = count_elements(known.value, memory)
        return (
            count
            if count is not None
            else len(value_format.list_children(known.value, memory, 0, 10_000))
        )

    def read_children(
        self, known: HandledValue, memory: ValueMemory, start: int, count: int | None
    ) -> list[Variable]:
        """Return the children of a value, or a part of them."""
        found = value_format.list_children(
            known.value, memory, start, count if count is not None else 1000
        )
        # A pointer whose object is of a derived class: no expression of the declared type
        # yields its members.
        path = known.path if _is_as_declared(known.value, memory) else None
        return [
            self.to_variable(
                _written_name(one.name), one.value, memory, _expression_path(path, one.name)
            )
            for one in found
        ]


def _is_as_declared(value: TypedValue, memory: ValueMemory) -> bool:
    if value.type.kind not in {TypeKind.POINTER, TypeKind.REFERENCE} or value.problem:
        return True
    try:
        named = read_pointee(value, memory)
    except UnreadableMemory:
        return True
    return complete_object(named, memory) is named


def count_elements(value: TypedValue, memory: ValueMemory) -> int | None:
    """Count the elements of an array or a container; None for what has none."""
    try:
        while value.type.kind is TypeKind.REFERENCE:
            value = read_pointee(value, memory)
        shape = less_common_shapes.find_shape(value, memory)
    except UnreadableMemory:
        return None
    if isinstance(shape, container_shapes.SequenceShape | container_shapes.MappingShape):
        return shape.count
    return (
        value.type.dimension_counts[0]
        if value.type.kind is TypeKind.ARRAY and value.type.dimension_counts
        else None
    )


def _written_name(name: str) -> str:
    match = _TUPLE.match(name)
    return match[1] if match else name


def _expression_path(of: str | None, name: str) -> str | None:
    if of is None:
        return None
    # `*p.x` would mean `*(p.x)`: other forms are put in brackets.
    of = of if _PATH.match(of) else f"({of})"
    if name == "*":
        return f"*{of}"
    if _ELEMENT.match(name):
        return f"{of}{name}"
    match = _TUPLE.match(name)
    if match:
        return f"{of}.{match[1]}"
    return f"{of}.{name}" if _NAME.match(name) else None


_SAYS = {
    "SIGSEGV": "Segmentation fault",
    "SIGBUS": "Bus error",
    "SIGFPE": "Arithmetic exception",
    "SIGILL": "Illegal instruction",
    "SIGABRT": "Aborted",
    "SIGTRAP": "Trace/breakpoint trap",
}
# siginfo's si_code, of each signal (sigaction(2)).
_CODES = {
    ("SIGSEGV", 1): "address not mapped",
    ("SIGSEGV", 2): "access not permitted",
    ("SIGSEGV", 128): "address not canonical, or unknown",
    ("SIGBUS", 1): "address not aligned",
    ("SIGBUS", 2): "no memory behind the address",
    ("SIGBUS", 3): "memory that failed",
    ("SIGFPE", 1): "integer division by zero",
    ("SIGFPE", 2): "integer overflow",
    ("SIGFPE", 3): "division by zero",
    ("SIGFPE", 4): "overflow",
    ("SIGFPE", 5): "underflow",
    ("SIGFPE", 6): "inexact result",
    ("SIGFPE", 7): "invalid operation",
    ("SIGILL", 1): "illegal opcode",
    ("SIGILL", 2): "illegal operand",
}
_WITH_ADDRESS = frozenset({"SIGSEGV", "SIGBUS"})
_SENT = 0  # a code of 0 or less: another process, or the program itself, has sent it
_UNKNOWN_ADDRESS = 128


def signal_reason(paused: ThreadPaused) -> str:
    """Return why a thread got its signal; "" where that is unknown."""
    name = signal_name(paused.signal)
    # A positive si_code comes from the kernel, for what the thread itself has done.
    if paused.signal_code > _SENT:
        return _CODES.get((name, paused.signal_code), "")
    if name == "SIGABRT":
        return "the program has called abort"
    return "sent by a process, perhaps by the program itself"


def signal_address(paused: ThreadPaused) -> int | None:
    """Return the address that a signal is about; None where there is none."""
    # SI_KERNEL (128) is a general protection fault: the kernel knows no address then.
    has_one = signal_name(paused.signal) in _WITH_ADDRESS
    return paused.fault if has_one and _SENT < paused.signal_code < _UNKNOWN_ADDRESS else None


def signal_details(paused: ThreadPaused, modules: LoadedBinaries) -> ExceptionDetails | None:
    """Describe the signal that a thread is paused for; None for another reason."""
    if not paused.signal:
        return None
    name = signal_name(paused.signal)
    text = _SAYS.get(name, name)
    why, at = signal_reason(paused), ""
    about = signal_address(paused)
    if about is not None:
        where = modules.symbol_name(about)
        at = f" at {about:#x}" + (f" <{where}>" if where else "")
    return ExceptionDetails(name, text + (f": {why}" if why else "") + at)


_GLOBALS_MAX = 1000
_SCOPES = (
    ("Arguments", ScopeKind.ARGUMENTS),
    ("Locals", ScopeKind.LOCALS),
    ("Globals", ScopeKind.GLOBALS),
    ("Registers", ScopeKind.REGISTERS),
)
# `x = 5`, and none of `==`, `<=`, `!=`.
_ASSIGNMENT = re.compile(r"(?P<target>[^=!<>\"']*[^=!<>\"'+\-*/%&|^])=(?P<value>[^=].*)\Z")


class ThreadInspector:
    """Reads stacks, scopes and values; frames and values keep their handles for one stop."""

    def __init__(self, target: TargetAccess) -> None:
        self._access = target
        self.machine = ThreadRegisters(target)
        self.stacks = ThreadStacks(target, self.machine)
        self._variables = ValueHandles()
        self.evaluating = ExpressionEvaluator(target, watched=lambda: self.watches.engine_watches)
        self._assigning = ValueAssigner(target, self.machine, self.stacks, self.evaluating)
        self.watches = WatchedValues(target, self.stacks, self.evaluating)

    def new_stop(self) -> None:
        """Forget frames and values: handles of the stop before are stale."""
        self.stacks.forget_all()
        self._variables.forget_handles()

    async def pause_counts(self, paused: ThreadPaused) -> bool:
        """Return whether a pause is reported; one of a watchpoint may be passed over.

        It must be called for every pause, before anything else is done with it.
        """
        return await self.watches.must_stay_paused(paused)

    async def list_threads(self) -> list[Thread]:
        """Return the threads, the first one first."""
        engine = self._access.engine
        # By the engine's own list, as a thread that was just resumed may not run yet.
        return [
            Thread(one.id, one.name, is_running=one.id not in engine.paused_threads)
            for one in await engine.list_threads()
        ]

    async def read_stack(self, thread: int, *, start: int = 0, levels: int = 20) -> Stack:
        """Return some frames of a thread.

        Raises:
            DebuggerError: WRONG_STATE for a thread that runs.
        """
        return await self.stacks.read_stack(thread, start=start, levels=levels)

    async def frame_level(self, frame: Frame) -> FrameLevel:
        """Return what is known of a reported frame.

        Raises:
            DebuggerError: STALE_REF, WRONG_STATE for a thread that runs.
        """
        return await self.stacks.frame_level(frame.handle)

    async def read_scopes(self, frame: Frame) -> list[Scope]:
        """Return the groups of variables of a frame: without debug information the registers."""
        level = await self.frame_level(frame)
        # Without debug information only registers can be shown.
        is_known = level.frame.entry is not None
        module = level.frame.module
        # A scope without variables may be one that a .dwo file has: the note says so.
        note = module.image.why_incomplete(level.frame.lookup - module.load_bias) if module else ""
        return [
            Scope(name, kind, self._variables.keep_value(ScopeGroup(level, kind)), note)
            for name, kind in _SCOPES
            if is_known or kind is ScopeKind.REGISTERS
        ]

    async def read_variables(
        self, handle: int, *, start: int = 0, count: int | None = None
    ) -> list[Variable]:
        """Return the children of a scope or a value, or a part of them.

        Raises:
            DebuggerError: STALE_REF.
        """
        known = self._variables.find_value(handle)
        if isinstance(known, HandledValue):
            return await run_reading(
                self._access,
                lambda memory: self._variables.read_children(known, memory, start, count),
            )
        # Scopes are lists that are known whole; a value's children are walked to, so they get
        # start and count.
        end = None if count is None else start + count
        if known.kind is ScopeKind.REGISTERS:
            shown = general_group(known.level.known_registers).registers
            return [Variable(one.name, one.value) for one in shown[start:end]]
        declared = _declared_variables(known)[start:end]
        frame = known.level.frame

        def work(memory: ValueMemory) -> list[Variable]:
            return [
                self._variables.to_variable(
                    one.name,
                    unwinding.variable_value(one, frame, memory),
                    memory,
                    None if one.is_shadowed else one.name,
                )
                for one in declared
            ]

        return await run_reading(self._access, work)

    async def count_elements(self, handle: int) -> int | None:
        """Return how many elements a value has; None where unknown.

        Raises:
            DebuggerError: STALE_REF.
        """
        known = self._variables.find_value(handle)
        if isinstance(known, ScopeGroup):
            return len(_declared_variables(known)) or None

        def work(memory: ValueMemory) -> int:
            return self._variables.count_children(known, memory)

        return await run_reading(self._access, work)

    async def complete_values(self, values: Sequence[Variable]) -> list[Variable]:
        """Return values as they are: nothing was truncated that could be completed."""
        return list(values)

    async def argument_names(self, frame: Frame) -> list[str] | None:
        """Return the names of the arguments among a frame's locals."""
        level = await self.frame_level(frame)
        return [one.name for one in _declared_variables(ScopeGroup(level, ScopeKind.ARGUMENTS))]

    # --- expressions ---

    async def evaluate(
        self, expression: str, frame: Frame | None, purpose: EvaluationPurpose
    ) -> Variable:
        """Evaluate an expression in a frame; `x = 5` assigns, where the purpose allows it.

        Raises:
            DebuggerError: EVALUATION_FAILED, STALE_REF, WRONG_STATE.
        """
        level = await self.frame_level(frame) if frame is not None else None
        assignment = (
            _ASSIGNMENT.match(expression) if purpose is EvaluationPurpose.EVALUATE else None
        )
        if assignment is not None and frame is not None:
            value = await self.assign_value(
                assignment["target"].strip(), assignment["value"], frame
            )
            return Variable(expression, value.value, value.type, value.handle)
        result = self.watches.watched_value(expression)
        if result is None:
            result = await self.evaluating.evaluate_result(expression, level)
        if "(" in expression:
            self.stacks.forget_frames()  # a function may have changed what they hold
        return await self.result_variable(expression, result)

    async def result_variable(self, name: str, result: EvaluationResult) -> Variable:
        """Tell an expression's value."""
        return await run_reading(
            self._access,
            lambda memory: self._variables.to_variable(name, result.value, memory, name),
        )

    async def assign_value(self, target: str, value: str, frame: Frame) -> Variable:
        """Set a variable, a field, an element or a register; return it as it is now.

        Raises:
            DebuggerError: EVALUATION_FAILED, STALE_REF, WRONG_STATE.
        """
        level = await self.frame_level(frame)
        await self._assigning.assign_value(target, value, level)
        # The value may be in a frame's saved registers, or be what the frames were unwound
        # by.
        self.stacks.forget_frames()
        return await self.evaluate(target, frame, EvaluationPurpose.PRINT)

    async def assign_global(self, target: str, value: str) -> tuple[Variable, Variable]:
        """Set a global while the program runs; return its old and its new value."""
        before = await self.result_variable(
            target, await self.evaluating.evaluate_result(target, None)
        )
        await self._assigning.assign_value(target, value, None)
        # The program runs: the value may have been changed again before it is read, or the
        # program has ended.
        written = replace(before, value=value.strip())
        try:
            after = await self.result_variable(
                target, await self.evaluating.evaluate_result(target, None)
            )
        except DebuggerError:
            return before, written  # to end the program, it may be
        return before, written if after.value.startswith("<unreadable") else after

    async def read_exception(self, stop: Stopped) -> ExceptionDetails | None:
        """Return the signal, or the exception, that a thread stopped at."""
        if stop.thread is None:
            return None
        return signal_details(self._access.paused_thread(stop.thread), self._access.modules)


def _declared_variables(group: ScopeGroup) -> list[Declaration]:
    """List the variables of a scope: shadowed ones come before what shadows them."""
    frame = group.level.frame
    if group.kind is ScopeKind.GLOBALS:
        module = frame.module
        if module is None:
            return []
        found = module.image.scopes.globals_of(frame.lookup - module.load_bias)
        return list(found[:_GLOBALS_MAX])
    is_argument = group.kind is ScopeKind.ARGUMENTS
    return [
        one
        for one in unwinding.frame_variables(frame)
        if (one.role is VariableRole.ARGUMENT) is is_argument
    ]


class InspectionAccess(TargetAccess, Protocol):
    """Gives access to the program and to the inspector of its frames."""

    inspector: ThreadInspector
