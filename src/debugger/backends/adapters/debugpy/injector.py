"""Injects debugpy into a running process, where it begins with our own code.

Run as `python injector.py FOLDER ARGS...` in the place of debugpy's package FOLDER, with the same
arguments. Standard library and debugpy's own modules only; facts are of debugpy 1.8.22.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import uuid
from contextlib import suppress
from importlib import import_module
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# debugpy looks for `attach_pid_injected` beside its own module of this name.
_ATTACHED = Path(__file__).with_name("attached") / "__init__.py"
_DIRECT_CALL = re.compile(r'call (\(int\)DoAttach\(\d+, ("[^"]*"), \d+\))')
# By this pydevd limits the libraries whose symbols gdb reads.
_SCAN = "PYDEVD_GDB_SCAN_SHARED_LIBRARIES"
_LARGE = 256 << 20  # bytes of libraries
_C_LIBRARY = re.compile(r"(?:libc|ld-musl-\w+|libc\.musl-\w+)[.-]")
_CALLED = re.compile(r"(?:libc|libdl|libpthread|libpython[\w.]*|ld-musl-\w+|libc\.musl-\w+)[.-]")
_BEGIN_S = 1.5  # seconds for the injected code to begin as a pending call
_END_S = 10.0  # and to connect, which ends it
_POLL_S = 0.01


class SetupWriter:
    """Writes the arguments of the injected code, with the folder of debugpy added."""

    def __init__(self, folder: str, progress: Path) -> None:
        self._additions = {"folder": folder, "progress": str(progress), "token": uuid.uuid4().hex}

    def dumps(self, setup: dict[str, Any]) -> str:
        """Return the setup as JSON."""
        return json.dumps({**setup, **self._additions})


class GdbRunner:
    """Runs gdb so that it injects code where the interpreter is at rest.

    gdb stops the main thread anywhere, and pydevd's `DoAttach` runs Python code there. Where that
    thread holds the GIL it may be in the middle of the interpreter's own work: a program that
    looked up a global in a loop died of a NameError, once in 30 injections (CPython 3.11). There
    the code becomes a pending call, made between two instructions. A thread that
    stays in compiled code, as in a regular expression without end, makes none: then the code is run
    directly after all. It runs once, whichever comes first (`token`).

    Like gdb with a direct call, it ends only after the injected code: debugpy's adapter takes an
    injection that has ended, and brought no server, for a failed one, and injects again.
    """

    def __init__(self, progress: Path) -> None:
        self._progress = progress  # the injected code writes a byte at its begin, and at its end
        self._check_call = subprocess.check_call

    def run_command(self, command: str, **options: Any) -> None:
        """Run a command line of pydevd's, with gdb's calls made safe.

        Raises:
            subprocess.CalledProcessError: gdb failed.
        """
        command = skip_debug_info(command)
        careful = _DIRECT_CALL.sub(
            r"call (int)PyGILState_Check() ? "
            r"(int)Py_AddPendingCall((void*)&PyRun_SimpleString, \2) : \1",
            command,
        )
        self._check_call(careful, **options)
        if careful == command:
            return
        if not self._wait_for_bytes(1, _BEGIN_S):
            self._check_call(command, **options)
        self._wait_for_bytes(2, _END_S)

    def _wait_for_bytes(self, count: int, within_s: float) -> bool:
        ends_at = time.monotonic() + within_s
        while self._progress.stat().st_size < count:
            if time.monotonic() > ends_at:
                return False
            time.sleep(_POLL_S)
        return True


def skip_debug_info(command: str) -> str:
    """Return a command line of pydevd's that reads no debug information: gdb needs symbols only.

    That of an interpreter is two thirds of gdb's time. `--readnever` is of gdb 8.1.
    """
    gdb, space, arguments = command.partition(" ")
    if gdb != "gdb":
        return command
    tried = subprocess.run([gdb, "--readnever", "--version"], capture_output=True, check=False)
    return f"{gdb}{space}--readnever {arguments}" if tried.returncode == 0 else command


def enclose_code(code: str) -> str:
    """Return code that runs other code in a namespace of its own, and never raises.

    debugpy's would set `setup`, `decode` and others in the program's `__main__`; and an exception
    in a pending call would be raised in the program. pydevd takes no quotes and no newlines.
    """
    compiled = f"compile({code!r}, 'attach_pid_injected.py', 'exec')"  # pydevd hides this file
    enclosed = f"try:\n    exec({compiled}, {{}})\nexcept BaseException:\n    pass\n"
    return f"exec(bytes([{','.join(map(str, enclosed.encode()))}]), {{}})"


def read_mapped_files(pid: int) -> dict[str, int]:
    """Return the sizes of the files that a process has mapped, by path: proc_pid_maps(5)."""
    try:
        lines = Path(f"/proc/{pid}/maps").read_text("utf-8", "replace").splitlines()
    except OSError:
        return {}
    paths = {line[line.index("/") :] for line in lines if "/" in line}
    sizes = {}
    for path in paths:
        with suppress(OSError):
            sizes[path] = Path(path).stat().st_size
    return sizes


def choose_scanned_libraries(sizes: dict[str, int]) -> list[str]:
    """Return the libraries in which gdb finds what it calls; none where it may look at all.

    gdb reads the symbols of all libraries: of torch's, 2 GB, it does so for more than half a
    minute, in which debugpy gives up. pydevd takes regular expressions of paths.
    """
    if sum(size for path, size in sizes.items() if ".so" in path) < _LARGE:
        return []
    found = sorted(path for path in sizes if _CALLED.match(path.rpartition("/")[2]))
    # Without the C library it would not find `dlopen`.
    has_c = any(_C_LIBRARY.match(path.rpartition("/")[2]) for path in found)
    return [re.escape(path).replace(",", ".") for path in found if "'" not in path] if has_c else []


def _change_injection(cli: Any, progress: Path) -> None:
    folder = Path(cli.pydevd.__file__).parent / "pydevd_attach_to_process"
    sys.path.append(str(folder))
    pydevd_injection: Any = import_module("add_code_to_python_process")
    run_code = pydevd_injection.run_python_code

    def run_enclosed(pid: int, python_code: str, **options: Any) -> Any:
        if libraries := choose_scanned_libraries(read_mapped_files(pid)):
            os.environ.setdefault(_SCAN, ",".join(libraries))
        return run_code(pid, enclose_code(python_code), **options)

    pydevd_injection.run_python_code = run_enclosed
    subprocess.check_call = GdbRunner(progress).run_command  # type: ignore[assignment]


def run_injector() -> None:
    """Run debugpy's command line."""
    folder = sys.argv.pop(1)
    # debugpy injects itself by gdb: its command line writes a snippet that imports
    # `attach_pid_injected` in the target, from the folder of the module `debugpy.server`. Two names
    # are replaced before that command line runs:
    #
    # - `debugpy.server.__file__`: the snippet adds our folder `attached` to the target's path, so
    #   that our module of that name is imported in the place of debugpy's own;
    # - `json` in debugpy's command line: the setup that the snippet passes gets the key `folder`,
    #   by which our module finds the real debugpy again.
    #
    # Nothing else of debugpy's injection changes: gdb, its script and the time it takes are
    # debugpy's.
    sys.argv[0] = folder
    sys.path[0] = str(Path(folder).parent)
    server: Any = import_module("debugpy.server")
    cli: Any = import_module("debugpy.server.cli")
    server.__file__ = str(_ATTACHED)
    with tempfile.TemporaryDirectory(prefix="dbg-inject-") as scratch:
        # The program may be another user's, who may do no more than write to this file.
        progress = Path(scratch) / "progress"
        progress.touch()
        progress.chmod(0o622)
        Path(scratch).chmod(0o711)
        cli.json = SetupWriter(folder, progress)
        _change_injection(cli, progress)
        cli.main()


if __name__ == "__main__":
    run_injector()
