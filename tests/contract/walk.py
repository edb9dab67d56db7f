"""The commands that every adapter's program meets, in order, with what shows that each works.

A walk is a list of rows for one start of a program. A row works if its command succeeds and its
check holds; NOT_SUPPORTED is an answer too; anything else is a fault.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from debugger.backends.base import LaunchTarget
from debugger.model.breakpoints import BreakpointSpec
from kits.kit import Kit, Stopping

Data = dict[str, Any]


@dataclass(frozen=True)
class Row:
    """A line of the table, the words of its command, and what its data must be like.

    `name` is "" for a command that only leads on to the next. Where one that `leads` is refused,
    nothing can be seen up to the next start. `otherwise` is what the page says of an adapter with
    which the command succeeds and the check does not hold.
    """

    name: str
    words: Sequence[str]
    works: Callable[[Data], object] = lambda _: True
    leads: bool = False
    otherwise: str = ""


def started(kit: Kit, program: LaunchTarget, *options: str) -> list[str]:
    """Return the words that start a program under a kit's adapter."""
    assert program.program is not None
    words = ["start", program.program, *kit.words, *options]
    return [*words, "--", *program.args]


def place(spec: BreakpointSpec) -> str:
    """Write a place as a user does."""
    return spec.function or f"{spec.file}:{spec.line}"


def _is_at(kit: Kit, line: int) -> Callable[[Data], bool]:
    return lambda data: (
        data["state"] == "stopped"
        and (data["frame"]["file"], data["frame"]["line"]) == (kit.file, line)
    )


def _stops(*reasons: str) -> Callable[[Data], bool]:
    return lambda data: data["state"] == "stopped" and data["reason"] in reasons


def _in(kit: Kit, function: str) -> Callable[[Data], bool]:
    del kit
    return lambda data: function in data["frame"]["function"]


def breakpoints(kit: Kit) -> list[Row]:
    """Walk through every kind of breakpoint, in the loop."""
    inside, call = f"{kit.file}:{kit.stop_line}", f"{kit.file}:{kit.call_line}"
    turn = kit.variable
    return [
        Row(
            "start --break LOC",
            started(kit, kit.loop(), "--break", call),
            _is_at(kit, kit.call_line),
        ),
        Row("break FILE:LINE", ["break", inside], lambda data: data["verified"]),
        Row("continue", ["continue"], _is_at(kit, kit.stop_line)),
        Row("", ["breakpoint", "remove", "2"]),  # it would stop beside the next one
        Row("break --condition", ["break", inside, "-c", kit.condition(2)]),
        Row("breakpoint disable", ["breakpoint", "disable", "1"], lambda data: not data["enabled"]),
        Row("", ["continue"]),
        Row("", ["print", turn], lambda data: data["value"] == str(kit.first + 2)),
        Row("breakpoint enable", ["breakpoint", "enable", "1"], lambda data: data["enabled"]),
        Row("breakpoint list", ["breakpoint", "list"], lambda data: len(data["breakpoints"]) > 1),
        Row("breakpoint remove", ["breakpoint", "remove", "--all"], lambda data: data["removed"]),
        Row("break --temporary", ["break", inside, "--temporary"], lambda data: data["temporary"]),
        Row("", ["continue"], _is_at(kit, kit.stop_line)),
        Row("", ["breakpoint", "list"], lambda data: data["breakpoints"] == []),
        Row("break --log", ["break", inside, "--log", f"turn {{{turn}}}"]),
        Row("restart", ["restart"], lambda data: data["state"] == "terminated"),
        Row(
            "output",
            ["output", "--all"],
            lambda data: any(f"turn {kit.first + 4}" in line["text"] for line in data["lines"]),
        ),
        Row("", ["break", call]),
        Row("", ["restart"], _is_at(kit, kit.call_line)),
        Row("", ["breakpoint", "remove", "--all"]),
        Row("break --hit-count", ["break", inside, "--hit-count", "3"]),
        Row("", ["continue"]),
        Row("", ["print", turn], lambda data: data["value"] == str(kit.first + 2)),
        Row("", ["breakpoint", "remove", "--all"]),
        Row("break --thread", ["break", inside, "--thread", "THREAD"]),
        Row("", ["continue"], _is_at(kit, kit.stop_line)),
        Row("", ["breakpoint", "remove", "--all"]),
        Row("break FUNCTION", ["break", kit.inner], lambda data: data["verified"]),
        Row("", ["stop"]),
    ]


