"""Commands that look at memory, registers and machine code."""

from __future__ import annotations

from typing import Annotated

from debugger.commands.call import Call
from debugger.core import answers
from debugger.core.command import Arg, Opt, command
from debugger.errors import Code, DebuggerError
from debugger.session import machine

GROUP = "Machine"
_Address = Annotated[str, Arg("ADDR", "0xADDR, '&VAR', a pointer, or a function's name")]


@command("memory read", group=GROUP, reads_only=True)
async def memory_read(
    call: Call,
    address: _Address,
    *,
    count: Annotated[int | None, Opt("--count", help="how many items", metavar="N")] = None,
    form: Annotated[
        str,
        Opt(
            "--format",
            help="hex, bytes, string, char, u8 to u64, i8 to i64, f32, f64, pointer",
            metavar="FORMAT",
        ),
    ] = "hex",
) -> answers.Answer:
    """Show memory."""
    session = call.session()
    return await session.do(lambda: machine.read_memory(session, address, count=count, form=form))


@command("memory write", group=GROUP)
async def memory_write(
    call: Call,
    address: _Address,
    data: Annotated[str, Arg("BYTES", "two hexadecimal digits each, as in memory", words=True)],
) -> answers.Answer:
    """Write bytes to memory; shows them before and after."""
    session = call.session()
    return await session.do(lambda: machine.write_memory(session, address, data))


@command("registers", group=GROUP, reads_only=True)
async def registers(
    call: Call,
    names: Annotated[tuple[str, ...], Arg("NAME", "registers or groups of them, or all")] = (),
) -> answers.Answer:
    """Show the frame's registers: the general ones, or those named."""
    session = call.session()
    return await session.do(lambda: machine.registers(session, names))


@command("disassemble", group=GROUP, reads_only=True)
async def disassemble(
    call: Call,
    address: Annotated[str | None, Arg("ADDR", "0xADDR, a pointer, or a function's name")] = None,
    *,
    count: Annotated[int | None, Opt("--count", help="how many instructions", metavar="N")] = None,
    with_source: Annotated[bool, Opt("--source", help="with the lines of source")] = False,
) -> answers.Answer:
    """Show machine code: the current function's, or from an address on.

    With --count and no address, so many instructions from where the program is.
    """
    if address is not None and not address.strip():
        raise DebuggerError(Code.USAGE, "an empty address", hint="debugger disassemble --help")
    session = call.session()
    return await session.do(
        lambda: machine.disassemble(session, address, count=count, with_source=with_source)
    )


@command("modules", group=GROUP, reads_only=True)
async def modules(call: Call) -> answers.Answer:
    """List the program and its libraries, and where they are loaded."""
    session = call.session()
    return await session.do(lambda: machine.modules(session))
