"""Defines the messages that an adapter sends: typed bodies, named as in the protocol's schema.

Fields that an adapter may omit, or send as null against the schema, have a default. Fields that
nothing reads are not defined.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw, Struct


class Body(Struct, frozen=True, rename="camel"):
    """The base of all bodies from an adapter; unknown keys are ignored."""


_NOTHING = Raw(b"{}")


class Message(Struct, frozen=True):
    """The envelope of every message from an adapter (DAP: ProtocolMessage)."""

    type: str
    seq: int = 0
    command: str = ""
    event: str = ""
    request_seq: int = 0
    success: bool = False
    message: str | None = None
    body: Raw = _NOTHING
    arguments: Raw = _NOTHING


class Source(Body, frozen=True):
    """DAP: Source."""

    name: str | None = None
    path: str | None = None
    source_reference: int | None = None


class Capabilities(Body, frozen=True):
    """DAP: Capabilities, as far as a request depends on one."""

    supports_configuration_done_request: bool = False
    supports_function_breakpoints: bool = False
    supports_conditional_breakpoints: bool = False
    supports_hit_conditional_breakpoints: bool = False
    supports_log_points: bool = False
    supports_set_variable: bool = False
    supports_set_expression: bool = False
    supports_exception_info_request: bool = False
    supports_terminate_request: bool = False
    support_terminate_debuggee: bool = False
    supports_delayed_stack_trace_loading: bool = False
    supports_restart_request: bool = False
    supports_step_in_targets_request: bool = False
    supports_goto_targets_request: bool = False
    supports_data_breakpoints: bool = False
    supports_instruction_breakpoints: bool = False
    supports_read_memory_request: bool = False
    supports_write_memory_request: bool = False
    supports_disassemble_request: bool = False
    supports_modules_request: bool = False
    supports_loaded_sources_request: bool = False
    supports_breakpoint_locations_request: bool = False
    supports_cancel_request: bool = False
    supports_completions_request: bool = False
    supports_step_back: bool = False
    supports_restart_frame: bool = False
    supports_terminate_threads_request: bool = False
    supports_stepping_granularity: bool = False
    supports_single_thread_execution_requests: bool = False
    # debugpy 1.8.22 misspells supportTerminateDebuggee.
    supports_terminate_debuggee: bool = False
    exception_breakpoint_filters: tuple[ExceptionFilter, ...] | None = None


class ExceptionFilter(Body, frozen=True):
    """DAP: ExceptionBreakpointsFilter."""

    filter: str
    label: str = ""
    default: bool | None = None


class Thread(Body, frozen=True):
    """DAP: Thread."""

    id: int
    name: str | None = None


class StackFrame(Body, frozen=True):
    """DAP: StackFrame."""

    id: int
    name: str | None = None
    line: int | None = None
    column: int | None = None
    source: Source | None = None
    instruction_pointer_reference: str | None = None
    module_id: str | int | None = None
    presentation_hint: str | None = None


class Scope(Body, frozen=True):
    """DAP: Scope."""

    name: str
    variables_reference: int
    presentation_hint: str | None = None
    expensive: bool | None = None
    source: Source | None = None
    line: int | None = None
    column: int | None = None


class VariableHint(Body, frozen=True):
    """DAP: VariablePresentationHint."""

    lazy: bool | None = None


class Variable(Body, frozen=True):
    """DAP: Variable."""

    name: str
    value: str | None = None
    type: str | None = None
    variables_reference: int | None = None
    indexed_variables: int | None = None
    named_variables: int | None = None
    evaluate_name: str | None = None
    presentation_hint: VariableHint | None = None


class Breakpoint(Body, frozen=True):
    """DAP: Breakpoint."""

    verified: bool = False
    id: int | None = None
    message: str | None = None
    source: Source | None = None
    line: int | None = None
    instruction_reference: str | None = None


class ThreadsBody(Body, frozen=True):
    """DAP: ThreadsResponse."""

    threads: tuple[Thread, ...] = ()


class StackTraceBody(Body, frozen=True):
    """DAP: StackTraceResponse."""

    stack_frames: tuple[StackFrame, ...] = ()
    total_frames: int | None = None


class ScopesBody(Body, frozen=True):
    """DAP: ScopesResponse."""

    scopes: tuple[Scope, ...] = ()


class VariablesBody(Body, frozen=True):
    """DAP: VariablesResponse."""

    variables: tuple[Variable, ...] = ()


class Location(Body, frozen=True):
    """DAP: BreakpointLocation."""

    line: int
    column: int | None = None


class LocationsBody(Body, frozen=True):
    """DAP: BreakpointLocationsResponse."""

    breakpoints: tuple[Location, ...] = ()


class BreakpointsBody(Body, frozen=True):
    """DAP: SetBreakpointsResponse and its like."""

    breakpoints: tuple[Breakpoint, ...] = ()


class MemoryBody(Body, frozen=True):
    """DAP: ReadMemoryResponse; `data` in base64."""

    data: str | None = None


class DisassembledInstruction(Body, frozen=True):
    """DAP: DisassembledInstruction; file and line are left out where they are the one before's."""

    address: str
    instruction: str | None = None
    instruction_bytes: str | None = None
    symbol: str | None = None
    location: Source | None = None
    line: int | None = None
    presentation_hint: str | None = None


