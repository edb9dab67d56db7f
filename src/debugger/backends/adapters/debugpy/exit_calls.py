"""Reports where a program ends its process at once: `os._exit`, `os.abort`, `os.kill` of itself.

No exception is raised there, and nothing is left of the stack once the process has ended. Nor is
it of an exception of a task, which a pool's worker handles and sends to the program. The
report is a message on the debugger's console (`questions.crash.exit_calls` parses it). Runs in the
debuggee; standard library and debugpy's own modules only, facts are of debugpy 1.8.22.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from functools import wraps
from importlib import import_module
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import FrameType, TracebackType
    from typing import Any

_SENT_S = 1.0  # seconds for the report to be sent
_FRAMES_MAX = 20
_VALUES_MAX = 8
_VALUE_MAX = 80  # characters
_PLAIN = (int, float, bool, str, bytes, type(None))
# What ends a process that does not handle it.
_FATAL = frozenset(
    getattr(signal, name)
    for name in ("SIGKILL", "SIGABRT", "SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGTERM")
    if hasattr(signal, name)
)
_LIBRARY = str(Path(os.__file__).parent)
_PACKAGES = ("site-packages", "dist-packages")
_MARK = "_debugger_reports"
# Where workers make the text of an exception that they send, or that ends them: of
# multiprocessing, of concurrent.futures, of Dask (distributed 2026.8) and of Ray (2.60).
_WORKERS = (
    "/multiprocessing/process.py",
    "/multiprocessing/pool.py",
    "/concurrent/futures/process.py",
    "/distributed/core.py",
    "/ray/_private/worker.py",
)
_TASKS_MAX = 20  # of a process: of a program whose tasks often fail, the first ones


def report_exit_calls() -> None:
    """Report the calls in this process, and in those that it forks."""
    if getattr(os._exit, _MARK, False):  # a fork has its parent's modules
        return
    end, kill, abort = os._exit, os.kill, os.abort

    @wraps(end)
    def _exit(status: int) -> Any:
        if status:
            _report(f"os._exit({status})", sys._getframe(1))  # noqa: SLF001 - there is no other way
        return end(status)

    @wraps(kill)
    def kill_process(pid: int, number: int) -> None:
        if pid == os.getpid() and number in _FATAL and _is_unhandled(number):
            call = f"os.kill(os.getpid(), {signal.Signals(number).name})"
            _report(call, sys._getframe(1))  # noqa: SLF001 - the same
        kill(pid, number)

    @wraps(abort)
    def abort_process() -> Any:
        _report("os.abort()", sys._getframe(1))  # noqa: SLF001 - the same
        return abort()

    for one in (_exit, kill_process, abort_process):
        setattr(one, _MARK, True)
        setattr(os, one.__name__, one)
        # By that module's name they are pickled.
        setattr(sys.modules[one.__module__], one.__name__, one)


def report_task_errors() -> None:
    """Report the exceptions of tasks that the workers of pools send to their program."""
    if getattr(traceback.format_exception, _MARK, False):
        return
    reported: list[int] = []  # the processes, once for each report

    def report() -> None:
        caller = sys._getframe(1).f_back  # noqa: SLF001 - there is no other way
        is_worker = caller is not None and caller.f_code.co_filename.endswith(_WORKERS)
        if not is_worker or reported.count(os.getpid()) >= _TASKS_MAX:
            return
        reported.append(os.getpid())
        error = sys.exc_info()[1]
        if error is not None:
            _report_task(error)

    def wrap(name: str) -> None:
        function = getattr(traceback, name)

        @wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            report()
            return function(*args, **options)

        setattr(call, _MARK, True)
        setattr(traceback, name, call)

    for name in ("format_exception", "format_tb", "print_exc"):
        wrap(name)


def _report_task(error: BaseException) -> None:
    # Whatever fails here is no matter of the program's.
    try:
        stack: list[tuple[FrameType, int]] = []
        at: TracebackType | None = error.__traceback__
        while at is not None:
            stack.insert(0, (at.tb_frame, at.tb_lineno))
            at = at.tb_next
        files = [one[0].f_code.co_filename for one in stack]
        # Compiled code names files that are not there, as Ray's does.
        own = [
            one
            for one, file in zip(stack, files, strict=True)
            if not _is_library(file) and Path(file).is_file()
        ]
        text = "".join(traceback.format_exception_only(type(error), error)).splitlines()[0]
        if own:
            _send(_describe_stack(f"{text} ends the task", own))
    except Exception:  # noqa: BLE001, S110 - the same
        pass


def _is_unhandled(number: int) -> bool:
    return signal.getsignal(number) in {signal.SIG_DFL, None}


def _report(call: str, frame: FrameType | None) -> None:
    """Send the stack of a call, and wait (bounded) until it is sent."""
    # Whatever fails here is no matter of the program's, which is about to end.
    try:
        if frame is None or _is_library(frame.f_code.co_filename):
            return  # as multiprocessing ends each of its processes
        _send(_describe_stack(f"{call} ends the process", _walk(frame)))
    except Exception:  # noqa: BLE001, S110 - it is the program's last act
        pass


def _send(text: str) -> None:
    """Send a report, and wait (bounded) until it is sent: its process may end at once."""
    constants: Any = import_module("_pydevd_bundle.pydevd_constants")
    threads: Any = import_module("_pydev_bundle._pydev_saved_modules")
    py_db = constants.get_global_debugger()
    writer = getattr(py_db, "writer", None)
    # In a fork that pydevd does not follow this thread is none.
    if writer is None or not writer.is_alive():
        return
    # A handler of a signal may have interrupted pydevd while it had the lock of its queue.
    lock = writer._cmd_queue.mutex  # noqa: SLF001 - pydevd's own
    if not lock.acquire(timeout=_SENT_S):
        return
    lock.release()
    sent = threads.ThreadingEvent()
    command = py_db.cmd_factory.make_console_message(text)
    command.call_after_send(lambda _: sent.set())
    writer.add_command(command)
    sent.wait(_SENT_S)


def _walk(frame: FrameType | None) -> Iterator[tuple[FrameType, int]]:
    while frame is not None:
        yield frame, frame.f_lineno
        frame = frame.f_back


def _is_library(file: str) -> bool:
    in_library = file.startswith((_LIBRARY, "<frozen "))
    return in_library and not any(one in file for one in _PACKAGES)


def _describe_stack(head: str, stack: Iterable[tuple[FrameType, int]]) -> str:
    lines = [f"{head} (most recent call first):\n"]
    for at, (frame, line) in enumerate(stack):
        file, code = frame.f_code.co_filename, frame.f_code
        if "/debugpy/" not in file and not file.startswith("<"):
            full = os.path.abspath(file)  # noqa: PTH100 - as the program names it
            lines.append(f'  File "{full}", line {line} in {code.co_name}\n')
            lines += _describe_values(frame) if not at else []
        if len(lines) > _FRAMES_MAX:
            break
    return "".join(lines)


def _describe_values(frame: FrameType) -> list[str]:
    """Describe the plain values of a frame: the text of any other is made by the program's code."""
    if frame.f_locals is frame.f_globals:
        return []
    plain = [(name, value) for name, value in frame.f_locals.items() if type(value) in _PLAIN]
    found = []
    for name, value in plain[:_VALUES_MAX]:
        text = repr(value[:_VALUE_MAX] if isinstance(value, str | bytes) else value)
        found.append(f"    {name} = {text[:_VALUE_MAX]}\n")
    return found


report_exit_calls()
report_task_errors()
