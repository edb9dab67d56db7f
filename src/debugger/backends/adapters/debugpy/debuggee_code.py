"""Implements, inside a Python program under debugpy, what its protocol has no request for.

This file is loaded where a program of ours begins; else its text is executed in the program, on
the first need, as a module of its own.
Standard library and debugpy's own modules only; facts are of debugpy 1.8.22.
"""

from __future__ import annotations

import json
import linecache
import sys
import threading
from collections import deque
from contextlib import contextmanager
from importlib import import_module
from itertools import islice
from pathlib import PurePath

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType
    from typing import Any

_CAUSES_MAX = 10
_PART_LINES = 20
_MESSAGE_MAX = 400
_REMOTE_MAX = 20_000  # the traceback of a worker, as multiprocessing and its like attach it


# A stack: an expression may itself evaluate another one.
_looked_at: list[Any] = []  # the frames of the expressions that are being evaluated


def _pydevd_debugger() -> Any:
    return import_module("_pydevd_bundle.pydevd_constants").get_global_debugger()


# -- expressions that end their thread ---------------------------------------------------------


def _as_an_error(problem: BaseException) -> Exception:
    """Convert SystemExit and its like to an exception that pydevd answers.

    Otherwise the evaluating thread leaves the stop, and no answer comes.
    """
    kind = type(problem)
    # Of the same name and module, so that the user reads the exception that was raised.
    made: Exception = type(kind.__name__, (Exception,), {"__module__": kind.__module__})(
        *problem.args
    )
    return made


def answer_every_expression() -> None:
    """Answer an expression that raises SystemExit, or another exception that is no Exception."""
    pydevd_vars: Any = import_module("_pydevd_bundle.pydevd_vars")
    evaluate = pydevd_vars.evaluate_expression

    def answering(py_db: Any, frame: Any, expression: str, is_exec: bool) -> Any:  # noqa: FBT001
        _looked_at.append(frame)
        try:
            return evaluate(py_db, frame, expression, is_exec)
        # KeyboardInterrupt is pydevd's own way to end an expression that takes too long.
        except (Exception, KeyboardInterrupt):
            raise
        except BaseException as problem:  # noqa: BLE001 - it is answered
            error = _as_an_error(problem)
            # pydevd's two ways to report a failure: raised for a statement, returned for an
            # expression.
            if is_exec:
                raise error from None
            return pydevd_vars.ExceptionOnEvaluate(error, type(error), problem.__traceback__)
        finally:
            _looked_at.pop()

    pydevd_vars.evaluate_expression = answering


# -- what an evaluation changes in the whole program ------------------------------------------

# The streams that replaced the program's during the last evaluations at stops.
_replaced: deque[Any] = deque(maxlen=200)


def _is_program_running() -> bool:
    """Return whether an evaluation has a thread of pydevd's, while the program's own run on."""
    return bool(getattr(threading.current_thread(), "is_pydev_daemon_thread", False))


def keep_streams_and_warnings() -> None:
    """Keep sys.stdout, sys.stderr and the filters of warnings as a running program has them.

    pydevd replaces them during an evaluation, for all threads. print() has no reference of its own
    to sys.stdout (CPython 3.11): a thread that was within it, for a write that took longer than the
    evaluation, went on with a freed object, and the program died of SIGSEGV. A program that was
    forked meanwhile, or that changed them itself, kept pydevd's for good.
    """
    pydevd_io: Any = import_module("_pydevd_bundle.pydevd_io")
    pydevd_comm: Any = import_module("_pydevd_bundle.pydevd_comm")

    def at_stop_only(change: Callable[[], Any]) -> Callable[[], Any]:
        @contextmanager
        def change_at_stop() -> Iterator[None]:
            if _is_program_running():
                yield
                return
            with change():
                # At a stop a thread may still run compiled code, and print in the same line.
                _replaced.extend((sys.stdout, sys.stderr))
                yield

        return change_at_stop

    redirect = pydevd_io.redirect_stream_to_pydb_io_messages_context
    pydevd_io.redirect_stream_to_pydb_io_messages_context = at_stop_only(redirect)
    pydevd_comm.filter_all_warnings = at_stop_only(pydevd_comm.filter_all_warnings)


# -- which exceptions are stopped at when they are raised -----------------------------------------


class _RaisedBreakpoint:
    """An exception breakpoint of pydevd's, for exceptions as they are raised."""

    def __init__(self, known: Any) -> None:
        self.known = known

    def __getattr__(self, name: str) -> Any:
        return getattr(self.known, name)