class DisassembleBody(Body, frozen=True):
    """DAP: DisassembleResponse."""

    instructions: tuple[DisassembledInstruction, ...] = ()


class Module(Body, frozen=True):
    """DAP: Module."""

    name: str | None = None
    path: str | None = None
    version: str | None = None
    symbol_status: str | None = None
    address_range: str | None = None


class ModulesBody(Body, frozen=True):
    """DAP: ModulesResponse."""

    modules: tuple[Module, ...] = ()


class Target(Body, frozen=True):
    """DAP: GotoTarget and StepInTarget."""

    id: int
    label: str = ""


class TargetsBody(Body, frozen=True):
    """DAP: GotoTargetsResponse and StepInTargetsResponse."""

    targets: tuple[Target, ...] = ()


class DataBreakpointInfoBody(Body, frozen=True):
    """DAP: DataBreakpointInfoResponse."""

    data_id: str | None = None
    description: str = ""


class EvaluateBody(Body, frozen=True):
    """DAP: EvaluateResponse; SetVariableResponse and SetExpressionResponse have `value` instead."""

    result: str | None = None
    value: str | None = None
    type: str | None = None
    variables_reference: int | None = None
    indexed_variables: int | None = None
    named_variables: int | None = None


class ExceptionDetails(Body, frozen=True):
    """DAP: ExceptionDetails."""

    message: str | None = None
    type_name: str | None = None
    full_type_name: str | None = None
    stack_trace: str | None = None
    inner_exception: tuple[ExceptionDetails, ...] | None = None


class ExceptionInfoBody(Body, frozen=True):
    """DAP: ExceptionInfoResponse."""

    exception_id: str | None = None
    description: str | None = None
    break_mode: str | None = None
    details: ExceptionDetails | None = None


class SourceBody(Body, frozen=True):
    """DAP: SourceResponse."""

    content: str | None = None


class ErrorFormat(Body, frozen=True):
    """DAP: Message; `{name}` in the format stands for a variable."""

    format: str = ""
    variables: dict[str, str] | None = None


class ErrorBody(Body, frozen=True):
    """DAP: ErrorResponse."""

    error: ErrorFormat | str | None = None


class StoppedBody(Body, frozen=True):
    """DAP: StoppedEvent."""

    reason: str = ""
    description: str | None = None
    thread_id: int | None = None
    preserve_focus_hint: bool | None = None
    text: str | None = None
    all_threads_stopped: bool | None = None
    hit_breakpoint_ids: tuple[int, ...] | None = None


class OutputBody(Body, frozen=True):
    """DAP: OutputEvent."""

    output: str = ""
    category: str | None = None
    data: Any = None


class ExitedBody(Body, frozen=True):
    """DAP: ExitedEvent."""

    exit_code: int | None = None


class ProcessBody(Body, frozen=True):
    """DAP: ProcessEvent."""

    name: str | None = None
    system_process_id: int | None = None


class BreakpointEventBody(Body, frozen=True):
    """DAP: BreakpointEvent."""

    breakpoint: Breakpoint
    reason: str = ""


class CapabilitiesBody(Body, frozen=True):
    """DAP: CapabilitiesEvent; it contains changes only, and is merged key by key."""

    capabilities: dict[str, Any]


class RunInTerminal(Body, frozen=True):
    """DAP: RunInTerminalRequestArguments; an env value of null unsets the variable."""

    args: tuple[str, ...]
    cwd: str | None = None
    env: dict[str, str | None] | None = None


class StartDebugging(Body, frozen=True):
    """DAP: StartDebuggingRequestArguments."""

    configuration: dict[str, Any]
    request: str = "launch"
