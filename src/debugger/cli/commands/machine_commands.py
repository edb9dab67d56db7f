"""Commands that look at memory, registers and machine code."""

from __future__ import annotations

from typing import Annotated

from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.command_registry import Argument, Option, register_command
from debugger.questions.runner.command_call import CommandCall
from debugger.session import machine_inspection

GROUP = "Machine"
_Address = Annotated[str, Argument("ADDR", "0xADDR, '&VAR', a pointer, or a function's name")]


@register_command("memory read", group=GROUP, reads_only=True)
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
    session = call.current_session()
    return await session.run_job(
        lambda: machine_inspection.read_memory(session, address, count=count, form=form)
    )


@register_command("memory write", group=GROUP)
async def memory_write(
    call: CommandCall,
    address: _Address,
    data: Annotated[
        str, Argument("BYTES", "two hexadecimal digits each, as in memory", words=True)
    ],
) -> answers.Answer:
    """Write bytes to memory; shows them before and after."""
    session = call.current_session()
    return await session.run_job(lambda: machine_inspection.write_memory(session, address, data))


@register_command("registers", group=GROUP, reads_only=True)
async def registers(
    call: CommandCall,
    names: Annotated[tuple[str, ...], Argument("NAME", "registers or groups of them, or all")] = (),
) -> answers.Answer:
    """Show the frame's registers: the general ones, or those named."""
    session = call.current_session()
    return await session.run_job(lambda: machine_inspection.read_registers(session, names))


@register_command("disassemble", group=GROUP, reads_only=True)
async def disassemble(
    call: CommandCall,
    address: Annotated[
        str | None, Argument("ADDR", "0xADDR, a pointer, or a function's name")
    ] = None,
    *,
    count: Annotated[
        int | None, Option("--count", help="how many instructions", metavar="N")
    ] = None,
    with_source: Annotated[bool, Option("--source", help="with the lines of source")] = False,
) -> answers.Answer:
    """Show machine code: the current function's, or from an address on.

    With --count and no address, so many instructions from where the program is.
    """
    if address is not None and not address.strip():
        raise DebuggerError(ErrorCode.USAGE, "an empty address", hint="debugger disassemble --help")
    session = call.current_session()
    return await session.run_job(
        lambda: machine_inspection.disassemble_code(
            session, address, count=count, with_source=with_source
        )
    )


@register_command("modules", group=GROUP, reads_only=True)
async def modules(call: CommandCall) -> answers.Answer:
    """List the program and its libraries, and where they are loaded."""
    session = call.current_session()
    return await session.run_job(lambda: machine_inspection.list_modules(session))
