"""Runs a Python program under debugpy without debugpy's own waits at its start and end.

Run as `python server.py FOLDER ARGS...` in the place of debugpy's package FOLDER. Standard library
and debugpy's own modules only, of any Python that debugpy runs in; facts are of debugpy 1.8.22.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import types
from importlib import import_module, util
from opcode import opname
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

# Seconds between two looks at the program's other threads, once the main one has ended.
_LOOK_S = 0.01
_DEEP = 1_000  # frames
_FOLLOWING_S = 0.25  # within which one request follows another
_DEBUGGEE_CODE = "_debugger_inside"  # the name by which the debugger's expressions find it
_SENT_CODE = "_debugger_sent_code"
_EXIT_CALLS = "_debugger_exit_calls"
# Python 3.14 removes `__file__` from a script that has ended, before it calls sys.excepthook.
_THIS_FILE = __file__
_ATTACHED = Path(_THIS_FILE).with_name("attached")
_TOOLS = (4, 3)  # of sys.monitoring: those that have no meaning
_DEBUGPY = ("/debugpy/_vendored/", "/debugpy/server/")
_COMPILED = ("_pydevd_bundle/", "_pydevd_sys_monitoring/", "_pydevd_frame_eval/")
_RUNS_IT = (
    "<frozen runpy>",
    "<frozen importlib",
    str(Path(os.__file__).with_name("runpy.py")),
)


def _describe_nothing(_header: str) -> None:
    """Write nothing to debugpy's log of the installed packages.

    debugpy reads all of them even where there is no log: 0.1 s for 80, twice in a program.
    """


def _await_threads(py_db: Any, timeout: float) -> None:
    """Wait for pydevd's threads to end, for `timeout` seconds at most.

    pydevd's own wait looks ten times a second; and as all its threads come here, each waits for
    the others until the time is up, 0.5 s. So they wait only for what still writes. The one that
    outlives the program waits for all of them.
    """
    # `kept` is the thread that outlives the program, and waits for all others; any other thread of
    # pydevd's that comes here waits for the writer only, as waiting for each other they would all
    # wait in vain.
    here = threading.current_thread()
    created = set(py_db.created_pydb_daemon_threads)
    original = py_db.check_alive_thread
    others = {py_db.writer} & created if here in created and here is not original else created
    limit = time.monotonic() + timeout
    for one in others - {here, original}:
        one.join(max(0.0, limit - time.monotonic()))


class _MainThreadEvent(threading.Event):
    """Waits for the event itself, and for the main thread's end.

    pydevd waits for this event to see, every 0.2 s, whether the program has ended.
    """

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end of the main thread, or look again soon at the other threads."""
        # join() returns at the moment of the end, where pydevd's poll takes up to 0.2 s.
        main = threading.main_thread()
        if main.is_alive() and not self.is_set():
            main.join(timeout)
            return self.is_set()
        return super().wait(_LOOK_S)


def end_at_once() -> None:
    """Remove pydevd's waits at the program's end; pending messages are still sent."""
    pydevd: Any = import_module("pydevd")
    # Python mangles the name of pydevd's private method.
    pydevd.PyDB._PyDB__wait_for_threads_to_finish = _await_threads  # noqa: SLF001 - its own
    begin = pydevd.CheckAliveThread.__init__

    def begin_alive(thread: Any, py_db: Any) -> None:
        begin(thread, py_db)
        thread._wait_event = _MainThreadEvent()  # noqa: SLF001 - pydevd's own

    pydevd.CheckAliveThread.__init__ = begin_alive


def stop_at_lost_exceptions() -> None:
    """Stop at an exception that ends a program, or a thread, where pydevd has not stopped at it.

    Before Python 3.12 pydevd traces no more once its trace function has failed, as at the end of a
    deep recursion, or once the program has set another, as pdb does when it is quit.
    """
    pydevd: Any = import_module("pydevd")
    stop = pydevd.PyDB.do_stop_on_unhandled_exception
    # By thread, and removed at the hook: an id is valid only as long as the exception lives.
    stopped_at: dict[int, int] = {}  # the exception's id by the thread's

    def note_stop(py_db: Any, thread: Any, frame: Any, frames: Any, excinfo: Any) -> None:
        stopped_at[threading.get_ident()] = id(excinfo[1])
        stop(py_db, thread, frame, frames, excinfo)

    def stop_if_lost(kind: Any, error: Any, trace: Any) -> None:
        known = stopped_at.pop(threading.get_ident(), None)
        py_db = pydevd.get_global_debugger()
        if py_db is None or error is None or known == id(error):
            return
        py_db.trigger_exception_handler((kind, error, trace))

    # The hooks of before are called at the end: the program's own report stays.
    hook, thread_hook = sys.excepthook, threading.excepthook

    def excepthook(kind: Any, error: Any, trace: Any) -> None:
        stop_if_lost(kind, error, trace)
        if error is not None:  # the program's own part is what Python alone would print
            # Frames of the code that runs the program (runpy, debugpy, this file) are not the
            # program's.
            error.__traceback__ = trace = drop_outer_frames(trace)
        hook(kind, error, trace)

    def thread_excepthook(args: Any) -> None:
        # SystemExit ends a thread quietly, as in Python itself.
        if args.exc_type is not SystemExit:
            stop_if_lost(args.exc_type, args.exc_value, args.exc_traceback)
        thread_hook(args)

    pydevd.PyDB.do_stop_on_unhandled_exception = note_stop
    sys.excepthook, threading.excepthook = excepthook, thread_excepthook


