"""Downloads a file with a pinned checksum, and unpacks archives without trusting their paths."""

from __future__ import annotations

import asyncio
import base64
import gzip
import hashlib
import http.client
import io
import lzma
import os
import posixpath
import shutil
import ssl
import subprocess
import tarfile
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, TypeVar

from debugger.errors import DebuggerError, ErrorCode
from debugger.install.caller_machine import CallerMachine

T = TypeVar("T")

_ANSWER_S = 12.0  # until the server's answer; the name's look-up is in it
_STALL_S = 15.0  # seconds without data
_WHOLE_S = 1800.0  # seconds for one file
_FIRST_S = 3.0  # until the first line of progress; each is said twice as late as the one before
_CHUNK = 1 << 17
_MB = 1 << 20
_HINT = "check the network (https_proxy, SSL_CERT_FILE), then run it again: nothing was installed"


async def in_thread(work: Callable[[threading.Event], T]) -> T:
    """Run a blocking function in a daemon thread, abandoned if the caller is cancelled.

    `work` gets an event that is set then. Unlike asyncio's threads, this one does not delay the end
    of the process, for example while a name server does not answer.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()
    stop = threading.Event()

    def settle(value: Any, error: BaseException | None) -> None:
        if done.cancelled():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(value)

    def run() -> None:
        value, error = None, None
        try:
            value = work(stop)
        except BaseException as problem:  # noqa: BLE001 - it is raised where it is awaited
            error = problem
        # The event loop may be closed by now.
        if not stop.is_set():
            loop.call_soon_threadsafe(settle, value, error)

    threading.Thread(target=run, daemon=True, name="setup").start()
    try:
        return await done
    finally:
        stop.set()


async def fetch_size(
    machine: CallerMachine, url: str, *, answer_s: float = _ANSWER_S
) -> int | None:
    """Request the size of a file from a server.

    Raises:
        DebuggerError: ADAPTER_FAILED.
    """
    request = urllib.request.Request(url, method="HEAD")  # noqa: S310 - a URL of ours
    answer = await _open_request(machine, request, answer_s)
    answer.close()
    return _content_length(answer)


async def download_file(
    machine: CallerMachine,
    url: str,
    into: Path,
    *,
    sha512: str,
    bytes_max: int,
    answer_s: float = _ANSWER_S,
) -> None:
    """Download a file with a known checksum (base64) and a maximum size.

    Raises:
        DebuggerError: ADAPTER_FAILED: no network, incomplete, or another checksum.
    """
    request = urllib.request.Request(url)  # noqa: S310 - a URL of ours
    answer = await _open_request(machine, request, answer_s)
    total = _content_length(answer)
    # Before the first byte; a server that gives no length is stopped at the limit.
    if total is not None and total > bytes_max:
        answer.close()
        raise _download_error(url, f"it has {total:,} bytes, {bytes_max:,} at most were expected")
    read = [0]
    job = asyncio.ensure_future(
        in_thread(lambda stop: _copy_hashed(answer, into, read, bytes_max=bytes_max, stop=stop))
    )
    every_s = _FIRST_S
    try:
        async with asyncio.timeout(_WHOLE_S):
            while not (await asyncio.wait({job}, timeout=every_s))[0]:
                of = f" of {total // _MB}" if total else ""
                await machine.say(f"  {read[0] // _MB}{of} MB")
                every_s *= 2
        found = await job
    except TimeoutError:
        raise _download_error(url, f"it did not come within {_WHOLE_S:g} s") from None
    except (OSError, http.client.HTTPException) as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise  # it cannot be written
        raise _download_error(
            url, f"it broke off after {read[0]:,} bytes: {_error_reason(error)}"
        ) from error
    finally:
        # Ends the thread at its next chunk.
        job.cancel()
    if total is not None and read[0] < total:
        raise _download_error(url, f"only {read[0]:,} of {total:,} bytes came")
    # Before anything is unpacked.
    if found != sha512:
        raise checksum_error(url, read[0])


def checksum_error(url: str, size: int) -> DebuggerError:
    """Return the error for a file with another checksum."""
    return DebuggerError(
        ErrorCode.ADAPTER_FAILED,
        f"{url} is not the file that was chosen: its {size:,} bytes have another sha512",
        hint="a proxy may have changed the download; nothing was installed",
    )


def file_checksum(path: Path) -> str:
    """Return a file's sha512 in base64, as npm writes it."""
    with path.open("rb") as file:
        return base64.b64encode(hashlib.file_digest(file, "sha512").digest()).decode()


