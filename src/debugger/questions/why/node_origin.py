"""Follows a value of JavaScript back, by one run in which the program records its own writes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.answers.frames import FrameView
from debugger.questions.recordings.counted_run import JAVASCRIPT, node_roots, run_node_origin
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_run import QuestionRun
from debugger.questions.why.answer import (
    ChainEnd,
    LinkCertainty,
    LinkKind,
    ValueOperand,
    Why,
    WhyLink,
    chain_cause,
)
from debugger.questions.why.why_request import WhyRequest, repeat_with
from debugger.recorders.node.origin_run import (
    NodeOrigin,
    NodeOriginOrder,
    OriginLink,
    OriginPlace,
)
from debugger.sources.javascript_search import search_functions
from debugger.sources.project_files import imported_files, project_files
from debugger.symbols.program_file import inspect_program

SCRIPTS = frozenset({".js", ".cjs", ".mjs"})
_METHOD = "its own scripts rewritten to record writes, calls and results"


async def trace_value(
    call: CommandCall, question: QuestionRun, request: WhyRequest
) -> tuple[Why | None, str]:
    """Run a program whose scripts record, and follow the value at a location.

    Returns:
        The answer and ""; None if the location is in no script that was rewritten (it is compiled
        from another language, or a function's name) or was not reached, with the recorder's fault.

    Raises:
        DebuggerError: EVALUATION_FAILED for an expression without a value there, TIMEOUT.
    """
    launch = question.target
    if not isinstance(launch, LaunchTarget):
        return None, ""
    request = await asyncio.to_thread(_at_first_statement, launch, request)
    if not _is_rewritable(launch, request):
        return None, ""
    began = asyncio.get_running_loop().time()
    order = _order(launch, request)
    if not order.expression:
        crash = (await run_node_origin(call, question, launch, order)).crash
        if crash is None:
            return None, ""
        order = _order(launch, request, crash)
    found = await run_node_origin(call, question, launch, order)
    if found.failure is not None:
        raise DebuggerError(
            ErrorCode.EVALUATION_FAILED,
            f"{request.expression} has no value at {request.place}: {found.failure}",
            hint=repeat_with("NAME", request.place),
        )
    if not found.located or found.fault is not None:
        return None, (found.fault or "").partition("\n")[0]
    took_s = asyncio.get_running_loop().time() - began
    runs = request.runs + 1 + (request.at is None)
    return _answer(request, found, runs=runs, took_s=took_s), ""


def _at_first_statement(launch: LaunchTarget, request: WhyRequest) -> WhyRequest:
    """Return the request at the first statement of the one function that its location names."""
    at = request.at
    if at is None or not at.function or at.line is not None:
        return request
    scripts = [Path(launch.cwd, one) for one in (str(launch.program), *launch.args)]
    scripts = [one for one in scripts if one.suffix in SCRIPTS and one.is_file()]
    files = (
        [Path(at.file)]
        if at.file
        else [*scripts, *imported_files(scripts), *project_files(node_roots(launch), SCRIPTS)]
    )
    real = dict.fromkeys(Path(os.path.realpath(one)) for one in files)
    found = search_functions([*real], at.function)
    if len(found) != 1 or found[0].line == found[0].first_line:
        return request
    place = msgspec.structs.replace(at, function=None, file=found[0].file, line=found[0].line)
    return msgspec.structs.replace(request, at=place)


def _is_rewritable(launch: LaunchTarget, request: WhyRequest) -> bool:
    """Return whether a program is one of scripts, and the place one that is found in them."""
    at = request.at
    is_place = at is None or (at.file is not None and at.line is not None)
    is_node = inspect_program(str(launch.program)).language == JAVASCRIPT
    return is_place and not request.frame and is_node


def _order(
    launch: LaunchTarget, request: WhyRequest, crash: OriginPlace | None = None
) -> NodeOriginOrder:
    real = node_roots(launch)
    if crash is not None:
        return NodeOriginOrder(
            real,
            request.expression,
            crash.file,
            crash.line,
            nth=-1,
            is_thrown=True,
            links=request.links,
        )
    at = request.at
    if at is None:
        return NodeOriginOrder(real)
    return NodeOriginOrder(
        real,
        request.expression,
        os.path.realpath(at.file or ""),
        at.line or 0,
        when=request.when,
        nth=request.nth,
        is_thrown=request.is_thrown,
        links=request.links,
    )


def _answer(request: WhyRequest, found: NodeOrigin, *, runs: int, took_s: float) -> Why:
    links = tuple(_link(one) for one in found.links)
    expression = f"{request.expression}{found.part}"
    value = f"{expression}={found.value}"
    unseen = f"{value} at {request.place}: {found.ending or 'no write of it was seen'}"
    return Why(
        expression=expression,
        place=request.place,
        cause=chain_cause(value, links, unseen, nowhere=" at ?"),
        value=found.value,
        other=found.other,
        frame=_frames((found.frame,))[0] if found.frame is not None else None,
        event=found.event,
        links=links,
        ended=ChainEnd(found.ended),
        ending=found.ending,
        runs=runs,
        method=_METHOD,
        took_s=round(took_s, 1),
        notes=found.notes,
    )


def _link(one: OriginLink) -> WhyLink:
    return WhyLink(
        kind=LinkKind(one.kind),
        certainty=LinkCertainty(one.certainty),
        text=one.text,
        frame=_frames((one.frame,))[0],
        statement=one.statement,
        stack=_frames(one.stack, 1),
        old=one.old,
        new=one.new,
        details=one.details,
        operands=tuple(
            ValueOperand(each.text, each.value, each.is_followed) for each in one.operands
        ),
    )


def _frames(places: Sequence[OriginPlace], first: int = 0) -> tuple[FrameView, ...]:
    return tuple(
        FrameView(at, one.function, one.file, one.line) for at, one in enumerate(places, first)
    )