def improve_pydevd() -> None:
    """Change pydevd's stops and steps, in this process and in those that it starts."""
    keep_deep_stacks()
    wait_once_for_threads()
    report_no_modules()
    show_own_frames_only()
    stop_at_lost_exceptions()
    follow_unwinding()
    hide_injected_code()
    load_debuggee_code()
    _load_once(_EXIT_CALLS, "exit_calls.py")
    # pydevd begins to debug a child in the child itself, with pydevd as it is on disk: what is
    # changed here in memory has to be changed there again.
    defaults: Any = import_module("_pydevd_bundle.pydevd_defaults")
    # A child process of its own imports this: a folder, and a module in it.
    defaults.PydevdCustomization.PREIMPORT = f"{_ATTACHED};debugger_in_child"
    _reach_code_on_command_lines(defaults.PydevdCustomization.PREIMPORT)


def _reach_code_on_command_lines(preimport: str) -> None:
    """Let the children that run `-c CODE` import it, too, as multiprocessing's and Dask's do.

    pydevd 1.8.22 gives it to programs and modules alone: `config` has a parameter for it.
    """
    monkey: Any = import_module("_pydev_bundle.pydev_monkey")
    build = monkey._get_python_c_args  # noqa: SLF001 - pydevd's own

    def build_with_import(*words: Any) -> Any:
        found = build(*words)
        code = found.decode("utf-8", "surrogateescape") if isinstance(found, bytes) else found
        head, call, rest = code.partition("; pydevd.config(")
        arguments, end, rest = rest.partition("); ")
        if not call or not end:
            return found
        code = f"{head}{call}{arguments}, {preimport!r}{end}{rest}"
        return code.encode("utf-8", "surrogateescape") if isinstance(found, bytes) else code

    monkey._get_python_c_args = build_with_import  # noqa: SLF001 - the same


def hide_injected_code() -> None:
    """Neither stop in nor show the code that was injected, which a pause may still find running."""
    files: Any = import_module("_pydevd_bundle.pydevd_dont_trace_files")
    for name in ("attach_pid_injected.py", "kernel_cells.py", "exit_calls.py"):
        files.DONT_TRACE[name] = files.PYDEV_FILE


def load_debuggee_code() -> None:
    """Load what evaluations need, before the first of them meets the running program."""
    _load_once(_DEBUGGEE_CODE, "debuggee_code.py")


def _load_once(name: str, file: str) -> None:
    spec = util.spec_from_file_location(name, Path(_THIS_FILE).with_name(file))
    if spec is None or spec.loader is None or name in sys.modules:
        return
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[name] = module


def follow_sent_code() -> None:
    """Let functions keep their files where a program that we started sends them to its workers."""
    _load_once(_SENT_CODE, "sent_code.py")
    sys.modules[_SENT_CODE].keep_sent_files()


