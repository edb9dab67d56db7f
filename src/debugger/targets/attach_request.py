"""Defines the shared part of all attach targets: the request, a file check, the adapter choice."""

from __future__ import annotations

import os.path
from collections.abc import Mapping

from msgspec import Struct

from debugger.backends import backend_names, select_backend
from debugger.backends.base import AttachTarget
from debugger.backends.dap.debug_adapter import DebugAdapter
from debugger.errors import DebuggerError, ErrorCode


class AttachRequest(Struct, frozen=True):
    """The arguments of an `attach` command, in the caller's directory and environment."""

    cwd: str
    env: Mapping[str, str]
    # The pid; with `core` or `connect`, the program.
    what: str | None = None
    name: str | None = None
    core: str | None = None
    connect: str | None = None
    # A Jupyter kernel's connection file.
    kernel: str | None = None
    # The identifier of the simulator that the process runs on.
    simulator: str | None = None
    adapter: str | None = None
    backend: select_backend.SelectedBackend = select_backend.SelectedBackend()
    pause: bool = False
    # The command that attaches, for its hints.
    verb: str = "attach"
    # Sessions that already debug a process, by its pid.
    held: Mapping[int, str] = {}
    # The adapters of the configuration.
    adapters: Mapping[str, select_backend.ConfiguredAdapter] = {}


class PreparedAttach(Struct, frozen=True):
    """The attach target, its adapter, and notes for the user."""

    target: AttachTarget
    adapter: DebugAdapter
    notes: tuple[str, ...] = ()


def adapter_names(request: AttachRequest) -> str:
    """Name the available adapters."""
    return ", ".join(select_backend.list_adapters(request.adapters))


def choose_adapter(
    request: AttachRequest, language: str, what: str, type_language: str = "", script: str = ""
) -> DebugAdapter:
    """Return the requested adapter, or one for a script or a language; `what` describes its source.

    Raises:
        DebuggerError: USAGE for an unknown one, ADAPTER_NOT_FOUND.
    """
    # Any process is machine code to a debugger that the command itself asks for.
    kind = "native" if request.backend.is_explicit else language
    own = select_backend.resolve_backend_adapter(request.backend, request.adapter, kind, what)
    if own is not None:
        return own
    if request.adapter is not None:
        return select_backend.find_named_adapter(
            request.adapter, select_backend.list_adapters(request.adapters)
        )
    found = select_backend.choose_program_adapter(
        script, language, request.env, request.adapters, type_language
    )
    if found is None:
        raise DebuggerError(
            ErrorCode.ADAPTER_NOT_FOUND,
            f"no adapter for {language} programs: {what}",
            hint="debugger doctor lists the adapters",
        )
    return found


def is_named(request: AttachRequest) -> bool:
    """Return whether the command itself names the adapter."""
    is_own = request.backend.is_explicit and request.backend.name != backend_names.DAP
    return request.adapter is not None or is_own


def file_of(name: str, cwd: str, hint: str) -> str:
    """Return a file's absolute path, relative to the caller's directory.

    Raises:
        DebuggerError: NOT_FOUND, with the hint.
    """
    path = os.path.normpath(os.path.join(cwd, os.path.expanduser(name)))
    if not os.path.isfile(path):
        what = "is a directory" if os.path.isdir(path) else "no such file"
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"{what}: {path}" if what.startswith("no") else f"{path} {what}",
            hint=hint,
        )
    return path
