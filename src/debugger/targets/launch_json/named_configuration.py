"""Resolves a configuration of launch.json by its name to what is started or attached to."""

from __future__ import annotations

import ipaddress
import os.path
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, structs

from debugger.errors import DebuggerError, ErrorCode
from debugger.targets.launch_json import equivalent_command
from debugger.targets.launch_json.configuration_variables import (
    VariableValues,
    find_variables,
    is_of_file,
    placeholder_text,
    replace_variables,
)
from debugger.targets.launch_json.launch_configuration import (
    TYPES,
    AttachConfiguration,
    LaunchConfiguration,
    UnresolvedVariableError,
    names_server_or_core,
    read_attach,
    read_launch,
)
from debugger.targets.launch_json.launch_file import (
    Compound,
    LaunchFile,
    config_command,
    find_name,
    find_task,
    select_configuration,
)

Configuration = LaunchConfiguration | AttachConfiguration

_NODE_TYPES: Final = ("pwa-node", "node")
_NODE_PORT: Final = "127.0.0.1:9229"  # js-debug's default, and Node's
# The editor's own choice of an interpreter: ours is made in the same places.
_CHOICES_OF_PYTHON = ("command:python.interpreterPath", "command:python.interpreterPath:python")


class ConfigurationRow(Struct, frozen=True):
    """One configuration or compound; `problem` says why it cannot be started by its name."""

    name: str
    type: str
    request: str
    command: str = ""
    problem: str | None = None
    parts: tuple[str, ...] = ()  # the configurations of a compound


def resolve_configuration(
    file: LaunchFile, name: str, known: VariableValues, arguments: Sequence[str] = ()
) -> Configuration:
    """Return what a configuration starts or attaches to.

    `arguments` of the caller stand in place of a program's: what its own would ask an editor for
    is not needed then.

    Raises:
        DebuggerError: NOT_FOUND, with near names; NOT_SUPPORTED for a type, a task or an input
        that only an editor can serve, with the command that does the same; USAGE.
    """
    given = select_configuration(file, name)
    _check_kind(name, given)
    replaced: dict[str, Any] = replace_variables(dict(given), known)
    if arguments:
        replaced.pop("args", None)
    for field in ("python", "pythonPath"):
        if any(one in _CHOICES_OF_PYTHON for one in find_variables(replaced.get(field))):
            del replaced[field]
    try:
        found = _read_values(replaced)
    except UnresolvedVariableError as error:
        raise _explain_variable(error, file, name, replaced, known) from None
    if isinstance(found, AttachConfiguration):
        _check_address(found)
    if task := given.get("preLaunchTask"):
        raise _task_error(name, task, _manual_steps(file, replaced, known))
    if isinstance(found, LaunchConfiguration) and not (
        found.program or found.module or found.interpreter
    ):
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{name!r} names no program",
            hint="debugger start PROGRAM [-- ARGS…]",
        )
    if arguments and isinstance(found, LaunchConfiguration):
        found = structs.replace(found, args=tuple(arguments))
    return _with_folder(found, file.folder)


def names_present_file(file: LaunchFile, name: str) -> bool:
    """Return whether a configuration is for the editor's present file (`${file}`)."""
    return any(map(is_of_file, find_variables(dict(select_configuration(file, name)))))


def find_compound(file: LaunchFile, name: str, known: VariableValues) -> tuple[str, ...]:
    """Return the names of a compound's configurations; nothing for any other name.

    Raises:
        DebuggerError: USAGE for a compound of nothing, NOT_SUPPORTED for one with a task.
    """
    found = None if find_name(file.configurations, name) else find_name(file.compounds, name)
    if found is None:
        return ()
    compound = file.compounds[found]
    if not compound.parts:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{found!r} is a compound of no configurations",
            hint="debugger start --list-configs",
        )
    if compound.task is not None:
        steps = [_task_step(file, compound.task, known), *map(config_command, compound.parts)]
        raise _task_error(found, compound.task, "; then ".join(steps))
    return compound.parts


