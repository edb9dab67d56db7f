"""Finds and reads a project's `.vscode/launch.json`: its configurations by name.

Files of other editors are found, and not read: PyCharm's, Zed's, and VS Code's workspaces.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.location import near_names
from debugger.targets.launch_json.json_with_comments import (
    JsonSyntaxError,
    parse_json_with_comments,
)

FILE: Final = os.path.join(".vscode", "launch.json")
_TASKS: Final = os.path.join(".vscode", "tasks.json")
_BYTES_MAX = 1 << 20
_CONFIGURATIONS_MAX = 500
_SHOWN = 6  # names in an error
# Below a project's folder; each is a pattern of one folder.
_NOT_READ = (".idea/runConfigurations/*.xml", ".run/*.run.xml", ".zed/debug.json")
_PLATFORMS: Mapping[str, str] = {"linux": "linux", "darwin": "osx", "win32": "windows"}


class Compound(Struct, frozen=True):
    """Configurations that are started together."""

    parts: tuple[str, ...]  # their names
    task: str | Mapping[str, Any] | None = None  # what an editor runs before them


class LaunchFile(Struct, frozen=True):
    """The content of one `launch.json`."""

    path: str
    folder: str  # the workspace's
    configurations: Mapping[str, Mapping[str, Any]]  # by name, the present platform's part on top
    compounds: Mapping[str, Compound]  # by name
    inputs: Mapping[str, Mapping[str, Any]]  # by id
    notes: tuple[str, ...] = ()


def find_launch_file(cwd: str) -> LaunchFile:
    """Read the launch.json of a directory, or of the nearest one above.

    Raises:
        DebuggerError: NOT_FOUND without one, USAGE for one that cannot be read.
    """
    others: list[str] = []
    for folder in _project_folders(cwd):
        others += _files_not_read(folder)
        path = os.path.join(folder, FILE)
        if os.path.isfile(path):
            return _parse_launch_file(path, folder, others)
    unread = f"; not read: {', '.join(others[:_SHOWN])}" if others else ""
    raise DebuggerError(
        ErrorCode.NOT_FOUND,
        f"no {FILE} in {cwd} or above{unread}",
        hint="debugger start PROGRAM [-- ARGS…]",
    )


def select_configuration(file: LaunchFile, name: str) -> Mapping[str, Any]:
    """Return the configuration of a name; letters of another case are the same.

    Raises:
        DebuggerError: NOT_FOUND with near names, NOT_SUPPORTED for a compound.
    """
    found = find_name(file.configurations, name)
    if found is not None:
        return file.configurations[found]
    compound = find_name(file.compounds, name)
    if compound is not None:
        raise _compound_error(compound, file.compounds[compound])
    near = near_names(name, (*file.configurations, *file.compounds), 3)
    known = tuple(file.configurations)[:_SHOWN]
    there = f"; there is {', '.join(map(repr, near or known))}" if near or known else ""
    raise DebuggerError(
        ErrorCode.NOT_FOUND,
        f"no configuration {name[:100]!r} in {file.path}{there}",
        hint=config_command(near[0]) if near else "debugger start --list-configs",
    )


def find_name(names: Collection[str], name: str) -> str | None:
    """Return the name that is meant; letters of another case are the same if one name has them."""
    if name in names:
        return name
    same = [one for one in names if one.casefold() == name.casefold()]
    return same[0] if len(same) == 1 else None


def configuration_names(cwd: str) -> list[str]:
    """Return the names of configurations and compounds; none where they cannot be read."""
    try:
        file = find_launch_file(cwd)
    except DebuggerError:
        return []
    return [one for one in (*file.configurations, *file.compounds) if one.isprintable()]


def config_command(name: str) -> str:
    """Return the command that starts a configuration."""
    quoted = '"' + "".join(f"\\{one}" if one in '"\\$`' else one for one in name) + '"'
    return f"debugger start --config {quoted}"


def _compound_error(name: str, compound: Compound) -> DebuggerError:
    """Return the refusal of a compound where one program is started."""
    return DebuggerError(
        ErrorCode.NOT_SUPPORTED,
        f"{name!r} is a compound of {len(compound.parts)} configurations",
        hint=f"{config_command(name)} starts them as one group",
    )


def find_task(folder: str, label: str) -> Mapping[str, Any] | None:
    """Return a task of the folder's tasks.json; None where it is not there or cannot be read."""
    try:
        content = _read_object(os.path.join(folder, _TASKS))
    except DebuggerError:
        return None
    for task in _objects(content.get("tasks")):
        group = task.get("group")
        is_default = isinstance(group, dict) and group.get("isDefault") is True
        if label in {task.get("label"), task.get("taskName")} or (
            is_default and label == "${defaultBuildTask}"
        ):
            return _for_platform(task)
    return None


