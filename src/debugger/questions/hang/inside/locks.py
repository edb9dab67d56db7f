"""Reports the locks that a thread of this Python waits for and holds. Runs in the debuggee.

No code of the program is called: names are looked up in frames, dictionaries and slots directly.
"""

from __future__ import annotations

import ast
import re
import sys
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

_WORDS = 60  # characters of a child's command line
_OWN = re.compile(r"/(?:threading|queue)\.py$|/(?:asyncio|concurrent/futures|multiprocessing)/")
_OWNER = re.compile(r"owner=(\d+)")
_REENTRANT = ("RLock", "_RLock")
SEMAPHORES = ("Semaphore", "BoundedSemaphore")
_LOCKS = ("lock", "Lock", "Condition", *SEMAPHORES, *_REENTRANT)
_INDEXED = frozenset(map(id, (list, tuple, dict)))
_KEYS = frozenset(map(id, (int, str)))
_INNER = 4  # frames of the standard library in which a thread may wait
# A statement that acquires or releases a lock has one of these.
_LOCK_WORDS = ("with", "acquire", "release")
_statements: dict[tuple[str, int, str], dict[int, list[Any]]] = {}


def wait_of(stack: list[FrameType]) -> dict[str, Any] | None:  # noqa: PLR0911 - one for each kind
    """Return a thread's wait, by its Python functions."""
    for frame in stack[:_INNER]:
        file, name = frame.f_code.co_filename, frame.f_code.co_name
        if file.endswith("/threading.py") and name == "join":
            return _thread_join_wait(frame)
        if file.endswith("/threading.py") and name == "_shutdown":
            owners = [f"t{one.ident}" for one in _other_threads() if not one.daemon]
            return {**_wait_record("join", ""), "owners": owners}
        if file.endswith("/queue.py") and name == "join":
            return _queue_join_wait(frame, stack)
        if file.endswith("/concurrent/futures/_base.py") and name in {"result", "exception"}:
            return _future_wait(frame, stack)
        if file.endswith("/queue.py"):
            kind = "receive" if name == "get" else "send"
            return _wait_record(kind, named(frame.f_locals.get("self"), stack) or "a queue")
        if file.endswith("/subprocess.py"):
            return _child_process_wait(frame)
    inner = stack[0]
    if inner.f_code.co_filename.endswith("/threading.py") and inner.f_code.co_name == "wait":
        return _condition_wait(stack)
    # A lock's acquire is a C function and has no frame: the source line tells which lock.
    lock, text = _requested_lock(inner)
    if lock is None:
        return None
    return {**_wait_record("lock", text), "owners": _lock_owner(lock), "lock": id(lock)}


def _wait_record(kind: str, text: str) -> dict[str, Any]:
    return {"kind": kind, "text": text, "owners": []}


def _condition_wait(stack: list[FrameType]) -> dict[str, Any]:
    # An event waits for a condition of its own.
    is_inside = len(stack) > 1 and stack[1].f_code.co_filename.endswith("/threading.py")
    holder = (stack[1] if is_inside else stack[0]).f_locals.get("self")
    kind = type(holder).__name__
    text = named(holder, stack) or f"a threading.{kind.lower()}"
    if kind in SEMAPHORES:
        return {**_wait_record("semaphore", text), "lock": id(holder)}
    return _wait_record("condition", text)


def _queue_join_wait(frame: FrameType, stack: list[FrameType]) -> dict[str, Any]:
    """Return the wait of a queue's `join`: for each task to be reported as done."""
    queue = frame.f_locals.get("self")
    unfinished = getattr(queue, "unfinished_tasks", None)
    count = (
        f"{unfinished} unfinished task{'s' if unfinished != 1 else ''}"
        if isinstance(unfinished, int)
        else ""
    )
    alone = "" if _other_threads() else ", and no other thread of the program lives"
    name = named(queue, stack) or "a queue"
    return _wait_record("tasks", f"{name} ({count or 'unfinished'}{alone})")


def _other_threads() -> list[threading.Thread]:
    """Return the program's threads besides the main one."""
    # The debugger's thread runs this code.
    here = threading.get_ident()
    return [
        one
        for one in threading.enumerate()
        if one.ident != here
        and one is not threading.main_thread()
        and not getattr(one, "is_pydev_daemon_thread", False)
    ]


def _future_wait(frame: FrameType, stack: list[FrameType]) -> dict[str, Any]:
    """Return the awaited future, and whether a pool's worker waits for its own pool."""
    future = frame.f_locals.get("self")
    name = f"`{known}`" if (known := named(future, stack)) else "a future"
    state = {"PENDING": "which has not begun", "RUNNING": "which runs"}
    now = getattr(future, "_state", "")
    text = f"{name}, {state.get(now, 'which is not done')}"
    own = next(filter(None, map(_pool_of, stack)), None) if now == "PENDING" else None
    if own is not None:
        size = own._max_workers  # noqa: SLF001 - nothing public tells it
        text += f", and this is {'the only worker' if size == 1 else 'a worker'} of its pool"
        return {**_wait_record("future", text), "owners": [f"t{one.ident}" for one in own._threads]}  # noqa: SLF001
    return {**_wait_record("future", text), "owners": _runner_of(future)}


