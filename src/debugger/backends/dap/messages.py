"""Defines the messages that an adapter sends: typed bodies, named as in the protocol's schema.

Fields that an adapter may omit, or send as null against the schema, have a default. Fields that
nothing reads are not defined.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw, Struct


class DapBody(Struct, frozen=True, rename="camel"):
    """The base of all bodies from an adapter; unknown keys are ignored."""


_NOTHING = Raw(b"{}")


class DapMessage(Struct, frozen=True):
    """The envelope of every message from an adapter (DAP: ProtocolMessage)."""

    # Fields of all three kinds in one struct: the kind is known only after decoding. `body` and
    # `arguments` stay raw until then.
    type: str
    seq: int = 0
    command: str = ""
    event: str = ""
    request_seq: int = 0
    success: bool = False
    message: str | None = None
    body: Raw = _NOTHING
    arguments: Raw = _NOTHING


class DapSource(DapBody, frozen=True):
    """DAP: Source."""

    name: str | None = None
    path: str | None = None
    source_reference: int | None = None


class AdapterCapabilities(DapBody, frozen=True):
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


class ExceptionFilter(DapBody, frozen=True):
    """DAP: ExceptionBreakpointsFilter."""

    filter: str
    label: str = ""
    default: bool | None = None


class DapThread(DapBody, frozen=True):
    """DAP: Thread."""

    id: int
    name: str | None = None


class DapStackFrame(DapBody, frozen=True):
    """DAP: StackFrame."""

    id: int
    name: str | None = None
    line: int | None = None
    column: int | None = None
    source: DapSource | None = None
    instruction_pointer_reference: str | None = None
    module_id: str | int | None = None
    presentation_hint: str | None = None


class DapScope(DapBody, frozen=True):
    """DAP: Scope."""

    name: str
    variables_reference: int
    presentation_hint: str | None = None
    expensive: bool | None = None
    source: DapSource | None = None
    line: int | None = None
    column: int | None = None


class DapVariableHint(DapBody, frozen=True):
    """DAP: VariablePresentationHint."""

    lazy: bool | None = None


class DapVariable(DapBody, frozen=True):
    """DAP: Variable."""

    name: str
    value: str | None = None
    type: str | None = None
    variables_reference: int | None = None
    indexed_variables: int | None = None
    named_variables: int | None = None
    evaluate_name: str | None = None
    presentation_hint: DapVariableHint | None = None


class DapBreakpoint(DapBody, frozen=True):
    """DAP: Breakpoint."""

    # The protocol demands the field; an adapter that omits it has not bound the breakpoint.
    verified: bool = False
    id: int | None = None
    message: str | None = None
    source: DapSource | None = None
    line: int | None = None
    instruction_reference: str | None = None


class ThreadsBody(DapBody, frozen=True):
    """DAP: ThreadsResponse."""

    threads: tuple[DapThread, ...] = ()


class StackTraceBody(DapBody, frozen=True):
    """DAP: StackTraceResponse."""

    stack_frames: tuple[DapStackFrame, ...] = ()
    total_frames: int | None = None


class ScopesBody(DapBody, frozen=True):
    """DAP: ScopesResponse."""

    scopes: tuple[DapScope, ...] = ()


class VariablesBody(DapBody, frozen=True):
    """DAP: VariablesResponse."""

    variables: tuple[DapVariable, ...] = ()


class DapLocation(DapBody, frozen=True):
    """DAP: BreakpointLocation."""

    line: int
    column: int | None = None


class LocationsBody(DapBody, frozen=True):
    """DAP: BreakpointLocationsResponse."""

    breakpoints: tuple[DapLocation, ...] = ()


class BreakpointsBody(DapBody, frozen=True):
    """DAP: SetBreakpointsResponse and its like."""

    breakpoints: tuple[DapBreakpoint, ...] = ()


class MemoryBody(DapBody, frozen=True):
    """DAP: ReadMemoryResponse; `data` in base64."""

    data: str | None = None


class DapInstruction(DapBody, frozen=True):
    """DAP: DisassembledInstruction; file and line are left out where they are the one before's."""

    address: str
    instruction: str | None = None
    instruction_bytes: str | None = None
    symbol: str | None = None
    location: DapSource | None = None
    line: int | None = None
    presentation_hint: str | None = None