class RaisedFilter:
    """Chooses the raised exceptions that stop: of some types, and each once.

    An exception stops where the program's own code raises it or first gets it from a library: an
    exception that a library raises and handles is not the program's. pydevd would stop in every
    frame that it passes through.
    """

    def __init__(self, py_db: Any) -> None:
        self._py_db = py_db
        self._types: frozenset[str] | None = None
        self._choose = py_db.get_exception_breakpoint
        self._excludes = py_db.exclude_exception_by_filter
        # pydevd asks for the breakpoint by the type first, and for each frame then whether to pass
        # over it: the wrapper that `choose` returns marks the breakpoint of raised exceptions for
        # `excludes`.
        py_db.get_exception_breakpoint = self.choose
        py_db.exclude_exception_by_filter = self.excludes

    def belongs_to(self, py_db: Any) -> bool:
        """Return whether this filter is of a debugger: each attach to a process makes a new one."""
        return self._py_db is py_db

    def want(self, types: list[str] | None) -> None:
        """Stop only at exceptions of these types; at all of them without."""
        self._types = frozenset(types) if types is not None else None

    def choose(self, kind: type[BaseException], known: dict[str, Any]) -> Any:
        """Return the breakpoint for an exception of a class; None for no stop."""
        found = self._choose(kind, known)
        if found is None or known is not self._py_db.break_on_caught_exceptions:
            return found
        return _RaisedBreakpoint(found) if self._is_requested(kind) else None

    def _is_requested(self, kind: type[BaseException]) -> bool:
        if self._types is None:
            return True
        # By name, with the bases: the class itself may not be importable where the breakpoint is
        # set.
        names = {one.__name__ for one in kind.__mro__}
        names |= {f"{one.__module__}.{one.__qualname__}" for one in kind.__mro__}
        return not names.isdisjoint(self._types)

    def excludes(self, found: Any, trace: TracebackType | None) -> bool:
        """Return whether an exception that comes through a frame is passed over there."""
        if not isinstance(found, _RaisedBreakpoint):
            return bool(self._excludes(found, trace))
        if trace is None or not self._py_db.in_project_scope(trace.tb_frame):
            return True
        # The traceback grows outwards: entries below this one are frames that the exception has
        # left.
        below = trace.tb_next
        while below is not None:
            if self._py_db.in_project_scope(below.tb_frame):
                return True  # it was told there
            below = below.tb_next
        return False


_catching: list[RaisedFilter] = []


def catch(types: list[str] | None) -> None:
    """Stop at raised exceptions of these types only, or of all."""
    py_db = _pydevd_debugger()
    # A filter of an earlier attach holds a debugger that is gone.
    if not _catching or not _catching[0].belongs_to(py_db):
        _catching[:] = [RaisedFilter(py_db)]
    _catching[0].want(types)


# -- steps ---------------------------------------------------------------------------------------


def keep_to_own(is_on: bool) -> None:  # noqa: FBT001
    """Limit steps to the program's own code, or let them end in all code again.

    pydevd calls this function for each request to step, and for exception breakpoints, which are
    not changed during a step.
    """
    py_db = _pydevd_debugger()
    if is_on:
        py_db.get_use_libraries_filter = lambda: True
    else:
        vars(py_db).pop("get_use_libraries_filter", None)


# -- where an exception comes from -------------------------------------------------------------


def explain(error: BaseException) -> str:
    """Return what is known of an exception, as JSON.

    `causes` are its causes, nearest first, and a group's members; `part` is the source of what
    failed in the innermost of the program's own frames, "" where that is not known.
    """
    return json.dumps({"causes": _causes(error), "part": _failed_part(error.__traceback__)})


def _failed_part(trace: TracebackType | None) -> str:
    """Return the part of a statement whose instruction failed (PEP 657, from CPython 3.11 on)."""
    found = _innermost_own(trace)
    if found is None or found.tb_lasti < 0 or sys.version_info < (3, 11):
        return ""
    code = found.tb_frame.f_code
    places = islice(code.co_positions(), found.tb_lasti // 2, None)
    first, last, begin, end = next(places, (None,) * 4)
    if first is None or last is None or begin is None or end is None:
        return ""
    if last - first >= _PART_LINES:
        return ""
    numbers, names = range(first, last + 1), found.tb_frame.f_globals
    # Columns count bytes.
    lines = [linecache.getline(code.co_filename, one, names).encode() for one in numbers]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][begin:]
    return b"".join(lines).decode(errors="replace")


