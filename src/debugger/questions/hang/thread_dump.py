"""Reads the threads of a JVM that no debugger can attach to, from its own thread dump."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import msgspec

from debugger.questions.hang.hang_verdict import ThreadWait
from debugger.questions.hang.reported_waits import describe_wait, find_awaited_expression
from debugger.questions.hang.thread_sampling import ProcessWatch, SampledFrame, SampledThread
from debugger.session import source_files
from debugger.sources import java_project
from debugger.system.process_info import look_at

Stack = tuple[SampledFrame, ...]

_DUMP_S = 5.0  # for all dumps
_BUSY_DUMPS = 3
_ABOVE = 2
# HotSpot 11 to 25. VM threads have no number, and system threads these names.
_THREAD = re.compile(r'^"(.*)" #(\d+)(?: \[\d+\])? .*\bnid=(0x[0-9a-f]+|\d+)')
# A hidden class, as of a lambda, has its address behind its name.
_FRAME = re.compile(r"^\s+at ([\w.$]+)(?:/0x\w+)?\.([\w$<>]+)\((?:[^/()]*/)*([^:()]*)(?::(\d+))?\)")
_WAITS = re.compile(
    r"^\s+- (waiting to lock|waiting on|parking to wait for)\s+<(\w+)> \(a ([^)]+)\)"
)
_LOCKED = re.compile(r"^\s+- (?:locked )?<(\w+)> \(a ")
_SYSTEM = re.compile(
    r"Reference Handler|Finalizer|Signal Dispatcher|Service Thread|Monitor Deflation Thread|"
    r"C[12] CompilerThread\d+|Sweeper thread|Common-Cleaner|Notification Thread|Attach Listener|"
    r"DestroyJavaVM"
)
_LIBRARIES = ("java.", "javax.", "jdk.", "sun.", "com.sun.", "kotlin.", "kotlinx.", "scala.")
# Kinds by the class of what a parked thread waits with, the first that fits.
_PARKED = {
    "ReentrantReadWriteLock": "rwlock",
    "ReentrantLock": "lock",
    "Semaphore": "semaphore",
    "CountDownLatch": "group",
    "ConditionObject": "condition",
    "SynchronousQueue": "receive",
}
# Of these the functions that wait know more.
_BY_FUNCTION = ("condition", "receive", "waiting")
_USERS = {
    r"(?:Queue|Deque)\.(?:take|poll)": "receive",
    r"(?:Queue|Deque)\.(?:put|offer|transfer)": "send",
    r"CyclicBarrier\.": "group",
}
_READING = (
    *("SocketDispatcher.", "Net.poll", "Net.accept", "EPoll.wait", "NioSocketImpl.park"),
    *("FileInputStream.read", "FileOutputStream.write", "FileDispatcherImpl."),
)


@dataclass(frozen=True)
class DumpedFrame:
    """A frame of a dump."""

    class_name: str
    method: str
    file: str  # its name alone
    line: int | None


@dataclass
class DumpedThread:
    """A thread of a dump: its frames innermost first, what it waits for, and what it holds."""

    name: str
    key: str
    native: int
    frames: list[DumpedFrame] = field(default_factory=list)
    wait: tuple[str, str, str] | None = None  # how, the object's address, its class
    locks: set[str] = field(default_factory=set)
    is_sleeping: bool = False


def parse_dump(text: str) -> list[DumpedThread]:
    """Parse the output of `jcmd PID Thread.print -l`; the JVM's own threads are left out."""
    found: list[DumpedThread] = []
    one: DumpedThread | None = None
    for line in text.splitlines():
        if (begin := _THREAD.match(line)) is not None:
            one = DumpedThread(begin[1], begin[2], int(begin[3], 0))
            if _SYSTEM.fullmatch(begin[1]) is None:
                found.append(one)
        elif line.startswith(("Found ", "JNI global")):
            break  # what follows repeats threads
        elif one is not None:
            _read_line(one, line)
    return found


def _read_line(one: DumpedThread, line: str) -> None:
    if (frame := _FRAME.match(line)) is not None:
        line_number = int(frame[4]) if frame[4] else None
        one.frames.append(DumpedFrame(frame[1], frame[2], frame[3], line_number))
    elif (wait := _WAITS.match(line)) is not None:
        one.wait = one.wait or (wait[1], wait[2], wait[3])
    elif (locked := _LOCKED.match(line)) is not None:
        # Object.wait() has let its monitor go, which is listed as locked all the same.
        if one.wait is None or one.wait[1] != locked[1]:
            one.locks.add(locked[1])
    elif "(sleeping)" in line:
        one.is_sleeping = True


