"""Writes a picture or a page that a person requested, and replaces no file that is not ours."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import shlex
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from debugger import paths
from debugger.errors import DebuggerError, ErrorCode
from debugger.output.html_page import MADE_BY
from debugger.questions.runner.command_call import CommandCall

_HEAD = 400  # bytes
PNG = "png"
INSTALL = "pip install 'debugger-cli[pictures]'"
_ZOOM = 2.0  # for screens, and for those who look closely
_PNG_HEAD = 33  # bytes of the signature and the first chunk


class PictureFile(Struct, frozen=True):
    """A file that may be written, and its suffix without the dot."""

    path: str
    kind: str
    # The option that named it; empty for an argument.
    option: str
    verb: str
    may_replace: bool

    async def write_text(self, text: str) -> str:
        """Write the file, for its owner alone, and return its path; a `png` is drawn of SVG.

        Raises:
            DebuggerError: NOT_FOUND if it cannot be written; USAGE if it is somebody else's.
        """
        is_png = self.kind == PNG
        content = (
            await asyncio.to_thread(png_of, text) if is_png else text.encode("utf-8", "replace")
        )
        _refuse_foreign(self)
        try:
            paths.write_private(self.path, content)
        except OSError as error:
            raise self.error(error.strerror or "it cannot be written") from error
        return self.path

    def error(self, problem: str) -> DebuggerError:
        """Return the error for a file that cannot be written."""
        name = f"debugger-{self.verb.split()[0]}.{self.kind}".rstrip(".")
        return DebuggerError(
            ErrorCode.NOT_FOUND,
            f"cannot write {self.path}: {problem}",
            hint=_command(self.verb, self.option, f"/tmp/{name}"),  # noqa: S108 - for the reader
        )


def png_of(svg: str) -> bytes:
    """Draw SVG as PNG, with a mark near its beginning that it was made here."""
    import resvg_py

    drawn = bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=_ZOOM))
    kind = b"tEXt"
    text = b"Software\0" + MADE_BY.encode()
    chunk = struct.pack(">I", len(text)) + kind + text + struct.pack(">I", zlib.crc32(kind + text))
    return drawn[:_PNG_HEAD] + chunk + drawn[_PNG_HEAD:]


def choose_file(
    call: CommandCall, verb: str, option: str, given: str, kinds: Sequence[str], *, force: bool
) -> PictureFile:
    """Resolve a file from the caller's folder, before anything runs, and check that it can be made.

    `kinds` are the suffixes that it may have; without any it may have every one.

    Raises:
        DebuggerError: USAGE for another suffix, or for a file that is not ours; NOT_FOUND for one
            that cannot be written.
    """
    path = Path(_absolute_path(call.cwd, given))
    kind = path.suffix.removeprefix(".").lower()
    if kinds and kind not in kinds:
        stem = Path(given).stem.strip(".") or verb.split(maxsplit=1)[0]
        known = " or ".join(f".{one}" for one in kinds)
        what = f"not .{kind}" if kind else f"and {given!r} has no suffix"
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{option or verb} writes {known}, {what}",
            hint=_command(verb, option, f"{stem}.{kinds[0]}"),
        )
    if kind == PNG and not importlib.util.find_spec("resvg_py"):
        raise DebuggerError(
            ErrorCode.ADAPTER_NOT_FOUND,
            "a .png needs resvg-py, which is not installed",
            hint=f"{INSTALL}, or {_command(verb, option, _other(given))}",
        )
    found = PictureFile(str(path), kind, option, verb, force)
    folder = path.parent
    if not os.path.isdir(folder):  # noqa: PTH112 - it answers also where the folder may not be read
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"cannot write {path}: there is no folder {folder}",
            hint=f"mkdir -p {shlex.quote(str(folder))} makes it",
        )
    if os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113 - the same
        raise found.error("it is not a file")
    if not os.access(folder, os.W_OK):
        raise found.error("its folder is not writable")
    _refuse_foreign(found)
    return found


def _refuse_foreign(file: PictureFile) -> None:
    """Refuse a file that has content which was not written here.

    Raises:
        DebuggerError: USAGE.
    """
    path = Path(file.path)
    if file.may_replace or not os.path.exists(path):  # noqa: PTH110 - the same
        return
    try:
        with path.open("rb") as opened:
            head = opened.read(_HEAD)
    except OSError:
        head = b"?"
    if head and MADE_BY.encode() not in head:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{file.path} exists, and debugger did not write it",
            hint=_command(file.verb, file.option, file.path, "--force"),
        )


def _absolute_path(cwd: str, given: str) -> str:
    # pathlib raises RuntimeError for a loop of links, and for a user who is not known.
    expanded = os.path.expanduser(given.replace("\0", ""))  # noqa: PTH111 - see above
    return os.path.realpath(os.path.join(cwd, expanded))  # noqa: PTH118 - see above


def _other(given: str) -> str:
    """Return the name of the same picture as SVG."""
    return str(Path(given).with_suffix(".svg"))


def _command(verb: str, option: str, name: str, *more: str) -> str:
    """Return the command with another file; a question's own words follow."""
    rest = [] if verb.startswith("evidence") else ["…"]
    return " ".join(filter(None, ["debugger", verb, option, shlex.quote(name), *more, *rest]))
