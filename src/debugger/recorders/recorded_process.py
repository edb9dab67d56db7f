"""Runs a program once, recorded, and removes its processes and files afterwards."""

from __future__ import annotations

import asyncio
import math
import os
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.command_registry import describe_activity
from debugger.model.events import OutputStream
from debugger.model.text_filters import clip_text
from debugger.recorders.model import Recording, RecordingOrder
from debugger.recorders.python.code_folder import prepare_code_folder
from debugger.recorders.record_parser import parse_records
from debugger.system.idle_detector import CHECK_S, IdleDetector, IdleWait
from debugger.system.program_streams import ProgramStreams
from debugger.system.supervised_process import SupervisedProcess

_CHUNK = 1 << 20
_CHUNKS_MAX = 16  # of one file at one time, since the daemon's loop waits for it


class RecordCounter:
    """Counts the records of all processes, JSON lines in files that are padded with NUL."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._records = 0
        self._read: dict[str, int] = {}  # bytes of each file that were counted

    def count(self) -> int:
        """Return the number of records; counted parts of files are not read again."""
        with suppress(OSError):
            for path in self._folder.iterdir():
                self._count_file(path)
        return self._records

    def _count_file(self, path: Path) -> None:
        at = self._read.get(path.name, 0)
        with path.open("rb") as file:
            file.seek(at)
            for _ in range(_CHUNKS_MAX):
                chunk = file.read(_CHUNK)
                written, end, _ = chunk.partition(b"\0")
                self._records += written.count(b"\n")
                at += len(written)
                if end or len(chunk) < _CHUNK:
                    break
        self._read[path.name] = at


_SCRIPTS = (".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".go", ".rb", ".php")
_ENTRY = str(Path(__file__).parent / "python" / "entry")
_OURS = str(Path(__file__).parent / "python")  # what records is not of the program
_ORDER = "DEBUGGER_RECORDING"
# The pipe by which a process says that nothing more is to be recorded.
_DONE = "done"
_TAIL_CHARACTERS = 64 << 10  # of each run's output
_RECORDS = "records"
_COMMAND_MAX = 60  # characters of a command in a line of progress
_END_S = 2.0  # seconds for a requested end


class PrintedText(Struct, frozen=True):
    """A piece of the program's output on one stream."""

    stream: OutputStream
    text: str


class CompletedRun(Struct, frozen=True):
    """The result of one run: its end, the last part of its output, and its recordings."""

    status: int | None
    signal: int | None
    # The program was killed because it exceeded the time limit.
    is_timed_out: bool
    took_s: float
    output: tuple[PrintedText, ...]
    printed: int  # characters, with those that are no longer in `output`
    # The first is the program's own, or that of the first process that it started.
    recordings: tuple[Recording, ...]
    faults: tuple[str, ...] = ()  # of the recorder, where it could not begin
    killed: tuple[str, ...] = ()  # what the program left running, as `PID (name)`
    # The program was ended because it had recorded everything that was requested.
    is_limited: bool = False
    waiting: IdleWait | None = None  # what it waited for when it was ended for being idle

    def joined_output(self, stream: OutputStream) -> str:
        """Return the kept text of one stream."""
        return "".join(one.text for one in self.output if one.stream is stream)

    def output_lines(self) -> list[str]:
        """Return the kept lines of both streams, in the order in which they were read."""
        return "".join(one.text for one in self.output).splitlines()


class ProcessRecorder(Protocol):
    """The way in which a program's processes record themselves, in a folder of their own."""

    def recording_environment(self, env: Mapping[str, str], folder: Path) -> dict[str, str]:
        """Return an environment in which every started process records itself."""

    def last_words(self, pid: int) -> bool:
        """Request the data of a program before its end is forced; False: not possible."""

    def read_recordings(
        self, folder: Path, pid: int
    ) -> tuple[tuple[Recording, ...], tuple[str, ...]]:
        """Return the processes' recordings, the program's own first, and the recorder's errors."""


