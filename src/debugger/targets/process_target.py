"""Finds the running process to attach to, or an app on a simulator, and its adapter."""

from __future__ import annotations

import asyncio
import functools
import os
import os.path
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from debugger.backends import select_backend
from debugger.backends.adapters.gdb.gdb_adapter import gdb_output
from debugger.backends.base import AttachTarget
from debugger.backends.dap.debug_adapter import DebugAdapter
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.location import near_names
from debugger.paths import data_dir
from debugger.system import process_info as processes
from debugger.system import simulator, trace_permission
from debugger.system.process_info import ProcessInfo
from debugger.targets.attach_request import AttachRequest, PreparedAttach, choose_adapter

WAIT_S = 60.0
_CHECK_S = 15.0
_WAY = "debugger attach --simulator NAME --bundle-id ID"
_ID_MAX = 255


class SimulatorApp(Struct, frozen=True):
    """An app's process on a simulator: the simulator's identifier, and the pid."""

    udid: str
    pid: str
    note: str


class SimulatorRequest(Struct, frozen=True):
    """The arguments of an `attach` command: the simulator, and an app's bundle id or a pid.

    `wait_s` is the time to wait for the app to run; None: no wait.
    """

    simulator: str | None
    bundle_id: str | None = None
    pid: str | None = None
    wait_s: float | None = None


async def find_app(
    env: Mapping[str, str], request: SimulatorRequest, interrupted: asyncio.Event
) -> SimulatorApp:
    """Return the requested process.

    Raises:
        DebuggerError: USAGE, NOT_FOUND, TIMEOUT; ADAPTER_NOT_FOUND without Xcode; ADAPTER_FAILED.
    """
    _check_request(request)
    assert request.simulator is not None
    device = await simulator.find_device(env, request.simulator)
    if request.bundle_id is None:
        assert request.pid is not None
        return SimulatorApp(device.udid, request.pid, f"on simulator {_device_name(device)}")
    if request.wait_s is None:
        pid = await simulator.app_process(env, device.udid, request.bundle_id)
    else:
        pid = await simulator.wait_for_app(
            env, device.udid, request.bundle_id, seconds=request.wait_s, interrupted=interrupted
        )
    return SimulatorApp(
        device.udid,
        str(pid),
        f"{request.bundle_id} on simulator {_device_name(device)} is process {pid}",
    )


def _device_name(device: simulator.SimulatorDevice) -> str:
    return device.udid if device.name == device.udid else f"{device.name} ({device.udid})"


def _check_request(request: SimulatorRequest) -> None:
    """Check the arguments before anything is run."""
    if not request.simulator:
        raise DebuggerError(ErrorCode.USAGE, "on which simulator?", hint=_WAY)
    if request.bundle_id is not None and request.pid is not None:
        raise DebuggerError(
            ErrorCode.USAGE, "bundleId and pid are mutually exclusive. Provide only one.", hint=_WAY
        )
    if request.bundle_id is None and request.pid is None:
        raise DebuggerError(ErrorCode.USAGE, "Provide either bundleId or pid to attach.", hint=_WAY)
    if request.bundle_id is None:
        if request.wait_s is not None:
            raise DebuggerError(
                ErrorCode.USAGE,
                "waitFor is only valid when attaching by bundleId. "
                "For PID attach, omit waitFor or set it to false.",
                hint=_WAY,
            )
        return
    is_word = request.bundle_id.isprintable() and not set(request.bundle_id) & set(" []")
    if not is_word or not 0 < len(request.bundle_id) <= _ID_MAX:
        raise DebuggerError(
            ErrorCode.USAGE, f"not a bundle id: {request.bundle_id[:60]!r}", hint=_WAY
        )


async def check_simulators(env: Mapping[str, str]) -> answers.Check:
    """Check for simulators, for `doctor`."""
    try:
        path = simulator.find_xcrun(env)
    except DebuggerError as error:
        if sys.platform == "darwin":
            return _check_result("warning", error.message, fix="xcode-select --install")
        return _check_result("ok", "none here: they need macOS with Xcode")
    try:
        found = await simulator.list_devices(env, limit_s=_CHECK_S)
    except DebuggerError as error:
        return _check_result("error", error.message, path=path, fix=error.hint)
    usable = [one for one in found if one.is_available]
    booted = [one.name for one in usable if one.state == "Booted"]
    if not usable:
        return _check_result(
            "warning", "none is installed", path=path, fix="xcodebuild -downloadPlatform iOS"
        )
    running = f", booted: {', '.join(booted)}" if booted else ", none is booted"
    return _check_result("ok", f"{len(usable)} can be used{running}", path=path)


