"""Reports what names this process among the members of its engine. Runs in the debuggee.

Only modules that the program has imported are asked. Facts are of Dask distributed 2026.8,
gunicorn 27, billiard 4.3 and Ray 2.60.
"""

from __future__ import annotations

import json
import os
import sys
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FRAMES = 60  # of the main thread, above the one in which a worker of gunicorn runs
_MAIN = "MainProcess"
_RAY_WORKER = "default_worker"
_GENERAL = ("main", "agent")  # names that several of its programs have


def read_facts(variables: tuple[str, ...]) -> str:
    """Return, as JSON, the variables that are set, the process's name in its engine, and threads.

    The threads are those of debugpy, by the kernel's numbers.
    """
    known = {name: os.environ[name] for name in variables if os.environ.get(name)}
    for read in (_dask_name, _gunicorn_name, _ray_name):
        try:
            name = read()
        except Exception:  # noqa: BLE001, S112 - an engine of another version: it names nothing
            continue
        if name is not None:
            return json.dumps([known, name, _debugger_threads()])
    return json.dumps([known, _multiprocessing_name(), _debugger_threads()])


def _debugger_threads() -> list[int]:
    """Return the threads of debugpy 1.8, which hides them from `threading.enumerate`."""
    active = list(getattr(threading, "_active", {}).values())
    own = [one for one in active if getattr(one, "is_pydev_daemon_thread", False)]
    return [one.native_id for one in own if one.native_id]


def _multiprocessing_name() -> str:
    """Return the name that multiprocessing, or Celery's billiard, gave the process."""
    found = ""
    for module in ("billiard.process", "multiprocessing.process"):
        current = getattr(sys.modules.get(module), "current_process", None)
        name = str(getattr(current(), "name", "")) if current is not None else ""
        if name not in {"", _MAIN}:
            return name
        found = found or name
    return found


def _dask_name() -> str | None:
    """Return the name of a worker of Dask distributed; "" while it is still starting."""
    worker = getattr(sys.modules.get("distributed.worker"), "Worker", None)
    names = [str(one.name) for one in list(getattr(worker, "_instances", ()))]
    if len(names) == 1:
        return names[0]
    # Until then multiprocessing calls all of them the same.
    return "" if _multiprocessing_name().startswith("Dask Worker") else None


def _gunicorn_name() -> str | None:
    """Return the number of a worker of gunicorn, which its messages do not have: w1, w2."""
    if "gunicorn.workers.base" not in sys.modules:
        return None
    frame: Any = sys._current_frames().get(threading.main_thread().ident or 0)  # noqa: SLF001
    for _ in range(_FRAMES):
        if frame is None:
            return None
        file = frame.f_code.co_filename.replace(os.sep, "/")
        age = getattr(frame.f_locals.get("self"), "age", None)
        if file.endswith("gunicorn/workers/base.py") and isinstance(age, int):
            return f"w{age}"
        frame = frame.f_back
    return None


def _ray_name() -> str | None:
    """Return the name of a program of Ray's own; its workers are known by their pids."""
    package = getattr(sys.modules.get("ray"), "__file__", None)
    if package is None:
        return None
    # A process that has connected to its debugger by itself has another main module.
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    programs = [str(one) for one in (main, *sys.argv[:1]) if one]
    own = [one for one in programs if one.startswith(os.path.dirname(package) + os.sep)]
    if not own:
        return None
    program = own[0]
    folder, file = os.path.split(program)
    name = os.path.splitext(file)[0]
    if name in _GENERAL:
        name = f"{os.path.basename(folder)}_{name}"
    return "" if name == _RAY_WORKER else name
