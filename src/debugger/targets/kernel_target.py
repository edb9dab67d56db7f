"""Finds the process of a Jupyter kernel by its connection file, and the files of its cells."""

from __future__ import annotations

import itertools
import json
import os
import os.path
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.system import descriptor_peers
from debugger.system import process_info as processes
from debugger.system.process_info import ProcessInfo
from debugger.targets.attach_request import AttachRequest, PreparedAttach
from debugger.targets.process_target import (
    cell_folder,
    list_candidates,
    shorten_command,
    to_process,
)

_WAY = "in a notebook, %connect_info shows the file; then: debugger attach --kernel FILE"
_FILE_MAX = 1 << 16  # bytes; a connection file has some 300
_IS_FILE = re.compile(r"--(?:f|\w+\.connection_file)=")
_CELL = re.compile(r"cell(\d+)\.py")


def to_kernel(request: AttachRequest, name: str) -> PreparedAttach:
    """Prepare an attach to a kernel.

    Raises:
        DebuggerError: NOT_FOUND for a missing file or a dead kernel, USAGE for a file of another
        kind, NOT_SUPPORTED for a kernel of another language or machine; what `to_process` raises.
    """
    path = _find_file(name, request)
    fields = _read_fields(path)
    process = _find_process(path, fields, request)
    language = processes.process_language(process)
    if language != "python":
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"the kernel in process {process.pid} ({shorten_command(process)}) runs no Python",
            hint=f"debugger attach {process.pid} debugs the kernel's own program",
        )
    prepared = to_process(request, process)
    return msgspec.structs.replace(
        prepared,
        target=msgspec.structs.replace(prepared.target, cells=cell_folder(process.pid)),
        notes=(*prepared.notes, f"the kernel is process {process.pid}"),
    )


def runtime_folder(env: Mapping[str, str]) -> Path:
    """Return where Jupyter keeps its connection files (jupyter_core.paths, of 5.9)."""
    if env.get("JUPYTER_RUNTIME_DIR"):
        return Path(env["JUPYTER_RUNTIME_DIR"])
    home = Path(env.get("HOME", "/"))
    data = env.get("JUPYTER_DATA_DIR")
    if data:
        return Path(data) / "runtime"
    if sys.platform == "darwin":
        return home / "Library/Jupyter/runtime"
    return Path(env.get("XDG_DATA_HOME") or home / ".local/share") / "jupyter/runtime"


def _find_file(name: str, request: AttachRequest) -> str:
    """Return the path of a connection file: as it is, or by its name alone."""
    path = os.path.normpath(os.path.join(request.cwd, os.path.expanduser(name)))
    folder = runtime_folder(request.env)
    for one in (path, str(folder / name), str(folder / f"kernel-{name}.json")):
        if os.path.isfile(one):
            return one
    what = "is a directory" if os.path.isdir(path) else "does not exist"
    raise DebuggerError(
        ErrorCode.NOT_FOUND,
        f"the connection file {path} {what}",
        hint=_other_kernel(folder, path),
    )


def _other_kernel(folder: Path, path: str) -> str:
    """Name the connection file that was written last: its kernel may be the one that is meant."""
    try:
        found = sorted(folder.glob("kernel-*.json"), key=lambda one: one.stat().st_mtime)
    except OSError:  # one has gone meanwhile
        found = []
    others = [str(one) for one in found if str(one) != path]
    if others:
        return f"debugger attach --kernel {others[-1]}"
    return _WAY


def _read_fields(path: str) -> Mapping[str, Any]:
    """Return the fields of a connection file (jupyter_client 8: Connection files)."""
    try:
        with open(path, "rb") as file:
            fields = json.loads(file.read(_FILE_MAX))
    except OSError as error:
        raise DebuggerError(
            ErrorCode.NOT_FOUND, f"cannot read {path}: {error.strerror}", hint=f"chmod u+r {path}"
        ) from error
    except ValueError:
        fields = None
    if not isinstance(fields, dict) or not isinstance(fields.get("shell_port"), int):
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{path} is no connection file of a kernel: it has no shell_port",
            hint=_WAY,
        )
    return fields


def _find_process(path: str, fields: Mapping[str, Any], request: AttachRequest) -> ProcessInfo:
    """Return the process that listens at the kernel's port, or that was given its file."""
    host, port = str(fields.get("ip") or "127.0.0.1"), fields["shell_port"]
    found: Sequence[ProcessInfo] = ()
    if fields.get("transport", "tcp") == "tcp" and 0 < port < 1 << 16:
        addresses = _addresses_here(host, port)
        listening = descriptor_peers.list_listeners()
        serving = descriptor_peers.filter_by_port(listening, addresses, port)
        found = descriptor_peers.find_owners(serving)
    # Another user's sockets are not seen, and a socket of transport ipc has no port.
    if not found:
        candidates = list_candidates(list(processes.list_processes()))
        found = [one for one in candidates if _is_given(one, path)]
    if not found:
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"the kernel of {path} does not run: nothing listens at {host}:{port}",
            hint=_other_kernel(runtime_folder(request.env), path),
        )
    return found[0]


def _addresses_here(host: str, port: int) -> list[str]:
    """Return a host's addresses.

    Raises:
        DebuggerError: NOT_SUPPORTED if they are of another machine.
    """
    try:
        addresses = descriptor_peers.addresses_of(host, port)
    except (OSError, UnicodeError):
        addresses = []
    if not any(descriptor_peers.is_here(one) for one in addresses):
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"the kernel runs on {host}, and is entered on its own machine",
            hint=f"debugger attach --kernel FILE --host {host}",
        )
    return addresses


def _is_given(process: ProcessInfo, path: str) -> bool:
    """Return whether a process was started with a connection file."""
    real = os.path.realpath(path)
    words = process.words
    # `-f FILE`, as kernel.json has it for most kernels, or an option of traitlets.
    names = [after for word, after in itertools.pairwise(words) if word == "-f"]
    names += [one.partition("=")[2] for one in words if _IS_FILE.match(one)]
    return any(os.path.realpath(os.path.join(process.cwd, one)) == real for one in names)


def describe_cells(folder: str | None) -> tuple[str, ...]:
    """Say which files the cells of an attached kernel have."""
    if folder is None:
        return ()
    try:
        names = os.listdir(folder)
    except OSError:
        names = []
    numbers = sorted(int(match[1]) for match in map(_CELL.fullmatch, names) if match)
    if not numbers:
        return ("no cell has run yet: the first one will be cell1.py",)
    first, last = numbers[0], numbers[-1]
    shown = f"cell{first}.py" if first == last else f"cell{first}.py to cell{last}.py"
    return (f"cells: {shown} in {folder}; cell{last}.py is In [{last}]",)
