"""Defines the tools that answer a question about a whole run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from debugger.cli import commands
from debugger.daemon.daemon_client import DaemonReply
from debugger.mcp.tool_call import ToolAnswer, ToolCall
from debugger.mcp.tool_definition import (
    ENVIRONMENT,
    HIT_NUMBER,
    LINE,
    MILLISECONDS,
    ONE_TEXT,
    PAIRS,
    RARE,
    ToolArgument,
    Toolset,
)

commands.register_all()  # the tools are derived from the commands

TOOLS = Toolset()
_RARE = frozenset({RARE})
_COMMAND = ToolArgument("words", renamed="command", listing=frozenset({LINE}))
_REQUIRED_COMMAND = ToolArgument(
    "words", renamed="command", listing=frozenset({LINE}), is_required=True
)
_PID = ToolArgument("pid")
_KEEP = ToolArgument("keep", "leave it stopped there", _RARE)
_SAVE = ToolArgument("save", "keep the run: versus run:NAME", _RARE)
_ADAPTER = ToolArgument("adapter", "", _RARE)
_TIMEOUT = ToolArgument(
    "timeout", "60000 without it", _RARE, renamed="timeout_ms", form=MILLISECONDS
)
# Where and how a program is run.
_RUN = (
    ToolArgument("cwd", "", _RARE),
    ToolArgument("env", "", _RARE, form=ENVIRONMENT),
    ToolArgument("stdin", "FILE", _RARE),
)
_WHEN = ToolArgument("when", "condition", _RARE, form=ONE_TEXT)
# The less common parts of the filter of hits.
_CHANGES = ToolArgument("changes", "only where a value differs from the hit before", _RARE)
_THREAD = ToolArgument("thread", "only its hits", _RARE)
_NAMED_THREAD = ToolArgument("thread", "only its hits: number or name", _RARE, form=HIT_NUMBER)
_CALLERS = (
    _THREAD,
    ToolArgument("inside", "FUNCTION: only hits below it", _RARE),
)
_AFTER = ToolArgument("after", "LOC, or 'LOC if COND': only hits after it", _RARE)
_EVENTS = (
    _AFTER,
    ToolArgument("until", "only hits before it", _RARE),
)
_FILTER = (
    ToolArgument("nth", "3, last, -2", _RARE, form=HIT_NUMBER),
    ToolArgument("last", "only the last N hits", _RARE),
    _CHANGES,
    *_CALLERS,
    *_EVENTS,
)


def _answer_with(
    key: str, *copied: str, remembers: bool = False
) -> Callable[[ToolCall, DaemonReply], ToolAnswer]:
    """Return a function that answers with the command's data under `key`, some of it also above."""

    def answer(call: ToolCall, reply: DaemonReply) -> ToolAnswer:
        if remembers and reply.data.get("session"):
            call.remember(reply.data["session"])
        found = {name: reply.data[name] for name in copied if reply.data.get(name) is not None}
        return ToolAnswer(reply.text, {key: reply.data, **found})

    return answer


def _answer_crash(call: ToolCall, reply: DaemonReply) -> ToolAnswer:
    """Answer with a crash; of a group its facts are those of the first member that failed."""
    data = reply.data
    if data.get("session"):
        call.remember(data["session"])
    crash = data.get("crash", data)
    facts = {key: crash[key] for key in ("outcome", "cause", "kind") if crash.get(key) is not None}
    return ToolAnswer(reply.text, {"crash": data, **facts})


def _answer_hang(_call: ToolCall, reply: DaemonReply) -> ToolAnswer:
    """Answer with a hang; of a group its facts are those of the verdict."""
    found = reply.data.get("verdict", reply.data)
    return ToolAnswer(
        reply.text, {"kind": found["kind"], "cause": found["cause"], "hang": reply.data}
    )


def _answer_probe(_call: ToolCall, reply: DaemonReply) -> ToolAnswer:
    hits = sum(place.get("hits", 0) for place in reply.data.get("places", ()))
    return ToolAnswer(
        reply.text, {"outcome": reply.data.get("outcome"), "hits": hits, "probe": reply.data}
    )


def _answer_try(_call: ToolCall, reply: DaemonReply) -> ToolAnswer:
    found: dict[str, Any] = {"verdict": reply.data["verdict"], "try": reply.data}
    has_held = (reply.data.get("expected") or {}).get("held")
    return ToolAnswer(reply.text, found if has_held is None else {**found, "held": has_held})