def follow_unwinding() -> None:
    """Make a step out of, or over the end of, a function go on where an exception leaves it.

    From Python 3.12 on pydevd only follows returns: the program ran on.
    """
    monitoring: Any = getattr(sys, "monitoring", None)
    if monitoring is None:
        return
    constants: Any = import_module("_pydevd_bundle.pydevd_comm_constants")
    # A step out that is overtaken by an exception becomes a step over in the caller: the caller may
    # handle the exception in its next line, and the step ends there.
    over = {
        constants.CMD_STEP_OVER: constants.CMD_STEP_OVER,
        constants.CMD_STEP_RETURN: constants.CMD_STEP_OVER,
        constants.CMD_STEP_OVER_MY_CODE: constants.CMD_STEP_OVER_MY_CODE,
        constants.CMD_STEP_RETURN_MY_CODE: constants.CMD_STEP_OVER_MY_CODE,
    }
    pydevd: Any = import_module("pydevd")

    def follow(_code: Any, _offset: int, _error: BaseException) -> None:
        # Called at each frame that an exception leaves, in that frame's thread. Only the frame in
        # which pydevd expects the step's end matters; the step is moved to its caller, with
        # pydevd's own function for that. All else returns at once: programs may raise thousands of
        # exceptions a second.
        here = threading.get_ident()
        info = getattr(threading._active.get(here), "additional_info", None)  # type: ignore[attr-defined]  # noqa: SLF001 - as pydevd does
        frame = sys._getframe(1)  # noqa: SLF001 - there is no other way
        py_db = pydevd.get_global_debugger()
        if info is None or py_db is None or info.pydev_step_stop is not frame:
            return
        if info.pydev_step_cmd in over and frame.f_back is not None:
            info.pydev_step_cmd = over[info.pydev_step_cmd]
            info.pydev_step_stop = frame.f_back
            py_db.set_trace_for_frame_and_parents(here, frame.f_back)

    # sys.monitoring has six tools; 0 to 2 and 5 have a meaning, pydevd itself uses the debugger's.
    # A tool of another library's is not taken away.
    for tool in _TOOLS:
        if monitoring.get_tool(tool) is None:
            monitoring.use_tool_id(tool, "debugger")
            monitoring.register_callback(tool, monitoring.events.PY_UNWIND, follow)
            monitoring.set_events(tool, monitoring.events.PY_UNWIND)
            return


def keep_deep_stacks() -> None:
    """Cache the frames of a deep stack: pydevd makes all of them for each request, 1 s for 20,000.

    The cache lasts as long as pydevd's own list of the stopped thread's frames.
    """
    commands: Any = import_module("_pydevd_bundle.pydevd_net_command")
    factory: Any = import_module(
        "_pydevd_bundle.pydevd_net_command_factory_json"
    ).NetCommandFactoryJson
    make = factory.make_get_thread_stack_message

    def make_from_kept(
        self: Any, py_db: Any, seq: int, thread: Any, *words: Any, **options: Any
    ) -> Any:
        frames = py_db.suspended_frames_manager.get_frames_list(thread)
        # Small stacks take pydevd's own way, which is fast enough for them.
        if _count_frames(frames) < _DEEP:
            return make(self, py_db, seq, thread, *words, **options)
        # pydevd makes the whole stack once; windows of it are cut here. 0 levels means all (DAP:
        # StackTraceArguments).
        start, levels = options.pop("start_frame", 0), options.pop("levels", 0)
        full_stack = getattr(frames, "debugger_stack", None)
        if full_stack is None:
            full_stack = make(self, py_db, seq, thread, *words, **options)
            frames.debugger_stack = full_stack
        found = full_stack.as_dict["body"]["stackFrames"]
        shown = found[start : start + levels] if levels else found
        body = {"stackFrames": shown, "totalFrames": len(found)}
        answer = {**full_stack.as_dict, "request_seq": seq, "body": body}
        return commands.NetCommand(full_stack.id, 0, answer, is_json=True)

    factory.make_get_thread_stack_message = make_from_kept


def wait_once_for_threads() -> None:
    """Wait 0.5 s for the threads that have not stopped: once for all stacks, not at each.

    A thread that waits for a lock does not stop: 100 of them took 50 s.
    """
    api: Any = import_module("_pydevd_bundle.pydevd_api").PyDevdAPI
    pydevd: Any = import_module("pydevd")
    request, suspend = api.request_stack, pydevd.PyDB.do_wait_suspend
    # Requests that follow each other have one limit; a thread that stops begins another.
    limit_s = end_s = 0.0

    def request_stack(  # noqa: PLR0917 - pydevd's own parameters
        self: Any,
        py_db: Any,
        seq: int,
        thread: Any,
        fmt: Any = None,
        timeout: float = 0.5,
        *words: Any,
        **options: Any,
    ) -> None:
        nonlocal limit_s, end_s
        now_s = time.monotonic()
        if now_s > end_s:
            limit_s = now_s + timeout
        end_s = max(now_s, limit_s) + _FOLLOWING_S
        remaining_s = max(0.0, limit_s - now_s)
        request(self, py_db, seq, thread, fmt, remaining_s, *words, **options)

    def do_wait_suspend(*words: Any, **options: Any) -> Any:
        nonlocal end_s
        end_s = 0.0
        return suspend(*words, **options)

    api.request_stack, pydevd.PyDB.do_wait_suspend = request_stack, do_wait_suspend


