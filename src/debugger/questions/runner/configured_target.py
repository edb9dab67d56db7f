"""Turns an editor's configuration into a request to start a program or to attach."""

from __future__ import annotations

import os.path
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
from msgspec import Struct

from debugger.backends import select_backend
from debugger.errors import DebuggerError
from debugger.questions.runner.command_call import (
    CommandCall,
    caller_commands,
    pids_with_session,
    resolve_managed,
)
from debugger.targets import command_line as commands
from debugger.targets.attach_request import AttachRequest
from debugger.targets.launch_json.configuration_variables import VariableValues, parse_env_file
from debugger.targets.launch_json.launch_configuration import (
    AttachConfiguration,
    LaunchConfiguration,
)
from debugger.targets.launch_json.launch_file import LaunchFile, find_launch_file, read_text
from debugger.targets.launch_json.named_configuration import (
    Configuration,
    ConfigurationRow,
    find_compound,
    list_rows,
    names_present_file,
    resolve_configuration,
)
from debugger.targets.launch_target import LaunchRequest


class ConfiguredLaunch(Struct, frozen=True):
    """A request to start a program, and what is to be said of its configuration."""

    request: LaunchRequest
    notes: tuple[str, ...] = ()


class FoundConfiguration(Struct, frozen=True):
    """A configuration of launch.json, and the call in the folder of its project."""

    given: Configuration
    call: CommandCall
    arguments: tuple[str, ...]  # the caller's, in place of the configuration's


def find_configuration(call: CommandCall, name: str, words: Sequence[str]) -> FoundConfiguration:
    """Find a configuration by its name, in the caller's directory or the nearest one above.

    `words` are what the caller adds: the editor's present file, where the configuration is for
    one, and the program's arguments.

    Raises:
        DebuggerError: What reading and resolving the configuration raises.
    """
    file = find_launch_file(call.cwd)
    present, arguments = None, tuple(words)
    if words and names_present_file(file, name):
        present, arguments = os.path.normpath(str(Path(call.cwd, words[0]))), tuple(words[1:])
    values = _variable_values(call, file, present)
    given = resolve_configuration(file, name, values, arguments)
    return FoundConfiguration(given, replace(call, cwd=file.folder), arguments)


def list_configurations(call: CommandCall) -> tuple[LaunchFile, list[ConfigurationRow]]:
    """Return the launch.json of the caller's directory, and its configurations.

    Raises:
        DebuggerError: NOT_FOUND without one.
    """
    file = find_launch_file(call.cwd)
    return file, list_rows(file, _variable_values(call, file, None))


def find_configured_parts(call: CommandCall, name: str) -> tuple[str, ...]:
    """Return the names of a compound's configurations; nothing for any other name.

    Raises:
        DebuggerError: NOT_FOUND without a launch.json; what finding a compound raises.
    """
    file = find_launch_file(call.cwd)
    return find_compound(file, name, _variable_values(call, file, None))


def _variable_values(call: CommandCall, file: LaunchFile, present: str | None) -> VariableValues:
    return VariableValues(folder=file.folder, cwd=call.cwd, env=call.env, file=present)


def configured_launch(call: CommandCall, given: LaunchConfiguration) -> ConfiguredLaunch:
    """Return the request to start what a configuration names.

    Raises:
        DebuggerError: USAGE or LAUNCH_FAILED for an interpreter's options that are not known here.
    """
    notes = list(given.notes)
    if given.program is None and given.module is None and given.interpreter:
        program, *before = given.interpreter
        args = (*before, *given.args)
        given = msgspec.structs.replace(given, program=program, args=args, interpreter=())
    request = LaunchRequest(
        cwd=call.cwd,
        env=call.env,
        program=_path_below(given.program, given.cwd, call),
        module=given.module,
        args=given.args,
        adapter=given.adapter or _named_adapter(call, given.kind),
        backend=_selected_backend(call),
        python=given.python,
        stdin=given.stdin,
        stop_on_entry=given.stop_on_entry,
        changed_env=(*_file_variables(call, given.env_file, notes), *given.env),
        changed_cwd=given.cwd,
        adapters=call.config.adapters,
    )
    if given.interpreter:
        request = _with_options(call, given.interpreter, request)
    return ConfiguredLaunch(resolve_managed(call, request), tuple(notes))


def configured_attach(call: CommandCall, given: AttachConfiguration) -> AttachRequest:
    """Return the request to attach to what a configuration names."""
    return AttachRequest(
        cwd=call.cwd,
        env=call.env,
        what=given.pid or given.program,
        name=given.name,
        core=given.core,
        connect=given.connect,
        adapter=given.adapter or _named_adapter(call, given.kind),
        backend=_selected_backend(call),
        adapters=call.config.adapters,
        held=pids_with_session(call),
    )


def _named_adapter(call: CommandCall, kind: str) -> str | None:
    """Return the adapter that an editor's type names; any other type leaves the choice to us."""
    return kind if kind in select_backend.list_adapters(call.config.adapters) else None


def _selected_backend(call: CommandCall) -> select_backend.SelectedBackend:
    return select_backend.choose_backend(None, call.env, call.config.defaults.backend)


def _path_below(program: str | None, cwd: str | None, call: CommandCall) -> str | None:
    """Return a program's path: a relative one is the configuration's directory's, where there."""
    if program is None or cwd is None:
        return program
    path = Path(call.cwd, cwd, program)
    return str(path) if path.exists() else program


def _file_variables(call: CommandCall, path: str | None, notes: list[str]) -> tuple[str, ...]:
    """Return the variables of an env file; as in the editors, it may be missing."""
    if path is None:
        return ()
    full = Path(call.cwd, path)
    if not full.exists():
        notes.append(f"no envFile: {full}")
        return ()
    found = parse_env_file(read_text(str(full)), call.env)
    return tuple(f"{name}={value}" for name, value in found.items())


def _with_options(
    call: CommandCall, interpreter: tuple[str, ...], request: LaunchRequest
) -> LaunchRequest:
    """Return a request whose interpreter has options: they become variables of its environment."""
    what = ["-m", request.module] if request.module is not None else [request.program or ""]
    words = [*interpreter, *what, *request.args]
    try:
        parsed = commands.parse_command(words, caller_commands(call), verb="start")
    except DebuggerError as error:
        # Its own hints are for a command line, and there is none.
        raise DebuggerError(
            error.code, error.message, hint="debugger start --list-configs shows its command"
        ) from None
    return msgspec.structs.replace(
        request,
        program=parsed.program,
        module=parsed.module,
        args=parsed.args,
        changed_env=(*request.changed_env, *(f"{name}={value}" for name, value in parsed.env)),
    )
