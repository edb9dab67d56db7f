"""Which requests we send: typed arguments, named as in the protocol's schema."""

from __future__ import annotations

from msgspec import Struct, field


class Arguments(Struct, frozen=True, rename="camel", omit_defaults=True):
    """Something that we send; what holds its default is left out."""


class Initialize(Struct, frozen=True, rename="camel"):
    """What we are and can do (DAP: InitializeRequestArguments)."""

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
    """DAP: Source, as we send it."""

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


class SetBreakpoints(Arguments, frozen=True):
    """DAP: SetBreakpointsArguments."""

    source: SourceArgument
    breakpoints: tuple[SourceBreakpoint, ...]


class SetFunctionBreakpoints(Arguments, frozen=True):
    """DAP: SetFunctionBreakpointsArguments."""

    breakpoints: tuple[FunctionBreakpoint, ...]


class SetExceptionBreakpoints(Arguments, frozen=True):
    """DAP: SetExceptionBreakpointsArguments."""

    filters: tuple[str, ...]


class OfThread(Arguments, frozen=True):
    """The arguments of continue, next, stepIn, stepOut, pause and exceptionInfo."""

    thread_id: int


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
