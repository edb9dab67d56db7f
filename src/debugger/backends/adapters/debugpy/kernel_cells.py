"""Keeps the cells of a Jupyter kernel as files while a debugger is attached to the kernel.

Runs inside the kernel's process, which may have any Python that debugpy runs in. Standard library,
debugpy's and the kernel's own modules only; facts are of ipykernel 7.4, IPython 9.18 and debugpy
1.8.22.
"""

from __future__ import annotations

import linecache
import os
import sys
import threading
from functools import partial
from importlib import import_module
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType
    from typing import Any

_KERNEL = "ipykernel"
_NO_STEP = -1  # pydevd's step command of a thread without one
_CELLS_MAX = 500  # of a kernel that ran before the attach: the last ones
# IPython's own frames stand between the kernel and a cell.
_RUNS_CELLS = ("/IPython/core/", "/ipykernel/")


class CellFiles:
    """Writes each cell to a file `cellN.py`, and knows which code name it stands for.

    ipykernel compiles a cell under the name `TMP/ipykernel_PID/HASH.py`, where no file is. N is the
    number of its execution, as in `In [N]`. A text that is run again has the same code name: it
    keeps its first file, and its later numbers are links to that.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._has_made_folder = not folder.exists()
        self._files: dict[str, str] = {}  # by code name
        self._names: dict[str, str] = {}  # by file
        self._written: set[Path] = set()

    def add_cell(self, name: str, number: int, lines: list[str]) -> None:
        """Write a cell's file; a cell that has one gets a link to it."""
        if not name.startswith(f"{self._folder}{os.sep}"):
            return  # IPYKERNEL_CELL_NAME gives all cells one name
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._folder / f"cell{number}.py"
        known = self._files.get(name)
        if known == str(path):
            return
        self._remove_file(path)
        if known is not None:
            self._written.add(path)
            path.symlink_to(known)
            return
        # pydevd takes no breakpoint in a code name without a file.
        for file in (path, Path(name)):
            if not file.exists():
                self._written.add(file)
                file.write_text("".join(lines), encoding="utf-8")
        self._files[name] = str(path)
        self._names[str(path)] = name

    def _remove_file(self, path: Path) -> None:
        """Remove a file of a number that is taken again, as by a cell that keeps no history."""
        path.unlink(missing_ok=True)
        name = self._names.pop(str(path), None)
        if name is not None:
            del self._files[name]

    def file_of(self, name: str) -> str | None:
        """Return the file of a code name."""
        return self._files.get(name)

    def name_of(self, file: str) -> str | None:
        """Return the code name that a file stands for."""
        return self._names.get(file)

    def remove_all(self) -> None:
        """Remove the files, and the folder if it was made for them."""
        for path in self._written:
            path.unlink(missing_ok=True)
        if self._has_made_folder:
            try:
                self._folder.rmdir()
            except OSError:  # the kernel's own debugger has put something there meanwhile
                return


