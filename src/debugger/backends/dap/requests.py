"""Defines the requests to an adapter: typed arguments, named as in the protocol's schema."""

from __future__ import annotations

from msgspec import Struct, field

from debugger.model.program import ResumeKind

# By these names `AdapterConversation` also knows that a request resumes the program.
RESUMES = {
    ResumeKind.CONTINUE: "continue",
    ResumeKind.NEXT: "next",
    ResumeKind.STEP: "stepIn",
    ResumeKind.FINISH: "stepOut",
}


# Omitted, not null: adapters check the type of an optional field that is there.
class RequestArguments(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The base of all arguments; a field that has its default value is omitted."""


class InitializeArguments(Struct, frozen=True, rename="camel"):
    """The client's name and conventions (DAP: InitializeRequestArguments)."""

    # Two capital letters, where `rename` would make one.
    adapter_id: str = field(name="adapterID")
    client_id: str = field(name="clientID", default="debugger-cli")
    client_name: str = "debugger-cli"
    locale: str = "en-US"
    path_format: str = "path"
    lines_start_at1: bool = True
    columns_start_at1: bool = True
    # What the client can do. An adapter asks for the program to be run (runInTerminal), or for a
    # child's session (startDebugging), only of a client that supports it.
    supports_variable_type: bool = True
    supports_variable_paging: bool = True
    supports_run_in_terminal_request: bool = True
    supports_start_debugging_request: bool = True
    supports_memory_references: bool = True


class SourceReferenceArgument(RequestArguments, frozen=True):
    """DAP: Source, as a request names it."""

    path: str | None = None
    source_reference: int = 0


class SourceBreakpointArgument(RequestArguments, frozen=True):
    """DAP: SourceBreakpoint."""

    line: int
    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None


class FunctionBreakpointArgument(RequestArguments, frozen=True):
    """DAP: FunctionBreakpoint."""

    name: str
    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None  # only for an adapter that takes more than the protocol has


class SetBreakpointsArguments(RequestArguments, frozen=True):
    """DAP: SetBreakpointsArguments."""

    source: SourceReferenceArgument
    breakpoints: tuple[SourceBreakpointArgument, ...]
    # Deprecated; VS Code's mock adapter, and those made after its model, read nothing else.
    lines: tuple[int, ...] = ()


class SetFunctionBreakpointsArguments(RequestArguments, frozen=True):
    """DAP: SetFunctionBreakpointsArguments."""

    breakpoints: tuple[FunctionBreakpointArgument, ...]


class InstructionBreakpointArgument(RequestArguments, frozen=True):
    """DAP: InstructionBreakpoint."""

    instruction_reference: str
    condition: str | None = None


class SetInstructionBreakpointsArguments(RequestArguments, frozen=True):
    """DAP: SetInstructionBreakpointsArguments."""

    breakpoints: tuple[InstructionBreakpointArgument, ...]


class DataBreakpointInfoArguments(RequestArguments, frozen=True):
    """DAP: DataBreakpointInfoArguments; in a frame, or in the value of `variables_reference`."""

    name: str
    # A bare name is looked up in the frame; in a value, `name` is one of its children.
    variables_reference: int | None = None
    frame_id: int | None = None


class DataBreakpointArgument(RequestArguments, frozen=True):
    """DAP: DataBreakpoint."""

    data_id: str
    access_type: str | None = None
    condition: str | None = None


class SetDataBreakpointsArguments(RequestArguments, frozen=True):
    """DAP: SetDataBreakpointsArguments."""

    breakpoints: tuple[DataBreakpointArgument, ...]


class ExceptionFilterOptions(RequestArguments, frozen=True):
    """DAP: ExceptionFilterOptions."""

    filter_id: str
    condition: str | None = None


class SetExceptionBreakpointsArguments(RequestArguments, frozen=True):
    """DAP: SetExceptionBreakpointsArguments."""

    filters: tuple[str, ...]
    filter_options: tuple[ExceptionFilterOptions, ...] | None = None


class ThreadArguments(RequestArguments, frozen=True):
    """The arguments of continue, next, stepIn, stepOut, pause and exceptionInfo."""

    thread_id: int


class ReportedResumeArguments(RequestArguments, frozen=True):
    """The arguments of a request that lets the program run.

    `reports` (not DAP) is the number of frames that a step's report reads: the step's end is then
    to come with the answers.
    """

    thread_id: int
    reports: int | None = None


class StepArguments(RequestArguments, frozen=True):
    """DAP: NextArguments, StepInArguments, StepOutArguments, ContinueArguments."""

    thread_id: int
    # The default granularity is `statement`; `instruction` is the only other one that is sent.
    granularity: str | None = None
    target_id: int | None = None
    single_thread: bool | None = None


class ReadMemoryArguments(RequestArguments, frozen=True):
    """DAP: ReadMemoryArguments."""

    memory_reference: str
    count: int
    offset: int | None = None


class WriteMemoryArguments(RequestArguments, frozen=True):
    """DAP: WriteMemoryArguments; `data` in base64."""

    memory_reference: str
    data: str


class DisassembleArguments(RequestArguments, frozen=True):
    """DAP: DisassembleArguments."""

    memory_reference: str
    instruction_count: int
    resolve_symbols: bool = field(default=True, name="resolveSymbols")


class ModulesArguments(RequestArguments, frozen=True):
    """DAP: ModulesArguments."""

    start_module: int | None = None
    module_count: int | None = None


class GotoTargetsArguments(RequestArguments, frozen=True):
    """DAP: GotoTargetsArguments."""

    source: SourceReferenceArgument
    line: int


class GotoArguments(RequestArguments, frozen=True):
    """DAP: GotoArguments."""

    thread_id: int
    target_id: int


class StackTraceArguments(RequestArguments, frozen=True):
    """DAP: StackTraceArguments."""

    thread_id: int
    start_frame: int | None = None
    levels: int | None = None


class FrameArguments(RequestArguments, frozen=True):
    """DAP: ScopesArguments."""

    frame_id: int


class VariablesArguments(RequestArguments, frozen=True):
    """DAP: VariablesArguments."""

    variables_reference: int
    start: int | None = None
    count: int | None = None


class EvaluateArguments(RequestArguments, frozen=True):
    """DAP: EvaluateArguments."""

    expression: str
    context: str
    frame_id: int | None = None


class SetVariableArguments(RequestArguments, frozen=True):
    """DAP: SetVariableArguments."""

    variables_reference: int
    name: str
    value: str


class SetExpressionArguments(RequestArguments, frozen=True):
    """DAP: SetExpressionArguments."""

    expression: str
    value: str
    frame_id: int | None = None


class SourceArguments(RequestArguments, frozen=True):
    """DAP: SourceArguments."""

    source_reference: int
    source: SourceReferenceArgument | None = None


class DisconnectArguments(RequestArguments, frozen=True):
    """DAP: DisconnectArguments."""

    terminate_debuggee: bool | None = None


class NoArguments(RequestArguments, frozen=True):
    """No arguments."""