class Unrecorded:
    """Records nothing (`ProcessRecorder`): for tools, and for tests that only list their names."""

    def recording_environment(self, env: Mapping[str, str], folder: Path) -> dict[str, str]:  # noqa: ARG002
        """Return the environment unchanged."""
        return dict(env)

    def last_words(self, pid: int) -> bool:  # noqa: ARG002 - a protocol
        """Do nothing."""
        return False

    def read_recordings(
        self,
        folder: Path,  # noqa: ARG002 - a protocol
        pid: int,  # noqa: ARG002
    ) -> tuple[tuple[Recording, ...], tuple[str, ...]]:
        """Return nothing."""
        return (), ()


class _OutputTail:
    """The last part of the program's output."""

    def __init__(self) -> None:
        self.kept: deque[PrintedText] = deque()
        self.printed = 0
        self._buffered = 0

    def __call__(self, stream: OutputStream, text: str) -> None:
        self.printed += len(text)
        self.kept.append(PrintedText(stream, text[-_TAIL_CHARACTERS:]))
        self._buffered += len(self.kept[-1].text)
        while self._buffered - len(self.kept[0].text) >= _TAIL_CHARACTERS:
            self._buffered -= len(self.kept.popleft().text)


def roots_of(argv: Sequence[str], cwd: str) -> tuple[str, ...]:
    """Guess the folders of a program's own code: its directory, and that of its script."""
    here = Path(cwd)
    found = [cwd] if here.parent != here and here != Path.home() else []
    for word in argv:
        path = here / word
        if word.endswith(_SCRIPTS) and path.is_file():
            found.append(str(path.parent.resolve()))
            break
    return tuple(dict.fromkeys(found)) or (cwd,)


class PythonRecorder:
    """The recorder inside Python (`ProcessRecorder`), which writes during the whole run."""

    def __init__(self, order: RecordingOrder) -> None:
        self._order = msgspec.structs.replace(order, left_out=(*order.left_out, _OURS))

    def recording_environment(self, env: Mapping[str, str], folder: Path) -> dict[str, str]:
        """Add the recorder's folder, from which Python imports it at its start."""
        records = folder / _RECORDS
        records.mkdir(mode=0o700)
        settings = {"folder": str(records), **msgspec.to_builtins(self._order)}
        order_file = folder / "order.json"
        if self._order.ends_run:
            os.mkfifo(folder / _DONE, 0o600)
            settings["done"] = str(folder / _DONE)
        paths = [_ENTRY, *filter(None, [env.get("PYTHONPATH")])]
        order_file.write_bytes(msgspec.json.encode(settings))
        return {**env, "PYTHONPATH": os.pathsep.join(paths), _ORDER: str(order_file)}

    def last_words(self, pid: int) -> bool:  # noqa: ARG002 - a protocol
        """Do nothing: records are written at once."""
        return False

    def read_recordings(
        self,
        folder: Path,
        pid: int,  # noqa: ARG002 - a protocol
    ) -> tuple[tuple[Recording, ...], tuple[str, ...]]:
        """Read the records, in the order in which the processes began."""
        return tuple(_read_python_recordings(folder / _RECORDS)), tuple(
            _read_faults(folder / "order.json.fault")
        )


