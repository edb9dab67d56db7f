"""Defines the commands that inspect a stopped program: stack, values, memory, registers, code."""

from __future__ import annotations

import os.path
from typing import TYPE_CHECKING, Annotated

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.command_registry import Argument, Option, register_command
from debugger.model.debugger_words import Runtime, one_line, uses_shell
from debugger.model.group_merge import BY_LINE
from debugger.model.program import EvaluationPurpose
from debugger.questions.group.group_options import NO_CHOICE, GroupOptions

if TYPE_CHECKING:
    from debugger.model import answers
    from debugger.model.answers.stops import ExceptionInfo
    from debugger.questions.runner.command_call import CommandCall

GROUP = "Looking"
_WITHIN_RAW = 30.0  # seconds that a raw step is waited for
_WITHIN_MAX = 24 * 3600.0
_Context = Annotated[int, Option("--context", help="lines around it", metavar="N")]
_Expression = Annotated[str, Argument("EXPR", "in the program's language", words=True)]
_CONTEXT_MAX = 500


def _context_lines(lines: int) -> int:
    if not 0 <= lines <= _CONTEXT_MAX:
        raise DebuggerError(
            ErrorCode.USAGE, f"--context is 0 to {_CONTEXT_MAX} lines", hint="debugger context"
        )
    return lines


@register_command("exception", group=GROUP, reads_only=True)
async def exception(call: CommandCall) -> ExceptionInfo:
    """Show the exception that the program stopped at: type, message, causes, trace."""
    from debugger.session import inspection

    session = call.current_session()
    return await session.run_job(lambda: inspection.describe_exception(session))


@register_command("context", aliases=("where",), group=GROUP, reads_only=True)
async def context(call: CommandCall, *, lines: _Context = 3) -> answers.Answer:
    """Show the whole stop: source, all locals, the stack."""
    from debugger.session import stop_report

    session = call.current_session()
    lines_around = _context_lines(lines)
    return await session.run_job(
        lambda: stop_report.report_stop(session, context=lines_around, is_full=True)
    )


@register_command("source", aliases=("list",), group=GROUP, reads_only=True)
async def source(
    call: CommandCall,
    place: Annotated[
        str | None, Argument("LOC", "FILE:LINE, LINE of the current file, or a function")
    ] = None,
    *,
    lines: _Context = 5,
    function: Annotated[bool, Option("--function", help="the whole current function")] = False,
) -> answers.Answer:
    """Show source around a location, of a function, or around the current line."""
    from debugger.questions.runner.command_call import spec_in_session
    from debugger.session import inspection

    session = call.current_session()
    lines_around = _context_lines(lines)
    if place is None:
        return await session.run_job(
            lambda: inspection.list_source(
                session, None, None, context=lines_around, is_whole=function
            )
        )
    spec = spec_in_session(call, session, place)
    if spec.function is not None and os.path.isfile(os.path.join(call.cwd, spec.function)):
        spec = spec_in_session(call, session, f"{spec.function}:1")
    if spec.function is not None:
        return await session.run_job(
            lambda: inspection.function_listing(session, spec, context=lines_around)
        )
    if spec.file is None or spec.line is None:
        raise DebuggerError(
            ErrorCode.USAGE, f"not a line of a file: {place}", hint="debugger source FILE:LINE"
        )
    return await session.run_job(
        lambda: inspection.list_source(session, spec.file, spec.line, context=lines_around)
    )


