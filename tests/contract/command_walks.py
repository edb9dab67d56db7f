"""The commands that every adapter's program meets, in order, with what shows that each works.

A walk is a list of rows for one start of a program. A row works if its command succeeds and its
check holds; NOT_SUPPORTED is an answer too; anything else is a fault.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from adapter_specs.adapter_spec import AdapterSpec, StoppedAt
from debugger.backends.base import LaunchTarget
from debugger.model.breakpoints import BreakpointSpec

Data = dict[str, Any]


@dataclass(frozen=True)
class WalkStep:
    """A line of the table, the words of its command, and what its data must be like.

    `name` is "" for a command that only leads on to the next. Where one that `leads` is refused,
    nothing can be seen up to the next one, or the next start. `otherwise` is what the page says of
    an adapter with which the command succeeds and the check does not hold.
    """

    name: str
    words: Sequence[str]
    works: Callable[[Data], object] = lambda _: True
    leads: bool = False
    otherwise: str = ""


def start_words(adapter_spec: AdapterSpec, program: LaunchTarget, *options: str) -> list[str]:
    """Return the words that start a program under a specification's adapter."""
    assert program.program is not None
    words = ["start", program.program, *adapter_spec.words, *options]
    return [*words, "--", *program.args]


def location_text(spec: BreakpointSpec) -> str:
    """Write a place as a user does."""
    return spec.function or f"{spec.file}:{spec.line}"


def _is_at(adapter_spec: AdapterSpec, line: int) -> Callable[[Data], bool]:
    return lambda data: (
        data["state"] == "stopped"
        and (data["frame"]["file"], data["frame"]["line"]) == (adapter_spec.file, line)
    )


def _stops(*reasons: str) -> Callable[[Data], bool]:
    return lambda data: data["state"] == "stopped" and data["reason"] in reasons


def _in(adapter_spec: AdapterSpec, function: str) -> Callable[[Data], bool]:
    del adapter_spec
    return lambda data: function in data["frame"]["function"]


def walk_breakpoints(adapter_spec: AdapterSpec) -> list[WalkStep]:
    """Walk through every kind of breakpoint, in the loop."""
    inside, call = (
        f"{adapter_spec.file}:{adapter_spec.stop_line}",
        f"{adapter_spec.file}:{adapter_spec.call_line}",
    )
    turn = adapter_spec.variable
    return [
        WalkStep(
            "start --break LOC",
            start_words(adapter_spec, adapter_spec.loop(), "--break", call),
            _is_at(adapter_spec, adapter_spec.call_line),
        ),
        WalkStep("break FILE:LINE", ["break", inside], lambda data: data["verified"]),
        WalkStep("continue", ["continue"], _is_at(adapter_spec, adapter_spec.stop_line)),
        WalkStep("", ["breakpoint", "remove", "2"]),  # it would stop beside the next one
        WalkStep("break --condition", ["break", inside, "-c", adapter_spec.condition(3)]),
        WalkStep(
            "breakpoint change",
            ["breakpoint", "change", "3", "--condition", adapter_spec.condition(2)],
            lambda data: data["condition"] == adapter_spec.condition(2),
        ),
        WalkStep(
            "breakpoint disable", ["breakpoint", "disable", "1"], lambda data: not data["enabled"]
        ),
        WalkStep("", ["continue"]),
        WalkStep("", ["print", turn], lambda data: data["value"] == str(adapter_spec.first + 2)),
        WalkStep("breakpoint enable", ["breakpoint", "enable", "1"], lambda data: data["enabled"]),
        WalkStep(
            "breakpoint list", ["breakpoint", "list"], lambda data: len(data["breakpoints"]) > 1
        ),
        WalkStep(
            "breakpoint remove", ["breakpoint", "remove", "--all"], lambda data: data["removed"]
        ),
        WalkStep(
            "break --temporary", ["break", inside, "--temporary"], lambda data: data["temporary"]
        ),
        WalkStep("", ["continue"], _is_at(adapter_spec, adapter_spec.stop_line)),
        WalkStep("", ["breakpoint", "list"], lambda data: data["breakpoints"] == []),
        WalkStep("break --log", ["break", inside, "--log", f"turn {{{turn}}}"]),
        WalkStep("restart", ["restart"], lambda data: data["state"] == "terminated"),
        WalkStep(
            "output",
            ["output", "--all"],
            lambda data: any(
                f"turn {adapter_spec.first + 4}" in line["text"] for line in data["lines"]
            ),
        ),
        WalkStep("", ["break", call]),
        WalkStep("", ["restart"], _is_at(adapter_spec, adapter_spec.call_line)),
        WalkStep("", ["breakpoint", "remove", "--all"]),
        WalkStep("break --hit-count", ["break", inside, "--hit-count", "3"]),
        WalkStep("", ["continue"]),
        WalkStep("", ["print", turn], lambda data: data["value"] == str(adapter_spec.first + 2)),
        WalkStep("", ["breakpoint", "remove", "--all"]),
        WalkStep("break --thread", ["break", inside, "--thread", "THREAD"]),
        WalkStep("", ["continue"], _is_at(adapter_spec, adapter_spec.stop_line)),
        WalkStep("", ["breakpoint", "remove", "--all"]),
        WalkStep("break FUNCTION", ["break", adapter_spec.inner], lambda data: data["verified"]),
        WalkStep("", ["stop"]),
    ]