def _causes(error: BaseException) -> list[str]:
    reported: list[str] = []
    visited: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in visited and len(reported) < _CAUSES_MAX:
        visited.add(id(one))
        if one is not error and not _is_debuggers(one):
            reported.append(_error_text(one))
        members = getattr(one, "exceptions", ())
        if isinstance(members, tuple):
            reported += [
                f"{number} of {len(members)} in the group: {_error_text(member)}"
                for number, member in enumerate(members, 1)
                if isinstance(member, BaseException)
            ]
        # As Python's own traceback decides (Language Reference, 7.8: raise).
        one = one.__cause__ or (None if one.__suppress_context__ else one.__context__)
    return reported[:_CAUSES_MAX]


def _is_debuggers(error: BaseException) -> bool:
    """Return whether pydevd raised an exception, and caught it, in its own tracing of the program.

    A recursion of the program's may meet its limit in pydevd, whose caller gets the exception.
    """
    py_db, trace = _pydevd_debugger(), error.__traceback__
    return trace is not None and py_db.get_file_type(trace.tb_frame) == py_db.PYDEV_FILE


def _error_text(error: BaseException) -> str:
    most = _REMOTE_MAX if type(error).__name__.endswith("RemoteTraceback") else _MESSAGE_MAX
    try:
        message = str(error)[:most]
    # The message runs user code (__str__).
    except Exception as problem:  # noqa: BLE001 - the program's own code
        message = f"({type(problem).__name__} in its __str__)"
    text = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return text + _innermost_location(error.__traceback__)


def _innermost_location(trace: TracebackType | None) -> str:
    """Name the innermost of the program's own frames that an exception came through."""
    found = _innermost_own(trace)
    if found is None:
        return ""
    code = found.tb_frame.f_code
    files: Any = import_module("pydevd_file_utils")
    file, _ = files.map_file_to_client(code.co_filename)  # a kernel's cell has another name there
    return f", in {code.co_name} {PurePath(file).name}:{found.tb_lineno}"


def _innermost_own(trace: TracebackType | None) -> TracebackType | None:
    """Return the innermost of the program's own frames, else the outermost one."""
    py_db, found = _pydevd_debugger(), None
    while trace is not None:
        if found is None or (py_db.in_project_scope(trace.tb_frame) and _has_begun(trace)):
            found = trace
        trace = trace.tb_next
    return found


def _has_begun(trace: TracebackType) -> bool:
    """Return whether a frame had run code of its own when an exception came through it.

    Before Python 3.12 pydevd is called at a function's entry, and may meet a recursion's limit
    there, in a call that would not have been without it.
    """
    from opcode import opname

    at = trace.tb_lasti
    return at >= 0 and opname[trace.tb_frame.f_code.co_code[at]] != "RESUME"


def came_by() -> str:
    """Return by which exception a step came to the inspected frame, as JSON.

    The first value says whether the function that was called here is being left by an exception,
    the second describes the one that this frame handles, or lets out of a `finally`.
    """
    here = _looked_at[-1]
    # From Python 3.11 on a handler begins with this instruction: the exception is still on the
    # interpreter's stack, and sys.exc_info() does not have it yet.
    if _handler_opcode(here) == "PUSH_EXC_INFO":
        error, is_here = _arriving_exception(here), True
    else:
        error = sys.exc_info()[1]
        # An exception that a caller handles comes through the caller's frame first.
        trace = error.__traceback__ if error is not None else None
        is_here = trace is not None and trace.tb_frame is here
    words = _error_text(error) if error is not None else "its type is known after the next step"
    return json.dumps([_is_passing(here), words if is_here else ""])


def _handler_opcode(frame: Any) -> str:
    from opcode import opname

    name: str = opname[frame.f_code.co_code[frame.f_lasti]]
    return name


def _arriving_exception(here: Any) -> BaseException | None:
    """Return the exception that a handler is about to take from the stack; None if it is not sure.

    Nothing else refers to it by then but the stack, which is not to be read from Python.
    """
    import gc

    found = [
        one
        # Costly, but only at a step that ends at a handler; two candidates are no answer.
        for one in gc.get_objects()
        if issubclass(type(one), BaseException)
        and one.__traceback__ is not None
        and one.__traceback__.tb_frame is here
    ]
    return found[0] if len(found) == 1 else None


def _is_passing(here: Any) -> bool:
    """Return whether the function that was called in a frame is being left by an exception.

    That function still has its frame then, which is not at an instruction that returns or yields.
    """
    frame = sys._getframe()  # noqa: SLF001 - there is no other way
    while frame is not None and frame.f_back is not here:
        frame = frame.f_back  # type: ignore[assignment]
    if frame is None or "debugpy" in frame.f_code.co_filename:
        return False
    return not _handler_opcode(frame).startswith(("RETURN", "YIELD", "SEND", "RESUME"))


