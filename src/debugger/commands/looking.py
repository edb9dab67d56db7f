"""Commands that look at a stopped program."""

from __future__ import annotations

import os.path
from typing import Annotated

from debugger.commands.breakpoints import spec_of
from debugger.commands.call import Call
from debugger.core import answers, numbers
from debugger.core.command import Arg, Opt, command
from debugger.core.model import Purpose
from debugger.core.policy import uses_shell
from debugger.core.words import one_line
from debugger.errors import Code, DebuggerError
from debugger.session import looking, raw_commands, report, values

GROUP = "Looking"
_WITHIN_RAW = 30.0  # seconds that a raw step is waited for
_WITHIN_MAX = 24 * 3600.0
_Context = Annotated[int, Opt("--context", help="lines around it", metavar="N")]
_Expression = Annotated[str, Arg("EXPR", "in the program's language", words=True)]
_CONTEXT_MAX = 500


def _context(lines: int) -> int:
    if not 0 <= lines <= _CONTEXT_MAX:
        raise DebuggerError(
            Code.USAGE, f"--context is 0 to {_CONTEXT_MAX} lines", hint="debugger context"
        )
    return lines


@command("context", aliases=("where",), group=GROUP, reads_only=True)
async def context(call: Call, *, lines: _Context = 3) -> answers.Answer:
    """Show where the program is: source, locals, stack, all of it."""
    session = call.session()
    around = _context(lines)
    return await session.do(lambda: report.stop(session, context=around, is_full=True))


@command("source", aliases=("list",), group=GROUP, reads_only=True)
async def source(
    call: Call,
    place: Annotated[
        str | None, Arg("LOC", "FILE:LINE, LINE of the current file, or a function")
    ] = None,
    *,
    lines: _Context = 5,
    function: Annotated[bool, Opt("--function", help="the whole current function")] = False,
) -> answers.Answer:
    """Show source around a place, a function's, or around where the program is."""
    session = call.session()
    around = _context(lines)
    if place is None:
        return await session.do(
            lambda: looking.listing(session, None, None, context=around, is_whole=function)
        )
    spec = spec_of(call, session, place)
    if spec.function is not None and os.path.isfile(os.path.join(call.cwd, spec.function)):
        spec = spec_of(call, session, f"{spec.function}:1")
    if spec.function is not None:
        return await session.do(lambda: looking.function_listing(session, spec, context=around))
    if spec.file is None or spec.line is None:
        raise DebuggerError(
            Code.USAGE, f"not a line of a file: {place}", hint="debugger source FILE:LINE"
        )
    return await session.do(lambda: looking.listing(session, spec.file, spec.line, context=around))


@command("backtrace", aliases=("bt",), group=GROUP, reads_only=True)
async def backtrace(
    call: Call,
    *,
    with_locals: Annotated[bool, Opt("--locals", help="with each frame's locals")] = False,
    limit: Annotated[int, Opt("--limit", help="at most so many frames", metavar="N")] = 50,
    thread: Annotated[int | None, Opt("--thread", help="of this thread", metavar="N")] = None,
    every: Annotated[bool, Opt("--all", help="of every thread")] = False,
) -> answers.Answer:
    """Show the stack."""
    session = call.session()
    if not 1 <= limit <= looking.FRAMES_MAX:
        raise DebuggerError(
            Code.USAGE, f"--limit is 1 to {looking.FRAMES_MAX} frames", hint="debugger backtrace"
        )
    if every:
        return await session.do(lambda: looking.all_backtraces(session, limit=limit))
    return await session.do(
        lambda: looking.backtrace(session, thread=thread, limit=limit, with_locals=with_locals)
    )


@command("frame", group=GROUP)
async def frame(
    call: Call, number: Annotated[int | None, Arg("N", "0 is the innermost")] = None
) -> answers.Answer:
    """Show a frame and make it the current one."""
    session = call.session()
    return await session.do(lambda: looking.go_to_frame(session, number))


@command("up", group=GROUP)
async def up(call: Call, count: Annotated[int, Arg("COUNT", "how many")] = 1) -> answers.Answer:
    """Go to the caller's frame."""
    session = call.session()
    return await session.do(lambda: looking.move(session, count))


@command("down", group=GROUP)
async def down(call: Call, count: Annotated[int, Arg("COUNT", "how many")] = 1) -> answers.Answer:
    """Go to the frame that was called."""
    session = call.session()
    return await session.do(lambda: looking.move(session, -count))


