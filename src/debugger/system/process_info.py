"""Describes a running process: names, command line, owner, debugger, and what its threads do."""

from __future__ import annotations

import os
import os.path
import platform
import re
import signal
import struct
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

import psutil
from msgspec import Struct

from debugger.model.thread_waits import SystemCall, system_call
from debugger.symbols.program_file import ProgramFile, inspect_program

T = TypeVar("T")

# The letters of proc_pid_stat(5); whatever else psutil says is a process that lives.
_LETTERS = {
    psutil.STATUS_RUNNING: "R",
    psutil.STATUS_STOPPED: "T",
    psutil.STATUS_TRACING_STOP: "t",
    psutil.STATUS_ZOMBIE: "Z",
    psutil.STATUS_DEAD: "X",
}


class ProcessRow(Struct, frozen=True):
    """One process; unreadable fields are empty, and an unreadable owner is -1."""

    pid: int
    parent: int
    owner: int
    state: str
    name: str = ""
    exe: str = ""
    cwd: str = ""
    words: tuple[str, ...] = ()


class ListenerRow(Struct, frozen=True):
    """A listening TCP socket and its process."""

    address: str
    port: int
    pid: int


def list_rows(pid: int | None = None) -> list[ProcessRow]:
    """Return all processes, or one; processes that end meanwhile are omitted."""
    return [row for row in map(_process_row, _psutil_processes(pid)) if row is not None]


def list_children(pid: int) -> list[ProcessRow]:
    """Return the child processes of a process."""
    found = _if_permitted(lambda: psutil.Process(pid).children())
    return [row for row in map(_process_row, found or ()) if row is not None]


def processor_seconds(pid: int) -> float:
    """Return the processor time that a process and all that live below it have used."""
    root = _if_permitted(lambda: psutil.Process(pid))
    below = _if_permitted(lambda: root.children(recursive=True)) if root is not None else None
    processes = [one for one in (root, *(below or ())) if one is not None]
    times = [_if_permitted(one.cpu_times) for one in processes]
    return float(sum(one.user + one.system for one in times if one is not None))


def list_listeners() -> Iterator[ListenerRow]:
    """Yield the listening sockets of readable processes: on macOS our own user's."""
    for process in psutil.process_iter():
        for one in _if_permitted(partial(process.net_connections, "tcp")) or ():
            if one.status == psutil.CONN_LISTEN:
                yield ListenerRow(one.laddr.ip, one.laddr.port, process.pid)


def _psutil_processes(pid: int | None) -> list[psutil.Process]:
    if pid is None:
        return list(psutil.process_iter())
    found = _if_permitted(lambda: psutil.Process(pid))
    return [] if found is None else [found]


def _process_row(process: psutil.Process) -> ProcessRow | None:
    try:
        with process.oneshot():
            return ProcessRow(
                pid=process.pid,
                parent=process.ppid(),
                owner=-1 if (uids := _if_permitted(process.uids)) is None else uids.effective,
                state=_LETTERS.get(process.status(), "S"),
                name=_if_permitted(process.name) or "",
                exe=_if_permitted(process.exe) or "",
                cwd=_if_permitted(process.cwd) or "",
                words=tuple(_if_permitted(process.cmdline) or ()),
            )
    except (psutil.Error, OSError):
        return None


def _if_permitted(read: Callable[[], T]) -> T | None:
    """Read a value; None if that is forbidden, or the process has ended."""
    try:
        return read()
    except (psutil.Error, OSError):
        return None