def walk_running(adapter_spec: AdapterSpec) -> list[WalkStep]:
    """Walk through every way to let the program run, in the loop."""
    call = f"{adapter_spec.file}:{adapter_spec.call_line}"
    return [
        WalkStep(
            "",
            start_words(adapter_spec, adapter_spec.loop(), "--break", call),
            _is_at(adapter_spec, adapter_spec.call_line),
        ),
        WalkStep("status", ["status"], lambda data: data["adapter"] == adapter_spec.adapter),
        WalkStep("sessions", ["sessions"], lambda data: len(data["sessions"]) == 1),
        WalkStep("step", ["step"], _in(adapter_spec, adapter_spec.inner)),
        WalkStep("next", ["next"], _stops("step")),
        WalkStep("finish", ["finish"], _in(adapter_spec, adapter_spec.outer)),
        WalkStep("until LOC", ["until", call], _is_at(adapter_spec, adapter_spec.call_line)),
        WalkStep(
            "step --into NAME",
            ["step", "--into", adapter_spec.inner],
            _in(adapter_spec, adapter_spec.inner),
        ),
        WalkStep(
            "finish: the returned value",
            ["finish"],
            lambda data: data["returned"] is not None,
            otherwise=""
            if adapter_spec.returns or adapter_spec.returned_as
            else f"{adapter_spec.name} does not tell it",
        ),
        WalkStep("", ["until", call], _is_at(adapter_spec, adapter_spec.call_line)),
        WalkStep("next --instruction", ["next", "--instruction"], _stops("step")),
        WalkStep("step --instruction", ["step", "--instruction"], _stops("step")),
        WalkStep("continue --thread", ["continue", "--thread", "THREAD"], _stops("breakpoint")),
        WalkStep("", ["breakpoint", "remove", "--all"]),
        WalkStep("break *0xADDR", ["break", "*ADDRESS"], lambda data: data["verified"]),
        WalkStep("", ["breakpoint", "remove", "--all"]),
        WalkStep("", ["continue"], lambda data: data["state"] == "terminated"),
        WalkStep(
            "start --stop-on-entry",
            start_words(adapter_spec, adapter_spec.loop(), "--stop-on-entry"),
            _stops("entry"),
        ),
        WalkStep("", ["break", f"{adapter_spec.file}:{adapter_spec.stop_line}"]),
        WalkStep("", ["continue"], _is_at(adapter_spec, adapter_spec.stop_line)),
        *_inspection_rows(adapter_spec),
        WalkStep(
            "jump LOC",
            ["jump", f"{adapter_spec.file}:{adapter_spec.jump_line or adapter_spec.stop_line}"],
            _stops("goto"),
        ),
        WalkStep("events", ["events"], lambda data: data["events"]),
        WalkStep("stop", ["stop"], lambda data: data["ended"]),
    ]


def _inspection_rows(adapter_spec: AdapterSpec) -> list[WalkStep]:
    """Walk through every way to look at a stop, in the loop's inner function.

    What another program would show is refused here, too, where the adapter has none for it.
    """
    turn = adapter_spec.variable
    return [
        WalkStep("context", ["context"], lambda data: data["source"]),
        WalkStep("source", ["source"], lambda data: any(line["current"] for line in data["lines"])),
        WalkStep(
            "backtrace",
            ["backtrace"],
            lambda data: adapter_spec.outer in data["frames"][1]["function"],
        ),
        WalkStep("backtrace --locals", ["backtrace", "--locals"], _has_locals(turn)),
        WalkStep(
            "backtrace --all", ["backtrace", "--all"], lambda data: data["threads"][0]["frames"]
        ),
        WalkStep("up", ["up"], _in(adapter_spec, adapter_spec.outer)),
        WalkStep("down", ["down"], _in(adapter_spec, adapter_spec.inner)),
        WalkStep("frame N", ["frame", "1"], _in(adapter_spec, adapter_spec.outer)),
        WalkStep("", ["frame", "0"]),
        WalkStep("locals", ["locals"], lambda data: turn in _names(data)),
        WalkStep("args", ["args"], lambda data: turn in _names(data)),
        WalkStep("print", ["print", turn], lambda data: data["value"] == str(adapter_spec.first)),
        WalkStep(
            "print --format",
            ["print", f"{turn} + 254", "--format", "hex"],
            lambda data: data["value"] == hex(adapter_spec.first + 254),
        ),
        WalkStep(
            "print --type",
            ["print", turn, "--type"],
            lambda data: data["type"] == adapter_spec.number,
        ),
        WalkStep(
            "eval",
            ["eval", f"{turn} + 1"],
            lambda data: data["value"] == str(adapter_spec.first + 1),
        ),
        WalkStep("threads", ["threads"], lambda data: data["threads"]),
        WalkStep("thread N", ["thread", "THREAD"], _in(adapter_spec, adapter_spec.inner)),
        WalkStep(
            "set",
            ["set", turn, str(adapter_spec.first + 1)],
            lambda data: data["value"] == str(adapter_spec.first + 1),
        ),
        WalkStep("registers", ["registers"], lambda data: data["groups"][0]["registers"]),
        WalkStep("disassemble", ["disassemble"], lambda data: len(data["instructions"]) > 1),
        WalkStep("disassemble --source", ["disassemble", "--source"], _has_source),
        WalkStep("modules", ["modules"], lambda data: data["modules"]),
        *(() if adapter_spec.memory else _memory_rows("0x1000", b"\0")),
        *(() if adapter_spec.watched else _refused_watches(adapter_spec)),
    ]


