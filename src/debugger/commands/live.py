"""Commands for a program that runs on: tracing, reading and writing values, calling functions."""

from __future__ import annotations

from typing import Annotated

from debugger.commands import breakpoints
from debugger.commands.call import Call
from debugger.core import answers
from debugger.core.command import Arg, Opt, command
from debugger.core.words import bounded, called
from debugger.errors import Code, DebuggerError
from debugger.session import live, tracing, values

GROUP = "Live"
_Type = Annotated[
    str | None,
    Opt("--type", help="of what is at an address: i8 to u64, f32, f64, pointer", metavar="TYPE"),
]


@command("trace add", group=GROUP)
async def trace_add(
    call: Call,
    patterns: Annotated[
        tuple[str, ...], Arg("PATTERN", "a function, 'audio::*', or '@file:parser.c'")
    ],
    *,
    limit: Annotated[
        int | None, Opt("--limit", help="at most so many functions a pattern", metavar="N")
    ] = None,
) -> answers.Answer:
    """Trace functions: write every call to the timeline, without stopping the program.

    `debugger events --kind function_enter` shows them. A debugger that cannot trace logs where
    functions of these names are entered, as `events --kind logpoint`.
    """
    session = call.session()
    if not 0 < len(patterns) <= tracing.PATTERNS_MAX:
        raise DebuggerError(
            Code.USAGE,
            f"1 to {tracing.PATTERNS_MAX} patterns can be traced at once, not {len(patterns)}",
            hint="debugger trace add 'audio::*'",
        )
    if limit is not None and not 1 <= limit <= tracing.FUNCTIONS_MAX:
        raise DebuggerError(
            Code.USAGE,
            f"--limit is 1 to {tracing.FUNCTIONS_MAX} functions, not {limit}",
            hint="debugger trace add --help",
        )
    return await tracing.add(session, patterns, limit)


@command("trace remove", group=GROUP)
async def trace_remove(
    call: Call,
    ids: Annotated[tuple[int, ...], Arg("ID", "from trace list")] = (),
    *,
    every: Annotated[bool, Opt("--all", help="all of them")] = False,
) -> answers.Answer:
    """Trace functions no longer."""
    if every == bool(ids):
        raise DebuggerError(Code.USAGE, "which? Give IDs or --all", hint="debugger trace list")
    return await tracing.remove(call.session(), ids, every=every)


@command("trace list", group=GROUP, reads_only=True)
async def trace_list(call: Call) -> answers.Answer:
    """List what is traced: how many functions, which were left out or sampled."""
    return await tracing.listed(call.session())


@command("log", group=GROUP)
async def log(
    call: Call,
    place: Annotated[str, Arg("LOC", "FILE:LINE, LINE of the current file, or FUNCTION")],
    text: Annotated[str, Arg("TEXT", "{expr} is evaluated", words=True)],
    *,
    condition: Annotated[
        str | None, Opt("--condition", "-c", help="log only if this is true", metavar="EXPR")
    ] = None,
) -> answers.Answer:
    """Write a text to the timeline where the program passes, without stopping it.

    It is a breakpoint that logs: `debugger breakpoint list` and `remove` know it.
    """
    made: answers.Answer = await breakpoints.add(call, place, log=text, condition=condition)
    return made


@command("read", group=GROUP, reads_only=True)
async def read(
    call: Call,
    names: Annotated[
        tuple[str, ...], Arg("NAME", "an expression, or 0xADDR:TYPE; several are read at once")
    ],
    *,
    kind: _Type = None,
) -> answers.Answer:
    """Show values: in the current frame of a stopped program, else globals and addresses."""
    session = call.session()
    if not 0 < len(names) <= live.READ_MAX:
        raise DebuggerError(
            Code.USAGE,
            f"1 to {live.READ_MAX} values can be read at once, not {len(names)}",
            hint="debugger read NAME NAME",
        )
    wanted = [live.target(name, kind) for name in names]
    return await values.asked(session, lambda: live.read(session, wanted))


@command("write", group=GROUP, dashes_are_words=True)
async def write(
    call: Call,
    name: Annotated[str, Arg("NAME", "a variable, a field, an element, or 0xADDR:TYPE")],
    value: Annotated[str, Arg("VALUE", "an expression; of an address a number", words=True)],
    *,
    kind: _Type = None,
) -> answers.Answer:
    """Write a value, of a global also while the program runs; shows it before and after."""
    session = call.session()
    wanted = live.target(name, kind)
    new = value.removeprefix("= ") if value != "=" else value
    return await values.asked(session, lambda: live.write(session, wanted, new))


@command("call", group=GROUP, dashes_are_words=True)
async def call_(
    call: Call,
    function: Annotated[str, Arg("FUNCTION", "its name, or the whole call: 'add(1, n)'")],
    arguments: Annotated[tuple[str, ...], Arg("ARGS", "an expression each")] = (),
) -> answers.Answer:
    """Call a function, in the stopped program; shows what it returned."""
    session = call.session()
    bounded(function, live.WORDS_MAX)  # as it was given: what is taken apart has lost its ends
    name, given = called(function) if not arguments else (function, arguments)
    if len(given) > live.ARGUMENTS_MAX:
        raise DebuggerError(
            Code.USAGE,
            f"at most {live.ARGUMENTS_MAX} arguments can be given, not {len(given)}",
            hint="debugger call --help",
        )
    return await values.asked(session, lambda: live.call(session, name, given))