_STATUS_MAX = 1 << 14
_WORDS_MAX = 1 << 17
_KERNEL_THREAD = 0x00200000  # PF_KTHREAD of linux/sched.h
_FLAGS = 6  # the field of proc_pid_stat(5), counted from the state
_DELETED = " (deleted)"
_PYTHON = re.compile(r"(?:[Pp]ython|pypy)[\d.]*\w?\Z")  # "Python" in a framework of macOS
_NODE = re.compile(r"node(?:js)?[\d.]*\Z")
_RUBY = re.compile(r"ruby[\d.]*\Z")
_PHP = re.compile(r"php(?:-fpm|-cgi)?[\d.]*\Z")
_JAVA = re.compile(r"java\Z")
_SHELL = re.compile(r"(?:ba|da|z|k|a)?sh\Z")
# The interpreters' options whose value is a word of its own.
_VALUED = {
    "python": frozenset({"-X", "-W", "--check-hash-based-pycs"}),
    "javascript": frozenset({"-r", "--require", "--import", "-C", "--conditions", "--env-file"}),
    "ruby": frozenset({"-I", "-r", "-C", "-E"}),
    "php": frozenset({"-d", "-c", "-f", "-S", "-t", "-z"}),
    "java": frozenset({"-cp", "-classpath", "--class-path", "-p", "--module-path"}),
    "shell": frozenset({"-o", "-O", "--rcfile", "--init-file"}),
}
_INLINE = frozenset({"-c", "-e", "-p", "--eval", "--print"})

_THREADS_MAX = 64


class ProcessInfo(Struct, frozen=True):
    """A process as described by /proc, proc(5), or by psutil on systems without it."""

    pid: int
    name: str
    words: tuple[str, ...] = ()
    # "" if unreadable.
    exe: str = ""
    cwd: str = ""
    parent: int = 0
    # The pid of the process that a thread belongs to.
    group: int = 0
    # The effective user.
    owner: int = 0
    # The owner of its files in /proc: root for a process that must not be inspected.
    holder: int = 0
    # The pid of its debugger, 0 for none.
    tracer: int = 0
    # A letter: T stopped, t stopped by its debugger, Z ended.
    state: str = ""
    is_kernel: bool = False

    @property
    def program_name(self) -> str:
        """The executable's file name; if unreadable, that of the first word."""
        path = self.exe.removesuffix(_DELETED) or next(iter(self.words), "")
        return os.path.basename(path)

    @property
    def interpreter(self) -> str:
        """The interpreted language; "" for a compiled program."""
        for name in (self.program_name, os.path.basename(next(iter(self.words), ""))):
            if _PYTHON.match(name):
                return "python"
            if _NODE.match(name):
                return "javascript"
            if _RUBY.match(name):
                return "ruby"
            if _JAVA.match(name):
                return "java"
            if _PHP.match(name):
                return "php"
        return "shell" if _SHELL.match(self.program_name) else ""

    @property
    def script_path(self) -> str | None:
        """The interpreted script as an absolute path; or `-m MODULE`."""
        return script_of(self.words[1:], self.interpreter, self.cwd) if self.interpreter else None


def script_of(words: Sequence[str], language: str, cwd: str) -> str | None:
    """Find the script among the words after an interpreter's name; None without one."""
    valued = _VALUED.get(language, frozenset())
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word in _INLINE:
            return None
        if word == "-m" and language == "python":
            if rest[:1] == ["debugpy"]:
                return _behind_debugpy(rest[1:], cwd)
            return f"-m {rest[0]}" if rest else None
        if word in valued:
            rest = rest[1:]
        elif not word.startswith("-") or word == "-":
            return None if word == "-" else os.path.normpath(os.path.join(cwd, word))
    return None


def _behind_debugpy(words: Sequence[str], cwd: str) -> str | None:
    """Find the script after `python -m debugpy --listen PORT`, by debugpy's own usage."""
    rest = list(words)
    while rest and rest[0].startswith("-") and rest[0] not in {"-m", "-c"}:
        is_switch = rest[0] in {"--wait-for-client", "--configure-qt"}
        rest = rest[1:] if is_switch else rest[2:]
    return script_of(rest, "python", cwd)


def process_names(process: ProcessInfo) -> frozenset[str]:
    """Return the possible names of a process: its own, its executable's, its script's.

    A name in /proc/PID/comm is cut to 15 bytes; the executable's name is complete.
    """
    known = {process.name, process.program_name}
    script = process.script_path
    if script is not None:
        known.add(script.removeprefix("-m ") if script.startswith("-m ") else _base_name(script))
    elif process.words:
        known.add(_base_name(process.words[0]))
    return frozenset(known - {""})


def _base_name(path: str) -> str:
    return os.path.basename(path)


