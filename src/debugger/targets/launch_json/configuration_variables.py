"""Replaces the variables of editors' configurations, such as `${workspaceFolder}`. Pure.

The names are VS Code's ("Variables reference"). As there, a value is replaced once: what a variable
brings is not looked at again. A variable that only an editor knows stays as it is.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

VARIABLE: Final = re.compile(r"\$\{([^${}]*)\}")
# `${env:NAME}`, and what Python's extension takes in an env file: `${NAME}`.
_REFERENCE = re.compile(r"\$\{(?:env:)?([A-Za-z_]\w*)\}")
_ENTRY = re.compile(r"(?:export\s+)?([A-Za-z_][\w.]*)\s*=(.*)\Z", re.DOTALL)
_ESCAPES: Mapping[str, str] = {"\\n": "\n", "\\t": "\t", '\\"': '"', "\\\\": "\\"}


class VariableValues(Struct, frozen=True):
    """What the variables of one configuration stand for."""

    folder: str  # the workspace's
    cwd: str
    env: Mapping[str, str]
    file: str | None = None  # the editor's present file


def replace_variables(value: Any, known: VariableValues) -> Any:
    """Replace the variables in all texts of a JSON value, as far as they are known here."""
    if isinstance(value, str):
        return VARIABLE.sub(lambda match: _find_value(match, known), value)
    if isinstance(value, list):
        return [replace_variables(one, known) for one in value]
    if isinstance(value, dict):
        return {name: replace_variables(one, known) for name, one in value.items()}
    return value


def find_variables(value: Any) -> Iterator[str]:
    """Yield the variables that a JSON value holds, without their braces."""
    if isinstance(value, str):
        yield from VARIABLE.findall(value)
    elif isinstance(value, list | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from find_variables(one)


def is_of_file(variable: str) -> bool:
    """Return whether a variable stands for the editor's present file, or a part of its path."""
    return variable in _OF_FILE


def placeholder_text(text: str) -> str:
    """Return a text with a word in capitals in place of each variable: `--env ${input:env}`."""

    def name_of(match: re.Match[str]) -> str:
        name = re.split(r"[:.]", match[1])[-1]
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
        return re.sub(r"\W+", "_", words).strip("_").upper() or "VALUE"

    return VARIABLE.sub(name_of, text)


def _find_value(match: re.Match[str], known: VariableValues) -> str:
    name, colon, argument = match[1].partition(":")
    if name == "env" and colon:
        return known.env.get(argument, "")
    if name in {"workspaceFolder", "workspaceFolderBasename"} and colon:
        is_this = argument == os.path.basename(known.folder)
        return _OF_WORKSPACE[name](known) if is_this else match[0]
    if not colon and name in _OF_WORKSPACE:
        return _OF_WORKSPACE[name](known)
    if not colon and name in _OF_FILE and known.file is not None:
        return _OF_FILE[name](known.file, known.folder)
    return match[0]


_OF_WORKSPACE: Final[Mapping[str, Callable[[VariableValues], str]]] = {
    "workspaceFolder": lambda known: known.folder,
    "workspaceRoot": lambda known: known.folder,
    "workspaceFolderBasename": lambda known: os.path.basename(known.folder),
    "workspaceRootFolderName": lambda known: os.path.basename(known.folder),
    "userHome": lambda known: known.env.get("HOME") or os.path.expanduser("~"),
    "cwd": lambda known: known.cwd,
    "pathSeparator": lambda _: os.sep,
    "/": lambda _: os.sep,
}
# Of the file's path and the workspace's folder.
_OF_FILE: Final[Mapping[str, Callable[[str, str], str]]] = {
    "file": lambda file, _: file,
    "fileBasename": lambda file, _: os.path.basename(file),
    "fileBasenameNoExtension": lambda file, _: os.path.splitext(os.path.basename(file))[0],
    "fileExtname": lambda file, _: os.path.splitext(file)[1],
    "fileDirname": lambda file, _: os.path.dirname(file),
    "fileDirnameBasename": lambda file, _: os.path.basename(os.path.dirname(file)),
    "fileWorkspaceFolder": lambda _, folder: folder,
    "fileWorkspaceFolderBasename": lambda _, folder: os.path.basename(folder),
    "relativeFile": os.path.relpath,
    "relativeFileDirname": lambda file, folder: os.path.relpath(os.path.dirname(file), folder),
}


def parse_env_file(text: str, env: Mapping[str, str]) -> dict[str, str]:
    """Parse an env file: `NAME=VALUE` lines, also `export`, quotes, comments, earlier names.

    A line that is none of these is skipped, as the editors do.
    """
    found: dict[str, str] = {}
    for line in text.removeprefix("\ufeff").splitlines():
        match = _ENTRY.match(line.strip())  # which no comment matches
        if match is not None:
            found[match[1]] = _parse_env_value(match[2].strip(), {**env, **found})
    return found


def _parse_env_value(text: str, known: Mapping[str, str]) -> str:
    quote = text[:1]
    if quote in {"'", '"'} and (end := _find_quote(text, quote)) > 0:
        inner = text[1:end]
        if quote == "'":
            return inner
        text = re.sub(r'\\[nt"\\]', lambda match: _ESCAPES[match[0]], inner)
    else:
        text = re.split(r"\s#", text, maxsplit=1)[0].rstrip()
    return _REFERENCE.sub(lambda match: known.get(match[1], ""), text)


def _find_quote(text: str, quote: str) -> int:
    """Return where the quote at the beginning is closed, else -1."""
    at = 1
    while at < len(text):
        if text[at] == "\\" and quote == '"':
            at += 1
        elif text[at] == quote:
            return at
        at += 1
    return -1