async def record_run(
    argv: Sequence[str],
    recorder: RecordingOrder | ProcessRecorder,
    *,
    cwd: str,
    env: Mapping[str, str],
    stdin: bytes = b"",
    timeout_s: float = 60.0,
    scratch_root: Path | None = None,
    as_terminal: bool = False,
    interrupted: asyncio.Event | None = None,
    idle_limits: Mapping[str, float] | None = None,
    shown: Sequence[str] = (),
) -> CompletedRun:
    """Run a program to its end, or to the time-out, and return its recordings.

    An order selects the recorder inside Python. All remaining processes are killed, and the records
    are removed. The run ends as at a time-out when `interrupted` is set, or when it has been idle
    for longer than `idle_limits` has for the kind of its wait. `shown` are the words by which the
    progress names what runs, if `argv` is a debugger's.

    Raises:
        DebuggerError: LAUNCH_FAILED if it cannot be run.
    """
    scratch = Path(tempfile.mkdtemp(prefix="record-", dir=scratch_root))
    (scratch / "input").write_bytes(stdin)
    chosen = await _choose_recorder(recorder, scratch_root)
    recorded = chosen.recording_environment(env, scratch)
    interrupted = interrupted or asyncio.Event()
    tail = _OutputTail()
    describe = partial(_describe_progress, shown or argv, RecordCounter(scratch / _RECORDS), tail)
    try:
        async with asyncio.TaskGroup() as tasks:
            guard = await SupervisedProcess.start(
                (), cwd="/", env=env, scratch=scratch, tasks=tasks
            )
            try:
                with _end_on_write(scratch / _DONE) as limited, describe_activity(describe):
                    ran = await _run_guarded(
                        guard,
                        ProgramStreams(scratch, as_terminal=as_terminal, on_output=tail),
                        tail,
                        chosen,
                        argv,
                        cwd=cwd,
                        env=recorded,
                        timeout_s=timeout_s,
                        scratch=scratch,
                        stops=(interrupted, limited),
                        idle_limits=idle_limits or {},
                    )
                if limited.is_set():
                    return msgspec.structs.replace(ran, is_limited=True, is_timed_out=False)
                return ran
            finally:
                await guard.end_processes()
    except* DebuggerError as errors:
        raise errors.exceptions[0] from None


async def _choose_recorder(
    recorder: RecordingOrder | ProcessRecorder, scratch_root: Path | None
) -> ProcessRecorder:
    if not isinstance(recorder, RecordingOrder):
        return recorder
    folder = await asyncio.to_thread(prepare_code_folder, scratch_root)
    return PythonRecorder(msgspec.structs.replace(recorder, code_folder=folder))


def _describe_progress(argv: Sequence[str], counter: RecordCounter, tail: _OutputTail) -> str:
    """Describe the running program, and the progress of its recording."""
    texts = [clip_text(" ".join((Path(argv[0]).name, *argv[1:])), _COMMAND_MAX)]
    if records := counter.count():
        texts.append(f"{records:,} records")
    if tail.printed:
        texts.append(f"{tail.printed:,} characters printed")
    return ", ".join(texts)


@contextmanager
def _end_on_write(pipe: Path) -> Iterator[asyncio.Event]:
    """Set an event, which ends the run, once one of its processes writes to a pipe."""
    limited = asyncio.Event()
    if not pipe.exists():
        yield limited
        return

    def end() -> None:
        loop.remove_reader(descriptor)
        limited.set()

    loop = asyncio.get_running_loop()
    # O_NONBLOCK, or the open would wait for a writer.
    descriptor = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    loop.add_reader(descriptor, end)
    try:
        yield limited
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


async def _run_guarded(
    guard: SupervisedProcess,
    stdio: ProgramStreams,
    tail: _OutputTail,
    recorder: ProcessRecorder,
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    timeout_s: float,
    scratch: Path,
    stops: tuple[asyncio.Event, ...],
    idle_limits: Mapping[str, float],
) -> CompletedRun:
    files = (str(scratch / "input"), stdio.stdout, stdio.stderr)
    began = time.monotonic()
    try:
        pid, ended = await guard.spawn_program(argv, cwd=cwd, env=env, stdio=files)
        stdio.note_opened()
        status, signal = None, None
        waiting = await _until_over(ended, stops, timeout_s, pid, idle_limits)
        # Read before the program is killed, since the kill ends it.
        is_timed_out = not ended.done()
        has_written = is_timed_out and recorder.last_words(pid)
        if is_timed_out and not (has_written and await _wait_for_end(ended, (), _END_S)):
            await guard.kill_process(pid)
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_S):
                status, signal = await asyncio.shield(ended)
        if guard.is_lost:
            raise DebuggerError(
                ErrorCode.ADAPTER_DIED,
                "the guard of the run was killed, and the run was ended with it",
                hint="ask again: it is run anew",
            )
        took_s = time.monotonic() - began
        # After the end: what the program wrote last may still be in the pipes.
        await stdio.read_to_end()
        recordings, faults = await asyncio.to_thread(recorder.read_recordings, scratch, pid)
        ending = await guard.end_processes()
    finally:
        stdio.close()
    return CompletedRun(
        status=status,
        signal=signal,
        is_timed_out=is_timed_out,
        took_s=took_s,
        output=tuple(tail.kept),
        printed=tail.printed,
        recordings=recordings,
        faults=faults,
        killed=ending.killed,
        waiting=waiting if is_timed_out else None,
    )