@register_command("backtrace", aliases=("bt",), group=GROUP, reads_only=True)
async def backtrace(
    call: CommandCall,
    *,
    with_locals: Annotated[bool, Option("--locals", help="with each frame's locals")] = False,
    limit: Annotated[
        int | None,
        Option("--limit", help="at most this many frames, the runtime's too (50)", metavar="N"),
    ] = None,
    thread: Annotated[int | None, Option("--thread", help="of this thread", metavar="N")] = None,
    every: Annotated[bool, Option("--all", help="of every thread")] = False,
    by: Annotated[
        str, Option("--by", help="of a group: merge by line, function or state", metavar="WHAT")
    ] = BY_LINE,
    choice: GroupOptions = NO_CHOICE,
) -> answers.Answer:
    """Show the stack; of a group one tree, the branch with the fewest members first."""
    from debugger.model.group_merge import check_merge
    from debugger.questions.group import member_stacks
    from debugger.questions.group.group_choice import choose_members, choose_running_member
    from debugger.session import inspection

    check_merge(by)
    chosen = None
    if thread is None:
        chosen = await choose_members(call, choice) or await choose_running_member(call)
    if chosen is not None:
        return await member_stacks.read_group_stacks(
            chosen.group, chosen.members, by=by, every=every
        )
    session = call.current_session()
    if limit is not None and not 1 <= limit <= inspection.FRAMES_MAX:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"--limit is 1 to {inspection.FRAMES_MAX} frames",
            hint="debugger backtrace",
        )
    if every:
        return await session.run_job(lambda: inspection.all_backtraces(session, limit=limit))
    return await session.run_job(
        lambda: inspection.read_backtrace(
            session, thread=thread, limit=limit, with_locals=with_locals
        )
    )


@register_command("frame", group=GROUP)
async def frame(
    call: CommandCall, number: Annotated[int | None, Argument("N", "0 is the innermost")] = None
) -> answers.Answer:
    """Show a frame and make it the current one."""
    from debugger.session import inspection

    session = call.current_session()
    return await session.run_job(lambda: inspection.go_to_frame(session, number))


@register_command("up", group=GROUP)
async def up(
    call: CommandCall, count: Annotated[int, Argument("COUNT", "how many")] = 1
) -> answers.Answer:
    """Select the caller's frame."""
    from debugger.session import inspection

    session = call.current_session()
    return await session.run_job(lambda: inspection.move_frame(session, count))


@register_command("down", group=GROUP)
async def down(
    call: CommandCall, count: Annotated[int, Argument("COUNT", "how many")] = 1
) -> answers.Answer:
    """Select the callee's frame."""
    from debugger.session import inspection

    session = call.current_session()
    return await session.run_job(lambda: inspection.move_frame(session, -count))


@register_command("locals", group=GROUP, reads_only=True)
async def locals_(
    call: CommandCall,
    *,
    frame: Annotated[int | None, Option("--frame", help="of this frame", metavar="N")] = None,
    scopes: Annotated[bool, Option("--all", help="globals and registers too")] = False,
    choice: GroupOptions = NO_CHOICE,
) -> answers.Answer:
    """Show the frame's variables: its arguments and locals."""
    from debugger.questions.group import member_values
    from debugger.questions.group.group_choice import choose_members
    from debugger.session import inspection

    if (chosen := await choose_members(call, choice)) is not None:
        return await member_values.read_locals(chosen)
    session = call.current_session()
    return await session.run_job(
        lambda: inspection.frame_variables(session, number=frame, with_scopes=scopes)
    )


@register_command("args", group=GROUP, reads_only=True)
async def args(call: CommandCall) -> answers.Answer:
    """Show the function's arguments."""
    from debugger.session import inspection

    session = call.current_session()
    return await session.run_job(lambda: inspection.frame_variables(session, only_arguments=True))


@register_command("print", aliases=("p",), group=GROUP, reads_only=True, dashes_are_words=True)
async def print_(
    call: CommandCall,
    expression: _Expression,
    *,
    show_type: Annotated[bool, Option("--type", help="with its type")] = False,
    depth: Annotated[int, Option("--depth", help="levels of members to show", metavar="N")] = 1,
    form: Annotated[
        str | None,
        Option(
            "--format",
            help="integers as hex, binary, octal, decimal, address or char",
            metavar="FORMAT",
        ),
    ] = None,
    choice: GroupOptions = NO_CHOICE,
) -> answers.Answer:
    """Show the value of an expression."""
    from debugger.model import number_format
    from debugger.questions.group import member_values
    from debugger.questions.group.group_choice import choose_members
    from debugger.session import value_inspection

    written = number_format.find_format(form)
    if (chosen := await choose_members(call, choice)) is not None:
        return await member_values.evaluate_in_members(chosen, expression, form=written)
    session = call.current_session()
    return await value_inspection.run_evaluation(
        session,
        lambda: value_inspection.evaluate_expression(
            session,
            expression,
            purpose=EvaluationPurpose.PRINT,
            depth=depth,
            show_type=show_type,
            form=written,
        ),
    )