def _names(data: Data) -> set[str]:
    return {one["name"] for one in data["variables"]}


def _has_locals(name: str) -> Callable[[Data], bool]:
    return lambda data: name in {one["name"] for one in data["frames"][0]["locals"]}


def _has_source(data: Data) -> bool:
    return any("source" in one for one in data["instructions"])


def walk_values(adapter_spec: AdapterSpec) -> list[WalkStep]:
    """Walk through large values."""
    large = adapter_spec.large
    return [
        WalkStep("", _start(adapter_spec, large), lambda data: data["state"] == "stopped"),
        WalkStep("", ["backtrace"]),
        WalkStep("", ["frame", f"FRAME:{large.function}"]),
        WalkStep(
            "print --depth", ["print", large.name, "--depth", "1"], lambda data: data["children"]
        ),
        WalkStep(
            "vars REF",
            ["vars", "REF", "--from", "50", "--count", "1"],
            lambda data: data["variables"][0]["value"] == large.shown,
        ),
        WalkStep("", ["stop"]),
    ]


def _start(adapter_spec: AdapterSpec, stopping: StoppedAt, tmp_path: Any = None) -> list[str]:
    return start_words(
        adapter_spec, stopping.program(tmp_path), "--break", location_text(stopping.at)
    )


def _memory_rows(address: str, holds: bytes) -> list[WalkStep]:
    return [
        WalkStep(
            "memory read",
            ["memory", "read", address, "--count", str(len(holds))],
            lambda data: data["bytes"] == holds.hex(),
        ),
        WalkStep(
            "memory write", ["memory", "write", address, "2a"], lambda data: data["bytes"] == "2a"
        ),
    ]


def walk_memory(adapter_spec: AdapterSpec) -> list[WalkStep]:
    """Walk through memory, and watch a variable that changes several times."""
    memory, watched = adapter_spec.memory, adapter_spec.watched
    rows: list[WalkStep] = []
    if memory is not None:
        rows += [
            WalkStep("", _start(adapter_spec, memory)),
            *_memory_rows(memory.address, memory.holds),
        ]
    if not watched:
        return [*rows, WalkStep("", ["stop"])] if rows else []
    if memory is None or memory.at != watched[0].at:
        rows.append(WalkStep("", _start(adapter_spec, watched[0])))
    expression, values = watched[0].expression, watched[0].values
    last = f"{expression} == {values[-1]}"
    return [
        *rows,
        *_watch_rows("watch EXPR", ["watch", expression], values[0]),
        *_watch_rows("watch --condition", ["watch", expression, "--condition", last], values[-1]),
        WalkStep("", ["stop"]),
        # The changes are few: what is stopped at for other reasons starts anew.
        WalkStep("", _start(adapter_spec, watched[0])),
        *_watch_rows("watch --read", ["watch", expression, "--read"]),
        *_watch_rows("watch --access", ["watch", expression, "--access"]),
        WalkStep("", ["stop"]),
    ]


def _watch_rows(name: str, words: list[str], now: str = "") -> list[WalkStep]:
    """Watch, stop where the value is `now`, or any, and let the watchpoint go."""
    return [
        WalkStep(name, words, _is_watchpoint, leads=True),
        WalkStep("", ["continue"], _watch_stop(now)),
        WalkStep("watch list", ["watch", "list"], lambda data: len(data["breakpoints"]) == 1),
        WalkStep("watch remove", ["watch", "remove", "--all"], lambda data: data["removed"]),
    ]