def _is_worker(frame: FrameType) -> bool:
    file, name = frame.f_code.co_filename, frame.f_code.co_name
    return name == "_worker" and file.endswith("/concurrent/futures/thread.py")


def _pool_of(frame: FrameType) -> Any:
    """Return the ThreadPoolExecutor of a worker's frame; else None."""
    reference = frame.f_locals.get("executor_reference") if _is_worker(frame) else None
    return reference() if callable(reference) else None


def _runner_of(future: Any) -> list[str]:
    """Return the key of the pool thread that runs a future."""
    # A future does not know its worker, but the worker's frame has the work item.
    for ident, inner in sys._current_frames().items():  # noqa: SLF001 - there is no other way
        frame: FrameType | None = inner
        while frame is not None:
            if _is_worker(frame):
                item = frame.f_locals.get("work_item")
                if getattr(item, "future", None) is future:
                    return [f"t{ident}"]
            frame = frame.f_back
    return []


def _thread_join_wait(frame: FrameType) -> dict[str, Any]:
    thread = frame.f_locals.get("self")
    owner = f"t{getattr(thread, 'ident', None)}"
    return {**_wait_record("join", getattr(thread, "name", "")), "owners": [owner]}


def _child_process_wait(frame: FrameType | None) -> dict[str, Any]:
    process = None
    while process is None and frame is not None:
        process = frame.f_locals.get("self")
        frame = frame.f_back
    words = getattr(process, "args", "")
    shown = words if isinstance(words, str) else " ".join(map(str, words))
    return _wait_record("child", f"its child {getattr(process, 'pid', '')} ({shown[:_WORDS]})")


def named(requested: Any, stack: list[FrameType]) -> str:
    """Return a frame's name for an object: `self.ready`, `jobs`."""
    if requested is None:
        return ""
    for frame in stack:
        # The standard library's own names say nothing to the user.
        if _OWN.search(frame.f_code.co_filename):
            continue
        own = list(frame.f_locals.items())
        found = [name for name, value in own if value is requested]
        found += [
            f"{name}.{field}"
            for name, value in own
            for field, inner in list(_instance_fields(value).items())
            if inner is requested
        ]
        found += [name for name, value in list(frame.f_globals.items()) if value is requested]
        if found:
            return found[0]
    return ""


def _instance_fields(value: Any) -> dict[str, Any]:
    try:
        # Past a `__getattribute__` of the program's own.
        found = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return found if type(found) is dict else {}


def _lock_owner(lock: Any) -> list[str]:
    # Only an RLock knows its owner, and shows it in its repr().
    owner = _OWNER.search(repr(lock)) if type(lock).__name__ in _REENTRANT else None
    return [f"t{owner[1]}"] if owner and owner[1] != "0" else []


def _requested_lock(frame: FrameType) -> tuple[Any, str]:
    """Return the lock that a frame's line acquires, and its name in the source."""
    found = ((lock, text) for lock, text in requested_objects(frame) if _is_taken(lock))
    return next(found, (None, ""))


def requested_objects(frame: FrameType) -> list[tuple[Any, str]]:
    """Return the objects that a frame's line acquires, and their names in the source."""
    nodes = _lock_statements(frame.f_code).get(frame.f_lineno or 0, ())
    return [found for node in nodes for found in _in_statement(node, frame)]


def _in_statement(node: Any, frame: FrameType) -> list[tuple[Any, str]]:
    """Return the locks that a statement acquires, and their names in the source."""
    if isinstance(node, (ast.With, ast.AsyncWith)):
        nodes = [one.context_expr for one in node.items]
    else:
        nodes = [
            one.func.value
            for one in ast.walk(node)
            if isinstance(one, ast.Call)
            and isinstance(one.func, ast.Attribute)
            and one.func.attr == "acquire"
        ]
    return [(_resolve_expression(one, frame), ast.unparse(one)) for one in nodes]


def _is_taken(value: Any) -> bool:
    kind = type(value)
    is_own = kind.__module__ in {"_thread", "threading", "asyncio.locks"}
    # An object of the program's own class is not asked, even if it has such a name.
    if not is_own or kind.__name__ not in _LOCKS:
        return False
    if kind.__name__ in {"lock", "Lock"}:
        return bool(value.locked())
    return kind.__name__ not in _REENTRANT or "unlocked" not in repr(value)


def held_locks(frame: FrameType) -> list[Any]:
    """Return the locks of this process that a frame holds."""
    return [one for one in held_objects(frame) if _is_taken(one)]