def process_language(process: ProcessInfo) -> str:
    """Return the language of a process, in the terms of `inspect_program`; "" if unknown."""
    if process.interpreter not in {"", "shell"}:
        return process.interpreter
    found = inspect_executable(process)
    if found is None:
        return ""
    return found.language or ("native" if process.exe else "")


def inspect_executable(process: ProcessInfo) -> ProgramFile | None:
    """Inspect a process's executable; None where it may not be read."""
    try:
        # The link reaches an executable that has been removed since.
        return inspect_program(f"/proc/{process.pid}/exe" if has_proc() else process.exe)
    except OSError:
        return None


def is_below(process: ProcessInfo | None, ancestor: int) -> bool:
    """Return whether a process was started by another one, or by one below that."""
    visited: set[int] = set()
    while process is not None and process.pid not in visited:
        if process.parent == ancestor:
            return True
        visited.add(process.pid)
        process = look_at(process.parent)
    return False


def is_ours(process: ProcessInfo, by_pid: Mapping[int, ProcessInfo]) -> bool:
    """Return whether a process is part of such a debugger: daemon, supervisor, adapter, client."""
    parent = by_pid.get(process.parent)
    return _is_own_code(process) or (parent is not None and _is_adapter(process, parent))


def _is_adapter(process: ProcessInfo, guard: ProcessInfo) -> bool:
    """Distinguish an adapter below its supervisor from a program that was detached.

    The supervisor's own words name the adapter after `--`; a script's interpreter precedes it.
    """
    if not _is_guard(guard) or "--" not in guard.words:
        return False
    adapter = guard.words[guard.words.index("--") + 1 :]
    return bool(adapter) and process.words[-len(adapter) :] == adapter


def _is_guard(process: ProcessInfo) -> bool:
    return any(word.endswith("/debugger/system/supervisor.py") for word in process.words[1:6])


# What starts a program and its adapter; the program's own command line names neither.
_ADAPTER_PARTS = ("/adapters/debugpy/launcher.py", "/adapters/debugpy/run_adapter.py")


def _is_own_code(process: ProcessInfo) -> bool:
    words = process.words
    if _is_guard(process):
        return True
    if process.interpreter != "python":
        return False
    if any(word.endswith(_ADAPTER_PARTS) for word in words[1:5]):
        return True
    script = process.script_path or ""
    return script in {"-m debugger", "-m debugger.daemon"} or (
        _base_name(script) in {"debugger", "dbg"}
        and ("attach" in words or script.endswith(("/bin/debugger", "/bin/dbg")))
    )


def look_at(pid: int) -> ProcessInfo | None:
    """Describe a process by /proc or by psutil; None if it does not exist."""
    if pid <= 0:
        return None
    if not has_proc():
        return next(_by_psutil(pid), None)
    folder = f"/proc/{pid}"
    try:
        fields = status_of(_read_text(f"{folder}/status", _STATUS_MAX))
        stat = _read_text(f"{folder}/stat", _STATUS_MAX)
        holder = os.stat(folder).st_uid
    except OSError:
        return None
    return ProcessInfo(
        pid=pid,
        name=fields.get("Name", ""),
        words=command_line(pid),
        exe=_read_link(f"{folder}/exe"),
        cwd=_read_link(f"{folder}/cwd"),
        parent=_status_number(fields.get("PPid", "")),
        group=_status_number(fields.get("Tgid", "")),
        owner=_status_number(fields.get("Uid", ""), 1),
        holder=holder,
        tracer=_status_number(fields.get("TracerPid", "")),
        state=fields.get("State", "")[:1],
        is_kernel=_is_kernel(stat),
    )


def _by_psutil(pid: int | None = None) -> Iterator[ProcessInfo]:
    # psutil takes a while to import

    yield from map(of_row, list_rows(pid))


def of_row(row: ProcessRow) -> ProcessInfo:
    """Convert psutil's row, which lacks the tracer and the thread group."""
    return ProcessInfo(
        pid=row.pid,
        name=row.name,
        words=row.words,
        exe=row.exe,
        cwd=row.cwd,
        parent=row.parent,
        group=row.pid,
        owner=row.owner,
        holder=row.owner,
        state=row.state,
    )