@register_command("eval", group=GROUP, dashes_are_words=True, acts_on_program=True)
async def eval_(
    call: CommandCall, expression: _Expression, *, choice: GroupOptions = NO_CHOICE
) -> answers.Answer:
    """Evaluate an expression that may change the program."""
    from debugger.questions.group import member_values
    from debugger.questions.group.group_choice import choose_members
    from debugger.session import value_inspection

    if (chosen := await choose_members(call, choice)) is not None:
        return await member_values.evaluate_in_members(
            chosen, expression, purpose=EvaluationPurpose.EVALUATE
        )
    session = call.current_session()
    return await value_inspection.run_evaluation(
        session,
        lambda: value_inspection.evaluate_expression(
            session, expression, purpose=EvaluationPurpose.EVALUATE, depth=1, show_type=False
        ),
    )


@register_command("set", group=GROUP, dashes_are_words=True, acts_on_program=True)
async def set_(
    call: CommandCall,
    name: Annotated[str, Argument("NAME", "a variable, a field or an element")],
    value: Annotated[str, Argument("VALUE", "an expression", words=True)],
) -> answers.Answer:
    """Set a variable; shows it before and after."""
    from debugger.session import value_inspection

    session = call.current_session()
    new = value.removeprefix("= ") if value != "=" else value
    return await value_inspection.run_evaluation(
        session, lambda: value_inspection.assign_value(session, name, new)
    )


@register_command("vars", group=GROUP, reads_only=True)
async def vars_(
    call: CommandCall,
    ref: Annotated[str, Argument("REF", "as shown behind a value: v3")],
    *,
    start: Annotated[int, Option("--from", help="first element, from 0", metavar="N")] = 0,
    count: Annotated[int, Option("--count", help="how many", metavar="N")] = 50,
) -> answers.Answer:
    """Page through a value's contents."""
    from debugger.session import value_inspection

    session = call.current_session()
    return await session.run_job(
        lambda: value_inspection.read_page(session, ref, start=start, count=count)
    )


@register_command("threads", group=GROUP, reads_only=True)
async def threads(call: CommandCall) -> answers.Answer:
    """List the threads and where each is.

    The ids come from the underlying debugger: LLDB and Frida use the system's, the others count
    from 1, and delve counts goroutines.
    """
    from debugger.session import inspection

    session = call.current_session()
    return await session.run_job(lambda: inspection.list_threads(session))


@register_command("thread", group=GROUP)
async def thread(
    call: CommandCall, number: Annotated[int | None, Argument("N", "from threads")] = None
) -> answers.Answer:
    """Show the current thread, or make another the current one."""
    from debugger.session import inspection

    session = call.current_session()
    return await session.run_job(lambda: inspection.choose_thread(session, number))


