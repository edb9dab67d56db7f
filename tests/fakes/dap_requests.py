"""The answers of a well-behaved adapter to each request."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dap_messages import Item, Json, event, failure, response
from dap_session import RequestError, Session, begin, describe_source, play, stop
from dap_values import evaluate, scopes, set_variable, variables
from program_model import (
    CODE_LINES,
    FUNCTIONS,
    SOURCE,
    Behaviour,
    Breakpoint,
    EvaluationError,
    Program,
    Stopped,
)

if TYPE_CHECKING:
    from collections.abc import Callable

CAPABILITIES: Json = {
    "supportsConfigurationDoneRequest": True,
    "supportsFunctionBreakpoints": True,
    "supportsConditionalBreakpoints": True,
    "supportsHitConditionalBreakpoints": True,
    "supportsLogPoints": True,
    "supportsSetVariable": True,
    "supportsEvaluateForHovers": True,
    "supportsExceptionInfoRequest": True,
    "supportsTerminateRequest": True,
    "supportTerminateDebuggee": True,
    "supportsDelayedStackTraceLoading": True,
    "exceptionBreakpointFilters": [
        {"filter": "raised", "label": "Raised Exceptions", "default": False},
        {"filter": "uncaught", "label": "Uncaught Exceptions", "default": True},
    ],
}
KILLED = 143
RESUMING = ("continue", "next", "stepIn", "stepOut")


def handle(session: Session, request: Json) -> list[Item]:
    """Answer one request: the response and the events it causes, in a good adapter's order."""
    command = request["command"]
    handler = _HANDLERS.get(command)
    try:
        if handler is None:
            return [failure(f"unsupported request: {command}")]
        out = list(handler(session, request.get("arguments") or {}))
    except (RequestError, EvaluationError) as error:
        return [failure(str(error))]
    if session.state == "RUNNING" and session.program and command not in (*RESUMING, "pause"):
        # Time passes only when asked something, which keeps an endless program deterministic.
        out += play(session, session.program.run("continue"))
    return out


def _initialize(session: Session, arguments: Json) -> list[Item]:
    session.client = arguments
    return [response(CAPABILITIES)]


def _launch(session: Session, arguments: Json) -> list[Item]:
    program = arguments.get("program")
    if not program:
        return [failure("launch: program is missing")]
    words = [str(word) for word in arguments.get("args") or []]
    session.source = program if Path(program).suffix else f"{program}.c"
    session.stops_on_entry = bool(arguments.get("stopOnEntry"))
    session.program = Program(
        Behaviour(
            iterations=next((int(word) for word in words if word.isdecimal()), 5),
            is_endless="forever" in words,
            crashes="crash" in words,
            throws="throw" in words,
            is_noisy="noisy" in words,
            stops_on_condition_error=session.stops_on_condition_error,
        )
    )
    return [event("initialized"), response(), _process(session, "launch"), *begin(session)]


def _attach(session: Session, arguments: Json) -> list[Item]:
    session.source = arguments.get("program") or "/usr/src/main.c"
    session.stops_on_entry = bool(arguments.get("stopOnEntry"))
    # A program met on its way: at the loop's head, in its third turn, and silent.
    session.program = Program(
        Behaviour(is_endless=True, stops_on_condition_error=session.stops_on_condition_error),
        main_line=FUNCTIONS["main"] + 1,
        is_quiet=True,
        names={"i": 2, "total": 2},
    )
    return [event("initialized"), response(), _process(session, "attach"), *begin(session)]


def _process(session: Session, how: str) -> Json:
    # Clients kill this number when all else fails: it must be a process of ours.
    return event("process", name=session.source, systemProcessId=session.pid, startMethod=how)


def _configuration_done(session: Session, _arguments: Json) -> list[Item]:
    session.is_configured = True
    return [response(), *begin(session)]


def _set_breakpoints(session: Session, arguments: Json) -> list[Item]:
    wanted = arguments.get("breakpoints") or []
    path = str(arguments.get("source", {}).get("path", ""))
    is_ours = not session.source or Path(path).name == Path(session.source).name
    if is_ours:
        session.line_breakpoints = []
    answers = []
    for one in wanted:
        number, line = next(session.ids), one["line"]
        if not is_ours or line not in CODE_LINES:
            why = f"no code at line {line}" if is_ours else f"no such file in the program: {path}"
            answers.append({"id": number, "verified": False, "message": why, "line": line})
            continue
        session.line_breakpoints.append(_breakpoint(number, line, one, "breakpoint"))
        answers.append(
            {"id": number, "verified": True, "line": line, "source": describe_source(session)}
        )
    session.arm()
    return [response({"breakpoints": answers})]