def status_of(text: str) -> dict[str, str]:
    """Parse /proc/PID/status, a key and a value on each line, proc_pid_status(5)."""
    found = (line.partition(":") for line in text.splitlines())
    return {key: value.strip() for key, colon, value in found if colon}


def _status_number(text: str, field: int = 0) -> int:
    words = text.split()
    return int(words[field]) if len(words) > field and words[field].isdecimal() else 0


def _is_kernel(stat: str) -> bool:
    fields = stat.rpartition(")")[2].split()
    return len(fields) > _FLAGS and bool(int(fields[_FLAGS]) & _KERNEL_THREAD)


def list_processes() -> Iterator[ProcessInfo]:
    """Describe all processes; those that end meanwhile are omitted."""
    if not has_proc():
        yield from _by_psutil()
        return
    for name in sorted((one for one in _list_directory("/proc") if one.isdecimal()), key=int):
        found = look_at(int(name))
        if found is not None:
            yield found


def read_environment(pid: int, names: Collection[str] | None = None) -> dict[str, str]:
    """Return variables that a process was started with, or all; none where it may not be read."""
    try:
        entries = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return {}
    pairs = (one.decode(errors="replace").partition("=") for one in entries)
    return {name: text for name, _, text in pairs if name and (names is None or name in names)}


def read_exit_status(pid: int) -> int | None:
    """Return the status of a process that has ended, and for which its parent did not wait yet.

    Returns:
        A code from 0 on, or minus the signal's number; None of any other process.
    """
    try:
        # proc_pid_stat(5): the name in parentheses may contain blanks and parentheses.
        fields = _read_text(f"/proc/{pid}/stat", _STATUS_MAX).rpartition(")")[2].split()
        return os.waitstatus_to_exitcode(int(fields[-1])) if fields[0] == "Z" else None
    except (OSError, ValueError, IndexError):
        return None


def thread_name(thread: int | None) -> str:
    """Return the name of a thread of any process, by the system's number of it; "" if it is gone.

    The system cuts names to 15 bytes.
    """
    try:
        return Path(f"/proc/{thread}/comm").read_text("utf-8", "replace").strip()
    except OSError:
        return ""


def child_commands(pid: int) -> dict[int, tuple[str, ...]]:
    """Return the command lines of a process's children, by pid."""
    if not has_proc():
        return {row.pid: row.words for row in list_children(pid)}
    found: dict[int, tuple[str, ...]] = {}
    for thread in _list_directory(f"/proc/{pid}/task")[:_THREADS_MAX]:
        try:
            listed = _read_text(f"/proc/{pid}/task/{thread}/children", 1 << 16)
        except OSError:
            continue  # the thread has ended since it was listed
        for child in listed.split():
            found[int(child)] = command_line(int(child))
    return found


def command_line(pid: int) -> tuple[str, ...]:
    """Return a process's arguments, from proc_pid_cmdline(5); nothing if unreadable."""
    if not has_proc():
        return next((one.words for one in _by_psutil(pid)), ())
    try:
        text = _read_text(f"/proc/{pid}/cmdline", _WORDS_MAX)
    except OSError:
        return ()
    words = text.split("\0")
    return tuple(words[:-1] if words[-1:] == [""] else words)


def has_proc() -> bool:
    """Return whether this system describes its processes in /proc."""
    return sys.platform.startswith("linux") and os.path.isdir("/proc/self")


def _read_text(path: str, most: int) -> str:
    # Without a buffer: it costs three more calls, and each stop reads several files.
    with open(path, "rb", buffering=0) as file:
        text = b""
        # A file of /proc may come in several parts, each as long as the kernel's buffer.
        while len(text) < most and (part := file.read(most - len(text))):
            text += part
    return text.decode(errors="surrogateescape")