def _check_result(
    status: str, message: str, *, path: str | None = None, fix: str | None = None
) -> answers.Check:
    return answers.Check(name="simulators", status=status, message=message, path=path, fix=fix)


_TRIAL = ("set startup-with-shell off", "starti", "print $xmm0.v4_int32[0] = 2")
_FAILURE = "Couldn't write"
_BY_HAND = (
    "or start the program with python -m debugpy --listen 5678 APP.py, "
    "then: debugger attach --connect localhost:5678"
)


def with_tracer(env: Mapping[str, str]) -> Mapping[str, str]:
    """Return an environment whose PATH has the tracer that debugpy 1.8.22 attaches with.

    That is gdb, or LLDB on macOS. Of the gdb on the PATH and the one that `debugger setup`
    installs, the first is taken that can call a function in a process on this machine.

    Raises:
        DebuggerError: ADAPTER_NOT_FOUND.
    """
    tool = "lldb" if sys.platform == "darwin" else "gdb"
    path = env.get("PATH", os.defpath)
    ours = f"{data_dir(env)}/adapters/gdb"
    on_path = shutil.which(tool, path=path)
    if on_path is not None and _can_call(on_path):
        return env
    own = shutil.which(tool, path=ours)
    if own is not None and _can_call(own):
        return {**env, "PATH": f"{ours}{os.pathsep}{path}"}
    if on_path is None:
        raise DebuggerError(
            ErrorCode.ADAPTER_NOT_FOUND,
            f"{tool} is needed to enter a running process, and it is not on the PATH",
            hint=f"install {tool}; {_BY_HAND}",
        )
    raise DebuggerError(
        ErrorCode.ADAPTER_NOT_FOUND,
        f"{on_path} cannot write the registers of this processor: "
        "a process that debugpy entered with it would die",
        hint=f"debugger setup gdb; {_BY_HAND}",
    )


def _can_call(gdb: str) -> bool:
    """Return whether a gdb can call a function in a process.

    gdb 13 cannot on a processor with AMX: it gives the kernel too little of the extended registers,
    the call fails half done, and the process dies of it.
    """
    if sys.platform == "darwin" or not _has_large_registers():
        return True
    # It writes a register of a process of its own.
    words = (word for order in _TRIAL for word in ("-ex", order))
    answer = gdb_output(gdb, *words, sys.executable)
    return answer is None or _FAILURE not in answer  # else the attach itself will say


@functools.cache
def _has_large_registers() -> bool:
    try:
        return " amx_tile" in Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False


_PYTHON_LIBRARY = re.compile(r"/libpython3[\d.]*t?\.so")
# Interpreters that cannot be entered while they run, by a file that their processes have mapped.
_CLOSED_PYTHONS = {
    "PyPy": re.compile(r"/libpypy3[\d.]*-c\.so"),
    # The thread by which 3.13t is entered never begins.
    "free-threaded Python": re.compile(r"/(?:lib)?python3\.\d+t(?:\.so[\d.]*)?$", re.MULTILINE),
}
_LISTED_MAX = 10  # processes of one name
_WORDS_MAX = 100  # characters of a command line
_SCRIPT_WORDS = 4  # the first words of a command line, in which its script is looked for
PS = "debugger attach lists the processes"


def process_by_pid(word: str, *, hint: str = "") -> ProcessInfo:
    """Return a process by its number.

    Raises:
        DebuggerError: USAGE for no number, NOT_FOUND, DENIED for a part of ourselves.
    """
    digits = word.strip()
    if not re.fullmatch(r"[+-]?\d{1,20}", digits):
        raise DebuggerError(
            ErrorCode.USAGE,
            f"not a process number: {word!r}",
            hint=hint or f"debugger attach --name {word}",
        )
    pid = int(digits)
    if pid < 1:
        raise DebuggerError(ErrorCode.NOT_FOUND, f"no process {pid}: they count from 1", hint=PS)
    found = processes.look_at(pid)
    if found is None:
        raise DebuggerError(ErrorCode.NOT_FOUND, f"no process {pid}", hint=PS)
    # /proc has an entry for each thread, too, though it does not list it.
    if found.group not in {0, pid}:
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"{pid} is a thread of process {found.group}",
            hint=f"debugger attach {found.group}",
        )
    by_pid = {one.pid: one for one in (found, processes.look_at(found.parent)) if one is not None}
    if pid == os.getpid() or processes.is_ours(found, by_pid):
        raise DebuggerError(
            ErrorCode.DENIED,
            f"process {pid} ({shorten_command(found)}) is a part of this debugger",
            hint="debugger sessions lists the debugged programs",
        )
    return found