def list_rows(file: LaunchFile, known: VariableValues) -> list[ConfigurationRow]:
    """Return the configurations and compounds of a file, as far as each can be started."""
    rows = []
    for name, given in file.configurations.items():
        kind, request = (str(given.get(one) or "") for one in ("type", "request"))
        try:
            command = _row_command(file, name, known)
        except DebuggerError as error:
            problem = _problem_text(error, name)
            rows.append(ConfigurationRow(name, kind, request, problem=problem))
        else:
            rows.append(ConfigurationRow(name, kind, request, command.removeprefix("debugger ")))
    return [*rows, *(_compound_row(file, *one, known) for one in file.compounds.items())]


def _row_command(file: LaunchFile, name: str, known: VariableValues) -> str:
    if names_present_file(file, name):
        # Its parts of a path need a real file: the name stands for all of them.
        resolve_configuration(file, name, structs.replace(known, file="FILE"))
        return present_file_command(name)
    return command_text(resolve_configuration(file, name, known), file.folder)


def _compound_row(
    file: LaunchFile, name: str, compound: Compound, known: VariableValues
) -> ConfigurationRow:
    named = name
    try:
        find_compound(file, name, known)
        for named in compound.parts:
            resolve_configuration(file, named, known)
    except DebuggerError as error:
        problem = _problem_text(error, named)
        problem = problem if named == name else f"{named}: {problem}"
        return ConfigurationRow(name, "compound", "", problem=problem, parts=compound.parts)
    command = config_command(name).removeprefix("debugger ")
    return ConfigurationRow(name, "compound", "", command, parts=compound.parts)


def _problem_text(error: DebuggerError, name: str) -> str:
    """Return why a configuration cannot be started, without its name at the beginning."""
    return error.message.removeprefix(f"{name!r}").lstrip(": ")


def present_file_command(name: str) -> str:
    """Return the command that starts a configuration for the editor's present file."""
    return config_command(name).replace("start", "start FILE", 1)


def command_text(given: Configuration, cwd: str) -> str:
    """Return the command that does what a configuration does."""
    if isinstance(given, LaunchConfiguration):
        return equivalent_command.start_command(given, cwd)
    return equivalent_command.attach_command(given, cwd)


def _check_kind(name: str, given: Mapping[str, Any]) -> None:
    kind, request = given.get("type"), given.get("request")
    if kind not in TYPES:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"{name!r} is of the type {str(kind)[:60]!r}, which is not read; "
            f"those that are: {', '.join(TYPES)}",
            hint="debugger start PROGRAM [-- ARGS…]",
        )
    if request not in {"launch", "attach"}:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"{name!r} has the request {str(request)[:60]!r}; launch and attach are read",
            hint="debugger start PROGRAM [-- ARGS…]; debugger attach PID",
        )


def _read_values(given: Mapping[str, Any]) -> Configuration:
    if given.get("request") == "launch" and not names_server_or_core(given):
        return read_launch(given)
    found = read_attach(given)
    if found.session is not None or not found.joins:
        return found
    if given.get("type") in _NODE_TYPES:
        return structs.replace(found, connect=_NODE_PORT)
    raise DebuggerError(
        ErrorCode.USAGE,
        "attach without a process, a core file or a port",
        hint="debugger attach PID",
    )


def _check_address(given: AttachConfiguration) -> None:
    """Refuse to connect to another machine: a file of the project must not choose it."""
    if given.connect is None:
        return
    host = given.connect.rpartition(":")[0].strip("[]")
    try:
        is_here = host in {"", "localhost"} or ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_here = False
    if not is_here:
        raise DebuggerError(
            ErrorCode.DENIED,
            f"launch.json names another machine: {given.connect[:100]}",
            hint=equivalent_command.attach_command(given, ""),
        )