def _refused_watches(adapter_spec: AdapterSpec) -> list[WalkStep]:
    variable = adapter_spec.variable
    return [
        WalkStep("watch EXPR", ["watch", variable]),
        WalkStep("watch --read", ["watch", variable, "--read"]),
        WalkStep("watch --access", ["watch", variable, "--access"]),
        WalkStep("watch --condition", ["watch", variable, "--condition", "true"]),
        WalkStep("watch list", ["watch", "list"], lambda data: data["breakpoints"] == []),
        WalkStep("watch remove", ["watch", "remove", "--all"], lambda data: data["removed"] == []),
    ]


def _is_watchpoint(data: Data) -> bool:
    return data["verified"] and data["kind"] == "watchpoint"


def _watch_stop(now: str) -> Callable[[Data], bool]:
    def holds(data: Data) -> bool:
        if data["reason"] != "watchpoint" or not data["watched"]:
            return False
        return not now or data["watched"][0]["value"] == now

    return holds


def walk_exceptions(adapter_spec: AdapterSpec) -> list[WalkStep]:
    """Walk through exceptions."""
    throws = adapter_spec.throws
    if throws is None:
        return [
            WalkStep(
                "",
                start_words(
                    adapter_spec,
                    adapter_spec.loop(),
                    "--break",
                    f"{adapter_spec.file}:{adapter_spec.stop_line}",
                ),
            ),
            WalkStep("catch WHAT", ["catch", "throw"]),
            WalkStep("catch WHAT TYPE", ["catch", "throw", "Error"]),
            WalkStep("", ["stop"]),
        ]
    begin = start_words(adapter_spec, throws.program(None), "--stop-on-entry")  # type: ignore[arg-type]
    return [
        WalkStep("", begin),
        WalkStep("catch WHAT", ["catch", throws.word], lambda data: data["kind"] == "exception"),
        WalkStep("", ["continue"], _stops("exception")),
        WalkStep(
            "exception",
            ["exception"],
            lambda data: throws.type in data["type"] and throws.message in data["message"],
        ),
        WalkStep("catch list", ["catch", "list"], lambda data: len(data["breakpoints"]) == 1),
        WalkStep("catch remove", ["catch", "remove", "--all"], lambda data: data["removed"]),
        WalkStep("", ["continue"], lambda data: data["state"] == "terminated"),
        WalkStep("", begin),
        WalkStep("catch WHAT TYPE", ["catch", throws.word, throws.type]),
        WalkStep("", ["continue"], _stops("exception")),
        WalkStep("", ["stop"]),
        WalkStep("", begin),
        WalkStep("", ["catch", throws.word, throws.other]),
        WalkStep("", ["continue"], lambda data: data["state"] == "terminated"),
    ]


def walk_live(adapter_spec: AdapterSpec, tmp_path: Any) -> list[WalkStep]:
    """Walk through what is done to a running program."""
    begin = start_words(adapter_spec, adapter_spec.program("forever", tmp_path), "--no-wait")
    return [
        WalkStep("start --no-wait", begin, lambda data: data["state"] == "running"),
        WalkStep("await", ["await", "--timeout", "0.2"], lambda data: data["timed_out"]),
        WalkStep("pause", ["pause"], _stops("pause")),
        WalkStep(
            "continue --no-wait", ["continue", "--no-wait"], lambda data: data["state"] == "running"
        ),
        WalkStep("", ["status"]),
        WalkStep("detach", ["detach"], lambda data: data["detached"]),
        WalkStep(
            "attach PID --pause",
            ["attach", "PID", "--pause", *adapter_spec.words],
            _stops("pause"),
            leads=True,
        ),
        WalkStep("", ["detach"], lambda data: data["detached"]),
    ]


def walk_input(adapter_spec: AdapterSpec, tmp_path: Any) -> list[WalkStep]:
    """Walk through the program's input."""
    begin = start_words(adapter_spec, adapter_spec.program("input", tmp_path), "--no-wait")
    return [
        WalkStep("", begin),
        WalkStep("input TEXT", ["input", "hello"]),
        WalkStep("input --eof", ["input", "--eof"]),
        WalkStep(
            "", ["await"], lambda data: data["state"] == "terminated" and has_text(data, "HELLO")
        ),
    ]


def has_text(data: Data, text: str) -> bool:
    return any(text in line["text"] for line in data["output"])


WALKS: dict[str, Callable[..., list[WalkStep]]] = {
    "breakpoints": lambda adapter_spec, _: walk_breakpoints(adapter_spec),
    "running": lambda adapter_spec, _: walk_running(adapter_spec),
    "values": lambda adapter_spec, _: walk_values(adapter_spec),
    "memory": lambda adapter_spec, _: walk_memory(adapter_spec),
    "exceptions": lambda adapter_spec, _: walk_exceptions(adapter_spec),
    "live": walk_live,
    "reading": walk_input,
}