def list_candidates(everything: Sequence[ProcessInfo]) -> list[ProcessInfo]:
    """Return the processes that live and are neither the kernel's nor the debugger's own."""
    by_pid = {one.pid: one for one in everything}
    return [
        one
        for one in everything
        if not one.is_kernel
        and one.state not in {"Z", "X"}
        and one.pid != os.getpid()
        and not processes.is_ours(one, by_pid)
    ]


def process_by_name(name: str, everything: Sequence[ProcessInfo]) -> ProcessInfo:
    """Return the only process of a name.

    Raises:
        DebuggerError: NOT_FOUND, with near names; USAGE if there are several, which it lists.
    """
    candidates = list_candidates(everything)
    found = [one for one in candidates if name in processes.process_names(one)]
    # Exact names first: `server` may be a program beside server.js.
    found = found or [one for one in candidates if name in _name_stems(one)]
    if not found:
        known = sorted({known for one in candidates for known in processes.process_names(one)})
        near = near_names(name, known)
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"no process is called {name!r}" + (f"; there is {', '.join(near)}" if near else ""),
            hint=f"debugger attach --name {near[0]}" if near else PS,
        )
    if len(found) > 1:
        pids = {one.pid for one in found}
        lines = [
            f"  {one.pid}  {shorten_command(one)}{_describe_relation(one, found, pids)}"
            for one in found
        ]
        del lines[_LISTED_MAX:]
        if len(found) > _LISTED_MAX:
            lines.append(f"  and {len(found) - _LISTED_MAX} more")
        raise DebuggerError(
            ErrorCode.USAGE,
            "\n".join([f"{len(found)} processes are called {name!r}:", *lines]),
            hint=f"debugger attach {found[0].pid}",
        )
    return found[0]


def _name_stems(process: ProcessInfo) -> set[str]:
    """Return a process's names without script extensions: `server` for server.js."""
    return {os.path.splitext(one)[0] for one in processes.process_names(process)}


def _describe_relation(process: ProcessInfo, found: Sequence[ProcessInfo], pids: set[int]) -> str:
    """Describe which process of a name is the parent, and which are its workers."""
    if process.parent in pids:
        return f"  (started by {process.parent})"
    started = sum(one.parent == process.pid for one in found)
    return f"  (started {started} of the others)" if started else ""


def shorten_command(process: ProcessInfo) -> str:
    """Shorten a process's command line for display."""
    words = " ".join(process.words) or process.name
    plain = "".join(letter if letter.isprintable() else "?" for letter in words)
    return plain if len(plain) <= _WORDS_MAX else plain[: _WORDS_MAX - 1] + "…"


def to_process(request: AttachRequest, process: ProcessInfo) -> PreparedAttach:
    """Prepare an attach to a process.

    Raises:
        DebuggerError: WRONG_STATE if a session holds it, DENIED if it may not be attached to,
            NOT_SUPPORTED, ADAPTER_NOT_FOUND.
    """
    holder = request.held.get(process.pid)
    if holder is not None:
        raise DebuggerError(
            ErrorCode.WRONG_STATE,
            f"the session {holder} debugs process {process.pid} already",
            hint=f"debugger use {holder}",
        )
    # What may not be read, as another user's, is refused below for that.
    language = processes.process_language(process) or "native"
    executable = processes.inspect_executable(process)
    type_language = executable.type_language if executable is not None else ""
    described = f"process {process.pid} ({shorten_command(process)})"
    script = _own_script(request, process)
    adapter = choose_adapter(request, language, described, type_language, script)
    # Checked first, because each debugger reports a refused ptrace in its own words.
    refused = attach_refusal(process, adapter)
    if refused is not None and refused.is_certain:
        raise DebuggerError(ErrorCode.DENIED, refused.reason, hint=refused.remedy)
    _check_fit(process, language, adapter, request)
    is_entered = bool({"python", "ruby"} & set(adapter.languages))
    env = with_tracer(request.env) if is_entered else request.env
    program, notes = _readable_executable(process)
    if _debugs_scripts(adapter):
        program, notes = process.script_path, ()
    elif request.adapter is None and _embeds_python(process.pid):
        way = f"debugger attach {process.pid} --adapter debugpy"
        notes = (*notes, f"it has Python in it: {way} debugs that code")
    listens_at = None
    if adapter.server is not None and adapter.server.open_link is not None:
        listens_at, note = adapter.find_listen_address(process.pid)
        notes = (*notes, note)
    target = AttachTarget(
        pid=process.pid,
        program=program,
        cwd=request.cwd,
        env=env,
        pause=request.pause,
        simulator=request.simulator,
        cells=cell_folder(process.pid) if _runs_kernel(process) else None,
        listens_at=listens_at,
    )
    return PreparedAttach(target, adapter, notes)


