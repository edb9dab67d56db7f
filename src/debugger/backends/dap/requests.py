"""Defines the requests to an adapter: typed arguments, named as in the protocol's schema."""

from __future__ import annotations

from msgspec import Struct, field

from debugger.core.model import Resume

RESUMES = {
    Resume.CONTINUE: "continue",
    Resume.NEXT: "next",
    Resume.STEP: "stepIn",
    Resume.FINISH: "stepOut",
}


class Arguments(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The base of all arguments; a field that has its default value is omitted."""


class Initialize(Struct, frozen=True, rename="camel"):
    """The client's name and conventions (DAP: InitializeRequestArguments)."""

    adapter_id: str = field(name="adapterID")
    client_id: str = field(name="clientID", default="debugger-cli")
    client_name: str = "debugger-cli"
    locale: str = "en-US"
    path_format: str = "path"
    lines_start_at1: bool = True
    columns_start_at1: bool = True
    supports_variable_type: bool = True
    supports_variable_paging: bool = True
    supports_run_in_terminal_request: bool = True
    supports_start_debugging_request: bool = True
    supports_memory_references: bool = True


class SourceArgument(Arguments, frozen=True):
    """DAP: Source, as a request names it."""

    path: str | None = None
    source_reference: int = 0


class SourceBreakpoint(Arguments, frozen=True):
    """DAP: SourceBreakpoint."""

    line: int
    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None


class FunctionBreakpoint(Arguments, frozen=True):
    """DAP: FunctionBreakpoint."""

    name: str
    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None  # only for an adapter that takes more than the protocol has


class SetBreakpoints(Arguments, frozen=True):
    """DAP: SetBreakpointsArguments."""

    source: SourceArgument
    breakpoints: tuple[SourceBreakpoint, ...]


class SetFunctionBreakpoints(Arguments, frozen=True):
    """DAP: SetFunctionBreakpointsArguments."""

    breakpoints: tuple[FunctionBreakpoint, ...]


class InstructionBreakpoint(Arguments, frozen=True):
    """DAP: InstructionBreakpoint."""

    instruction_reference: str
    condition: str | None = None


class SetInstructionBreakpoints(Arguments, frozen=True):
    """DAP: SetInstructionBreakpointsArguments."""

    breakpoints: tuple[InstructionBreakpoint, ...]


class DataBreakpointInfo(Arguments, frozen=True):
    """DAP: DataBreakpointInfoArguments; in a frame, or in the value of `variables_reference`."""

    name: str
    variables_reference: int | None = None
    frame_id: int | None = None


class DataBreakpoint(Arguments, frozen=True):
    """DAP: DataBreakpoint."""

    data_id: str
    access_type: str | None = None
    condition: str | None = None


class SetDataBreakpoints(Arguments, frozen=True):
    """DAP: SetDataBreakpointsArguments."""

    breakpoints: tuple[DataBreakpoint, ...]


class FilterOptions(Arguments, frozen=True):
    """DAP: ExceptionFilterOptions."""

    filter_id: str
    condition: str | None = None


class SetExceptionBreakpoints(Arguments, frozen=True):
    """DAP: SetExceptionBreakpointsArguments."""

    filters: tuple[str, ...]
    filter_options: tuple[FilterOptions, ...] | None = None


class OfThread(Arguments, frozen=True):
    """The arguments of continue, next, stepIn, stepOut, pause and exceptionInfo."""

    thread_id: int


class Step(Arguments, frozen=True):
    """DAP: NextArguments, StepInArguments, StepOutArguments, ContinueArguments."""

    thread_id: int
    granularity: str | None = None
    target_id: int | None = None
    single_thread: bool | None = None


class ReadMemory(Arguments, frozen=True):
    """DAP: ReadMemoryArguments."""

    memory_reference: str
    count: int
    offset: int | None = None


class WriteMemory(Arguments, frozen=True):
    """DAP: WriteMemoryArguments; `data` in base64."""

    memory_reference: str
    data: str


class Disassemble(Arguments, frozen=True):
    """DAP: DisassembleArguments."""

    memory_reference: str
    instruction_count: int
    resolve_symbols: bool = field(default=True, name="resolveSymbols")


class Modules(Arguments, frozen=True):
    """DAP: ModulesArguments."""

    start_module: int | None = None
    module_count: int | None = None


class GotoTargets(Arguments, frozen=True):
    """DAP: GotoTargetsArguments."""

    source: SourceArgument
    line: int


class Goto(Arguments, frozen=True):
    """DAP: GotoArguments."""

    thread_id: int
    target_id: int


class StackTrace(Arguments, frozen=True):
    """DAP: StackTraceArguments."""

    thread_id: int
    start_frame: int | None = None
    levels: int | None = None


class OfFrame(Arguments, frozen=True):
    """DAP: ScopesArguments."""

    frame_id: int


class Variables(Arguments, frozen=True):
    """DAP: VariablesArguments."""

    variables_reference: int
    start: int | None = None
    count: int | None = None


class Evaluate(Arguments, frozen=True):
    """DAP: EvaluateArguments."""

    expression: str
    context: str
    frame_id: int | None = None


class SetVariable(Arguments, frozen=True):
    """DAP: SetVariableArguments."""

    variables_reference: int
    name: str
    value: str


class SetExpression(Arguments, frozen=True):
    """DAP: SetExpressionArguments."""

    expression: str
    value: str
    frame_id: int | None = None


class SourceRequest(Arguments, frozen=True):
    """DAP: SourceArguments."""

    source_reference: int
    source: SourceArgument | None = None


class Disconnect(Arguments, frozen=True):
    """DAP: DisconnectArguments."""

    terminate_debuggee: bool | None = None


class Nothing(Arguments, frozen=True):
    """No arguments."""