def _project_folders(cwd: str) -> Iterator[str]:
    """Yield a directory and those above it, without what other users have written.

    What others may write must not choose the programs that we run.
    """
    here = Path(cwd)
    trusted = {0, os.getuid(), _owner(here)}
    for folder in (here, *here.parents):
        if _owner(folder / FILE) in {None, *trusted}:
            yield str(folder)


def _owner(path: Path) -> int | None:
    try:
        return path.stat().st_uid
    except OSError:
        return None


def _files_not_read(folder: str) -> list[str]:
    found = [str(path) for pattern in _NOT_READ for path in sorted(Path(folder).glob(pattern))]
    return [*found, *(str(path) for path in sorted(Path(folder).glob("*.code-workspace")))]


def _parse_launch_file(path: str, folder: str, others: list[str]) -> LaunchFile:
    content = _read_object(path)
    configurations: dict[str, Mapping[str, Any]] = {}
    notes = [f"not read: {one}" for one in others[:_SHOWN]]
    for one in _objects(content.get("configurations"))[:_CONFIGURATIONS_MAX]:
        name = one.get("name")
        if not isinstance(name, str) or not name:
            notes.append("a configuration without a name is left out")
        elif name in configurations:
            notes.append(f"{name!r} is there twice; the first counts")
        else:
            configurations[name] = _for_platform(one)
    return LaunchFile(
        path=path,
        folder=folder,
        configurations=configurations,
        compounds={
            one["name"]: Compound(
                _part_names(one.get("configurations")), one.get("preLaunchTask") or None
            )
            for one in _objects(content.get("compounds"))
            if isinstance(one.get("name"), str) and one["name"]
        },
        inputs={
            one["id"]: one
            for one in _objects(content.get("inputs"))
            if isinstance(one.get("id"), str)
        },
        notes=tuple(notes),
    )


def _part_names(given: Any) -> tuple[str, ...]:
    """Return the names of a compound's configurations; one of another folder is an object."""
    parts = given if isinstance(given, list) else []
    names = [one.get("name") if isinstance(one, dict) else one for one in parts]
    return tuple(one for one in names if isinstance(one, str))


def _for_platform(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration with the fields of its section for this platform."""
    section = given.get(_PLATFORMS.get(sys.platform, ""))
    own = {name: value for name, value in given.items() if name not in _PLATFORMS.values()}
    return {**own, **(section if isinstance(section, dict) else {})}


def _objects(given: Any) -> list[Mapping[str, Any]]:
    return [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []


def _read_object(path: str) -> Mapping[str, Any]:
    """Read a file that holds one object.

    Raises:
        DebuggerError: USAGE.
    """
    try:
        content = parse_json_with_comments(read_text(path))
    except JsonSyntaxError as error:
        raise DebuggerError(ErrorCode.USAGE, f"{path}: {error}", hint=f"mend {path}") from None
    if not isinstance(content, dict):
        raise DebuggerError(ErrorCode.USAGE, f"{path} holds no object", hint=f"mend {path}")
    return content


def read_text(path: str) -> str:
    """Read a text file of at most 1 MiB.

    Raises:
        DebuggerError: USAGE.
    """
    if not os.path.isfile(path):
        raise DebuggerError(
            ErrorCode.USAGE, f"{path} is no file", hint="debugger start --list-configs"
        )
    try:
        with open(path, "rb") as file:
            data = file.read(_BYTES_MAX + 1)
    except OSError as error:
        raise DebuggerError(
            ErrorCode.USAGE, f"cannot read {path}: {error.strerror}", hint=f"chmod u+r {path}"
        ) from None
    if len(data) > _BYTES_MAX:
        raise DebuggerError(
            ErrorCode.USAGE, f"{path} is longer than 1 MiB", hint="debugger start PROGRAM"
        )
    return data.decode("utf-8", "replace")