class DisassembleBody(DapBody, frozen=True):
    """DAP: DisassembleResponse."""

    instructions: tuple[DapInstruction, ...] = ()


class DapModule(DapBody, frozen=True):
    """DAP: Module."""

    name: str | None = None
    path: str | None = None
    version: str | None = None
    symbol_status: str | None = None
    address_range: str | None = None


class ModulesBody(DapBody, frozen=True):
    """DAP: ModulesResponse."""

    modules: tuple[DapModule, ...] = ()


class LoadedSourcesBody(DapBody, frozen=True):
    """DAP: LoadedSourcesResponse."""

    sources: tuple[DapSource, ...] = ()


class DapTarget(DapBody, frozen=True):
    """DAP: GotoTarget and StepInTarget."""

    id: int
    label: str = ""


class TargetsBody(DapBody, frozen=True):
    """DAP: GotoTargetsResponse and StepInTargetsResponse."""

    targets: tuple[DapTarget, ...] = ()


class DataBreakpointInfoBody(DapBody, frozen=True):
    """DAP: DataBreakpointInfoResponse."""

    data_id: str | None = None
    description: str = ""


class EvaluateBody(DapBody, frozen=True):
    """DAP: EvaluateResponse; SetVariableResponse and SetExpressionResponse have `value` instead."""

    result: str | None = None
    value: str | None = None
    type: str | None = None
    variables_reference: int | None = None
    indexed_variables: int | None = None
    named_variables: int | None = None


class DapExceptionDetails(DapBody, frozen=True):
    """DAP: ExceptionDetails."""

    message: str | None = None
    type_name: str | None = None
    full_type_name: str | None = None
    stack_trace: str | None = None
    inner_exception: tuple[DapExceptionDetails, ...] | None = None
    part: str = ""  # not of the protocol: the source of what failed, by our agent of Ruby


class ExceptionInfoBody(DapBody, frozen=True):
    """DAP: ExceptionInfoResponse."""

    exception_id: str | None = None
    description: str | None = None
    break_mode: str | None = None
    details: DapExceptionDetails | None = None


class SourceBody(DapBody, frozen=True):
    """DAP: SourceResponse."""

    content: str | None = None


class DapErrorFormat(DapBody, frozen=True):
    """DAP: Message; `{name}` in the format stands for a variable."""

    format: str = ""
    variables: dict[str, str] | None = None


class ErrorBody(DapBody, frozen=True):
    """DAP: ErrorResponse."""

    error: DapErrorFormat | str | None = None


class AheadAnswer(DapBody, frozen=True):
    """The answer to a request that is not sent yet (not DAP): only our own adapters send it."""

    command: str = ""
    arguments: Raw = _NOTHING
    body: Raw = _NOTHING


class StoppedBody(DapBody, frozen=True):
    """DAP: StoppedEvent."""

    reason: str = ""
    description: str | None = None
    thread_id: int | None = None
    preserve_focus_hint: bool | None = None
    text: str | None = None
    all_threads_stopped: bool | None = None
    hit_breakpoint_ids: tuple[int, ...] | None = None
    answers: tuple[AheadAnswer, ...] = ()


class OutputBody(DapBody, frozen=True):
    """DAP: OutputEvent."""

    output: str = ""
    category: str | None = None
    data: Any = None


class ExitedBody(DapBody, frozen=True):
    """DAP: ExitedEvent."""

    exit_code: int | None = None


class ProcessBody(DapBody, frozen=True):
    """DAP: ProcessEvent."""

    name: str | None = None
    system_process_id: int | None = None


class BreakpointEventBody(DapBody, frozen=True):
    """DAP: BreakpointEvent."""

    breakpoint: DapBreakpoint
    reason: str = ""


class CapabilitiesBody(DapBody, frozen=True):
    """DAP: CapabilitiesEvent; it contains changes only, and is merged key by key."""

    capabilities: dict[str, Any]


class RunInTerminalArguments(DapBody, frozen=True):
    """DAP: RunInTerminalRequestArguments; an env value of null unsets the variable."""

    args: tuple[str, ...]
    cwd: str | None = None
    env: dict[str, str | None] | None = None


class StartDebuggingArguments(DapBody, frozen=True):
    """DAP: StartDebuggingRequestArguments."""

    configuration: dict[str, Any]
    request: str = "launch"
