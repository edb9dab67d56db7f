"""Writes a picture or a page that a person requested, and replaces no file that is not ours."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from msgspec import Struct

from debugger import paths
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.command_registry import Option
from debugger.questions.runner.command_call import CommandCall

# The beginning of each file that was written here says so; see `output.html_page`.
_MADE_BY = b"Made by debugger"
_HEAD = 400  # bytes

Force = Annotated[bool, Option("--force", help="replace FILE also if debugger did not write it")]


class PictureFile(Struct, frozen=True):
    """A file that may be written, and its suffix without the dot."""

    path: str
    kind: str
    # The option that named it; empty for an argument.
    option: str
    verb: str
    may_replace: bool

    def write_text(self, text: str) -> str:
        """Write the file, for its owner alone, and return its path.

        Raises:
            DebuggerError: NOT_FOUND if it cannot be written; USAGE if it is somebody else's.
        """
        _refuse_foreign(self)
        try:
            paths.write_private(self.path, text.encode("utf-8", "replace"))
        except OSError as error:
            raise self.error(error.strerror or "it cannot be written") from error
        return self.path

    def error(self, problem: str) -> DebuggerError:
        """Return the error for a file that cannot be written."""
        name = f"debugger-{self.verb.split()[0]}.{self.kind}"
        return DebuggerError(
            ErrorCode.NOT_FOUND,
            f"cannot write {self.path}: {problem}",
            hint=f"debugger {self.verb} {self.option} ~/{name} …".replace("  ", " "),
        )


def choose_file(
    call: CommandCall, verb: str, option: str, given: str, kinds: Sequence[str], *, force: bool
) -> PictureFile:
    """Resolve a file from the caller's folder, before anything runs, and check that it can be made.

    Raises:
        DebuggerError: USAGE for another suffix, or for a file that is not ours; NOT_FOUND for one
            that cannot be written.
    """
    path = Path(call.cwd, Path(given.replace("\0", "")).expanduser()).resolve()
    kind = path.suffix.removeprefix(".").lower()
    if kind not in kinds:
        stem = Path(given).stem.strip(".") or verb.split(maxsplit=1)[0]
        known = " or ".join(f".{one}" for one in kinds)
        what = f"not .{kind}" if kind else f"and {given!r} has no suffix"
        why = "; a browser shows .svg, and saves it as .png" if kind == "png" else ""
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{option or verb} writes {known}, {what}{why}",
            hint=_command(verb, option, f"{stem}.{kinds[0]}"),
        )
    found = PictureFile(str(path), kind, option, verb, force)
    folder = path.parent
    if not folder.is_dir():
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"cannot write {path}: there is no folder {folder}",
            hint=f"mkdir -p {shlex.quote(str(folder))}",
        )
    if path.exists() and not path.is_file():
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
    if file.may_replace or not path.exists():
        return
    try:
        with path.open("rb") as opened:
            head = opened.read(_HEAD)
    except OSError:
        head = b"?"
    if head and _MADE_BY not in head:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{file.path} exists, and debugger did not write it",
            hint=f"{_command(file.verb, file.option, file.path)} with --force replaces it",
        )


def _command(verb: str, option: str, name: str) -> str:
    return " ".join(filter(None, ["debugger", verb, option, shlex.quote(name)]))