def forget_returned() -> None:
    """Forget the return values of functions called by the inspected frame and its callers."""
    constants: Any = import_module("_pydevd_bundle.pydevd_constants")
    frame = _looked_at[-1]
    while frame is not None:
        # pydevd's dictionary is an ordinary local of the frame.
        frame.f_locals.get(constants.RETURN_VALUES_DICT, {}).clear()
        frame = frame.f_back


def enclosing_names() -> str:
    """Name the variables of enclosing functions that the frame uses."""
    return " ".join(_looked_at[-1].f_code.co_freevars)


# -- what can be set -----------------------------------------------------------------------------


def near(name: str) -> str:
    """Return the names that can be set here and are like one, as JSON: itself, if it can be set."""
    # Imported late, here and below: this module is executed in the program while it runs.
    from difflib import get_close_matches

    frame = _looked_at[-1]
    code = frame.f_code
    known = {*frame.f_locals, *frame.f_globals, *code.co_varnames}
    known |= {*code.co_cellvars, *code.co_freevars}
    return json.dumps([name] if name in known else get_close_matches(name, known, 20, 0.5))


# -- values while the program runs ---------------------------------------------------------------

_TEXT_MAX = 4000
_FRAMES_MAX = 200


class _Names(dict):  # type: ignore[type-arg]  # before Python 3.9 it has no subscript
    """Maps the names of the main module and, behind them, of the imported modules."""

    def __missing__(self, name: str) -> Any:
        import builtins

        if hasattr(builtins, name):
            raise KeyError(name)
        return sys.modules[name]


def read_live(expression: str) -> str:
    """Evaluate an expression in the main module's scope, beside the program's own threads."""
    return json.dumps(_json_answer(lambda: [_split_expression(expression)]))


def write_live(target: str, value: str) -> str:
    """Assign to a name that there is, an attribute or an item; answer with before and after."""

    def write() -> list[tuple[str, str]]:
        before, names = _split_expression(target), _main_names()
        exec(f"{target} = ({value})", names)  # noqa: S102 - the user's own
        return [before, _split_expression(target)]

    return json.dumps(_json_answer(write))


def _main_names() -> dict[str, Any]:
    return vars(sys.modules["__main__"])


def _split_expression(expression: str) -> tuple[str, str]:
    names = _main_names()
    value = eval(expression, names, _Names(names))  # noqa: S307 - the user's own
    # repr of a container fails if another thread changes its size meanwhile; the next try succeeds,
    # unless it is changed all the time.
    for count in (2, 1, 0):
        try:
            return repr(value)[:_TEXT_MAX], type(value).__name__
        except RuntimeError:  # it changed in between: the program runs
            if not count:
                raise
    return "", ""


def _json_answer(job: Any) -> dict[str, Any]:
    try:
        return {"values": job()}
    except BaseException as problem:  # noqa: BLE001 - it is answered
        name = getattr(problem, "name", None) if isinstance(problem, NameError) else None
        return {
            "problem": f"{type(problem).__name__}: {problem}"[:_MESSAGE_MAX],
            "local": name if _is_local(name) else None,
        }


def _is_local(name: str | None) -> bool:
    """Return whether a function that runs now has a local variable of this name."""
    for innermost in sys._current_frames().values():  # noqa: SLF001 - there is no other way
        frame: Any = innermost
        # Bounded: a deep recursion of any thread would take the interpreter's lock for seconds.
        for _ in range(_FRAMES_MAX):
            if frame is None:
                break
            if name in frame.f_code.co_varnames:
                return True
            frame = frame.f_back
    return False


# -- what is imported ----------------------------------------------------------------------------

_MODULES_MAX = 1000


def modules() -> str:
    """List the program's modules as JSON: name, file, version; the main one first, 1,000 at most.

    Python's own library, most of which debugpy imports, and parts of packages are omitted.
    """
    own = getattr(sys, "stdlib_module_names", ())  # since 3.10

    found = []
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        is_ours = not isinstance(file, str) or "/debugpy/" in file
        first, _, rest = name.partition(".")
        if is_ours or first in own or (rest and first in sys.modules):
            continue
        version = getattr(module, "__version__", None)
        found.append((name, file, version if isinstance(version, str) else None))
    found.sort(key=lambda one: (one[0] != "__main__", one[0]))
    return json.dumps(found[:_MODULES_MAX])


answer_every_expression()
keep_streams_and_warnings()
