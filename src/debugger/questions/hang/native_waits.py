"""Finds the thread that holds the lock of a waiting native thread."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress

from msgspec import Struct

from debugger.backends.abilities import RawCommandAbility
from debugger.errors import DebuggerError
from debugger.model.location import is_library
from debugger.model.program import Frame, Variable
from debugger.model.statement import join_statement
from debugger.model.thread_waits import SystemCall, kind_of
from debugger.questions.hang.hang_verdict import ThreadWait
from debugger.questions.hang.thread_sampling import ProcessWatch, SampledThread, StackSample
from debugger.session import source_files, stop_report
from debugger.session.session import Session
from debugger.system.process_info import words_at

_LOCKS = frozenset({"lock", "rwlock"})
_NATIVE = _LOCKS | {"condition", "semaphore", "group", "join", "send", "receive", "signal"}
_OWNER = 2  # of the words of glibc's struct __pthread_mutex_s: __lock, __count, __owner
_WRITER = 6  # of struct __pthread_rwlock_arch_t: __cur_writer
_WRITER_FUTEXES = (8, 12)  # bytes: __wrphase_futex, __writers_futex
_LOCK_CALL = re.compile(
    r"(?:(?:lock|wait|acquire|join)\w*(?:<[^<>()]*>)?(?:\s+\w+)?|EnterCriticalSection)\s*"
    r"[({]\s*([^(){},;]+)[,)}]"
)
_LOCK_OBJECT = re.compile(
    r"([\w.\->:*\[\]]+?)(?:\.|->)(?:r?lock|read|write|wait|recv|send|join)\w*\("
)
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_GUARD = re.compile(r"(?:Mutex|RwLock\w*)Guard|lock_guard|unique_lock|scoped_lock")
_LOCK_FIELDS = frozenset({"lock", "inner_lock"})  # of Rust's MutexGuard and RwLock*Guard
_THREADS = "info threads"
_KERNEL_NUMBER = re.compile(r"^[* ]*(\d+) .*?\b(?:LWP|process) (\d+)", re.MULTILINE)
_GUARDED_MAX = 6  # own frames of a thread that are searched for guards
_HEADER = 16  # bytes before a lock's futex in its own object


class _ThreadTable(Struct, frozen=True):
    """Known facts about all threads: debugger numbers by kernel number, and lock owners."""

    outside: ProcessWatch
    by_number: Mapping[int, str]
    guards: Mapping[int, list[int]]


def awaited_expression(frame: Frame | None) -> str:
    """Return the awaited expression of a frame's line as in the source: `&store->lock`."""
    lines = source_files.read_source(frame.file) if frame is not None and frame.file else None
    if frame is None or lines is None or not frame.line or frame.line > len(lines):
        return ""
    text = join_statement(lines[frame.line - 1 : frame.line + 3], hash_comments=False)
    found = _LOCK_CALL.search(text) or _LOCK_OBJECT.search(text)
    return found[1].strip() if found else ""


async def merge_thread_samples(
    session: Session, stacks: Sequence[StackSample], outside: ProcessWatch
) -> list[SampledThread]:
    """Merge the samples of each thread, with its wait and the lock's owner (a job).

    The program is stopped at the position of the last sample.
    """
    last = stacks[-1]
    guards = await _guards_by_lock(session, last)
    numbers = await _kernel_numbers(session, last, outside)
    main = outside.pid if outside.pid in numbers.values() else numbers[last.threads[0].id]
    by_number = {kernel: str(ours) for ours, kernel in numbers.items()}
    known = _ThreadTable(outside, by_number, guards)
    process = next(one.name for one in last.threads if numbers[one.id] == main)
    found = []
    for one in last.threads:
        number = numbers[one.id]
        wait = None
        # A computing thread has no wait, whatever its last system call was.
        if not outside.is_computing(number):
            frames = last.frames.get(one.id, ())
            wait = _thread_wait(session, frames, number, known)
        found.append(
            SampledThread(
                key=str(one.id),
                name="the main thread"
                if number == main
                else _thread_name(one.name, number, process),
                stacks=tuple(each.places[one.id] for each in stacks if one.id in each.places),
                wait=wait,
                cpu=outside.cpu_of(number),
                computes=outside.is_computing(number) if number in outside.last_threads else None,
                native=number,
            )
        )
    return found


