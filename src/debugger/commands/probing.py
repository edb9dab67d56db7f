"""Parses what to probe: which values, at which locations, by which means."""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

import msgspec

from debugger.backends import choose
from debugger.backends.base import Launch
from debugger.commands.call import Call
from debugger.core import answers
from debugger.core.words import one_line
from debugger.errors import Code, DebuggerError
from debugger.questions.asking import Question
from debugger.questions.probing import answering
from debugger.questions.probing.logged import logged
from debugger.questions.probing.recorded import recorded
from debugger.questions.probing.stopping import stopping
from debugger.questions.probing.table import Table
from debugger.questions.probing.wanted import (
    PLACES_MAX,
    Range,
    Wanted,
    conditions,
    expressions,
)

_NATIVE = frozenset({"c", "c++", "rust", "native"})
# What the engine cannot do in a program, before anything of it has run.
_NOT_INSIDE = frozenset(
    {Code.NOT_SUPPORTED, Code.ADAPTER_NOT_FOUND, Code.ADAPTER_FAILED, Code.TIMEOUT}
)
_COMMAND = {"probe": "-- CMD", "diff": "-- CMD_A --vs CMD_B"}
_NO_EXPRESSION = re.compile(r"--(?:[a-z][-a-z]+)?")
Means = Literal["recorder", "logpoints", "frida", "stops"]


def _hint(verb: str) -> str:
    return f"debugger {verb} --at FILE:LINE 'total, count' {_COMMAND[verb]}"


def are_named(at: Sequence[tuple[str, str]], *, verb: str = "probe") -> None:
    """See that there are places, each with its expressions.

    Without them a place takes the next word for them: an option, or what stands before the command.

    Raises:
        DebuggerError: USAGE.
    """
    word = next((text for _, text in at if _NO_EXPRESSION.fullmatch(text)), None)
    if not 0 < len(at) <= PLACES_MAX or word is not None:
        said = f"where, and what? 1 to {PLACES_MAX} places, each with its expressions"
        raise DebuggerError(
            Code.USAGE,
            f"{said}, not {word}" if word not in {None, "--"} else said,
            hint=_hint(verb),
        )


def wanted(
    call: Call,
    found: Question,
    at: Sequence[tuple[str, str]],
    when: Sequence[str],
    *,
    verb: str = "probe",
    also: Sequence[str] = (),
) -> list[Wanted]:
    """Return what is wanted of which places; `also` are more folders that have their files.

    Raises:
        DebuggerError: USAGE.
    """
    hint = _hint(verb)
    for text in when:
        one_line(text)
    target = found.target
    near = [target.cwd, *also]
    program = target.program
    if program is not None:
        near.append(os.path.dirname(program))
    made = []
    for (place, text), condition in zip(at, conditions(when, len(at), hint=hint), strict=True):
        spec = call.spec(place, near=near, current=program, program=program)
        made.append(Wanted(place, spec, expressions(text, hint=hint), condition))
    places = [(one.spec.file, one.spec.line, one.spec.function) for one in made]
    twice = next((one.asked for one, key in zip(made, places, strict=True)
                  if places.count(key) > 1), None)  # fmt: skip
    if twice is not None:
        raise DebuggerError(
            Code.USAGE,
            f"{twice} is there twice",
            hint=f"debugger {verb} --at {twice} 'EXPR, EXPR' {_COMMAND[verb]}",
        )
    return made


async def probed(
    call: Call,
    found: Question,
    wanted: Sequence[Wanted],
    within: Range,
    *,
    by: Means | None,
    rows: int,
    is_free: bool,
    inside: Callable[[], Awaitable[Question]],
    each: int = 0,
) -> answers.Probe:
    """Take the values of a run; the means are free where the caller has chosen no debugger.

    `rows` are kept; with `each` none is left out of so many hits of a place. `inside` gives the
    same program by the Frida engine.

    Raises:
        DebuggerError: What starting the program raises; NOT_SUPPORTED for means that it has not.
    """

    def table() -> Table:
        return Table([one.expressions for one in wanted], within, rows=rows)

    target = found.target
    is_python = isinstance(target, Launch) and found.language == "python"
    if by == "recorder" and not is_python:
        raise DebuggerError(
            Code.NOT_SUPPORTED,
            "the recorder is for Python programs that are started",
            hint="debugger probe --by logpoints …",
        )
    if isinstance(target, Launch) and is_python and (by == "recorder" or (by is None and is_free)):
        taken = table()
        seconds = found.patience.seconds
        ran = await recorded(
            target,
            wanted,
            within,
            taken,
            timeout_s=seconds,
            scratch_root=call.scratch_root,
            each=each,
            interrupted=found.patience.interrupted,
            again=f"debugger {found.name} --at {{}} EXPR {_COMMAND[found.name]}",
        )
        return answering.of_recording(ran, taken, waited_s=seconds)
    notes: tuple[str, ...] = ()
    if is_free and by is None and found.language in _NATIVE and _has_frida(call):
        try:
            return await _by_logpoints(await inside(), wanted, table())
        except DebuggerError as error:
            if error.code not in _NOT_INSIDE:
                raise
            notes = (f"the Frida engine cannot: {error.message}",)
    if by == "stops":
        taken = table()
        ending = await stopping(found, wanted, taken)
        answer = answering.of_ending(ending, wanted, taken, means="stops")
    else:
        answer = await _by_logpoints(found, wanted, table())
    return msgspec.structs.replace(answer, notes=(*notes, *answer.notes))


def _has_frida(call: Call) -> bool:
    own = choose.OWN[choose.FRIDA]
    try:
        choose.find(own, call.env, call.config.adapters)
    except DebuggerError:
        return False
    is_default = call.config.defaults.adapter is None and call.config.defaults.backend is None
    return is_default and not call.env.get("DEBUGGER_BACKEND")


async def _by_logpoints(found: Question, wanted: Sequence[Wanted], table: Table) -> answers.Probe:
    ending = await logged(found, wanted, table)
    means = "frida" if found.adapter == choose.FRIDA else "logpoints"
    return answering.of_ending(ending, wanted, table, means=means)