def merge_dumps(
    dumps: Sequence[Sequence[DumpedThread]], outside: ProcessWatch, folders: Sequence[str]
) -> list[SampledThread]:
    """Merge the dumps of a process, oldest first; the waits and owners are those of the last."""
    threads = dumps[-1]
    owners = {address: one.key for one in threads for address in one.locks}
    stacks: dict[str, list[Stack]] = {}
    for dump in dumps:
        for one in dump:
            stacks.setdefault(one.key, []).append(_convert_stack(one.frames, folders))
    if not any(frame.is_own for each in stacks.values() for stack in each for frame in stack):
        stacks = {key: [_mark_own(stack) for stack in each] for key, each in stacks.items()}
    found = []
    for one in threads:
        stack = stacks[one.key][-1]
        computes = outside.is_computing(one.native)
        found.append(
            SampledThread(
                key=one.key,
                name="the main thread" if one.name == "main" else f"thread {one.key} ({one.name})",
                stacks=tuple(stacks[one.key]),
                wait=None if computes else _find_wait(one, stack, owners),
                cpu=outside.cpu_of(one.native),
                computes=computes,
                native=one.native,
            )
        )
    return found


def _convert_stack(frames: Sequence[DumpedFrame], folders: Sequence[str]) -> Stack:
    """Convert frames; those whose source is in the project are the program's own."""
    return tuple(_convert_frame(one, folders) for one in frames)


def _convert_frame(frame: DumpedFrame, folders: Sequence[str]) -> SampledFrame:
    short = re.sub(r"\$(?=\w)", ".", frame.class_name.rpartition(".")[2])
    function = f"{short}.{frame.method}"
    if frame.class_name.startswith(_LIBRARIES):
        return SampledFrame(function, None, frame.line)
    path = java_project.find_class_source(folders, frame.class_name, frame.file)
    # Without a source the line is told by the file's name.
    file = path or (frame.file if frame.line is not None else None)
    return SampledFrame(function, file, frame.line, path is not None)


def _mark_own(stack: Stack) -> Stack:
    """Mark what is no library's as the program's, where no source of it is found."""
    return tuple(msgspec.structs.replace(one, is_own=one.file is not None) for one in stack)


def _find_wait(one: DumpedThread, stack: Stack, owners: Mapping[str, str]) -> ThreadWait | None:
    top = " ".join(frame.function for frame in stack[:12])
    if one.wait is None:
        if one.is_sleeping or "Thread.sleep" in top:
            return ThreadWait("sleep")
        return ThreadWait("io", "waits for input or output") if _is_reading(top) else None
    how, address, class_name = one.wait
    short = class_name.rpartition(".")[2]
    if how == "waiting to lock":
        kind = "lock"
    elif how == "waiting on":
        kind = "join" if "Thread.join" in top else "condition"
    else:
        kind = next((kind for part, kind in _PARKED.items() if part in class_name), "waiting")
        if kind in _BY_FUNCTION:
            kind = next((kind for part, kind in _USERS.items() if re.search(part, top)), kind)
        short = "Condition" if short.endswith("$ConditionObject") else short.partition("$")[0]
    is_monitor = how == "waiting to lock"
    named = find_awaited_expression(kind, _own_lines(stack), is_monitor=is_monitor)
    owner = owners.get(address)
    return describe_wait(kind, named, short, (owner,) if owner is not None else ())


def _is_reading(top: str) -> bool:
    return any(one in top for one in _READING)


def _own_lines(stack: Stack) -> list[str]:
    own = next((one for one in stack if one.file is not None), None)
    lines = source_files.read_source(own.file) if own is not None and own.file else None
    if own is None or lines is None or not own.line or own.line > len(lines):
        return []
    return list(lines[max(0, own.line - _ABOVE) : own.line])


async def read_dumps(outside: ProcessWatch) -> list[SampledThread]:
    """Return the threads of a JVM by its own dumps; none if it gives none (bounded).

    One that computes is asked several times: what lasts in its stack is its loop.
    """
    process = look_at(outside.pid)
    program = shutil.which(_find_jcmd(outside.pid))
    if process is None or program is None:
        return []
    texts: list[str] = []
    with suppress(TimeoutError):  # what came by then is used
        async with asyncio.timeout(_DUMP_S):
            while len(texts) < (_BUSY_DUMPS if outside.any_computes else 1):
                text = await _run_jcmd(program, outside.pid)
                texts.append(text)
    dumps = [found for text in texts if (found := parse_dump(text))]
    cwd = process.cwd
    folders = [cwd, *java_project.list_modules(cwd), *_class_path(process.words, cwd)]
    return merge_dumps(dumps, outside, folders) if dumps else []


async def _run_jcmd(program: str, pid: int) -> str:
    running = await asyncio.create_subprocess_exec(
        program,
        str(pid),
        "Thread.print",
        "-l",
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        out, _ = await running.communicate()
    finally:
        if running.returncode is None:
            running.kill()
            await running.wait()
    return out.decode("utf-8", "replace")


def _class_path(words: Sequence[str], cwd: str) -> list[str]:
    after = {"-cp", "-classpath", "--class-path"}
    paths = [value for word, value in pairwise(words) if word in after]
    return [str(Path(cwd, one)) for path in paths for one in path.split(":") if one]


def _find_jcmd(pid: int) -> str:
    """Return the jcmd of the JDK that runs a process, else that of the PATH."""
    try:
        own = Path(f"/proc/{pid}/exe").readlink().with_name("jcmd")
    except OSError:
        return "jcmd"
    return str(own) if own.is_file() else "jcmd"