async def _kernel_numbers(
    session: Session, last: StackSample, outside: ProcessWatch
) -> dict[int, int]:
    """Return each thread's kernel id; a debugger with its own numbers must report them."""
    numbers = {one.id: _kernel_number(one.name, one.id, outside) for one in last.threads}
    # Some debuggers' numbers are the kernel's, and others show them in the names.
    if any(number in outside.last_threads for number in numbers.values()):
        return numbers
    try:
        listed = await session.backend.find_ability(RawCommandAbility).run_raw(_THREADS, None)
    except DebuggerError:
        return numbers
    return numbers | {int(one[1]): int(one[2]) for one in _KERNEL_NUMBER.finditer(listed)}


def _kernel_number(name: str, number: int, outside: ProcessWatch) -> int:
    """Return a thread's kernel id: gdb has its own numbers, and shows the kernel's in the name."""
    if number in outside.last_threads:
        return number
    named = [int(one) for one in re.findall(r"\d+", name)]
    return next((one for one in named if one in outside.last_threads), number)


def _thread_name(name: str, number: int, process: str) -> str:
    """Return a thread's name; an unnamed thread has its process's name."""
    is_own = name and name != process and not name.startswith("Thread")
    return f"thread {number} ({name})" if is_own else f"thread {number}"


def _thread_wait(
    session: Session, frames: Sequence[Frame], number: int, known: _ThreadTable
) -> ThreadWait | None:
    own = next((one for one in frames if not is_library(one.file, session.target.cwd)), None)
    above = [one.function for one in frames if own is None or one.index < own.index]
    call = known.outside.call_of(number)
    kind = kind_of(above, call)
    if call is None and not above:
        return None  # it computes in the user's own code
    # glibc's pthread_join waits on the thread's own number, which names the thread to be joined.
    joined = known.by_number.get(call.joined_thread or 0) if call is not None else None
    if joined is not None:
        return ThreadWait("join", "", (joined,))
    by_call = known.outside.waits.get(number)
    if kind not in _NATIVE and by_call is not None and kind != "futex":
        return by_call
    if not kind or (call is None and kind not in _NATIVE):
        return None
    text = awaited_expression(own)
    if kind in _LOCKS | {"futex"} and call is not None and call.name == "futex":
        owners = _lock_owners(call, kind, known)
        kind = "lock" if owners else kind
        unnamed = "something in its own memory" if kind == "futex" else "a lock"
        return ThreadWait(kind, f"{text or unnamed} ({call.arguments[0]:#x})", owners)
    return ThreadWait(kind, text)


def _lock_owners(call: SystemCall, kind: str, known: _ThreadTable) -> tuple[str, ...]:
    """Return the owner of the lock at a futex: by glibc's own field, or by a guard in a frame."""
    address, pid = call.arguments[0], known.outside.pid
    # Locks may lie side by side: the nearest below is the one that has this futex.
    near = [at for at in known.guards if 0 <= address - at <= _HEADER]
    if near:
        return tuple(str(one) for one in known.guards[max(near)])
    # glibc stores the writer's thread number in the lock; readers are only counted.
    if kind == "rwlock":
        found = (words_at(pid, address - one, _WRITER + 1)[-1:] for one in _WRITER_FUTEXES)
        writers = [known.by_number[one[0]] for one in found if one and one[0] in known.by_number]
        return tuple(writers[:1])
    words = words_at(pid, address, _OWNER + 1)
    if len(words) > _OWNER and words[0] and words[_OWNER] in known.by_number:
        return (known.by_number[words[_OWNER]],)
    return ()


async def _guards_by_lock(session: Session, last: StackSample) -> dict[int, list[int]]:
    """Return the threads with a lock's guard among their locals, by the lock's address."""
    found: dict[int, list[int]] = {}
    for thread, frames in last.frames.items():
        own = [one for one in frames if (one.file or "").endswith(".rs")]
        own = [one for one in own if not is_library(one.file, session.target.cwd)]
        for frame in own[:_GUARDED_MAX]:
            with suppress(DebuggerError):
                for one in await stop_report.frame_locals(session, frame):
                    at = await _guarded_lock(session, one) if _GUARD.search(one.type) else None
                    # What is not initialised yet has an address of anything.
                    if at is not None and thread not in found.get(at, []):
                        found.setdefault(at, []).append(thread)
    return found


async def _guarded_lock(session: Session, guard: Variable) -> int | None:
    """Return the address of a guard's lock: its text may show the protected value instead."""
    fields = await session.backend.read_variables(guard.handle) if guard.handle else ()
    lock = next((one.value for one in fields if one.name in _LOCK_FIELDS), guard.value)
    address = _ADDRESS.search(lock)
    return int(address[0], 16) if address else None
