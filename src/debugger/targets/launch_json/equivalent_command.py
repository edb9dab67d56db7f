"""Writes the commands that do what a configuration means, for hints and lists. Pure."""

from __future__ import annotations

import os.path
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from debugger.targets.launch_json.configuration_variables import placeholder_text
from debugger.targets.launch_json.launch_configuration import (
    AttachConfiguration,
    LaunchConfiguration,
)

# What needs no quotes: also a placeholder's letters, and what paths and options are made of.
_PLAIN = re.compile(r"[\w@%+=:,./~-]+\Z")
_CHOICES_MAX = 8


def start_command(given: LaunchConfiguration, cwd: str) -> str:
    """Return the `debugger start` command of a configuration, for a caller in `cwd`."""
    words: list[str] = []
    if given.cwd is not None and given.cwd != cwd:
        words += ["--cwd", given.cwd]
    for pair in given.env:
        words += ["--env", pair]
    if given.python is not None:
        words += ["--python", given.python]
    if given.stdin is not None:
        words += ["--stdin", given.stdin]
    if given.stop_on_entry:
        words.append("--stop-on-entry")
    program, args = given.program, given.args
    if given.module is not None:
        words += ["-m", given.module]
    elif program is None and given.interpreter:
        program, args = given.interpreter[0], (*given.interpreter[1:], *args)
    elif given.interpreter and os.path.basename(given.interpreter[0]) == "node":
        words += ["--env", f"NODE_OPTIONS={' '.join(given.interpreter[1:])}"]
    words += [shorten_path(program or "PROGRAM", cwd)] if given.module is None else []
    words += ["--", *args] if args else []
    return _join_words(["debugger", "start", *words])


def attach_command(given: AttachConfiguration, cwd: str) -> str:
    """Return the `debugger attach` command of a configuration, for a caller in `cwd`."""
    program = [shorten_path(given.program, cwd)] if given.program is not None else []
    if given.pid is not None:
        words = [given.pid]
    elif given.name is not None:
        words = ["--name", given.name]
    elif given.core is not None:
        words = ["--core", shorten_path(given.core, cwd), *program]
    elif given.connect is not None:
        words = ["--connect", given.connect, *program]
    else:
        words = ["PID"]
    return _join_words(["debugger", "attach", *words])


def shorten_path(path: str, cwd: str) -> str:
    """Return a path as seen from `cwd`, where it is below."""
    below = path.startswith(cwd.rstrip("/") + "/")
    return os.path.relpath(path, cwd) if below else path


def task_command(label: str, task: Mapping[str, Any] | None) -> str | None:
    """Return the shell command of a task of tasks.json; None where it has none of its own."""
    if task is None:
        # The names that VS Code's npm support gives to a package's scripts.
        return f"npm run {label[5:]}" if label.startswith("npm: ") else None
    kind, script = task.get("type"), task.get("script")
    if kind == "npm" and isinstance(script, str):
        return f"npm run {script}"
    command, args = task.get("command"), task.get("args")
    if isinstance(command, dict):
        command = command.get("value")
    if not isinstance(command, str):
        return None
    words = [_argument_text(one) for one in args] if isinstance(args, list) else []
    if kind == "cargo":
        words, command = [command, *words], "cargo"
    return placeholder_text(" ".join([command, *words]))


def task_folder(task: Mapping[str, Any] | None) -> str:
    """Return the directory of a task of tasks.json, as it stands there; none is the workspace."""
    options = task.get("options") if task is not None else None
    folder = options.get("cwd") if isinstance(options, dict) else None
    return placeholder_text(folder) if isinstance(folder, str) else ""


def _argument_text(one: Any) -> str:
    if isinstance(one, dict):
        one = one.get("value", "")
    text = " ".join(map(str, one)) if isinstance(one, list) else str(one)
    return text if _PLAIN.match(text) or "${" in text else shlex.quote(text)


def input_text(name: str, given: Mapping[str, Any] | None) -> str:
    """Return what an input asks for: its description, choices and default."""
    if given is None:
        return f"the input {name}"
    text = str(given.get("description") or f"the input {name}")
    options = given.get("options")
    if isinstance(options, list):
        values = [one.get("value") if isinstance(one, dict) else one for one in options]
        shown = [str(one) for one in values[:_CHOICES_MAX]]
        text += f" ({', '.join([*shown, '…'] if len(values) > _CHOICES_MAX else shown)})"
    default = given.get("default")
    return f"{text}, usually {default}" if isinstance(default, str) and default else text


def _join_words(words: Sequence[str]) -> str:
    return " ".join(one if _PLAIN.match(one) else shlex.quote(one) for one in words)