def _list_directory(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except OSError:
        return []


def _read_link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


_STATE, _USER, _SYSTEM = 0, 11, 12  # the fields of proc_pid_stat(5), counted from the state
_STATES_MAX = 2000
# The signals that debuggers work with, as proc_pid_status(5) has them: bit 0 is signal 1.
_DEBUGGERS = 1 << signal.SIGTRAP - 1 | 1 << signal.SIGSTOP - 1


class ThreadState(Struct, frozen=True):
    """One thread: its name, its state letter, its processor time in seconds."""

    number: int
    name: str
    state: str
    cpu_s: float
    call: SystemCall | None = None


def read_threads(pid: int) -> dict[int, ThreadState]:
    """Read the state of a process's threads, the first one first; nothing without /proc."""
    try:
        numbers = sorted(map(int, os.listdir(f"/proc/{pid}/task")))
    except OSError:
        return {}
    found = (_read_thread(pid, number) for number in numbers[:_STATES_MAX])
    return {one.number: one for one in found if one is not None}


def _read_thread(pid: int, number: int) -> ThreadState | None:
    folder = Path(f"/proc/{pid}/task/{number}")
    try:
        before, _, rest = (folder / "stat").read_text("utf-8", "replace").rpartition(")")
    except OSError:
        return None
    fields = rest.split()
    ticks = int(fields[_USER]) + int(fields[_SYSTEM])
    try:
        call = system_call((folder / "syscall").read_text(), platform.machine())
    except OSError:
        call = None
    return ThreadState(
        number=number,
        name=before.partition("(")[2],
        state=fields[_STATE],
        cpu_s=ticks / os.sysconf("SC_CLK_TCK"),
        call=call,
    )


def read_owner(pid: int) -> int | None:
    """Return the user as whom a process opens files; None if it is unknown."""
    try:
        text = Path(f"/proc/{pid}/status").read_text("utf-8", "replace")
    except OSError:
        return None
    found = re.search(r"^Uid:(?:\s+\d+){3}\s+(\d+)$", text, re.MULTILINE)
    return int(found[1]) if found is not None else None


def has_library(pid: int, file: re.Pattern[str]) -> bool:
    """Return whether a process has loaded a library of such a file name, proc_pid_maps(5)."""
    try:
        mapped = Path(f"/proc/{pid}/maps").read_text("utf-8", "replace")
    except OSError:
        return False
    return file.search(mapped) is not None


def is_suspended(pid: int) -> bool:
    """Return whether a stop signal has suspended a process (SIGSTOP, SIGTSTP), not a debugger."""
    first = next(iter(read_threads(pid).values()), None)
    return first is not None and first.state == "T"


def has_pending(pid: int) -> bool:
    """Return whether a thread that a debugger has stopped has another pending stop or trap."""
    for number in read_threads(pid):
        try:
            text = Path(f"/proc/{pid}/task/{number}/status").read_text("utf-8", "replace")
        except OSError:
            continue
        masks = re.findall(r"^S(?:ig|hd)Pnd:\s*([0-9a-f]+)$", text, re.MULTILINE)
        if any(int(one, 16) & _DEBUGGERS for one in masks):
            return True
    return False


def go_on(pid: int) -> None:
    """Continue a process that a debugger's stop has reached late, or has yet to reach.

    SIGCONT also discards pending stop signals (signal(7)).
    """
    # Twice: a thread may take the signal after its state was read, and before what is pending is.
    if any(_has_stop(pid) for _ in range(2)):
        with suppress(OSError):  # it has gone
            os.kill(pid, signal.SIGCONT)


def _has_stop(pid: int) -> bool:
    """Return whether a stop signal is pending, or has stopped any thread: the others follow it."""
    return any(one.state == "T" for one in read_threads(pid).values()) or has_pending(pid)


def memory_at(pid: int, address: int, size: int) -> bytes:
    """Read a process's memory, up to where it is not mapped; nothing if it cannot be read."""
    try:
        with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as file:
            file.seek(address)
            return file.read(size)
    except (OSError, ValueError, OverflowError):
        return b""


def words_at(pid: int, address: int, count: int) -> tuple[int, ...]:
    """Read 32-bit numbers of a process's memory; nothing if they cannot be read."""
    data = memory_at(pid, address, 4 * count)
    return struct.unpack(f"={len(data) // 4}i", data[: len(data) // 4 * 4])
