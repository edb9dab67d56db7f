"""Explains what a Python's threads and asyncio tasks wait for, by code that runs in the process."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from debugger.core.hangs import Wait
from debugger.core.model import Purpose
from debugger.core.origin import is_library
from debugger.core.samples import Place, Sampled
from debugger.core.waits import kind_of
from debugger.errors import Code, DebuggerError
from debugger.questions.hang.outside import Outside
from debugger.session.session import Session

_PARTS = ("locks", "tasks", "snapshot")
_NAME = "debugger_hang_snapshot"
_INSIDE = Path(__file__).parent / "inside"
_LOADER = """
import sys, types
made = sys.modules.get(NAME)
if made is None:
    made = types.ModuleType(NAME)
    for part, text in TEXTS.items():
        module = types.ModuleType(part)
        exec(compile(text, "<string>", "exec"), module.__dict__)
        setattr(made, part, module)
    sys.modules[NAME] = made
with open(PATH, "w") as file:
    file.write(made.snapshot.snapshot(made.locks, made.tasks))
"""
_FUTEX = "waits in compiled code, or for the interpreter's lock"


class _Frame(Struct):
    function: str
    file: str
    line: int
    values: dict[str, str] = {}


class _Waits(Struct):
    kind: str
    text: str = ""
    owners: list[str] = []


class _Thread(Struct):
    key: str
    name: str
    native: int | None = None
    frames: list[_Frame] = []
    wait: _Waits | None = None
    coro: str = ""


class Snapshot(Struct):
    """The threads and tasks at one moment."""

    threads: list[_Thread]
    tasks: list[_Thread]


async def sample(session: Session) -> Snapshot:
    """Take one sample of all threads and tasks; nothing stops.

    Raises:
        DebuggerError: TIMEOUT where the interpreter does not answer, ADAPTER_FAILED.
    """
    with tempfile.TemporaryDirectory(prefix="debugger-hang-") as folder:
        path = Path(folder) / "snapshot.json"
        texts = {one: (_INSIDE / f"{one}.py").read_text("utf-8") for one in _PARTS}
        known = {"NAME": _NAME, "TEXTS": texts, "PATH": str(path)}
        asked = f"exec({_LOADER!r}, {known!r})"
        answer = await session.do(lambda: session.backend.evaluate(asked, None, Purpose.EVALUATE))
        try:
            return msgspec.json.decode(path.read_bytes(), type=Snapshot)
        except (OSError, msgspec.DecodeError) as error:
            raise DebuggerError(
                Code.ADAPTER_FAILED, f"Python did not tell of its threads: {answer.value[:200]}"
            ) from error


async def forget(session: Session) -> None:
    """Remove what the samples left in the process."""
    asked = f"__import__('sys').modules.pop({_NAME!r}, None)"
    await session.do(lambda: session.backend.evaluate(asked, None, Purpose.EVALUATE))


def joined(snapshots: Sequence[Snapshot], outside: Outside, cwd: str) -> list[Sampled]:
    """Put the samples of each thread and task together; the waits are the last sample's."""
    if not snapshots:
        return []
    found = [
        _sampled(one, "thread", [each.threads for each in snapshots], outside, cwd)
        for one in snapshots[-1].threads
    ]
    found += [
        _sampled(one, "task", [each.tasks for each in snapshots], outside, cwd)
        for one in snapshots[-1].tasks
    ]
    return found


def in_child(sampled: Sequence[Sampled], pid: int, *, is_awaited: bool) -> list[Sampled]:
    """Return what threads of a child process do in the program's own code, named by the process.

    A fork has its parent's frames at its stack's end; a worker without others is idle. One that
    is waited for does not end: where it is in none of the program's code, all is told.
    """
    named = [
        msgspec.structs.replace(
            one,
            name=f"{one.name} of process {pid}",
            stacks=tuple(_since_fork(stack) for stack in one.stacks),
        )
        for one in sampled
    ]
    own = [one for one in named if any(each.is_own for each in one.last)]
    return own or (named if is_awaited else [])


def _since_fork(stack: Sequence[Place]) -> tuple[Place, ...]:
    begin = next((at for at, one in enumerate(stack) if _begins_child(one)), len(stack))
    return tuple(stack[:begin])


def _begins_child(place: Place) -> bool:
    is_bootstrap = place.function.rpartition(".")[2] == "_bootstrap"
    return is_bootstrap and (place.file or "").endswith("multiprocessing/process.py")


def _sampled(
    last: _Thread, noun: str, samples: Sequence[Sequence[_Thread]], outside: Outside, cwd: str
) -> Sampled:
    stacks = [
        tuple(_place(frame, cwd) for frame in each.frames)
        for sample in samples
        for each in sample
        if each.key == last.key
    ]
    native = last.native or 0
    wait = (
        Wait(last.wait.kind, last.wait.text, tuple(dict.fromkeys(last.wait.owners)))
        if last.wait
        else None
    )
    if noun == "thread":
        wait = _wait(last, wait, outside)
    elif wait is not None and wait.kind == "running":
        wait = None
    name = last.name
    if noun == "task" and last.coro:
        name = f"{last.coro} ({last.name})" if last.name.startswith("Task-") else last.name
    return Sampled(
        key=last.key,
        name=name,
        noun=noun,
        stacks=tuple(stacks),
        wait=wait,
        cpu=outside.cpu_of(native),
        computes=noun == "thread" and outside.computes(native),
    )


def _wait(last: _Thread, wait: Wait | None, outside: Outside) -> Wait | None:
    """Return what a thread waits for: what Python knows, else what the system call tells."""
    by_call = outside.waits.get(last.native or 0)
    call = outside.call_of(last.native or 0)
    if outside.computes(last.native or 0):
        return None
    if wait is not None:
        return wait
    if by_call is None or call is None:
        return None
    if by_call.kind == "futex":
        functions = [one.function for one in last.frames]
        return Wait(kind_of(functions, None) or "interpreter", _FUTEX)
    return by_call


def _place(frame: _Frame, cwd: str) -> Place:
    own = not is_library(frame.file, cwd)
    values: Mapping[str, str] = frame.values if own else {}
    return Place(frame.function, frame.file, frame.line or None, own, values)