TOOLS.derive_tool(
    "debug_crash",
    "crash",
    (
        _COMMAND,
        _PID,
        ToolArgument("core", "FILE"),
        *_RUN,
        _ADAPTER,
        ToolArgument("is_group", "of its processes the first to fail", _RARE, renamed="group"),
        ToolArgument("raised", "the first exception, also a caught one", _RARE),
        ToolArgument("no_why", "run CMD once only", _RARE),
        _KEEP,
        _TIMEOUT,
    ),
    title="Why it crashes",
    description="Run to the crash: its cause in a line, source, values, callers.",
    result={"outcome": str, "cause": str, "kind": str, "crash": dict[str, Any]},
    answer=_answer_crash,
)
TOOLS.derive_tool(
    "debug_test",
    "test",
    (_REQUIRED_COMMAND, *_RUN, _KEEP, _TIMEOUT),
    title="Why a test fails",
    description=("Run tests (pytest, go test, cargo test, jest, …): why the first failure failed."),
    result={"outcome": str, "cause": str, "test": dict[str, Any]},
    answer=_answer_with("test", "outcome", "cause", remembers=True),
)
TOOLS.derive_tool(
    "debug_probe",
    "probe",
    (
        _COMMAND,
        ToolArgument("at", "{FILE:LINE or FUNCTION: 'expr, expr'}", form=PAIRS, is_required=True),
        _WHEN,
        ToolArgument(
            "first", "end the run after so many hits of each place", _RARE, renamed="limit"
        ),
        *(_NAMED_THREAD if one is _THREAD else one for one in _FILTER),
        ToolArgument("start", "first hit, or time: 100, 2.5s", _RARE),
        ToolArgument("end", "last hit, or time", _RARE),
        _PID,
        ToolArgument("output", "show what it wrote", _RARE),
        *_RUN,
        _ADAPTER,
        _TIMEOUT,
    ),
    title="Values over a run",
    description=("Run a command: the values of expressions each time it reaches a location."),
    result={"outcome": str, "hits": int, "probe": dict[str, Any]},
    answer=_answer_probe,
)
TOOLS.derive_tool(
    "debug_path",
    "path",
    (
        _REQUIRED_COMMAND,
        ToolArgument("around", "FUNCTION", _RARE),
        ToolArgument("between", "from the first call of one to the next of another", _RARE),
        ToolArgument("process", "number, or failing", _RARE),
        ToolArgument("versus"),
        _SAVE,
        *_RUN,
        _TIMEOUT,
    ),
    title="What ran",
    description=("Which functions ran; with versus (commands that pass): what only this one did."),
    result={"path": dict[str, Any]},
    answer=_answer_with("path"),
)
TOOLS.derive_tool(
    "debug_calls",
    "calls",
    (
        ToolArgument("function", "or FILE:LINE"),
        _REQUIRED_COMMAND,
        ToolArgument("nth", "3, last, -2", _RARE, form=HIT_NUMBER),
        _WHEN,
        ToolArgument("last", "only the last N calls", _RARE),
        ToolArgument("depth", "levels of the calls that it makes", _RARE),
        ToolArgument("limit", "calls shown line by line", _RARE),
        *_RUN,
        _TIMEOUT,
    ),
    title="Calls of a function, line by line",
    description=("Calls of a function, line by line, with what changed and was called."),
    result={"calls": dict[str, Any]},
    answer=_answer_with("calls"),
)
TOOLS.derive_tool(
    "debug_diff",
    "diff",
    (
        _REQUIRED_COMMAND,
        ToolArgument("versus", form=ONE_TEXT),
        ToolArgument("function", "only its calls", _RARE),
        ToolArgument("at", "", _RARE, form=PAIRS),
        ToolArgument("when", "of at: condition", _RARE, form=ONE_TEXT),
        ToolArgument("first", "only the first N hits", _RARE),
        *_FILTER,
        _SAVE,
        *_RUN,
        ToolArgument("versus_stdin", "the other run's FILE", _RARE),
        _TIMEOUT,
    ),
    title="Where two runs part",
    description="Where the runs of two commands diverge: the first step or value that differs.",
    result={"diff": dict[str, Any]},
    answer=_answer_with("diff"),
)
TOOLS.derive_tool(
    "debug_hang",
    "hang",
    (
        _COMMAND,
        _PID,
        ToolArgument(
            "after",
            "when to look at the command (3000)",
            _RARE,
            renamed="after_ms",
            form=MILLISECONDS,
        ),
        *_RUN,
        _ADAPTER,
        ToolArgument(
            "is_group", "of its processes, or the group: who lags", _RARE, renamed="group"
        ),
    ),
    title="Why it hangs",
    description="Say why it hangs: deadlock with owners, busy loop, what it waits for.",
    result={"kind": str, "cause": str, "hang": dict[str, Any]},
    answer=_answer_hang,
)
TOOLS.derive_tool(
    "debug_who_wrote",
    "who-wrote",
    (
        ToolArgument("expression"),
        ToolArgument("at", is_required=True),
        _REQUIRED_COMMAND,
        ToolArgument("nth", "Nth time there", _RARE, renamed="hit", form=HIT_NUMBER),
        ToolArgument("when", "condition there", _RARE, form=ONE_TEXT),
        _CHANGES,
        *_CALLERS,
        _AFTER,
        ToolArgument("until", "writes after it only up to here", _RARE),
        ToolArgument("limit", "writes seen", _RARE),
        *_RUN,
        _ADAPTER,
        _TIMEOUT,
    ),
    title="Who wrote a value",
    description=("Which lines wrote the value that is seen at a location."),
    result={"cause": str, "value": str, "who_wrote": dict[str, Any]},
    answer=_answer_with("who_wrote", "cause", "value"),
)
TOOLS.derive_tool(
    "debug_holds",
    "holds",
    (
        ToolArgument("expression"),
        _REQUIRED_COMMAND,
        ToolArgument("at"),
        ToolArgument("each", "functions, at entry and exit: Base.*", _RARE),
        ToolArgument("scopes", "FILE or FUNCTION, each line", _RARE, renamed="within"),
        ToolArgument("also", "further invariants", _RARE),
        _WHEN,
        ToolArgument("nth", "only the Kth check of each place", _RARE, form=HIT_NUMBER),
        ToolArgument("first", "only the first N checks of each place", _RARE),
        _THREAD,
        *_EVENTS,
        ToolArgument("against", "FILE with a good value, `known`", _RARE),
        *_RUN,
        _ADAPTER,
        _TIMEOUT,
    ),
    title="When an invariant first fails",
    description="Where an invariant first fails, and the statement that broke it.",
    result={"holds": dict[str, Any]},
    answer=_answer_with("holds"),
)
TOOLS.derive_tool(
    "debug_why",
    "why",
    (
        ToolArgument("expression"),
        ToolArgument("at", "LOC, crash, fail, exit"),
        _COMMAND,
        ToolArgument("nth", "hit: 1, last, -2", _RARE, form=HIT_NUMBER),
        ToolArgument("when", "condition there", _RARE, form=ONE_TEXT),
        _CHANGES,
        *_CALLERS,
        *_EVENTS,
        *_RUN,
        _ADAPTER,
        _TIMEOUT,
    ),
    title="Where a value comes from",
    description="Where a value comes from: its writes and copies, back to its origin.",
    result={"cause": str, "value": str, "why": dict[str, Any]},
    answer=_answer_with("why", "cause", "value"),
)
TOOLS.derive_tool(
    "debug_try",
    "try",
    (
        ToolArgument("words", "x=3, or return 5", renamed="changes", is_required=True),
        ToolArgument("until", "FILE:LINE"),
        ToolArgument("expect", "condition"),
        ToolArgument("nth", "Nth time there", _RARE, form=HIT_NUMBER),
        ToolArgument("when", "condition there", _RARE, form=ONE_TEXT),
        *_CALLERS,
        _AFTER,
        ToolArgument("here", "in the session itself", _RARE),
        _TIMEOUT,
    ),
    title="Try a change",
    description=("At a stop, try a change in a second run: does what you expect hold."),
    result={"held": bool, "verdict": str, "try": dict[str, Any]},
    answer=_answer_try,
    needs_session=True,
)


@TOOLS.tool(
    "debug_evidence",
    title="Answers so far",
    result={"evidence": list[Any], "text": str},
    session_key=None,
    reads_only=True,
    is_rare=True,  # debug_command "evidence list"
)
async def debug_evidence(call: ToolCall, answer: Annotated[str | None, "e1"] = None) -> ToolAnswer:
    """List the answers so far, or show one again; stale where sources changed."""
    if answer is None:
        reply = await call.without_session().run_command("evidence_list")
    else:
        reply = await call.without_session().run_command("evidence_show", number=answer)
    return ToolAnswer(reply.text, reply.data)