def _explain_variable(
    error: UnresolvedVariableError,
    file: LaunchFile,
    name: str,
    replaced: Mapping[str, Any],
    known: VariableValues,
) -> DebuggerError:
    variable, kind = error.variable, error.variable.partition(":")[0]
    if is_of_file(variable):
        return DebuggerError(
            ErrorCode.USAGE,
            f"{name!r} is for the editor's present file (${{{variable}}})",
            hint=present_file_command(name),
        )
    text = f"{error.field} holds ${{{variable[:100]}}}, which "
    if kind == "input":
        needed = variable.partition(":")[2]
        wish = equivalent_command.input_text(needed, file.inputs.get(needed))
        text += f"an editor asks for: {wish}"
    elif kind in {"command", "config"}:
        text += "only an editor knows"
    elif known.env.get(variable) is not None:
        text += f"is no variable of launch.json; ${{env:{variable}}} is"
    else:
        text += "is not known here"
    return DebuggerError(
        ErrorCode.NOT_SUPPORTED,
        f"{name!r}: {text}",
        hint=_manual_steps(file, replaced, known),
    )


def _task_error(name: str, task: Any, steps: str) -> DebuggerError:
    return DebuggerError(
        ErrorCode.NOT_SUPPORTED,
        f"{name!r} runs the task {_task_label(task)!r} first, and tasks are not run here",
        hint=steps,
    )


def _manual_steps(file: LaunchFile, replaced: Mapping[str, Any], known: VariableValues) -> str:
    """Return the commands that do the same: the task's, and ours with placeholders."""
    task, cwd = replaced.get("preLaunchTask"), known.cwd
    steps = [_task_step(file, task, known)] if task else []
    given: dict[str, Any] = _with_placeholders(replaced)
    for field in ("processId", "pid"):
        if any(find_variables(replaced.get(field))):
            given[field] = "PID"
    command = command_text(_with_folder(_read_values(given), file.folder), cwd)
    if env_file := given.get("envFile"):
        path = equivalent_command.shorten_path(os.path.join(file.folder, str(env_file)), cwd)
        command = f"set -a; . {os.path.join('.', path)}; set +a; {command}"
    return "; then ".join([*steps, command])


def _task_step(file: LaunchFile, given: Any, known: VariableValues) -> str:
    """Return the shell command of a task, run where the task runs, or what is to be done."""
    label = _task_label(given)
    task = replace_variables(find_task(file.folder, label), known)
    command = equivalent_command.task_command(label, task)
    if command is None:
        return f"run the task {label!r}"
    folder = os.path.normpath(os.path.join(file.folder, equivalent_command.task_folder(task)))
    return command if folder == known.cwd else f"(cd {shlex.quote(folder)} && {command})"


def _task_label(task: Any) -> str:
    if isinstance(task, dict):
        script = task.get("script")
        return f"npm: {script}" if script else str(task.get("label") or task.get("task") or "")
    return str(task or "")


def _with_placeholders(value: Any) -> Any:
    if isinstance(value, str):
        return placeholder_text(value)
    if isinstance(value, list):
        return [_with_placeholders(one) for one in value]
    if isinstance(value, dict):
        return {name: _with_placeholders(one) for name, one in value.items()}
    return value


def _with_folder(given: Configuration, folder: str) -> Configuration:
    """Return a configuration with the directory that its editor would run it in."""
    if isinstance(given, AttachConfiguration):
        program = os.path.join(folder, given.program) if given.program is not None else None
        return structs.replace(given, program=program)
    cwd = given.cwd
    if cwd is None and given.kind == "go" and given.program is not None:
        program = os.path.join(folder, given.program)
        cwd = program if os.path.isdir(program) else os.path.dirname(program)
    where = os.path.normpath(os.path.join(folder, cwd or ""))
    program = os.path.join(where, given.program) if given.program is not None else None
    if program is not None and os.path.exists(program):
        return structs.replace(given, cwd=where, program=program)
    return structs.replace(given, cwd=where)