def running(kit: Kit) -> list[Row]:
    """Walk through every way to let the program run, in the loop."""
    call = f"{kit.file}:{kit.call_line}"
    return [
        Row("", started(kit, kit.loop(), "--break", call), _is_at(kit, kit.call_line)),
        Row("status", ["status"], lambda data: data["adapter"] == kit.adapter),
        Row("sessions", ["sessions"], lambda data: len(data["sessions"]) == 1),
        Row("step", ["step"], _in(kit, kit.inner)),
        Row("next", ["next"], _stops("step")),
        Row("finish", ["finish"], _in(kit, kit.outer)),
        Row("until LOC", ["until", call], _is_at(kit, kit.call_line)),
        Row("step --into NAME", ["step", "--into", kit.inner], _in(kit, kit.inner)),
        Row(
            "finish: the returned value",
            ["finish"],
            lambda data: data["returned"] is not None,
            otherwise="" if kit.returns or kit.returned_as else f"{kit.name} does not tell it",
        ),
        Row("", ["until", call], _is_at(kit, kit.call_line)),
        Row("next --instruction", ["next", "--instruction"], _stops("step")),
        Row("step --instruction", ["step", "--instruction"], _stops("step")),
        Row("continue --thread", ["continue", "--thread", "THREAD"], _stops("breakpoint")),
        Row("", ["breakpoint", "remove", "--all"]),
        Row("break *0xADDR", ["break", "*ADDRESS"], lambda data: data["verified"]),
        Row("", ["breakpoint", "remove", "--all"]),
        Row("", ["continue"], lambda data: data["state"] == "terminated"),
        Row("start --stop-on-entry", started(kit, kit.loop(), "--stop-on-entry"), _stops("entry")),
        Row("", started(kit, kit.loop(), "--break", f"{kit.file}:{kit.stop_line}")),
        Row("jump LOC", ["jump", f"{kit.file}:{kit.jump_line or kit.stop_line}"], _stops("goto")),
        Row("events", ["events"], lambda data: data["events"]),
        Row("stop", ["stop"], lambda data: data["ended"]),
    ]


def looking(kit: Kit) -> list[Row]:
    """Walk through every way to look at a stop, in the loop's inner function."""
    inside, turn = f"{kit.file}:{kit.stop_line}", kit.variable
    return [
        Row("", started(kit, kit.loop(), "--break", inside), _is_at(kit, kit.stop_line)),
        Row("context", ["context"], lambda data: data["source"]),
        Row("source", ["source"], lambda data: any(line["current"] for line in data["lines"])),
        Row("backtrace", ["backtrace"], lambda data: kit.outer in data["frames"][1]["function"]),
        Row("backtrace --locals", ["backtrace", "--locals"], _has_locals(turn)),
        Row("backtrace --all", ["backtrace", "--all"], lambda data: data["threads"][0]["frames"]),
        Row("up", ["up"], _in(kit, kit.outer)),
        Row("down", ["down"], _in(kit, kit.inner)),
        Row("frame N", ["frame", "1"], _in(kit, kit.outer)),
        Row("", ["frame", "0"]),
        Row("locals", ["locals"], lambda data: turn in _names(data)),
        Row("args", ["args"], lambda data: turn in _names(data)),
        Row("print", ["print", turn], lambda data: data["value"] == str(kit.first)),
        Row(
            "print --format",
            ["print", f"{turn} + 254", "--format", "hex"],
            lambda data: data["value"] == hex(kit.first + 254),
        ),
        Row("print --type", ["print", turn, "--type"], lambda data: data["type"] == kit.number),
        Row("eval", ["eval", f"{turn} + 1"], lambda data: data["value"] == str(kit.first + 1)),
        Row("threads", ["threads"], lambda data: data["threads"]),
        Row("thread N", ["thread", "THREAD"], _in(kit, kit.inner)),
        Row(
            "set",
            ["set", turn, str(kit.first + 1)],
            lambda data: data["value"] == str(kit.first + 1),
        ),
        Row("registers", ["registers"], lambda data: data["groups"][0]["registers"]),
        Row("disassemble", ["disassemble"], lambda data: len(data["instructions"]) > 1),
        Row("disassemble --source", ["disassemble", "--source"], _has_source),
        Row("modules", ["modules"], lambda data: data["modules"]),
        Row("", ["stop"]),
    ]


