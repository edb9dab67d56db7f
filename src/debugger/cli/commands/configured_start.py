"""Applies a configuration of launch.json to a `start` command, and lists the configurations."""

from __future__ import annotations

import os.path

import msgspec
from msgspec import UNSET, Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.configured_target import (
    configured_attach,
    configured_launch,
    find_configuration,
    list_configurations,
)
from debugger.targets.attach_request import AttachRequest
from debugger.targets.launch_json.launch_configuration import AttachConfiguration
from debugger.targets.launch_target import LaunchRequest


class ConfiguredRequest(Struct, frozen=True):
    """What a configuration starts or attaches to, and what is to be said of it."""

    request: LaunchRequest | AttachRequest
    notes: tuple[str, ...] = ()


def list_configs(call: CommandCall) -> answers.LaunchConfigurations:
    """List the configurations of the caller's directory, or the nearest one above.

    Raises:
        DebuggerError: NOT_FOUND without a launch.json.
    """
    file, rows = list_configurations(call)
    return answers.LaunchConfigurations(
        file=file.path,
        configurations=tuple(
            answers.ConfigurationView(
                name=one.name,
                type=one.type,
                request=one.request,
                command=one.command,
                problem=one.problem or UNSET,
                parts=one.parts or UNSET,
            )
            for one in rows
        ),
        notes=file.notes,
    )


def apply_configuration(call: CommandCall, name: str, typed: LaunchRequest) -> ConfiguredRequest:
    """Return a configuration's request with what was typed on top.

    Raises:
        DebuggerError: USAGE for a module beside it, and for options that an attach does not take.
    """
    if typed.module is not None:
        raise DebuggerError(
            ErrorCode.USAGE,
            "--config names the program, and so does -m",
            hint=f"debugger start -m {typed.module}",
        )
    words = (*([typed.program] if typed.program is not None else []), *typed.args)
    found = find_configuration(call, name, words)
    given = found.given
    if isinstance(given, AttachConfiguration):
        if given.session is not None:
            raise DebuggerError(
                ErrorCode.USAGE,
                f"{name!r} joins the session {given.session}",
                hint=f"debugger use {given.session}",
            )
        changes = (*found.arguments, *typed.changed_env, typed.changed_cwd, typed.stdin)
        if typed.python is not None or any(changes):
            raise DebuggerError(
                ErrorCode.USAGE,
                f"{name!r} attaches: it takes no arguments, --cwd, --env, --stdin or --python",
                hint="--break, --adapter, --backend and --timeout go with it",
            )
        attach = configured_attach(found.call, given)
        request = msgspec.structs.replace(
            attach,
            adapter=_choose_adapter(typed, attach.adapter),
            backend=typed.backend,
            pause=typed.stop_on_entry,
        )
        return ConfiguredRequest(request, given.notes)
    configured = configured_launch(found.call, given)
    launch = configured.request
    request_on_top = msgspec.structs.replace(
        launch,
        adapter=_choose_adapter(typed, launch.adapter),
        backend=typed.backend,
        python=_path_from(call, typed.python) or launch.python,
        stdin=_path_from(call, typed.stdin, is_file=True) or launch.stdin,
        stop_on_entry=typed.stop_on_entry or launch.stop_on_entry,
        changed_env=(*launch.changed_env, *typed.changed_env),
        changed_cwd=_path_from(call, typed.changed_cwd, is_file=True) or launch.changed_cwd,
    )
    return ConfiguredRequest(request_on_top, configured.notes)


def _choose_adapter(typed: LaunchRequest, configured: str | None) -> str | None:
    """Return the adapter: a typed one, or a typed backend's, comes before the configuration's."""
    return typed.adapter if typed.adapter or typed.backend.is_explicit else configured


def _path_from(call: CommandCall, typed: str | None, *, is_file: bool = False) -> str | None:
    """Return a typed path from the caller's directory: the configuration has another one."""
    if typed is None or not (is_file or "/" in typed):
        return typed
    return os.path.join(call.cwd, os.path.expanduser(typed))
