"""Explains the waits of Python threads and asyncio tasks, with code injected into the process."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.answers import FrameView
from debugger.model.location import is_library
from debugger.model.program import EvaluationPurpose, Variable
from debugger.model.thread_waits import kind_of
from debugger.questions.hang.hang_verdict import ThreadWait
from debugger.questions.hang.thread_sampling import ProcessWatch, SampledFrame, SampledThread
from debugger.session.session import Session
from debugger.system import process_info

_PARTS = ("locks", "tasks", "snapshot")
_MEMORY = "/dev/shm"  # noqa: S108 - a folder of our own is made in it
_MEMORY_LEAST = 4 << 20  # bytes free; a snapshot of 500 threads has less than one million
SNAPSHOT_CODE = "debugger_hang_snapshot"
_FOLDER = Path(__file__).parent / "inside"
_LOADER = """
import sys, types
made = sys.modules.setdefault(NAME, types.ModuleType(NAME))
for part, text in TEXTS.items():
    if not hasattr(made, part):
        module = types.ModuleType(part)
        exec(compile(text, "<string>", "exec"), module.__dict__)
        setattr(made, part, module)
with open(PATH, "w") as file:
    file.write(made.snapshot.snapshot(made.locks, made.tasks, getattr(made, "extra", None)))
"""
_FUTEX = "waits in compiled code, or for the interpreter's lock"


class _SnapshotFrame(Struct):
    function: str
    file: str
    line: int
    values: dict[str, str] = {}


class _SnapshotWait(Struct):
    kind: str
    text: str = ""
    owners: list[str] = []


class _SnapshotThread(Struct):
    key: str
    name: str
    native: int | None = None
    frames: list[_SnapshotFrame] = []
    wait: _SnapshotWait | None = None
    coro: str = ""


class PythonSnapshot(Struct):
    """The threads and tasks at one moment."""

    threads: list[_SnapshotThread]
    tasks: list[_SnapshotThread]
    # What the caller's own part has collected at the same moment.
    facts: msgspec.Raw = msgspec.Raw(b"{}")


async def take_snapshot(session: Session, extra: Path | None = None) -> PythonSnapshot:
    """Take one sample of all threads and tasks, without a stop.

    Args:
        session: Of a Python process.
        extra: A module whose `collect(locks)` runs in the process, too; it returns `facts`.

    Raises:
        DebuggerError: TIMEOUT if the interpreter does not answer, ADAPTER_FAILED.
    """
    with tempfile.TemporaryDirectory(prefix="debugger-hang-", dir=find_memory_folder()) as folder:
        path = make_writable(Path(folder) / "snapshot.json", session.pid)
        texts = {one: (_FOLDER / f"{one}.py").read_text("utf-8") for one in _PARTS}
        if extra is not None:
            texts["extra"] = extra.read_text("utf-8")
        known = {"NAME": SNAPSHOT_CODE, "TEXTS": texts, "PATH": str(path)}
        # In names of its own, so that no variable of the program changes.
        expression = f"exec({_LOADER!r}, {known!r})"
        answer = await session.run_job(
            lambda: session.backend.evaluate(expression, None, EvaluationPurpose.EVALUATE)
        )
        try:
            return msgspec.json.decode(path.read_bytes(), type=PythonSnapshot)
        except (OSError, msgspec.DecodeError) as error:
            raise DebuggerError(
                ErrorCode.ADAPTER_FAILED,
                f"cannot read Python's threads: {answer.value[:200]}",
            ) from error


def find_memory_folder(folder: str = _MEMORY) -> str | None:
    """Return a folder in memory for files that live for milliseconds; None without one, or space.

    The daemon makes one for each member of a group. On a disk that others keep busy each takes tens
    of milliseconds, in which the daemon does nothing else.
    """
    try:
        space = os.statvfs(folder)
    except OSError:
        return None
    # A container's is 64 MB, which workers may have filled.
    has_space = space.f_bavail * space.f_frsize >= _MEMORY_LEAST
    return folder if has_space and os.access(folder, os.W_OK | os.X_OK) else None


def make_writable(path: Path, pid: int | None) -> Path:
    """Create a file that a process of another user may write, where we are the superuser.

    The folder stays ours: the process cannot put a link in the file's place.
    """
    owner = process_info.read_owner(pid) if pid is not None else None
    if os.geteuid() == 0 and owner:
        path.touch(0o600)
        os.chown(path, owner, -1)
        path.parent.chmod(0o711)
    return path


_VALUES_NAME = "debugger_hang_values"
_VALUES_LOADER = """
import sys, types
made = sys.modules[NAME] = types.ModuleType(NAME)
exec(compile(TEXT, "<string>", "exec"), made.__dict__)
"""


async def evaluate_in_frame(
    session: Session, frame: FrameView, expressions: Sequence[str]
) -> list[Variable | DebuggerError]:
    """Evaluate expressions in a frame of a Python that runs, without a stop.

    An error stands in the place of an expression that has no value.
    """

    async def evaluate(expression: str) -> Variable:
        return await session.run_job(
            lambda: session.backend.evaluate(expression, None, EvaluationPurpose.EVALUATE)
        )

    known = {"NAME": _VALUES_NAME, "TEXT": (_FOLDER / "frame_values.py").read_text("utf-8")}
    module = f"__import__('sys').modules[{_VALUES_NAME!r}]"
    await evaluate(f"exec({_VALUES_LOADER!r}, {known!r})")
    found: list[Variable | DebuggerError] = []
    for text in expressions:
        place = f"{frame.file!r}, {frame.function!r}, {frame.line!r}"
        try:
            found.append(await evaluate(f"{module}.evaluate({place}, {text!r})"))
        except DebuggerError as error:
            found.append(error)
    await evaluate(f"__import__('sys').modules.pop({_VALUES_NAME!r}, None)")
    return found


async def remove_snapshot_code(session: Session) -> None:
    """Remove the injected code from the process."""
    expression = f"__import__('sys').modules.pop({SNAPSHOT_CODE!r}, None)"
    await session.run_job(
        lambda: session.backend.evaluate(expression, None, EvaluationPurpose.EVALUATE)
    )


def merge_snapshots(
    snapshots: Sequence[PythonSnapshot], outside: ProcessWatch, cwd: str
) -> list[SampledThread]:
    """Merge the samples of each thread and task; the waits are the last sample's."""
    if not snapshots:
        return []
    found = [
        _merge_thread(one, "thread", [each.threads for each in snapshots], outside, cwd)
        for one in snapshots[-1].threads
    ]
    found += [
        _merge_thread(one, "task", [each.tasks for each in snapshots], outside, cwd)
        for one in snapshots[-1].tasks
    ]
    return found