def held_objects(frame: FrameType) -> list[Any]:
    """Return what a frame has acquired, by the position of its line in the source."""
    line, first = frame.f_lineno or 0, frame.f_code.co_firstlineno
    found: list[Any] = []
    for number, nodes in list(_lock_statements(frame.f_code).items()):
        for node in nodes if first <= number <= line else ():
            if isinstance(node, (ast.With, ast.AsyncWith)):
                # Inside the `with` the lock is held; in its own line it is only requested.
                begins, ends = node.body[0].lineno, node.body[-1].end_lineno or line
                takes = begins <= line <= ends
            else:
                takes = number < line and not _is_freed(node, frame, line)
            if takes:
                is_with = isinstance(node, (ast.With, ast.AsyncWith))
                found += [
                    lock
                    for lock, text in _in_statement(node, frame)
                    if is_with or _is_given_back(lock, text, frame)
                ]
    return found


def _is_given_back(lock: Any, text: str, frame: FrameType) -> bool:
    """Return whether who acquires a lock also releases it: a semaphore may count what others do."""
    if type(lock).__name__ not in SEMAPHORES:
        return True
    every = [one for nodes in _lock_statements(frame.f_code).values() for one in nodes]
    return any(f"{text}.release(" in ast.unparse(one) for one in every)


def _is_freed(node: Any, frame: FrameType, line: int) -> bool:
    """Return whether a line between an `acquire` and this one releases the lock."""
    texts = [f"{text}.release()" for _, text in _in_statement(node, frame)]
    return any(
        text in ast.unparse(one)
        for number, nodes in _lock_statements(frame.f_code).items()
        if node.lineno < number < line
        for one in nodes
        for text in texts
    )


def _lock_statements(code: CodeType) -> dict[int, list[Any]]:
    """Return the statements of a function that may acquire or release a lock, by line."""
    key = (code.co_filename, code.co_firstlineno, code.co_name)
    if key not in _statements:
        found = _statements[key] = {}
        for node in ast.walk(_parse_function(code)):
            if isinstance(node, (ast.With, ast.AsyncWith, ast.Expr, ast.Assign, ast.Return)):
                found.setdefault(node.lineno, []).append(node)
            elif isinstance(node, (ast.If, ast.While)):
                found.setdefault(node.lineno, []).append(node.test)
    return _statements[key]


def _parse_function(code: CodeType) -> ast.Module:
    """Parse the source of a function, if it has a word of locks.

    The program waits meanwhile: the files of a large package take a second.
    """
    nothing = ast.Module([], [])
    try:
        with open(code.co_filename, encoding="utf-8") as source:  # noqa: PTH123 - the program's own pathlib
            lines = source.readlines()
    except (OSError, ValueError):
        return nothing  # without a source no lock is known
    first, end = _find_block(code, lines)
    block = "".join(lines[first:end])
    if not any(one in block for one in _LOCK_WORDS):
        return nothing
    indented = block[:1] in {" ", "\t"}
    try:
        tree = ast.parse(f"if 1:\n{block}" if indented else block)
        # One line less in front of a function, one more for the `if`.
        return ast.increment_lineno(tree, first - indented)
    except (SyntaxError, ValueError, RecursionError):
        pass
    try:  # An expression that has a frame of its own is no statement.
        return ast.parse("".join(lines))
    except (SyntaxError, ValueError, RecursionError):
        return nothing  # the source has changed


def _find_block(code: CodeType, lines: list[str]) -> tuple[int, int]:
    """Return the range of a function's lines, from 0: up to one that is not further indented."""
    if code.co_name == "<module>":
        return 0, len(lines)
    first = code.co_firstlineno - 1
    numbers = code.co_lines() if hasattr(code, "co_lines") else ()  # since Python 3.10
    end = max((line for _, _, line in numbers if line), default=first + 1)
    margin = _indentation(lines[first]) if first < len(lines) else 0
    while end < len(lines):
        line = lines[end]
        if line.strip() and _indentation(line) <= margin and line.lstrip()[0] not in "#)]}":
            break
        end += 1
    return first, end


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _resolve_expression(node: Any, frame: FrameType) -> Any:  # noqa: PLR0911 - one for each kind of node
    """Return the object of an expression, without running code of the program."""
    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id, frame.f_globals.get(node.id))
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Attribute):
        owner = _resolve_expression(node.value, frame)
        # A module's `__getattr__` (PEP 562) is code of the program.
        if type(owner) is type(sys):
            return vars(owner).get(node.attr)
        return _instance_fields(owner).get(node.attr, _of_class(owner, node.attr))
    if isinstance(node, ast.Subscript):
        owner, key = _resolve_expression(node.value, frame), _resolve_expression(node.slice, frame)
        # Exact types: `__getitem__` of a subclass, or `__hash__` of a key, is code of the program.
        if id(type(owner)) in _INDEXED and id(type(key)) in _KEYS:
            try:
                return owner[key]
            except (KeyError, IndexError, TypeError):
                return None
    return None


def _of_class(owner: Any, name: str) -> Any:
    for kind in type(owner).__mro__:
        found: Any = kind.__dict__.get(name)
        if type(found).__name__ == "member_descriptor":
            try:
                return found.__get__(owner)
            except AttributeError:
                return None
        if found is not None:
            return found
    return None