@command("locals", group=GROUP, reads_only=True)
async def locals_(
    call: Call,
    *,
    frame: Annotated[int | None, Opt("--frame", help="of this frame", metavar="N")] = None,
    scopes: Annotated[bool, Opt("--all", help="globals and registers too")] = False,
) -> answers.Answer:
    """Show the frame's variables: its arguments and locals."""
    session = call.session()
    return await session.do(lambda: looking.variables(session, number=frame, with_scopes=scopes))


@command("args", group=GROUP, reads_only=True)
async def args(call: Call) -> answers.Answer:
    """Show the function's arguments."""
    session = call.session()
    return await session.do(lambda: looking.variables(session, only_arguments=True))


@command("print", aliases=("p",), group=GROUP, reads_only=True, dashes_are_words=True)
async def print_(
    call: Call,
    expression: _Expression,
    *,
    show_type: Annotated[bool, Opt("--type", help="with its type")] = False,
    depth: Annotated[int, Opt("--depth", help="levels of what is inside", metavar="N")] = 1,
    form: Annotated[
        str | None,
        Opt(
            "--format",
            help="integers as hex, binary, octal, decimal, address or char",
            metavar="FORMAT",
        ),
    ] = None,
) -> answers.Answer:
    """Show the value of an expression."""
    session = call.session()
    written = numbers.form(form)
    return await values.asked(
        session,
        lambda: values.evaluate(
            session,
            expression,
            purpose=Purpose.PRINT,
            depth=depth,
            show_type=show_type,
            form=written,
        ),
    )


@command("eval", group=GROUP, dashes_are_words=True)
async def eval_(call: Call, expression: _Expression) -> answers.Answer:
    """Evaluate an expression that may change the program."""
    session = call.session()
    return await values.asked(
        session,
        lambda: values.evaluate(
            session, expression, purpose=Purpose.EVALUATE, depth=1, show_type=False
        ),
    )


@command("set", group=GROUP, dashes_are_words=True)
async def set_(
    call: Call,
    name: Annotated[str, Arg("NAME", "a variable, a field or an element")],
    value: Annotated[str, Arg("VALUE", "an expression", words=True)],
) -> answers.Answer:
    """Set a variable; shows it before and after."""
    session = call.session()
    new = value.removeprefix("= ") if value != "=" else value
    return await values.asked(session, lambda: values.assign(session, name, new))


@command("vars", group=GROUP, reads_only=True)
async def vars_(
    call: Call,
    ref: Annotated[str, Arg("REF", "as shown behind a value: v3")],
    *,
    start: Annotated[int, Opt("--from", help="first element, from 0", metavar="N")] = 0,
    count: Annotated[int, Opt("--count", help="how many", metavar="N")] = 50,
) -> answers.Answer:
    """Page through a value's contents."""
    session = call.session()
    return await session.do(lambda: values.page(session, ref, start=start, count=count))


@command("threads", group=GROUP, reads_only=True)
async def threads(call: Call) -> answers.Answer:
    """List the threads and where each is.

    The ids are those of the debugger behind the session: LLDB and Frida have the system's, the
    others count from 1, and delve counts goroutines.
    """
    session = call.session()
    return await session.do(lambda: looking.threads(session))


@command("thread", group=GROUP)
async def thread(
    call: Call, number: Annotated[int | None, Arg("N", "from threads")] = None
) -> answers.Answer:
    """Show the current thread, or make another the current one."""
    session = call.session()
    return await session.do(lambda: looking.choose_thread(session, number))


@command("raw", group=GROUP, dashes_are_words=True)
async def raw(
    call: Call,
    text: Annotated[str, Arg("COMMAND", "of the debugger's own", words=True)],
    *,
    # Not --timeout: LLDB's own commands have an option of that name.
    within: Annotated[
        float | None, Opt("--within", help="seconds it may take", metavar="S")
    ] = None,
) -> answers.Answer:
    """Run a command of the debugger behind the session."""
    if within is not None and not 0 < within <= _WITHIN_MAX:
        raise DebuggerError(
            Code.USAGE,
            f"--within is in seconds, above 0 and up to {_WITHIN_MAX:g}, not {within:g}",
            hint="debugger raw --within 10 COMMAND",
        )
    security = call.config.security
    session = call.session()
    if security.raw == "deny":
        raise DebuggerError(
            Code.DENIED, "raw commands are denied by the configuration", hint="debugger config"
        )
    if security.shell == "deny" and session.adapter != "debugpy" and uses_shell(text):
        raise DebuggerError(
            Code.DENIED,
            "this command could run a shell or a script of the debugger's",
            hint='debugger config: [security] shell = "allow" permits it',
        )
    if not text.strip():
        raise DebuggerError(Code.USAGE, "an empty command", hint="debugger raw help lists some")
    one_line(text)
    return await raw_commands.run(session, text, call.patience(within or _WITHIN_RAW), within)