def _names(data: Data) -> set[str]:
    return {one["name"] for one in data["variables"]}


def _has_locals(name: str) -> Callable[[Data], bool]:
    return lambda data: name in {one["name"] for one in data["frames"][0]["locals"]}


def _has_source(data: Data) -> bool:
    return any("source" in one for one in data["instructions"])


def values(kit: Kit) -> list[Row]:
    """Walk through large values."""
    large = kit.large
    return [
        Row("", _start(kit, large), lambda data: data["state"] == "stopped"),
        Row("", ["backtrace"]),
        Row("", ["frame", f"FRAME:{large.function}"]),
        Row("print --depth", ["print", large.name, "--depth", "1"], lambda data: data["children"]),
        Row(
            "vars REF",
            ["vars", "REF", "--from", "50", "--count", "1"],
            lambda data: data["variables"][0]["value"] == large.shown,
        ),
        Row("", ["stop"]),
    ]


def _start(kit: Kit, stopping: Stopping, tmp_path: Any = None) -> list[str]:
    return started(kit, stopping.program(tmp_path), "--break", place(stopping.at))


def memory(kit: Kit) -> list[Row]:
    """Walk through memory; without a program for it, in the loop, to be refused."""
    if kit.memory is None:
        at, address = f"{kit.file}:{kit.stop_line}", "0x1000"
        begin = started(kit, kit.loop(), "--break", at)
    else:
        begin, address = _start(kit, kit.memory), kit.memory.address
    holds = kit.memory.holds if kit.memory is not None else b"\0"
    return [
        Row("", begin),
        Row(
            "memory read",
            ["memory", "read", address, "--count", str(len(holds))],
            lambda data: data["bytes"] == holds.hex(),
        ),
        Row("memory write", ["memory", "write", address, "2a"], lambda data: data["bytes"] == "2a"),
        Row("", ["stop"]),
    ]


def watching(kit: Kit) -> list[Row]:
    """Walk through watchpoints; without a program for it, in the loop, to be refused."""
    if not kit.watched:
        begin = started(kit, kit.loop(), "--break", f"{kit.file}:{kit.stop_line}")
        return [
            Row("", begin),
            *(Row(name, words) for name, words in _watches(kit.variable, "true")),
            Row("watch list", ["watch", "list"], lambda data: data["breakpoints"] == []),
            Row("watch remove", ["watch", "remove", "--all"], lambda data: data["removed"] == []),
            Row("", ["stop"]),
        ]
    watched = kit.watched[0]
    begin = _start(kit, watched)
    rows: list[Row] = []
    last = watched.values[-1]
    for name, words in _watches(watched.expression, f"{watched.expression} == {last}"):
        now = last if "--condition" in name else watched.values[0]
        if "list" in name or "remove" in name:
            continue
        rows += [
            Row("", begin),
            Row(name, words, _is_watchpoint, leads=True),
            Row("", ["continue"], _watch_stop(now, is_read="--read" in name or "--access" in name)),
            Row("watch list", ["watch", "list"], lambda data: len(data["breakpoints"]) == 1),
            Row("watch remove", ["watch", "remove", "--all"], lambda data: data["removed"]),
            Row("", ["stop"]),
        ]
    return rows


