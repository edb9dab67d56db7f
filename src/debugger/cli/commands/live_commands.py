"""Defines the commands for a running program: tracing, live values, function calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from debugger.cli.commands import breakpoint_commands
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.command_registry import Argument, Option, register_command
from debugger.model.debugger_words import check_line, parse_call
from debugger.model.hit_filter import (
    EVERY_HIT,
    FUTURE_UNKNOWN,
    NO_CALLERS,
    HitFilter,
    Refusal,
    refuse_options,
)
from debugger.questions.group.group_options import NO_CHOICE, GroupOptions

if TYPE_CHECKING:
    from debugger.model import answers
    from debugger.questions.runner.command_call import CommandCall

GROUP = "Live"
_LOG_HITS = refuse_options(
    {
        "last": FUTURE_UNKNOWN,
        "inside": NO_CALLERS,
    },
    help={
        "nth": "log the Kth hit only",
        "first": "disable it after N texts; also --limit",
        "changes": "only texts that differ from the one before",
    },
)
_TRACE_HITS = refuse_options(
    {
        "last": FUTURE_UNKNOWN,
        "inside": NO_CALLERS,
        "changes": Refusal(
            "it compares no values", "debugger log FUNCTION '{EXPR}' --changes writes each change"
        ),
    },
    help={
        "when": "only calls for which it is true at entry; also --if, --condition, -c",
        "nth": "only the call of this number of each function",
        "first": "only the first N calls of each function",
        "thread": "only calls in this thread",
        "after": "only calls after this one: LOC, or 'LOC if COND'",
        "until": "only calls before this one",
    },
    # --limit bounds the functions here.
    also={"first": ()},
)
_Type = Annotated[
    str | None,
    Option("--type", help="of what is at an address: i8 to u64, f32, f64, pointer", metavar="TYPE"),
]


@register_command("trace add", group=GROUP)
async def trace_add(
    call: CommandCall,
    patterns: Annotated[
        tuple[str, ...], Argument("PATTERN", "a function, 'audio::*', or '@file:parser.c'")
    ],
    *,
    limit: Annotated[
        int | None, Option("--limit", help="at most this many functions a pattern", metavar="N")
    ] = None,
    hits: Annotated[HitFilter, _TRACE_HITS] = EVERY_HIT,
) -> answers.Answer:
    """Trace functions: write every call to the timeline, without stopping the program.

    `debugger events --kind function_enter` shows them. A debugger that cannot trace logs the entry
    of functions with these names, shown by `events --kind logpoint`; so does a trace with a filter.
    """
    from debugger.questions.runner.filtered_breakpoint import filter_in_session
    from debugger.session import function_tracing

    session = call.current_session()
    if not 0 < len(patterns) <= function_tracing.PATTERNS_MAX:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"1 to {function_tracing.PATTERNS_MAX} patterns can be traced at once, "
            f"not {len(patterns)}",
            hint="debugger trace add 'audio::*'",
        )
    if limit is not None and not 1 <= limit <= function_tracing.FUNCTIONS_MAX:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"--limit is 1 to {function_tracing.FUNCTIONS_MAX} functions, not {limit}",
            hint="debugger trace add --help",
        )
    if not hits:
        return await function_tracing.add_traces(session, patterns, limit)
    return await function_tracing.log_entries(
        session,
        patterns,
        lambda spec: filter_in_session(call, session, spec, hits, command="trace add"),
    )


@register_command("trace remove", group=GROUP)
async def trace_remove(
    call: CommandCall,
    ids: Annotated[tuple[int, ...], Argument("ID", "from trace list")] = (),
    *,
    every: Annotated[bool, Option("--all", help="all of them")] = False,
) -> answers.Answer:
    """Stop tracing functions."""
    from debugger.session import function_tracing

    if every == bool(ids):
        raise DebuggerError(ErrorCode.USAGE, "which? Give IDs or --all", hint="debugger trace list")
    return await function_tracing.remove_traces(call.current_session(), ids, every=every)


@register_command("trace list", group=GROUP, reads_only=True)
async def trace_list(call: CommandCall) -> answers.Answer:
    """List the traces: how many functions each has, which were omitted or sampled."""
    from debugger.session import function_tracing

    return await function_tracing.list_traces(call.current_session())


@register_command("log", group=GROUP)
async def log(
    call: CommandCall,
    place: Annotated[str, Argument("LOC", "FILE:LINE, LINE of the current file, or FUNCTION")],
    text: Annotated[str, Argument("TEXT", "{expr} is evaluated", words=True)],
    *,
    hits: Annotated[HitFilter, _LOG_HITS] = EVERY_HIT,
) -> answers.Answer:
    """Log a text at a location, without stopping the program.

    This is a logpoint: `debugger breakpoint list` shows it, `breakpoint remove` removes it.
    """
    return await breakpoint_commands.add_filtered(call, place, hits, log=text, command="log")


@register_command("read", group=GROUP, reads_only=True)
async def read(
    call: CommandCall,
    names: Annotated[
        tuple[str, ...], Argument("NAME", "an expression, or 0xADDR:TYPE; several are read at once")
    ],
    *,
    kind: _Type = None,
    choice: GroupOptions = NO_CHOICE,
) -> answers.Answer:
    """Show values: from the current frame of a stopped program, else globals and addresses."""
    from debugger.questions.group import member_values
    from debugger.questions.group.group_choice import choose_members
    from debugger.session import live_values, value_inspection

    if not 0 < len(names) <= live_values.READ_MAX:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"1 to {live_values.READ_MAX} values can be read at once, not {len(names)}",
            hint="debugger read NAME NAME",
        )
    targets = [live_values.parse_target(name, kind) for name in names]
    # An address is one process's own.
    are_names = all(one.address is None for one in targets)
    if are_names and (chosen := await choose_members(call, choice)) is not None:
        return await member_values.read_in_members(chosen, names)
    session = call.current_session()
    return await value_inspection.run_evaluation(
        session, lambda: live_values.read_values(session, targets)
    )


@register_command("write", group=GROUP, dashes_are_words=True, acts_on_program=True)
async def write(
    call: CommandCall,
    name: Annotated[str, Argument("NAME", "a variable, a field, an element, or 0xADDR:TYPE")],
    value: Annotated[str, Argument("VALUE", "an expression; of an address a number", words=True)],
    *,
    kind: _Type = None,
) -> answers.Answer:
    """Write a value; a global also while the program runs; shows it before and after."""
    from debugger.session import live_values, value_inspection

    session = call.current_session()
    target = live_values.parse_target(name, kind)
    new = value.removeprefix("= ") if value != "=" else value
    return await value_inspection.run_evaluation(
        session, lambda: live_values.write_value(session, target, new)
    )


@register_command("call", group=GROUP, dashes_are_words=True, acts_on_program=True)
async def call_(
    call: CommandCall,
    function: Annotated[str, Argument("FUNCTION", "its name, or the whole call: 'add(1, n)'")],
    arguments: Annotated[tuple[str, ...], Argument("ARGS", "one expression each")] = (),
) -> answers.Answer:
    """Call a function, in the stopped program; shows the value it returned."""
    from debugger.session import live_values, value_inspection

    session = call.current_session()
    check_line(
        function, live_values.WORDS_MAX
    )  # as it was given: what is taken apart has lost its ends
    name, given = parse_call(function) if not arguments else (function, arguments)
    if len(given) > live_values.ARGUMENTS_MAX:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"at most {live_values.ARGUMENTS_MAX} arguments can be given, not {len(given)}",
            hint="debugger call --help",
        )
    return await value_inspection.run_evaluation(
        session, lambda: live_values.call_function(session, name, given)
    )
