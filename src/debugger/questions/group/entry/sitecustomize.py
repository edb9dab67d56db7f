"""Makes a Python process a member of its group where a compiled program has started it.

debugpy follows what a Python program starts. Between the driver of Ray and its workers is a
compiled program, between others a shell: there Python imports this module at its start, because its
folder is first in PYTHONPATH. The process becomes `debugger member`, which becomes its program
again, with a debugger. The syntax must be accepted by every Python that may be started.
"""

import os
import sys

_FOLDER = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib is slow
_GROUP, _PYTHON = "DEBUGGER_MEMBER_GROUP", "DEBUGGER_MEMBER_PYTHON"
# The process that has been here: it starts Python twice more on its way to its program.
_BEEN = "DEBUGGER_MEMBER_BEEN"
# Of the command line of a process that debugpy follows, or that connects to it by itself.
_DEBUGGED = ("pydevd", "debugpy/")
# By it debugpy 1.8.22 tells that a process is debugged; what it starts has inherited it.
_RUNNING = "DEBUGPY_RUNNING"
_LOOKED_AT = 12  # words of a command line
# Of an engine's own services, which run none of the program's code: Ray 2.60 starts six of
# them, and each would take longer to start than all of Ray.
_SERVICES = (
    "/ray/dashboard/",
    "/ray/autoscaler/_private/",
    "/ray/_private/log_monitor.py",
    "/ray/_private/runtime_env/",
)


def _join_group():  # noqa: ANN202 - older ones cannot read it
    # type: () -> None
    python, group = os.environ.get(_PYTHON), os.environ.get(_GROUP)
    been, own = os.environ.get(_BEEN), str(os.getpid())
    if not python or not group or been == own or sys.version_info < (3, 10):
        return
    words = sys.orig_argv
    if len(words) == 1 or "-c" in words[:_LOOKED_AT]:
        return  # a prompt, or a helper without a file
    if any(name in word for word in words[:_LOOKED_AT] for name in _DEBUGGED):
        return
    if any(name in word for word in words[1:_LOOKED_AT] for name in _SERVICES):
        return
    os.environ[_BEEN] = own
    os.environ.pop(_RUNNING, None)
    command = [python, "-I", "-m", "debugger", "member", "--or-alone", "--group", group, "--"]
    try:
        # As the kernel finds it: argv[0] may be a name of the program's own choice.
        os.execv(python, command + [sys.executable] + words[1:])  # noqa: S606, RUF005 - no shell
    except OSError:
        return  # the debugger is gone: the program runs without it


def _give_way():  # noqa: ANN202
    # type: () -> None
    """Import the `sitecustomize` that Python would have imported without ours."""
    sys.path[:] = [path for path in sys.path if path != _FOLDER]
    sys.path_importer_cache.pop(_FOLDER, None)
    ours = sys.modules.pop("sitecustomize", None)
    try:
        __import__("sitecustomize")
    except ImportError as error:
        if getattr(error, "name", None) != "sitecustomize":
            raise
    finally:
        if ours is not None:
            sys.modules.setdefault("sitecustomize", ours)


_join_group()
_give_way()