async def _until_over(
    ended: asyncio.Future[tuple[int | None, int | None]],
    stops: tuple[asyncio.Event, ...],
    timeout_s: float,
    pid: int,
    idle_limits: Mapping[str, float],
) -> IdleWait | None:
    """Wait for a program's end, or its time-out; return the wait of an idle program."""
    detector, limit = IdleDetector(pid), time.monotonic() + timeout_s
    while not await _wait_for_end(ended, stops, min(CHECK_S, limit - time.monotonic())):
        # In a thread, since it reads /proc of the whole process tree.
        waiting = await asyncio.to_thread(detector.update, time.monotonic())
        if any(one.is_set() for one in stops) or time.monotonic() >= limit:
            return waiting
        if waiting is not None and waiting.idle_s >= idle_limits.get(waiting.kind, math.inf):
            return waiting
    return None


async def _wait_for_end(
    ended: asyncio.Future[tuple[int | None, int | None]],
    stops: tuple[asyncio.Event, ...],
    timeout_s: float,
) -> bool:
    """Wait for a program's end, or for one of some events; False if it has not ended."""
    if timeout_s <= 0:
        return ended.done()
    stopping = [asyncio.ensure_future(one.wait()) for one in stops]
    waiting: set[asyncio.Future[Any]] = {ended, *stopping}
    try:
        await asyncio.wait(waiting, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for one in stopping:
            one.cancel()
    return ended.done()


def _read_faults(path: Path) -> list[str]:
    """Read why processes could not be recorded."""
    return path.read_text("utf-8", "replace").splitlines() if path.exists() else []


def _read_python_recordings(folder: Path) -> Iterator[Recording]:
    """Read what each process wrote, in the order in which they began."""
    found = [parse_records(_complete_lines(path)) for path in folder.iterdir()]
    yield from sorted(found, key=lambda one: (one.process.time_ns, one.process.pid))


def _complete_lines(path: Path) -> list[bytes]:
    """Return a file's complete lines; a line that a kill has interrupted is dropped."""
    chunks = []
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            end = chunk.find(b"\0")
            chunks.append(chunk if end < 0 else chunk[:end])
            if end >= 0:
                break
    return b"".join(chunks).split(b"\n")


_REFUSED = "debugger: "  # begins what our start of a PHP script says of a PHP that it cannot record


def require_recording(
    ran: CompletedRun, argv: Sequence[str], language: str = "python"
) -> Recording:
    """Return the recording for a run's answer: the first process with calls.

    Raises:
        DebuggerError: NOT_SUPPORTED if no process of the run in a language could be recorded.
    """
    for one in ran.recordings:
        if one.functions:
            return one
    if ran.recordings:
        return ran.recordings[0]
    if ran.faults:
        raise DebuggerError(ErrorCode.INTERNAL, f"the recorder could not begin: {ran.faults[0]}")
    if ran.is_timed_out:
        raise DebuggerError(
            ErrorCode.TIMEOUT,
            f"{argv[0]} was ended before anything of it was recorded",
            hint="--timeout 300 gives it more time",
        )
    refused = next((one for one in ran.output_lines() if one.startswith(_REFUSED)), None)
    if language == "php" and refused is not None:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED, refused.removeprefix(_REFUSED), hint="php -m lists what it has"
        )
    if language in {"ruby", "php"}:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"nothing of {argv[0]} was recorded: it was killed, or ended without its end's code",
            hint="debugger crash -- CMD shows how it ended",
        )
    raise DebuggerError(
        ErrorCode.NOT_SUPPORTED,
        f"nothing of {argv[0]} could be recorded: it runs no Python 3.8 or later, or one that was "
        "told not to look at PYTHONPATH (-I, -E) or to import site (-S)",
        hint="leave these options out",
    )