class KernelCells:
    """Changes a kernel's shell and pydevd for the time of a debug session."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        compiler: Any = import_module("ipykernel.compiler")
        self._files = CellFiles(Path(compiler.get_tmp_directory()))
        self._undo: list[Callable[[], None]] = []

    def keep_cells(self) -> None:
        """Write the cells of before and those to come, and stop at their exceptions."""
        cache = self._shell.compile
        numbers = sorted(getattr(cache, "_filename_map", {}).items(), key=lambda one: one[1])
        for name, number in numbers[-_CELLS_MAX:]:
            self._add_cell(name, number)
        self._replace(cache, "cache", self._keep_compiled)
        self._replace(self._shell, "showtraceback", self._stop_at_shown)
        # Each statement of a cell is run by itself. A step over its end goes on to the next one,
        # and ends with the cell: the kernel's own code follows.
        own: Any = import_module("_pydevd_bundle.pydevd_comm_constants")
        for name, command in (
            ("run_code", own.CMD_STEP_INTO_MY_CODE),
            ("run_ast_nodes", _NO_STEP),
        ):
            self._replace(self._shell, name, partial(change_step_after, command=command))
        stacks: Any = import_module("_pydevd_bundle.pydevd_net_command_factory_xml")
        self._replace(stacks.NetCommandFactory, "_iter_visible_frames_info", self._end_at_cells)
        files: Any = import_module("pydevd_file_utils")
        # pydevd sets both functions anew when a client attaches.
        self._replace(files, "setup_client_server_paths", self._map_after_setup)
        self._map_paths(files)

    def drop_cells(self) -> None:
        """Undo all changes."""
        for undo in reversed(self._undo):
            undo()
        self._undo.clear()
        self._files.remove_all()

    def _replace(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        original = getattr(owner, name)
        is_own = name in vars(owner)
        setattr(owner, name, make(original))

        def undo() -> None:
            if is_own:
                setattr(owner, name, original)
            else:
                delattr(owner, name)

        self._undo.append(undo)

    def _add_cell(self, name: str, number: int) -> None:
        entry = linecache.cache.get(name)
        if entry is not None and len(entry) > 1:
            self._files.add_cell(name, number, list(entry[2] or ()))

    def _keep_compiled(self, original: Callable[..., str]) -> Callable[..., str]:
        def cache_and_keep(code: str, number: int = 0, *words: Any, **options: Any) -> str:
            name = original(code, number, *words, **options)
            try:
                self._add_cell(name, number)
            except OSError:  # a full disk is no fault of the cell's
                return name
            return name

        return cache_and_keep

    def _stop_at_shown(self, original: Callable[..., None]) -> Callable[..., None]:
        def stop_and_show(*words: Any, **options: Any) -> None:
            # IPython handles every exception of a cell; to its user the cell has failed here.
            if options.get("running_compiled_code"):
                stop_at_exception(*sys.exc_info())
            original(*words, **options)

        return stop_and_show

    def _end_at_cells(self, original: Callable[..., Iterator[Any]]) -> Callable[..., Any]:
        """Leave out the frames of what runs a cell: some twenty, below each stack."""

        def list_frames(*words: Any, **options: Any) -> Iterator[Any]:
            part, is_in_cell, is_below = "", False, False
            for one in original(*words, **options):
                function, file = one[2], one[3]
                # The frames of each exception's cause follow, marked with their exception.
                of = function.rpartition("] ")[0]
                if of != part:
                    part, is_in_cell, is_below = of, False, False
                is_in_cell = is_in_cell or self._files.file_of(file) is not None
                is_below = is_below or (is_in_cell and is_kernels(file))
                if not is_below:
                    yield one

        return list_frames

    def _map_after_setup(self, original: Callable[[Any], None]) -> Callable[[Any], None]:
        files: Any = import_module("pydevd_file_utils")

        def setup_and_map(paths: Any) -> None:
            original(paths)
            self._map_paths(files)

        self._undo.append(lambda: original([]))
        return setup_and_map

    def _map_paths(self, files: Any) -> None:
        to_client, to_server = files.map_file_to_client, files.map_file_to_server

        def map_to_client(name: str, *words: Any) -> Any:
            file = self._files.file_of(name)
            return (file, True) if file is not None else to_client(name, *words)

        def map_to_server(file: str, *words: Any) -> Any:
            name = self._files.name_of(file)
            return name if name is not None else to_server(file, *words)

        files.map_file_to_client, files.map_file_to_server = map_to_client, map_to_server


def change_step_after(original: Callable[..., Any], command: int) -> Callable[..., Any]:
    """Change the step that a coroutine leaves behind."""

    async def run_and_change(*words: Any, **options: Any) -> Any:
        try:
            return await original(*words, **options)
        finally:
            change_step(command)

    return run_and_change


def change_step(command: int) -> None:
    """Give the step of this thread, if there is one, another command of pydevd's."""
    info = getattr(threading.current_thread(), "additional_info", None)
    if info is not None and info.pydev_step_cmd != _NO_STEP:
        info.pydev_step_cmd = command
        info.pydev_step_stop = None


def stop_at_exception(
    kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
) -> None:
    """Stop where a cell raised, as at an exception that nobody handled.

    Only if the client asked for those: pydevd checks that.
    """
    pydevd: Any = import_module("pydevd")
    py_db = pydevd.get_global_debugger()
    while trace is not None and is_kernels(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    if py_db is None or error is None or trace is None:
        return
    stop = getattr(py_db, "trigger_exception_handler", None)
    if stop is not None:
        stop((kind, error, trace))
    else:  # a kernel's own debugpy may be older: 1.8.9 is one
        _stop_untraced(py_db, (kind, error, trace))
        change_step(_NO_STEP)  # the cell has ended


def _stop_untraced(py_db: Any, raised: tuple[Any, BaseException, TracebackType]) -> None:
    """Stop at an exception in a thread that pydevd does not trace meanwhile."""
    thread = threading.current_thread()
    info = py_db.set_additional_thread_info(thread)
    info.is_tracing += 1
    try:
        py_db.stop_on_unhandled_exception(py_db, thread, info, raised)
    finally:
        info.is_tracing -= 1


def is_kernels(file: str) -> bool:
    """Return whether a file is the kernel's own: it runs cells, and is no part of them."""
    path = file.replace(os.sep, "/")
    return any(one in path for one in _RUNS_CELLS)


def keep_kernel_cells() -> None:
    """Keep the cells of this process until its debugger leaves; nothing without a kernel."""
    if _KERNEL not in sys.modules:
        return
    ipython: Any = import_module("IPython")
    shell = ipython.get_ipython()
    if shell is None:
        return
    cells = KernelCells(shell)
    cells.keep_cells()
    drop_at_disconnect(cells.drop_cells)


def drop_at_disconnect(drop: Callable[[], None]) -> None:
    """Call a function once, when the client has left or is lost."""
    pydevd: Any = import_module("pydevd")
    end = pydevd.PyDB.dispose_and_kill_all_pydevd_threads
    disconnect = pydevd.PyDB.on_disconnect

    def drop_once() -> None:
        if pydevd.PyDB.on_disconnect is disconnected:
            pydevd.PyDB.on_disconnect = disconnect
            pydevd.PyDB.dispose_and_kill_all_pydevd_threads = end
            drop()

    def disconnected(py_db: Any) -> None:
        disconnect(py_db)
        drop_once()

    def ended(py_db: Any, *words: Any, **options: Any) -> None:
        drop_once()
        end(py_db, *words, **options)

    pydevd.PyDB.on_disconnect = disconnected
    pydevd.PyDB.dispose_and_kill_all_pydevd_threads = ended
