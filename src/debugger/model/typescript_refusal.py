"""Recognises a Node that does not run TypeScript, by what it wrote at its end.

Node removes types by itself from 22.18 and 23.6 on. An older one refuses a module of TypeScript by
its extension, and reads any other file of TypeScript as JavaScript, up to the first type.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from os.path import basename

_EXTENSION = re.compile(r"Unknown file extension \"\.[cm]?tsx?\" for (?P<file>\S.*?\.[cm]?tsx?)\b")
_PLACE = re.compile(r"(?:file://)?(?P<file>/.*\.[cm]?tsx?):\d+\Z")
_SYNTAX = re.compile(r"SyntaxError\b")
_VERSION = re.compile(r"Node\.js v(?P<major>\d+)\.(?P<minor>\d+)\.\d+")
_FIRST = {22: 18, 23: 6}  # of each major version the first minor one that removes types


def typescript_notes(lines: Sequence[str]) -> tuple[str, ...]:
    """Return which Node runs a file of TypeScript that this Node has refused; none if it did not.

    `lines` are the last lines of the program's output.
    """
    version = next((one for line in reversed(lines) if (one := _VERSION.match(line))), None)
    file = _refused_file(lines)
    if version is None or file is None:
        return ()
    major, minor = int(version["major"]), int(version["minor"])
    if minor >= _FIRST.get(major, 0) and major >= min(_FIRST):
        return ()  # it removes types: the error is another one
    command = shlex.join(["npx", "tsx", basename(file)])
    name = version[0].replace(".js v", " ")
    others = "node --import tsx and Node 22.18 or later"
    return (f"{name} does not run TypeScript: `{command}` does, and so do {others}",)


def _refused_file(lines: Sequence[str]) -> str | None:
    """Return the file of TypeScript that Node has refused."""
    place = None
    for line in lines:
        if refused := _EXTENSION.search(line):
            return refused["file"]
        if at := _PLACE.match(line):
            place = at["file"]
        elif _SYNTAX.match(line) and place is not None:
            return str(place)
    return None