def _own_script(request: AttachRequest, process: ProcessInfo) -> str:
    """Return the file that an interpreter runs, if an adapter of the user's own attaches to it."""
    sections = [one for one in request.adapters.values() if "{pid}" in str(one.attach)]
    ends = tuple(end for one in sections for end in one.extensions)
    words = process.words[1:_SCRIPT_WORDS]
    return next((one for one in words if ends and one.endswith(ends)), "")


def _runs_kernel(process: ProcessInfo) -> bool:
    """Return whether a process was started as a Jupyter kernel of Python."""
    return any("ipykernel" in word for word in process.words[1:])


def cell_folder(pid: int) -> str:
    """Return the folder of a kernel's cells, ipykernel's own name for it."""
    names = ("TMPDIR", "TEMP", "TMP")
    given = processes.read_environment(pid, names)
    folders = (given[name] for name in names if given.get(name))
    return os.path.join(next(folders, tempfile.gettempdir()), f"ipykernel_{pid}")


def _readable_executable(process: ProcessInfo) -> tuple[str | None, tuple[str, ...]]:
    """Return a readable path of a process's executable, and a note for the user."""
    if not process.exe:
        return None, ()
    # As /proc/PID/exe shows a file that was removed or replaced, proc(5).
    path = process.exe.removesuffix(" (deleted)")
    link = f"/proc/{process.pid}/exe"
    if not processes.has_proc():
        return (path if os.path.isabs(path) else None), ()
    if not os.path.exists(path):
        return link, (f"{path} is not there any more: the process's own copy is read",)
    try:
        is_same = os.path.samefile(path, link)
    except OSError:  # the process has ended
        is_same = True
    if is_same:
        return path, ()
    # LLDB 19.1.7 takes the file at the path even if it is given the link.
    problem = "the debugger takes the new file, and what it shows of lines and values may be wrong"
    return path, (f"{path} was replaced since the process started: {problem}",)


def _debugs_scripts(adapter: DebugAdapter) -> bool:
    """Return whether an adapter debugs scripts, in an interpreter."""
    return bool({"python", "javascript", "ruby", "php"} & set(adapter.languages))


def _check_fit(
    process: ProcessInfo, language: str, adapter: DebugAdapter, request: AttachRequest
) -> None:
    pid = process.pid
    closed = (name for name, file in _CLOSED_PYTHONS.items() if processes.has_library(pid, file))
    if "python" in adapter.languages and (interpreter := next(closed, "")):
        script = process.script_path or "SCRIPT"
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"process {pid} is {interpreter}: only CPython with a GIL can be entered while it runs",
            hint=f"debugger start --python {process.exe} {script}",
        )
    if "python" in adapter.languages and _embeds_python(process.pid):
        return
    if _debugs_scripts(adapter) and language not in adapter.languages:
        better = select_backend.choose_program_adapter("", language, request.env, request.adapters)
        name = better.name if better is not None else "NAME"
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"{adapter.name} cannot debug process {process.pid}: it is a {language} program",
            hint=f"debugger attach {process.pid} --adapter {name}",
        )


def _embeds_python(pid: int) -> bool:
    """Return whether a process of another language has loaded Python's library."""
    return processes.has_library(pid, _PYTHON_LIBRARY)


def attach_refusal(
    process: ProcessInfo, adapter: DebugAdapter
) -> trace_permission.TraceRefusal | None:
    """Return why an adapter may not attach to a process; None if no reason is known."""
    # Node is requested by a signal, and PHP connects by itself.
    traces = not {"javascript", "php"} & set(adapter.languages)
    return trace_permission.explain_refusal(trace_permission.facts_of(process), traces=traces)