async def _open_request(
    machine: CallerMachine, request: urllib.request.Request, answer_s: float
) -> Any:
    url = request.full_url

    def work(stop: threading.Event) -> Any:
        answer = _open_url(machine.env, request)
        if stop.is_set():  # nobody waits for it any more
            answer.close()
        return answer

    try:
        async with asyncio.timeout(answer_s):
            return await in_thread(work)
    except TimeoutError:
        raise _download_error(url, f"no answer within {answer_s:g} s") from None
    except urllib.error.HTTPError as error:
        with error:
            raise _download_error(url, f"the server answers {error.code} {error.reason}") from error
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise _download_error(url, _error_reason(error)) from error


def _open_url(env: Mapping[str, str], request: urllib.request.Request) -> Any:
    """Open a URL with the caller's proxies and certificates."""
    # The first of two spellings counts: urllib, too, takes the small letters.
    names = sorted(env, reverse=True)
    proxies = {
        name.lower().removesuffix("_proxy"): env[name]
        for name in reversed(names)
        if name.lower().endswith("_proxy") and env[name]
    }
    host = urllib.parse.urlsplit(request.full_url).hostname or ""
    if urllib.request.proxy_bypass_environment(host, proxies):  # type: ignore[attr-defined]
        proxies = {}
    trusted = ssl.create_default_context(
        cafile=env.get("SSL_CERT_FILE") or None, capath=env.get("SSL_CERT_DIR") or None
    )
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler(proxies), urllib.request.HTTPSHandler(context=trusted)
    )
    return opener.open(request, timeout=_STALL_S)


def _copy_hashed(
    answer: Any, into: Path, read: list[int], *, bytes_max: int, stop: threading.Event
) -> str:
    digest = hashlib.sha512()
    limit = time.monotonic() + _WHOLE_S
    # O_EXCL and O_NOFOLLOW: never through a file or a link that somebody has put there.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with answer, open(os.open(into, flags, 0o600), "wb") as file:
        while not stop.is_set() and time.monotonic() < limit and (chunk := answer.read(_CHUNK)):
            read[0] += len(chunk)
            if read[0] > bytes_max:
                break
            digest.update(chunk)
            try:
                file.write(chunk)
            except OSError as error:
                error.filename = str(into)
                raise
    return base64.b64encode(digest.digest()).decode()


def _content_length(answer: Any) -> int | None:
    length = answer.headers.get("Content-Length", "")
    return int(length) if length.isdecimal() else None


def _error_reason(error: BaseException) -> str:
    inner = getattr(error, "reason", None)
    cause = inner if inner is not None else error
    return str(getattr(cause, "strerror", None) or cause) or type(cause).__name__


def _download_error(url: str, problem: str) -> DebuggerError:
    return DebuggerError(ErrorCode.ADAPTER_FAILED, f"cannot download {url}: {problem}", hint=_HINT)


_UNPACK_CHUNK = 1 << 18
_MEMBERS_MAX = 100_000  # of an archive
_BYTES_MAX = 1 << 30  # unpacked, of an archive
_AR_MAGIC = b"!<arch>\n"
_AR_HEADER = 60  # bytes, ar(5)
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
    """Unpack members of a tar, compressed or not; return the number of files.

    Nothing is written outside of the folder: a name or a link that leads there is rejected, or
    skipped with `drops_links_out`. Devices are rejected, owners and special modes ignored.

    Raises:
        DebuggerError: ADAPTER_FAILED.
    """
    links: list[tuple[str, str, str]] = []
    files = remaining = 0
    remaining = bytes_max
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
                    # The header's size, before the content is read: an archive may unpack to far
                    # more than it has.
                    remaining -= member.size
                    if remaining < 0:
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
    # Links of earlier members may lead out of the folder.
    if not path.parent.resolve().is_relative_to(into.resolve()):
        raise _archive_error(f"{where!r} leads out of it")
    return path


def _write_member(content: IO[bytes], path: Path, *, is_program: bool) -> None:
    path.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(path, flags, 0o755 if is_program else 0o644), "wb") as file:
        shutil.copyfileobj(content, file, _UNPACK_CHUNK)


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
    """Unpack members of a Debian package, and return the number of files (deb 5).

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
    """Seek to the data member of a package; return its name and size, ar(5)."""
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
        # Members begin at even offsets, ar(5).
        file.seek(size + size % 2, os.SEEK_CUR)
    raise _archive_error("there is no data in the package")


class _FilePart(io.RawIOBase):
    """A window of a file: its next `size` bytes as a stream."""

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