@register_command("raw", group=GROUP, dashes_are_words=True, acts_on_program=True)
async def raw(
    call: CommandCall,
    text: Annotated[str, Argument("COMMAND", "a command in the debugger's own syntax", words=True)],
    *,
    # Not --timeout: LLDB's own commands have an option of that name.
    within: Annotated[
        float | None, Option("--within", help="seconds it may take", metavar="S")
    ] = None,
) -> answers.Answer:
    """Run a native debugger command."""
    from debugger.session import raw_commands

    if within is not None and not 0 < within <= _WITHIN_MAX:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"--within is in seconds, above 0 and up to {_WITHIN_MAX:g}, not {within:g}",
            hint="debugger raw --within 10 COMMAND",
        )
    security = call.config.security
    session = call.current_session()
    if security.raw == "deny":
        raise DebuggerError(
            ErrorCode.DENIED, "raw commands are denied by the configuration", hint="debugger config"
        )
    is_python = session.traits.runtime is Runtime.PYTHON  # whose raw commands are expressions
    if security.shell == "deny" and not is_python and uses_shell(text):
        raise DebuggerError(
            ErrorCode.DENIED,
            "this command could run a shell or a script of the debugger's",
            hint='debugger config: [security] shell = "allow" permits it',
        )
    if not text.strip():
        raise DebuggerError(
            ErrorCode.USAGE, "an empty command", hint="debugger raw help lists some"
        )
    one_line(text)
    return await raw_commands.run_raw(session, text, call.wait_limit(within or _WITHIN_RAW), within)


_MACHINE_GROUP = "Machine"
_Address = Annotated[str, Argument("ADDR", "0xADDR, '&VAR', a pointer, or a function's name")]


@register_command("memory read", group=_MACHINE_GROUP, reads_only=True)
async def memory_read(
    call: CommandCall,
    address: _Address,
    *,
    count: Annotated[int | None, Option("--count", help="how many items", metavar="N")] = None,
    form: Annotated[
        str,
        Option(
            "--format",
            help="hex, bytes, string, char, u8 to u64, i8 to i64, f32, f64, pointer",
            metavar="FORMAT",
        ),
    ] = "hex",
) -> answers.Answer:
    """Show memory."""
    from debugger.session import machine_inspection

    session = call.current_session()
    return await session.run_job(
        lambda: machine_inspection.read_memory(session, address, count=count, form=form)
    )


@register_command("memory write", group=_MACHINE_GROUP, acts_on_program=True)
async def memory_write(
    call: CommandCall,
    address: _Address,
    data: Annotated[
        str, Argument("BYTES", "two hexadecimal digits each, as in memory", words=True)
    ],
) -> answers.Answer:
    """Write bytes to memory; shows them before and after."""
    from debugger.session import machine_inspection

    session = call.current_session()
    return await session.run_job(lambda: machine_inspection.write_memory(session, address, data))


@register_command("registers", group=_MACHINE_GROUP, reads_only=True)
async def registers(
    call: CommandCall,
    names: Annotated[tuple[str, ...], Argument("NAME", "registers or groups of them, or all")] = (),
) -> answers.Answer:
    """Show the frame's registers: the general ones, or those named."""
    from debugger.session import machine_inspection

    session = call.current_session()
    return await session.run_job(lambda: machine_inspection.read_registers(session, names))


@register_command("disassemble", group=_MACHINE_GROUP, reads_only=True)
async def disassemble(
    call: CommandCall,
    address: Annotated[
        str | None, Argument("ADDR", "0xADDR, a pointer, or a function's name")
    ] = None,
    *,
    count: Annotated[
        int | None, Option("--count", help="how many instructions", metavar="N")
    ] = None,
    with_source: Annotated[bool, Option("--source", help="with the source lines")] = False,
) -> answers.Answer:
    """Show machine code: the current function's, or from an address on.

    With --count and no address: this many instructions from the current one.
    """
    from debugger.session import machine_inspection

    if address is not None and not address.strip():
        raise DebuggerError(ErrorCode.USAGE, "an empty address", hint="debugger disassemble --help")
    session = call.current_session()
    return await session.run_job(
        lambda: machine_inspection.disassemble_code(
            session, address, count=count, with_source=with_source
        )
    )


@register_command("modules", group=_MACHINE_GROUP, reads_only=True)
async def modules(call: CommandCall) -> answers.Answer:
    """List what is loaded: the program and its libraries, and where."""
    from debugger.session import machine_inspection

    session = call.current_session()
    return await session.run_job(lambda: machine_inspection.list_modules(session))