def in_child(
    sampled: Sequence[SampledThread], pid: int, *, is_awaited: bool
) -> list[SampledThread]:
    """Return a child process's threads in the program's own code, named by the process.

    A fork has its parent's frames at the end of its stack; a worker without other frames is idle.
    An awaited child does not end: without frames in the program's code all of its threads are
    returned.
    """
    named = [
        msgspec.structs.replace(
            one,
            name=f"{one.name} of process {pid}",
            stacks=tuple(_since_fork(stack) for stack in one.stacks),
        )
        for one in sampled
    ]
    own = [one for one in named if any(each.is_own for each in one.last_stack)]
    return own or (named if is_awaited else [])


def _since_fork(stack: Sequence[SampledFrame]) -> tuple[SampledFrame, ...]:
    # The frames of the parent at the fork stay on the child's stack, and never return there.
    begin = next((at for at, one in enumerate(stack) if _begins_child(one)), len(stack))
    return tuple(stack[:begin])


def _begins_child(place: SampledFrame) -> bool:
    is_bootstrap = place.function.rpartition(".")[2] == "_bootstrap"
    return is_bootstrap and (place.file or "").endswith("multiprocessing/process.py")


def _merge_thread(
    last: _SnapshotThread,
    noun: str,
    samples: Sequence[Sequence[_SnapshotThread]],
    outside: ProcessWatch,
    cwd: str,
) -> SampledThread:
    stacks = [
        tuple(_sampled_frame(frame, cwd) for frame in each.frames)
        for sample in samples
        for each in sample
        if each.key == last.key
    ]
    native = last.native or 0
    wait = (
        ThreadWait(last.wait.kind, last.wait.text, tuple(dict.fromkeys(last.wait.owners)))
        if last.wait
        else None
    )
    if noun == "thread":
        wait = _thread_wait(last, wait, outside)
    elif wait is not None and wait.kind == "running":
        wait = None
    name = last.name
    if noun == "task" and last.coro:
        name = f"{last.coro} ({last.name})" if last.name.startswith("Task-") else last.name
    return SampledThread(
        key=last.key,
        name=name,
        noun=noun,
        stacks=tuple(stacks),
        wait=wait,
        cpu=outside.cpu_of(native),
        computes=noun == "thread" and outside.is_computing(native),
        native=native,
    )


def _thread_wait(
    last: _SnapshotThread, wait: ThreadWait | None, outside: ProcessWatch
) -> ThreadWait | None:
    """Return a thread's wait, from Python or else from its system call."""
    by_call = outside.waits.get(last.native or 0)
    call = outside.call_of(last.native or 0)
    if outside.is_computing(last.native or 0):
        return None
    if wait is not None:
        return wait
    if by_call is None or call is None:
        return None
    if by_call.kind == "futex":
        functions = [one.function for one in last.frames]
        return ThreadWait(kind_of(functions, None) or "interpreter", _FUTEX)
    return by_call


def _sampled_frame(frame: _SnapshotFrame, cwd: str) -> SampledFrame:
    own = not is_library(frame.file, cwd)
    values: Mapping[str, str] = frame.values if own else {}
    return SampledFrame(frame.function, frame.file, frame.line or None, own, values)