def _is_watchpoint(data: Data) -> bool:
    return data["verified"] and data["kind"] == "watchpoint"


def _watches(expression: str, condition: str) -> list[tuple[str, list[str]]]:
    return [
        ("watch EXPR", ["watch", expression]),
        ("watch --read", ["watch", expression, "--read"]),
        ("watch --access", ["watch", expression, "--access"]),
        ("watch --condition", ["watch", expression, "--condition", condition]),
    ]


def _watch_stop(now: str, *, is_read: bool) -> Callable[[Data], bool]:
    def holds(data: Data) -> bool:
        if data["reason"] != "watchpoint" or not data["watched"]:
            return False
        return is_read or data["watched"][0]["value"] == now

    return holds


def exceptions(kit: Kit) -> list[Row]:
    """Walk through exceptions."""
    throws = kit.throws
    if throws is None:
        return [
            Row("", started(kit, kit.loop(), "--break", f"{kit.file}:{kit.stop_line}")),
            Row("catch WHAT", ["catch", "throw"]),
            Row("catch WHAT TYPE", ["catch", "throw", "Error"]),
            Row("", ["stop"]),
        ]
    begin = started(kit, throws.program(None), "--stop-on-entry")  # type: ignore[arg-type]
    return [
        Row("", begin),
        Row("catch WHAT", ["catch", throws.word], lambda data: data["kind"] == "exception"),
        Row("", ["continue"], _stops("exception")),
        Row(
            "exception",
            ["exception"],
            lambda data: throws.type in data["type"] and throws.message in data["message"],
        ),
        Row("catch list", ["catch", "list"], lambda data: len(data["breakpoints"]) == 1),
        Row("catch remove", ["catch", "remove", "--all"], lambda data: data["removed"]),
        Row("", ["continue"], lambda data: data["state"] == "terminated"),
        Row("", begin),
        Row("catch WHAT TYPE", ["catch", throws.word, throws.type]),
        Row("", ["continue"], _stops("exception")),
        Row("", ["stop"]),
        Row("", begin),
        Row("", ["catch", throws.word, throws.other]),
        Row("", ["continue"], lambda data: data["state"] == "terminated"),
    ]


def live(kit: Kit, tmp_path: Any) -> list[Row]:
    """Walk through what is done to a running program."""
    begin = started(kit, kit.program("forever", tmp_path), "--no-wait")
    return [
        Row("start --no-wait", begin, lambda data: data["state"] == "running"),
        Row("await", ["await", "--timeout", "0.2"], lambda data: data["timed_out"]),
        Row("pause", ["pause"], _stops("pause")),
        Row(
            "continue --no-wait", ["continue", "--no-wait"], lambda data: data["state"] == "running"
        ),
        Row("", ["status"]),
        Row("detach", ["detach"], lambda data: data["detached"]),
        Row(
            "attach PID --pause",
            ["attach", "PID", "--pause", *kit.words],
            _stops("pause"),
        ),
        Row("", ["detach"], lambda data: data["detached"]),
    ]


def reading(kit: Kit, tmp_path: Any) -> list[Row]:
    """Walk through the program's input."""
    begin = started(kit, kit.program("input", tmp_path), "--no-wait")
    return [
        Row("", begin),
        Row("input TEXT", ["input", "hello"]),
        Row("input --eof", ["input", "--eof"]),
        Row("", ["await"], lambda data: data["state"] == "terminated" and _said(data, "HELLO")),
    ]


def _said(data: Data, text: str) -> bool:
    return any(text in line["text"] for line in data["output"])


WALKS: dict[str, Callable[..., list[Row]]] = {
    "breakpoints": lambda kit, _: breakpoints(kit),
    "running": lambda kit, _: running(kit),
    "looking": lambda kit, _: looking(kit),
    "values": lambda kit, _: values(kit),
    "memory": lambda kit, _: memory(kit),
    "watching": lambda kit, _: watching(kit),
    "exceptions": lambda kit, _: exceptions(kit),
    "live": live,
    "reading": reading,
}
