"""Unpacks an archive without trusting it."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import posixpath
import shutil
import subprocess
import tarfile
import tempfile
import threading
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO

from debugger.errors import DebuggerError, ErrorCode

_CHUNK = 1 << 18
_MEMBERS_MAX = 100_000
_BYTES_MAX = 1 << 30
_AR_MAGIC = b"!<arch>\n"
_AR_HEADER = 60
_DPKG_S = 60.0

# Where a member goes, relative to the folder; None: nowhere.
Keep = Callable[[str], str | None]


def unpack_tar(
    archive: IO[bytes],
    into: Path,
    keep: Keep,
    *,
    stop: threading.Event,
    bytes_max: int = _BYTES_MAX,
    drops_links_out: bool = False,
) -> int:
    """Unpack members of a tar, compressed or not; return how many files were.

    Nothing is written outside of the folder: a name or a link that leads there is refused, or
    left out where `drops_links_out`. Devices are refused, owners and special modes forgotten.

    Raises:
        DebuggerError: ADAPTER_FAILED.
    """
    links: list[tuple[str, str, str]] = []
    files = left = 0
    left = bytes_max
    try:
        with tarfile.open(fileobj=archive, mode="r:*") as opened:
            for number, member in enumerate(opened):
                if stop.is_set():
                    raise DebuggerError(ErrorCode.ADAPTER_FAILED, "unpacking was interrupted")
                if number >= _MEMBERS_MAX:
                    raise _archive_error(f"over {_MEMBERS_MAX:,} members")
                name = _safe_name(member.name)
                where = keep(name)
                if where is None or member.isdir():
                    continue
                where = _safe_name(where)
                if member.issym():
                    links.append((where, member.linkname, name))
                elif member.isreg():
                    left -= member.size
                    if left < 0:
                        raise _archive_error(f"over {bytes_max:,} bytes")
                    content = opened.extractfile(member)
                    assert content is not None
                    _write_member(
                        content, _make_folders(into, where), is_program=bool(member.mode & 0o111)
                    )
                    files += 1
                else:
                    raise _archive_error(f"{name} is neither a file nor a symbolic link")
    except (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise _archive_error(str(error)) from error
    # Last, so that no file is written through one.
    for where, target, name in links:
        _make_link(into, where, target, name, drops_links_out=drops_links_out)
    return files


def _safe_name(name: str) -> str:
    plain = posixpath.normpath(name)
    if plain.startswith(("/", "../")) or plain == ".." or "\0" in plain:
        raise _archive_error(f"{name!r} leads out of it")
    return plain


def _make_folders(into: Path, where: str) -> Path:
    path = into / where
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.parent.resolve().is_relative_to(into.resolve()):
        raise _archive_error(f"{where!r} leads out of it")
    return path


def _write_member(content: IO[bytes], path: Path, *, is_program: bool) -> None:
    path.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(path, flags, 0o755 if is_program else 0o644), "wb") as file:
        shutil.copyfileobj(content, file, _CHUNK)


def _make_link(into: Path, where: str, target: str, name: str, *, drops_links_out: bool) -> None:
    leads = posixpath.normpath(posixpath.join(posixpath.dirname(where), target))
    if target.startswith("/") or leads.startswith(("/", "..")):
        if drops_links_out:
            return
        raise _archive_error(f"the link {name} leads out of it")
    path = _make_folders(into, where)
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def unpack_deb(archive: Path, into: Path, keep: Keep, *, stop: threading.Event) -> int:
    """Unpack members of a Debian package and return how many files were (deb 5).

    Raises:
        DebuggerError: ADAPTER_FAILED.
    """
    with archive.open("rb") as file:
        name, size = _data_member(file)
        if name.endswith((".xz", ".gz", ".tar")):
            part = io.BufferedReader(_FilePart(file, size))
            return unpack_tar(part, into, keep, stop=stop, drops_links_out=True)
    # zstandard is not in the standard library of Python before 3.14.
    with tempfile.TemporaryFile(dir=into.parent) as plain:
        words = ["dpkg-deb", "--fsys-tarfile", str(archive)]
        try:
            subprocess.run(words, stdout=plain, check=True, timeout=_DPKG_S)
        except (OSError, subprocess.SubprocessError) as error:
            raise _archive_error(f"{name} cannot be unpacked: {error}") from error
        plain.seek(0)
        return unpack_tar(plain, into, keep, stop=stop, drops_links_out=True)


def _data_member(file: IO[bytes]) -> tuple[str, int]:
    """Go to where the files of a package begin; return that member's name and size, ar(5)."""
    if file.read(len(_AR_MAGIC)) != _AR_MAGIC:
        raise _archive_error("it is no Debian package")
    while len(header := file.read(_AR_HEADER)) == _AR_HEADER:
        name = header[:16].decode("latin-1").strip().rstrip("/")
        try:
            size = int(header[48:58])
        except ValueError:
            break
        if name.startswith("data.tar"):
            return name, size
        file.seek(size + size % 2, os.SEEK_CUR)
    raise _archive_error("there is no data in the package")


class _FilePart(io.RawIOBase):
    """The next so many bytes of a file."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file = file
        self._start = file.tell()
        self._size = size
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        self._at = max(base + offset, 0)
        return self._at

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        self._file.seek(self._start + self._at)
        chunk = self._file.read(min(len(view), max(self._size - self._at, 0)))
        view[: len(chunk)] = chunk
        self._at += len(chunk)
        return len(chunk)


def _archive_error(problem: str) -> DebuggerError:
    return DebuggerError(
        ErrorCode.ADAPTER_FAILED,
        f"the archive cannot be unpacked: {problem}",
        hint="run it again: nothing was installed",
    )