def _set_function_breakpoints(session: Session, arguments: Json) -> list[Item]:
    session.function_breakpoints = []
    answers = []
    for one in arguments.get("breakpoints") or []:
        number, name = next(session.ids), one["name"]
        if name not in FUNCTIONS:
            answers.append({"id": number, "verified": False, "message": f"no function {name}"})
            continue
        line = FUNCTIONS[name]
        session.function_breakpoints.append(_breakpoint(number, line, one, "function breakpoint"))
        answers.append(
            {"id": number, "verified": True, "line": line, "source": describe_source(session)}
        )
    session.arm()
    return [response({"breakpoints": answers})]


def _breakpoint(number: int, line: int, wanted: Json, reason: str) -> Breakpoint:
    return Breakpoint(
        number,
        line,
        wanted.get("condition"),
        wanted.get("hitCondition"),
        wanted.get("logMessage"),
        reason,
    )


def _set_exception_breakpoints(session: Session, arguments: Json) -> list[Item]:
    session.filters = list(arguments.get("filters") or [])
    session.arm()
    known = {one["filter"] for one in CAPABILITIES["exceptionBreakpointFilters"]}
    answers = [{"verified": name in known} for name in session.filters]
    return [response({"breakpoints": answers})]


def _resume(how: str) -> Callable[[Session, Json], list[Item]]:
    def resume(session: Session, arguments: Json) -> list[Item]:
        program = session.stopped_program
        _check_thread(session, arguments)
        thread = session.first_thread
        body = {"allThreadsContinued": True} if how == "continue" else None
        return [
            response(body),
            event("continued", threadId=thread, allThreadsContinued=True),
            *play(session, program.run(how)),
        ]

    return resume


def _check_thread(session: Session, arguments: Json) -> None:
    thread = arguments.get("threadId")
    if thread not in range(session.first_thread, session.first_thread + session.thread_count):
        message = f"no thread {thread}"
        raise RequestError(message)


def _pause(session: Session, arguments: Json) -> list[Item]:
    if session.state != "RUNNING":
        return [failure("not running")]
    _check_thread(session, arguments)
    return [response(), stop(session, Stopped("pause"))]


def _threads(session: Session, _arguments: Json) -> list[Item]:
    if session.state == "ENDED":
        return [response({"threads": []})]
    threads = [
        {"id": session.first_thread + index, "name": f"worker-{index}" if index else "main"}
        for index in range(session.thread_count)
    ]
    return [response({"threads": threads})]


def _stack_trace(session: Session, arguments: Json) -> list[Item]:
    program = session.stopped_program
    _check_thread(session, arguments)
    places = [("main", program.main_line)]
    if program.work_line:
        places.insert(0, ("work", program.work_line))
    places += [(f"caller_{number}", 0) for number in range(len(places), session.stack_depth)]
    if arguments["threadId"] != session.first_thread:
        places = [("wait_for_work", 0)]
    frames = [
        {
            "id": session.epoch * 1_000_000 + index,
            "name": name,
            "line": line,
            "column": 5 if line else 0,
            "instructionPointerReference": f"{0x401100 + line:#x}",
        }
        | ({"source": describe_source(session)} if line else {})
        for index, (name, line) in enumerate(places)
    ]
    start = arguments.get("startFrame") or 0
    levels = arguments.get("levels") or len(frames)
    return [response({"stackFrames": frames[start : start + levels], "totalFrames": len(frames)})]


def _source_text(_session: Session, _arguments: Json) -> list[Item]:
    return [response({"content": SOURCE, "mimeType": "text/x-c"})]


def _exception_info(session: Session, _arguments: Json) -> list[Item]:
    if not session.stop or session.stop.reason != "exception":
        return [failure("no exception")]
    kind, _, description = session.stop.text.partition(": ")
    info = {
        "exceptionId": kind,
        "description": description or kind,
        "breakMode": "always",
        "details": {"typeName": kind, "message": description or kind},
    }
    return [response(info)]


def _terminate(session: Session, _arguments: Json) -> list[Item]:
    if session.state == "ENDED":
        return [response()]
    session.state = "ENDED"
    return [response(), event("exited", exitCode=KILLED), event("terminated")]


def _disconnect(session: Session, _arguments: Json) -> list[Item]:
    session.state = "ENDED"
    return [response()]


_HANDLERS: dict[str, Callable[[Session, Json], list[Item]]] = {
    "initialize": _initialize,
    "launch": _launch,
    "attach": _attach,
    "configurationDone": _configuration_done,
    "setBreakpoints": _set_breakpoints,
    "setFunctionBreakpoints": _set_function_breakpoints,
    "setExceptionBreakpoints": _set_exception_breakpoints,
    "continue": _resume("continue"),
    "next": _resume("next"),
    "stepIn": _resume("stepIn"),
    "stepOut": _resume("stepOut"),
    "pause": _pause,
    "threads": _threads,
    "stackTrace": _stack_trace,
    "source": _source_text,
    "scopes": scopes,
    "variables": variables,
    "setVariable": set_variable,
    "evaluate": evaluate,
    "exceptionInfo": _exception_info,
    "terminate": _terminate,
    "disconnect": _disconnect,
}
REQUESTS = tuple(_HANDLERS)