def report_no_modules() -> None:
    """Send no event for a module that a stack's frames are the first to show.

    Nobody listens to them, and each passes through the adapter, which has one processor for all
    processes of a program. pydevd still answers the `modules` request.
    """
    manager: Any = import_module("_pydevd_bundle.pydevd_net_command_factory_json").ModulesManager
    track = manager.track_module

    def track_quietly(self: Any, *words: Any) -> list[Any]:
        track(self, *words)
        return []

    manager.track_module = track_quietly


def _count_frames(frames: Any) -> int:
    """Count the frames of a stack, and of the exceptions that led to the current one."""
    count = 0
    while frames is not None:
        count += len(frames)
        frames = frames.chained_frames_list
    return count


def show_own_frames_only() -> None:
    """Remove the debugger's own frames from a stop at an exception."""
    pydevd: Any = import_module("pydevd")
    stop = pydevd.PyDB.do_stop_on_unhandled_exception

    def stop_cleaned(py_db: Any, thread: Any, frame: Any, frames: Any, excinfo: Any) -> None:
        # The stop is shown in the program's own innermost frame.
        last = cut_traceback(excinfo[1], excinfo[2])
        clean_chain(excinfo[1])
        user_frame = last.tb_frame if last is not None else frame
        stop(py_db, thread, user_frame, frames, excinfo)

    pydevd.PyDB.do_stop_on_unhandled_exception = stop_cleaned


def cut_traceback(error: BaseException, trace: TracebackType | None) -> TracebackType | None:
    """Cut the debugger's own frames off the end of a traceback.

    A recursion may meet its limit in pydevd's trace function, which is called as a function of the
    program's begins: that call would not have been without a debugger.

    Returns:
        The last entry that is left where some were cut off, else None.
    """
    trimmed, last = None, None
    # Only a recursion's limit may be met in pydevd without any fault of pydevd's or the program's:
    # its trace function needs a few frames more than the program alone.
    is_recursion = isinstance(error, RecursionError)
    while trace is not None:
        last = trace
        is_debuggers = _is_debuggers(trace)
        if is_recursion and is_debuggers and trimmed is not None:
            break  # what pydevd calls is not the program's either
        if not is_debuggers and not (is_recursion and not _has_begun(trace)):
            trimmed = trace
        trace = trace.tb_next
    if trimmed is None or trimmed is last:
        return None
    trimmed.tb_next = None
    return trimmed


def clean_chain(error: BaseException) -> None:
    """Remove the debugger's own exceptions and frames from the chain of an exception."""
    known: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in known:
        known.add(id(one))
        while one.__context__ is not None and _is_debuggers(one.__context__.__traceback__):
            one.__context__ = one.__context__.__context__
        one = one.__cause__ or one.__context__
        if one is not None:
            cut_traceback(one, one.__traceback__)


def drop_outer_frames(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback from where the program begins, or unchanged if it never comes there."""
    begins, is_ours = trace, False
    while begins is not None:
        file = begins.tb_frame.f_code.co_filename
        if is_ours and not _is_debuggers(begins) and not file.startswith(_RUNS_IT):
            return begins
        is_ours = is_ours or file == _THIS_FILE
        begins = begins.tb_next
    return trace


def _is_debuggers(trace: TracebackType | None) -> bool:
    """Return whether a frame is debugpy's or ours.

    pydevd's compiled modules name files that are not there.
    """
    file = trace.tb_frame.f_code.co_filename if trace is not None else ""
    is_in = any(one in file for one in _DEBUGPY)
    return is_in or file == _THIS_FILE or file.startswith(_COMPILED)


def _has_begun(trace: TracebackType) -> bool:
    """Return whether a frame had run code of its own when an exception came through it."""
    at = trace.tb_lasti
    return at >= 0 and opname[trace.tb_frame.f_code.co_code[at]] != "RESUME"


def run_server() -> None:
    """Run debugpy's command line, with this module moved aside for the program's `__main__`."""
    folder = sys.argv.pop(1)
    # Python puts a script's folder first in the path: ours must not hide modules of the program.
    # Not if Python is isolated.
    if Path(sys.path[0]).resolve() == Path(_THIS_FILE).resolve().parent:
        del sys.path[0]
    sys.argv[0] = folder
    # debugpy runs the program as `__main__`: this module would be overwritten, with its functions
    # still in use.
    sys.modules["_debugger_server"] = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    sys.path.insert(0, str(Path(folder).parent))
    log: Any = import_module("debugpy.common.log")
    cli: Any = import_module("debugpy.server.cli")
    del sys.path[0]
    log.describe_environment = _describe_nothing
    end_at_once()
    improve_pydevd()
    follow_sent_code()
    cli.main()


if __name__ == "__main__":
    run_server()
