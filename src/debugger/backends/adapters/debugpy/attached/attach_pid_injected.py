"""Begins debugpy in a process that it is injected into, without a word on the program's stderr.

debugpy imports it by this name in the place of its own, which it runs. Standard library and
debugpy's own modules only; facts are of debugpy 1.8.22.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module, util
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

_SERVER = "_debugger_server"
_CELLS = "_debugger_kernel_cells"
_MARKS = "_debugger_injections"


def attach(setup: dict[str, Any]) -> None:
    """Import debugpy, and let it connect; what was injected twice does so once."""
    progress: str = setup.pop("progress")
    if not _is_first(setup.pop("token")):
        return
    _report_progress(progress)
    try:
        _begin_debugpy(Path(setup.pop("folder")), setup)
    finally:
        _report_progress(progress)


def _begin_debugpy(folder: Path, setup: dict[str, Any]) -> None:
    # Child processes would write the warning too: they inherit it.
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    _find_main_thread(folder)
    sys.path.insert(0, str(folder.parent))
    try:
        import_module("debugpy.server")
    finally:
        sys.path.remove(str(folder.parent))
    if _SERVER not in sys.modules:
        # Once in a process: a second attach finds pydevd changed already.
        server = _load_module(_SERVER, Path(__file__).parent.with_name("server.py"))
        server.improve_pydevd()
    if "ipykernel" in sys.modules:
        cells = _load_module(_CELLS, Path(__file__).parent.with_name("kernel_cells.py"))
        cells.keep_kernel_cells()
    _load_module("_debugpy_injected", folder / "server" / "attach_pid_injected.py").attach(setup)


def _report_progress(progress: str) -> None:
    # After the connection a pause may find this thread anywhere: so no function of the library
    # that is Python code is called, in which it would stop. Without O_CREAT: the injector may be
    # gone, and its file with it.
    try:
        descriptor = os.open(progress, os.O_WRONLY | os.O_APPEND)
    except OSError:  # another user's process, or one with other folders
        return
    os.write(descriptor, b"1")
    os.close(descriptor)


def _is_first(token: str) -> bool:
    """Return whether this injection has not begun before: its code may be run by two means."""
    marks: Any = sys.modules.setdefault(_MARKS, type(sys)(_MARKS))
    is_first = getattr(marks, "token", None) != token
    marks.token = token
    return is_first


def _find_main_thread(folder: Path) -> None:
    """Let `threading` know the main thread, as debugpy does it, but without the warning."""
    # A program that has imported it has its main thread right; imported first here, it would take
    # the injected thread for that.
    if "threading" in sys.modules:
        return
    scripts = folder / "_vendored" / "pydevd" / "pydevd_attach_to_process"
    _load_module("attach_script", scripts / "attach_script.py").fix_main_thread_id(
        on_warn=_say_nothing, on_exception=_say_nothing, on_critical=_say_nothing
    )


def _say_nothing(_message: str) -> None:
    """Leave the program's stderr as it is."""


def _load_module(name: str, file: Path) -> Any:
    spec = util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(name)
    module: ModuleType = util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
